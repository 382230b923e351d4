//! An MCP server on an nRF52840 (nRF52840-DK). **Never run on hardware**, nor linked: it is checked by the compiler.
//!
//! Wiring: none on the kit, whose USB debugger is a serial port too (P0.06 is TX, P0.08 is RX). The LED is LED1 (P0.13, low is on).
//! Build for `thumbv7em-none-eabihf`; then, on the computer: `barewire list serial:/dev/ttyACM0@115200`.
#![no_std]
#![no_main]

use barewire::{Millis, Server, ServerConfig, ServerEvent, Storage, Tools};
use barewire_serial::{Checked, EXTENSIONS, Link, LinkStorage, Node, Role, asynch};
use embassy_executor::Spawner;
use embassy_nrf::bind_interrupts;
use embassy_nrf::buffered_uarte::{BufferedUarte, InterruptHandler};
use embassy_nrf::gpio::{Level, Output, OutputDrive};
use embassy_nrf::peripherals::UARTE0;
use embassy_nrf::uarte::Config;
use embassy_time::{Instant, Timer};
use panic_halt as _;

bind_interrupts!(struct Irqs { UARTE0 => InterruptHandler<UARTE0>; });

#[derive(Tools)]
enum Board {
    /// Turns the LED on or off.
    #[tool(idempotent)]
    SetLed { on: bool },
    /// Seconds since the start.
    #[tool(read_only)]
    Uptime,
}

static CONFIG: ServerConfig<'static> =
    ServerConfig::new("nrf52840", "1.0.0").tools(Board::TOOLS).extensions(EXTENSIONS);

fn now() -> Millis {
    Millis(Instant::now().as_millis())
}

async fn sleep(until: Option<Millis>) {
    match until {
        Some(Millis(at)) => Timer::at(Instant::from_millis(at)).await,
        None => core::future::pending().await,
    }
}

#[embassy_executor::main]
async fn main(_spawner: Spawner) {
    let board = embassy_nrf::init(Default::default());
    let mut led = Output::new(board.P0_13, Level::High, OutputDrive::Standard);
    let (mut rx_ring, mut tx_ring) = ([0; 256], [0; 64]);
    // 115,200 baud without parity is the default.
    let uart = BufferedUarte::new(
        board.UARTE0,
        board.TIMER0,
        board.PPI_CH0,
        board.PPI_CH1,
        board.PPI_GROUP0,
        board.P0_08,
        board.P0_06,
        Irqs,
        Config::default(),
        &mut rx_ring,
        &mut tx_ring,
    );
    let (mut rx, mut tx) = uart.split();

    let (mut memory, mut lines) = (Storage::<512, 256, 2>::new(), LinkStorage::<256, 512>::new());
    let server = Server::new(&CONFIG, memory.buffers());
    let link = Link::new(Role::Server, Checked::Offer, &mut lines);
    let mut node = Node::new(server, link);
    let mut app = |event: ServerEvent<'_>| {
        let ServerEvent::Call(call) = event else { return };
        // Wrong names and arguments are answered there.
        let Some((tool, reply)) = Board::decode(call) else { return };
        let _ = match tool {
            Board::SetLed { on } => {
                led.set_level(if on { Level::Low } else { Level::High });
                reply.text("done").finish()
            }
            Board::Uptime => reply.text_fmt(format_args!("{}", Instant::now().as_secs())).finish(),
        };
    };
    loop {
        // An error (overrun, framing) costs bytes, not the session: the line recovers.
        let _ = asynch::serve(&mut node, &mut rx, &mut tx, now, sleep, &mut app).await;
    }
}
