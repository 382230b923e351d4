//! What the operating system and a C library would have done (Linux on x86-64).
use core::arch::{asm, global_asm};
use core::panic::PanicInfo;

unsafe extern "C" {
    /// Exists nowhere: a panic that can be reached keeps the program from linking.
    fn a_panic_can_be_reached() -> !;
}

#[panic_handler]
fn panic(_: &PanicInfo<'_>) -> ! {
    unsafe { a_panic_can_be_reached() }
}

// The number of arguments lies on top of the stack, which is aligned for the call.
global_asm!(
    ".globl _start",
    "_start:",
    "xor ebp, ebp",
    "mov rdi, [rsp]",
    "and rsp, -16",
    "call run",
    "mov edi, eax",
    "mov eax, 60",
    "syscall",
);

fn call(number: usize, fd: usize, at: *const u8, len: usize) -> usize {
    let done: isize;
    unsafe {
        asm!("syscall", inlateout("rax") number => done, in("rdi") fd, in("rsi") at, in("rdx") len,
            lateout("rcx") _, lateout("r11") _, options(nostack));
    }
    usize::try_from(done).unwrap_or(0)
}

pub fn read(fd: usize, into: &mut [u8]) -> usize {
    call(0, fd, into.as_mut_ptr(), into.len()).min(into.len())
}

pub fn write(fd: usize, bytes: &[u8]) -> usize {
    call(1, fd, bytes.as_ptr(), bytes.len()).min(bytes.len())
}

// The compiler's own needs. String instructions, so that no loop is turned back into a call of itself.
#[unsafe(no_mangle)]
unsafe extern "C" fn memcpy(to: *mut u8, from: *const u8, n: usize) -> *mut u8 {
    unsafe {
        asm!("rep movsb", inout("rcx") n => _, inout("rdi") to => _, inout("rsi") from => _, options(nostack))
    };
    to
}

#[unsafe(no_mangle)]
unsafe extern "C" fn memmove(to: *mut u8, from: *const u8, n: usize) -> *mut u8 {
    if to.addr().wrapping_sub(from.addr()) >= n {
        return unsafe { memcpy(to, from, n) };
    }
    unsafe {
        asm!("std", "rep movsb", "cld", inout("rcx") n => _, inout("rdi") to.wrapping_add(n).wrapping_sub(1) => _,
            inout("rsi") from.wrapping_add(n).wrapping_sub(1) => _, options(nostack));
    }
    to
}

#[unsafe(no_mangle)]
unsafe extern "C" fn memset(to: *mut u8, byte: i32, n: usize) -> *mut u8 {
    unsafe {
        asm!("rep stosb", inout("rcx") n => _, inout("rdi") to => _, in("al") byte as u8, options(nostack))
    };
    to
}

#[unsafe(no_mangle)]
unsafe extern "C" fn memcmp(a: *const u8, b: *const u8, n: usize) -> i32 {
    let mut i = 0;
    while i < n {
        let (x, y) = unsafe { (a.add(i).read_volatile(), b.add(i).read_volatile()) };
        if x != y {
            return i32::from(x) - i32::from(y);
        }
        i = i.wrapping_add(1);
    }
    0
}

#[unsafe(no_mangle)]
unsafe extern "C" fn bcmp(a: *const u8, b: *const u8, n: usize) -> i32 {
    unsafe { memcmp(a, b, n) }
}
