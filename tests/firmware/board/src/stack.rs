//! How deep the stack ever was: all of it is painted at the start, and what has lost its paint was used.
use core::arch::asm;
use core::ptr::{read_volatile, write_volatile};

const PAINT: u32 = 0xa5a5_5a5a;

unsafe extern "C" {
    /// Above all static memory: the linker's scripts of cortex-m-rt and riscv-rt.
    static __sheap: u32;
    static _stack_start: u32;
}

fn bottom() -> *mut u32 {
    (&raw const __sheap).cast_mut()
}

/// To be called first of all.
#[inline(never)]
pub fn paint() {
    let top: usize;
    #[cfg(target_arch = "arm")]
    unsafe {
        asm!("mov {}, sp", out(reg) top)
    };
    #[cfg(target_arch = "riscv32")]
    unsafe {
        asm!("mv {}, sp", out(reg) top)
    };
    let mut at = bottom();
    // This function's own part stays as it is.
    while at.addr() + 64 < top {
        unsafe {
            write_volatile(at, PAINT);
            at = at.add(1);
        }
    }
}

/// Bytes.
pub fn used() -> usize {
    let mut at = bottom();
    let top = (&raw const _stack_start).addr();
    while at.addr() < top && unsafe { read_volatile(at) } == PAINT {
        at = unsafe { at.add(1) };
    }
    top - at.addr()
}
