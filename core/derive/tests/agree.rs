//! The decoder and the schema agree: what one takes the other finds valid, and the reverse.
mod common;

use barewire::{Args, ToolInput};
use common::Everything;
use proptest::prelude::*;
use serde_json::{Map, Value, json};
use std::sync::LazyLock;

static SCHEMA: LazyLock<jsonschema::Validator> =
    LazyLock::new(|| jsonschema::validator_for(&serde_json::from_str(Everything::SCHEMA).unwrap()).unwrap());

/// What all of it may be.
fn valid() -> Value {
    json!({
        "flag": true, "small": 255, "medium": -2147483648, "large": 4294967295_u64, "huge": i64::MIN,
        "unsigned": u64::MAX, "narrow": 299, "single": 1e10, "ratio": 1.5, "text": "a\n\u{e9}\u{1f600}",
        "short": "\u{1f600}\u{1f600}", "seven": 1, "greeting": "", "yes": false, "low": 0, "colour": "red",
        "other": "light-green", "third": "b\"lue\\", "maybe": null, "digit": 9, "maybe_text": "t",
        "maybe_point": {"x": 1, "y": 2}, "point": {"y": -1, "x": -10}, "triple": [1, 2, 3],
        "corners": [{"x": 0, "y": 0}, {"x": 1, "y": 1}], "list": [1, 2.5], "names": ["a", "\u{e9}\"", "c"],
        "points": [{"x": 0, "y": 0}], "pairs": [[true, false], [false, true]], "any": [null, {"a": []}]
    })
}

/// Values that are near to what is asked for.
fn near() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        (-20i64..310).prop_map(Value::from),
        prop::sample::select(vec![
            i64::MIN,
            i64::MAX,
            -32769,
            -32768,
            32767,
            32768,
            65535,
            65536,
            2147483647,
            2147483648,
            -2147483648,
            -2147483649,
            4294967295,
            4294967296,
        ])
        .prop_map(Value::from),
        Just(json!(u64::MAX)),
        prop::sample::select(vec![
            0.0, -0.0, 1.0, 5.0, 5.5, 300.0, -0.5, -0.51, 1.5, 1.51, 255.0, 1e10, 1e-300
        ])
        .prop_map(Value::from),
        prop::sample::select(vec![
            "",
            "a",
            "ab",
            "abcd",
            "abcde",
            "\u{1f600}\u{1f600}",
            "\u{1f600}",
            "red",
            "Red",
            "light-green",
            "b\"lue\\",
            "true",
            "5",
            "\n\t\u{1}",
        ])
        .prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::Array),
            prop::collection::vec((prop::sample::select(vec!["x", "y", "z"]), inner.clone()), 0..3)
                .prop_map(|all| Value::Object(all.into_iter().map(|(k, v)| (k.to_owned(), v)).collect())),
            ((-12i64..12), inner).prop_map(|(x, y)| json!({"x": x, "y": y})),
        ]
    })
}

/// A place in the valid value, and what becomes of it.
#[derive(Clone, Debug)]
enum Change {
    Remove(usize),
    Put(usize, Value),
    PutInside(usize, usize, Value),
    Add(String, Value),
}

fn change() -> impl Strategy<Value = Change> {
    prop_oneof![
        1 => any::<usize>().prop_map(Change::Remove),
        6 => (any::<usize>(), near()).prop_map(|(at, value)| Change::Put(at, value)),
        4 => (any::<usize>(), any::<usize>(), near()).prop_map(|(at, inner, value)| Change::PutInside(at, inner, value)),
        1 => (prop::sample::select(vec!["extra", "flag ", "number", ""]), near())
            .prop_map(|(key, value)| Change::Add(key.to_owned(), value)),
    ]
}

fn apply(all: &mut Map<String, Value>, change: Change) {
    let nth = |all: &Map<String, Value>, at: usize| all.keys().nth(at % all.len()).unwrap().clone();
    match change {
        Change::Remove(at) => {
            let key = nth(all, at);
            all.remove(&key);
        }
        Change::Put(at, value) => {
            let key = nth(all, at);
            all[&key] = value;
        }
        Change::PutInside(at, inner, value) => {
            let key = nth(all, at);
            match &mut all[&key] {
                Value::Array(list) if !list.is_empty() => {
                    let len = list.len();
                    list[inner % len] = value;
                }
                Value::Object(members) if !members.is_empty() => {
                    let key = nth(members, inner);
                    members[&key] = value;
                }
                other => *other = value,
            }
        }
        Change::Add(key, value) => {
            all.insert(key, value);
        }
    }
}

