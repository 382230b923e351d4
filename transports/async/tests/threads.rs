//! Nothing is spawned: no thread comes into being that this test did not start. A process of its own, so that no other test
//! starts one.
#![cfg(all(target_os = "linux", feature = "process"))]

mod common;

use barewire_async::{Command, NoTimer, Stderr, barewire::ClientConfig, connect, serve};
use common::{CONFIG, port, tools};
use futures_lite::future::{block_on, zip};
use std::fs;

static CLIENT: ClientConfig<'static> = ClientConfig::new("test", "1");

fn threads() -> Vec<String> {
    let all = fs::read_dir("/proc/self/task").unwrap();
    let mut names: Vec<_> = all
        .map(|thread| fs::read_to_string(thread.unwrap().path().join("comm")).unwrap().trim().to_owned())
        .collect();
    names.sort();
    names
}

#[test]
fn no_thread_is_started() {
    let before = threads();
    let (here, there) = port::pair();
    let (client, driver) = connect(here, &CLIENT, NoTimer);
    let server = serve(there, &CONFIG, NoTimer, tools);
    let talk = async move {
        client.call("echo", r#"{"text":"hi"}"#).await.unwrap();
        threads()
    };
    let (_, during) = block_on(zip(zip(driver, server), talk));
    assert_eq!(during, before);

    // async-io has its own thread; async-process would start one if nobody drove it.
    let fixture = env!("CARGO_BIN_EXE_barewire-async-fixture");
    let (client, driver) = Command::new(fixture).arg("serve").stderr(Stderr::Drop).start(&CLIENT);
    let talk = async move {
        client.call("echo", "{}").await.unwrap();
        threads()
    };
    let (_, during) = async_io::block_on(zip(driver, talk));
    // A thread that is just starting has its maker's name yet.
    assert!(during.len() <= before.len() + 1, "{during:?}");
    assert!(during.iter().all(|name| name == "async-io" || before.contains(name)), "{during:?}");
    assert!(!threads().contains(&"async-process".to_owned()));
}
