//! What a client case makes our client do, from its words.

use super::case::Case;

/// One thing that our client does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Action {
    /// Only to connect, which every case begins with.
    Connect,
    /// All pages of tools/list.
    List,
    /// One tools/call; `brief` in milliseconds where it is meant to time out.
    Call { name: String, brief: Option<u64> },
    /// A ping, or what stands for one in the modern era.
    Ping,
    /// A call with a `_meta` of the user's own.
    Meta(String),
    /// A client that lists again when it hears that the list has changed.
    Refresh,
}

/// Why the trigger needs what is not there yet.
pub(super) fn inapplicable(case: &Case) -> Option<&'static str> {
    let trigger = case.trigger.as_deref()?;
    let needs = [
        ("subscriptions/", "needs subscriptions"),
        ("resources/", "needs resources"),
        ("prompts/", "needs prompts"),
        ("completion/", "needs completion"),
    ];
    needs.into_iter().find(|(word, _)| trigger.contains(word)).map(|(_, reason)| reason)
}

/// Reads a trigger such as `tools/call A (times out) then tools/call B`.
pub(super) fn actions(trigger: &str) -> Result<Vec<Action>, String> {
    if let Some((_, rest)) = trigger.split_once("_meta ") {
        let mut object = serde_json::Deserializer::from_str(rest).into_iter::<serde_json::Value>();
        let object = object.next().and_then(Result::ok).ok_or("no object after _meta")?;
        return Ok(vec![Action::Meta(object.to_string())]);
    }
    let mut actions = Vec::new();
    let parts = trigger.split(" then ").flat_map(|part| part.split([',', ';', '+'])).map(str::trim);
    for part in parts.map(|part| part.trim_start_matches("then ")).filter(|part| !part.is_empty()) {
        let words: Vec<&str> = part.split_whitespace().collect();
        match words.as_slice() {
            [word, ..] if word.starts_with("connect") => actions.push(Action::Connect),
            ["initialize"] => actions.push(Action::Connect),
            ["tools/list"] | ["list", ..] => actions.push(Action::List),
            ["tools/call", rest @ ..] => calls(part, rest, &mut actions),
            ["cancel", ..] => match actions.last_mut() {
                Some(Action::Call { brief, .. }) => *brief = Some(300),
                _ => return Err(format!("nothing to cancel in {trigger:?}")),
            },
            ["ping"] => actions.push(Action::Ping),
            ["auto-refresh", ..] => actions.push(Action::Refresh),
            ["inspect", ..] | ["close"] => {}
            _ => return Err(format!("the runner does not know the trigger {part:?}")),
        }
    }
    Ok(actions)
}

fn calls(part: &str, words: &[&str], actions: &mut Vec<Action>) {
    let number = |before: &str| {
        let at = words.iter().position(|word| *word == before)?;
        words.get(at.checked_sub(1)?)?.parse().ok()
    };
    let brief = number("ms").or_else(|| part.contains("times out").then_some(300));
    let name = words.first().filter(|word| **word != "twice").map_or("echo", |word| word);
    let call = Action::Call { name: name.to_owned(), brief };
    actions.extend(core::iter::repeat_n(call, if words.contains(&"twice") { 2 } else { 1 }));
}

#[cfg(test)]
mod tests {
    use super::{Action, actions};

    #[test]
    fn triggers_are_read() {
        let call = |name: &str, brief| Action::Call { name: name.into(), brief };
        for (trigger, wanted) in [
            ("tools/list", vec![Action::List]),
            ("tools/call twice", vec![call("echo", None), call("echo", None)]),
            ("tools/call A (times out) then tools/call B", vec![call("A", Some(300)), call("B", None)]),
            ("tools/call slow with 200 ms timeout; inspect our bytes", vec![call("slow", Some(200))]),
            ("tools/call slow, cancel it, then tools/list", vec![call("slow", Some(300)), Action::List]),
            (r#"call with user _meta {"k":1} and progress on"#, vec![Action::Meta(r#"{"k":1}"#.into())]),
            ("connect(auto)", vec![Action::Connect]),
        ] {
            assert_eq!(actions(trigger).unwrap(), wanted, "{trigger}");
        }
        assert!(actions("stand on its head").is_err());
    }
}
