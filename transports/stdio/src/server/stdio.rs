//! The process's own stdin and stdout.

use barewire::ServerConfig;
use std::io::{self, IsTerminal};

/// Moves the real stdin and stdout aside, so that nothing else in the process can reach them.
#[cfg(unix)]
pub(super) fn take() -> io::Result<(std::fs::File, std::fs::File)> {
    use rustix::{io::fcntl_dupfd_cloexec, stdio};
    use std::fs::File;
    let read = fcntl_dupfd_cloexec(stdio::stdin(), 3)?;
    let write = fcntl_dupfd_cloexec(stdio::stdout(), 3)?;
    let null = File::open("/dev/null")?;
    stdio::dup2_stdin(&null)?;
    stdio::dup2_stdout(stdio::stderr())?;
    Ok((File::from(read), File::from(write)))
}

#[cfg(not(unix))]
pub(super) fn take() -> io::Result<(io::Stdin, io::Stdout)> {
    Ok((io::stdin(), io::stdout()))
}

/// Whether the writer of `input` has closed its end, even if there is still something to read.
#[cfg(unix)]
pub(super) fn hung_up(input: &std::fs::File) -> bool {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    // Nothing is asked for: a closed end is told all the same.
    let mut fds = [PollFd::new(input, PollFlags::empty())];
    matches!(poll(&mut fds, Some(&Timespec::default())), Ok(1))
}

/// Cannot be known here.
#[cfg(not(unix))]
pub(super) fn hung_up(_input: &io::Stdin) -> bool {
    false
}

/// A server started by hand waits for lines that nobody knows by heart.
pub(super) fn hint(config: &ServerConfig<'_>) {
    if !io::stdin().is_terminal() {
        return;
    }
    let (name, version) = (config.name, config.version);
    eprint!(
        "{name} {version}: an MCP server on standard input and output. Hosts start it as a command and talk to it over \
         pipes; by hand, paste these lines one by one (the second has no answer), and end with Ctrl-D:\n\
         {{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{{\"protocolVersion\":\"2025-11-25\",\
         \"capabilities\":{{}},\"clientInfo\":{{\"name\":\"hand\",\"version\":\"1\"}}}}}}\n\
         {{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}}\n\
         {{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/list\"}}\n"
    );
}
