//! A board in QEMU, and its UART as a socket.
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// A firmware, and the machine that runs it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Image {
    /// Cortex-M4.
    M4,
    /// Cortex-M0, 512 bytes to receive.
    M0,
    /// The same with 256.
    M0Least,
    /// RISC-V.
    Riscv,
    /// Those for both eras, telling how deep their stack was.
    M4Stack,
    M0Stack,
    RiscvStack,
    /// The client, on a Cortex-M4.
    Client,
}

impl Image {
    pub const SERVERS: [Self; 3] = [Self::M4, Self::M0, Self::Riscv];

    fn command(self) -> Command {
        let tools = PathBuf::from(setting("FIRMWARE_TOOLS"));
        let images = PathBuf::from(setting("FIRMWARE_IMAGES"));
        let (program, machine, image) = match self {
            Self::M4 => ("qemu-system-arm", "mps2-an386", "m4"),
            Self::M0 => ("qemu-system-arm", "microbit", "m0"),
            Self::M0Least => ("qemu-system-arm", "microbit", "m0-256"),
            Self::Riscv => ("qemu-system-riscv32", "virt", "riscv"),
            Self::M4Stack => ("qemu-system-arm", "mps2-an386", "m4-stack"),
            Self::M0Stack => ("qemu-system-arm", "microbit", "m0-stack"),
            Self::RiscvStack => ("qemu-system-riscv32", "virt", "riscv-stack"),
            Self::Client => ("qemu-system-arm", "mps2-an386", "client"),
        };
        let mut command = Command::new(tools.join(program));
        command.args(["-machine", machine, "-nographic", "-kernel"]).arg(images.join(image));
        if program == "qemu-system-riscv32" {
            command.args(["-bios", "none"]);
        }
        command
    }
}

fn setting(name: &str) -> String {
    std::env::var(name)
        .unwrap_or_else(|_| panic!("{name} is not set: run tests/firmware/run, which builds the images"))
}

/// How long anything may take before the test fails instead of hanging.
const PATIENCE: Duration = Duration::from_secs(60);

/// A board that runs.
pub struct Board {
    qemu: Child,
    folder: PathBuf,
    line: BufReader<UnixStream>,
    monitor: UnixStream,
}

impl Board {
    /// Starts QEMU and waits until the firmware has said that it boots.
    pub fn start(image: Image) -> Self {
        let mut board = Self::silent(image);
        board.heard("boot: ");
        board
    }

    /// Starts QEMU, and reads nothing.
    pub fn silent(image: Image) -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let folder = std::env::temp_dir().join(format!("firmware-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let (line, monitor) = (folder.join("line"), folder.join("monitor"));
        let qemu = image
            .command()
            .arg("-monitor")
            .arg(format!("unix:{},server=on,wait=off", monitor.display()))
            .arg("-serial")
            .arg(format!("unix:{},server=on,wait=on", line.display()))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let line = BufReader::new(connect(&line));
        Self { qemu, monitor: connect(&monitor), line, folder }
    }

    /// The line, for others to use.
    pub fn socket(&self) -> UnixStream {
        self.line.get_ref().try_clone().unwrap()
    }

    pub fn send(&mut self, bytes: &[u8]) {
        self.line.get_mut().write_all(bytes).unwrap();
    }

    pub fn say(&mut self, line: &str) {
        self.send(format!("{line}\n").as_bytes());
    }

    /// The next line, whatever it is.
    pub fn line(&mut self) -> String {
        let mut line = Vec::new();
        self.line.read_until(b'\n', &mut line).expect("the board says nothing");
        String::from_utf8_lossy(&line).trim_end().into()
    }

    /// The next message.
    pub fn hear(&mut self) -> String {
        loop {
            let line = self.line();
            if line.starts_with('{') {
                return line;
            }
        }
    }

    /// Reads up to a line that starts so.
    pub fn heard(&mut self, start: &str) {
        while !self.line().starts_with(start) {}
    }

    /// Reads `n` bytes, of a message that is under way.
    pub fn part(&mut self, n: usize) -> Vec<u8> {
        let mut part = vec![0; n];
        self.line.read_exact(&mut part).unwrap();
        part
    }

    pub fn ask(&mut self, request: &str) -> String {
        self.say(request);
        self.hear()
    }

    /// Says the lines after `>` and expects those after `<`, byte for byte.
    pub fn talk(&mut self, transcript: &str) {
        for line in transcript.lines().map(str::trim) {
            match line.split_at_checked(2) {
                Some(("> ", said)) => self.say(said),
                Some(("< ", expected)) => assert_eq!(self.hear(), expected),
                _ => assert!(line.is_empty() || line.starts_with('#'), "what is {line}?"),
            }
        }
    }

    /// Opens a session of the older era.
    pub fn open(&mut self) {
        let answer = self.ask(
            r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}"#,
        );
        assert!(
            answer.starts_with(r#"{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-11-25""#),
            "{answer}"
        );
        self.say(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
    }

    /// Pulls the reset pin.
    pub fn reset(&mut self) {
        self.monitor.write_all(b"system_reset\n").unwrap();
    }
}

impl Drop for Board {
    fn drop(&mut self) {
        let _ = self.qemu.kill();
        let _ = self.qemu.wait();
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// QEMU takes a moment to make its sockets.
fn connect(path: &Path) -> UnixStream {
    let start = Instant::now();
    loop {
        match UnixStream::connect(path) {
            Ok(socket) => {
                socket.set_read_timeout(Some(PATIENCE)).unwrap();
                return socket;
            }
            Err(error) => assert!(start.elapsed() < PATIENCE, "QEMU makes no {}: {error}", path.display()),
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}
