//! A first look at arguments against a schema: required members, types of the outermost ones, unknown names.
//!
//! This is a hint for people, not a validator: what is not understood counts as right.

use barewire::json::{Kind, Raw};

use crate::packets::call::{brief, limits, type_name};
use crate::packets::envelope::text;

/// What is certainly wrong with `arguments`.
pub(crate) fn complaints(schema: Raw<'_>, arguments: Raw<'_>) -> Vec<String> {
    let mut list = missing(schema, arguments);
    for (key, value) in arguments.members() {
        let key = key.to_string();
        match schema.get("properties").and_then(|properties| properties.get(&key)) {
            Some(property) if !fits(property, value) => {
                list.push(format!("`{key}` is {}, not {}", brief(value, 30), type_name(property)));
            }
            Some(property) if !within(property, value) => {
                let limits = limits(property).unwrap_or_default();
                list.push(format!("`{key}` is {}, not {limits}", brief(value, 30)));
            }
            Some(_) => {}
            None if schema.get("additionalProperties").and_then(Raw::as_bool) == Some(false) => {
                list.push(format!("it has no `{key}`"));
            }
            None => {}
        }
    }
    list
}

/// What looks like a slip: complaints, and names that the schema does not have.
pub(crate) fn hints(schema: Raw<'_>, arguments: Raw<'_>) -> Vec<String> {
    let mut list = complaints(schema, arguments);
    let known: Vec<String> =
        schema.get("properties").into_iter().flat_map(Raw::members).map(|(key, _)| key.to_string()).collect();
    if known.is_empty() || schema.get("patternProperties").is_some() {
        return list;
    }
    for (key, _) in arguments.members() {
        let key = key.to_string();
        if !known.contains(&key) && !list.iter().any(|hint| hint.contains(&format!("`{key}`"))) {
            list.push(match nearest(&key, &known) {
                Some(near) => format!("it has no `{key}`; did you mean `{near}`?"),
                None => format!("it has no `{key}`; it has {}", known.join(", ")),
            });
        }
    }
    list
}

fn missing(schema: Raw<'_>, arguments: Raw<'_>) -> Vec<String> {
    let required = schema.get("required").into_iter().flat_map(Raw::elements).filter_map(text);
    required.filter(|key| arguments.get(key).is_none()).map(|key| format!("`{key}` is required")).collect()
}

/// Whether a value may be of a property's type; unknown keywords count as fitting.
fn fits(property: Raw<'_>, value: Raw<'_>) -> bool {
    let of_type = |name: Raw<'_>| match value.kind() {
        Kind::Null => name.is("null"),
        Kind::Bool => name.is("boolean"),
        Kind::String => name.is("string"),
        Kind::Array => name.is("array"),
        Kind::Object => name.is("object"),
        Kind::Number => name.is("number") || name.is("integer") && value.is_integer(),
    };
    match property.get("type") {
        Some(names) if names.kind() == Kind::Array => names.elements().any(of_type),
        Some(name) => of_type(name),
        None => true,
    }
}

/// Whether a number is in the range that its property has.
fn within(property: Raw<'_>, value: Raw<'_>) -> bool {
    let limit = |key| property.get(key).and_then(Raw::as_f64);
    let Some(number) = value.as_f64() else { return true };
    limit("minimum").is_none_or(|least| number >= least) && limit("maximum").is_none_or(|most| number <= most)
}

/// The known name that differs least, if it differs little.
pub(crate) fn nearest<'a>(key: &str, known: &'a [String]) -> Option<&'a str> {
    let best = known.iter().map(|name| (distance(key, name), name)).min()?;
    (best.0 <= 1 + key.len() / 4).then_some(best.1.as_str())
}

fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let cost = diagonal + usize::from(x != *y);
            diagonal = row[j + 1];
            row[j + 1] = cost.min(row[j] + 1).min(row[j + 1] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_are_noticed_and_the_rest_let_through() {
        let schema = r#"{"type":"object","properties":{"latitude":{"type":"number"},"days":{"type":"integer","minimum":1,"maximum":16},
            "x":{"anyOf":[{"type":"null"}]}},"required":["latitude"]}"#;
        let check = |json| hints(Raw::new(schema).unwrap(), Raw::new(json).unwrap());
        assert_eq!(check(r#"{"latitude":1.5,"days":1e1,"x":"?"}"#), Vec::<String>::new());
        assert_eq!(
            check(r#"{"latitud":1}"#),
            ["`latitude` is required", "it has no `latitud`; did you mean `latitude`?"]
        );
        assert_eq!(
            check(r#"{"latitude":"1","days":1.5}"#),
            ["`latitude` is \"1\", not number", "`days` is 1.5, not integer"]
        );
        assert_eq!(check(r#"{"latitude":1,"days":17}"#), ["`days` is 17, not 1 to 16"]);
    }
}
