//! What is written is read back: texts, numbers, objects and arrays in each other, and what serde writes; and a writer
//! without room keeps what fitted.
#![no_main]

use barewire::json::{Array, Object, Raw, Writer, unescape, write_f64, write_i64, write_str, write_u64};
use libfuzzer_sys::fuzz_target;
use serde_json::Value;

fuzz_target!(|data: &[u8]| {
    let mut source = Source(data);
    let value = source.value(0);
    let mut buffer = vec![0; 64 * 1024];
    let mut writer = Writer::new(&mut buffer);
    if !put(&value, &mut writer) {
        return;
    }
    let text = writer.written().to_vec();
    let raw = Raw::from_bytes(&text).expect("what is written is JSON");
    assert_eq!(serde_json::from_slice::<Value>(&text).expect("serde_json reads it"), value);
    same(raw, &value);
    // With any less room it is refused, and what was there stays.
    let room = source.byte() as usize % text.len().max(1);
    let mut small = vec![0; room];
    let mut writer = Writer::new(&mut small);
    assert!(!put(&value, &mut writer), "{} bytes in {room}", text.len());
    // serde both ways.
    let mut copy = text.clone();
    let read: Value = barewire::json::from_slice_in_place(&mut copy).expect("serde reads it");
    assert_eq!(read, value);
    let mut again = vec![0; 64 * 1024];
    let mut writer = Writer::new(&mut again);
    barewire::json::to_sink(&mut writer, &value).expect("serde writes it");
    assert_eq!(serde_json::from_slice::<Value>(writer.written()).expect("serde_json reads that"), value);
});

struct Source<'a>(&'a [u8]);

impl Source<'_> {
    fn byte(&mut self) -> u8 {
        let Some((first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        *first
    }

    fn number(&mut self) -> u64 {
        (0..8).fold(0, |n, _| n << 8 | u64::from(self.byte()))
    }

    fn text(&mut self) -> String {
        let n = usize::from(self.byte() & 31).min(self.0.len());
        let (text, rest) = self.0.split_at(n);
        self.0 = rest;
        String::from_utf8_lossy(text).into_owned()
    }

    fn value(&mut self, depth: usize) -> Value {
        match self.byte() % 9 {
            0 => Value::Null,
            1 => Value::Bool(self.byte() & 1 == 1),
            2 => self.number().into(),
            3 => (self.number() as i64).into(),
            4 => {
                serde_json::Number::from_f64(f64::from_bits(self.number())).map_or(Value::Null, Value::Number)
            }
            5 if depth < 40 => (0..self.byte() & 7).map(|_| self.value(depth + 1)).collect(),
            6 if depth < 40 => {
                let n = self.byte() & 7;
                Value::Object((0..n).map(|_| (self.text(), self.value(depth + 1))).collect())
            }
            _ => self.text().into(),
        }
    }
}

fn put(value: &Value, writer: &mut Writer<'_>) -> bool {
    match value {
        Value::Array(all) => {
            let mut array = Array::new(writer);
            all.iter().for_each(|value| element(&mut array, value));
            array.end()
        }
        Value::Object(all) => {
            let mut object = Object::new(writer);
            all.iter().for_each(|(key, value)| member(&mut object, key, value));
            object.end()
        }
        Value::String(text) => write_str(writer, text),
        Value::Number(n) => match (n.as_u64(), n.as_i64()) {
            (Some(n), _) => write_u64(writer, n),
            (_, Some(n)) => write_i64(writer, n),
            _ => write_f64(writer, n.as_f64().unwrap_or(0.0)),
        },
        Value::Bool(yes) => barewire::json::write_bool(writer, *yes),
        Value::Null => barewire::json::write_raw(writer, Raw::NULL),
    }
}

fn member(object: &mut Object<'_>, key: &str, value: &Value) {
    match value {
        Value::Array(all) => drop(object.array(key, |array| all.iter().for_each(|v| element(array, v)))),
        Value::Object(all) => drop(object.object(key, |o| all.iter().for_each(|(k, v)| member(o, k, v)))),
        Value::String(text) => drop(object.str(key, text)),
        Value::Number(n) => match (n.as_u64(), n.as_i64()) {
            (Some(n), _) => drop(object.uint(key, n)),
            (_, Some(n)) => drop(object.int(key, n)),
            _ => drop(object.float(key, n.as_f64().unwrap_or(0.0))),
        },
        Value::Bool(yes) => drop(object.bool(key, *yes)),
        Value::Null => drop(object.null(key)),
    }
}

fn element(array: &mut Array<'_>, value: &Value) {
    match value {
        Value::Array(all) => drop(array.array(|inner| all.iter().for_each(|v| element(inner, v)))),
        Value::Object(all) => drop(array.object(|o| all.iter().for_each(|(k, v)| member(o, k, v)))),
        Value::String(text) => drop(array.str(text)),
        Value::Number(n) => match (n.as_u64(), n.as_i64()) {
            (Some(n), _) => drop(array.uint(n)),
            (_, Some(n)) => drop(array.int(n)),
            _ => drop(array.float(n.as_f64().unwrap_or(0.0))),
        },
        Value::Bool(yes) => drop(array.bool(*yes)),
        Value::Null => drop(array.null()),
    }
}

fn same(raw: Raw<'_>, value: &Value) {
    match value {
        Value::Null => assert!(raw.is_null()),
        Value::Bool(yes) => assert_eq!(raw.as_bool(), Some(*yes)),
        Value::Number(n) => match (n.as_u64(), n.as_i64()) {
            (Some(n), _) => assert_eq!(raw.as_u64(), Some(n)),
            (_, Some(n)) => assert_eq!(raw.as_i64(), Some(n)),
            _ => assert_eq!(raw.as_f64().map(f64::to_bits), n.as_f64().map(f64::to_bits)),
        },
        Value::String(text) => {
            assert!(raw.is(text));
            let body = raw.as_string().expect("a string");
            assert_eq!(&body.chars().collect::<String>(), text);
            assert_eq!(unescape(&mut body.raw().to_vec()), text);
        }
        Value::Array(all) => {
            assert_eq!(raw.elements().count(), all.len());
            raw.elements().zip(all).for_each(|(raw, value)| same(raw, value));
        }
        Value::Object(all) => {
            assert_eq!(raw.members().count(), all.len());
            for (key, value) in all {
                same(raw.get(key).expect("the member is there"), value);
            }
        }
    }
}
