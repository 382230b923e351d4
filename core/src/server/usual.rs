//! The params of a call as most clients write them, without spaces: found by comparing bytes. It may only say yes; whatever looks different is read member by
//! member.
use crate::json::{Raw, SMALL, find, pick, value_len};
use crate::mcp::{Claim, MODERN, claim, claim_of};

/// The members of params that mean something here.
const NAMES: &[&str] = &["name", "arguments", "cursor", "_meta"];
const META: usize = 3;

/// Tells a key with its quotes and colon: its place, and its length.
macro_rules! key {
    ($($place:literal $key:literal),*) => {
        // Each is compared in a few words, as its length is known.
        |rest: &[u8]| $(if rest.starts_with(concat!("\"", $key, "\":").as_bytes()) {
            Some(($place, $key.len().wrapping_add(3)))
        } else)* { None }
    };
}

/// The params of a request.
pub(super) struct Params<'a> {
    /// `name`, `arguments`, `cursor` and `_meta`, the last if there are several.
    pub(super) found: [Option<Raw<'a>>; 4],
    pub(super) known: Known<'a>,
}

/// The parts of `_meta`, if they were met on the way.
pub(super) struct Known<'a>(Option<[Option<Raw<'a>>; CLAIMED]>);

const CLAIMED: usize = if SMALL { 0 } else { 5 };

impl<'a> Known<'a> {
    /// What `meta` claims.
    #[inline]
    pub(super) fn claim(self, meta: Raw<'a>) -> Claim<'a> {
        let Some(parts) = self.0.filter(|_| !SMALL) else { return claim(Some(meta)) };
        let mut found = [None; 5];
        for (found, part) in found.iter_mut().zip(parts) {
            *found = part;
        }
        claim_of(found, false)
    }
}

impl<'a> Params<'a> {
    const NONE: Self = Self { found: [None; 4], known: Known(None) };

    /// Those of a valid object, or of `null`.
    #[inline]
    pub(super) fn read(all: Raw<'a>) -> Self {
        let mut params = Self::NONE;
        if SMALL || params.read_usual(all.as_bytes()).is_none() {
            params = Self::NONE;
            pick(all, NAMES, &mut params.found);
        }
        params
    }

