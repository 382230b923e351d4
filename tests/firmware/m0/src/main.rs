//! An MCP server in the least memory: 512 bytes to receive (or 256), 64 to transmit, one call. The core alone, without the
//! serial crate.
//!
//! No reply fits 64 bytes, so each is written in pieces: first into `text`, or it is in flash already, and from there as far
//! as there is room.
#![no_std]
#![no_main]

mod chip;

use barewire::{
    BadArgs, CallId, Fixed, Millis, Output, Refused, Reply, Server, ServerConfig, ServerEvent, Storage,
    Tools as _,
};
use board::{LOG, Text, Tool};
use chip::Chip;
use cortex_m_rt::entry;

const RECEIVE: usize = if cfg!(feature = "receive-256") { 256 } else { 512 };
static CONFIG: ServerConfig<'static> = ServerConfig::new("board", "1.0.0").tools(Tool::TOOLS);

struct App {
    /// What is being said, and how much of it was.
    text: Text<64>,
    is_log: bool,
    said: usize,
    later: Option<(CallId, Millis)>,
    lit: bool,
}

impl App {
    fn act(&mut self, event: ServerEvent<'_>, now: Millis) {
        match event {
            ServerEvent::Call(call) => {
                // What is wrong with the name or the arguments is answered there.
                let Some((tool, reply)) = Tool::decode(call) else { return };
                (self.text, self.said, self.is_log) = (Text::new(), 0, false);
                let fits = match tool {
                    Tool::SetLed { on } => {
                        self.lit = on;
                        self.text.push(if on { "on" } else { "off" })
                    }
                    Tool::ReadTemperature => self.text.push(if self.lit { "23.1" } else { "21.5" }),
                    Tool::ReadLog => {
                        self.is_log = true;
                        true
                    }
                    Tool::Uptime => self.text.push(Fixed(now.0 as i64 / 1000, 0).text(&mut [0; Fixed::ROOM])),
                    Tool::Echo { text } => self.text.push(text),
                    Tool::Calibrate => {
                        self.later = Some((reply.defer(), now.after(Millis(500))));
                        return;
                    }
                };
                if fits { self.say(reply) } else { reply.bad_args(BadArgs::new("text", "64 bytes at most")) }
            }
            ServerEvent::More(reply) => self.say(reply),
            ServerEvent::Cancelled(_) => self.later = None,
            _ => {}
        }
    }

    /// As much as there is room for; the machine asks for more.
    fn say(&mut self, mut reply: Reply<'_>) {
        let text = if self.is_log { LOG } else { self.text.get() };
        self.said += reply.write_text(text.get(self.said..).unwrap_or(""));
        if self.said < text.len() {
            reply.pause();
        } else {
            let _ = reply.finish();
        }
    }

    /// Answers the call that is due, and says when that is.
    fn settle(&mut self, server: &mut Server<'_>, now: Millis) -> Option<Millis> {
        let (id, at) = self.later?;
        if now >= at {
            match server.resume(id) {
                Ok(reply) => {
                    self.later = None;
                    self.text.push("calibrated");
                    self.say(reply);
                }
                Err(Refused::Gone) => self.later = None,
                Err(Refused::Full) => {}
            }
        }
        self.later.map(|(_, at)| at)
    }
}

#[entry]
fn main() -> ! {
    static mut MEMORY: Storage<RECEIVE, 64, 1> = Storage::new();

    let mut chip = Chip::start();
    chip.write(b"\r\nboot: board 1.0.0, reset by pin\r\n");
    let mut server = Server::new(&CONFIG, MEMORY.buffers());
    let mut app = App { text: Text::new(), is_log: false, said: 0, later: None, lit: false };
    loop {
        let now = chip.now();
        let due = app.settle(&mut server, now);
        match server.poll(now) {
            Output::Send(bytes) => {
                chip.write(bytes);
                let n = bytes.len();
                server.sent(n);
            }
            Output::Event(event) => app.act(event, now),
            Output::Wait { until } | Output::Blocked { until } => {
                let n = chip.read(server.space());
                #[cfg(feature = "panic")]
                chip.write(LOG.as_bytes().get(n..n + 1).unwrap());
                server.filled(n);
                if n == 0 {
                    chip.sleep(until.into_iter().chain(due).min());
                }
            }
            Output::Closed => server.reset(),
        }
    }
}
