//! A port and how it is used.
use super::{Device, Failure, OpenError, Wire, open};
use crate::Checked;
use barewire::ClientConfig;
use barewire_stdio::Settings;
use std::{
    boxed::Box,
    io,
    path::{Path, PathBuf},
    string::String,
    sync::Arc,
    time::Duration,
    vec::Vec,
};

/// Something that happened at a port.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Trace<'a> {
    /// The bytes of one write, as they are on the wire.
    Sent(&'a [u8]),
    /// The bytes of one read.
    Received(&'a [u8]),
    /// A line between messages: what the device prints, boot text, logs, damage.
    Printed(&'a [u8]),
    /// From now on lines are checked.
    Checked,
    /// The device has started again, or the port is gone: the session is over.
    Lost(super::Lost),
}

pub(super) type Hook = Arc<dyn Fn(Trace<'_>) + Send + Sync>;
pub(super) type BootText = fn(&str) -> bool;
/// The two halves of a port: what is read from it, what is written to it.
pub type Halves = (Box<dyn io::Read + Send>, Box<dyn io::Write + Send>);
pub(super) type Wrap = Arc<dyn Fn(Halves) -> Halves + Send + Sync>;

/// A serial port, and how it is used. Opened by [`connect`](Self::connect) or [`open`](Self::open).
#[derive(Clone)]
#[must_use]
pub struct Port {
    pub(super) path: PathBuf,
    pub(super) baud: u32,
    pub(super) checked: Checked,
    pub(super) reset: bool,
    pub(super) window: usize,
    pub(super) patience: Duration,
    pub(super) settings: Settings,
    pub(super) hook: Option<Hook>,
    pub(super) boot_text: BootText,
    pub(super) wrap: Option<Wrap>,
}

impl Port {
    /// The port at `path` (`/dev/ttyUSB0`, `COM3`), at 115,200 baud, 8 data bits, no parity, one stop bit.
    pub fn new(path: impl AsRef<Path>) -> Self {
        Self {
            path: path.as_ref().into(),
            baud: 115_200,
            checked: Checked::Offer,
            reset: false,
            window: 32 << 10,
            patience: Duration::from_secs(15),
            settings: Settings::new(),
            hook: None,
            boot_text: is_boot_text,
            wrap: None,
        }
    }

    /// Sets the speed.
    pub fn baud(mut self, baud: u32) -> Self {
        self.baud = baud;
        self
    }

    /// Sets whether lines are checked. [`Checked::Always`] only for devices that are known to have it.
    pub fn checked(mut self, checked: Checked) -> Self {
        self.checked = checked;
        self
    }

    /// Resets the device when the port is opened, by a pulse on DTR and RTS as development boards have it. Off unless set; then
    /// the lines are left as the system sets them, and closing does not drop them, so that a board is not reset each time. (The
    /// first opening after it was plugged in may do that all the same: Linux raises DTR by itself.)
    pub fn reset_on_open(mut self, reset: bool) -> Self {
        self.reset = reset;
        self
    }

    /// How many unacknowledged bytes may be under way from the device, with checked lines; 32 KiB unless set.
    pub fn window(mut self, bytes: usize) -> Self {
        self.window = bytes;
        self
    }

    /// How long opening may take, from the port to the session; 15 s unless set. A device may boot meanwhile: it is
    /// asked again and again.
    pub fn patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// Time limits of calls and limits of messages. Its limit for the start is ignored: see [`patience`](Self::patience).
    pub fn settings(mut self, settings: Settings) -> Self {
        self.settings = settings;
        self
    }

    /// Shows everything that happens at the port, what the device prints included. Called in other threads; it must not call the
    /// device.
    pub fn trace(mut self, hook: impl Fn(Trace<'_>) + Send + Sync + 'static) -> Self {
        self.hook = Some(Arc::new(hook));
        self
    }

    /// Sets which printed lines mean that the device has just started; [`is_boot_text`] unless set. It only matters for devices
    /// that do not say so themselves, which those with this crate do.
    pub fn boot_text(mut self, is: fn(&str) -> bool) -> Self {
        self.boot_text = is;
        self
    }

    /// Puts something between the port and the link, each time the port is opened: faults, for tests. Errors such as `TimedOut`, which
    /// a port reports when nothing happens for a while, must be passed on.
    pub fn wrap(mut self, wrap: impl Fn(Halves) -> Halves + Send + Sync + 'static) -> Self {
        self.wrap = Some(Arc::new(wrap));
        self
    }

    /// Opens the port and a session with the device behind it.
    ///
    /// # Errors
    /// [`OpenError`], which says what to do.
    pub fn connect(self, config: &ClientConfig<'_>) -> Result<Device, OpenError> {
        let device = Device::new(self, config);
        match device.reconnect() {
            Ok(()) => Ok(device),
            Err(Failure::Open(error)) => Err(error),
            Err(_) => Err(OpenError::Silent {
                path: device.port().path.clone(),
                baud: device.port().baud,
                after: Duration::ZERO,
                heard: None,
            }),
        }
    }

    /// Opens the port alone, for programs that have a client of their own.
    ///
    /// # Errors
    /// [`OpenError`], which says what to do.
    pub fn open(&self) -> Result<Wire, OpenError> {
        Wire::start(open::open(self)?, self)
    }

    /// The serial ports of this computer, as far as the system names them.
    #[must_use]
    pub fn available() -> Vec<PathBuf> {
        open::available()
    }
}

impl core::fmt::Debug for Port {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Port")
            .field("path", &self.path)
            .field("baud", &self.baud)
            .field("checked", &self.checked)
            .finish_non_exhaustive()
    }
}

/// Does a line that a device prints mean that it has just started? Knows the usual boot loaders and systems.
#[must_use]
pub fn is_boot_text(line: &str) -> bool {
    const SIGNS: [&str; 10] = [
        "rst:0x",
        "boot:",
        "booting",
        "*** boot",
        "reset=",
        "reset reason",
        "poweron",
        "u-boot",
        "starting kernel",
        "mcuboot",
    ];
    let line: String = line.to_ascii_lowercase();
    SIGNS.iter().any(|sign| line.contains(sign))
}
