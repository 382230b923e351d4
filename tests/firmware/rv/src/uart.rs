//! The 16550 of QEMU's virt machine as two async halves, time from mtime, and the few lines that an executor takes.
use barewire::Millis;
use board::Ring;
use core::convert::Infallible;
use core::future::{Future, poll_fn};
use core::pin::pin;
use core::ptr::{read_volatile, write_volatile};
use core::sync::atomic::{AtomicBool, Ordering};
use core::task::{Context, Poll, Waker};
use embedded_io_async::{ErrorType, Read, Write};
use riscv_rt::core_interrupt;

/// Data; +1 interrupts (bit 0: a byte has come, bit 1: room to send); +2 FIFO control; +5 status (bit 0 and bit 5, the same).
const UART: *mut u8 = 0x1000_0000 as _;
const RECEIVES: u8 = 0b01;
const SENDS: u8 = 0b10;
/// The interrupt controller: the UART is its source 10.
const PRIORITY: *mut u32 = (0x0c00_0000 + 4 * 10) as _;
const ENABLE: *mut u32 = 0x0c00_2000 as _;
const THRESHOLD: *mut u32 = 0x0c20_0000 as _;
const CLAIM: *mut u32 = 0x0c20_0004 as _;
/// The clock, 10 MHz, in two halves; and when it is to interrupt.
const TIME: *mut u32 = 0x0200_bff8 as _;
const COMPARE: *mut u32 = 0x0200_4000 as _;
const TICKS: u64 = 10_000;

static RING: Ring<256> = Ring::new();
/// Something happened since the last poll.
static WOKEN: AtomicBool = AtomicBool::new(false);

/// What the interrupt receives.
pub struct Rx;
/// The transmitter.
pub struct Tx;

/// Starts UART, interrupts and clock.
pub fn start() -> (Rx, Tx) {
    alarm(u64::MAX);
    unsafe {
        write_volatile(UART.add(2), 0b111);
        write_volatile(UART.add(1), RECEIVES);
        write_volatile(PRIORITY, 1);
        write_volatile(ENABLE, 1 << 10);
        write_volatile(THRESHOLD, 0);
        riscv::register::mie::set_mext();
        riscv::register::mie::set_mtimer();
        riscv::interrupt::enable();
    }
    (Rx, Tx)
}

pub fn now() -> Millis {
    Millis(ticks() / TICKS)
}

/// Ends at `until`, or never. Nothing ticks meanwhile: the comparator wakes the core at that moment.
pub fn sleep(until: Option<Millis>) -> impl Future<Output = ()> {
    poll_fn(move |_| match until {
        Some(until) if now() >= until => Poll::Ready(()),
        Some(until) => {
            alarm(until.0.saturating_mul(TICKS));
            Poll::Pending
        }
        None => Poll::Pending,
    })
}

/// Runs one future. Where it waits, the core sleeps until an interrupt, which wakes it even while masked: so none can slip in
/// between the look and the sleep.
pub fn block_on(future: impl Future<Output = Infallible>) -> ! {
    let mut future = pin!(future);
    let mut context = Context::from_waker(Waker::noop());
    loop {
        WOKEN.store(false, Ordering::Relaxed);
        let Poll::Pending = future.as_mut().poll(&mut context);
        riscv::interrupt::free(|| {
            if !WOKEN.load(Ordering::Relaxed) {
                riscv::asm::wfi();
            }
        });
    }
}

impl Tx {
    /// For boot text and the like.
    pub fn print(&mut self, text: &[u8]) {
        for byte in text {
            while !can_send() {}
            unsafe { write_volatile(UART, *byte) };
        }
    }
}

impl ErrorType for Rx {
    type Error = Infallible;
}

impl Read for Rx {
    fn read(&mut self, into: &mut [u8]) -> impl Future<Output = Result<usize, Infallible>> {
        poll_fn(move |_| {
            if RING.is_empty() {
                return Poll::Pending;
            }
            let n = RING.take(into);
            // The interrupt stops receiving when the ring is full; on a real line that is where RTS goes up.
            interrupts(RECEIVES, true);
            Poll::Ready(Ok(n))
        })
    }
}

impl ErrorType for Tx {
    type Error = Infallible;
}

impl Write for Tx {
    fn write(&mut self, bytes: &[u8]) -> impl Future<Output = Result<usize, Infallible>> {
        poll_fn(move |_| {
            let mut sent = 0;
            for byte in bytes {
                if !can_send() {
                    break;
                }
                unsafe { write_volatile(UART, *byte) };
                sent += 1;
            }
            if sent == 0 && !bytes.is_empty() {
                interrupts(SENDS, true);
                return Poll::Pending;
            }
            Poll::Ready(Ok(sent))
        })
    }

    async fn flush(&mut self) -> Result<(), Infallible> {
        Ok(())
    }
}

fn can_send() -> bool {
    unsafe { read_volatile(UART.add(5)) & 0x20 != 0 }
}

/// Turns one on or off. Interrupts write the register too, so they wait.
fn interrupts(which: u8, on: bool) {
    riscv::interrupt::free(|| unsafe {
        let set = read_volatile(UART.add(1));
        write_volatile(UART.add(1), if on { set | which } else { set & !which });
    });
}

fn ticks() -> u64 {
    loop {
        let (high, low) = unsafe { (read_volatile(TIME.add(1)), read_volatile(TIME)) };
        // The low half may have wrapped in between.
        if high == unsafe { read_volatile(TIME.add(1)) } {
            return u64::from(high) << 32 | u64::from(low);
        }
    }
}

fn alarm(at: u64) {
    unsafe {
        write_volatile(COMPARE, u32::MAX);
        write_volatile(COMPARE.add(1), (at >> 32) as u32);
        write_volatile(COMPARE, at as u32);
    }
}

#[core_interrupt(riscv::interrupt::Interrupt::MachineExternal)]
fn external() {
    let source = unsafe { read_volatile(CLAIM) };
    while unsafe { read_volatile(UART.add(5)) } & 1 != 0 {
        if RING.is_full() {
            interrupts(RECEIVES, false);
            break;
        }
        RING.put(unsafe { read_volatile(UART) });
    }
    if can_send() {
        interrupts(SENDS, false);
    }
    unsafe { write_volatile(CLAIM, source) };
    WOKEN.store(true, Ordering::Relaxed);
}

#[core_interrupt(riscv::interrupt::Interrupt::MachineTimer)]
fn timer() {
    alarm(u64::MAX);
    WOKEN.store(true, Ordering::Relaxed);
}
