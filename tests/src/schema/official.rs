//! The official JSON Schemas: which definition a message must obey, and whether it does.

use std::collections::HashMap;
use std::fs;
use std::sync::{LazyLock, Mutex};

use jsonschema::Validator;
use serde_json::{Value, json};

/// All revisions, oldest first.
pub(crate) const REVISIONS: [&str; 5] =
    ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"];

/// One revision's schema.
pub(crate) struct Official {
    document: Value,
    /// `definitions` up to 2025-06-18, `$defs` after.
    place: &'static str,
    compiled: Mutex<HashMap<String, &'static Validator>>,
}

static ALL: LazyLock<HashMap<&'static str, Official>> = LazyLock::new(|| {
    let read = |revision: &'static str| {
        let text = fs::read_to_string(crate::shared(&format!("schema/{revision}.json"))?).ok()?;
        let document: Value = serde_json::from_str(&text).ok()?;
        let place = if document["definitions"].is_object() { "definitions" } else { "$defs" };
        Some((revision, Official { document, place, compiled: Mutex::default() }))
    };
    REVISIONS.into_iter().filter_map(read).collect()
});

/// The schema of a revision, where it is present.
pub(crate) fn official(revision: &str) -> Option<&'static Official> {
    ALL.get(revision)
}

/// The definition of a method's result.
pub(crate) fn result_of(method: &str) -> &'static str {
    match method {
        "initialize" => "InitializeResult",
        "server/discover" => "DiscoverResult",
        "tools/list" => "ListToolsResult",
        "tools/call" => "CallToolResult",
        "resources/list" => "ListResourcesResult",
        "resources/templates/list" => "ListResourceTemplatesResult",
        "resources/read" => "ReadResourceResult",
        "prompts/list" => "ListPromptsResult",
        "prompts/get" => "GetPromptResult",
        "completion/complete" => "CompleteResult",
        "subscriptions/listen" => "SubscriptionsListenResult",
        "sampling/createMessage" => "CreateMessageResult",
        "roots/list" => "ListRootsResult",
        "elicitation/create" => "ElicitResult",
        _ => "Result",
    }
}

impl Official {
    /// The definition of a method in a union as `ClientRequest`.
    pub(crate) fn of_method(&self, union: &str, method: &str) -> Option<String> {
        let union_of = self.definition(union);
        let named = |definition: &Value| definition["properties"]["method"]["const"] == method;
        if named(union_of) {
            return Some(union.to_owned());
        }
        let refs = union_of["anyOf"].as_array()?.iter();
        let names = refs.filter_map(|one| one["$ref"].as_str()?.rsplit('/').next());
        names.filter(|name| named(self.definition(name))).map(str::to_owned).next()
    }

    /// Whether there is such a definition.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.definition(name).is_object()
    }

    /// Whether a member is one that the definition names.
    pub(crate) fn knows(&self, name: &str, member: &str) -> bool {
        let properties = &self.definition(name)["properties"];
        !properties.is_object() || properties[member] != Value::Null
    }

    /// Judges a value by a definition.
    pub(crate) fn judge(&self, name: &str, value: &Value) -> Result<(), String> {
        let mut compiled = self.compiled.lock().map_err(|_| "a test died in here")?;
        let validator = compiled.entry(name.to_owned()).or_insert_with(|| {
            let schema = json!({
                "$schema": self.document["$schema"],
                "$ref": format!("#/{}/{name}", self.place),
                self.place: self.document[self.place],
            });
            let made = jsonschema::validator_for(&schema).expect("the official schema is a schema");
            Box::leak(Box::new(made)) // one for each definition, as long as the tests run
        });
        let wrong: Vec<String> = validator.iter_errors(value).take(3).map(|e| e.to_string()).collect();
        if wrong.is_empty() { Ok(()) } else { Err(format!("breaks {name}: {}", wrong.join("; "))) }
    }

    fn definition(&self, name: &str) -> &Value {
        &self.document[self.place][name]
    }
}
