//! A server with five tools, as firmware would have it.
use crate::board;
use barewire::{
    Args, BadArgs, Call, Fixed, Full, Millis, Output, Server, ServerConfig, ServerEvent, Storage, Tool,
    check_tools,
};
#[cfg(not(feature = "serde"))]
use barewire::{Fields, FromArgs};
use core::hint::black_box;
use core::mem::MaybeUninit;

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
        let mut on = None;
        while let Some((key, value)) = fields.next() {
            if key == "on" {
                on = Some(value.bool("on")?);
            }
        }
        Ok(Self { on: on.ok_or(BadArgs::new("on", "true or false"))? })
    }
}

#[cfg(not(feature = "serde"))]
impl<'m> FromArgs<'m> for Echo<'m> {
    fn from_args(mut fields: Fields<'m>) -> Result<Self, BadArgs> {
        let mut text = None;
        while let Some((key, value)) = fields.next() {
            if key == "text" {
                text = Some(value.str("text")?);
            }
        }
        Ok(Self { text: text.ok_or(BadArgs::new("text", "a string"))? })
    }
}

#[cfg(not(feature = "serde"))]
impl<'m> FromArgs<'m> for Add {
    fn from_args(mut fields: Fields<'m>) -> Result<Self, BadArgs> {
        let (mut a, mut b) = (None, None);
        while let Some((key, value)) = fields.next() {
            match key {
                "a" => a = Some(value.i64("a")?),
                "b" => b = Some(value.i64("b")?),
                _ => {}
            }
        }
        let missing = |field| BadArgs::new(field, "an integer");
        Ok(Self { a: a.ok_or(missing("a"))?, b: b.ok_or(missing("b"))? })
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
    match answer(name, args, led, now) {
        Ok(Answer::Text(text)) => reply.text(text).finish(),
        Ok(Answer::Number(value)) => number(reply, value),
        Ok(Answer::NoTool) => {
            reply.unknown();
            Ok(())
        }
        Err(bad) => {
            reply.bad_args(bad);
            Ok(())
        }
    }
}

enum Answer<'m> {
    Text(&'m str),
    Number(i64),
    NoTool,
}

fn answer<'m>(name: &str, args: Args<'m>, led: &mut bool, now: u64) -> Result<Answer<'m>, BadArgs> {
    Ok(match name {
        "set_led" => {
            *led = decode!(args, SetLed)?.on;
            Answer::Text(if *led { "on" } else { "off" })
        }
        "read_temperature" => Answer::Number(215 + i64::from(*led)),
        "uptime" => Answer::Number(now as i64),
        "echo" => Answer::Text(decode!(args, Echo<'_>)?.text),
        "add" => {
            let Add { a, b } = decode!(args, Add)?;
            Answer::Number(a.wrapping_add(b))
        }
        _ => Answer::NoTool,
    })
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
