//! Calls and schemas in one line: `get_alerts(state: "TX")`, `get_alerts(state: string)`.

use barewire::json::{Kind, Raw};

use super::envelope::text;
use crate::text::{printable, shortened};

/// A JSON value in at most `limit` characters, safe for a terminal. Numbers stay digit for digit.
pub(crate) fn brief(value: Raw<'_>, limit: usize) -> String {
    // The whole of a huge value is not made printable only to be cut.
    let source = shortened(value.as_str(), limit.saturating_mul(2).max(16));
    shortened(&printable(&source), limit)
}

/// What a request is about: the tool and its arguments, the address, the prompt.
pub(crate) fn subject(method: &str, params: Option<Raw<'_>>, limit: usize) -> Option<String> {
    let params = params?;
    let named = |key| params.get(key).and_then(text).map(|name| shortened(&printable(&name), limit));
    match method {
        "tools/call" | "prompts/get" => {
            let name = named("name")?;
            let arguments = params.get("arguments").map_or_else(String::new, |a| arguments(a, limit));
            Some(format!("{name}({arguments})"))
        }
        "resources/read"
        | "resources/subscribe"
        | "resources/unsubscribe"
        | "notifications/resources/updated" => named("uri"),
        "tasks/get" | "tasks/result" | "tasks/cancel" | "tasks/update" => named("taskId"),
        "logging/setLevel" => named("level"),
        "notifications/progress" => {
            let so_far = params.get("progress").map(|p| brief(p, 24))?;
            let total = params.get("total").map(|t| format!(" of {}", brief(t, 24))).unwrap_or_default();
            Some(format!("{so_far}{total}"))
        }
        "notifications/message" => named("level"),
        _ => None,
    }
}

/// `state: "TX", days: 3`
pub(crate) fn arguments(arguments: Raw<'_>, limit: usize) -> String {
    if arguments.kind() != Kind::Object {
        return brief(arguments, limit);
    }
    let mut list = String::new();
    for (key, value) in arguments.members() {
        if !list.is_empty() {
            list.push_str(", ");
        }
        list.push_str(&format!(
            "{}: {}",
            printable(&shortened(&key.to_string(), 40)),
            brief(value, limit / 2)
        ));
        if list.chars().count() > limit {
            break;
        }
    }
    shortened(&list, limit)
}

/// `latitude: number, longitude: number, days?: integer`
pub(crate) fn signature(schema: Raw<'_>) -> String {
    let required: Vec<String> =
        schema.get("required").into_iter().flat_map(Raw::elements).filter_map(text).collect();
    let mut list = String::new();
    for (key, property) in schema.get("properties").into_iter().flat_map(Raw::members) {
        let key = key.to_string();
        let optional = if required.contains(&key) { "" } else { "?" };
        if !list.is_empty() {
            list.push_str(", ");
        }
        list.push_str(&format!("{}{optional}: {}", printable(&key), type_name(property)));
    }
    list
}

/// The type that a schema asks for, as people write it: `string`, `integer or null`, `"a" | "b"`, `array of string`.
pub(crate) fn type_name(schema: Raw<'_>) -> String {
    if let Some(values) = schema.get("enum") {
        let values: Vec<String> = values.elements().map(|v| brief(v, 30)).collect();
        if !values.is_empty() {
            return shortened(&values.join(" | "), 80);
        }
    }
    if let Some(value) = schema.get("const") {
        return brief(value, 30);
    }
    for union in ["anyOf", "oneOf"] {
        if let Some(list) = schema.get(union) {
            let names: Vec<String> = list.elements().map(type_name).collect();
            return names.join(" or ");
        }
    }
    match schema.get("type") {
        Some(names) if names.kind() == Kind::Array => {
            let names: Vec<String> = names.elements().filter_map(text).collect();
            names.join(" or ")
        }
        Some(name) if name.is("array") => match schema.get("items") {
            Some(items) if items.kind() == Kind::Object => format!("array of {}", type_name(items)),
            _ => "array".into(),
        },
        Some(name) => text(name).unwrap_or_else(|| "any".into()),
        None if schema.get("properties").is_some() => "object".into(),
        None => "any".into(),
    }
}

/// The limits that a schema has beside its type, as people write them: `0 to 9`, `at least 1 character`.
pub(crate) fn limits(schema: Raw<'_>) -> Option<String> {
    let ranges = [
        ("minimum", "maximum", ""),
        ("exclusiveMinimum", "exclusiveMaximum", " (both excluded)"),
        ("minLength", "maxLength", " characters"),
        ("minItems", "maxItems", " items"),
    ];
    let mut list = Vec::new();
    for (least, most, unit) in ranges {
        let number = |key| schema.get(key).filter(|n| n.kind() == Kind::Number).map(|n| brief(n, 30));
        list.extend(match (number(least), number(most)) {
            (Some(least), Some(most)) if least == most => Some(format!("{least}{unit}")),
            (Some(least), Some(most)) => Some(format!("{least} to {most}{unit}")),
            (Some(least), None) => Some(format!("{least}{unit} or more")),
            (None, Some(most)) => Some(format!("at most {most}{unit}")),
            (None, None) => None,
        });
    }
    (!list.is_empty()).then(|| list.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signatures() {
        let schema = r#"{"properties":{"a":{"type":"number"},"b":{"type":["string","null"]},"c":{"enum":["x","y"]},
            "d":{"type":"array","items":{"type":"integer"}},"e":{"anyOf":[{"type":"string"},{"type":"null"}]},"f":true},
            "required":["a"]}"#;
        assert_eq!(
            signature(Raw::new(schema).unwrap()),
            r#"a: number, b?: string or null, c?: "x" | "y", d?: array of integer, e?: string or null, f?: any"#
        );
    }

    #[test]
    fn limits_are_told() {
        for (schema, told) in [
            (r#"{"type":"integer","minimum":0,"maximum":9}"#, Some("0 to 9")),
            (r#"{"minimum":-1.5}"#, Some("-1.5 or more")),
            (r#"{"maxLength":80,"minItems":2,"maxItems":2}"#, Some("at most 80 characters, 2 items")),
            (r#"{"exclusiveMinimum":0,"exclusiveMaximum":1}"#, Some("0 to 1 (both excluded)")),
            (r#"{"exclusiveMinimum":true,"type":"number"}"#, None),
        ] {
            assert_eq!(limits(Raw::new(schema).unwrap()).as_deref(), told, "{schema}");
        }
    }

    #[test]
    fn subjects_keep_digits() {
        let params = Raw::new(r#"{"name":"f","arguments":{"a":1.50,"b":12345678901234567890}}"#).unwrap();
        assert_eq!(subject("tools/call", Some(params), 80).unwrap(), "f(a: 1.50, b: 12345678901234567890)");
    }
}
