//! The smallest device on standard input and output, as if its UART were a pipe: 256 bytes to receive into, 64 to write into.
//! For trying what clients make of it: a modern question that does not fit is refused by name, and they come in by
//! `initialize`.
use barewire::{Call, Millis, Server, ServerConfig, ServerEvent, Storage, Tool};
use barewire_serial::{Checked, Link, LinkStorage, Node, Role, SerialServer, Turn};
use std::io::{Read, Write, stdin, stdout};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

static TOOLS: &[Tool<'static>] = &[Tool::new("blink", "Blinks once.", r#"{"type":"object"}"#)];
static CONFIG: ServerConfig<'static> = ServerConfig::new("small", "1").tools(TOOLS);
const TEXT: &str = "blinked";

fn main() -> std::io::Result<()> {
    let (send, receive) = channel();
    std::thread::spawn(move || {
        let mut byte = [0];
        while matches!(stdin().read(&mut byte), Ok(1)) && send.send(byte[0]).is_ok() {}
    });
    let (mut memory, mut lines) = (Storage::<256, 64, 1>::new(), LinkStorage::<64, 0>::new());
    let server = Server::new(&CONFIG, memory.buffers());
    let mut node: SerialServer<'_> = Node::new(server, Link::new(Role::Server, Checked::Never, &mut lines));
    let (born, mut paused, mut at) = (Instant::now(), None, 0);
    loop {
        let mut reply = match node.poll(Millis(born.elapsed().as_millis() as u64)) {
            Turn::Event(ServerEvent::Call(Call { reply, .. })) => {
                at = 0;
                Some(reply)
            }
            Turn::Event(ServerEvent::More(reply)) => Some(reply),
            _ => None,
        };
        if let Some(reply) = reply.take() {
            (at, paused) = piece(reply, at);
            continue;
        }
        let output = node.output();
        if !output.is_empty() {
            let n = stdout().write(output)?;
            stdout().flush()?;
            node.sent(n);
        } else if let Some(call) = paused.take() {
            // Nothing of the text fitted beside the head of the answer, which has left now.
            if let Ok(reply) = node.machine().resume(call) {
                (at, paused) = piece(reply, at);
            }
        } else if node.room() > 0 {
            match receive.recv_timeout(Duration::from_millis(10)) {
                Ok(byte) => drop(node.receive(&[byte])),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Ok(()),
            }
        }
    }
}

/// Writes what fits; returns how far it came, and the call if it has to be resumed.
fn piece(mut reply: barewire::Reply<'_>, at: usize) -> (usize, Option<barewire::CallId>) {
    let n = reply.write_text(&TEXT[at..]);
    if at + n == TEXT.len() {
        let _ = reply.finish();
        return (at + n, None);
    }
    let call = reply.pause();
    (at + n, (n == 0).then_some(call))
}
