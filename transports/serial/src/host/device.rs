//! A device behind a port, for many threads.
use super::{Failure, Lost, OpenError, Port, Session, Wire, lock};
use crate::link::LinkStats;
use crate::node::offers_checked;
use barewire::json::Raw;
use barewire::{ClientConfig, Millis};
use barewire_stdio::{CallError, CallResult, Client, Options, ServerInfo, StartError, ToolInfo};
use std::{
    string::{String, ToString},
    sync::{Arc, Mutex},
    time::{Duration, Instant},
    vec::Vec,
};

/// One try of a handshake; a device that boots hears nothing of the first ones.
const TRY: Duration = Duration::from_secs(4);
/// How long a device may leave the first question unanswered, before the older one is asked.
const PROBE: Millis = Millis(1500);
/// Between two looks at a port that is away.
const LOOK: Duration = Duration::from_millis(100);

/// A session with a device on a serial port. Clones share it; all of them can be used in many threads at once.
///
/// When the device restarts or the port goes away, requests under way fail with [`Failure::Lost`] at once; the next one
/// opens a new session, for which it waits up to [`Port::patience`].
#[derive(Clone)]
pub struct Device(Arc<Inner>);

struct Inner {
    port: Port,
    config: Config,
    /// Taken to connect, so that one thread does it for all.
    connecting: Mutex<()>,
    now: Mutex<Now>,
}

#[derive(Default)]
struct Now {
    wire: Option<Arc<Wire>>,
    open: Option<Open>,
}

#[derive(Clone)]
struct Open {
    client: Client,
    session: Session,
    wire: Arc<Wire>,
}

/// A configuration that owns its strings.
struct Config {
    name: String,
    version: String,
    extensions: Option<String>,
    rest: ClientConfig<'static>,
}

impl Config {
    fn new(config: &ClientConfig<'_>) -> Self {
        let mut rest = ClientConfig::new("", "").era(config.era).can(config.can);
        rest.protocol_version = config.protocol_version;
        rest.probe = config.probe.min(PROBE);
        rest.start = None;
        let extensions = config.extensions.map(Into::into);
        Self { name: config.name.into(), version: config.version.into(), extensions, rest }
    }

    fn get(&self) -> ClientConfig<'_> {
        let mut config = ClientConfig::new(&self.name, &self.version).era(self.rest.era).can(self.rest.can);
        config.protocol_version = self.rest.protocol_version;
        config.probe = self.rest.probe;
        config.start = self.rest.start;
        config.extensions = self.extensions.as_deref();
        // A device on a plain line may still work for the session before, of this program or of another.
        config.first_id(somewhere())
    }
}

impl Device {
    pub(super) fn new(port: Port, config: &ClientConfig<'_>) -> Self {
        let config = Config::new(config);
        Self(Arc::new(Inner { port, config, connecting: Mutex::new(()), now: Mutex::default() }))
    }

    pub(super) fn port(&self) -> &Port {
        &self.0.port
    }

    /// Opens a session if there is none.
    ///
    /// # Errors
    /// [`Failure::Open`], which says what to do.
    pub fn reconnect(&self) -> Result<(), Failure> {
        self.0.open().map(drop)
    }

    /// What the server said of itself; `None` while there is no session.
    #[must_use]
    pub fn server(&self) -> Option<ServerInfo> {
        self.0.at_hand().map(|open| open.client.server().clone())
    }

    /// Are lines checked, at the moment?
    #[must_use]
    pub fn is_checked(&self) -> bool {
        self.0.at_hand().is_some_and(|open| open.wire.is_checked())
    }

    /// What happened on the link since the port was opened.
    #[must_use]
    pub fn stats(&self) -> LinkStats {
        lock(&self.0.now).wire.as_ref().map(|wire| wire.stats()).unwrap_or_default()
    }

    /// All tools, page after page.
    ///
    /// # Errors
    /// [`Failure`].
    pub fn list_tools(&self) -> Result<Vec<ToolInfo>, Failure> {
        self.0.with(Client::list_tools)
    }

    /// Calls a tool; `args_json` is a JSON object.
    ///
    /// # Errors
    /// [`Failure`].
    pub fn call(&self, name: &str, args_json: &str) -> Result<CallResult, Failure> {
        self.0.with(|client| client.call(name, args_json))
    }

    /// Calls a tool with limits of its own, or with an ear for progress.
    ///
    /// # Errors
    /// [`Failure`].
    pub fn call_with(
        &self,
        name: &str,
        args_json: &str,
        options: Options<'_>,
    ) -> Result<CallResult, Failure> {
        self.0.with(|client| client.call_with(name, args_json, options))
    }

