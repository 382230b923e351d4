//! `barewire explain`: the packets of a log, shown as in the demo.

use std::fs;
use std::io::{self, IsTerminal, Read, Write};
use std::path::Path;

use crate::capture::read::read;
use crate::failure::Failure;
use crate::packets::export;
use crate::packets::model::Item;
use crate::packets::texts::{T, say};
use crate::packets::tracker::Tracker;
use crate::packets::view::{Look, View};

/// Reads a capture (`-` is stdin) and shows it on stdout.
pub(crate) fn run(path: &Path, look: Look, json: bool) -> Result<(), Failure> {
    let file = if path == Path::new("-") {
        if io::stdin().is_terminal() {
            let _ = writeln!(io::stderr(), "barewire: reading messages from this terminal; Ctrl-D ends them");
        }
        let mut all = Vec::new();
        io::stdin().read_to_end(&mut all).map(|_| all)
    } else {
        fs::read(path)
    };
    let name = if path == Path::new("-") { "stdin".into() } else { path.display().to_string() };
    let file = file.map_err(|error| Failure::usage(format!("can't read {name}: {error}")))?;
    let capture = read(&file).map_err(|why| Failure::usage(format!("{name}: {why}")))?;
    for note in &capture.notes {
        let _ = writeln!(io::stderr(), "barewire: {name}: {note}");
    }
    let mut out = io::BufWriter::new(io::stdout().lock());
    let mut tracker = Tracker::new(look.table);
    let mut view = View::new(look).of_others();
    if capture.guessed && !json {
        writeln!(out, "{}\n", say(look.table, T::Guessed, &[])).map_err(Failure::stdout)?;
    }
    let mut show = |items: Vec<Item>| -> io::Result<()> {
        for item in items {
            match (json, &item) {
                (true, Item::Packet(packet)) => out.write_all(&export::packet(packet))?,
                (true, _) => {}
                (false, item) => out.write_all(view.item(item).as_bytes())?,
            }
        }
        Ok(())
    };
    for entry in &capture.entries {
        show(tracker.take(entry)).map_err(Failure::stdout)?;
    }
    let (items, summary) = tracker.finish();
    show(items).map_err(Failure::stdout)?;
    if !json {
        out.write_all(view.summary(&summary).as_bytes()).map_err(Failure::stdout)?;
    }
    out.flush().map_err(Failure::stdout)
}
