//! The client over socket pairs: many calls, calls that are given up, and how it ends.
#![cfg(all(unix, feature = "timer"))]

mod common;

use async_io::Async;
use barewire_async::{
    CallError, Client, Connect, Ended, IoTimer, NoTimer, StartError, Trace,
    barewire::{ClientConfig, Era, Limits, Millis, Version},
    connect,
};
use common::{CONFIG, Peer, tools};
use core::{future::Future, task::Waker, time::Duration};
use futures_lite::{
    FutureExt,
    future::{block_on, or, poll_once, zip},
};
use std::{
    io::{BufRead, Write},
    os::unix::net::UnixStream,
    pin::pin,
    sync::{Arc, Mutex},
    thread,
};

static CLIENT: ClientConfig<'static> = ClientConfig::new("test", "1");

/// Runs `talk` with a client whose server is `tools`, all in this thread.
fn with_server<T, F: Future<Output = T>>(connect: Connect<'_, IoTimer>, talk: impl FnOnce(Client) -> F) -> T {
    let (here, there) = UnixStream::pair().unwrap();
    let (client, driver) = connect.over(Async::new(here).unwrap());
    // A tool that waits for ever is let go soon once the client has gone.
    let config = CONFIG.drain(Millis(10));
    let server = barewire_async::serve(Async::new(there).unwrap(), &config, IoTimer, tools);
    let ((driven, served), result) = block_on(zip(zip(driver, server), talk(client)));
    driven.unwrap();
    served.unwrap();
    result
}

fn plain() -> Connect<'static, IoTimer> {
    Connect::new(&CLIENT, IoTimer)
}

/// Runs `talk` with a client whose server is written by hand in another thread.
fn with_peer<T, F: Future<Output = T>>(
    connect: Connect<'_, IoTimer>,
    talk: impl FnOnce(Client) -> F,
    serve: impl FnOnce(Peer) + Send,
) -> T {
    let (here, there) = UnixStream::pair().unwrap();
    let (client, driver) = connect.over(Async::new(here).unwrap());
    thread::scope(|scope| {
        scope.spawn(move || serve(Peer::over(there)));
        let (driven, result) = block_on(zip(driver, talk(client)));
        driven.unwrap();
        result
    })
}

fn legacy() -> Connect<'static, IoTimer> {
    Connect::new(&CLIENT.era(Era::Legacy), IoTimer)
}

/// The server's half of a handshake of 2025-11-25.
fn greet(peer: &mut Peer) {
    assert!(peer.line().contains("\"initialize\""));
    peer.send(r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"hand","version":"1"}}}"#);
    assert!(peer.line().contains("notifications/initialized"));
}

