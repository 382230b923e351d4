//! Decoding and encoding serde types, against serde_json.
#![cfg(feature = "serde")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
#![allow(clippy::arithmetic_side_effects, clippy::std_instead_of_core, clippy::alloc_instead_of_core)]

mod json_common;

use barewire::json::{DeError, Raw, SerError, Writer, from_raw, from_slice_in_place, to_sink};
use json_common::{cases, value};
use proptest::prelude::*;
use serde::de::value::BorrowedBytesDeserializer;
use serde::de::{DeserializeOwned, IgnoredAny};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt::Debug;

fn in_place<T: DeserializeOwned>(json: &str) -> Result<T, DeError> {
    from_slice_in_place(&mut json.as_bytes().to_vec())
}

fn encode<T: Serialize + ?Sized>(value: &T) -> Result<String, SerError> {
    let mut buffer = vec![0; 1 << 16];
    let mut out = Writer::new(&mut buffer);
    to_sink(&mut out, value)?;
    Ok(String::from_utf8(out.written().to_vec()).unwrap())
}

/// Both ways of decoding give what serde_json gives; errors need only be errors.
fn decodes_alike<T: DeserializeOwned + PartialEq + Debug>(json: &str) {
    let want = serde_json::from_str::<T>(json).ok();
    assert_eq!(in_place::<T>(json).ok(), want, "in place: {json}");
    assert_eq!(from_raw::<T>(Raw::new(json).unwrap()).ok(), want, "raw: {json}");
}

fn round_trips<T: Serialize + DeserializeOwned + PartialEq + Debug>(value: &T) {
    let json = encode(value).unwrap();
    // Where there is an exponent, serde_json writes its plus sign.
    assert_eq!(json, serde_json::to_string(value).unwrap().replace("e+", "e"));
    assert_eq!(&in_place::<T>(&json).unwrap(), value, "{json}");
}

#[derive(Serialize, Deserialize, PartialEq, Debug, Clone)]
enum External {
    Unit,
    New(u8),
    Tuple(u8, String),
    Struct { a: Option<bool> },
}

#[derive(Serialize, Deserialize, PartialEq, Debug, Clone)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Internal {
    Nothing,
    Text { text: String },
    Pair(Pair),
}

#[derive(Serialize, Deserialize, PartialEq, Debug, Clone)]
#[serde(tag = "t", content = "c")]
enum Adjacent {
    Unit,
    New(String),
    Tuple(i64, f64),
    Struct { x: char },
}

#[derive(Serialize, Deserialize, PartialEq, Debug, Clone)]
#[serde(untagged)]
enum Untagged {
    Number(i64),
    Float(f64),
    Text(String),
    List(Vec<Self>),
    Pair(Pair),
}

#[derive(Serialize, Deserialize, PartialEq, Debug, Clone, Default)]
struct Pair {
    left: i32,
    right: String,
}

#[derive(Serialize, Deserialize, PartialEq, Debug, Clone, Copy, Default)]
struct Unit;

#[derive(Serialize, Deserialize, PartialEq, Debug, Clone, Default)]
struct New(u16);

#[derive(Serialize, Deserialize, PartialEq, Debug, Clone)]
struct Everything {
    none: Option<u8>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    left_out: Option<Unit>,
    nested: Vec<Option<Pair>>,
    tuple: (i8, u64, f32, char),
    unit: Unit,
    new: New,
    numbers: BTreeMap<i32, bool>,
    flags: BTreeMap<bool, External>,
    internal: Vec<Internal>,
    adjacent: Vec<Adjacent>,
    untagged: Vec<Untagged>,
    #[serde(flatten)]
    flat: Pair,
    #[serde(flatten)]
    rest: BTreeMap<String, Untagged>,
}

fn everything() -> Everything {
    Everything {
        none: None,
        left_out: None,
        nested: vec![None, Some(Pair { left: -1, right: "\"\\\u{1}é😀".into() })],
        tuple: (i8::MIN, u64::MAX, 0.1, '\n'),
        unit: Unit,
        new: New(7),
        numbers: BTreeMap::from([(-1, true), (2, false)]),
        flags: BTreeMap::from([(true, External::Tuple(1, "x".into())), (false, External::Unit)]),
        internal: vec![
            Internal::Nothing,
            Internal::Text { text: "a\nb".into() },
            Internal::Pair(Pair { left: 3, right: String::new() }),
        ],
        adjacent: vec![
            Adjacent::Unit,
            Adjacent::New("n".into()),
            Adjacent::Tuple(i64::MIN, 1e300),
            Adjacent::Struct { x: 'é' },
        ],
        untagged: vec![
            Untagged::Number(-5),
            Untagged::Float(0.5),
            Untagged::Text("\t".into()),
            Untagged::List(vec![Untagged::List(vec![])]),
            Untagged::Pair(Pair::default()),
        ],
        flat: Pair { left: 9, right: "flat".into() },
        rest: BTreeMap::from([("other\"".to_string(), Untagged::Number(1))]),
    }
}

