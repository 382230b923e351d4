//! Both peers over a simulated line: every revision, sizes, latencies, deadlines.

use barewire::{ClientConfig, Era, Millis, Noise, ServerConfig, Version};
use barewire_tests::pair::{Do, LineConfig, Sizes, Story, TOOLS, run};
use barewire_tests::schema::{Checker, Direction};

static SERVER: ServerConfig<'static> =
    ServerConfig::new("board", "1.0.0").tools(TOOLS).noise(Noise::Answer).page(3).reply(2048);
const CLIENT: ClientConfig<'static> = ClientConfig::new("user", "2.0.0");
const ROOMY: Sizes = Sizes { rx: 64 * 1024, tx: 8 * 1024, calls: 8 };

fn call(name: &'static str, args: &str) -> Do {
    Do::Call(name, args.into(), None)
}

/// What both wrote, in the order of writing, before the judge of the official schemas.
fn judge(story: &Story, revision: &str) {
    let mut checker = Checker::new(revision);
    let (mut held, mut at) = ([Vec::new(), Vec::new()], [0, 0]);
    for (by_client, n) in &story.order {
        let side = usize::from(*by_client);
        let all = if *by_client { &story.up } else { &story.down };
        held[side].extend_from_slice(&all[at[side]..at[side] + n]);
        at[side] += n;
        let whole = held[side].iter().rposition(|b| *b == b'\n').map_or(0, |end| end + 1);
        let lines: Vec<u8> = held[side].drain(..whole).collect();
        let direction = if *by_client { Direction::ToServer } else { Direction::ToClient };
        checker.lines(direction, &lines).unwrap_or_else(|e| panic!("{revision}: {e}"));
    }
    assert!(held.iter().all(Vec::is_empty), "half a line is left");
}

fn lines() -> Vec<LineConfig> {
    let mut all = vec![LineConfig::DIRECT];
    for (write, read) in [(1, 1), (7, 64), (64, 3), (usize::MAX, 1000)] {
        all.push(LineConfig { write, read, ..LineConfig::DIRECT });
    }
    for seed in 1..6 {
        all.push(LineConfig { latency: (seed * 7, seed * 3), write: 300, read: 200, random: Some(seed) });
    }
    all
}

fn clients() -> Vec<(&'static str, ClientConfig<'static>)> {
    let mut all = vec![("2026-07-28", CLIENT), ("2026-07-28", CLIENT.era(Era::Modern))];
    for version in [Version::V2024_11_05, Version::V2025_03_26, Version::V2025_06_18, Version::V2025_11_25] {
        all.push((version.as_str(), CLIENT.era(Era::Legacy).protocol_version(version)));
    }
    all
}

