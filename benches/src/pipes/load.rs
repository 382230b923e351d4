//! One server under load over its pipes. The requests are written before the clock starts and answers are only counted, so that what is
//! measured is the server.

use core::time::Duration;
use std::fs;
use std::io::{self, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Instant;

use barewire::json::Raw;

/// How requests look, and what comes back.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Mode {
    /// Whatever is written comes back: no server, the cost of the pipes alone.
    Echo,
    Legacy,
    Modern,
}

/// What is asked, how often at once, and for how long.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Load<'a> {
    pub(crate) mode: Mode,
    pub(crate) tool: &'a str,
    pub(crate) in_flight: usize,
    /// For how long, or for how many calls if that is longer.
    pub(crate) time: Duration,
    pub(crate) calls: u64,
}

/// Of one run; per call, but for the memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sample {
    /// Processor time of the server's process, in nanoseconds.
    pub(crate) cpu: f64,
    /// From a request to its answer, in nanoseconds: half of them took less. One in flight only.
    pub(crate) p50: f64,
    pub(crate) per_second: f64,
    /// The memory that the process has, and the most that it ever had, in bytes.
    pub(crate) resident: u64,
    pub(crate) peak: u64,
}

const META: &str = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"bench","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}},"#;

impl Load<'_> {
    fn request(&self, id: u64) -> String {
        let meta = if self.mode == Mode::Modern { META } else { "" };
        let tool = self.tool;
        format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{{meta}"name":"{tool}","arguments":{{"state":"TX"}}}}}}"#
        ) + "\n"
    }
}

/// A running server; killed when it is dropped.
pub(crate) struct Server {
    child: Child,
    write: ChildStdin,
    read: ChildStdout,
    chunk: Vec<u8>,
    /// What came after the last line feed, while answers are read whole.
    rest: Vec<u8>,
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Server {
    /// Starts it and opens the session. What it says on stderr is dropped.
    pub(crate) fn start(command: &[String], mode: Mode, text: &Path) -> io::Result<Self> {
        let (program, args) = command.split_first().ok_or(io::ErrorKind::InvalidInput)?;
        let mut child = Command::new(program)
            .args(args)
            .env("BENCH_TEXT", text)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let (write, read) = child.stdin.take().zip(child.stdout.take()).ok_or(io::ErrorKind::BrokenPipe)?;
        let mut server = Self { child, write, read, chunk: vec![0; 256 << 10], rest: Vec::new() };
        if mode == Mode::Legacy {
            let hello = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}}"#;
            server.exchange(&format!("{hello}\n"))?;
            server.write.write_all(b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n")?;
        }
        Ok(server)
    }

    /// Writes a line and reads one.
    fn exchange(&mut self, line: &str) -> io::Result<Vec<u8>> {
        self.write.write_all(line.as_bytes())?;
        loop {
            if let Some(end) = self.rest.iter().position(|byte| *byte == b'\n') {
                return Ok(self.rest.drain(..=end).collect());
            }
            match self.read.read(&mut self.chunk)? {
                0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                n => self.rest.extend_from_slice(self.chunk.get(..n).unwrap_or_default()),
            }
        }
    }

    /// One call, and what its text is; an error is what the server said instead.
    pub(crate) fn check(&mut self, load: &Load<'_>) -> Result<String, String> {
        let line = self.exchange(&load.request(1)).map_err(|error| error.to_string())?;
        if load.mode == Mode::Echo {
            return Ok(String::new());
        }
        let text = Raw::from_bytes(&line).ok().and_then(|line| {
            let block = line.get("result")?.get("content")?.elements().next()?;
            Some(block.get("text")?.as_string()?.chars().collect())
        });
        text.ok_or_else(|| String::from_utf8_lossy(&line).chars().take(200).collect())
    }

    /// Keeps so many requests open for so long. The session must be quiet before, and is after.
    pub(crate) fn run(&mut self, load: &Load<'_>) -> io::Result<Sample> {
        const IDS: u64 = 512;
        let requests: Vec<String> = (0..IDS).map(|n| load.request(1000 + n)).collect();
        let mut cycle = requests.iter().cycle();
        let mut batch = Vec::new();
        let (mut latencies, mut answered, mut open) = (Vec::new(), 0u64, 0usize);
        let (cpu, began) = (self.cpu()?, Instant::now());
        loop {
            // Every answer frees the place of one more request; at the end the rest is only waited for.
            let asked = Instant::now();
            if asked - began < load.time || answered + (open as u64) < load.calls {
                batch.clear();
                for request in cycle.by_ref().take(load.in_flight - open) {
                    batch.extend_from_slice(request.as_bytes());
                    open += 1;
                }
                self.write.write_all(&batch)?;
            } else if open == 0 {
                break;
            }
            let came = loop {
                let n = self.read.read(&mut self.chunk)?;
                if n == 0 {
                    return Err(io::ErrorKind::UnexpectedEof.into());
                }
                let lines = memchr::memchr_iter(b'\n', self.chunk.get(..n).unwrap_or_default()).count();
                if lines > 0 {
                    break lines;
                }
            };
            if load.in_flight == 1 {
                latencies.push(u32::try_from(asked.elapsed().as_nanos()).unwrap_or(u32::MAX));
            }
            answered += came as u64;
            open = open.checked_sub(came).ok_or_else(|| io::Error::other("more answers than requests"))?;
        }
        let (time, cpu) = (began.elapsed(), self.cpu()? - cpu);
        latencies.sort_unstable();
        let calls = answered as f64;
        Ok(Sample {
            cpu: cpu as f64 / calls,
            p50: latencies.get(latencies.len() / 2).map_or(f64::NAN, |&nanos| f64::from(nanos)),
            per_second: calls / time.as_secs_f64(),
            resident: self.memory("VmRSS:")?,
            peak: self.memory("VmHWM:")?,
        })
    }

    /// The processor time of all threads that live, in nanoseconds (Linux).
    fn cpu(&self) -> io::Result<u64> {
        let mut sum = 0;
        for task in fs::read_dir(format!("/proc/{}/task", self.child.id()))? {
            let text = fs::read_to_string(task?.path().join("schedstat")).unwrap_or_default();
            sum += text.split_ascii_whitespace().next().and_then(|n| n.parse::<u64>().ok()).unwrap_or(0);
        }
        Ok(sum)
    }

    fn memory(&self, which: &str) -> io::Result<u64> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let line = status.lines().find_map(|line| line.strip_prefix(which)).unwrap_or_default();
        let kilobytes: u64 =
            line.split_ascii_whitespace().next().and_then(|n| n.parse().ok()).unwrap_or_default();
        Ok(kilobytes << 10)
    }
}

/// The floor: writes what it reads, as it comes.
pub(crate) fn echo() -> io::Result<()> {
    let (mut read, mut write) = (io::stdin().lock(), fs::File::from(std::os::fd::OwnedFd::from(stdout()?)));
    let mut chunk = vec![0; 64 << 10];
    loop {
        match read.read(&mut chunk)? {
            0 => return Ok(()),
            n => write.write_all(chunk.get(..n).unwrap_or_default())?,
        }
    }
}

/// Without the buffer that ends at line feeds.
fn stdout() -> io::Result<fs::File> {
    use std::os::fd::AsFd;
    Ok(io::stdout().as_fd().try_clone_to_owned()?.into())
}
