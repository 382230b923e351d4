//! The application of the larger boards: what the tools do.
use crate::{Arguments, LOG, uptime};
use barewire::{BadArgs, Call, CallId, Millis, Refused, Reply, Server, ServerEvent};

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

    fn call(&mut self, Call { name, args, reply, .. }: Call<'_>, now: Millis) {
        let Arguments { on, text } = match args.decode() {
            Ok(arguments) => arguments,
            Err(bad) => return reply.bad_args(bad),
        };
        let _ = match (name, on, text) {
            ("set_led", Some(on), _) => {
                self.hardware.led(on);
                reply.text(if on { "on" } else { "off" }).finish()
            }
            ("set_led", None, _) => return reply.bad_args(BadArgs::new("on", "true or false")),
            ("read_temperature", ..) => {
                let tenths = self.hardware.temperature();
                reply.text_fmt(format_args!("{}.{}", tenths / 10, (tenths % 10).abs())).finish()
            }
            ("uptime", ..) => reply.text_fmt(format_args!("{}", uptime(now))).finish(),
            ("echo", _, Some(text)) => reply.text(text).finish(),
            ("echo", _, None) => return reply.bad_args(BadArgs::new("text", "a string")),
            ("read_log", ..) => {
                self.told = 0;
                return self.tell(reply);
            }
            ("calibrate", ..) => match self.later.iter_mut().find(|later| later.is_none()) {
                Some(free) => return *free = Some((reply.defer(), now.after(Millis(500)))),
                // Those of a session that was reset a moment ago.
                None => reply.error().text("still busy, try again").finish(),
            },
            _ => return reply.unknown(),
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