    /// Any other method: the result as JSON text.
    ///
    /// # Errors
    /// [`Failure`].
    pub fn request(&self, method: &str, params_json: Option<&str>) -> Result<String, Failure> {
        self.0.with(|client| client.request(method, params_json))
    }

    /// Ends the session and closes the port, for all clones. The next request opens both again.
    pub fn close(&self) {
        let now = core::mem::take(&mut *lock(&self.0.now));
        if let Some(open) = now.open {
            open.session.close();
            open.client.close();
        }
    }
}

impl core::fmt::Debug for Device {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Device").field("port", &self.0.port).finish_non_exhaustive()
    }
}

impl Inner {
    /// The session, if it is still good.
    fn at_hand(&self) -> Option<Open> {
        lock(&self.now).open.clone().filter(|open| open.session.lost().is_none())
    }

    fn with<T>(&self, ask: impl FnOnce(&Client) -> Result<T, CallError>) -> Result<T, Failure> {
        let open = self.open()?;
        ask(&open.client).map_err(|error| match (error, open.session.lost()) {
            (CallError::Closed, lost) => Failure::Lost(lost.unwrap_or(Lost::Closed)),
            (error, _) => Failure::Call(error),
        })
    }

    /// The session at hand, or a new one.
    fn open(&self) -> Result<Open, Failure> {
        if let Some(open) = self.at_hand() {
            return Ok(open);
        }
        let _one = lock(&self.connecting);
        if let Some(open) = self.at_hand() {
            return Ok(open);
        }
        let old = lock(&self.now).open.take();
        if let Some(old) = old {
            old.client.close();
        }
        let (started, until) = (Instant::now(), deadline(self.port.patience));
        let first = lock(&self.now).wire.is_none();
        let mut refused = String::new();
        loop {
            let error = match self.attempt(until, first) {
                Ok(open) => {
                    lock(&self.now).open = Some(open.clone());
                    return Ok(open);
                }
                // Nothing protects a plain handshake: a refusal counts if it comes twice, or if there is no time for that.
                Err(Some(OpenError::Refused { error, .. }))
                    if error.to_string() != refused && Instant::now() < until =>
                {
                    refused = error.to_string();
                    continue;
                }
                Err(Some(error)) => return Err(Failure::Open(error)),
                Err(None) => lock(&self.now).wire.as_ref().and_then(|wire| wire.heard()),
            };
            if Instant::now() >= until {
                return Err(Failure::Open(OpenError::Silent {
                    path: self.port.path.clone(),
                    baud: self.port.baud,
                    after: started.elapsed(),
                    heard: error,
                }));
            }
        }
    }

    /// One try. `None`: another one may succeed.
    fn attempt(&self, until: Instant, first: bool) -> Result<Open, Option<OpenError>> {
        let wire = self.wire(until, first)?;
        let (reader, writer, session) = wire.session();
        let left = until.saturating_duration_since(Instant::now());
        let settings = self.port.settings.clone().start_timeout(left.min(TRY));
        let client = match Client::over_with(reader, writer, &self.config.get(), settings) {
            Ok(client) => client,
            Err(StartError::TimedOut { .. } | StartError::Closed { .. }) => {
                session.close();
                return Err(None);
            }
            Err(error) => {
                session.close();
                return Err(Some(OpenError::Refused { path: self.port.path.clone(), error }));
            }
        };
        if Raw::new(&client.server().capabilities_json).is_some_and(offers_checked) {
            wire.upgrade();
        }
        Ok(Open { client, session, wire })
    }

    /// The open port; one that went away is waited for.
    fn wire(&self, until: Instant, first: bool) -> Result<Arc<Wire>, Option<OpenError>> {
        let mut now = lock(&self.now);
        if let Some(wire) = now.wire.take_if(|wire| !wire.is_gone()) {
            now.wire = Some(Arc::clone(&wire));
            return Ok(wire);
        }
        now.wire = None;
        drop(now);
        loop {
            match self.port.open() {
                Ok(wire) => {
                    let wire = Arc::new(wire);
                    lock(&self.now).wire = Some(Arc::clone(&wire));
                    return Ok(wire);
                }
                Err(error) if first || Instant::now() >= until => return Err(Some(error)),
                Err(_) => std::thread::sleep(LOOK),
            }
        }
    }
}

/// Seven digits, others each time.
fn somewhere() -> u32 {
    use std::hash::{BuildHasher, Hasher, RandomState};
    let random = RandomState::new().build_hasher().finish();
    1_000_000 + (random % 8_000_000) as u32
}

/// Very long patience counts as a day.
fn deadline(patience: Duration) -> Instant {
    Instant::now() + patience.min(Duration::from_secs(86_400))
}

const fn shared<T: Send + Sync + Clone>() {}
const _: () = shared::<Device>();
