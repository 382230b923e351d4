//! How a client opens that is compiled for one era, for the other, for both, or for none.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::arithmetic_side_effects)]
#![cfg(feature = "client")]

use barewire::{Client, ClientConfig, ClientEvent, End, Era, Millis, Output, Storage, Why};

/// What the client sends until it waits, or what it says instead of opening.
fn says(era: Era, answers: &[&str]) -> Vec<String> {
    let config = ClientConfig::new("c", "1").era(era);
    let mut storage = Storage::<1024, 1024, 1>::new();
    let mut client = Client::new(&config, storage.buffers());
    let mut said = Vec::new();
    let mut answers = answers.iter();
    loop {
        match client.poll(Millis(0)) {
            Output::Send(bytes) => {
                let text = String::from_utf8(bytes.to_vec()).unwrap();
                let method = text.split("\"method\":\"").nth(1).and_then(|rest| rest.split('"').next());
                said.push(method.unwrap().to_string());
                let n = bytes.len();
                client.sent(n);
            }
            Output::Event(ClientEvent::Opened { version, .. }) => said.push(format!("open {version}")),
            Output::Event(ClientEvent::NotOpened(end)) => said.push(match end {
                End::Invalid(Why::Version) => "no version".into(),
                other => format!("{other:?}"),
            }),
            Output::Event(_) => {}
            Output::Wait { .. } => match answers.next() {
                Some(answer) => {
                    assert_eq!(client.feed(answer.as_bytes()), answer.len());
                }
                None => return said,
            },
            _ => return said,
        }
    }
}

fn expect(said: &[String], both: &[&str], legacy: &[&str], modern: &[&str]) {
    let expected = match (cfg!(feature = "legacy"), cfg!(feature = "modern")) {
        (true, true) => both,
        (true, false) => legacy,
        (false, true) => modern,
        (false, false) => &["no version"],
    };
    assert_eq!(said, expected);
}

const NO_METHOD: &str =
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32601,\"message\":\"Method not found\"}}\n";
const SESSION: &str = "{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"protocolVersion\":\"2025-06-18\",\"capabilities\":{},\"serverInfo\":{\"name\":\"s\",\"version\":\"1\"}}}\n";

#[test]
fn to_a_server_of_the_handshake_era() {
    // With both eras it is asked twice, so the second answer has the id 2.
    let session = SESSION.replace("\"id\":2", "\"id\":1");
    let answers = if cfg!(feature = "modern") { [NO_METHOD, SESSION] } else { [session.as_str(), "\n"] };
    let said = says(Era::Auto, &answers);
    let open = ["server/discover", "initialize", "notifications/initialized", "open 2025-06-18"];
    let refused = said.get(1).is_some_and(|end| end.contains("-32601") || end.starts_with("Error"));
    if cfg!(all(feature = "modern", not(feature = "legacy"))) {
        assert!(said.len() == 2 && said[0] == "server/discover" && refused, "{said:?}");
    } else {
        expect(&said, &open, &open[1..], &[]);
    }
}

#[test]
fn an_era_that_is_asked_for_and_is_not_there() {
    let legacy = says(Era::Legacy, &[]);
    let modern = says(Era::Modern, &[]);
    if cfg!(feature = "legacy") {
        assert_eq!(legacy, ["initialize"]);
    } else {
        assert!(legacy.len() == 1 && legacy[0] != "initialize", "{legacy:?}");
    }
    if cfg!(feature = "modern") {
        assert_eq!(modern, ["server/discover"]);
    } else {
        assert!(modern.len() == 1 && modern[0] != "server/discover", "{modern:?}");
    }
}
