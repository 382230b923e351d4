//! The schemas: exact texts, and the same meaning as schemars gives the same types.
#![allow(dead_code)]
mod common;

use barewire::{Items, ToolInput, Tools};
use common::{Colour, Everything, Point};
use serde_json::{Value, json};

/// Without what says nothing about which values are valid, `$ref`s resolved, numbers as floats.
fn normal(value: &Value, root: &Value) -> Value {
    match value {
        Value::Object(members) => {
            if let Some(Value::String(path)) = members.get("$ref") {
                let mut target = root.pointer(path.trim_start_matches('#')).unwrap().clone();
                for (key, value) in members.iter().filter(|(key, _)| *key != "$ref") {
                    target[key] = value.clone();
                }
                return normal(&target, root);
            }
            let keep = |key: &str| !["$schema", "$defs", "title", "format"].contains(&key);
            let members = members.iter().filter(|(key, _)| keep(key)).map(|(key, value)| {
                let value = match (key.as_str(), value) {
                    ("required", Value::Array(all)) => {
                        let mut all: Vec<&str> = all.iter().filter_map(Value::as_str).collect();
                        all.sort_unstable();
                        json!(all)
                    }
                    _ => normal(value, root),
                };
                (key.clone(), value)
            });
            Value::Object(members.collect())
        }
        // Whether anything may be left out is the same as `true`.
        Value::Bool(true) => json!(true),
        Value::Array(all) => all.iter().map(|value| normal(value, root)).collect(),
        Value::Number(number) => json!(number.as_f64()),
        other => other.clone(),
    }
}

fn same<T: schemars::JsonSchema>(ours: &str) {
    let ours: Value = serde_json::from_str(ours).unwrap();
    let mut theirs = schemars::generate::SchemaSettings::draft2020_12()
        .into_generator()
        .into_root_schema_for::<T>()
        .to_value();
    // They give any value as `true`, we as a schema without members.
    if let Some(any) = theirs.pointer_mut("/properties/any") {
        *any = json!({});
    }
    let (ours, theirs) = (normal(&ours, &ours), normal(&theirs, &theirs));
    let text = |value: &Value| serde_json::to_string_pretty(value).unwrap();
    assert_eq!(text(&ours), text(&theirs));
}

#[test]
fn as_schemars_has_it() {
    same::<Colour>(Colour::SCHEMA);
    same::<Point>(Point::SCHEMA);
    same::<Everything<'_>>(Everything::SCHEMA);
}

#[test]
fn every_schema_is_one() {
    for schema in [Colour::SCHEMA, Point::SCHEMA, Everything::SCHEMA] {
        let schema: Value = serde_json::from_str(schema).unwrap();
        jsonschema::meta::validate(&schema).unwrap();
    }
}

/// A struct around one value.
#[derive(ToolInput)]
struct Percent(#[arg(range = 0..=100)] u8);

type Level = u8;

#[derive(ToolInput)]
enum Choice {
    /// As it was.
    Keep,
    /// From now on.
    Change,
}

#[derive(ToolInput)]
#[input(rename_all = "camelCase", open)]
struct Small<'a> {
    #[arg(description = "From here.")]
    first_word: &'a str,
    percent: Percent,
    level: Level,
    /// How.
    choice: Option<Choice>,
    #[arg(range = 0.0..1.0)]
    part: Option<f32>,
    #[arg(range = 1.., items = 2..)]
    counts: Items<'a, u64>,
    #[arg(format = "uri")]
    r#where: &'a str,
    /// Anything.
    extra: barewire::json::Raw<'a>,
    choices: Items<'a, Choice>,
}

#[test]
fn texts() {
    assert_eq!(
        Small::SCHEMA,
        concat!(
            r#"{"type":"object","properties":{"firstWord":{"type":"string","description":"From here."},"#,
            r#""percent":{"type":"integer","minimum":0,"maximum":100,"description":"A struct around one value."},"#,
            r#""level":{"type":"integer","minimum":0,"maximum":255},"#,
            r#""choice":{"anyOf":[{"type":"string","enum":["Keep","Change"],"#,
            r#""description":"Keep: As it was.\nChange: From now on."},{"type":"null"}],"description":"How."},"#,
            r#""part":{"type":["number","null"],"minimum":0,"exclusiveMaximum":1},"#,
            r#""counts":{"type":"array","items":{"type":"integer","minimum":1},"minItems":2},"#,
            r#""where":{"type":"string","format":"uri"},"#,
            r#""extra":{"description":"Anything."},"#,
            r#""choices":{"type":"array","items":{"type":"string","enum":["Keep","Change"],"description":"Keep: As it was.\nChange: From now on."}}},"#,
            r#""required":["firstWord","percent","level","counts","where","extra","choices"]}"#,
        )
    );
}

#[derive(Tools)]
enum Table<'a> {
    /// One.
    First,
    /// Two,
    /// in two lines.
    #[tool(
        name = "second.tool",
        title = "Second",
        read_only,
        destructive = false,
        idempotent,
        open_world = false,
        output = Point,
        rename_all = "UPPERCASE",
        task_support = "optional",
        meta = r#"{"a/b":1}"#,
        icons = "[]"
    )]
    Second { text: &'a str },
    #[tool(description = "Three.", open, read_only = false)]
    HTTPGet(Point),
}

#[test]
fn the_table() {
    let [first, second, third] = Table::TOOLS else { panic!() };
    assert_eq!((first.name, first.description), ("first", "One."));
    assert_eq!(first.input_schema, r#"{"type":"object","additionalProperties":false}"#);
    assert_eq!((second.name, second.description), ("second.tool", "Two,\nin two lines."));
    assert_eq!(
        second.input_schema,
        r#"{"type":"object","properties":{"TEXT":{"type":"string"}},"required":["TEXT"],"additionalProperties":false}"#
    );
    let hints = second.hints;
    assert_eq!(
        (second.title, hints.read_only, hints.destructive, hints.idempotent, hints.open_world),
        (Some("Second"), Some(true), Some(false), Some(true), Some(false))
    );
    assert_eq!(second.output_schema, Some(Point::SCHEMA));
    assert_eq!(
        (second.meta, second.icons, second.task_support),
        (Some(r#"{"a/b":1}"#), Some("[]"), Some("optional"))
    );
    assert_eq!((third.name, third.description, third.hints.read_only), ("h_t_t_p_get", "Three.", None));
    assert_eq!(third.input_schema, Point::SCHEMA.replace(r#","description":"Where.""#, ""));
}
