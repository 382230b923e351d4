//! Whatever the text: the scanner against serde_json, views against values, writers against readers.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
#![allow(clippy::arithmetic_side_effects, clippy::std_instead_of_core, clippy::alloc_instead_of_core)]

mod json_common;

use barewire::json::{
    Array, Kind, Object, Raw, ScanFault, Sink as _, Step, Writer, escaped_len, unescape, unescape_in_place,
    write_f64, write_i64, write_raw, write_str, write_str_part, write_u64,
};
use json_common::{cases, is_valid, mutated, same_at_every_split, steps, text, valid, value};
use proptest::prelude::*;
use serde_json::Value;

fn parsed(bytes: &[u8]) -> Value {
    serde_json::from_slice(bytes).unwrap_or_else(|e| panic!("{e}: {}", String::from_utf8_lossy(bytes)))
}

fn written(out: &Writer<'_>) -> String {
    String::from_utf8(out.written().to_vec()).unwrap()
}

/// What a view says, as a value, by way of every accessor.
fn seen(raw: Raw<'_>) -> Value {
    match raw.kind() {
        Kind::Null => Value::Null,
        Kind::Bool => raw.as_bool().unwrap().into(),
        Kind::String => {
            let body = raw.as_string().unwrap();
            let text = body.to_string();
            assert!(body.is(&text) && body == text.as_str() && !body.is(&format!("{text}.")));
            assert_eq!(body.chars().collect::<String>(), text);
            assert_eq!(unescape(&mut body.raw().to_vec()), text.as_str());
            assert_eq!(body.plain().is_some(), !body.raw().contains(&b'\\'));
            assert_eq!(body.decode_into(&mut vec![0; text.len()]), Some(text.as_str()));
            text.into()
        }
        Kind::Array => raw.elements().map(seen).collect(),
        Kind::Object => {
            for (key, _) in raw.members() {
                let last = raw.members().filter(|(k, _)| k.to_string() == key.to_string()).last().unwrap();
                assert_eq!(raw.get(&key.to_string()), Some(last.1));
            }
            Value::Object(raw.members().map(|(key, value)| (key.to_string(), seen(value))).collect())
        }
        Kind::Number => match (raw.as_u64(), raw.as_i64(), raw.as_f64()) {
            _ if raw.as_bytes().contains(&b'.') => raw.as_f64().into(),
            (Some(n), ..) => n.into(),
            (_, Some(n), _) => n.into(),
            (.., n) => n.into(),
        },
    }
}

