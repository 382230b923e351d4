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
    /// The client, on a Cortex-M4.
    Client,
}

impl Image {
    pub const SERVERS: [Self; 3] = [Self::M4, Self::M0, Self::Riscv];

    const fn names(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Self::M4 => ("qemu-system-arm", "mps2-an386", "m4"),
            Self::M0 => ("qemu-system-arm", "microbit", "m0"),
            Self::M0Least => ("qemu-system-arm", "microbit", "m0-256"),
            Self::Riscv => ("qemu-system-riscv32", "virt", "riscv"),
            Self::Client => ("qemu-system-arm", "mps2-an386", "client"),
        }
    }

    fn path(self) -> PathBuf {
        PathBuf::from(setting("FIRMWARE_IMAGES")).join(self.names().2)
    }

    fn command(self) -> Command {
        let (program, machine, _) = self.names();
        let mut command = Command::new(PathBuf::from(setting("FIRMWARE_TOOLS")).join(program));
        command.args(["-machine", machine, "-nographic", "-kernel"]).arg(self.path());
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
    image: Image,
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
        Self { image, qemu, monitor: connect(&monitor), line, folder }
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

impl Board {
    /// How many bytes of the stack were ever used: QEMU's RAM is zero at first, so what is not was.
    pub fn stack(&mut self) -> usize {
        let elf = std::fs::read(self.image.path()).unwrap();
        let (bottom, top) = (symbol(&elf, "__sheap"), symbol(&elf, "_stack_start"));
        let file = self.folder.join("stack");
        let size = (top - bottom) as usize;
        let command = format!("memsave {bottom:#x} {size} \"{}\"\n", file.display());
        self.monitor.write_all(command.as_bytes()).unwrap();
        let start = Instant::now();
        while std::fs::metadata(&file).map_or(0, |about| about.len()) < size as u64 {
            assert!(start.elapsed() < PATIENCE, "QEMU does not save the memory");
        }
        let memory = std::fs::read(file).unwrap();
        size - memory.iter().position(|byte| *byte != 0).unwrap_or(size)
    }
}

/// The value of a symbol of a 32-bit ELF file.
fn symbol(elf: &[u8], name: &str) -> u32 {
    let word = |at: usize| u32::from_le_bytes(elf[at..at + 4].try_into().unwrap());
    let half = |at: usize| usize::from(u16::from_le_bytes(elf[at..at + 2].try_into().unwrap()));
    let section = |n: usize| word(32) as usize + n * half(46);
    // The one of type SYMTAB, and the strings that it names.
    let table = (0..half(48)).map(section).find(|at| word(at + 4) == 2).expect("the image has no symbols");
    let strings = word(section(word(table + 24) as usize) + 16) as usize;
    let (first, size) = (word(table + 16) as usize, word(table + 20) as usize);
    let found = (first..first + size).step_by(16).find(|at| {
        let at = strings + word(*at) as usize;
        elf[at..].starts_with(name.as_bytes()) && elf[at + name.len()] == 0
    });
    word(found.unwrap_or_else(|| panic!("the image has no {name}")) + 4)
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
