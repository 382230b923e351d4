//! The client of `barewire-async` passes: it stands in the middle. What the suite sends is taken in by an asynchronous
//! server, whose handler calls the suite's server through an asynchronous client, all in one future.
#![cfg(unix)]

mod common;

use async_io::Async;
use barewire_async::{
    CallError, Client, Connect, IoTimer, Serve, StartError, ToolCall,
    barewire::{
        ClientConfig, Era, Limits, Noise, Version,
        owned::{Fail, ToolResult},
    },
};
use barewire_testkit::{CONFIG, Claims, End, Link, Suite, TOOLS, serve};
use common::told;
use core::{future::Future, pin::pin, time::Duration};
use futures_lite::future::{block_on, poll_once, zip};
use std::{
    io::{self, Read, Write},
    net::Shutdown,
    os::unix::net::UnixStream,
    sync::{Arc, mpsc},
    thread::{self, JoinHandle},
};

static CLIENT: ClientConfig<'static> = ClientConfig::new("middle", "1");

/// Ends its direction when it is dropped.
struct Half(UnixStream);

impl Write for Half {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }
    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

impl Drop for Half {
    fn drop(&mut self) {
        let _ = self.0.shutdown(Shutdown::Write);
    }
}

fn limits() -> Limits {
    let mut limits = Limits::default();
    (limits.message, limits.reply) = (17 << 20, 17 << 20);
    limits
}

/// The suite's server, and the socket to it.
fn server() -> io::Result<(UnixStream, JoinHandle<io::Result<()>>)> {
    let (here, there) = UnixStream::pair()?;
    let read = there.try_clone()?;
    Ok((here, thread::spawn(move || serve(read, Half(there)))))
}

/// A client over `stream`, and its driver.
fn open(
    stream: UnixStream,
    config: &ClientConfig<'_>,
) -> io::Result<(Client, impl Future<Output = io::Result<()>> + use<>)> {
    Ok(Connect::new(config, IoTimer).limits(limits()).over(Async::new(stream)?))
}

/// A cancel of the suite drops this future, and with it the call.
async fn pass_on(client: Client, call: ToolCall) -> Result<ToolResult, Fail> {
    if call.name() == "deaf" {
        // The server behind would be, but not the one that the suite writes to.
        return Ok(ToolResult::text("it cannot"));
    }
    match client.call(call.name(), call.args_json()).await {
        Ok(result) => Ok(ToolResult::text(result.text())),
        Err(error) => Err(error.to_string().into()),
    }
}

fn middle(front: UnixStream) -> io::Result<()> {
    let (back, server) = server()?;
    let (client, driver) = open(back, &CLIENT)?;
    let serving = Serve::new(&CONFIG.noise(Noise::Answer), IoTimer)
        .limits(limits())
        .concurrent(12)
        .run(Async::new(front)?, move |call| pass_on(client.clone(), call));
    let (served, driven) = block_on(zip(serving, driver));
    served.and(driven)?;
    server.join().map_err(|_| io::Error::other("the server panicked"))?
}

fn connect() -> io::Result<Link> {
    let (client, front) = UnixStream::pair()?;
    let (tell, ended) = mpsc::channel();
    thread::spawn(move || tell.send(middle(front)));
    let gone = move |patience| match ended.recv_timeout(patience) {
        Ok(_) => Ok(()),
        Err(_) => Err("the client in the middle, or what is behind it, still runs".to_owned()),
    };
    Ok(Link::to_server(End::stream(client.try_clone()?, Half(client))).gone(gone))
}

/// Runs `work` with a client of the suite's server; both end.
fn with<T, F: Future<Output = T>>(config: &ClientConfig<'_>, work: impl FnOnce(Client) -> F) -> T {
    let (back, server) = server().unwrap();
    let (client, driver) = open(back, config).unwrap();
    let (driven, result) = block_on(zip(driver, work(client)));
    driven.unwrap();
    server.join().unwrap().unwrap();
    result
}

