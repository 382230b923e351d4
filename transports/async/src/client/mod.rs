//! A client over one asynchronous stream: handles for any task, and the driver for one.

mod call;
pub(crate) mod driver;
mod queue;
pub(crate) mod settings;
pub(crate) mod state;

pub use barewire::owned::{CallError, Ended, ExitReport, StartError};
pub use call::Call;
pub use settings::Trace;

use crate::Timer;
use barewire::{
    Buffers, Client as Machine, ClientConfig, Framing, Limits,
    owned::{CallResult, ServerInfo, Stderr, StderrLog, ToolInfo},
};
use call::What;
use core::{
    fmt,
    future::{Future, poll_fn},
    task::Poll,
    time::Duration,
};
use driver::{Finish, Link};
use futures_lite::{AsyncRead, AsyncWrite};
use settings::{Settings, unwatched};
use state::{Session, Shared, State};
use std::{
    io,
    sync::{Arc, Mutex},
};

/// Opens a session over `stream`, with the settings of [`Connect::new`]: a handle, and the driver, which must run for anything
/// to happen.
pub fn connect<'t, S, T>(
    stream: S,
    config: &ClientConfig<'_>,
    timer: T,
) -> (Client, impl Future<Output = io::Result<()>> + use<'t, S, T>)
where
    S: AsyncRead + AsyncWrite + Unpin + 't,
    T: Timer + 't,
{
    Connect::new(config, timer).over(stream)
}

/// How to connect.
#[derive(Clone, Debug)]
#[must_use]
pub struct Connect<'c, T, H = fn(Trace<'_>)> {
    config: ClientConfig<'c>,
    settings: Settings,
    timer: T,
    hook: H,
}

impl<'c, T: Timer> Connect<'c, T> {
    /// 60 s for a request, 10 minutes whatever progress says, 60 s for the handshake.
    pub fn new(config: &ClientConfig<'c>, timer: T) -> Self {
        Self { config: *config, settings: Settings::new(), timer, hook: unwatched }
    }
}

impl<'c, T: Timer, H: FnMut(Trace<'_>)> Connect<'c, T, H> {
    /// How long a request may take; progress that was asked for starts it anew.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.settings.timeout = timeout;
        self
    }

    /// How long a request may take whatever progress says.
    pub fn max_timeout(mut self, timeout: Duration) -> Self {
        self.settings.max_timeout = timeout;
        self
    }

    /// How long the handshake may take.
    pub fn start_timeout(mut self, timeout: Duration) -> Self {
        self.settings.start_timeout = timeout;
        self
    }

    /// How long closing may take: a peer that does not read what is still to be written is left after that. 2 s by default.
    pub fn grace(mut self, grace: Duration) -> Self {
        self.settings.grace = grace;
        self
    }

    /// The longest message read, the longest written, and how many requests may be open; more wait for their turn.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.settings.limits = limits;
        self
    }

    /// Shows everything that happens, from inside the driver.
    pub fn trace<I: FnMut(Trace<'_>)>(self, hook: I) -> Connect<'c, T, I> {
        let Self { config, settings, timer, .. } = self;
        Connect { config, settings, timer, hook }
    }

    /// Opens a session over `stream`: a handle, and the driver.
    ///
    /// The driver ends when the peer closes the connection, on [`Client::close`], or when the last handle is dropped and no
    /// call is left. It is `Send` if the stream, the timer and the hook are. Dropping it ends all calls.
    ///
    /// # Errors
    /// The driver gives what the stream says, if that is more than the peer's leaving.
    pub fn over<'t, S>(self, stream: S) -> (Client, impl Future<Output = io::Result<()>> + use<'t, S, T, H>)
    where
        S: AsyncRead + AsyncWrite + Unpin + 't,
        T: 't,
        H: 't,
    {
        let Self { config, settings, timer, hook } = self;
        let client = Client::new(&config, settings, StderrLog::new(Stderr::Drop));
        let shared = Arc::clone(&client.0.shared);
        let finish = Finish { shared: Arc::clone(&shared), how: Ended::NoChild };
        let mut link = Link::new(shared, stream, timer, hook, settings.grace);
        let driver = async move {
            let _finish = finish;
            poll_fn(|cx| {
                link.poll(cx);
                if link.is_over() { Poll::Ready(()) } else { Poll::Pending }
            })
            .await;
            link.into_result()
        };
        (client, driver)
    }
}

/// A session with a server. Clones share it; any number of tasks and threads can use them at once.
///
/// All of it waits for the session to open. When the last clone is dropped and no call is left, the connection is closed.
#[derive(Clone)]
pub struct Client(Arc<Handle>);

pub(crate) struct Handle {
    shared: Arc<Shared>,
    settings: Settings,
}

