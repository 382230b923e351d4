//! A server with five tools, as firmware would have it.
use crate::board;
use core::hint::black_box;
use core::mem::MaybeUninit;
#[cfg(not(feature = "serde"))]
use barewire::{BadArgs, Fields, FromArgs};
use barewire::{
    Call, Fixed, Full, Millis, Output, Server, ServerConfig, ServerEvent, Storage, Tool, check_tools,
};

static TOOLS: &[Tool<'static>] = &[
    Tool::new(
        "set_led",
        "Turns the LED on or off.",
        r#"{"type":"object","properties":{"on":{"type":"boolean"}},"required":["on"]}"#,
    ),
    Tool::new("read_temperature", "Degrees Celsius at the board.", r#"{"type":"object"}"#).read_only(),
    Tool::new("uptime", "Seconds since the start.", r#"{"type":"object"}"#).read_only(),
    Tool::new(
        "echo",
        "Says it again.",
        r#"{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}"#,
    ),
    Tool::new(
        "add",
        "Adds two integers.",
        r#"{"type":"object","properties":{"a":{"type":"integer"},"b":{"type":"integer"}},"required":["a","b"]}"#,
    ),
];
const _: () = check_tools(TOOLS);
static CONFIG: ServerConfig<'static> = ServerConfig::new("board", "1.0.0").tools(TOOLS);

#[cfg_attr(feature = "serde", derive(serde::Deserialize))]
struct SetLed {
    on: bool,
}

#[cfg_attr(feature = "serde", derive(serde::Deserialize))]
struct Echo<'m> {
    text: &'m str,
}

#[cfg_attr(feature = "serde", derive(serde::Deserialize))]
struct Add {
    a: i64,
    b: i64,
}

#[cfg(not(feature = "serde"))]
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

#[cfg(not(feature = "serde"))]
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

#[cfg(not(feature = "serde"))]
impl<'m> FromArgs<'m> for Add {
    fn from_args(mut fields: Fields<'m>) -> Result<Self, BadArgs> {
        let missing = |field| Err(BadArgs::new(field, "an integer"));
        let (mut a, mut b) = (missing("a"), missing("b"));
        while let Some((key, value)) = fields.next() {
            match key {
                "a" => a = value.i64("a"),
                "b" => b = value.i64("b"),
                _ => {}
            }
        }
        Ok(Self { a: a?, b: b? })
    }
}

#[cfg(feature = "serde")]
macro_rules! decode {
    ($args:expr, $type:ty) => {
        $args.deserialize::<$type>()
    };
}
#[cfg(not(feature = "serde"))]
macro_rules! decode {
    ($args:expr, $type:ty) => {
        $args.decode::<$type>()
    };
}

static STORAGE: board::Once<Storage<512, 256, 2>> = board::Once::new(Storage::new());
// As firmware has it: a machine on the stack would be there twice while it is made and moved.
static SERVER: board::Once<MaybeUninit<Server<'static>>> = board::Once::new(MaybeUninit::uninit());
#[used]
#[unsafe(link_section = ".sizes.machine")]
static SIZE: u32 = size_of::<Server<'static>>() as u32;

// Functions of their own, so that neither has room in the frame below all of the machine's.
#[inline(never)]
fn start() -> &'static mut Server<'static> {
    // An address that the compiler knew would stand in full in each function that uses it: 200 bytes.
    black_box(SERVER.take().write(Server::new(&CONFIG, STORAGE.take().buffers())))
}

/// Until the input ends.
pub fn serve() {
    let server = start();
    let mut led = false;
    let mut now = 0u64;
    loop {
        match server.poll(Millis(now)) {
            Output::Send(bytes) => {
                let n = board::write(bytes);
                server.sent(n);
            }
            Output::Event(ServerEvent::Call(call)) => {
                let _ = act(call, &mut led, now);
            }
            Output::Event(_) => {}
            Output::Wait { .. } | Output::Blocked { .. } => match board::read(server.space()) {
                0 => server.end_of_input(),
                n => server.filled(n),
            },
            Output::Closed => return,
        }
        now = now.wrapping_add(1);
        #[cfg(feature = "panic")]
        let _ = TOOLS[now as usize].name;
    }
}

#[inline(never)]
fn act(Call { name, args, reply, .. }: Call<'_>, led: &mut bool, now: u64) -> Result<(), Full> {
    let bad = match name {
        "set_led" => match decode!(args, SetLed) {
            Ok(SetLed { on }) => {
                *led = on;
                return reply.text(if on { "on" } else { "off" }).finish();
            }
            Err(bad) => bad,
        },
        "read_temperature" => return number(reply, 215 + i64::from(*led)),
        "uptime" => return number(reply, now as i64),
        "echo" => match decode!(args, Echo<'_>) {
            Ok(Echo { text }) => return reply.text(text).finish(),
            Err(bad) => bad,
        },
        "add" => match decode!(args, Add) {
            Ok(Add { a, b }) => return number(reply, a.wrapping_add(b)),
            Err(bad) => bad,
        },
        _ => {
            reply.unknown();
            return Ok(());
        }
    };
    reply.bad_args(bad);
    Ok(())
}

#[cfg(feature = "fmt")]
fn number(reply: barewire::Reply<'_>, value: i64) -> Result<(), Full> {
    reply.text_fmt(format_args!("{}", Fixed(value, 0))).finish()
}

/// Without `core::fmt`, which costs flash of its own.
#[cfg(not(feature = "fmt"))]
fn number(reply: barewire::Reply<'_>, value: i64) -> Result<(), Full> {
    reply.text(Fixed(value, 0).text(&mut [0; Fixed::ROOM])).finish()
}
