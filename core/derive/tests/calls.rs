//! Derived tools in a real server: what goes over the wire, in an older and a newer revision.
mod common;

use barewire::{BadArgs, BadCall, Call, Fields, FromArgs, Items, ToolInput, Tools};
use common::{Colour, answers, call};

#[derive(Tools)]
enum Board<'a> {
    /// Turns the LED on or off.
    #[tool(idempotent)]
    SetLed { on: bool },
    /// The newest lines of the log.
    #[tool(read_only, title = "Log")]
    ReadLog {
        /// How many.
        #[arg(range = 1..=100, default = 10)]
        lines: u16,
        containing: Option<&'a str>,
    },
    /// Blinks.
    Blink(Blink<'a>),
    /// Milliseconds since the start.
    Uptime,
    /// Looks for something.
    #[tool(
        schema = r#"{"type":"object","properties":{"query":{"type":"string","pattern":"^[a-z]+$"}},"required":["query"]}"#
    )]
    Search(Query<'a>),
}

#[derive(ToolInput)]
struct Blink<'a> {
    colour: Colour,
    #[arg(items = 1..=4)]
    millis: Items<'a, u16>,
}

/// Decoded by hand, its schema written by hand.
struct Query<'a>(&'a str);

impl<'m> FromArgs<'m> for Query<'m> {
    fn from_args(mut fields: Fields<'m>) -> Result<Self, BadArgs> {
        const QUERY: BadArgs = BadArgs::new("query", "a word in lower case");
        while let Some((key, value)) = fields.next() {
            if key == "query" {
                let query = value.str("query")?;
                let fits = !query.is_empty() && query.bytes().all(|b| b.is_ascii_lowercase());
                return if fits { Ok(Self(query)) } else { Err(QUERY) };
            }
        }
        Err(QUERY)
    }
}

fn run(call: Call<'_>) {
    let Some((tool, reply)) = Board::decode(call) else { return };
    let done = match tool {
        Board::SetLed { on } => reply.text(if on { "on" } else { "off" }).finish(),
        Board::ReadLog { lines, containing } => {
            reply.text_fmt(format_args!("{lines} {containing:?}")).finish()
        }
        Board::Blink(Blink { colour, millis }) => {
            let millis: Vec<u16> = millis.collect();
            reply.text_fmt(format_args!("{colour:?} {millis:?}")).finish()
        }
        Board::Uptime => reply.text("5").finish(),
        Board::Search(Query(query)) => reply.text(query).finish(),
    };
    done.unwrap();
}

