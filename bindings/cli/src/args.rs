//! The command line's grammar.

use core::time::Duration;
use std::ffi::OsString;
use std::path::PathBuf;

use barewire::{Era, Version};
use barewire_testkit::{Claims, Faults, checks};
use clap::error::ErrorKind;
use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::bench::{LEGACY, MODERN};
use crate::capture::write::Format;
use crate::commands::connect::Connect;
use crate::commands::serve::Sample;
use crate::failure::Failure;
use crate::far::{BAUD, Far, MISSING};
use crate::packets::texts::english;
use crate::packets::view::{Look, Mode};
use crate::paint::{self, Color, Paint};

/// See, call and debug MCP servers: behind a command, a serial port or a socket
///
/// SERVER is -- COMMAND ARGS…, serial:PORT@BAUD, tcp:HOST:PORT or unix:PATH.
/// Results go to stdout, everything else to stderr. Exit codes:
///   0    all went well
///   1    the tool says that it failed (isError)
///   2    the command line is wrong; nothing was started
///   3    the server can't be started or reached
///   4    no answer in time
///   5    the server answered with an error, or broke the protocol
///   130  Ctrl-C
/// tap exits as its server does; testkit with 1 if a check failed.
#[derive(Parser, Debug)]
#[command(name = "barewire", version, arg_required_else_help = true, verbatim_doc_comment)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
    /// When to use colour (NO_COLOR is respected)
    #[arg(long, global = true, value_enum, default_value_t, value_name = "WHEN")]
    pub(crate) color: Color,
}

#[derive(Subcommand, Debug)]
pub(crate) enum Command {
    /// Speak MCP with a sample server over real pipes, and explain every packet
    Demo {
        #[command(flatten)]
        reach: Reach,
        /// One JSON object per packet
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        show: Show,
    },
    /// Show the tools of a server: barewire list -- uv run server.py
    List {
        #[command(flatten)]
        reach: Reach,
        #[command(flatten)]
        trace: Trace,
        /// The server and its tools as one JSON object; errors too
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        show: Show,
        /// -- COMMAND ARGS…, serial:PORT@BAUD, tcp:HOST:PORT or unix:PATH
        #[arg(required = true, trailing_var_arg = true, value_name = "SERVER")]
        server: Vec<OsString>,
    },
    /// Call a tool: barewire call get_alerts state=TX -- uv run server.py
    ///
    /// Text goes to stdout: line by line on a terminal, exactly as it came elsewhere.
    /// Structured content is shown where there is no text.
    /// The text of a tool that says that it failed goes to stderr.
    #[command(verbatim_doc_comment)]
    Call {
        /// The tool's name
        tool: String,
        /// key=value typed by the tool's inputSchema, key:=JSON, key=@file; or one JSON object
        #[arg(value_name = "ARGUMENT")]
        arguments: Vec<String>,
        /// The whole arguments object: JSON, @FILE, or @- for stdin
        #[arg(long, value_name = "JSON")]
        args: Option<String>,
        /// Save images, audio and other bytes into this folder
        #[arg(long, value_name = "DIR")]
        save: Option<PathBuf>,
        #[command(flatten)]
        reach: Reach,
        #[command(flatten)]
        trace: Trace,
        /// The result as the server sent it; errors as {"error":{…}}
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        show: Show,
        /// -- COMMAND ARGS…; or serial:PORT@BAUD, tcp:HOST:PORT or unix:PATH as the last argument
        #[arg(last = true, value_name = "SERVER")]
        server: Vec<OsString>,
    },
    /// Sit between a host and a server: change no byte, log every read
    Tap {
        /// Where to write the log; %p becomes the process id, for hosts that start a server more than once
        #[arg(long, value_name = "FILE", required_unless_present_any = ["trace", "teach", "short", "full", "raw"])]
        log: Option<PathBuf>,
        /// How the log is written
        #[arg(long, value_enum, default_value = "jsonl", value_name = "FORMAT")]
        log_format: Format,
        /// Show packets on stderr while they pass (as --teach, --short, --full and --raw do)
        #[arg(long)]
        trace: bool,
        #[command(flatten)]
        show: Show,
        /// -- COMMAND ARGS…, serial:PORT@BAUD, tcp:HOST:PORT or unix:PATH
        #[arg(required = true, trailing_var_arg = true, value_name = "SERVER")]
        server: Vec<OsString>,
    },
    /// Be an MCP server on stdio, the real one being behind a serial port, a socket or a command that may restart
    ///
    /// For hosts that only start commands: barewire bridge serial:/dev/ttyUSB0@115200
    /// Messages pass byte for byte. When the far end restarts, open requests are answered with an error at once; the
    /// session is opened again, and what the host says meanwhile is held. What a device prints between messages is
    /// shown on stderr. docs/bridge.md has the hosts' configurations.
    #[command(verbatim_doc_comment)]
    Bridge(Bridge),
    /// Show the serial ports, and which of them answer as MCP servers
    ///
    /// Each is opened and asked, which a board may take as a reason to reset.
    #[command(verbatim_doc_comment)]
    Ports(Ports),
    /// Measure a server under load: barewire bench -- uv run server.py
    ///
    /// Asks for its tools, or calls one, again and again: one request at a time, then many at once; in both eras.
    /// The processor time and memory are those of the server's process group.
    #[cfg(unix)]
    #[command(verbatim_doc_comment)]
    Bench(Bench),
    /// Show the packets of a log: of `tap`, or a file of MCP lines
    Explain {
        /// The log; `-` is stdin
        #[arg(default_value = "-", value_name = "FILE")]
        file: PathBuf,
        /// One JSON object per packet
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        show: Show,
    },
    /// Be a sample server on standard input and output
    Serve {
        /// Which one
        #[arg(value_enum)]
        sample: Sample,
    },
    /// Test a transport: barewire testkit --through ./relay
    ///
    /// The relay is started with a server's command behind its own words. It must start that command, and carry its own
    /// stdin to the command's stdin and the command's stdout to its own stdout, through the transport under test.
    /// A check that fails says what was seen, why it matters and what to fix; then the exit code is 1.
    #[command(verbatim_doc_comment)]
    Testkit(Testkit),
}