    /// `None`: not sure, ask the walk over members.
    #[inline]
    fn read_usual(&mut self, all: &'a [u8]) -> Option<()> {
        let mut claim = None;
        let key = key!(0 "name", 1 "arguments", 2 "cursor", 3 "_meta");
        let len = walk(all, key, &mut self.found, |place, value| {
            if MODERN && place == META {
                // It is gone through once, for its length and its members.
                let mut found = [None; CLAIMED];
                if let Some(len) = walk(value, meta_key, &mut found, |_, value| value_len(value)) {
                    claim = Some(found);
                    return Some(len);
                }
            }
            value_len(value)
        })?;
        self.known = Known(claim);
        (len == all.len()).then_some(())
    }
}

/// The keys of `_meta`, in the order of `claim_of`.
#[inline]
fn meta_key(rest: &[u8]) -> Option<(usize, usize)> {
    key!(
        1 "io.modelcontextprotocol/protocolVersion",
        4 "io.modelcontextprotocol/clientInfo",
        2 "io.modelcontextprotocol/clientCapabilities",
        0 "progressToken",
        3 "io.modelcontextprotocol/logLevel"
    )(rest)
}

/// Goes through the members of the object at the start of `all`, part of a valid text, and notes the values of those that `key` knows. Returns its length; `None`:
/// there are spaces, or escapes in keys, or a key comes twice. `len` says how long a value is.
#[inline(always)]
fn walk<'a, const N: usize>(
    all: &'a [u8],
    key: impl Fn(&[u8]) -> Option<(usize, usize)>,
    found: &mut [Option<Raw<'a>>; N],
    mut len: impl FnMut(usize, &'a [u8]) -> Option<usize>,
) -> Option<usize> {
    let mut at = 1usize;
    if all.first_chunk() == Some(b"{}") {
        return Some(2);
    }
    all.first().filter(|b| **b == b'{')?;
    loop {
        let rest = all.get(at..)?;
        let (place, key) = match key(rest) {
            Some(known) => known,
            None => (N, other_key(rest)?),
        };
        let value = rest.get(key..)?;
        let end = len(place, value)?;
        if let Some(place) = found.get_mut(place)
            && place.replace(Raw::trusted(value.get(..end)?)).is_some()
        {
            return None;
        }
        at = at.wrapping_add(key).wrapping_add(end).wrapping_add(1);
        match value.get(end)? {
            b',' => {}
            b'}' => return Some(at),
            _ => return None,
        }
    }
}

/// The length of a key without escapes and its colon.
#[inline(never)]
fn other_key(rest: &[u8]) -> Option<usize> {
    let key = rest.first().filter(|b| **b == b'"').and_then(|_| value_len(rest))?;
    let plain = find(b'\\', rest.get(..key)?).is_none();
    (plain && rest.get(key) == Some(&b':')).then(|| key.wrapping_add(1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mcp::key;

    #[test]
    fn reads_what_the_walk_reads() {
        for (text, is_usual) in [
            (r#"{"name":"a","arguments":{"b":"}"}}"#, true),
            (r#"{"_meta":{"name":"x"},"name":"a\"","arguments":{}}"#, true),
            (r#"{"name":"a","name":"b","cursor":"1"}"#, false),
            (r#"{"name":"a","arguments":null}"#, true),
            (r#"{"name":"a","arguments":5,"_meta":[1]}"#, true),
            (r#"{"name":"a", "arguments":5}"#, false),
            (r#"{"name": "a","arguments":5}"#, false),
            (r#"{"name":"a" ,"arguments":{}}"#, false),
            (r#"{"name":"a","other":{"name":"b"}}"#, true),
            (r#"{"name":"a","o\"":{"name":"b"}}"#, false),
            (r#"{"n\u0061me":"a"}"#, false),
            (r#"{ "name":"a"}"#, false),
            (r#"{"name":"a" }"#, false),
            (r#"{}"#, true),
        ] {
            let object = Raw::new(text).unwrap();
            let mut walked = [None; 4];
            pick(object, NAMES, &mut walked);
            assert_eq!(Params::read(object).found, walked, "{text}");
            let mut params = Params::NONE;
            assert_eq!(params.read_usual(object.as_bytes()).is_some(), is_usual, "{text}");
        }
    }

    #[test]
    fn reads_of_meta_what_the_walk_reads() {
        let names = [
            "progressToken",
            key::PROTOCOL_VERSION,
            key::CLIENT_CAPABILITIES,
            key::LOG_LEVEL,
            key::CLIENT_INFO,
        ];
        for (place, name) in names.into_iter().enumerate() {
            let key = std::format!("\"{name}\":");
            assert_eq!(meta_key(key.as_bytes()), Some((place, key.len())));
        }
        let version = key::PROTOCOL_VERSION;
        for (meta, is_usual) in [
            (r#"{"VERSION":"2026-07-28","x":1,"progressToken":5}"#, true),
            (r#"{"VERSION":"2026-07-28","VERSION":1}"#, false),
            (r#"{"VERSION": "2026-07-28"}"#, false),
            ("{}", true),
            ("null", false),
            ("7", false),
        ] {
            let meta = meta.replace("VERSION", version);
            let text = std::format!(r#"{{"_meta":{meta},"name":"a"}}"#);
            let object = Raw::new(&text).unwrap();
            let mut walked = [None; 5];
            pick(Raw::new(&meta).unwrap(), &names, &mut walked);
            let params = Params::read(object);
            assert_eq!(params.found[META], Raw::new(&meta), "{text}");
            let known = Some(&walked[..]).filter(|_| MODERN && is_usual && !SMALL);
            assert_eq!(params.known.0.as_ref().map(<[_; _]>::as_slice), known, "{text}");
        }
    }
}
