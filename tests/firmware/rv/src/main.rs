//! An MCP server on RISC-V, async: it reads while it writes, and sleeps until a byte or the moment that it waits for.
#![no_std]
#![no_main]

mod uart;

use barewire::{Server, Storage};
use barewire_serial::{Checked, Link, LinkStorage, Node, Role, Turn, asynch};
use board::{App, CONFIG, Hardware, earliest};
use core::convert::Infallible;
use riscv_rt::entry;
use uart::{block_on, now, sleep, start};

/// QEMU's virt has neither.
struct Pins {
    lit: bool,
}

impl Hardware for Pins {
    fn led(&mut self, on: bool) {
        self.lit = on;
    }

    fn temperature(&mut self) -> i32 {
        if self.lit { 231 } else { 215 }
    }
}

async fn run() -> Infallible {
    let (mut rx, mut tx) = start();
    tx.print(b"\r\nboot: board 1.0.0, reset by pin\r\n");
    let (mut memory, mut lines) = (Storage::<512, 256, 2>::new(), LinkStorage::<256, 512>::new());
    let server = Server::new(&CONFIG, memory.buffers());
    let mut node = Node::new(server, Link::new(Role::Server, Checked::Offer, &mut lines));
    let mut app = App::new(Pins { lit: false });
    loop {
        let now = now();
        let due = app.settle(node.machine(), now);
        match node.poll(now) {
            Turn::Event(event) => app.act(event, now),
            Turn::Transfer { until } => {
                let Ok(()) = asynch::transfer(&mut node, &mut rx, &mut tx, sleep(earliest(until, due))).await;
            }
            Turn::Closed => node.reset(),
        }
    }
}

#[entry]
fn main() -> ! {
    #[cfg(feature = "stack")]
    board::paint();
    block_on(run())
}
