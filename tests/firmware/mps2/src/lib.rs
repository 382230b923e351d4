//! What the firmwares for the mps2 boards share: the UART (CMSDK APB UART), its interrupt, and time from SysTick.
#![no_std]

use barewire::Millis;
use board::Ring;
use core::convert::Infallible;
use core::ptr::{read_volatile, write_volatile};
use core::sync::atomic::{AtomicU32, Ordering};
use cortex_m::peripheral::{NVIC, SYST, syst::SystClkSource};
use cortex_m_rt::exception;
use embedded_io::Write;

const DATA: *mut u32 = 0x4000_4000 as _;
/// Bit 0: transmitter full; bit 1: a byte has come.
const STATE: *mut u32 = 0x4000_4004 as _;
/// Bits 0 and 1: transmitter and receiver on; bits 2 and 3: their interrupts.
const CONTROL: *mut u32 = 0x4000_4008 as _;
const CLEAR: *mut u32 = 0x4000_400c as _;
const BAUD: *mut u32 = 0x4000_4010 as _;
const ON: u32 = 0b0111;
const RECEIVES: u32 = 0b1000;

static RING: Ring<256> = Ring::new();
static MILLIS: AtomicU32 = AtomicU32::new(0);

/// The UART, fed by its interrupt.
pub struct Uart;

impl Uart {
    /// For 25 MHz.
    pub fn start(mut clock: SYST) -> Self {
        clock.set_clock_source(SystClkSource::Core);
        clock.set_reload(25_000 - 1);
        clock.clear_current();
        clock.enable_counter();
        clock.enable_interrupt();
        unsafe {
            write_volatile(BAUD, 217); // 115,200
            write_volatile(CONTROL, ON | RECEIVES);
            NVIC::unmask(Irq::Receive);
            NVIC::unmask(Irq::Transmit);
        }
        Self
    }

    /// For boot text and the like. (`write_all` of embedded-io can panic.)
    pub fn print(&mut self, text: &[u8]) {
        for byte in text {
            let Ok(_) = self.write(&[*byte]);
        }
    }

    /// Sleeps until an interrupt: a byte, room to send, or the next millisecond.
    pub fn sleep(&self) {
        // An interrupt that comes between the look and the sleep ends the sleep, masked as it is.
        cortex_m::interrupt::free(|_| {
            if RING.is_empty() {
                cortex_m::asm::wfi();
            }
        });
    }
}

/// Milliseconds that do not wrap with the interrupt's 32 bits, if asked every 49 days.
#[derive(Default)]
pub struct Clock {
    last: u32,
    past: u64,
}

impl Clock {
    pub fn now(&mut self) -> Millis {
        let now = MILLIS.load(Ordering::Relaxed);
        self.past += u64::from(now.wrapping_sub(self.last));
        self.last = now;
        Millis(self.past)
    }
}

impl embedded_io::ErrorType for Uart {
    type Error = Infallible;
}

impl embedded_io::ReadReady for Uart {
    fn read_ready(&mut self) -> Result<bool, Infallible> {
        Ok(!RING.is_empty())
    }
}

impl embedded_io::Read for Uart {
    fn read(&mut self, into: &mut [u8]) -> Result<usize, Infallible> {
        let n = RING.take(into);
        // The interrupt stops reading when the ring is full; on a real line that is where RTS goes up.
        unsafe { write_volatile(CONTROL, ON | RECEIVES) };
        Ok(n)
    }
}

impl Write for Uart {
    /// As much as the transmitter takes at once.
    fn write(&mut self, bytes: &[u8]) -> Result<usize, Infallible> {
        let mut sent = 0;
        for byte in bytes {
            if unsafe { read_volatile(STATE) } & 1 != 0 {
                if sent > 0 {
                    break;
                }
                while unsafe { read_volatile(STATE) } & 1 != 0 {}
            }
            unsafe { write_volatile(DATA, u32::from(*byte)) };
            sent += 1;
        }
        Ok(sent)
    }

    fn flush(&mut self) -> Result<(), Infallible> {
        Ok(())
    }
}

#[derive(Clone, Copy)]
enum Irq {
    Receive = 0,
    Transmit = 1,
}

unsafe impl cortex_m::interrupt::InterruptNumber for Irq {
    fn number(self) -> u16 {
        self as u16
    }
}

#[exception]
unsafe fn DefaultHandler(_: i16) {
    unsafe { write_volatile(CLEAR, 0b11) };
    while unsafe { read_volatile(STATE) } & 2 != 0 {
        if RING.is_full() {
            unsafe { write_volatile(CONTROL, ON) };
            return;
        }
        RING.put(unsafe { read_volatile(DATA) } as u8);
    }
}

#[exception]
fn SysTick() {
    MILLIS.store(MILLIS.load(Ordering::Relaxed).wrapping_add(1), Ordering::Relaxed);
}
