//! The params of a call as most clients write them, without spaces: found by comparing bytes. It may only say yes; whatever looks different is read member by
//! member.
use crate::json::{Raw, pick, value_len};

/// The members of params that mean something here.
const NAMES: &[&str] = &["name", "arguments", "cursor", "_meta"];
const KEYS: [&[u8]; 4] = [b"\"name\":", b"\"arguments\":", b"\"cursor\":", b"\"_meta\":"];

/// The values of `name`, `arguments`, `cursor` and `_meta`, the last if there are several.
#[cfg_attr(target_os = "none", inline(never))]
pub(super) fn params(object: Raw<'_>) -> [Option<Raw<'_>>; 4] {
    if !crate::json::SMALL
        && let Some(found) = usual(object.as_bytes())
    {
        return found;
    }
    let mut found = [None; 4];
    pick(object, NAMES, &mut found);
    found
}

/// `None`: not sure, ask the walk over members. `all` is a valid object.
#[inline]
fn usual(all: &[u8]) -> Option<[Option<Raw<'_>>; 4]> {
    let mut found = [None; 4];
    let mut rest = all.strip_prefix(b"{")?;
    loop {
        let (place, value) =
            found.iter_mut().zip(KEYS).find_map(|(place, key)| Some((place, rest.strip_prefix(key)?)))?;
        // Nothing else is of use here.
        let len = value.first().filter(|b| matches!(b, b'"' | b'{')).and_then(|_| value_len(value))?;
        let (value, behind) = value.split_at_checked(len)?;
        *place = Some(Raw::trusted(value));
        match behind {
            [b',', next @ ..] => rest = next,
            [b'}'] => return Some(found),
            _ => return None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_the_walk_reads() {
        for (text, is_usual) in [
            (r#"{"name":"a","arguments":{"b":"}"}}"#, true),
            (r#"{"_meta":{"name":"x"},"name":"a\"","arguments":{}}"#, true),
            (r#"{"name":"a","name":"b","cursor":"1"}"#, true),
            (r#"{"name":"a","arguments":null}"#, false),
            (r#"{"name":"a" ,"arguments":{}}"#, false),
            (r#"{"name":"a","other":{}}"#, false),
            (r#"{"n\u0061me":"a"}"#, false),
            (r#"{ "name":"a"}"#, false),
            (r#"{"name":"a" }"#, false),
            (r#"{}"#, false),
        ] {
            let object = Raw::new(text).unwrap();
            let mut walked = [None; 4];
            pick(object, NAMES, &mut walked);
            assert_eq!(params(object), walked, "{text}");
            assert_eq!(usual(object.as_bytes()).is_some(), is_usual, "{text}");
        }
    }
}