#[test]
fn every_kind_of_type_round_trips() {
    round_trips(&everything());
    for value in [
        External::Unit,
        External::New(1),
        External::Tuple(2, "\"".into()),
        External::Struct { a: Some(true) },
    ] {
        round_trips(&value);
    }
    round_trips(&(u128::MAX, i128::MIN, i128::MAX, u64::MAX, i64::MIN));
    round_trips(&(f32::MIN_POSITIVE, f64::MAX, 5e-324, -0.0, 1.0, 1e21));
    round_trips(&vec![(), ()]);
}

#[test]
fn borrows_strings_with_escapes() {
    #[derive(Deserialize)]
    struct Args<'a> {
        path: &'a str,
        #[serde(borrow)]
        more: BTreeMap<&'a str, Option<&'a [u8]>>,
    }
    let mut json =
        br#" { "p\u0061th" : "a\n\u00e9\"b" , "more":{"\\":"\u0001","x":null}, "z": [{"":"\""}] } "#.to_vec();
    let args: Args<'_> = from_slice_in_place(&mut json).unwrap();
    assert_eq!(args.path, "a\né\"b");
    assert_eq!(args.more, BTreeMap::from([("\\", Some(&b"\x01"[..])), ("x", None)]));
}

#[test]
fn without_mutation_only_owned_strings_can_have_escapes() {
    let value = Raw::new(r#""a\nb""#).unwrap();
    assert!(from_raw::<&str>(value).is_err());
    assert_eq!(from_raw::<String>(value).unwrap(), "a\nb");
    assert_eq!(from_raw::<&str>(Raw::new(r#""plain é""#).unwrap()).unwrap(), "plain é");
    let long = format!("\"{}\"", "\\n".repeat(300));
    let decoded = from_raw::<String>(Raw::new(&long).unwrap());
    assert_eq!(decoded.is_ok(), cfg!(feature = "alloc"));
}

#[test]
fn integers_take_any_number_that_is_one() {
    assert_eq!(in_place::<u8>("5.0").unwrap(), 5);
    assert_eq!(in_place::<i64>("-5e1").unwrap(), -50);
    assert_eq!(in_place::<i64>("-0").unwrap(), 0);
    assert_eq!(in_place::<u128>("340282366920938463463374607431768211455").unwrap(), u128::MAX);
    assert!(
        in_place::<u8>("256").is_err() && in_place::<u8>("-1").is_err() && in_place::<u8>("1.5").is_err()
    );
    assert!(
        in_place::<i64>("1e400").is_err()
            && in_place::<f64>("1e400").is_err()
            && in_place::<f32>("1e39").is_err()
    );
    assert!(in_place::<u8>("\"5\"").is_err() && in_place::<u8>("null").is_err());
}

#[test]
fn raw_values_pass_through() {
    #[derive(Serialize, Deserialize)]
    struct Envelope<'a> {
        #[serde(borrow)]
        id: Raw<'a>,
        params: Option<Raw<'a>>,
        list: Vec<Raw<'a>>,
    }
    let mut json = br#"{"id": 1.0 ,"params":{ "a" : "\u0041" },"list":[ "\n" , 1e9999]}"#.to_vec();
    let envelope: Envelope<'_> = from_slice_in_place(&mut json).unwrap();
    assert_eq!(envelope.id.as_str(), "1.0");
    assert_eq!(envelope.params.unwrap().as_str(), r#"{ "a" : "\u0041" }"#);
    assert_eq!(encode(&envelope).unwrap(), r#"{"id":1.0,"params":{ "a" : "\u0041" },"list":["\n",1e9999]}"#);
    let value = Raw::new(r#"{"a":[1,-2,0.5,"\u0041",true,null],"\n":{}}"#).unwrap();
    assert_eq!(serde_json::to_string(&value).unwrap(), r#"{"a":[1,-2,0.5,"A",true,null],"\n":{}}"#);
    assert!(serde_json::from_str::<Raw<'_>>("1").is_err());
    // Bytes from elsewhere, as a binary format gives them, are checked.
    let from_bytes = |bytes| Raw::deserialize(BorrowedBytesDeserializer::<DeError>::new(bytes));
    assert_eq!(from_bytes(b"[1]"), Ok(Raw::new("[1]").unwrap()));
    assert!(from_bytes(b"[1").is_err());
}

#[test]
fn errors_name_the_place() {
    let error = |json| in_place::<Everything>(json).unwrap_err().to_string();
    assert_eq!(
        error(r#"{"nested":[null,{"left":"a rather long text","right":1}]}"#),
        r#"nested[1].left: invalid type: string "a rather long te"…, expected i32"#
    );
    assert_eq!(error(r#"{"tuple":[1,2]}"#), "tuple: invalid length 2, expected a tuple of size 4");
    assert_eq!(error(r#"{"tuple":[1,2,3,"x",5]}"#), "tuple: more elements than expected");
    assert_eq!(error("{}"), "missing field `nested`");
    let error = in_place::<BTreeMap<String, BTreeMap<String, u8>>>(&format!(
        r#"{{"{}":{{"key":true}}}}"#,
        "long".repeat(20)
    ));
    assert!(error.unwrap_err().to_string().starts_with("…longlong"));
}

#[test]
fn refusals_of_the_encoder() {
    assert_eq!(encode(&f64::NAN), Err(SerError::NotFinite));
    assert_eq!(encode(&[f32::INFINITY]), Err(SerError::NotFinite));
    assert_eq!(encode(&BTreeMap::from([((1, 2), 3)])), Err(SerError::Key));
    assert_eq!(to_sink(&mut Writer::new(&mut [0; 4]), "long"), Err(SerError::Full));
    struct Never;
    impl Serialize for Never {
        fn serialize<S: serde::Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
            Err(serde::ser::Error::custom("never"))
        }
    }
    assert_eq!(encode(&Never).unwrap_err().to_string(), "never");
}

#[test]
fn bytes_that_are_no_json_are_refused_without_harm() {
    for json in
        ["", "{", "[1", "[1 2]", "{\"a\" 1}", "{\"a\":1 \"b\":2}", "\"", "\"\\", "tru", "1 2", ":", "]", "{]"]
    {
        let mut bytes = json.as_bytes().to_vec();
        assert!(from_slice_in_place::<serde_json::Value>(&mut bytes).is_err(), "{json}");
    }
    for json in ["{\"z\":}", "{\"z\":,\"left\":1,\"right\":\"\"}", "]"] {
        assert!(in_place::<Pair>(json).is_err(), "{json}");
        assert!(json.len() > 1 || in_place::<IgnoredAny>(json).is_err());
    }
    let mut deep = vec![b'['; 100_000];
    assert!(from_slice_in_place::<serde_json::Value>(&mut deep).is_err());
    assert!(from_slice_in_place::<IgnoredAny>(&mut deep.clone()).is_err());
}

#[test]
fn decodes_as_serde_json_does() {
    for json in [
        "{}",
        "[]",
        "null",
        "1",
        "-1",
        "1.5",
        "true",
        r#""Unit""#,
        r#"{"Unit":null}"#,
        r#"{"New":1}"#,
        r#"{"New":null}"#,
        r#"{"Tuple":[1,"x"]}"#,
        r#"{"Tuple":[1]}"#,
        r#"{"Struct":{"a":null}}"#,
        r#"{"Struct":[true]}"#,
        r#""New""#,
        r#"{"Unit":null,"New":1}"#,
        r#"{"type":"nothing"}"#,
        r#"{"text":"\u0041","type":"text"}"#,
        r#"{"type":"x"}"#,
        r#"{"left":1,"right":"\n","type":"pair"}"#,
        r#"{"t":"Unit"}"#,
        r#"{"c":"x","t":"New"}"#,
        r#"{"t":"Tuple","c":[1,2]}"#,
        r#"{"left":1,"right":"x","extra":[{}]}"#,
        r#"[1,"x"]"#,
        r#"[1,"x",2]"#,
        r#"{"left":1,"left":2,"right":""}"#,
        "\"a\"",
        "[[1],[\"\\\"\"]]",
        "18446744073709551615",
        "1e2",
        "-0",
        "[-0.0]",
        r#"{"1":true,"-2":false}"#,
        r#"{"x":true}"#,
        r#"{"true":"Unit"}"#,
        "18446744073709551616",
        "[1,2,[3,[4.5]]]",
    ] {
        decodes_alike::<External>(json);
        decodes_alike::<Internal>(json);
        decodes_alike::<Adjacent>(json);
        decodes_alike::<Untagged>(json);
        decodes_alike::<Pair>(json);
        decodes_alike::<(i32, String)>(json);
        decodes_alike::<BTreeMap<i32, bool>>(json);
        decodes_alike::<BTreeMap<bool, External>>(json);
        decodes_alike::<Option<String>>(json);
        decodes_alike::<Unit>(json);
        decodes_alike::<()>(json);
        decodes_alike::<bool>(json);
        decodes_alike::<char>(json);
        decodes_alike::<f64>(json);
        decodes_alike::<f32>(json);
        decodes_alike::<serde_json::Value>(json);
        assert!(in_place::<IgnoredAny>(json).is_ok());
    }
}

proptest! {
    #![proptest_config(cases(400))]

    #[test]
    fn any_value_round_trips(value in value()) {
        let json = encode(&value).unwrap();
        prop_assert_eq!(&json, &serde_json::to_string(&value).unwrap());
        prop_assert_eq!(&in_place::<serde_json::Value>(&json).unwrap(), &value);
        let pretty = serde_json::to_string_pretty(&value).unwrap();
        prop_assert_eq!(&in_place::<serde_json::Value>(&pretty).unwrap(), &value);
        // Strings that have escapes need the scratch or the heap.
        if cfg!(feature = "alloc") {
            prop_assert_eq!(&from_raw::<serde_json::Value>(Raw::new(&pretty).unwrap()).unwrap(), &value);
        }
        // Structurally, through another serializer.
        prop_assert_eq!(&serde_json::to_value(Raw::new(&pretty).unwrap()).unwrap(), &value);
    }

    #[test]
    fn floats_round_trip(value in any::<f64>(), single in any::<f32>()) {
        prop_assume!(value.is_finite() && single.is_finite());
        let json = encode(&(value, single)).unwrap();
        let (back, back_single) = in_place::<(f64, f32)>(&json).unwrap();
        prop_assert_eq!((back.to_bits(), back_single.to_bits()), (value.to_bits(), single.to_bits()));
    }

    #[test]
    fn garbage_never_panics(mut bytes in prop::collection::vec(prop::sample::select(&b"{}[]\":,\\u0123ntf -.e\xc3\xa9"[..]), 0..60)) {
        let _ = from_slice_in_place::<Everything>(&mut bytes.clone());
        let _ = from_slice_in_place::<External>(&mut bytes.clone());
        let _ = from_slice_in_place::<serde_json::Value>(&mut bytes);
    }
}

/// Text that was not checked is checked on the way: whatever is no JSON is refused, whatever is asked for.
mod unchecked {
    use super::*;
    use json_common::{is_valid, mutated, suite, valid};

    fn agrees(text: &[u8]) {
        let shown = || String::from_utf8_lossy(text).into_owned();
        let valid = is_valid(text);
        let ignored = from_slice_in_place::<IgnoredAny>(&mut text.to_vec());
        assert_eq!(ignored.is_ok(), valid, "ignored: {}", shown());
        let raw = from_slice_in_place::<Raw<'_>>(&mut text.to_vec()).is_ok();
        assert_eq!(raw, valid, "raw: {}", shown());
        let value = from_slice_in_place::<serde_json::Value>(&mut text.to_vec()).ok();
        // What serde_json refuses besides are numbers that are too large, as we do, and depths.
        assert!(valid || value.is_none(), "value: {}", shown());
        if let Ok(theirs) = serde_json::from_slice::<serde_json::Value>(text) {
            assert_eq!(value.map(but_numbers), Some(but_numbers(theirs)), "value: {}", shown());
        }
    }

    /// Of long floats serde_json may miss the last digit.
    fn but_numbers(value: serde_json::Value) -> serde_json::Value {
        use serde_json::Value::{Array, Null, Number, Object};
        match value {
            Number(_) => Null,
            Array(all) => all.into_iter().map(but_numbers).collect(),
            Object(all) => all.into_iter().map(|(key, value)| (key, but_numbers(value))).collect(),
            value => value,
        }
    }

    proptest! {
        #![proptest_config(cases(500))]

        #[test]
        fn agrees_on_what_was_changed(text in mutated()) {
            agrees(&text);
        }

        #[test]
        fn agrees_on_what_was_cut_off(text in valid()) {
            for end in 0..=text.len() {
                agrees(&text[..end]);
            }
        }

        /// Long strings, in which the blocks begin; what follows them must stay as it was.
        #[test]
        fn strings_of_any_length_and_escapes(
            parts in prop::collection::vec(
                (0..140usize, prop::sample::select(&["\\n", "\\\\", "\\\"", "\\/", "\\u00e9", "é", "\\ud83d\\ude00", "語", "\\u", "\\x", "\"", "\u{1}", "\\ud800"][..])),
                0..30,
            ),
            rare in 0..8usize,
        ) {
            // Mostly without what is wrong.
            let body: String = parts
                .iter()
                .map(|(run, end)| "x".repeat(*run) + if rare > 0 && matches!(*end, "\\u" | "\\x" | "\"" | "\u{1}" | "\\ud800") { "y" } else { end })
                .collect();
            let text = format!("[\"{body}\",1,\"{body}\"]");
            agrees(text.as_bytes());
        }
    }

    #[test]
    fn agrees_on_the_suite() {
        for (name, text) in suite().unwrap_or_default() {
            if !name.starts_with("i_") {
                agrees(&text);
            }
        }
    }
}
