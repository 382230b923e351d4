//! An MCP server on an RP2040 (Raspberry Pi Pico). **Never run on hardware**, nor linked: it is checked by the compiler.
//!
//! Wiring: GP0 (TX, pin 1) to RX of a 3.3 V USB serial adapter, GP1 (RX, pin 2) to its TX, GND to GND. The LED is the Pico's own (GP25).
//! Build for `thumbv6m-none-eabi`; then, on the computer: `barewire list serial:/dev/ttyUSB0@115200`.
#![no_std]
#![no_main]

use barewire::{Millis, Server, ServerConfig, ServerEvent, Storage, Tools};
use barewire_serial::{Checked, EXTENSIONS, Link, LinkStorage, Node, Role, asynch};
use embassy_executor::Spawner;
use embassy_rp::bind_interrupts;
use embassy_rp::gpio::{Level, Output};
use embassy_rp::peripherals::UART0;
use embassy_rp::uart::{BufferedInterruptHandler, BufferedUart, Config};
use embassy_time::{Instant, Timer};
use panic_halt as _;

bind_interrupts!(struct Irqs { UART0_IRQ => BufferedInterruptHandler<UART0>; });

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
    ServerConfig::new("pico", "1.0.0").tools(Board::TOOLS).extensions(EXTENSIONS);

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
    let board = embassy_rp::init(Default::default());
    let mut led = Output::new(board.PIN_25, Level::Low);
    let (mut tx_ring, mut rx_ring) = ([0; 64], [0; 256]);
    let mut config = Config::default();
    config.baudrate = 115_200;
    let uart =
        BufferedUart::new(board.UART0, board.PIN_0, board.PIN_1, Irqs, &mut tx_ring, &mut rx_ring, config);
    let (mut tx, mut rx) = uart.split();

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
                led.set_level(if on { Level::High } else { Level::Low });
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
