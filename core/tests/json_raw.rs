//! Views of valid text: kinds, numbers, strings, members.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
#![allow(clippy::arithmetic_side_effects, clippy::std_instead_of_core, clippy::alloc_instead_of_core)]

use barewire::json::{Array, Kind, Object, Raw, Sink as _, Writer, escaped_len, unescape, write_str};

fn raw(text: &str) -> Raw<'_> {
    Raw::new(text).unwrap_or_else(|| panic!("{text} is not valid"))
}

#[test]
fn kinds_and_scalars() {
    let kinds = [
        ("null", Kind::Null),
        ("true", Kind::Bool),
        ("-1", Kind::Number),
        (r#""""#, Kind::String),
        ("[]", Kind::Array),
        ("{}", Kind::Object),
    ];
    for (text, kind) in kinds {
        assert_eq!(raw(text).kind(), kind);
    }
    assert!(Raw::NULL.is_null() && !Raw::TRUE.is_null());
    assert_eq!(
        (Raw::TRUE.as_bool(), Raw::FALSE.as_bool(), raw("0").as_bool()),
        (Some(true), Some(false), None)
    );
    assert_eq!(raw(" \n[ 1 ]\t").as_str(), "[ 1 ]");
}

#[test]
fn integers_without_loss() {
    let cases = [
        ("0", Some(0)),
        ("-0", Some(0)),
        ("-0.0e99999999999999999999999999999999999999999", Some(0)),
        ("5.0", Some(5)),
        ("5e0", Some(5)),
        ("50E-1", Some(5)),
        ("0.05e+2", Some(5)),
        ("1200.0e-2", Some(12)),
        ("5.5", None),
        ("5e-1", None),
        ("9223372036854775807", Some(i64::MAX)),
        ("-9223372036854775808", Some(i64::MIN)),
        ("9223372036854775808", None),
        ("9223372036854775807.000", Some(i64::MAX)),
        ("1e18", Some(1_000_000_000_000_000_000)),
        ("1e19", None),
        ("1e99999999999999999999999999999999999999999", None),
        ("\"5\"", None),
        ("null", None),
    ];
    for (text, value) in cases {
        assert_eq!(raw(text).as_i64(), value, "{text}");
    }
    assert_eq!(raw("18446744073709551615").as_u64(), Some(u64::MAX));
    assert_eq!(raw("18446744073709551616").as_u64(), None);
    assert_eq!(raw("-1").as_u64(), None);
    assert_eq!(raw("1e400").as_f64(), None);
    assert_eq!(raw("0.1").as_f64(), Some(0.1));
    for text in ["1", "1.0", "1e3", "123456789012345678901234567890", "0e-5", "100e-2"] {
        assert!(raw(text).is_integer(), "{text}");
    }
    for text in ["1.5", "1e-1", "\"1\"", "1e-99999999999999999999999999999999999999999"] {
        assert!(!raw(text).is_integer(), "{text}");
    }
}

#[test]
fn members_and_elements() {
    let value = raw(r#"{ "a" : [ 1 , "]," , {"b":[]} ] ,"\u0061":2, "c\"}":"\\" }"#);
    assert_eq!(value.members().count(), 3);
    assert_eq!(value.get("a").and_then(Raw::as_i64), Some(2));
    assert!(value.get(r#"c"}"#).is_some_and(|v| v.is("\\")));
    let list: Vec<_> = value.members().next().unwrap().1.elements().map(Raw::as_str).collect();
    assert_eq!(list, ["1", r#""],""#, r#"{"b":[]}"#]);
    assert_eq!(raw("[]").elements().count() + raw("{ }").members().count() + raw("7").members().count(), 0);
}

#[test]
fn ids_are_the_same_by_value_within_a_type() {
    let same = [("5", "5.0"), ("5", "500e-2"), ("-0", "0"), (r#""a/""#, r#""\u0061\/""#), ("null", "null")];
    for (a, b) in same {
        assert!(raw(a).same_id(raw(b)) && raw(b).same_id(raw(a)), "{a} {b}");
    }
    let differ = [
        ("5", r#""5""#),
        ("5", "-5"),
        ("1", "10"),
        (r#""a""#, r#""A""#),
        ("null", r#""null""#),
        ("0", "false"),
    ];
    for (a, b) in differ {
        assert!(!raw(a).same_id(raw(b)) && !raw(b).same_id(raw(a)), "{a} {b}");
    }
    assert!(raw("9007199254740993").same_id(raw("9007199254740993.0")));
    assert!(!raw("9007199254740993").same_id(raw("9007199254740992")));
}

#[test]
fn lone_surrogates_become_the_replacement_character() {
    for (text, decoded) in [
        (r#""\ud800""#, "\u{fffd}"),
        (r#""\udc00x""#, "\u{fffd}x"),
        (r#""\ud800\ud83d\ude00""#, "\u{fffd}😀"),
        (r#""\ud800\u0041""#, "\u{fffd}A"),
        (r#""\ud800\n""#, "\u{fffd}\n"),
    ] {
        let value = raw(text);
        assert!(value.is(decoded), "{text}");
        let body = value.as_string().unwrap();
        assert_eq!(body.to_string(), decoded);
        assert_eq!(unescape(&mut body.raw().to_vec()), decoded);
        assert_eq!(body.decode_into(&mut [0; 64]), Some(decoded));
        assert_eq!(body.decode_into(&mut vec![0; decoded.len()]), Some(decoded));
        assert_eq!(body.decode_into(&mut vec![0; decoded.len() - 1]), None);
    }
}

#[test]
fn writing_what_does_not_fit_can_be_undone() {
    let mut buffer = [0; 16];
    let mut out = Writer::new(&mut buffer);
    assert!(out.put(b"x"));
    let mark = out.mark();
    let mut object = Object::new(&mut out);
    object.str("key", "long enough to overflow").int("n", 1);
    assert!(!object.ok() && !object.end() && out.is_full());
    out.roll_back(mark);
    let mut array = Array::new(&mut out);
    array.float(1.5).uint(u64::from(u8::MAX)).raw(raw("[\n1\r\n]"));
    assert!(!array.end() && out.is_full());
    out.roll_back(mark);
    let mut array = Array::new(&mut out);
    array.display(format_args!("{}\"", 1)).float(f64::NAN);
    assert!(!array.end());
    out.roll_back(mark);
    let mut array = Array::new(&mut out);
    array.raw(raw("[\n1\r\n]")).null();
    assert!(array.end());
    assert_eq!(out.written(), b"x[[ 1  ],null]");
}

#[test]
fn every_short_escape_and_every_control_character() {
    let value = raw(r#""\"\\\/\b\f\n\r\t""#);
    let text = "\"\\/\u{8}\u{c}\n\r\t";
    assert!(value.is(text));
    assert_eq!(value.as_string().unwrap().to_string(), text);
    assert_eq!(unescape(&mut value.as_string().unwrap().raw().to_vec()), text);
    for c in '\0'..='\u{80}' {
        let mut buffer = [0; 8];
        let mut out = Writer::new(&mut buffer);
        assert!(write_str(&mut out, c.encode_utf8(&mut [0; 4])));
        assert_eq!(out.written(), serde_json::to_string(&c).unwrap().as_bytes());
        assert_eq!(out.len(), escaped_len(c.encode_utf8(&mut [0; 4])) + 2);
    }
}

#[test]
fn indented_containers_are_skipped_whole() {
    for spaces in 0..40 {
        let text =
            format!("[[\n{0}\"]\\\"]\",\r\n{0}{{\"}}\":\n{0}[]\n{0}}}\n{0}],\n{0}2]", " ".repeat(spaces));
        let lens: Vec<_> = raw(&text).elements().map(|e| e.as_str().lines().count()).collect();
        assert_eq!(lens, [6, 1], "{text}");
        assert_eq!(raw(&text).elements().next().unwrap().elements().count(), 2);
    }
}
