//! The doors of the core, each a function of its own that is not inlined, so that the stack behind each can be
//! measured: statically by `depth.py`, and on x86-64 by running the harshest session on a painted stack.
//!
//! The panic handler calls a function that does not exist: that this links proves that no panic adds to the depth.
#![no_std]
#![no_main]

mod client;
mod server;
#[cfg(target_arch = "x86_64")]
mod x86;

use core::panic::PanicInfo;

unsafe extern "C" {
    fn a_panic_can_be_reached() -> !;
}

#[panic_handler]
fn panic(_: &PanicInfo<'_>) -> ! {
    unsafe { a_panic_can_be_reached() }
}

/// All doors, one after the other: what the painted stack measures, and the root of everything.
#[unsafe(no_mangle)]
#[inline(never)]
extern "C" fn door_session() -> u32 {
    #[cfg(feature = "recursive")]
    let _ = door_recursive(core::hint::black_box(3));
    server::session().wrapping_add(client::session())
}

#[cfg(feature = "recursive")]
#[unsafe(no_mangle)]
#[inline(never)]
extern "C" fn door_recursive(n: u32) -> u32 {
    if n == 0 { 1 } else { core::hint::black_box(door_recursive(n.wrapping_sub(1))).wrapping_mul(n) }
}

#[cfg(not(target_arch = "x86_64"))]
#[unsafe(no_mangle)]
extern "C" fn _start() -> u32 {
    door_session()
}
