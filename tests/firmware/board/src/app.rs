//! The application of the larger boards: six tools, and what they do.
use crate::LOG;
use barewire::{
    BadArgs, Call, CallId, Fields, FromArgs, Millis, Refused, Reply, Server, ServerConfig, ServerEvent, Tool,
    check_tools,
};

pub static TOOLS: &[Tool<'static>] = &[
    Tool::new(
        "set_led",
        "Turns the LED on or off.",
        r#"{"type":"object","properties":{"on":{"type":"boolean"}},"required":["on"]}"#,
    ),
    Tool::new("read_temperature", "Degrees Celsius at the board.", r#"{"type":"object"}"#).read_only(),
    Tool::new("read_log", "The whole log, 50 KB.", r#"{"type":"object"}"#).read_only(),
    Tool::new("uptime", "Seconds since the start.", r#"{"type":"object"}"#).read_only(),
    Tool::new(
        "echo",
        "Says it again.",
        r#"{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}"#,
    ),
    Tool::new("calibrate", "Measures for half a second.", r#"{"type":"object"}"#),
];
const _: () = check_tools(TOOLS);
pub static CONFIG: ServerConfig<'static> =
    ServerConfig::new("board", "1.0.0").tools(TOOLS).extensions(r#"{"dev.barewire/checked":{"version":1}}"#);

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

struct SetLed {
    on: bool,
}

impl<'m> FromArgs<'m> for SetLed {
    fn from_args(mut fields: Fields<'m>) -> Result<Self, BadArgs> {
        let mut on = Err(BadArgs::new("on", "true or false"));
        while let Some((key, value)) = fields.next() {
            if key == "on" {
                on = value.bool("on");
            }
        }
        Ok(Self { on: on? })
    }
}

struct Echo<'m> {
    text: &'m str,
}

impl<'m> FromArgs<'m> for Echo<'m> {
    fn from_args(mut fields: Fields<'m>) -> Result<Self, BadArgs> {
        let mut text = Err(BadArgs::new("text", "a string"));
        while let Some((key, value)) = fields.next() {
            if key == "text" {
                text = value.str("text");
            }
        }
        Ok(Self { text: text? })
    }
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
        let _ = match name {
            "set_led" => match args.decode::<SetLed>() {
                Ok(SetLed { on }) => {
                    self.hardware.led(on);
                    reply.text(if on { "on" } else { "off" }).finish()
                }
                Err(bad) => return reply.bad_args(bad),
            },
            "read_temperature" => {
                let tenths = self.hardware.temperature();
                reply.text_fmt(format_args!("{}.{}", tenths / 10, (tenths % 10).abs())).finish()
            }
            "uptime" => reply.text_fmt(format_args!("{}", now.0 / 1000)).finish(),
            "echo" => match args.decode::<Echo<'_>>() {
                Ok(Echo { text }) => reply.text(text).finish(),
                Err(bad) => return reply.bad_args(bad),
            },
            "read_log" => {
                self.told = 0;
                return self.tell(reply);
            }
            "calibrate" => {
                if let Some(free) = self.later.iter_mut().find(|l| l.is_none()) {
                    *free = Some((reply.defer(), now.after(Millis(500))));
                    return;
                }
                // Those of a session that was reset a moment ago.
                reply.error().text("still busy, try again").finish()
            }
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