#[test]
fn a_session_is_the_same_in_every_revision_over_every_line() {
    let plan = [
        (0, Do::List),
        (0, call("echo", r#"{"text":"a\n\"b\" \u00e9\ud83e\udd80"}"#)),
        (0, call("fail", "{}")),
        (0, call("nope", "{}")),
        (0, call("sum", "{}")),
        (0, call("stream", r#"{"n":5000}"#)),
        (0, call("image", r#"{"n":100}"#)),
        (0, call("echo", r#"{"text":5}"#)),
        (400, Do::Request("resources/list")),
        (400, call("wait", r#"{"ms":200,"every":50}"#)),
    ];
    for (revision, client) in clients() {
        for line in lines() {
            let story = run((&SERVER, &client), (ROOMY, ROOMY), line, &plan)
                .unwrap_or_else(|e| panic!("{revision} {line:?}: {e}"));
            let what = format!("{revision} {line:?}: {:#?}", story.client);
            judge(&story, revision);
            assert!(story.client[0].starts_with(&format!("opened board {revision} at ")), "{what}");
            let names: Vec<String> = TOOLS.iter().map(|tool| format!("tool {}", tool.name)).collect();
            assert_eq!(story.of(1), [names, vec!["done".into()]].concat(), "{what}");
            assert_eq!(story.of(2), ["text \"a\\n\\\"b\\\" é🦀\"", "done"], "{what}");
            assert_eq!(story.of(3), ["text \"it failed\"", "failed"], "{what}");
            assert_eq!(story.of(4), ["error -32602"], "{what}");
            let mut sum = story.of(5);
            sum.sort_unstable();
            let text = r#"text "{\"sum\":[1,{\"x\":\"\\u0041\"}]}""#;
            let structured = r#"structured {"sum":[1,{"x":"\u0041"}]}"#;
            if revision < "2025-06-18" {
                assert_eq!(sum, ["done", r#"meta {"k":1}"#, text], "{what}");
            } else {
                assert_eq!(sum.len(), 4, "{what}");
                assert!(sum.contains(&text) && sum.contains(&structured), "{what}");
            }
            assert_eq!(story.of(6), ["text of 5000 (right)", "done"], "{what}");
            assert_eq!(story.of(7), ["image image/png of 136", "done"], "{what}");
            if revision < "2025-11-25" {
                assert_eq!(story.of(8), ["error -32602"], "{what}");
            } else {
                assert_eq!(story.of(8), ["text \"text must be a string\"", "failed"], "{what}");
            }
            assert_eq!(story.of(9), ["error -32601"], "{what}");
            assert_eq!(
                story.of(10),
                ["progress 1", "progress 2", "progress 3", "text \"done\"", "done"],
                "{what}"
            );
            assert!(!story.client.iter().any(|line| line.starts_with("fault")), "{what}");
        }
    }
}

#[test]
fn calls_end_in_any_order() {
    let plan: Vec<(u64, Do)> =
        (0..8).map(|i| (0, Do::Call("wait", format!("{{\"ms\":{}}}", 800 - i * 100), None))).collect();
    for (revision, client) in clients() {
        for line in lines() {
            let story =
                run((&SERVER, &client), (ROOMY, ROOMY), line, &plan).unwrap_or_else(|e| panic!("{e}"));
            judge(&story, revision);
            let ends: Vec<&str> =
                story.client.iter().filter(|l| l.ends_with(" done")).map(|l| &l[..1]).collect();
            assert_eq!(ends, ["8", "7", "6", "5", "4", "3", "2", "1"], "{revision} {line:?}");
        }
    }
}

#[test]
fn a_deadline_ends_a_call_and_tells_the_server() {
    let plan = [
        (0, Do::Call("never", "{}".into(), Some((1000, None)))),
        (0, Do::Call("wait", r#"{"ms":1500}"#.into(), Some((1000, None)))),
        (0, Do::Call("wait", r#"{"ms":500}"#.into(), Some((1000, None)))),
        (2000, call("echo", r#"{"text":"still there"}"#)),
    ];
    for (revision, client) in clients() {
        let line = LineConfig { latency: (20, 20), ..LineConfig::DIRECT };
        let story = run((&SERVER, &client), (ROOMY, ROOMY), line, &plan).unwrap_or_else(|e| panic!("{e}"));
        let what = format!("{revision}: {:#?}", story.client);
        judge(&story, revision);
        let open = 40;
        assert_eq!(story.of(1), [format!("timed out at {}", open + 1000)], "{what}");
        assert_eq!(story.of(2), [format!("timed out at {}", open + 1000)], "{what}");
        assert_eq!(story.of(3), ["text \"done\"", "done"], "{what}");
        assert_eq!(story.of(4), ["text \"still there\"", "done"], "{what}");
        let cancels = story.server.iter().filter(|l| **l == format!("cancelled at {}", open + 1020)).count();
        assert_eq!(cancels, 2, "{:?}", story.server);
    }
}

#[test]
fn progress_moves_a_deadline_up_to_its_bound() {
    let wait = r#"{"ms":100000,"every":400}"#;
    let plan = [
        (0, Do::Call("wait", wait.into(), Some((1000, Some(5000))))),
        (0, Do::Call("wait", wait.into(), Some((1000, None)))),
        (0, Do::Call("wait", r#"{"ms":4000,"every":400}"#.into(), Some((1000, Some(5000))))),
    ];
    for (revision, client) in clients() {
        let story = run((&SERVER, &client), (ROOMY, ROOMY), LineConfig::DIRECT, &plan)
            .unwrap_or_else(|e| panic!("{e}"));
        let what = format!("{revision}: {:#?}", story.client);
        judge(&story, revision);
        assert_eq!(story.of(1).last(), Some(&"timed out at 5000"), "{what}");
        assert_eq!(story.of(1).len(), 13, "{what}");
        assert_eq!(story.of(2), ["progress 1", "progress 2", "timed out at 1000"], "{what}");
        assert_eq!(story.of(3).last(), Some(&"done"), "{what}");
    }
}

#[test]
fn a_cancelled_call_says_nothing_more() {
    let plan = [
        (0, call("never", "{}")),
        (0, call("wait", r#"{"ms":300,"every":50}"#)),
        (100, Do::Cancel(1)),
        (120, Do::Cancel(2)),
        (500, call("echo", r#"{"text":"on"}"#)),
        // After its end a cancel is nothing.
        (600, Do::Cancel(3)),
    ];
    for (revision, client) in clients() {
        for latency in [(0, 0), (30, 5), (200, 200)] {
            let line = LineConfig { latency, ..LineConfig::DIRECT };
            let story =
                run((&SERVER, &client), (ROOMY, ROOMY), line, &plan).unwrap_or_else(|e| panic!("{e}"));
            let what = format!("{revision} {latency:?}: {:#?}", story.client);
            judge(&story, revision);
            assert!(story.of(1).is_empty(), "{what}");
            assert!(story.of(2).iter().all(|l| l.starts_with("progress")), "{what}");
            // A cancel that crosses the answer of a slow line comes to nothing.
            if latency.0 < 200 {
                assert_eq!(story.of(3), ["text \"on\"", "done"], "{what}");
                assert_eq!(story.server.iter().filter(|l| l.starts_with("cancelled")).count(), 2, "{what}");
            }
            assert!(!story.client.iter().any(|l| l.starts_with("fault")), "{what}");
        }
    }
}

#[test]
fn a_small_server_makes_auto_fall_back() {
    // 256 bytes in: the modern probe does not fit and is refused by its id, initialize does.
    let small = Sizes { rx: 256, tx: 128, calls: 1 };
    const NAMED: ClientConfig<'static> = ClientConfig::new("some-ordinary-host-program", "2.10.0-beta.1");
    let plan = [(0, Do::List), (0, call("echo", r#"{"text":"hi"}"#)), (0, call("echo", r#"{"text":"ho"}"#))];
    for line in lines() {
        let story =
            run((&SERVER, &NAMED), (small, ROOMY), line, &plan).unwrap_or_else(|e| panic!("{line:?}: {e}"));
        let what = format!("{line:?}: {:#?}", story.client);
        judge(&story, "2025-11-25");
        assert!(story.client[0].starts_with("opened board 2025-11-25"), "{what}");
        assert_eq!(story.of(1).len(), TOOLS.len() + 1, "{what}");
        assert_eq!(story.of(2), ["text \"hi\"", "done"], "{what}");
        assert_eq!(story.of(3), ["text \"ho\"", "done"], "{what}");
    }
}

#[test]
fn a_slow_line_lets_the_probe_run_out() {
    // The probe's answer takes 12 s and is given up after 10: initialize follows, and the late answer does no harm.
    let line = LineConfig { latency: (6000, 6000), ..LineConfig::DIRECT };
    let plan = [(0, call("echo", r#"{"text":"slow"}"#))];
    let story = run((&SERVER, &CLIENT), (ROOMY, ROOMY), line, &plan).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(story.client[0], "opened board 2025-11-25 at 22000", "{:#?}", story.client);
    assert_eq!(story.of(1), ["text \"slow\"", "done"], "{:#?}", story.client);
    // A shorter patience with the probe, and a line that is faster than it.
    let line = LineConfig { latency: (40, 40), ..LineConfig::DIRECT };
    let quick = CLIENT.probe(Millis(100));
    let story = run((&SERVER, &quick), (ROOMY, ROOMY), line, &plan).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(story.client[0], "opened board 2026-07-28 at 80", "{:#?}", story.client);
}

#[test]
fn a_handshake_that_takes_too_long_is_given_up() {
    let line = LineConfig { latency: (40_000, 40_000), ..LineConfig::DIRECT };
    for era in [Era::Auto, Era::Legacy, Era::Modern] {
        let story =
            run((&SERVER, &CLIENT.era(era)), (ROOMY, ROOMY), line, &[]).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(story.client.len(), 1, "{era:?}: {:#?}", story.client);
        assert!(
            story.client[0].starts_with("not opened: ") && story.client[0].ends_with(" at 60000"),
            "{:#?}",
            story.client
        );
    }
}

#[test]
fn a_broken_line_ends_every_call() {
    let plan = [(0, call("never", "{}")), (0, call("wait", r#"{"ms":1000}"#)), (50, Do::Break)];
    for (revision, client) in clients() {
        let story = run((&SERVER, &client), (ROOMY, ROOMY), LineConfig::DIRECT, &plan)
            .unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(story.of(1), ["lost"], "{revision}");
        assert_eq!(story.of(2), ["lost"], "{revision}");
    }
}

#[test]
fn an_answer_larger_than_the_client_ends_its_call_alone() {
    let small = Sizes { rx: 1024, tx: 1024, calls: 4 };
    let plan = [
        (0, call("stream", r#"{"n":50000}"#)),
        (0, call("echo", r#"{"text":"fits"}"#)),
        (0, call("image", r#"{"n":1200}"#)),
        (0, Do::List),
    ];
    for (revision, client) in clients() {
        for line in lines() {
            let story =
                run((&SERVER, &client), (ROOMY, small), line, &plan).unwrap_or_else(|e| panic!("{e}"));
            let what = format!("{revision} {line:?}: {:#?}", story.client);
            assert_eq!(story.of(1).len(), 1, "{what}");
            assert!(story.of(1)[0].starts_with("invalid TooLong"), "{what}");
            assert_eq!(story.of(2), ["text \"fits\"", "done"], "{what}");
            assert!(story.of(3)[0].starts_with("invalid TooLong"), "{what}");
            assert_eq!(story.of(4).len(), TOOLS.len() + 1, "{what}");
        }
    }
}

#[test]
fn a_changed_list_is_told_to_legacy_clients() {
    static CHANGING: ServerConfig<'static> = ServerConfig::new("board", "1.0.0").tools(TOOLS).list_changed();
    for (revision, client) in clients() {
        let plan = [(10, Do::Changed), (20, call("echo", r#"{"text":"x"}"#))];
        let story = run((&CHANGING, &client), (ROOMY, ROOMY), LineConfig::DIRECT, &plan)
            .unwrap_or_else(|e| panic!("{e}"));
        judge(&story, revision);
        let changed = story.client.iter().filter(|l| *l == "changed Tools").count();
        assert_eq!(changed, usize::from(revision != "2026-07-28"), "{revision}: {:#?}", story.client);
    }
}
