//! An MCP server on an STM32F411 ("black pill"). **Never run on hardware**, nor linked: it is checked by the compiler.
//!
//! Wiring: A9 (TX) to RX of a 3.3 V USB serial adapter, A10 (RX) to its TX, G to GND. The LED is the board's own (C13, low is on).
//! Build for `thumbv7em-none-eabihf`; then, on the computer: `barewire list serial:/dev/ttyUSB0@115200`.
#![no_std]
#![no_main]

use barewire::{Millis, Server, ServerConfig, ServerEvent, Storage, Tools};
use barewire_serial::{Checked, EXTENSIONS, Link, LinkStorage, Node, Role, asynch};
use embassy_executor::Spawner;
use embassy_stm32::bind_interrupts;
use embassy_stm32::gpio::{Level, Output, Speed};
use embassy_stm32::peripherals::USART1;
use embassy_stm32::usart::{BufferedInterruptHandler, BufferedUart, Config};
use embassy_time::{Instant, Timer};
use panic_halt as _;

bind_interrupts!(struct Irqs { USART1 => BufferedInterruptHandler<USART1>; });

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
    ServerConfig::new("stm32f411", "1.0.0").tools(Board::TOOLS).extensions(EXTENSIONS);

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
    let board = embassy_stm32::init(Default::default());
    let mut led = Output::new(board.PC13, Level::High, Speed::Low);
    let (mut tx_ring, mut rx_ring) = ([0; 64], [0; 256]);
    // 115,200 baud without parity is the default. It fails only for speeds that the clock can't make.
    let uart = BufferedUart::new(
        board.USART1,
        board.PA10,
        board.PA9,
        &mut tx_ring,
        &mut rx_ring,
        Irqs,
        Config::default(),
    );
    let Ok(uart) = uart else { return };
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
