//! What several tests need.

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
