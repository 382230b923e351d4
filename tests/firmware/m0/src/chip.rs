//! What of the nRF51822 is used: its UART, and TIMER0 as a clock that wakes the core when it is told to.
use barewire::Millis;
use board::Ring;
use core::ptr::{read_volatile, write_volatile};
use cortex_m::peripheral::NVIC;
use cortex_m_rt::exception;

const UART: usize = 0x4000_2000;
const START_RECEIVER: usize = UART;
const START_TRANSMITTER: usize = UART + 0x008;
/// A byte has come; the last one has left.
const RECEIVED: usize = UART + 0x108;
const SENT: usize = UART + 0x11c;
const UART_INTERRUPTS_ON: usize = UART + 0x304;
const UART_INTERRUPTS_OFF: usize = UART + 0x308;
const RECEIVES: u32 = 1 << 2;
const UART_ENABLE: usize = UART + 0x500;
const RECEIVE: usize = UART + 0x518;
const TRANSMIT: usize = UART + 0x51c;
const BAUD: usize = UART + 0x524;

const TIMER: usize = 0x4000_8000;
const START: usize = TIMER;
/// Copies the count to the register of the same number.
const CAPTURE_0: usize = TIMER + 0x040;
const REACHED_1: usize = TIMER + 0x144;
const TIMER_INTERRUPTS_ON: usize = TIMER + 0x304;
const WIDTH: usize = TIMER + 0x508;
const PRESCALER: usize = TIMER + 0x510;
const COUNT_0: usize = TIMER + 0x540;
const COUNT_1: usize = TIMER + 0x544;
/// 16 MHz through 2^9.
const HERTZ: u64 = 31_250;

static RING: Ring<128> = Ring::new();

fn set(register: usize, value: u32) {
    unsafe { write_volatile(register as *mut u32, value) };
}

fn get(register: usize) -> u32 {
    unsafe { read_volatile(register as *const u32) }
}

/// The parts of the chip.
pub struct Chip {
    last: u32,
    past: u64,
}

impl Chip {
    pub fn start() -> Self {
        set(UART_ENABLE, 4);
        set(BAUD, 0x01d7_e000); // 115,200
        set(START_RECEIVER, 1);
        set(START_TRANSMITTER, 1);
        set(UART_INTERRUPTS_ON, RECEIVES);
        set(WIDTH, 3);
        set(PRESCALER, 9);
        set(TIMER_INTERRUPTS_ON, 1 << 17);
        set(START, 1);
        unsafe {
            NVIC::unmask(Irq::Uart);
            NVIC::unmask(Irq::Timer);
        }
        Self { last: 0, past: 0 }
    }

    /// The count wraps after 38 hours; asked at least so often, it does not matter.
    pub fn now(&mut self) -> Millis {
        set(CAPTURE_0, 1);
        let count = get(COUNT_0);
        self.past += u64::from(count.wrapping_sub(self.last));
        self.last = count;
        Millis(self.past * 1000 / HERTZ)
    }

    pub fn read(&mut self, into: &mut [u8]) -> usize {
        let n = RING.take(into);
        // The interrupt stops receiving when the ring is full; on a real line that is where RTS goes up.
        set(UART_INTERRUPTS_ON, RECEIVES);
        n
    }

    pub fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            set(SENT, 0);
            set(TRANSMIT, u32::from(*byte));
            while get(SENT) == 0 {}
        }
    }

    /// Until a byte comes, or until the moment: the timer interrupts then, and never else.
    pub fn sleep(&mut self, until: Option<Millis>) {
        if let Some(until) = until {
            let left = until.0.saturating_sub(self.now().0).min(60_000);
            set(REACHED_1, 0);
            set(COUNT_1, self.last.wrapping_add((left * HERTZ / 1000) as u32 + 1));
        }
        // An interrupt that comes between the look and the sleep ends the sleep, masked as it is.
        cortex_m::interrupt::free(|_| {
            if RING.is_empty() && (until.is_none() || get(REACHED_1) == 0) {
                cortex_m::asm::wfi();
            }
        });
    }
}

#[derive(Clone, Copy)]
enum Irq {
    Uart = 2,
    Timer = 8,
}

unsafe impl cortex_m::interrupt::InterruptNumber for Irq {
    fn number(self) -> u16 {
        self as u16
    }
}

#[exception]
unsafe fn DefaultHandler(_: i16) {
    set(REACHED_1, 0);
    while get(RECEIVED) != 0 {
        if RING.is_full() {
            set(UART_INTERRUPTS_OFF, RECEIVES);
            return;
        }
        set(RECEIVED, 0);
        RING.put(get(RECEIVE) as u8);
    }
}
