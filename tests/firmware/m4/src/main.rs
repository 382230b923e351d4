//! An MCP server on a Cortex-M4: a super-loop that sleeps when there is nothing to do.
#![no_std]
#![no_main]

use barewire::{Server, Storage};
use barewire_serial::{Checked, Link, LinkStorage, Node, Role, Turn, blocking};
use board::{App, CONFIG, Hardware};
use cortex_m_rt::entry;
use mps2::{Clock, Uart};

/// The LED is a pin, the temperature an ADC, on a board that has them.
struct Pins;

impl Hardware for Pins {
    fn led(&mut self, on: bool) {
        // The LEDs of the mps2 boards.
        unsafe { core::ptr::write_volatile(0x4002_8000 as *mut u32, u32::from(on)) };
    }

    fn temperature(&mut self) -> i32 {
        215
    }
}

#[entry]
fn main() -> ! {
    static mut MEMORY: Storage<512, 256, 2> = Storage::new();
    static mut LINES: LinkStorage<256, 512> = LinkStorage::new();

    #[cfg(feature = "stack")]
    board::paint();
    let Some(core) = cortex_m::Peripherals::take() else { loop {} };
    let mut uart = Uart::start(core.SYST);
    let mut clock = Clock::default();
    uart.print(b"\r\nboot: board 1.0.0, reset by pin\r\n");

    let server = Server::new(&CONFIG, MEMORY.buffers());
    let mut node = Node::new(server, Link::new(Role::Server, Checked::Offer, LINES));
    let mut app = App::new(Pins);
    loop {
        let now = clock.now();
        app.settle(node.machine(), now);
        match node.poll(now) {
            Turn::Event(event) => app.act(event, now),
            Turn::Transfer { .. } => {
                let Ok(moved) = blocking::transfer(&mut node, &mut uart);
                if moved == 0 && !node.is_busy() {
                    // SysTick wakes it each millisecond, so `until` is looked at in time.
                    uart.sleep();
                }
            }
            Turn::Closed => node.reset(),
        }
    }
}
