//! The far end of a session: a command, a serial port or a socket; one grammar for all commands that have one.

pub(crate) mod peer;
pub(crate) mod socket;

use core::fmt;
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use crate::failure::Failure;
use crate::text::printable;

/// The speed of a serial port whose target names none.
pub(crate) const BAUD: u32 = 115_200;

/// What is said where none is named.
pub(crate) const MISSING: &str = "no server given: put its command behind --, as in -- uv run server.py, or name it by serial:PORT@BAUD, tcp:HOST:PORT or unix:PATH";

/// Where a server is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Far {
    /// A child process: its command and arguments; not empty.
    Command(Vec<OsString>),
    /// A device behind a serial port.
    Serial {
        /// `/dev/ttyUSB0`, `COM3`.
        path: PathBuf,
        /// Its speed.
        baud: u32,
    },
    /// A TCP port.
    Tcp {
        /// A name or an address; an IPv6 address without its brackets.
        host: String,
        /// The port.
        port: u16,
    },
    /// A Unix socket.
    Unix(PathBuf),
}

impl Far {
    /// Reads the words that name the far end: a target alone, or a command and its arguments.
    pub(crate) fn parse(words: &[OsString]) -> Result<Self, Failure> {
        let Some((first, rest)) = words.split_first() else {
            return Err(Failure::usage(MISSING));
        };
        if first.to_str().is_some_and(|word| word.starts_with("http://") || word.starts_with("https://")) {
            return Err(Failure::usage(
                "HTTP is not spoken yet: servers are reached as commands, serial:, tcp: and unix:",
            ));
        }
        if !is_target(first) {
            return Ok(Self::Command(words.to_vec()));
        }
        let shown = printable(&first.to_string_lossy());
        if !rest.is_empty() {
            return Err(Failure::usage(format!("`{shown}` names the server; nothing may follow it")));
        }
        Self::target(first).map_err(|why| Failure::usage(format!("`{shown}`: {why}")))
    }

    fn target(word: &OsStr) -> Result<Self, String> {
        let Some(word) = word.to_str() else { return Err("it is not UTF-8".into()) };
        match word.split_once(':').unwrap_or_default() {
            ("serial", rest) => {
                let (path, baud) = match rest.rsplit_once('@') {
                    Some((path, baud)) => {
                        let speed = baud.parse().ok().filter(|&speed| speed > 0);
                        (
                            path,
                            speed.ok_or(
                                "behind @ belongs the speed in baud, as in serial:/dev/ttyUSB0@115200",
                            )?,
                        )
                    }
                    None => (rest, BAUD),
                };
                if path.is_empty() {
                    return Err(
                        "the port is missing, as in serial:/dev/ttyUSB0@115200; `barewire ports` shows them"
                            .into(),
                    );
                }
                Ok(Self::Serial { path: path.into(), baud })
            }
            ("tcp", rest) => {
                let shape = "it must be tcp:HOST:PORT, as in tcp:localhost:9000";
                let (host, port) = rest.rsplit_once(':').ok_or(shape)?;
                let host = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
                match port.parse() {
                    Ok(port) if port > 0 && !host.is_empty() => Ok(Self::Tcp { host: host.into(), port }),
                    _ => Err(shape.into()),
                }
            }
            (_, "") => Err("the socket's path is missing, as in unix:/run/server.sock".into()),
            (_, path) => Ok(Self::Unix(path.into())),
        }
    }

    /// The words that named it.
    pub(crate) fn words(&self) -> Vec<String> {
        match self {
            Self::Command(words) => words.iter().map(|word| word.to_string_lossy().into_owned()).collect(),
            target => vec![target.to_string()],
        }
    }
}

