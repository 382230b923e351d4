//! What several tests need.
#![allow(dead_code)] // each of them needs a part

use barewire_testkit::{Outcome, Report};
use std::{
    io,
    sync::mpsc::{Receiver, SyncSender, sync_channel},
};

type Send = Box<dyn FnMut(&[u8]) -> io::Result<()> + core::marker::Send>;
type Receive = Box<dyn FnMut() -> io::Result<Option<Vec<u8>>> + core::marker::Send>;

/// Two ends of a message channel in memory, of so many messages each way.
pub(crate) fn messages(room: usize) -> ((Send, Receive), (Send, Receive)) {
    let (up, server) = sync_channel(room);
    let (down, client) = sync_channel(room);
    ((sends(up), receives(client)), (sends(down), receives(server)))
}

fn sends(to: SyncSender<Vec<u8>>) -> Send {
    Box::new(move |message| to.send(message.to_vec()).map_err(|_| io::ErrorKind::BrokenPipe.into()))
}

fn receives(from: Receiver<Vec<u8>>) -> Receive {
    Box::new(move || Ok(from.recv().ok()))
}

/// Prints what came of a transport, for people; gives the names of the checks that did not apply.
pub(crate) fn told<'r>(transport: &str, report: &'r Report) -> Vec<&'r str> {
    println!("{report}");
    println!("{transport}: {} passed, {} not applicable", report.passed(), report.skipped());
    report.assert_passed();
    let skipped = report.results.iter().filter(|ran| matches!(ran.outcome, Outcome::Skipped(_)));
    skipped.map(|ran| ran.check.name).collect()
}
