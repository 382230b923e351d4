use super::Checker;
use super::Direction::{ToClient, ToServer};

const META: &str = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}"#;

/// A session of `revision`, open.
fn session(revision: &str) -> Checker {
    let mut checker = Checker::new("2025-11-25");
    let ask = format!(
        r#"{{"jsonrpc":"2.0","id":"i","method":"initialize","params":{{"protocolVersion":"{revision}","capabilities":{{}},"clientInfo":{{"name":"c","version":"1"}}}}}}"#
    );
    let answer = format!(
        r#"{{"jsonrpc":"2.0","id":"i","result":{{"protocolVersion":"{revision}","capabilities":{{}},"serverInfo":{{"name":"s","version":"1"}}}}}}"#
    );
    checker.line(ToServer, ask.as_bytes()).unwrap();
    checker.line(ToClient, answer.as_bytes()).unwrap();
    checker.line(ToServer, br#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#).unwrap();
    assert_eq!(checker.agreed(), Some(revision));
    checker
}

#[track_caller]
fn refuses(checker: &mut Checker, line: &str, why: &str) {
    let said = checker.line(ToClient, line.as_bytes()).expect_err(line);
    assert!(said.contains(why), "{said}");
}

#[test]
fn a_session_of_each_legacy_revision_is_fine() {
    for revision in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        let mut checker = session(revision);
        checker.line(ToServer, br#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#).unwrap();
        let tools = br#"{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"a","inputSchema":{ "type":"object","default":null}}]}}"#;
        checker.line(ToClient, tools).unwrap();
        let call =
            br#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"a","arguments":{"x":null}}}"#;
        checker.line(ToServer, call).unwrap();
        checker.line(ToClient, br#"{"jsonrpc":"2.0","id":2,"result":{"content":[]}}"#).unwrap();
    }
}

#[test]
fn a_modern_request_needs_no_session_and_its_result_a_type() {
    let mut checker = Checker::new("2026-07-28");
    let ask = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{{{META}}}}}"#);
    checker.line(ToServer, ask.as_bytes()).unwrap();
    let answer = br#"{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","ttlMs":0,"cacheScope":"private","tools":[]}}"#;
    checker.line(ToClient, answer).unwrap();
    if Checker::has_schemas() {
        checker.line(ToServer, ask.as_bytes()).unwrap();
        refuses(&mut checker, r#"{"jsonrpc":"2.0","id":1,"result":{"tools":[]}}"#, "resultType");
    }
}

#[test]
fn bytes_are_judged() {
    let mut checker = session("2025-11-25");
    for (line, why) in [
        ("{\"jsonrpc\":\"2.0\",\r\n", "CR or LF"),
        ("", "empty line"),
        ("\u{feff}{}", "byte order mark"),
        ("[]", "an array"),
        ("7", "no object"),
        (r#"{"jsonrpc":"2.0", "id":1,"result":{}}"#, "white space"),
        (r#"{"jsonrpc":"2.0","id":1,"id":1,"result":{}}"#, "twice"),
        (r#"{"jsonrpc":"2.0","id":1,"result":{"nextCursor":null}}"#, "null outside"),
        (r#"{"jsonrpc":"2.0","id":1,"result":{"_meta":null}}"#, "_meta is no object"),
        (r#"{"jsonrpc":"2.0","id":1,"result":{},"x":1}"#, "no place"),
        (r#"{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"m","x":1}}"#, "no place"),
        (r#"{"jsonrpc":"2.0","id":1,"result":{},"error":{}}"#, "neither"),
        (r#"{"jsonrpc":"2.0","id":1,"result":{}}x"#, "after the message"),
    ] {
        refuses(&mut checker, line, why);
    }
    assert!(checker.lines(ToClient, b"{}").unwrap_err().contains("no LF"));
    assert!(checker.line(ToClient, b"\xff").unwrap_err().contains("not UTF-8"));
}

#[test]
fn answers_need_a_question_of_the_same_id() {
    let mut checker = session("2025-11-25");
    checker.line(ToServer, br#"{"jsonrpc":"2.0","id":7,"method":"ping"}"#).unwrap();
    refuses(&mut checker, r#"{"jsonrpc":"2.0","id":"7","result":{}}"#, "nobody asked");
    checker.line(ToClient, br#"{"jsonrpc":"2.0","id":7,"result":{}}"#).unwrap();
    refuses(&mut checker, r#"{"jsonrpc":"2.0","id":7,"result":{}}"#, "nobody asked");
    checker.note(ToServer, br#"{"id":99,"method":7}"#);
    checker.line(ToClient, br#"{"jsonrpc":"2.0","id":99,"error":{"code":-32600,"message":"m"}}"#).unwrap();
}

#[test]
fn errors_without_id_follow_the_revision() {
    let null = r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"m"}}"#;
    let none = r#"{"jsonrpc":"2.0","error":{"code":-32700,"message":"m"}}"#;
    for revision in ["2024-11-05", "2025-03-26", "2025-06-18"] {
        session(revision).line(ToClient, null.as_bytes()).unwrap();
        refuses(&mut session(revision), none, "without id: null");
    }
    session("2025-11-25").line(ToClient, none.as_bytes()).unwrap();
    refuses(&mut session("2025-11-25"), null, "with id: null");
}

#[test]
fn progress_needs_a_token_and_rises() {
    let mut checker = session("2025-06-18");
    let call = br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","_meta":{"progressToken":0}}}"#;
    checker.line(ToServer, call).unwrap();
    let progress = |token: &str, done: f64| {
        format!(
            r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{{"progressToken":{token},"progress":{done}}}}}"#
        )
    };
    checker.line(ToClient, progress("0", 1.0).as_bytes()).unwrap();
    refuses(&mut checker, &progress("0", 1.0), "does not rise");
    refuses(&mut checker, &progress("\"0\"", 2.0), "no open request");
    checker.line(ToClient, br#"{"jsonrpc":"2.0","id":1,"result":{"content":[]}}"#).unwrap();
    refuses(&mut checker, &progress("0", 3.0), "after the answer");
}

#[test]
fn newer_members_stay_out_of_older_sessions() {
    if !Checker::has_schemas() {
        return;
    }
    let tools = r#"{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"a","title":"A","inputSchema":{"type":"object"}}]}}"#;
    for (revision, fine) in [("2024-11-05", false), ("2025-03-26", false), ("2025-06-18", true)] {
        let mut checker = session(revision);
        checker.line(ToServer, br#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#).unwrap();
        assert_eq!(checker.line(ToClient, tools.as_bytes()).is_ok(), fine, "{revision}");
    }
    let mut checker = session("2025-11-25");
    checker.line(ToServer, br#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#).unwrap();
    refuses(&mut checker, r#"{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete"}}"#, "legacy");
    let discover = format!(r#"{{"jsonrpc":"2.0","id":2,"method":"ping","params":{{{META}}}}}"#);
    assert!(
        checker.line(ToServer, discover.as_bytes()).unwrap_err().contains("does not exist in 2026-07-28")
    );
}

#[test]
fn arrays_only_in_the_one_revision_that_has_them() {
    let both = br#"[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":2,"method":"ping"}]"#;
    let mut checker = session("2025-03-26");
    checker.line(ToServer, both).unwrap();
    checker
        .line(ToClient, br#"[{"jsonrpc":"2.0","id":1,"result":{}},{"jsonrpc":"2.0","id":2,"result":{}}]"#)
        .unwrap();
    assert!(session("2025-06-18").line(ToServer, both).is_err());
}