proptest! {
    #![proptest_config(cases(400))]

    #[test]
    fn the_scanner_agrees_with_serde_json_on_valid_texts(text in valid()) {
        let (_, end) = same_at_every_split(&text);
        prop_assert_eq!(end.is_ok(), is_valid(&text));
    }

    #[test]
    fn the_scanner_agrees_with_serde_json_on_mutations(text in mutated()) {
        let (_, end) = same_at_every_split(&text);
        prop_assert_eq!(end.is_ok(), is_valid(&text), "{}", String::from_utf8_lossy(&text));
        match end {
            Ok(span) => prop_assert_eq!(Raw::from_bytes(&text).unwrap().as_bytes(), &text[span]),
            Err(error) => {
                prop_assert_eq!(Raw::from_bytes(&text), Err(error));
                prop_assert!(error.at <= text.len());
                if error.fault == ScanFault::Utf8 {
                    // What stands before it is UTF-8 but for an unfinished character, and the byte does not fit.
                    let before = std::str::from_utf8(&text[..error.at]);
                    prop_assert!(before.is_ok() || before.is_err_and(|e| e.error_len().is_none()));
                    prop_assert!(std::str::from_utf8(&text[..=error.at]).is_err_and(|e| e.error_len().is_some()));
                }
            }
        }
    }

    #[test]
    fn steps_are_the_members(value in value(), pretty in any::<bool>()) {
        let text = if pretty { serde_json::to_string_pretty(&value).unwrap() } else { value.to_string() };
        // So that an outermost number ends.
        let text = text + "\n";
        let (mut keys, mut values) = (Vec::new(), Vec::new());
        let (steps, end) = steps([text.as_bytes()]);
        let Some((&Step::End { start, end: over }, inner)) = steps.split_last() else { panic!("no end") };
        prop_assert_eq!(end, Ok(start..over));
        for step in inner {
            match *step {
                Step::Key { start, end } => keys.push(parsed(&text.as_bytes()[start - 1..=end])),
                Step::Value { start, end } => values.push(parsed(&text.as_bytes()[start..end])),
                other => panic!("{other:?}"),
            }
        }
        match &value {
            Value::Object(map) => {
                prop_assert_eq!(keys, map.keys().map(|k| Value::from(k.as_str())).collect::<Vec<_>>());
                prop_assert_eq!(values, map.values().cloned().collect::<Vec<_>>());
            }
            Value::Array(list) => prop_assert_eq!((keys, &values), (vec![], list)),
            _ => prop_assert!(inner.is_empty()),
        }
    }

    #[test]
    fn views_say_what_serde_json_says(text in valid()) {
        if let Ok(raw) = Raw::from_bytes(&text) && let Ok(value) = serde_json::from_slice::<Value>(&text) {
            prop_assert_eq!(seen(raw), value);
            prop_assert_eq!(raw.as_str().as_bytes(), raw.as_bytes());
            // Compared by value, ids survive being written anew.
            let again = serde_json::to_string(&parsed(&text)).unwrap();
            if !matches!(raw.kind(), Kind::Array | Kind::Object) {
                prop_assert!(raw.same_id(Raw::new(&again).unwrap()));
            }
        }
    }

    #[test]
    fn strings_come_back(text in text()) {
        let mut buffer = vec![0; 6 * text.len() + 2];
        let mut out = Writer::new(&mut buffer);
        prop_assert!(write_str(&mut out, &text));
        prop_assert_eq!(written(&out), serde_json::to_string(&text).unwrap());
        prop_assert_eq!(out.len(), escaped_len(&text) + 2);
        let mut body = out.written()[1..out.len() - 1].to_vec();
        prop_assert!(Raw::from_bytes(out.written()).unwrap().is(&text));
        prop_assert_eq!(unescape(&mut body), text.as_str());
        let mut exact = vec![0; escaped_len(&text)];
        prop_assert!(write_str_part(&mut Writer::new(&mut exact), &text));
        let mut short = vec![0; escaped_len(&text).saturating_sub(1)];
        prop_assert_eq!(write_str_part(&mut Writer::new(&mut short), &text), text.is_empty());
    }

    #[test]
    fn any_escapes_are_undone(units in prop::collection::vec(
        (prop_oneof![any::<u16>(), 0xd700..0xe010u16, 0x20..0x80u16], any::<bool>(), any::<bool>()), 0..80,
    )) {
        let (mut body, mut meant) = (String::new(), Vec::new());
        for (unit, escaped, upper) in units {
            meant.push(unit);
            match char::from_u32(unit.into()) {
                Some(c) if !escaped && c >= ' ' && c != '"' && c != '\\' => body.push(c),
                _ if upper => body.push_str(&format!("\\u{unit:04X}")),
                _ => body.push_str(&format!("\\u{unit:04x}")),
            }
        }
        let meant = String::from_utf16_lossy(&meant);
        let quoted = format!("\"{body}\"");
        prop_assert_eq!(seen(Raw::new(&quoted).unwrap()), Value::from(meant.as_str()));
        let value = Raw::new(&quoted).unwrap();
        prop_assert_eq!(format!("{:?}", value.as_string().unwrap()), format!("{meant:?}"));
        let mut bytes = body.into_bytes();
        let len = unescape_in_place(&mut bytes);
        prop_assert_eq!(&bytes[..len], meant.as_bytes());
    }

    #[test]
    fn unescaping_garbage_never_panics(mut bytes in prop::collection::vec(prop::sample::select(&b"\\\\u0dD8cen\"\xe9"[..]), 0..60)) {
        let before = bytes.len();
        prop_assert!(unescape_in_place(&mut bytes.clone()) <= before);
        unescape(&mut bytes);
    }

    #[test]
    fn numbers_come_back(i in any::<i64>(), u in any::<u64>(), f in any::<f64>()) {
        let mut buffer = [0; 128];
        let mut out = Writer::new(&mut buffer);
        prop_assert!(write_i64(&mut out, i));
        prop_assert_eq!(written(&out), i.to_string());
        prop_assert_eq!(Raw::from_bytes(out.written()).unwrap().as_i64(), Some(i));
        let mut out = Writer::new(&mut buffer);
        prop_assert!(write_u64(&mut out, u));
        prop_assert_eq!(written(&out), u.to_string());
        prop_assert_eq!(Raw::from_bytes(out.written()).unwrap().as_u64(), Some(u));
        let mut out = Writer::new(&mut buffer);
        prop_assert_eq!(write_f64(&mut out, f), f.is_finite());
        if f.is_finite() {
            prop_assert_eq!(Raw::from_bytes(out.written()).unwrap().as_f64().map(f64::to_bits), Some(f.to_bits()));
        } else {
            prop_assert!(out.is_empty() && !out.is_full());
        }
    }
}

