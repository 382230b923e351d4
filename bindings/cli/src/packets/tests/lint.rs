use super::super::rules::RULES;
use super::*;

const NONE: [u16; 0] = [];
const META: &str = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#;

/// The rules that a session breaks after a handshake at 2025-11-25.
fn after_handshake(lines: &[&str]) -> Vec<u16> {
    rules(&[&HANDSHAKE[..], lines].concat())
}

fn rules(lines: &[&str]) -> Vec<u16> {
    found(&track(&entries(lines)).0)
}

fn found(items: &[Item]) -> Vec<u16> {
    let messages = packets(items).into_iter().flat_map(|packet| &packet.messages);
    messages.flat_map(|message| &message.findings).map(|finding| finding.rule.number).collect()
}

/// A server's answer to a call, after a handshake.
fn answered(answer: &str) -> Vec<u16> {
    let ask = r#">{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"f"}}"#;
    after_handshake(&[ask, &format!("<{answer}")])
}

fn listed(tools: &str) -> Vec<u16> {
    let answer = format!(r#"<{{"jsonrpc":"2.0","id":1,"result":{{"tools":{tools}}}}}"#);
    after_handshake(&[r#">{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#, &answer])
}

/// Rules that the tests of this file break; the last test holds it against the table.
const BROKEN_HERE: &[u16] = &[
    101, 102, 103, 104, 105, 106, 107, 108, 109, 110, 111, 112, 201, 202, 203, 204, 205, 206, 207, 208, 209,
    210, 213, 215, 301, 302, 303, 304, 305, 306, 307, 401, 403, 404, 405, 406, 407, 408, 409, 413, 421, 501,
    502, 503, 504, 508,
];

#[test]
fn a_clean_session_has_no_findings() {
    assert_eq!(after_handshake(&[]), NONE);
    assert_eq!(
        answered(r#"{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"a"}]}}"#),
        NONE
    );
    assert_eq!(listed(r#"[{"name":"f","description":"d","inputSchema":{"type":"object"}}]"#), NONE);
    let ping = after_handshake(&[
        r#"<{"jsonrpc":"2.0","id":0,"method":"ping"}"#,
        r#">{"jsonrpc":"2.0","id":0,"result":{}}"#,
        r#"<{"method":"notifications/tools/list_changed","jsonrpc":"2.0"}"#,
    ]);
    assert_eq!(ping, NONE);
}

#[test]
fn lines_that_are_no_messages() {
    assert_eq!(after_handshake(&["<ready"]), [101]);
    assert_eq!(after_handshake(&["<true"]), [101]);
    assert_eq!(after_handshake(&["<Content-Length: 20"]), [110]);
    let deep = format!("<{}{}", "[".repeat(200), "]".repeat(200));
    assert_eq!(after_handshake(&[&deep]), [111]);
    assert_eq!(
        after_handshake(&[r#"<{"jsonrpc":"2.0","method":"notifications/x","params":{"a":"\ud800"}}"#]),
        [111]
    );
    assert_eq!(
        after_handshake(&[
            r#"<{"jsonrpc":"2.0","method":"notifications/x","params":{"a":"\ud83e\udd80 \\ud800"}}"#
        ]),
        NONE
    );
    // One message over four lines is one mistake.
    assert_eq!(after_handshake(&["<{", "<  \"jsonrpc\": \"2.0\",", "<  \"id\": 1", "<}"]), [102]);
}

#[test]
fn bytes_that_are_no_clean_lines() {
    let one = |bytes: &[u8]| {
        let mut entries = entries(&HANDSHAKE);
        entries.push(Entry { at: Some(9_000), what: What::Bytes(Stream::S2c, bytes.to_vec()) });
        found(&track(&entries).0)
    };
    let note = br#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#;
    assert_eq!(one(b"a\xff\n"), [103]);
    assert_eq!(one(note), [106]);
    assert_eq!(one(&[note, &b"\r\n"[..], note, b"\r\n"].concat()), [105], "told once");
    assert_eq!(one(&[b"\n", &note[..], b"\n"].concat()), [105]);
    let long = format!(
        r#"{{"jsonrpc":"2.0","method":"notifications/x","params":{{"a":"{}"}}}}"#,
        "x".repeat(10_485_760)
    );
    assert_eq!(one(format!("{long}\n").as_bytes()), [107]);
    let marked =
        Entry { at: None, what: What::Bytes(Stream::S2c, [b"\xef\xbb\xbf", &note[..], b"\n"].concat()) };
    assert_eq!(found(&track(&[marked]).0), [104]);
}

#[test]
fn envelopes() {
    assert_eq!(answered(r#"{"id":1,"result":{"content":[]}}"#), [201]);
    assert_eq!(answered(r#"{"jsonrpc":"1.0","id":1,"result":{"content":[]}}"#), [201]);
    assert_eq!(answered(r#"{"jsonrpc":"2.0","id":1,"result":{"content":[]},"x":1}"#), [215]);
    assert_eq!(answered(r#"{"jsonrpc":"2.0","id":1,"id":1,"result":{"content":[]}}"#), [112]);
    assert_eq!(answered(r#"{"jsonrpc":"2.0","id":1,"result":{"content":[]},"error":null}"#), [206]);
    assert_eq!(answered(r#"{"jsonrpc":"2.0","id":1,"result":[]}"#), [209]);
    assert_eq!(answered(r#"{"jsonrpc":"2.0","id":1,"error":{"code":"x","message":"m"}}"#), [208]);
    assert_eq!(answered(r#"{"jsonrpc":"2.0","id":1,"error":{"code":1}}"#), [208]);
    assert_eq!(answered(r#"{"jsonrpc":"2.0","id":"1","result":{"content":[]}}"#), [204]);
    assert_eq!(answered(r#"{"jsonrpc":"2.0","id":7,"result":{"content":[]}}"#), [204]);
    assert_eq!(answered(r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"m"}}"#), [213]);
    for id in ["null", "1.5", "true", "{}"] {
        assert_eq!(
            after_handshake(&[&format!(r#">{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#)]),
            [202],
            "{id}"
        );
    }
    assert_eq!(after_handshake(&[r#">{"jsonrpc":"2.0","id":5,"method":"tools/list","params":null}"#]), [209]);
    let twice = r#"<{"jsonrpc":"2.0","id":1,"result":{}}"#;
    assert_eq!(after_handshake(&[r#">{"jsonrpc":"2.0","id":1,"method":"ping"}"#, twice, twice]), [205]);
    let again = r#">{"jsonrpc":"2.0","id":0,"method":"ping"}"#;
    assert_eq!(after_handshake(&[again]), [203]);
    let error = r#"<{"jsonrpc":"2.0","error":{"code":-32601,"message":"m"}}"#;
    assert_eq!(after_handshake(&[error]), [207]);
}

#[test]
fn batches() {
    let batch = r#">[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","method":"notifications/x"}]"#;
    assert_eq!(after_handshake(&[batch]), [108]);
    assert_eq!(after_handshake(&[">[]"]), [108, 109]);
    assert_eq!(
        after_handshake(&[
            r#">[{"jsonrpc":"2.0","method":"notifications/x"},{"jsonrpc":"2.0","id":9,"error":{"code":1,"message":"m"}}]"#
        ]),
        [108, 109, 204]
    );
    let old: Vec<String> = HANDSHAKE.iter().map(|line| line.replace("2025-11-25", "2025-03-26")).collect();
    let lines: Vec<&str> = old.iter().map(String::as_str).chain([batch]).collect();
    assert_eq!(rules(&lines), NONE);
}

#[test]
fn the_handshake() {
    let list = r#">{"jsonrpc":"2.0","id":5,"method":"tools/list"}"#;
    assert_eq!(rules(&[list]), [301]);
    assert_eq!(rules(&[HANDSHAKE[0], list]), [303]);
    assert_eq!(rules(&[HANDSHAKE[0], HANDSHAKE[1], list]), [305]);
    assert_eq!(
        rules(&[HANDSHAKE[0], HANDSHAKE[1], r#"<{"jsonrpc":"2.0","id":5,"method":"roots/list"}"#]),
        [304]
    );
    let cancel = r#">{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":0}}"#;
    assert_eq!(rules(&[HANDSHAKE[0], cancel]), [302]);
    let modern = HANDSHAKE[1].replace("2025-11-25", "2026-07-28");
    assert_eq!(rules(&[HANDSHAKE[0], &modern]), [307]);
    let bare =
        r#"<{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-11-25","serverInfo":{"name":"x"}}}"#;
    assert_eq!(rules(&[HANDSHAKE[0], bare]), [306, 306]);
    assert_eq!(
        rules(&[r#">{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"x"}}"#]),
        [306, 306]
    );
}

#[test]
fn tools() {
    assert_eq!(listed(r#"[{"name":"f","description":"d"}]"#), [401]);
    assert_eq!(listed(r#"[{"name":"f","description":"d","inputSchema":{}}]"#), [401]);
    assert_eq!(listed(r#"[{"name":"f","description":"d","inputSchema":null}]"#), [401]);
    assert_eq!(listed(r#"[{"name":"f","description":null,"inputSchema":{"type":"object"}}]"#), [421]);
    assert_eq!(listed(r#"[{"name":"f","inputSchema":{"type":"object"}}]"#), [404]);
    let tool = r#"{"name":"f","description":"d","inputSchema":{"type":"object"}}"#;
    assert_eq!(listed(&format!("[{tool},{tool}]")), [403]);
    assert_eq!(answered(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#), [408]);
    assert_eq!(answered(r#"{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"video"}]}}"#), [408]);
    assert_eq!(
        answered(r#"{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"image","data":""}]}}"#),
        [408]
    );
    let text = r#"{"type":"text","text":"x"}"#;
    let with = |more: &str| {
        answered(&format!(r#"{{"jsonrpc":"2.0","id":1,"result":{{"content":[{text}],{more}}}}}"#))
    };
    assert_eq!(with(r#""structuredContent":[]"#), [407]);
    assert_eq!(with(r#""structuredContent":{}"#), NONE);
    assert_eq!(answered(r#"{"jsonrpc":"2.0","id":1,"result":{"content":[],"structuredContent":{}}}"#), [406]);
    assert_eq!(
        answered(
            r#"{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"image","mimeType":"image/png","data":"A*=="}]}}"#
        ),
        [409]
    );
    assert_eq!(
        answered(r#"{"jsonrpc":"2.0","id":1,"result":{"content":[],"isError":null,"_meta":null}}"#),
        [421]
    );
}

#[test]
fn many_of_a_kind_are_folded() {
    let tools: Vec<String> = (0..20_000).map(|n| format!(r#"{{"name":"t{n}"}}"#)).collect();
    let list =
        [HANDSHAKE[0], HANDSHAKE[1], HANDSHAKE[2], r#">{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#];
    let answer = format!(r#"<{{"jsonrpc":"2.0","id":1,"result":{{"tools":[{}]}}}}"#, tools.join(","));
    let (items, summary) = track(&entries(&[&list[..], &[&answer]].concat()));
    assert_eq!(found(&items), [401, 404, 401, 404, 401, 404]);
    assert_eq!(summary.findings, 40_000);
    let last = packets(&items).last().unwrap().messages[0].findings[4].text.clone();
    assert!(last.ends_with("(and 19997 more like this)"), "{last}");
}

#[test]
fn calls_against_the_list() {
    let list = [
        r#">{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#,
        r#"<{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"f","description":"d","inputSchema":{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]},"outputSchema":{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}}]}}"#,
    ];
    let call = |arguments: &str, result: &str| {
        let ask = format!(
            r#">{{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{{"name":"f","arguments":{arguments}}}}}"#
        );
        let answer = format!(
            r#"<{{"jsonrpc":"2.0","id":2,"result":{{"content":[{{"type":"text","text":"x"}}]{result}}}}}"#
        );
        after_handshake(&[list[0], list[1], &ask, &answer])
    };
    let good = r#","structuredContent":{"n":1}"#;
    assert_eq!(call(r#"{"n":1}"#, good), NONE);
    assert_eq!(call(r#"{"n":"1"}"#, good), [413]);
    assert_eq!(call("{}", good), [413]);
    assert_eq!(call(r#"{"n":1}"#, ""), [405]);
    assert_eq!(call(r#"{"n":1}"#, r#","structuredContent":{"n":1.5}"#), [405]);
    assert_eq!(call(r#"{"n":1}"#, r#","isError":true"#), NONE);
}

#[test]
fn the_modern_era() {
    let ask = |method: &str| {
        format!(r#">{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{{"name":"f",{META}}}}}"#)
    };
    let call = ask("tools/call");
    let list = ask("tools/list");
    let is = |lines: &[&str], expected: &[u16]| assert_eq!(rules(lines), expected, "{lines:?}");
    is(&[&call, r#"<{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","content":[]}}"#], &[]);
    is(&[&call, r#"<{"jsonrpc":"2.0","id":1,"result":{"content":[]}}"#], &[502]);
    is(
        &[&list, r#"<{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","tools":[],"ttlMs":-1}}"#],
        &[503, 503],
    );
    is(
        &[&call, r#"<{"jsonrpc":"2.0","id":1,"result":{"resultType":"input_required","requestState":"x"}}"#],
        &[],
    );
    is(&[&call, r#"<{"jsonrpc":"2.0","id":1,"error":{"code":-32022,"message":"m"}}"#], &[508]);
    is(&[&call, r#"<{"jsonrpc":"2.0","id":1,"error":{"code":-32050,"message":"m"}}"#], &[210]);
    is(&[&call, r#"<{"jsonrpc":"2.0","id":1,"method":"roots/list"}"#], &[504]);
    is(&[&call, r#">{"jsonrpc":"2.0","id":2,"method":"tools/list"}"#], &[501, 501]);
    // A legacy server refuses the probe, and the handshake follows on the same pipe.
    let probe = ask("server/discover");
    let refused = r#"<{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"m"}}"#;
    is(&[&probe, refused, HANDSHAKE[0], HANDSHAKE[1], HANDSHAKE[2]], &[]);
}

#[test]
fn what_is_never_answered() {
    let mut session =
        entries(&[&HANDSHAKE[..], &[r#">{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#]].concat());
    assert_eq!(track(&session).1.unanswered[0].finding, None, "a living session is not judged");
    session.push(Entry { at: Some(9_000), what: What::Event(Event::Exit { code: Some(0), signal: None }) });
    let summary = track(&session).1;
    assert_eq!(summary.unanswered[0].finding.as_ref().map(|f| f.rule.number), Some(205));
    assert_eq!((summary.requests, summary.answered, summary.findings), (2, 1, 1));
    let cancel = r#">{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#;
    let what = What::Bytes(Stream::C2s, format!("{}\n", &cancel[1..]).into_bytes());
    session.insert(5, Entry { at: Some(8_000), what });
    assert_eq!(track(&session).1.unanswered, Vec::new());
}

#[test]
fn a_capture_that_begins_late_is_not_judged_by_its_beginning() {
    let late = [
        r#">{"jsonrpc":"2.0","id":5,"method":"tools/list"}"#,
        r#"<{"jsonrpc":"2.0","id":4,"result":{}}"#,
        r#"<{"jsonrpc":"2.0","id":5,"result":{"tools":[]}}"#,
    ];
    let (items, summary) = track(&entries(&late)[1..]);
    assert_eq!(found(&items), NONE);
    assert!(summary.late);
}

#[test]
fn every_rule_of_the_table_is_broken_by_a_test() {
    assert_eq!(RULES.iter().map(|rule| rule.number).collect::<Vec<_>>(), BROKEN_HERE);
}
