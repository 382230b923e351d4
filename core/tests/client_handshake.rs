//! Opening a session: every way of every era.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
#![allow(clippy::arithmetic_side_effects, clippy::std_instead_of_core, clippy::alloc_instead_of_core)]
mod client_support;
use barewire::{Abilities, Client, ClientConfig, Era, Millis, Storage, Version};
use client_support::Log;

static AUTO: ClientConfig<'static> = ClientConfig::new("t", "1");
static LEGACY: ClientConfig<'static> = ClientConfig::new("t", "1").era(Era::Legacy);
static MODERN: ClientConfig<'static> =
    ClientConfig::new("t", "1").era(Era::Modern).can(Abilities::NONE.form().url().sample_tools().roots());

const DISCOVER: &str = r#"{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}"#;
const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
const MODERN_RESULT: &str = r#"{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"instructions":"be \"kind\"","ttlMs":0,"cacheScope":"private","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"caf\u00e9","version":"2"}}}"#;
const LEGACY_RESULT: &str =
    r#"{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"2"}}"#;
const OPEN_MODERN: &str = r#"opened café 2 2026-07-28 Some("be \"kind\"") Some({"tools":{}})"#;
const OPEN_LEGACY: &str = r#"opened s 2 2025-06-18 None Some({"tools":{}})"#;

fn initialize(id: u32, version: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"initialize","params":{{"protocolVersion":"{version}","capabilities":{{}},"clientInfo":{{"name":"t","version":"1"}}}}}}"#
    )
}

fn result(id: u32, result: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#)
}

fn error(id: &str, code: i32, data: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":{code},"message":"no"{data}}}}}"#)
}

/// A line of the server, or silence until a moment.
enum Do {
    Line(String),
    Until(u64),
}
use Do::{Line, Until};

/// Runs a script; gives what was said after the first message, and what was told. Whatever the pieces, the outcome is the same.
fn script(config: &'static ClientConfig<'static>, steps: &[Do]) -> (Vec<String>, Vec<String>) {
    let mut seen: Option<(Vec<String>, Vec<String>)> = None;
    for (cut, write) in [(usize::MAX, usize::MAX), (1, usize::MAX), (1, 1), (7, 13), (64, 3)] {
        let mut storage = Storage::<1024, 64, 1>::new();
        let mut client = Client::new(config, storage.buffers());
        let mut log = Log::new();
        log.write = write;
        log.drain(&mut client);
        for step in steps {
            match step {
                Line(line) => log.feed(&mut client, format!("{line}\n").as_bytes(), cut),
                Until(now) => log.at(&mut client, *now),
            }
        }
        let outcome = (log.said(), log.told());
        assert_eq!(*seen.get_or_insert(outcome.clone()), outcome, "pieces of {cut} and {write}");
    }
    seen.unwrap()
}

#[test]
fn auto_meets_a_modern_server() {
    let (said, told) = script(&AUTO, &[Line(result(1, MODERN_RESULT))]);
    assert_eq!(said, [DISCOVER]);
    assert_eq!(told, [OPEN_MODERN]);
}

#[test]
fn auto_falls_back_on_any_other_error() {
    for code in [-32601, -32602, -32600, -32000, 0, 7] {
        let (said, told) = script(&AUTO, &[Line(error("1", code, "")), Line(result(2, LEGACY_RESULT))]);
        assert_eq!(said, [DISCOVER, &initialize(2, "2025-11-25"), INITIALIZED]);
        assert_eq!(told, [OPEN_LEGACY]);
    }
}

#[test]
fn legacy_meets_every_version() {
    for version in Version::ALL.into_iter().filter(|v| !v.is_modern()) {
        let answer = LEGACY_RESULT.replace("2025-06-18", version.as_str());
        let (said, told) = script(&LEGACY, &[Line(result(1, &answer))]);
        assert_eq!(said, [&initialize(1, "2025-11-25"), INITIALIZED]);
        assert_eq!(told, [OPEN_LEGACY.replace("2025-06-18", version.as_str())]);
    }
}

#[test]
fn silence_is_a_legacy_server() {
    let (said, told) = script(&AUTO, &[Until(9_999), Until(10_000), Line(result(2, LEGACY_RESULT))]);
    assert_eq!(said, [DISCOVER, &initialize(2, "2025-11-25"), INITIALIZED]);
    assert_eq!(told, [OPEN_LEGACY]);
    let (said, _) = script(&AUTO, &[Until(9_999)]);
    assert_eq!(said, [DISCOVER]);
}

#[test]
fn deadlines_are_told() {
    let mut storage = Storage::<1024, 512, 1>::new();
    let mut client = Client::new(&AUTO, storage.buffers());
    let mut log = Log::new();
    log.at(&mut client, 5);
    assert_eq!(log.until, Some(Millis(10_005)));
    log.at(&mut client, 10_005);
    assert_eq!(log.until, Some(Millis(60_005)));
    log.at(&mut client, 60_005);
    assert_eq!(log.told(), ["not opened: TimedOut"]);
    assert!(log.closed && client.version().is_none());
    assert_eq!(client.deadline(), None);
}

#[test]
fn a_modern_client_accepts_nothing_else() {
    let (said, told) = script(&MODERN, &[Line(result(1, MODERN_RESULT))]);
    assert!(said[0].ends_with(
        r#""io.modelcontextprotocol/clientCapabilities":{"elicitation":{"form":{},"url":{}},"sampling":{"tools":{}},"roots":{}}}}}"#
    ));
    assert_eq!(told, [OPEN_MODERN]);
    let (said, told) = script(&MODERN, &[Line(error("1", -32601, ""))]);
    assert_eq!((said.len(), &told[..]), (1, &["not opened: error -32601 no None".to_owned()][..]));
    let (_, told) = script(&MODERN, &[Line(error("null", -32700, ""))]);
    assert_eq!(told, ["not opened: error -32700 no None"]);
    let (_, told) = script(&MODERN, &[Line(result(1, r#"{"supportedVersions":["2025-11-25"]}"#))]);
    assert_eq!(told, ["not opened: invalid Version"]);
    let (said, _) = script(&MODERN, &[Until(30_000)]);
    assert_eq!(said.len(), 1);
}
