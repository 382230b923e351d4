//! A tool's arguments from the command line.
//!
//! `key=value` is typed by the tool's `inputSchema`, `key:=JSON` is taken as it is, `key=@file` reads a file, and
//! `--args` gives the whole object. What was written as a number is sent digit for digit.

mod convert;
pub(crate) mod schema;

use std::fs;
use std::io::Read;

use barewire::json::{Kind, Raw, write_str};

use crate::failure::Failure;
use crate::text::Buffer;

/// What the command line gives.
#[derive(Debug, Default)]
pub(crate) struct Given {
    /// `key=value`, `key:=JSON`, `key=@file`, or one JSON object.
    pub(crate) pairs: Vec<String>,
    /// `--args`: a JSON object, `@file`, or `@-` for stdin.
    pub(crate) args: Option<String>,
}

/// The argument object under construction: values are JSON text.
type Members = Vec<(String, Value)>;

enum Value {
    /// Final.
    Json(String),
    /// Elements of an array so far: the same key may come again.
    List(Vec<String>),
}

impl Given {
    /// The whole object from `--args`, checked; `None` where it was not given.
    ///
    /// Called before a server is started, so that a bad command line sends nothing.
    pub(crate) fn whole(&self) -> Result<Option<String>, Failure> {
        let objects: Vec<&String> =
            self.pairs.iter().filter(|pair| pair.trim_start().starts_with('{')).collect();
        let source = match (&self.args, objects.as_slice()) {
            (None, []) => return Ok(None),
            (Some(args), []) => args,
            (None, [object]) => object,
            _ => return Err(Failure::usage("the arguments object was given twice")),
        };
        let text = match source.strip_prefix('@') {
            Some(file) => read_text("--args", file)?,
            None => source.clone(),
        };
        check_object(&text)?;
        Ok(Some(text.trim_ascii().to_owned()))
    }

    /// Refuses pairs that are none, before a server is started.
    pub(crate) fn check(&self) -> Result<(), Failure> {
        for pair in &self.pairs {
            if !pair.trim_start().starts_with('{') {
                split(pair)?;
            }
        }
        Ok(())
    }

    /// The arguments as one JSON object, typed by the tool's schema where it is known.
    pub(crate) fn object(&self, whole: Option<&str>, schema: Option<Raw<'_>>) -> Result<String, Failure> {
        let mut members = Members::new();
        for (key, value) in whole.and_then(Raw::new).into_iter().flat_map(Raw::members) {
            let key = key.to_string();
            members.retain(|(known, _)| *known != key);
            members.push((key, Value::Json(value.as_str().to_owned())));
        }
        let fixed = members.len();
        for pair in self.pairs.iter().filter(|pair| !pair.trim_start().starts_with('{')) {
            add(&mut members, fixed, pair, schema)?;
        }
        Ok(join(&members))
    }
}