/// As it is told in messages: a command by its program alone.
impl fmt::Display for Far {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Command(words) => {
                let program = words.first().map(|word| word.to_string_lossy()).unwrap_or_default();
                f.write_str(&printable(&program))
            }
            Self::Serial { path, baud } => write!(f, "serial:{}@{baud}", printable(&path.to_string_lossy())),
            Self::Tcp { host, port } if host.contains(':') => write!(f, "tcp:[{host}]:{port}"),
            Self::Tcp { host, port } => write!(f, "tcp:{}:{port}", printable(host)),
            Self::Unix(path) => write!(f, "unix:{}", printable(&path.to_string_lossy())),
        }
    }
}

/// Whether a word is a target: no command, and no `key:=JSON`.
pub(crate) fn is_target(word: &OsStr) -> bool {
    let word = word.as_encoded_bytes();
    ["serial:", "tcp:", "unix:"]
        .iter()
        .any(|scheme| word.strip_prefix(scheme.as_bytes()).is_some_and(|rest| rest.first() != Some(&b'=')))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(words: &[&str]) -> Result<Far, String> {
        let words: Vec<OsString> = words.iter().map(OsString::from).collect();
        Far::parse(&words).map_err(|failure| failure.message)
    }

    #[test]
    fn targets_and_commands() {
        let serial = |path: &str, baud| Far::Serial { path: path.into(), baud };
        let tcp = |host: &str, port| Far::Tcp { host: host.into(), port };
        for (words, far, shown) in [
            (&["serial:/dev/ttyUSB0@9600"][..], serial("/dev/ttyUSB0", 9600), "serial:/dev/ttyUSB0@9600"),
            (&["serial:COM3"], serial("COM3", BAUD), "serial:COM3@115200"),
            (&["serial:/dev/a@b@300"], serial("/dev/a@b", 300), "serial:/dev/a@b@300"),
            (&["tcp:localhost:9000"], tcp("localhost", 9000), "tcp:localhost:9000"),
            (&["tcp:[::1]:80"], tcp("::1", 80), "tcp:[::1]:80"),
            (&["tcp:::1:80"], tcp("::1", 80), "tcp:[::1]:80"),
            (&["unix:/tmp/a=b"], Far::Unix("/tmp/a=b".into()), "unix:/tmp/a=b"),
            (&["uv", "run", "tcp:x"], Far::Command(vec!["uv".into(), "run".into(), "tcp:x".into()]), "uv"),
            (&["tcp"], Far::Command(vec!["tcp".into()]), "tcp"),
        ] {
            let read = parsed(words).unwrap();
            assert_eq!((&read, read.to_string().as_str()), (&far, shown));
            let again: Vec<String> = read.words();
            assert_eq!(parsed(&again.iter().map(String::as_str).collect::<Vec<_>>()), Ok(far), "{words:?}");
        }
    }

    #[test]
    fn mistakes_are_told() {
        for (words, told) in [
            (&["serial:"][..], "the port is missing"),
            (&["serial:@9600"], "the port is missing"),
            (&["serial:/dev/x@"], "the speed in baud"),
            (&["serial:/dev/x@0"], "the speed in baud"),
            (&["serial:/dev/x@fast"], "the speed in baud"),
            (&["tcp:localhost"], "tcp:HOST:PORT"),
            (&["tcp::80"], "tcp:HOST:PORT"),
            (&["tcp:h:0"], "tcp:HOST:PORT"),
            (&["tcp:h:99999"], "tcp:HOST:PORT"),
            (&["unix:"], "path is missing"),
            (&["tcp:h:80", "more"], "nothing may follow"),
            (&["http://localhost:3000/mcp"], "HTTP is not spoken yet"),
            (&[], "no server given"),
        ] {
            let why = parsed(words).unwrap_err();
            assert!(why.contains(told), "{words:?}: {why}");
        }
    }

    #[test]
    fn an_argument_is_no_target() {
        for (word, target) in [("tcp:=5", false), ("state=TX", false), ("unix:x", true), ("serial:", true)] {
            assert_eq!(is_target(OsStr::new(word)), target, "{word}");
        }
    }
}
