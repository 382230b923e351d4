//! One `key=value`, typed by the schema of its property.

use barewire::json::{Kind, Raw};

use super::{Value, quoted};
use crate::failure::Failure;
use crate::packets::call::type_name;

/// How far `$ref` and unions are followed: schemas may refer to themselves.
const DEPTH: usize = 8;

/// The JSON types that a property may have.
pub(super) struct Types<'a> {
    property: Option<Raw<'a>>,
    string: bool,
    number: bool,
    integer: bool,
    boolean: bool,
    null: bool,
    array: bool,
    object: bool,
    /// Values of `enum` and `const`.
    values: Vec<Raw<'a>>,
    items: Option<Raw<'a>>,
    root: Raw<'a>,
}

impl<'a> Types<'a> {
    /// Reads a property's schema; `root` is what `$ref` points into.
    pub(super) fn of(property: Option<Raw<'a>>, root: Raw<'a>) -> Self {
        let mut types = Self {
            property,
            string: false,
            number: false,
            integer: false,
            boolean: false,
            null: false,
            array: false,
            object: false,
            values: Vec::new(),
            items: None,
            root,
        };
        if let Some(schema) = property {
            types.collect(schema, DEPTH);
        }
        types
    }

    /// Whether a file's bytes are wanted in base64.
    pub(super) fn wants_base64(&self) -> bool {
        self.property.and_then(|schema| schema.get("contentEncoding")).is_some_and(|e| e.is("base64"))
    }

    /// The value as JSON, or a usage error that says what is wanted.
    pub(super) fn convert(&self, key: &str, text: &str) -> Result<Value, Failure> {
        if let Some(value) = self.of_values(text) {
            return Ok(Value::Json(value));
        }
        let json = Raw::new(text);
        let kind = json.map(Raw::kind);
        let raw = || Ok(Value::Json(json.map_or_else(String::new, |json| json.as_str().to_owned())));
        if self.is_open() {
            // Nothing is known: what reads as a JSON value other than a string is one.
            return match kind {
                Some(kind) if kind != Kind::String => raw(),
                _ => Ok(Value::Json(quoted(text))),
            };
        }
        match kind {
            Some(Kind::Null) if self.null => return raw(),
            Some(Kind::Bool) if self.boolean => return raw(),
            Some(Kind::Number) if self.number => return raw(),
            Some(Kind::Number) if self.integer && json.is_some_and(Raw::is_integer) => return raw(),
            Some(Kind::Object) if self.object => return raw(),
            Some(Kind::Array) if self.array => {
                let elements = json.into_iter().flat_map(Raw::elements);
                return Ok(Value::List(elements.map(|element| element.as_str().to_owned()).collect()));
            }
            _ => {}
        }
        if self.string {
            return Ok(Value::Json(quoted(text)));
        }
        if self.array {
            return self.element(key, text);
        }
        Err(self.misfit(key, text))
    }

    fn collect(&mut self, schema: Raw<'a>, depth: usize) {
        if depth == 0 {
            return;
        }
        if let Some(target) = schema.get("$ref").and_then(|pointer| resolve(self.root, pointer)) {
            self.collect(target, depth - 1);
        }
        self.values.extend(schema.get("enum").into_iter().flat_map(Raw::elements));
        self.values.extend(schema.get("const"));
        for union in ["anyOf", "oneOf", "allOf"] {
            for part in schema.get(union).into_iter().flat_map(Raw::elements) {
                self.collect(part, depth - 1);
            }
        }
        match schema.get("type") {
            Some(names) if names.kind() == Kind::Array => names.elements().for_each(|name| self.allow(name)),
            Some(name) => self.allow(name),
            None if schema.get("properties").is_some() => self.object = true,
            None if schema.get("items").is_some() => self.array = true,
            None => {}
        }
        self.items = self.items.or_else(|| schema.get("items"));
    }

    fn allow(&mut self, name: Raw<'_>) {
        let places = [
            ("string", &mut self.string),
            ("number", &mut self.number),
            ("integer", &mut self.integer),
            ("boolean", &mut self.boolean),
            ("null", &mut self.null),
            ("array", &mut self.array),
            ("object", &mut self.object),
        ];
        for (known, place) in places {
            *place |= name.is(known);
        }
    }

    fn is_open(&self) -> bool {
        let any = self.string
            || self.number
            || self.integer
            || self.boolean
            || self.null
            || self.array
            || self.object;
        !any && self.values.is_empty()
    }

    /// The value of `enum` that is meant, as the schema writes it: strings first.
    fn of_values(&self, text: &str) -> Option<String> {
        let string = self.values.iter().find(|value| value.is(text));
        let other =
            || self.values.iter().find(|value| value.kind() != Kind::String && value.as_str() == text);
        string.or_else(other).map(|value| value.as_str().to_owned())
    }

    /// One element of an array: the key may come again for the next.
    fn element(&self, key: &str, text: &str) -> Result<Value, Failure> {
        let items = self.items.filter(|items| items.kind() == Kind::Object);
        let one = match items {
            Some(items) => Types::of(Some(items), self.root).convert(key, text)?,
            None => Types::of(None, self.root).convert(key, text)?,
        };
        Ok(Value::List(vec![match one {
            Value::Json(json) => json,
            Value::List(list) => format!("[{}]", list.join(",")),
        }]))
    }

    fn misfit(&self, key: &str, text: &str) -> Failure {
        let wanted = self.property.map_or_else(|| "something else".into(), type_name);
        let wanted = if wanted == "any" { "something else".into() } else { wanted };
        let raw = Raw::new(text).filter(|json| json.kind() == Kind::Number);
        let sent = raw.map_or_else(|| quoted(text), |number| number.as_str().to_owned());
        Failure::usage(format!(
            "`{key}` takes {wanted} by the tool's inputSchema, and `{text}` is none; to send it all the same: {key}:={sent}"
        ))
    }
}

/// A `$ref` within the same document, such as `#/$defs/Name`.
fn resolve<'a>(root: Raw<'a>, pointer: Raw<'_>) -> Option<Raw<'a>> {
    let pointer = pointer.as_string()?.to_string();
    let mut target = root;
    for step in pointer.strip_prefix("#/")?.split('/') {
        target = target.get(&step.replace("~1", "/").replace("~0", "~"))?;
    }
    Some(target)
}