#[test]
fn the_list() {
    let list =
        answers(Board::TOOLS, "2025-06-18", &[r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#], run);
    assert_eq!(
        list,
        [concat!(
            r#"{"jsonrpc":"2.0","id":1,"result":{"tools":["#,
            r#"{"name":"set_led","description":"Turns the LED on or off.","inputSchema":{"type":"object","#,
            r#""properties":{"on":{"type":"boolean"}},"required":["on"],"additionalProperties":false},"#,
            r#""annotations":{"idempotentHint":true}},"#,
            r#"{"name":"read_log","title":"Log","description":"The newest lines of the log.","inputSchema":{"type":"object","#,
            r#""properties":{"lines":{"type":"integer","minimum":1,"maximum":100,"description":"How many.","default":10},"#,
            r#""containing":{"type":["string","null"]}},"additionalProperties":false},"#,
            r#""annotations":{"readOnlyHint":true}},"#,
            r#"{"name":"blink","description":"Blinks.","inputSchema":{"type":"object","#,
            r#""properties":{"colour":{"type":"string","enum":["red","light-green","b\"lue\\"],"description":"Which one."},"#,
            r#""millis":{"type":"array","items":{"type":"integer","minimum":0,"maximum":65535},"minItems":1,"maxItems":4}},"#,
            r#""required":["colour","millis"],"additionalProperties":false}},"#,
            r#"{"name":"uptime","description":"Milliseconds since the start.","#,
            r#""inputSchema":{"type":"object","additionalProperties":false}},"#,
            r#"{"name":"search","description":"Looks for something.","inputSchema":{"type":"object","#,
            r#""properties":{"query":{"type":"string","pattern":"^[a-z]+$"}},"required":["query"]}}]}}"#,
        )]
    );
}

/// The name and arguments of a call, the text that answers it, and whether that is an error.
const CALLS: &[(&str, &str, &str, bool)] = &[
    ("set_led", r#"{"on":true}"#, "on", false),
    ("set_led", r#"{ "on" : false }"#, "off", false),
    ("set_led", "{}", "`on` is missing; it must be true or false", true),
    ("set_led", r#"{"on":"yes"}"#, r#"`on` must be true or false; got "yes""#, true),
    ("set_led", r#"{"on":true,"off":false}"#, r#"the tool takes no "off"; it takes `on`"#, true),
    ("read_log", "{}", "10 None", false),
    ("read_log", r#"{"lines":5.0,"containing":"a\u00e9\n"}"#, r#"5 Some("aé\n")"#, false),
    ("read_log", r#"{"containing":null}"#, "10 None", false),
    ("read_log", r#"{"lines":101}"#, "`lines` must be an integer from 1 to 100; got 101", true),
    ("read_log", r#"{"lines":0}"#, "`lines` must be an integer from 1 to 100; got 0", true),
    ("read_log", r#"{"containing":5}"#, "`containing` must be a string; got 5", true),
    ("blink", r#"{"colour":"red","millis":[1,65535]}"#, "Red [1, 65535]", false),
    ("blink", r#"{"millis":[7],"colour":"b\"\u006cue\\"}"#, "Blue [7]", false),
    (
        "blink",
        r#"{"colour":"red","millis":[1,-1]}"#,
        "`millis[1]` must be an integer from 0 to 65535; got -1",
        true,
    ),
    (
        "blink",
        r#"{"colour":"red","millis":[1,2,3,4,5]}"#,
        "`millis` must be a list of 1 to 4 items; got a list",
        true,
    ),
    ("uptime", "{}", "5", false),
    ("uptime", r#"{"a":1}"#, r#"the tool takes no "a"; it takes nothing"#, true),
    ("search", r#"{"query":"abc"}"#, "abc", false),
    ("search", r#"{"query":"ABC"}"#, "query must be a word in lower case", true),
];

#[test]
fn calls() {
    for version in ["2024-11-05", "2025-06-18", "2025-11-25"] {
        let lines: Vec<String> =
            (1..).zip(CALLS).map(|(id, (name, arguments, ..))| call(id, name, arguments)).collect();
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        let answered = answers(Board::TOOLS, version, &lines, run);
        assert_eq!(answered.len(), CALLS.len());
        for ((id, line), (.., text, is_error)) in (1..).zip(&answered).zip(CALLS) {
            let text = serde_json::to_string(text).unwrap();
            let expected = match (is_error, version) {
                (false, _) => format!(
                    r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":[{{"type":"text","text":{text}}}]}}}}"#
                ),
                (true, "2025-11-25") => format!(
                    r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":[{{"type":"text","text":{text}}}],"isError":true}}}}"#
                ),
                (true, _) => {
                    format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":-32602,"message":{text}}}}}"#)
                }
            };
            assert_eq!(*line, expected, "{version}");
        }
    }
}

/// No arguments at all are none, for a tool that needs none.
#[test]
fn left_out() {
    let line = |id: u32, name: &str, rest: &str| {
        format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"{name}"{rest}}}}}"#)
    };
    let (a, b, c) =
        (line(1, "uptime", ""), line(2, "read_log", r#","arguments":null"#), line(3, "set_led", ""));
    assert_eq!(
        answers(Board::TOOLS, "2025-11-25", &[&a, &b, &c], run),
        [
            r#"{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"5"}]}}"#,
            r#"{"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"10 None"}]}}"#,
            concat!(
                r#"{"jsonrpc":"2.0","id":3,"result":{"content":[{"type":"text","#,
                r#""text":"`on` is missing; it must be true or false"}],"isError":true}}"#
            ),
        ]
    );
}

/// The table may belong to more tools than the enum has: those are unknown to it.
#[test]
fn unknown() {
    #[derive(Tools)]
    enum Fewer {
        /// Milliseconds since the start.
        Uptime,
    }
    let run = |call: Call<'_>| {
        if let Some((Fewer::Uptime, reply)) = Fewer::decode(call) {
            reply.text("6").finish().unwrap();
        }
    };
    let calls = [call(1, "set_led", r#"{"on":true}"#), call(2, "nothing", "{}"), call(3, "uptime", "{}")];
    assert_eq!(
        answers(Board::TOOLS, "2025-11-25", &calls.each_ref().map(String::as_str), run),
        [
            r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"Unknown tool"}}"#,
            r#"{"jsonrpc":"2.0","id":2,"error":{"code":-32602,"message":"Unknown tool"}}"#,
            r#"{"jsonrpc":"2.0","id":3,"result":{"content":[{"type":"text","text":"6"}]}}"#,
        ]
    );
    let mut none = *b"{}";
    let read = Fewer::read("other", barewire::Args::from_json(&mut none).unwrap());
    assert!(matches!(read, Err(BadCall::Unknown)));
}