/// The suite opens its sessions itself; these are the client's own.
fn sessions() {
    for version in Version::ALL {
        let era = if version.is_modern() { Era::Modern } else { Era::Legacy };
        with(&CLIENT.era(era).protocol_version(version), |client| async move {
            assert_eq!(client.server().await.unwrap().protocol, version);
            let tools = client.list_tools().await.unwrap();
            assert!(tools.iter().map(|tool| &*tool.name).eq(TOOLS.iter().map(|tool| tool.name)));
            let result = client.call("echo", r#"{"text":"grüß dich"}"#).await.unwrap();
            assert_eq!(result.text(), "grüß dich", "{version}");
        });
    }
}

/// A call ends at its deadline, is cancelled at the server, and the next is answered.
fn deadline() {
    with(&CLIENT, |client| async move {
        let late =
            client.call("hang", r#"{"text":"late"}"#).timeout(Duration::from_millis(100)).await.unwrap_err();
        assert!(matches!(late, CallError::TimedOut { .. }), "{late}");
        let told = client.call("await", r#"{"text":"late cancelled"}"#).await.unwrap();
        assert_eq!(told.text(), "late cancelled");
    });
}

/// The server dies at every byte of what it says: what is open ends as closed, and nothing is made up.
fn deaths() {
    let said = with_recorded();
    for cut in 0..said.len() {
        let (here, mut there) = UnixStream::pair().unwrap();
        let part = said[..cut].to_vec();
        let dying = thread::spawn(move || {
            let _ = there.read(&mut [0; 4096]).unwrap();
            // The client may be gone at the last bytes.
            let _ = there.write_all(&part);
        });
        let (client, driver) = open(here, &CLIENT.era(Era::Legacy)).unwrap();
        let call = async move { client.call("echo", r#"{"text":"grün"}"#).await.map(|result| result.text()) };
        let (_, result) = block_on(zip(driver, call));
        dying.join().unwrap();
        match result {
            Err(CallError::Closed | CallError::NotOpened(StartError::Closed { .. })) => {}
            // The line feed alone was missing.
            Ok(text) if cut == said.len() - 1 => assert_eq!(text, "grün"),
            other => panic!("the server died after byte {cut} of {}: {other:?}", said.len()),
        }
    }
}

/// What a server says in a short session, whatever it hears.
fn with_recorded() -> Vec<u8> {
    let said: Arc<std::sync::Mutex<Vec<u8>>> = Arc::default();
    let (back, server) = server().unwrap();
    let record = Arc::clone(&said);
    let connect = Connect::new(&CLIENT.era(Era::Legacy), IoTimer).trace(move |what| {
        if let barewire_async::Trace::Received(bytes) = what {
            record.lock().unwrap().extend_from_slice(bytes);
        }
    });
    let (client, driver) = connect.over(Async::new(back).unwrap());
    let call = async move { client.call("echo", r#"{"text":"grün"}"#).await.unwrap() };
    drop(block_on(zip(driver, call)));
    server.join().unwrap().unwrap();
    let said = said.lock().unwrap().clone();
    assert!(said.ends_with(b"\n"));
    said
}

/// A peer that reads nothing: the call waits, bounded, until it is dropped; then the driver ends within its grace.
fn unheard() {
    let (here, there) = UnixStream::pair().unwrap();
    let connect = Connect::new(&CLIENT, IoTimer).grace(Duration::from_millis(100));
    let (client, driver) = connect.over(Async::new(here).unwrap());
    let work = async move {
        let calls: Vec<_> = (0..64).map(|_| client.call("sink", "{}")).collect();
        for mut call in calls {
            assert!(poll_once(pin!(&mut call)).await.is_none());
        }
    };
    let (driven, ()) = block_on(zip(driver, work));
    driven.unwrap();
    drop(there);
}

/// One test alone: the suite looks at the threads and descriptors of the whole process.
#[test]
fn the_asynchronous_client_passes() {
    sessions();
    deadline();
    deaths();
    unheard();
    // Handlers run at once, so order is not kept; ends of one direction are not passed on.
    let claims = Claims::stream().noise().unordered();
    let report = Suite::new(claims).run(connect);
    let not = ["borders", "order", "half-close", "release", "memory"];
    assert_eq!(told("the asynchronous client", &report), not);
}