/// A number by naive long-hand: the sign, the digits before the point and those behind it, without zeros around.
fn long_hand(text: &str) -> (bool, String, String) {
    let (negative, text) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let (mut whole, mut fraction) = (whole.to_string(), fraction.to_string());
    let exponent: i32 = exponent.parse().unwrap();
    for _ in 0..exponent.abs() {
        if exponent > 0 {
            if fraction.is_empty() {
                fraction.push('0');
            }
            whole.push(fraction.remove(0));
        } else {
            if whole.is_empty() {
                whole.push('0');
            }
            fraction.insert(0, whole.pop().unwrap());
        }
    }
    let whole = whole.trim_start_matches('0').to_string();
    let fraction = fraction.trim_end_matches('0').to_string();
    let zero = whole.is_empty() && fraction.is_empty();
    (negative && !zero, whole, fraction)
}

fn number() -> impl Strategy<Value = String> {
    prop_oneof![
        "-?(0|[1-9][0-9]{0,3})(\\.[0-9]{1,3})?([eE][+-]?[0-3]?[0-9])?",
        "-?[1-9]0{0,20}(\\.0{1,3})?([eE][+-]?0{0,3}[0-9])?",
        "-?[1-9][0-9]{17,40}(\\.0{0,2}[0-9])?(e-?[0-2][0-9])?",
        "-?0\\.0{0,5}[1-9]{0,3}0(e[0-9])?",
        any::<i64>().prop_map(|n| n.to_string()),
        any::<u64>().prop_map(|n| format!("{n}00e-2")),
    ]
}

proptest! {
    #![proptest_config(cases(2000))]

    #[test]
    fn numbers_are_read_as_by_long_hand(text in number()) {
        let raw = Raw::new(&text).unwrap();
        let (negative, whole, fraction) = long_hand(&text);
        let integral = fraction.is_empty();
        let plain = format!("{}{}", if negative { "-" } else { "" }, if whole.is_empty() { "0" } else { &whole });
        prop_assert_eq!(raw.is_integer(), integral, "{}", text);
        prop_assert_eq!(raw.as_i64(), plain.parse().ok().filter(|_| integral), "{}", text);
        prop_assert_eq!(raw.as_u64(), plain.parse().ok().filter(|_| integral), "{}", text);
        prop_assert_eq!(raw.as_f64(), Some(text.parse().unwrap()), "{}", text);
    }

    #[test]
    fn ids_are_compared_by_long_hand(a in number(), b in number(), shift in 0..12i32) {
        let same = long_hand(&a) == long_hand(&b);
        let (x, y) = (Raw::new(&a).unwrap(), Raw::new(&b).unwrap());
        prop_assert_eq!((x.same_id(y), y.same_id(x)), (same, same), "{} {}", a, b);
        // The same number in other words.
        let (negative, whole, fraction) = long_hand(&a);
        let sign = if negative { "-" } else { "" };
        let shifted = format!("{sign}0.{:0>12}{whole}{fraction}0e{}", "", whole.len() as i32 + 12);
        let digits = format!("9{whole}{fraction}{:0>1$}", "", shift as usize);
        let scaled = format!("{sign}{digits}.0e-{}", fraction.len() as i32 + shift);
        prop_assert!(Raw::new(&shifted).unwrap().same_id(x), "{} {}", a, shifted);
        prop_assert!(!Raw::new(&scaled).unwrap().same_id(x), "{} {}", a, scaled);
        let quoted = format!("\"{a}\"");
        prop_assert!(!Raw::new(&quoted).unwrap().same_id(x));
    }
}

/// Writes a value with `Object` and `Array`.
fn write_member(object: &mut Object<'_>, key: &str, value: &Value) {
    match value {
        Value::Null => object.null(key),
        Value::Bool(b) => object.bool(key, *b),
        Value::String(s) if s.len() % 2 == 0 => object.str(key, s),
        Value::String(s) => object.display(key, s),
        Value::Number(n) => match (n.as_i64(), n.as_u64(), n.as_f64()) {
            (Some(n), ..) => object.int(key, n),
            (_, Some(n), _) => object.uint(key, n),
            (.., n) => object.float(key, n.unwrap()),
        },
        Value::Array(list) if list.len() == 3 => object.raw(key, Raw::new(&value.to_string()).unwrap()),
        Value::Array(list) => object.array(key, |array| list.iter().for_each(|v| write_element(array, v))),
        Value::Object(map) => {
            object.object(key, |object| map.iter().for_each(|(k, v)| write_member(object, k, v)))
        }
    };
}

