//! An MCP server on an ESP32-C3. **Never run on hardware**, nor linked: it is checked by the compiler.
//!
//! Wiring: GPIO21 (TX) to RX of a 3.3 V USB serial adapter, GPIO20 (RX) to its TX, GND to GND: on boards with a USB serial chip
//! these are its pins already. An LED with a resistor at GPIO8. What the boot loader prints there first does no harm.
//! Build for `riscv32imc-unknown-none-elf`; then, on the computer: `barewire list serial:/dev/ttyUSB0@115200`.
#![no_std]
#![no_main]

use barewire::{Millis, Server, ServerConfig, ServerEvent, Storage, Tools};
use barewire_serial::{Checked, EXTENSIONS, Link, LinkStorage, Node, Role, blocking};
use esp_hal::gpio::{Level, Output, OutputConfig};
use esp_hal::main;
use esp_hal::time::Instant;
use esp_hal::uart::{Config, Uart};
use panic_halt as _;

esp_bootloader_esp_idf::esp_app_desc!();

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
    ServerConfig::new("esp32c3", "1.0.0").tools(Board::TOOLS).extensions(EXTENSIONS);

fn now() -> Millis {
    Millis(Instant::now().duration_since_epoch().as_millis())
}

#[main]
fn main() -> ! {
    let board = esp_hal::init(esp_hal::Config::default());
    let mut led = Output::new(board.GPIO8, Level::Low, OutputConfig::default());
    // 115,200 baud without parity is the default, which can't fail.
    let Ok(uart) = Uart::new(board.UART0, Config::default()) else { panic!() };
    let mut uart = uart.with_rx(board.GPIO20).with_tx(board.GPIO21);

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
            Board::Uptime => reply.text_fmt(format_args!("{}", now().0 / 1000)).finish(),
        };
    };
    loop {
        // An error (overrun, framing) costs bytes, not the session: the line recovers. The 128 bytes of the UART's FIFO are
        // looked at all the time, so that there is nothing to wait for.
        let _ = blocking::serve(&mut node, &mut uart, now, |_| (), &mut app);
    }
}
