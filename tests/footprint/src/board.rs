//! The board: input that QEMU put into memory, a UART that always has room, and the way out. What a driver of a real
//! part would add to the figures is not in them.
use core::panic::PanicInfo;
use core::sync::atomic::{AtomicUsize, Ordering};

unsafe extern "C" {
    /// Exists nowhere.
    fn a_panic_can_be_reached() -> !;
}

#[panic_handler]
fn panic(_: &PanicInfo<'_>) -> ! {
    #[cfg(not(feature = "stop"))]
    unsafe {
        a_panic_can_be_reached()
    }
    #[cfg(feature = "stop")]
    exit()
}

#[cfg(target_arch = "arm")]
mod chip {
    use core::arch::{asm, global_asm};
    pub const INPUT: usize = 0x3_0000;
    // The nRF51's transmit register (microbit), which is no register on the M4 board: there it is its UART's.
    #[cfg(not(target_feature = "dsp"))]
    const UART: usize = 0x4000_251c;
    #[cfg(target_feature = "dsp")]
    const UART: usize = 0x4000_4000;

    global_asm!(".section .vectors,\"a\",%progbits", ".word stack_top", ".word start");

    // The M4 has its floating point switched off at first.
    #[cfg(target_feature = "dsp")]
    global_asm!(
        ".section .text.start,\"ax\",%progbits",
        ".globl start",
        ".thumb_func",
        "start:",
        "ldr r0, =0xe000ed88",
        "ldr r1, [r0]",
        "orr r1, r1, #0xf00000",
        "str r1, [r0]",
        "dsb",
        "isb",
        "b clear",
    );
    #[cfg(not(target_feature = "dsp"))]
    global_asm!(".thumb_set start, clear", ".globl start");

    global_asm!(
        ".section .text.start,\"ax\",%progbits",
        ".globl clear",
        ".thumb_func",
        "clear:",
        "ldr r0, =bss_start",
        "ldr r1, =bss_end",
        "movs r2, #0",
        "0: cmp r0, r1",
        "bhs 1f",
        "str r2, [r0]",
        "adds r0, #4",
        "b 0b",
        "1: bl run",
    );

    pub fn init() {
        #[cfg(not(target_feature = "dsp"))]
        unsafe {
            (0x4000_2500 as *mut u32).write_volatile(4);
            (0x4000_2008 as *mut u32).write_volatile(1);
        }
        #[cfg(target_feature = "dsp")]
        unsafe {
            (0x4000_4008 as *mut u32).write_volatile(1);
        }
    }

    pub fn put(byte: u8) {
        unsafe { (UART as *mut u32).write_volatile(u32::from(byte)) };
    }

    pub fn exit() -> ! {
        // Semihosting: SYS_EXIT, ADP_Stopped_ApplicationExit.
        unsafe { asm!("bkpt 0xab", in("r0") 0x18, in("r1") 0x20026, options(noreturn)) }
    }
}

#[cfg(target_arch = "riscv32")]
mod chip {
    use core::arch::global_asm;
    pub const INPUT: usize = 0x8020_0000;

    global_asm!(
        ".section .text.start,\"ax\",@progbits",
        ".globl start",
        "start:",
        "la sp, stack_top",
        "la a0, bss_start",
        "la a1, bss_end",
        "0: bgeu a0, a1, 1f",
        "sw zero, 0(a0)",
        "addi a0, a0, 4",
        "j 0b",
        "1: call run",
    );

    pub fn init() {}

    pub fn put(byte: u8) {
        unsafe { (0x1000_0000 as *mut u8).write_volatile(byte) };
    }

    pub fn exit() -> ! {
        unsafe { (0x10_0000 as *mut u32).write_volatile(0x5555) };
        loop {}
    }
}

pub use chip::exit;

static AT: AtomicUsize = AtomicUsize::new(0);

/// Reads a line, or what of it there is room for; nothing is the end. A byte of 1 ends a read without being one.
pub fn read(room: &mut [u8]) -> usize {
    let mut at = AT.load(Ordering::Relaxed);
    if at == 0 {
        chip::init();
    }
    let mut n = 0;
    for place in room.iter_mut() {
        let byte = unsafe { ((chip::INPUT + at) as *const u8).read_volatile() };
        if byte == 0 {
            break;
        }
        *place = byte;
        at = at.wrapping_add(1);
        n += 1;
        if byte == b'\n' {
            break;
        }
    }
    AT.store(at, Ordering::Relaxed);
    n
}

pub fn write(bytes: &[u8]) -> usize {
    bytes.iter().for_each(|byte| chip::put(*byte));
    bytes.len()
}

/// Something that lies in static memory and is taken once.
pub struct Once<T>(core::cell::UnsafeCell<T>);

// There is one thread and no interrupt.
unsafe impl<T> Sync for Once<T> {}

impl<T> Once<T> {
    pub const fn new(value: T) -> Self {
        Self(core::cell::UnsafeCell::new(value))
    }

    /// Call it once.
    #[allow(clippy::mut_from_ref)]
    pub fn take(&'static self) -> &'static mut T {
        unsafe { &mut *self.0.get() }
    }
}