fn write_element(array: &mut Array<'_>, value: &Value) {
    match value {
        Value::Null => array.null(),
        Value::Bool(b) => array.bool(*b),
        Value::String(s) if s.len() % 2 == 0 => array.str(s),
        Value::String(s) => array.display(s),
        Value::Number(n) => match (n.as_i64(), n.as_u64(), n.as_f64()) {
            (Some(n), ..) => array.int(n),
            (_, Some(n), _) => array.uint(n),
            (.., n) => array.float(n.unwrap()),
        },
        Value::Array(list) => array.array(|array| list.iter().for_each(|v| write_element(array, v))),
        Value::Object(map) if map.len() == 3 => array.raw(Raw::new(&value.to_string()).unwrap()),
        Value::Object(map) => array.object(|object| map.iter().for_each(|(k, v)| write_member(object, k, v))),
    };
}

#[derive(Clone, Debug)]
enum Op {
    Put(Vec<u8>),
    Mark,
    /// To one of the marks that are still good.
    RollBack(prop::sample::Index),
}

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        4 => prop::collection::vec(any::<u8>(), 0..9).prop_map(Op::Put),
        2 => Just(Op::Mark),
        1 => any::<prop::sample::Index>().prop_map(Op::RollBack),
    ]
}

proptest! {
    #![proptest_config(cases(400))]

    #[test]
    fn objects_and_arrays_are_what_was_meant(value in value(), cut in any::<prop::sample::Index>()) {
        let mut buffer = vec![0; 1 << 14];
        let write = |buffer: &mut [u8]| {
            let mut out = Writer::new(buffer);
            let mut array = Array::new(&mut out);
            write_element(&mut array, &value);
            write_element(&mut array, &Value::from(1.5));
            let ok = array.ok();
            let ended = array.end();
            assert_eq!(ended, !out.is_full());
            assert!(ok || !ended);
            (ended, out.len())
        };
        let (ended, len) = write(&mut buffer);
        prop_assume!(ended);
        prop_assert_eq!(parsed(&buffer[..len]), Value::from(vec![value.clone(), Value::from(1.5)]));
        // With less room it says so, and exactly enough is enough.
        prop_assert_eq!(write(&mut vec![0; len]), (true, len));
        prop_assert!(!write(&mut vec![0; cut.index(len)]).0);
    }

    #[test]
    fn a_writer_is_a_vector_with_a_limit(room in 0..40usize, ops in prop::collection::vec(op(), 0..40)) {
        let mut buffer = vec![0; room];
        let mut out = Writer::new(&mut buffer);
        let (mut model, mut full, mut marks) = (Vec::new(), false, Vec::new());
        for op in ops {
            match op {
                Op::Put(bytes) => {
                    full |= model.len() + bytes.len() > room;
                    if !full {
                        model.extend_from_slice(&bytes);
                    }
                    prop_assert_eq!(out.put(&bytes), !full);
                }
                Op::Mark => marks.push((out.mark(), model.len(), full)),
                Op::RollBack(which) if !marks.is_empty() => {
                    marks.truncate(which.index(marks.len()) + 1);
                    let (mark, len, was_full) = *marks.last().unwrap();
                    out.roll_back(mark);
                    model.truncate(len);
                    full = was_full;
                }
                Op::RollBack(_) => {}
            }
            prop_assert_eq!((out.written(), out.len(), out.is_empty()), (&model[..], model.len(), model.is_empty()));
            prop_assert_eq!((out.is_full(), out.room()), (full, if full { 0 } else { room - model.len() }));
        }
    }

    #[test]
    fn raw_values_are_written_in_one_line(text in valid()) {
        if let Ok(raw) = Raw::from_bytes(&text) {
            let mut buffer = vec![0; text.len()];
            let mut out = Writer::new(&mut buffer);
            prop_assert!(write_raw(&mut out, raw));
            prop_assert_eq!(out.len(), raw.as_bytes().len());
            prop_assert!(!out.written().contains(&b'\n') && !out.written().contains(&b'\r'));
            prop_assert_eq!(seen(Raw::from_bytes(out.written()).unwrap()), seen(raw));
        }
    }
}
