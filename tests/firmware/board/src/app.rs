//! The application of the larger boards: what the tools do.
use crate::{LOG, Tool};
use barewire::{Call, CallId, Fixed, Millis, Refused, Reply, Server, ServerEvent, Tools as _};

/// Calls that may be open at once.
const CALLS: usize = 2;

/// What a board has.
pub trait Hardware {
    fn led(&mut self, on: bool);
    /// Tenths of a degree.
    fn temperature(&mut self) -> i32;
}

/// What the application remembers.
pub struct App<H> {
    hardware: H,
    /// How much of the log is told.
    told: usize,
    /// Calls that are answered later, and when.
    later: [Option<(CallId, Millis)>; CALLS],
}

impl<H: Hardware> App<H> {
    pub fn new(hardware: H) -> Self {
        Self { hardware, told: 0, later: [None; CALLS] }
    }

    /// Does what a client asks. A reply that does not fit is answered as an error, so that nothing need be done about it.
    pub fn act(&mut self, event: ServerEvent<'_>, now: Millis) {
        match event {
            ServerEvent::Call(call) => self.call(call, now),
            ServerEvent::More(reply) => self.tell(reply),
            ServerEvent::Cancelled(id) => self.forget(id),
            _ => {}
        }
    }

    fn call(&mut self, call: Call<'_>, now: Millis) {
        // What is wrong with the name or the arguments is answered there.
        let Some((tool, reply)) = Tool::decode(call) else { return };
        let _ = match tool {
            Tool::SetLed { on } => {
                self.hardware.led(on);
                reply.text(if on { "on" } else { "off" }).finish()
            }
            Tool::ReadTemperature => {
                reply.text_fmt(format_args!("{}", Fixed(self.hardware.temperature().into(), 1))).finish()
            }
            Tool::Uptime => reply.text_fmt(format_args!("{}", Fixed(now.0 as i64 / 1000, 0))).finish(),
            Tool::Echo { text } => reply.text(text).finish(),
            Tool::ReadLog => {
                self.told = 0;
                return self.tell(reply);
            }
            Tool::Calibrate => match self.later.iter_mut().find(|later| later.is_none()) {
                Some(free) => return *free = Some((reply.defer(), now.after(Millis(500)))),
                // Those of a session that was reset a moment ago.
                None => reply.error().text("still busy, try again").finish(),
            },
        };
    }

    /// Sends as much of the log as there is room for; the machine asks for more.
    fn tell(&mut self, mut reply: Reply<'_>) {
        self.told += reply.write_text(LOG.get(self.told..).unwrap_or(""));
        if self.told < LOG.len() {
            reply.pause();
        } else {
            let _ = reply.finish();
        }
    }

    fn forget(&mut self, id: CallId) {
        for later in self.later.iter_mut().filter(|l| l.is_some_and(|(of, _)| of == id)) {
            *later = None;
        }
    }

    /// Answers what is due, and says when the next one is.
    pub fn settle(&mut self, server: &mut Server<'_>, now: Millis) -> Option<Millis> {
        for later in &mut self.later {
            if let Some((id, at)) = *later
                && now >= at
            {
                match server.resume(id) {
                    Ok(reply) => {
                        let _ = reply.text("calibrated").finish();
                        *later = None;
                    }
                    Err(Refused::Gone) => *later = None,
                    // As soon as something has been sent.
                    Err(Refused::Full) => {}
                }
            }
        }
        self.later.iter().flatten().map(|(_, at)| *at).min()
    }
}

/// The first of two moments, where there is one.
pub fn earliest(a: Option<Millis>, b: Option<Millis>) -> Option<Millis> {
    a.into_iter().chain(b).min()
}