enum How<'a> {
    Typed(&'a str),
    Json(&'a str),
    File(&'a str),
}

/// A pair's key, and how its value is meant.
fn split(pair: &str) -> Result<(&str, How<'_>), Failure> {
    let (key, value) = pair.split_once('=').ok_or_else(|| {
        Failure::usage(format!(
            "`{pair}` is no argument: write key=value, key:=JSON or key=@file (or --args JSON)"
        ))
    })?;
    let (key, how) = match key.strip_suffix(':') {
        Some(key) => {
            if Raw::new(value).is_none() {
                let at = Raw::from_bytes(value.as_bytes()).err().map_or(0, |error| error.at);
                return Err(Failure::usage(format!(
                    "{key}:= needs JSON, and `{value}` is none at byte {at}"
                )));
            }
            (key, How::Json(value.trim_ascii()))
        }
        None => match value.strip_prefix('@') {
            Some(file) => (key, How::File(file)),
            None => (key, How::Typed(value)),
        },
    };
    if key.is_empty() {
        return Err(Failure::usage(format!("`{pair}` has no key before the =")));
    }
    Ok((key, how))
}

fn add(members: &mut Members, fixed: usize, pair: &str, schema: Option<Raw<'_>>) -> Result<(), Failure> {
    let (key, how) = split(pair)?;
    let root = schema.unwrap_or(Raw::EMPTY_OBJECT);
    let property = root.get("properties").and_then(|properties| properties.get(key));
    let types = convert::Types::of(property, root);
    let value = match how {
        How::Json(json) => Value::Json(json.to_owned()),
        How::Typed(text) => types.convert(key, text)?,
        How::File(file) if types.wants_base64() => {
            Value::Json(quoted(&crate::capture::base64::encode(&bytes(key, file)?)))
        }
        How::File(file) => types.convert(key, &read_text(key, file)?)?,
    };
    match (members.iter_mut().skip(fixed).find(|(known, _)| known == key), value) {
        (Some((_, Value::List(list))), Value::List(more)) => list.extend(more),
        (Some(_), _) => return Err(Failure::usage(format!("`{key}` was given twice"))),
        (None, value) => {
            // A pair wins over the same member of --args.
            match members.iter_mut().find(|(known, _)| known == key) {
                Some((_, known)) => *known = value,
                None => members.push((key.to_owned(), value)),
            }
        }
    }
    Ok(())
}

fn join(members: &Members) -> String {
    let mut text = String::from("{");
    for (i, (key, value)) in members.iter().enumerate() {
        if i > 0 {
            text.push(',');
        }
        text.push_str(&quoted(key));
        text.push(':');
        match value {
            Value::Json(json) => text.push_str(json),
            Value::List(list) => text.push_str(&format!("[{}]", list.join(","))),
        }
    }
    text.push('}');
    text
}

/// `text` as a JSON string.
fn quoted(text: &str) -> String {
    let mut buffer = Buffer::default();
    write_str(&mut buffer, text);
    String::from_utf8_lossy(&buffer.0).into_owned()
}

/// The arguments must be one JSON object; says where they are not.
fn check_object(text: &str) -> Result<(), Failure> {
    let lead = text.len() - text.trim_ascii_start().len();
    match Raw::from_bytes(text.as_bytes()) {
        Ok(raw) if raw.kind() == Kind::Object => Ok(()),
        Ok(raw) => {
            let found = match raw.kind() {
                Kind::Array => "an array",
                Kind::String => "a string",
                Kind::Number => "a number",
                Kind::Bool => "a boolean",
                Kind::Null | Kind::Object => "null",
            };
            Err(Failure::usage(format!(
                "--args must be a JSON object, but at {} {found} begins",
                place(text, lead)
            )))
        }
        Err(error) => Err(Failure::usage(format!(
            "--args must be a JSON object, and is no JSON at {}",
            place(text, error.at)
        ))),
    }
}

fn place(text: &str, at: usize) -> String {
    let before = &text.as_bytes()[..at.min(text.len())];
    let line = before.iter().filter(|&&b| b == b'\n').count() + 1;
    let column = before.rsplit(|&b| b == b'\n').next().map_or(0, <[u8]>::len) + 1;
    format!("line {line}, column {column} (byte {at})")
}

fn read_text(key: &str, file: &str) -> Result<String, Failure> {
    String::from_utf8(bytes(key, file)?)
        .map_err(|_| Failure::usage(format!("{key}: the file {file} is not UTF-8 text")))
}

fn bytes(key: &str, file: &str) -> Result<Vec<u8>, Failure> {
    let read = if file == "-" {
        let mut all = Vec::new();
        std::io::stdin().read_to_end(&mut all).map(|_| all)
    } else {
        fs::read(file)
    };
    read.map_err(|error| Failure::usage(format!("{key}: can't read {file}: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCHEMA: &str = r##"{"type":"object","properties":{
        "s":{"type":"string"},"n":{"type":"number"},"i":{"type":"integer"},"b":{"type":"boolean"},
        "a":{"type":"array","items":{"type":"integer"}},"o":{"type":"object"},"z":{"type":"null"},
        "sn":{"type":["string","null"]},"ni":{"anyOf":[{"type":"integer"},{"type":"null"}]},
        "e":{"enum":["1",2,true]},"r":{"$ref":"#/$defs/R"},"is":{"oneOf":[{"type":"integer"},{"type":"string"}]},
        "any":{},"c":{"const":"x"},"as":{"type":"array"},"p":{"properties":{"q":{}}},"t":true},
        "$defs":{"R":{"type":"boolean"}}}"##;

    fn typed(pairs: &[&str]) -> Result<String, Failure> {
        let given = Given { pairs: pairs.iter().map(|&p| p.into()).collect(), args: None };
        let whole = given.whole()?;
        given.object(whole.as_deref(), Raw::new(SCHEMA))
    }

    #[test]
    fn values_are_typed_by_the_schema() {
        let table = [
            ("s=5", r#"{"s":"5"}"#),
            ("s=", r#"{"s":""}"#),
            ("s=a=b", r#"{"s":"a=b"}"#),
            ("s=null", r#"{"s":"null"}"#),
            ("n=1.50", r#"{"n":1.50}"#),
            ("n=-122.4194", r#"{"n":-122.4194}"#),
            ("n=12345678901234567890", r#"{"n":12345678901234567890}"#),
            ("i=7", r#"{"i":7}"#),
            ("i=1e3", r#"{"i":1e3}"#),
            ("b=true", r#"{"b":true}"#),
            ("a=[1,2]", r#"{"a":[1,2]}"#),
            ("a=1", r#"{"a":[1]}"#),
            ("as=x", r#"{"as":["x"]}"#),
            (r#"o={"k": 1}"#, r#"{"o":{"k": 1}}"#),
            ("z=null", r#"{"z":null}"#),
            ("sn=null", r#"{"sn":null}"#),
            ("sn=x", r#"{"sn":"x"}"#),
            ("sn:=\"null\"", r#"{"sn":"null"}"#),
            ("ni=4", r#"{"ni":4}"#),
            ("ni=null", r#"{"ni":null}"#),
            ("e=1", r#"{"e":"1"}"#),
            ("e=2", r#"{"e":2}"#),
            ("e=true", r#"{"e":true}"#),
            ("r=false", r#"{"r":false}"#),
            ("is=12", r#"{"is":12}"#),
            ("is=12a", r#"{"is":"12a"}"#),
            ("any=12", r#"{"any":12}"#),
            ("any=012", r#"{"any":"012"}"#),
            ("any=x", r#"{"any":"x"}"#),
            ("t=x", r#"{"t":"x"}"#),
            ("c=x", r#"{"c":"x"}"#),
            ("p={}", r#"{"p":{}}"#),
            ("unknown=5", r#"{"unknown":5}"#),
            ("s:=5", r#"{"s":5}"#),
            ("x:=null", r#"{"x":null}"#),
            ("\u{e9}=\"", r#"{"é":"\""}"#),
        ];
        for (pair, expected) in table {
            assert_eq!(typed(&[pair]).unwrap(), expected, "{pair}");
        }
    }

    #[test]
    fn what_does_not_fit_is_a_usage_error() {
        for bad in [
            "n=x", "n=", "n=0x10", "i=1.5", "b=yes", "o=x", "z=0", "e=3", "r=1", "a=x", "novalue", "=x",
            "s:=x",
        ] {
            let failure = typed(&[bad]).unwrap_err();
            assert_eq!(failure.code, crate::failure::code::USAGE, "{bad}");
        }
        assert!(typed(&["s=1", "s=2"]).is_err());
        assert!(typed(&["b=yes"]).unwrap_err().message.contains("b:="));
    }

    #[test]
    fn lists_grow_by_repeating_the_key() {
        assert_eq!(typed(&["a=1", "s=x", "a=2", "a=[3]"]).unwrap(), r#"{"a":[1,2,3],"s":"x"}"#);
    }

    #[test]
    fn files_are_read_as_the_schema_wants_them() {
        let schema = r#"{"properties":{"s":{"type":"string"},"n":{"type":"integer"},"o":{"type":"object"},
            "b":{"type":"string","contentEncoding":"base64"}}}"#;
        let file = std::env::temp_dir().join(format!("barewire-argument-{}", std::process::id()));
        let from_file = |key: &str, bytes: &[u8]| {
            fs::write(&file, bytes).unwrap();
            let given = Given { pairs: vec![format!("{key}=@{}", file.display())], args: None };
            given.object(None, Raw::new(schema)).map_err(|failure| failure.code)
        };
        assert_eq!(from_file("s", b"a\n\"b\"\n"), Ok(r#"{"s":"a\n\"b\"\n"}"#.into()));
        assert_eq!(from_file("n", b"42\n"), Ok(r#"{"n":42}"#.into()));
        assert_eq!(from_file("o", b" {\"k\": 1} "), Ok(r#"{"o":{"k": 1}}"#.into()));
        assert_eq!(from_file("b", b"\xff\x00"), Ok(r#"{"b":"/wA="}"#.into()));
        assert_eq!(from_file("s", b"\xff"), Err(2));
        fs::remove_file(file).unwrap();
    }

    #[test]
    fn a_whole_object_is_taken_as_it_is() {
        assert_eq!(typed(&[r#"{"text": "a=b", "n": 1.0}"#, "n=2"]).unwrap(), r#"{"text":"a=b","n":2}"#);
        let given = |args: &str| Given { pairs: vec![], args: Some(args.into()) }.whole();
        assert_eq!(given(r#" {"x":null} "#).unwrap().as_deref(), Some(r#"{"x":null}"#));
        for (bad, place) in
            [("[1]", "byte 0"), ("null", "byte 0"), ("{", "byte 1"), ("{\n \"a\":x}", "line 2, column 6")]
        {
            let failure = given(bad).unwrap_err();
            assert_eq!(failure.code, 2);
            assert!(failure.message.contains(place), "{bad}: {}", failure.message);
        }
    }
}