impl Drop for Handle {
    fn drop(&mut self) {
        self.shared.close();
    }
}

impl Client {
    pub(crate) fn new(config: &ClientConfig<'_>, settings: Settings, log: StderrLog) -> Self {
        let start = Some(settings::millis(settings.start_timeout));
        let config = config.framing(Framing::Lines).follow_pages(true).start(start);
        let machine = Machine::owning(&config, Buffers::growing(settings.limits));
        let state = State::new(machine, log, settings.start_timeout);
        Self(Arc::new(Handle { shared: Arc::new(Shared(Mutex::new(state))), settings }))
    }

    #[cfg(feature = "process")]
    pub(crate) fn shared(&self) -> Arc<Shared> {
        Arc::clone(&self.0.shared)
    }

    /// What the server said of itself, once the session is open.
    ///
    /// # Errors
    /// [`StartError`] if it was not opened.
    pub fn server(&self) -> impl Future<Output = Result<Arc<ServerInfo>, StartError>> + Send + Unpin + use<> {
        watch(
            Arc::clone(&self.0),
            |handle| &handle.shared,
            |state| match &state.session {
                Session::Open(info) => Some(Ok(Arc::clone(info))),
                Session::Failed(error) => Some(Err(error.clone())),
                Session::Opening => None,
            },
        )
    }

    /// All tools, page after page.
    pub fn list_tools(&self) -> Call<Vec<ToolInfo>> {
        Call::new(&self.0, What::Tools, |gathered| Ok(gathered.tools))
    }

    /// Calls a tool; `args_json` is a JSON object.
    pub fn call(&self, name: impl Into<String>, args_json: impl Into<String>) -> Call<CallResult> {
        let (name, args) = (name.into(), args_json.into());
        let what = What::Tool { name, args, state: None, answers: Vec::new() };
        Call::new(&self.0, what, |gathered| Ok(gathered.result))
    }

    /// Any other method: the result as JSON text.
    pub fn request(&self, method: impl Into<String>, params_json: Option<&str>) -> Call<String> {
        let (method, params) = (method.into(), params_json.map(str::to_owned));
        Call::new(&self.0, What::Other { method, params }, |gathered| {
            let none = || CallError::Protocol("the server's answer has no result".into());
            gathered.json.ok_or_else(none)
        })
    }

    /// Closes the connection, now: open requests of all clones end. The future ends once the driver has closed the stream, and
    /// ended and reaped a child.
    pub fn close(&self) -> impl Future<Output = ExitReport> + Send + Unpin + use<> {
        self.0.shared.close();
        watch(Arc::clone(&self.0.shared), |shared| shared, |state| state.finished.clone())
    }

    /// The child's process, which on Unix is also its group; `None` over other streams, and before it was started.
    #[must_use]
    pub fn pid(&self) -> Option<u32> {
        crate::lock(&self.0.shared.0).pid
    }

    /// What was kept of a child's stderr.
    #[must_use]
    pub fn stderr(&self) -> Vec<u8> {
        crate::lock(&self.0.shared.0).log.kept()
    }

    /// The last lines of a child's stderr.
    #[must_use]
    pub fn stderr_tail(&self) -> String {
        crate::lock(&self.0.shared.0).log.tail()
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").field("pid", &self.pid()).finish_non_exhaustive()
    }
}

/// Waits for `look` to see something. It keeps `held` alive meanwhile.
fn watch<K: Unpin, T>(held: K, shared: fn(&K) -> &Arc<Shared>, look: fn(&State) -> Option<T>) -> Watch<K, T> {
    Watch { held, shared, look, ticket: None }
}

struct Watch<K, T> {
    held: K,
    shared: fn(&K) -> &Arc<Shared>,
    look: fn(&State) -> Option<T>,
    ticket: Option<u64>,
}

impl<K: Unpin, T> Future for Watch<K, T> {
    type Output = T;

    fn poll(self: core::pin::Pin<&mut Self>, cx: &mut core::task::Context<'_>) -> Poll<T> {
        let this = self.get_mut();
        let mut state = crate::lock(&(this.shared)(&this.held).0);
        match (this.look)(&state) {
            Some(seen) => Poll::Ready(seen),
            None => {
                state.watchers.watch(&mut this.ticket, cx.waker());
                Poll::Pending
            }
        }
    }
}

impl<K, T> Drop for Watch<K, T> {
    fn drop(&mut self) {
        if let Some(ticket) = self.ticket {
            crate::lock(&(self.shared)(&self.held).0).watchers.forget(ticket);
        }
    }
}

const fn shared<T: Send + Sync + Clone>() {}
const _: () = shared::<Client>();
const fn send<T: Send>() {}
const _: () = send::<Call<CallResult>>();