/// What was decoded, as JSON.
fn back(it: Everything<'_>) -> Value {
    let point = |p: &common::Point| json!({"x": p.x, "y": p.y});
    json!({
        "flag": it.flag, "small": it.small, "medium": it.medium, "large": it.large, "huge": it.huge,
        "unsigned": it.unsigned, "narrow": it.narrow, "single": it.single, "ratio": it.ratio, "text": it.text,
        "short": it.short, "seven": it.number, "greeting": it.greeting, "yes": it.yes, "low": it.low,
        "colour": it.colour, "other": it.other, "third": it.third, "maybe": it.maybe, "digit": it.digit,
        "maybe_text": it.maybe_text, "maybe_point": it.maybe_point.as_ref().map(point), "point": point(&it.point),
        "triple": it.triple, "corners": it.corners.iter().map(point).collect::<Vec<_>>(),
        "list": it.list.collect::<Vec<_>>(), "names": it.names.collect::<Vec<_>>(),
        "points": it.points.map(|p| point(&p)).collect::<Vec<_>>(), "pairs": it.pairs.map(|all| all.collect::<Vec<_>>()),
        "any": serde_json::from_str::<Value>(it.any.as_str()).unwrap(),
    })
}

/// The same value whatever its notation: what is a float here as one, other numbers as integers.
fn plain(value: &Value, of: &str) -> Value {
    match value {
        Value::Number(n) if of == "single" => json!(n.as_f64().unwrap() as f32),
        Value::Number(n) if ["ratio", "low", "list"].contains(&of) => json!(n.as_f64()),
        Value::Number(n) if n.is_f64() => json!(n.as_f64().unwrap() as i64),
        Value::Array(all) => all.iter().map(|value| plain(value, of)).collect(),
        Value::Object(all) => {
            let all = all.iter().map(|(key, value)| match key.as_str() {
                "any" => (key.clone(), value.clone()),
                _ => (key.clone(), plain(value, key)),
            });
            Value::Object(all.collect())
        }
        other => other.clone(),
    }
}

fn agree(value: &Value) -> Result<(), TestCaseError> {
    let mut text = value.to_string().into_bytes();
    let decoded = Args::from_json(&mut text).unwrap().decode::<Everything<'_>>();
    let valid = SCHEMA.is_valid(value);
    match decoded {
        Ok(decoded) => {
            prop_assert!(valid, "taken, but not valid: {value}");
            let mut expected = json!({"seven": 7, "greeting": "a\n\"b\"", "yes": true, "low": -1.5, "third": "light-green",
                "maybe": null, "digit": null, "maybe_text": null, "maybe_point": null, "pairs": null});
            for (key, value) in value.as_object().unwrap() {
                expected[key] = value.clone();
            }
            prop_assert_eq!(plain(&back(decoded), ""), plain(&expected, ""));
        }
        // The bounds of 64 bits are not in the schema.
        Err(bad) if bad.field == "huge" && value["huge"].as_u64().is_some_and(|n| n > i64::MAX as u64) => {}
        Err(bad) => prop_assert!(!valid, "valid, but not taken: {bad}: {value}"),
    }
    Ok(())
}

#[test]
fn the_whole() {
    agree(&valid()).unwrap();
    assert!(SCHEMA.is_valid(&valid()));
}

/// Each member in turn: without it, and with each of some values in its place.
#[test]
fn each_member() {
    let whole = valid();
    let all = whole.as_object().unwrap();
    let mut others: Vec<Value> = all.values().cloned().collect();
    others.extend([json!({}), json!([]), json!(5.0), json!(-1), json!("abcde"), json!(1.5)]);
    let mut taken = 0;
    for key in all.keys() {
        let mut changed = all.clone();
        changed.remove(key);
        agree(&Value::Object(changed.clone())).unwrap();
        for other in &others {
            changed.insert(key.clone(), other.clone());
            let changed = Value::Object(changed.clone());
            agree(&changed).unwrap();
            taken += usize::from(SCHEMA.is_valid(&changed));
        }
    }
    // Both outcomes were met, and often.
    assert!((100..700).contains(&taken), "{taken}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn near_values(changes in prop::collection::vec(change(), 1..3)) {
        let mut value = valid();
        for change in changes {
            apply(value.as_object_mut().unwrap(), change);
        }
        agree(&value)?;
    }
}
