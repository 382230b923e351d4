//! The command line's grammar.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

use crate::capture::write::Format;
use crate::commands::serve::Sample;
use crate::packets::texts::english;
use crate::packets::view::{Look, Mode};
use crate::paint::{self, Color, Paint};

/// See, call and debug MCP servers over stdio.
#[derive(Parser, Debug)]
#[command(name = "barewire", version, max_term_width = 100, arg_required_else_help = true)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
    /// When to use colour
    #[arg(long, global = true, value_enum, default_value_t, value_name = "WHEN")]
    pub(crate) color: Color,
}

#[derive(Subcommand, Debug)]
pub(crate) enum Command {
    /// Sit between a host and a server: change no byte, log every read
    Tap {
        /// Where to write the log
        #[arg(long, value_name = "FILE", required_unless_present = "trace")]
        log: Option<PathBuf>,
        /// How the log is written
        #[arg(long, value_enum, default_value = "jsonl", value_name = "FORMAT")]
        log_format: Format,
        /// Show packets on stderr while they pass
        #[arg(long)]
        trace: bool,
        #[command(flatten)]
        show: Show,
        /// The server's command and arguments
        #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true, value_name = "COMMAND")]
        server: Vec<String>,
    },
    /// Be a sample server on standard input and output
    Serve {
        /// Which one
        #[arg(value_enum)]
        sample: Sample,
    },
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
    pub(crate) fn look(self, paint: Paint) -> Look {
        let mode = match (self.teach, self.short) {
            (true, _) => Mode::Teach,
            (_, true) => Mode::Short,
            _ => Mode::Normal,
        };
        Look { mode, full: self.full, raw: self.raw, paint, width: paint::width(), table: english }
    }
}
