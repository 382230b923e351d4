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

#[test]
fn an_error_without_id_answers_the_probe() {
    for line in
        [error("null", -32700, ""), r#"{"jsonrpc":"2.0","error":{"code":-1,"message":"no"}}"#.to_owned()]
    {
        let (said, told) =
            script(&AUTO, &[Line(line.clone()), Line(line.clone()), Line(result(2, LEGACY_RESULT))]);
        assert_eq!(said, [DISCOVER, &initialize(2, "2025-11-25"), INITIALIZED]);
        let fault = format!("fault ErrorWithoutId {line}");
        assert_eq!(told, [&fault, &fault, OPEN_LEGACY], "later it answers nothing");
    }
}

#[test]
fn modern_errors_are_modern_servers() {
    for code in [-32020, -32021] {
        let (said, told) = script(&AUTO, &[Line(error("1", code, ""))]);
        assert_eq!((said.len(), &told[..]), (1, &["opened   2026-07-28 None None".to_owned()][..]));
    }
}

#[test]
fn unsupported_version_and_what_is_offered() {
    let refused = |id: &str, list: &str| {
        error(id, -32022, &format!(r#","data":{{"supported":{list},"requested":"x"}}"#))
    };
    // Ours all the same: once more.
    let (said, told) =
        script(&AUTO, &[Line(refused("1", r#"["2026-07-28"]"#)), Line(result(2, MODERN_RESULT))]);
    assert_eq!(said, [DISCOVER, &DISCOVER.replace("\"id\":1", "\"id\":2")]);
    assert_eq!(told, [OPEN_MODERN]);
    // And no more than once.
    let (said, told) =
        script(&AUTO, &[Line(refused("1", r#"["2026-07-28"]"#)), Line(refused("2", r#"["2026-07-28"]"#))]);
    assert_eq!(said.len(), 2);
    assert!(told[0].starts_with("not opened: error -32022"), "{told:?}");
    // Only old ones.
    let list = r#"["2024-11-05","2025-06-18","2023-01-01"]"#;
    let (said, told) = script(&AUTO, &[Line(refused("1", list)), Line(result(2, LEGACY_RESULT))]);
    assert_eq!(said, [DISCOVER, &initialize(2, "2025-06-18"), INITIALIZED]);
    assert_eq!(told, [OPEN_LEGACY]);
    // Only unknown ones.
    let (said, told) = script(&AUTO, &[Line(refused("1", r#"["2099-01-01"]"#))]);
    assert_eq!(said.len(), 1);
    assert!(told[0].starts_with("not opened: error -32022"), "{told:?}");
    // None at all: any other error.
    let (said, _) = script(&AUTO, &[Line(error("1", -32022, ""))]);
    assert_eq!(said, [DISCOVER, &initialize(2, "2025-11-25")]);
}

#[test]
fn results_of_the_probe() {
    let list = |list: &str| result(1, &format!(r#"{{"supportedVersions":{list},"capabilities":{{}}}}"#));
    let all = r#"["2024-11-05","2025-03-26","2025-06-18","2025-11-25","2026-07-28"]"#;
    assert_eq!(script(&AUTO, &[Line(list(all))]).1, ["opened   2026-07-28 None Some({})"]);
    let (said, _) = script(&AUTO, &[Line(list(r#"["2025-03-26","2024-11-05"]"#))]);
    assert_eq!(said, [DISCOVER, &initialize(2, "2025-03-26")]);
    assert_eq!(script(&AUTO, &[Line(list(r#"["2099-01-01"]"#))]).1, ["not opened: invalid Version"]);
    // What is no result of it: a legacy server that answers anything with anything.
    for answer in [
        "{}",
        "null",
        r#"{"supportedVersions":7}"#,
        r#"{"resultType":"task","supportedVersions":["2026-07-28"]}"#,
    ] {
        let (said, told) = script(&AUTO, &[Line(result(1, answer)), Line(result(2, LEGACY_RESULT))]);
        assert_eq!(said, [DISCOVER, &initialize(2, "2025-11-25"), INITIALIZED], "{answer}");
        assert_eq!(told, [OPEN_LEGACY]);
    }
    // Where drafts had the server's name.
    let answer = r#"{"supportedVersions":["2026-07-28"],"serverInfo":{"name":"d","version":"3"}}"#;
    assert_eq!(script(&AUTO, &[Line(result(1, answer))]).1, ["opened d 3 2026-07-28 None None"]);
}

#[test]
fn a_probe_answered_late() {
    let refused = error("2", -32022, r#","data":{"supported":["2026-07-28"]}"#);
    // Kept until `initialize` is answered.
    let (said, told) = script(&AUTO, &[Until(10_000), Line(result(1, MODERN_RESULT)), Line(refused.clone())]);
    assert_eq!(said, [DISCOVER, &initialize(2, "2025-11-25")]);
    assert_eq!(told, ["opened   2026-07-28 None None"]);
    let steps = [Until(10_000), Line(result(1, MODERN_RESULT)), Line(error("2", -32601, ""))];
    assert_eq!(script(&AUTO, &steps).1, ["opened   2026-07-28 None None"]);
    // Not needed.
    let (said, told) =
        script(&AUTO, &[Until(10_000), Line(result(1, MODERN_RESULT)), Line(result(2, LEGACY_RESULT))]);
    assert_eq!(said, [DISCOVER, &initialize(2, "2025-11-25"), INITIALIZED]);
    assert_eq!(told, [OPEN_LEGACY]);
    // Too late.
    let steps = [Until(10_000), Line(result(2, LEGACY_RESULT)), Line(result(1, MODERN_RESULT))];
    assert_eq!(script(&AUTO, &steps).1, [OPEN_LEGACY]);
    // Never: asked again.
    let (said, told) = script(&AUTO, &[Until(10_000), Line(refused), Line(result(3, MODERN_RESULT))]);
    assert_eq!(said, [DISCOVER, &initialize(2, "2025-11-25"), &DISCOVER.replace("\"id\":1", "\"id\":3")]);
    assert_eq!(told, [OPEN_MODERN]);
}

#[test]
fn a_server_that_never_agrees_is_not_asked_for_ever() {
    let refused = |id: u32| {
        Line(error(&id.to_string(), -32022, r#","data":{"supported":["2026-07-28","2025-03-26"]}"#))
    };
    let steps: Vec<_> = [Until(10_000)].into_iter().chain((2..20).map(refused)).collect();
    let (said, told) = script(&AUTO, &steps);
    assert_eq!(said.len(), 3, "{said:?}");
    assert!(told[0].starts_with("not opened: error -32022"), "{told:?}");
    assert_eq!(told.len(), 1);
    let refused =
        |id: &str, list: &str| Line(error(id, -32602, &format!(r#","data":{{"supported":["{list}"]}}"#)));
    let steps = [refused("1", "2024-11-05"), refused("2", "2025-03-26"), refused("3", "2024-11-05")];
    let (said, told) = script(&LEGACY, &steps);
    assert_eq!(said, [initialize(1, "2025-11-25"), initialize(2, "2024-11-05")]);
    assert_eq!(told.len(), 1);
    // Silence neither.
    let steps: Vec<_> = (1..10).map(|i| Until(i * 10_000)).collect();
    let (said, told) = script(&AUTO, &steps);
    assert_eq!((said.len(), &told[..]), (2, &["not opened: TimedOut".to_owned()][..]));
}

#[test]
fn answers_to_initialize() {
    for version in ["2099-01-01", "2026-07-28", "2024-10-07", ""] {
        let answer = LEGACY_RESULT.replace("2025-06-18", version);
        assert_eq!(
            script(&LEGACY, &[Line(result(1, &answer))]).1,
            ["not opened: invalid Version"],
            "{version}"
        );
    }
    for answer in ["{}", "null", r#"{"protocolVersion":20250618}"#] {
        assert_eq!(script(&LEGACY, &[Line(result(1, answer))]).1, ["not opened: invalid Shape"], "{answer}");
    }
    // What other clients refuse, and nobody needs.
    let bare = r#"{"protocolVersion":"2025-03-26","instructions":null,"serverInfo":null,"_meta":null}"#;
    assert_eq!(script(&LEGACY, &[Line(result(1, bare))]).1, ["opened   2025-03-26 None None"]);
    assert_eq!(script(&LEGACY, &[Line(error("1", -32602, ""))]).1, ["not opened: error -32602 no None"]);
    // The specification's own example of a refusal says what would do.
    let refused = error("1", -32602, r#","data":{"supported":["2024-11-05"],"requested":"1.0.0"}"#);
    let (said, told) = script(&LEGACY, &[Line(refused), Line(result(2, LEGACY_RESULT))]);
    assert_eq!(said, [&initialize(1, "2025-11-25"), &initialize(2, "2024-11-05"), INITIALIZED]);
    assert_eq!(told, [OPEN_LEGACY]);
}

#[test]
fn noise_before_the_first_answer() {
    let mut steps: Vec<_> = (0..36).map(|i| Line(format!("probing host {i}"))).collect();
    steps.push(Line(
        r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1}}"#.into(),
    ));
    steps.push(Line(r#"{"jsonrpc":"2.0","id":0,"method":"ping"}"#.into()));
    steps.push(Line(r#"{"jsonrpc":"2.0","id":"0","method":"roots/list"}"#.into()));
    steps.push(Line(result(0, LEGACY_RESULT)));
    steps.push(Line(result(1, LEGACY_RESULT)));
    let (said, told) = script(&LEGACY, &steps);
    assert_eq!(
        said,
        [
            &initialize(1, "2025-11-25"),
            r#"{"jsonrpc":"2.0","id":0,"result":{}}"#,
            r#"{"jsonrpc":"2.0","id":"0","error":{"code":-32601,"message":"Method not found"}}"#,
            INITIALIZED
        ]
    );
    assert_eq!(told.len(), 39);
    assert_eq!(told[36], "log Some(Info) info None 1");
    assert_eq!(told[38], OPEN_LEGACY);
}

#[test]
fn an_answer_too_long_to_read() {
    let long = MODERN_RESULT.replace("be ", &"x".repeat(2000));
    let (said, told) = script(&AUTO, &[Line(result(1, &long)), Line(result(2, LEGACY_RESULT))]);
    assert_eq!(said, [DISCOVER, &initialize(2, "2025-11-25"), INITIALIZED]);
    assert_eq!(told, [OPEN_LEGACY]);
    let (_, told) = script(&LEGACY, &[Line(result(1, &long))]);
    assert!(told[0].starts_with("not opened: invalid TooLong"), "{told:?}");
}

#[test]
fn the_end_of_input_before_the_session() {
    let mut storage = Storage::<1024, 64, 1>::new();
    let mut client = Client::new(&AUTO, storage.buffers());
    let mut log = Log::new();
    log.drain(&mut client);
    client.end_of_input();
    log.drain(&mut client);
    assert_eq!(log.told(), ["not opened: Lost"]);
    assert!(log.closed);
    log.said();
    // The server died of the probe, so the next one is greeted the old way.
    client.reset();
    log.closed = false;
    log.drain(&mut client);
    assert_eq!(log.said(), [initialize(2, "2025-11-25")]);
    log.line(&mut client, &result(2, LEGACY_RESULT));
    assert_eq!(log.told(), [OPEN_LEGACY]);
    // It had a session, so the next one is asked again.
    client.reset();
    log.said();
    log.drain(&mut client);
    assert_eq!(log.said(), [DISCOVER.replace("\"id\":1", "\"id\":3")]);
    client.reset();
    log.drain(&mut client);
    assert_eq!(log.said(), [initialize(4, "2025-11-25")], "a probe that was not answered");
}

#[test]
fn ids_that_became_strings() {
    let (said, told) = script(&LEGACY, &[Line(result(1, LEGACY_RESULT).replace("\"id\":1", "\"id\":\"1\""))]);
    assert_eq!(said.len(), 2);
    assert!(told[0].starts_with("fault IdType") && told[1] == OPEN_LEGACY, "{told:?}");
}

#[cfg(feature = "alloc")]
#[test]
fn an_owned_machine() {
    use barewire::{Buffers, Limits};
    let name = String::from("t");
    let mut client: Client<'static> =
        Client::owning(&ClientConfig::new(&name, "1"), Buffers::growing(Limits::default()));
    drop(name);
    let mut log = Log::new();
    log.drain(&mut client);
    assert_eq!(log.said(), [DISCOVER]);
    let mut bytes = Vec::new();
    log.line(&mut client, &error("1", -32601, ""));
    client.take_output(&mut bytes);
    assert!(bytes.is_empty(), "it was sent");
    assert_eq!(log.said(), [initialize(2, "2025-11-25")]);
}