/// What is bridged, and how.
#[derive(Args, Debug)]
pub(crate) struct Bridge {
    /// Protect every byte on the serial line, the handshake too; without it the device's offer is taken when it comes
    #[arg(long)]
    pub(crate) checked: bool,
    /// How long a request may wait for the far end to be there, in seconds
    #[arg(long, value_name = "SECONDS", default_value = "15", value_parser = seconds)]
    pub(crate) patience: Duration,
    /// Faults on the way to the far end, for tests: seed=7,drop=1/1000,corrupt=1/1000,reset=100k
    #[arg(long, value_name = "SPEC")]
    pub(crate) faults: Option<Faults>,
    /// Where to write a log of the host's session; %p becomes the process id
    #[arg(long, value_name = "FILE")]
    pub(crate) log: Option<PathBuf>,
    /// How the log is written
    #[arg(long, value_enum, default_value = "jsonl", value_name = "FORMAT")]
    pub(crate) log_format: Format,
    /// Show packets on stderr while they pass (as --teach, --short, --full and --raw do)
    #[arg(long)]
    pub(crate) trace: bool,
    #[command(flatten)]
    pub(crate) show: Show,
    /// -- COMMAND ARGS…, serial:PORT@BAUD, tcp:HOST:PORT or unix:PATH
    #[arg(required = true, trailing_var_arg = true, value_name = "SERVER")]
    pub(crate) server: Vec<OsString>,
}

/// What load is put on which server.
#[derive(Args, Debug)]
pub(crate) struct Bench {
    /// The tool to call; its tools are listed if none is named
    #[arg(long, value_name = "TOOL")]
    pub(crate) call: Option<String>,
    /// The tool's arguments
    #[arg(long, value_name = "JSON")]
    pub(crate) args: Option<String>,
    /// How many requests are open at once in the second run of each era; 1 leaves that run out
    #[arg(long, value_name = "N", default_value_t = 64, value_parser = clap::value_parser!(u16).range(1..=10_000))]
    in_flight: u16,
    /// How long each run takes, in seconds
    #[arg(long, value_name = "SECONDS", default_value = "3", value_parser = seconds)]
    pub(crate) seconds: Duration,
    /// Only this era
    #[arg(long, value_enum, value_name = "ERA")]
    era: Option<EraName>,
    /// How long an answer may take, in seconds
    #[arg(long, value_name = "SECONDS", default_value = "20", value_parser = seconds)]
    pub(crate) timeout: Duration,
    /// One JSON object
    #[arg(long)]
    pub(crate) json: bool,
    /// -- COMMAND ARGS…, tcp:HOST:PORT or unix:PATH
    #[arg(required = true, trailing_var_arg = true, value_name = "SERVER")]
    pub(crate) server: Vec<OsString>,
}

