//! A device that uses tools: a thermostat without a screen. It asks the host for the temperature that is wanted
//! (`get_setpoint`), and says what it measured and did (`report`), once a second.
#![no_std]
#![no_main]

use barewire::{CallId, Client, ClientConfig, ClientEvent, Content, End, Millis, SendError, Storage};
use barewire_serial::{Checked, Link, LinkStorage, Node, Role, Turn, blocking};
use board as _;
use cortex_m_rt::entry;
use mps2::{Clock, Uart};

/// A session that does not open within three seconds is tried again: the host may not be there yet.
static CONFIG: ClientConfig<'static> =
    ClientConfig::new("thermostat", "1.0.0").probe(Millis(1000)).start(Some(Millis(3000)));

/// For an answer.
const LIMIT: Millis = Millis(2000);

#[derive(Clone, Copy, PartialEq)]
enum Step {
    /// There is no session.
    Away,
    /// To ask, or to report.
    Ask,
    Report,
    /// One of the two is under way.
    Asking,
    Reporting,
    Rest(Millis),
}

struct Thermostat {
    step: Step,
    /// Tenths of a degree.
    setpoint: Option<i32>,
    measured: i32,
}

impl Thermostat {
    fn act(&mut self, event: ClientEvent<'_>, now: Millis) {
        match event {
            ClientEvent::Opened { .. } => self.step = Step::Ask,
            ClientEvent::Content { content: Content::Text(text), .. } if self.step == Step::Asking => {
                self.setpoint = tenths(text);
            }
            ClientEvent::Ended { end, .. } => {
                if self.step == Step::Reporting {
                    // What a heater does in a second.
                    self.measured += if self.is_cold() { 5 } else { -5 };
                }
                self.step = match (self.step, end) {
                    (Step::Asking, End::Done { is_error: false }) if self.setpoint.is_some() => Step::Report,
                    (_, End::Lost) => Step::Away,
                    _ => Step::Rest(now.after(Millis(1000))),
                }
            }
            _ => {}
        }
    }

    /// Does what is to be done.
    fn turn(&mut self, client: &mut Client<'_>, now: Millis) {
        match self.step {
            Step::Rest(until) if now < until => {}
            Step::Rest(_) | Step::Ask => {
                self.setpoint = None;
                self.started(ask(client), Step::Asking);
            }
            Step::Report => {
                let sent = report(client, self.measured, self.is_cold());
                self.started(sent, Step::Reporting);
            }
            Step::Away | Step::Asking | Step::Reporting => {}
        }
    }

    fn is_cold(&self) -> bool {
        self.setpoint.is_some_and(|wanted| self.measured < wanted)
    }

    fn started(&mut self, sent: Result<CallId, SendError>, next: Step) {
        match sent {
            Ok(_) => self.step = next,
            // As soon as something has been sent.
            Err(SendError::Full) => {}
            Err(_) => self.step = Step::Away,
        }
    }
}

fn ask(client: &mut Client<'_>) -> Result<CallId, SendError> {
    client.call_tool("get_setpoint")?.limit(LIMIT, None).send()
}

fn report(client: &mut Client<'_>, measured: i32, heating: bool) -> Result<CallId, SendError> {
    let request = client.call_tool("report")?.limit(LIMIT, None);
    let tenths = (measured % 10).unsigned_abs();
    let request = request.args(|o| {
        o.int("degrees", i64::from(measured / 10)).int("tenths", i64::from(tenths)).bool("heating", heating);
    });
    request.send()
}

/// `21.5` is 215.
fn tenths(text: &str) -> Option<i32> {
    let (whole, part) = text.split_once('.').unwrap_or((text, "0"));
    let tenth = part.bytes().next().filter(u8::is_ascii_digit)?;
    whole.parse::<i32>().ok()?.checked_mul(10)?.checked_add(i32::from(tenth) - i32::from(b'0'))
}

#[entry]
fn main() -> ! {
    static mut MEMORY: Storage<512, 512, 1> = Storage::new();
    static mut LINES: LinkStorage<256, 512> = LinkStorage::new();

    let Some(core) = cortex_m::Peripherals::take() else { loop {} };
    let mut uart = Uart::start(core.SYST);
    let mut clock = Clock::default();
    uart.print(b"\r\nboot: thermostat 1.0.0\r\n");
    let client = Client::new(&CONFIG, MEMORY.buffers());
    let mut node = Node::new(client, Link::new(Role::Client, Checked::Offer, LINES));
    let mut thermostat = Thermostat { step: Step::Away, setpoint: None, measured: 195 };
    loop {
        let now = clock.now();
        thermostat.turn(node.machine(), now);
        match node.poll(now) {
            Turn::Event(event) => thermostat.act(event, now),
            Turn::Transfer { .. } => {
                let Ok(moved) = blocking::transfer(&mut node, &mut uart);
                if moved == 0 && !node.is_busy() {
                    // SysTick wakes it each millisecond, so no moment is missed by more.
                    uart.sleep();
                }
            }
            Turn::Closed => {
                thermostat.step = Step::Away;
                node.reset();
            }
        }
    }
}