#[test]
fn lists_and_calls_in_every_revision() {
    let versions = [None, Some(Version::V2024_11_05), Some(Version::V2025_06_18), Some(Version::V2026_07_28)];
    for version in versions {
        let config = match version {
            None => CLIENT,
            Some(version) if version.is_modern() => CLIENT.era(Era::Modern),
            Some(version) => CLIENT.era(Era::Legacy).protocol_version(version),
        };
        with_server(Connect::new(&config, IoTimer), |client| async move {
            let server = client.server().await.unwrap();
            assert_eq!((&*server.name, server.protocol), ("t", version.unwrap_or(Version::V2026_07_28)));
            let names: Vec<_> = client.list_tools().await.unwrap().into_iter().map(|t| t.name).collect();
            assert_eq!(names, ["echo", "wait", "big", "steps"]);
            assert_eq!(client.call("echo", r#"{"text":"h\u00e9"}"#).await.unwrap().text(), "hé");
            assert!(client.request("tools/list", None).await.unwrap().starts_with('{'));
            let error = client.call("none", "{}").await.unwrap_err();
            assert!(matches!(error, CallError::Server { code: -32602, .. }), "{error}");
        });
    }
}

#[test]
fn many_calls_of_many_clones_each_get_their_answer() {
    with_server(plain(), |client| async move {
        let one = async |client: Client, n: usize| {
            for i in 0..20 {
                let result = client.call("echo", format!(r#"{{"text":"{n}.{i}"}}"#)).await.unwrap();
                assert_eq!(result.text(), format!("{n}.{i}"));
            }
        };
        let mut all: Vec<_> = (0..100).map(|n| Box::pin(one(client.clone(), n))).collect();
        drop(client);
        core::future::poll_fn(|cx| {
            all.retain_mut(|call| call.as_mut().poll(cx).is_pending());
            if all.is_empty() { core::task::Poll::Ready(()) } else { core::task::Poll::Pending }
        })
        .await;
    });
}

#[test]
fn more_calls_than_may_be_open_wait_for_their_turn() {
    let limits = Limits { calls: 2, ..Limits::default() };
    let ids = with_peer(
        legacy().limits(limits),
        |client| async move {
            let calls: Vec<_> = (0..5).map(|_| client.call("echo", "{}")).collect();
            let mut texts = Vec::new();
            // Each is sent when it is polled first, and answered in that order.
            let mut calls: Vec<_> = calls.into_iter().map(Box::pin).collect();
            core::future::poll_fn(|cx| {
                calls.retain_mut(|call| match call.as_mut().poll(cx) {
                    core::task::Poll::Ready(result) => {
                        texts.push(result.unwrap().text());
                        false
                    }
                    core::task::Poll::Pending => true,
                });
                if calls.is_empty() { core::task::Poll::Ready(()) } else { core::task::Poll::Pending }
            })
            .await;
            texts
        },
        |mut peer| {
            greet(&mut peer);
            let mut open = vec![peer.line(), peer.line()];
            for n in 0..5 {
                // With two open there is no third.
                peer.to.set_nonblocking(true).unwrap();
                assert!(peer.from.fill_buf().is_err());
                peer.to.set_nonblocking(false).unwrap();
                let id = common::id(&open.remove(0));
                peer.send(&format!(
                    r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":[{{"type":"text","text":"{n}"}}]}}}}"#
                ));
                if n < 3 {
                    open.push(peer.line());
                }
            }
        },
    );
    assert_eq!(ids, ["0", "1", "2", "3", "4"]);
}

#[test]
fn dropping_a_call_cancels_it_on_the_wire() {
    with_peer(
        legacy(),
        |client| async move {
            client.server().await.unwrap();
            let mut call = client.call("wait", "{}");
            assert!(poll_once(&mut call).await.is_none());
            // It was sent when it was polled; the driver needs a turn to write it before it is given up.
            futures_lite::future::yield_now().await;
            drop(call);
            // One that was never polled is never sent.
            drop(client.call("unsent", "{}"));
            assert_eq!(client.call("echo", "{}").await.unwrap().text(), "last");
        },
        |mut peer| {
            greet(&mut peer);
            let call = peer.line();
            assert!(call.contains("\"wait\""), "{call}");
            let cancel = peer.line();
            let id = common::id(&call);
            assert!(cancel.contains("notifications/cancelled"), "{cancel}");
            assert!(cancel.contains(&format!("\"requestId\":{id}")), "{cancel}");
            // A late answer finds nobody.
            peer.send(&format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":[]}}}}"#));
            let call = peer.line();
            assert!(call.contains("\"echo\""), "{call}");
            let id = common::id(&call);
            peer.send(&format!(
                r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":[{{"type":"text","text":"last"}}]}}}}"#
            ));
        },
    );
}

#[test]
fn dropping_a_call_stops_its_handler() {
    let (tell, told) = async_channel::unbounded();
    struct Guard(async_channel::Sender<&'static str>);
    impl Drop for Guard {
        fn drop(&mut self) {
            let _ = self.0.try_send("dropped");
        }
    }
    let (here, there) = UnixStream::pair().unwrap();
    let (client, driver) = connect(Async::new(here).unwrap(), &CLIENT, IoTimer);
    let server = barewire_async::serve(Async::new(there).unwrap(), &CONFIG, IoTimer, |_| {
        let guard = Guard(tell.clone());
        async move {
            guard.0.send("running").await.unwrap();
            core::future::pending().await
        }
    });
    block_on(zip(zip(driver, server), async move {
        let call = client.call("wait", "{}");
        let word = or(async { told.recv().await.unwrap() }, async {
            call.await.unwrap_err();
            unreachable!()
        })
        .await;
        assert_eq!(word, "running");
        assert_eq!(told.recv().await.unwrap(), "dropped");
    }))
    .0
    .0
    .unwrap();
}

#[test]
fn progress_comes_in_order_and_starts_the_time_anew() {
    with_server(plain(), |client| async move {
        let mut seen = Vec::new();
        let call = client.call("steps", "{}").on_progress(|p| seen.push((p.done, p.total, p.message)));
        assert_eq!(call.await.unwrap().text(), "stepped");
        let step = |n: f64| (n, Some(3.0), Some("step".to_owned()));
        assert_eq!(seen, [step(1.0), step(2.0), step(3.0)]);
    });
}

#[test]
fn a_call_in_time_and_one_too_late() {
    with_server(plain(), |client| async move {
        let late = client.call("wait", "{}").timeout(Duration::from_millis(30));
        let error = late.await.unwrap_err();
        assert!(matches!(error, CallError::TimedOut { after, .. } if after >= Duration::from_millis(30)));
        assert_eq!(client.call("echo", r#"{"text":"in time"}"#).await.unwrap().text(), "in time");
    });
}

#[test]
fn a_call_that_never_got_its_turn_ends_in_time_too() {
    let limits = Limits { calls: 1, ..Limits::default() };
    with_server(plain().limits(limits), |client| async move {
        let mut open = client.call("wait", "{}");
        assert!(poll_once(&mut open).await.is_none());
        let error = client.call("echo", "{}").timeout(Duration::from_millis(30)).await.unwrap_err();
        assert!(matches!(error, CallError::TimedOut { .. }), "{error}");
        drop(open);
        assert_eq!(client.call("echo", r#"{"text":"next"}"#).await.unwrap().text(), "next");
    });
}

#[test]
fn four_mebibytes_both_ways() {
    with_server(plain(), |client| async move {
        assert_eq!(client.call("big", "{}").await.unwrap().text().len(), 4 << 20);
        let text = "y".repeat(4 << 20);
        let result = client.call("echo", format!(r#"{{"text":"{text}"}}"#)).await.unwrap();
        assert_eq!(result.text(), text);
    });
}

#[test]
fn what_is_no_object_or_too_large_is_not_sent() {
    let limits = Limits { reply: 4096, ..Limits::default() };
    with_server(plain().limits(limits), |client| async move {
        for args in ["", "[]", "5", "{", "{} {}"] {
            let error = client.call("echo", args).await.unwrap_err();
            assert!(matches!(error, CallError::BadArguments(_)), "{args}: {error}");
        }
        let large = format!(r#"{{"text":"{}"}}"#, "x".repeat(10_000));
        assert!(matches!(client.call("echo", large).await, Err(CallError::TooLarge)));
        assert_eq!(client.call("echo", r#"{"text":"fine"}"#).await.unwrap().text(), "fine");
    });
}

#[test]
fn a_call_that_wants_input_is_made_again_with_it() {
    let modern = Connect::new(&CLIENT.era(Era::Modern), IoTimer);
    with_peer(
        modern,
        |client| async move {
            let error = client.call("ask", "{}").await.unwrap_err();
            let CallError::InputRequired { asks, state: Some(state) } = error else { panic!("{error}") };
            assert_eq!((&*asks, &*state), (r#"{"name":{"method":"elicitation/create"}}"#, r#""s1""#));
            let again = client.call("ask", "{}").state(state).answer("name", r#"{"action":"accept"}"#);
            assert_eq!(again.await.unwrap().text(), "Hello");
            let wrong = client.call("ask", "{}").answer("name", "{half").await.unwrap_err();
            assert!(matches!(wrong, CallError::BadArguments(_)), "{wrong}");
        },
        |mut peer| {
            let mut answer = |wanted: &str, result: &str| {
                let line = peer.line();
                assert!(line.contains(wanted), "{line}");
                let id = common::id(&line);
                peer.send(&format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{{result}}}}}"#));
            };
            answer(
                "server/discover",
                r#""resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"ttlMs":0,"cacheScope":"private""#,
            );
            answer(
                "tools/call",
                r#""resultType":"input_required","inputRequests":{"name":{"method":"elicitation/create"}},"requestState":"s1""#,
            );
            answer(
                r#""requestState":"s1","inputResponses":{"name":{"action":"accept"}}"#,
                r#""resultType":"complete","content":[{"type":"text","text":"Hello"}]"#,
            );
            assert_eq!(peer.line(), "", "what is no JSON is not sent");
        },
    );
}

#[test]
fn closing_ends_the_calls_of_all_clones() {
    with_server(plain(), |client| async move {
        let there = client.clone();
        let waiting = async move { there.call("wait", "{}").await.unwrap_err() };
        let closing = async {
            client.server().await.unwrap();
            client.close().await
        };
        let (error, report) = zip(waiting, closing).await;
        assert!(matches!(error, CallError::Closed), "{error}");
        assert_eq!((report.how, report.status), (Ended::NoChild, None));
        assert!(matches!(client.list_tools().await, Err(CallError::Closed)));
        // A second close says the same at once.
        assert_eq!(client.close().await.how, Ended::NoChild);
    });
}

#[test]
fn a_call_outlives_the_handle_that_made_it() {
    with_server(plain(), |client| {
        let call = client.call("echo", r#"{"text":"still"}"#);
        drop(client);
        async move { assert_eq!(call.await.unwrap().text(), "still") }
    });
}

#[test]
fn a_driver_that_is_dropped_ends_the_calls() {
    let (here, _there) = UnixStream::pair().unwrap();
    let (client, driver) = connect(Async::new(here).unwrap(), &CLIENT, IoTimer);
    block_on(async {
        let mut call = pin!(client.call("echo", "{}"));
        assert!(poll_once(&mut call).await.is_none());
        drop(driver);
        let error = call.await.unwrap_err();
        assert!(matches!(error, CallError::NotOpened(StartError::Closed { junk: None })), "{error}");
        assert_eq!(client.close().await.how, Ended::NoChild);
    });
}

#[test]
fn a_peer_that_closes_is_reported_at_once() {
    let error = with_peer(
        plain(),
        |client| async move { client.server().await.unwrap_err() },
        |mut peer| {
            peer.line();
            peer.send("Usage: server [options]");
        },
    );
    assert!(
        matches!(&error, StartError::Closed { junk: Some(line) } if line.starts_with("Usage")),
        "{error}"
    );
}

#[test]
fn what_the_peer_said_before_it_went_is_read() {
    with_peer(
        legacy(),
        |client| async move {
            assert_eq!(client.call("echo", "{}").await.unwrap().text(), "last words");
            assert!(matches!(client.call("echo", "{}").await, Err(CallError::Closed)));
        },
        |mut peer| {
            greet(&mut peer);
            let id = common::id(&peer.line());
            peer.send(&format!(
                r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":[{{"type":"text","text":"last words"}}]}}}}"#
            ));
        },
    );
}

#[test]
fn silence_ends_the_start_in_time() {
    let (here, there) = UnixStream::pair().unwrap();
    let short = plain().start_timeout(Duration::from_millis(30));
    let (client, driver) = short.over(Async::new(here).unwrap());
    let (driven, error) = block_on(zip(driver, async move { client.server().await.unwrap_err() }));
    driven.unwrap();
    assert!(matches!(error, StartError::TimedOut { .. }), "{error}");
    drop(there);
}

#[test]
fn content_length_framing_is_recognised() {
    let error = with_peer(
        legacy(),
        |client| async move { client.call("echo", "{}").await.unwrap_err() },
        |mut peer| {
            peer.line();
            peer.send("Content-Length: 36\r\n\r\n{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}");
            peer.line();
        },
    );
    assert!(matches!(error, CallError::NotOpened(StartError::ContentLength)), "{error}");
}

#[test]
fn a_peer_that_reads_nothing_does_not_hold_the_closing_up() {
    with_peer(
        legacy().grace(Duration::from_millis(30)),
        |client| async move {
            client.server().await.unwrap();
            let mut call = client.call("echo", format!(r#"{{"text":"{}"}}"#, "x".repeat(4 << 20)));
            assert!(poll_once(&mut call).await.is_none());
            client.close().await;
            assert!(matches!(call.await, Err(CallError::Closed)));
        },
        |mut peer| {
            greet(&mut peer);
            // It goes on writing without reading, until the client has gone.
            while peer.to.write(b"\n").is_ok() {
                thread::yield_now();
            }
        },
    );
}

#[test]
fn the_trace_shows_every_byte_and_what_nobody_asked_for() {
    let seen = Arc::new(Mutex::new((Vec::new(), Vec::new(), Vec::new())));
    let trace = {
        let seen = Arc::clone(&seen);
        move |trace: Trace<'_>| {
            let mut seen = seen.lock().unwrap();
            match trace {
                Trace::Sent(bytes) => seen.0.extend_from_slice(bytes),
                Trace::Received(bytes) => seen.1.extend_from_slice(bytes),
                Trace::Junk { line, .. } => seen.2.push(String::from_utf8_lossy(line).into_owned()),
                Trace::Changed(what) => seen.2.push(format!("{what:?}")),
                Trace::Log { level, data, .. } => seen.2.push(format!("{level}: {data}")),
                Trace::Notified { method, .. } => seen.2.push(method.to_owned()),
                _ => {}
            }
        }
    };
    let (here, there) = UnixStream::pair().unwrap();
    let (client, driver) = legacy().trace(trace).over(Async::new(here).unwrap());
    thread::scope(|scope| {
        scope.spawn(move || {
            let mut peer = Peer::over(there);
            peer.send("Hello, I am a banner");
            greet(&mut peer);
            peer.send(r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#);
            peer.send(
                r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":5}}"#,
            );
            peer.send(r#"{"jsonrpc":"2.0","method":"x/y"}"#);
            let id = common::id(&peer.line());
            peer.send(&format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":[]}}}}"#));
            assert_eq!(peer.line(), "");
        });
        let talk = async move { client.call("echo", "{}").await.unwrap() };
        block_on(zip(driver, talk)).0.unwrap();
    });
    let seen = seen.lock().unwrap();
    assert_eq!(seen.2, ["Hello, I am a banner", "Tools", "info: 5", "x/y"]);
    let (sent, received) = (String::from_utf8_lossy(&seen.0), String::from_utf8_lossy(&seen.1));
    assert_eq!((sent.lines().count(), received.lines().count()), (3, 6));
}

#[test]
fn without_a_timer_nothing_has_a_limit_and_all_else_works() {
    let (here, there) = UnixStream::pair().unwrap();
    let (client, driver) = connect(Async::new(here).unwrap(), &CLIENT, NoTimer);
    let server = barewire_async::serve(Async::new(there).unwrap(), &CONFIG, NoTimer, tools);
    let talk = async move {
        let call = client.call("echo", r#"{"text":"hi"}"#).timeout(Duration::from_millis(1));
        assert_eq!(call.await.unwrap().text(), "hi");
    };
    let ((driven, served), ()) = block_on(zip(zip(driver, server), talk));
    driven.unwrap();
    served.unwrap();
}

#[test]
fn giving_calls_up_makes_room_for_those_that_wait() {
    let limits = Limits { calls: 1, ..Limits::default() };
    with_server(plain().limits(limits), |client| async move {
        client.server().await.unwrap();
        let mut open: Vec<_> = (0..10).map(|_| client.call("wait", "{}")).collect();
        for call in &mut open {
            assert!(poll_once(call).await.is_none());
        }
        let mut last = client.call("echo", r#"{"text":"at last"}"#);
        assert!(poll_once(&mut last).await.is_none());
        // Sent or waiting, in front or behind: each that goes makes way.
        for at in [9, 0, 4, 0, 0, 4, 0, 2, 1, 0] {
            drop(open.remove(at));
        }
        assert_eq!(last.await.unwrap().text(), "at last");
    });
}

#[test]
fn a_call_that_is_moved_to_another_task_wakes_that_one() {
    with_server(plain(), |client| async move {
        let mut call = client.call("echo", r#"{"text":"moved"}"#).boxed();
        // Polled first by a task that nobody wakes.
        let mut nobody = core::task::Context::from_waker(Waker::noop());
        assert!(call.as_mut().poll(&mut nobody).is_pending());
        assert_eq!(call.await.unwrap().text(), "moved");
    });
}