impl Bench {
    /// The revisions to measure, one for each era.
    pub(crate) fn versions(&self) -> impl Iterator<Item = Version> {
        let (legacy, modern) = match self.era {
            Some(EraName::Legacy) => (true, false),
            Some(EraName::Modern) => (false, true),
            Some(EraName::Auto) | None => (true, true),
        };
        [legacy.then_some(LEGACY), modern.then_some(MODERN)].into_iter().flatten()
    }

    /// How many requests are open at once, run by run.
    pub(crate) fn windows(&self) -> impl Iterator<Item = usize> + use<> {
        let many = usize::from(self.in_flight);
        [Some(1), (many > 1).then_some(many)].into_iter().flatten()
    }
}

/// Which serial ports are shown, and how they are asked.
#[derive(Args, Debug)]
pub(crate) struct Ports {
    /// Only these; all there are if none is named
    #[arg(value_name = "PORT")]
    pub(crate) ports: Vec<PathBuf>,
    /// The speed at which they are asked
    #[arg(long, value_name = "BAUD", default_value_t = BAUD, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) baud: u32,
    /// How long each may take to answer, in seconds; all are asked at once
    #[arg(long, value_name = "SECONDS", default_value = "4", value_parser = seconds)]
    pub(crate) timeout: Duration,
    /// Show them without opening any
    #[arg(long)]
    pub(crate) no_ask: bool,
    /// One JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

/// Which transport is tested, and how.
#[derive(Args, Debug)]
pub(crate) struct Testkit {
    /// The relay's program; its arguments may follow, with blanks between
    #[arg(long, value_name = "RELAY", required_unless_present_any = ["list", "serve"])]
    pub(crate) through: Option<String>,
    /// What it claims: stream or messages, then any of half-close, noise, unreliable, unordered, single, largest=BYTES
    #[arg(long, value_name = "CLAIMS", default_value = "stream,half-close")]
    pub(crate) claims: Claims,
    /// Run this check, and no other unless it is named too
    #[arg(long, value_name = "CHECK", value_parser = check)]
    pub(crate) only: Vec<String>,
    /// Leave this check out
    #[arg(long, value_name = "CHECK", value_parser = check)]
    pub(crate) without: Vec<String>,
    /// How long nothing may happen before that is a fault, in seconds
    #[arg(long, value_name = "SECONDS", default_value = "20", value_parser = seconds)]
    pub(crate) patience: Duration,
    /// Show the checks and why they are there
    #[arg(long)]
    pub(crate) list: bool,
    /// Be the server behind the relay
    #[arg(long, hide = true)]
    pub(crate) serve: bool,
}

/// How a server is reached.
#[derive(Args, Debug)]
pub(crate) struct Reach {
    /// Which era to speak [default: auto; demo: legacy]
    #[arg(long, value_enum, value_name = "ERA")]
    era: Option<EraName>,
    /// The revision to ask for, such as 2025-06-18
    #[arg(long, value_name = "DATE", value_parser = version)]
    protocol_version: Option<Version>,
    /// How long each answer may take, in seconds; progress starts it anew, for 10 minutes in all
    #[arg(long, default_value = "60", value_name = "SECONDS", value_parser = seconds, allow_negative_numbers = true)]
    timeout: Duration,
    /// Pass the server's stderr on
    #[arg(short, long)]
    verbose: bool,
}

impl Reach {
    /// How to reach `far`. A wait of over a second is told, except to programs (`json`) that did not ask for it.
    pub(crate) fn connect(self, far: Far, json: bool, era: Era) -> Result<Connect, Failure> {
        if let (Some(name @ (EraName::Legacy | EraName::Modern)), Some(version)) =
            (self.era, self.protocol_version)
            && (name == EraName::Modern) != version.is_modern()
        {
            let era = if version.is_modern() { "modern" } else { "legacy" };
            return Err(Failure::usage(format!(
                "--protocol-version {} belongs to the {era} era: leave --era out, or say --era {era}",
                version.as_str()
            )));
        }
        let era = match self.era {
            Some(EraName::Auto) => Some(Era::Auto),
            Some(EraName::Legacy) => Some(Era::Legacy),
            Some(EraName::Modern) => Some(Era::Modern),
            None => self.protocol_version.is_none().then_some(era),
        };
        Ok(Connect {
            far,
            era,
            version: self.protocol_version,
            timeout: self.timeout,
            verbose: self.verbose,
            aloud: self.verbose || !json,
            keep: json,
        })
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum EraName {
    /// Ask server/discover first, and shake hands where that is refused
    Auto,
    /// Shake hands: revisions up to 2025-11-25
    Legacy,
    /// 2026-07-28: every request stands for itself
    Modern,
}

/// Packets beside a result.
#[derive(Args, Debug, Clone, Copy)]
pub(crate) struct Trace {
    /// Show the packets on stderr (as --teach, --short, --full and --raw do)
    #[arg(long)]
    pub(crate) trace: bool,
}

/// How packets are shown.
#[derive(Args, Debug, Clone, Copy)]
pub(crate) struct Show {
    /// Explain every packet at length, not only the first of its kind
    #[arg(long, conflicts_with = "short")]
    pub(crate) teach: bool,
    /// One line per packet
    #[arg(long)]
    pub(crate) short: bool,
    /// Every member, and texts in full
    #[arg(long)]
    pub(crate) full: bool,
    /// Also each line as it was sent
    #[arg(long)]
    pub(crate) raw: bool,
}

impl Show {
    /// Whether a way to show packets was chosen: then they are wanted.
    pub(crate) const fn is_chosen(self) -> bool {
        self.teach || self.short || self.full || self.raw
    }

    pub(crate) fn look(self, paint: Paint) -> Look {
        let mode = match (self.teach, self.short) {
            (true, _) => Mode::Teach,
            (_, true) => Mode::Short,
            _ => Mode::Normal,
        };
        Look { mode, full: self.full, raw: self.raw, paint, width: paint::width(), table: english }
    }
}

/// Our own words for mistakes that the grammar's library can't tell the way out of.
pub(crate) fn explained(error: &clap::Error) -> Option<String> {
    if error.kind() == ErrorKind::InvalidUtf8 {
        return Some("an argument is not UTF-8; a tool's can be read from a file: key=@FILE".into());
    }
    let text = error.to_string();
    let missing = text.split("Usage:").next().unwrap_or_default();
    if error.kind() == ErrorKind::MissingRequiredArgument && missing.contains("<SERVER>") {
        return Some(MISSING.into());
    }
    None
}

fn version(text: &str) -> Result<Version, String> {
    Version::parse(text).ok_or_else(|| {
        let known: Vec<&str> = Version::ALL.iter().map(|version| version.as_str()).collect();
        format!("no such revision; there are {}", known.join(", "))
    })
}

fn check(name: &str) -> Result<String, String> {
    if checks().iter().any(|check| check.name == name) {
        return Ok(name.to_owned());
    }
    Err("no such check; `barewire testkit --list` shows them".into())
}

fn seconds(text: &str) -> Result<Duration, String> {
    let digits = text.strip_suffix('s').unwrap_or(text);
    let seconds: f64 = digits.parse().map_err(|_| "a number of seconds, such as 5 or 0.5".to_owned())?;
    match Duration::try_from_secs_f64(seconds) {
        Ok(time) if !time.is_zero() && time < Duration::from_secs(1_000_000) => Ok(time),
        _ => Err("more than 0 and less than 1,000,000 seconds".into()),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_grammar_holds_together() {
        Cli::command().debug_assert();
    }

    #[test]
    fn times_and_revisions() {
        assert_eq!(seconds("0.5").ok(), Some(Duration::from_millis(500)));
        assert_eq!(seconds("5s").ok(), Some(Duration::from_secs(5)));
        for bad in ["", "0", "-1", "x", "1e99", "nan", "inf"] {
            assert!(seconds(bad).is_err(), "{bad}");
        }
        assert!(version("2025-06-18").is_ok());
        assert!(version("2024-10-07").unwrap_err().contains("2026-07-28"));
    }
}
