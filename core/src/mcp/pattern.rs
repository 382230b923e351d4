//! Messages as patterns: text with places in it, filled from slots by one small loop. A message costs its text and a byte for each place.
//!
//! ```text
//! $3       slot 3, JSON as it is
//! @3       slot 3 as a part of a string, escaped
//! &3       slot 3 is a pattern, filled from the same slots; there is none in it
//! <3 … >   left out if slot 3 is empty
//! ~        a comma, unless the text before it ends with an opening bracket
//! ```
//! Slots are 0 to 9, then a to f. An empty one is left out. Patterns are translated by the compiler, which refuses those that are wrong.
//!
//! Where code must be small, text that many messages have ([`WORDS`]) is a byte in each of them.
use crate::json::{Raw, SMALL, write_escaped, write_raw};
use crate::machine::tx::Out;

/// What a place is filled with.
pub(crate) type Slot<'a> = Option<&'a [u8]>;

const RAW: u8 = 0x80;
const TEXT: u8 = 0x90;
const PATTERN: u8 = 0xa0;
const IF: u8 = 0xb0;
const COMMA: u8 = 0xc0;
/// Ends one of several patterns that lie behind each other.
const END: u8 = 0xc1;
/// And its number, which leaves room for 48.
const WORD: u8 = 0xd0;

/// What stands in several texts, and is worth a byte in each. Of two that fit the first is taken, and the first ones are found fastest: so what
/// every answer says comes first, in one piece even if it stands in one text only. To choose the others anew: count what all texts have in common.
const WORDS: &[&str] = &[
    "{\"jsonrpc\":\"2.0\"",
    ",\"result\":{",
    "\"resultType\":\"complete\",",
    "{\"type\":\"text\",\"text\":\"",
    ",\"_meta\":{\"io.modelcontextprotocol/serverInfo\":{\"name\":\"",
    "\",\"version\":\"",
    ",\"isError\":true",
    "io.modelcontextprotocol/",
    "protocolVersion",
    "apabilities",
    "params",
    "_meta",
    " must be an object",
    " must be a string",
    "no session: send initialize first",
    "arguments",
    ",\"ttlMs\":0,\"cacheScope\":\"private\"",
    "2026-07-28",
    " stands there twice",
    " too large",
    "request",
    "supported",
    ", got ",
    "Hint\":",
    ",\"instructions\":\"",
    ",\"data\":",
    "client",
    "putSchema\":",
    ",\"title\":\"",
    "message",
    "tools",
    "\":\"",
    "\":{",
    ",\"description",
    " of ",
    "not ",
    "the ",
];
const _: () = assert!(WORDS.len() <= 48, "a word's number is less than 48");
static CODED_WORDS: [u8; coded_words::<1024>().1] = coded_words().0;

/// Translates a pattern.
macro_rules! pattern {
    ($text:expr) => {{
        const TEXT: &str = $text;
        const CODE: &[u8] = &$crate::mcp::pattern::code::<{ $crate::mcp::pattern::code_len(TEXT) }>(TEXT);
        CODE
    }};
}
pub(crate) use pattern;

/// Fills a translated pattern: slots 0 to 7 from `common`, the others from `own`. False once `out` is full.
#[inline(never)]
pub(crate) fn fill(out: &mut Out<'_>, pattern: &[u8], common: &[Slot<'_>], own: &[Slot<'_>]) -> bool {
    let (mut codes, mut outer) = (pattern.iter(), [].iter());
    let mut text = &[][..];
    loop {
        let Some(&code) = codes.next() else {
            if outer.as_slice().is_empty() {
                return !out.is_full();
            }
            codes = core::mem::take(&mut outer);
            continue;
        };
        if !(RAW..WORD).contains(&code) {
            text = if code < RAW { cut(&mut codes, usize::from(code)) } else { word(code) };
            out.say(text);
            continue;
        }
        let slots = if code & 8 == 0 { common } else { own };
        let slot = slots.get(usize::from(code & 7)).copied().flatten();
        match (code & 0xf0, slot) {
            (IF, _) => {
                let distance = codes.next().map_or(0, |n| usize::from(*n));
                if slot.is_none() {
                    cut(&mut codes, distance);
                }
            }
            (COMMA, _) if code == END => return !out.is_full(),
            (COMMA, _) => {
                if !matches!(text.last(), Some(b'{' | b'[')) {
                    out.say(b",");
                }
            }
            (_, None) => {}
            (PATTERN, Some(pattern)) => outer = core::mem::replace(&mut codes, pattern.iter()),
            (TEXT, Some(text)) => {
                write_escaped(out, text);
            }
            (_, Some(json)) => {
                write_raw(out, Raw::trusted(json));
            }
        }
    }
}

/// Takes the next `n` bytes.
#[inline(never)]
fn cut<'a>(codes: &mut core::slice::Iter<'a, u8>, n: usize) -> &'a [u8] {
    let (text, rest) = codes.as_slice().split_at_checked(n).unwrap_or_default();
    *codes = rest.iter();
    text
}

/// A word by its code.
#[inline(never)]
fn word(code: u8) -> &'static [u8] {
    let mut words = &CODED_WORDS[..];
    for _ in WORD..code {
        if let [len, rest @ ..] = words {
            words = rest.get(usize::from(*len)..).unwrap_or_default();
        }
    }
    match words {
        [len, rest @ ..] => rest.get(..usize::from(*len)).unwrap_or_default(),
        [] => &[],
    }
}

/// Pattern `n` of several, which have no places.
#[inline(never)]
pub(crate) fn nth(patterns: &'static [u8], mut n: usize) -> &'static [u8] {
    let mut codes = patterns.iter();
    while n > 0 {
        match codes.next() {
            Some(&END) | None => n = n.wrapping_sub(1),
            Some(&code) if code < RAW => {
                cut(&mut codes, usize::from(code));
            }
            Some(_) => {}
        }
    }
    codes.as_slice()
}

/// How long the translation is.
pub(crate) const fn code_len(pattern: &str) -> usize {
    translate::<3072>(pattern, SMALL).1
}

/// The translation: pieces of text behind their length, places and words as bytes over 127, a condition with the distance to its end. A `|` ends
/// one of several patterns.
pub(crate) const fn code<const N: usize>(pattern: &str) -> [u8; N] {
    translate(pattern, SMALL).0
}

#[allow(clippy::indexing_slicing, clippy::arithmetic_side_effects)] // runs in the compiler
const fn coded_words<const N: usize>() -> ([u8; N], usize) {
    let (mut code, mut at, mut i) = ([0; N], 0, 0);
    while i < WORDS.len() {
        let word = WORDS[i].as_bytes();
        code[at] = word.len() as u8;
        let mut j = 0;
        while j < word.len() {
            code[at + 1 + j] = word[j];
            j += 1;
        }
        at += 1 + j;
        i += 1;
    }
    (code, at)
}

/// The number of the word that stands in `text` at `at`.
#[allow(clippy::indexing_slicing, clippy::arithmetic_side_effects)] // runs in the compiler
const fn word_at(text: &[u8], at: usize) -> Option<usize> {
    let mut i = 0;
    while i < WORDS.len() {
        let word = WORDS[i].as_bytes();
        let mut j = 0;
        while j < word.len() && at + j < text.len() && text[at + j] == word[j] {
            j += 1;
        }
        if j == word.len() {
            return Some(i);
        }
        i += 1;
    }
    None
}

#[allow(clippy::indexing_slicing, clippy::arithmetic_side_effects)] // runs in the compiler
const fn translate<const N: usize>(pattern: &str, words: bool) -> ([u8; N], usize) {
    let text = pattern.as_bytes();
    let mut code = [0; N];
    let (mut at, mut i) = (0, 0);
    // Where the piece of text at hand has its length, and the open conditions their distances.
    let mut run = usize::MAX;
    let (mut open, mut opened) = ([0; 4], 0);
    while i < text.len() {
        if words && let Some(word) = word_at(text, i) {
            code[at] = WORD + word as u8;
            at += 1;
            run = usize::MAX;
            i += WORDS[word].len();
            continue;
        }
        let kind = match text[i] {
            b'|' => END,
            b'$' => RAW,
            b'@' => TEXT,
            b'&' => PATTERN,
            b'<' => IF,
            b'~' => COMMA,
            b'>' => {
                opened -= 1;
                code[open[opened]] = (at - open[opened] - 1) as u8;
                run = usize::MAX;
                i += 1;
                continue;
            }
            byte => {
                assert!(byte < 0x80, "patterns are ASCII");
                if run == usize::MAX || code[run] == 127 {
                    run = at;
                    at += 1;
                }
                code[run] += 1;
                code[at] = byte;
                at += 1;
                i += 1;
                continue;
            }
        };
        run = usize::MAX;
        i += 1;
        let mut slot = 0;
        if kind != COMMA && kind != END {
            let place = text[i];
            assert!(matches!(place, b'0'..=b'9' | b'a'..=b'f'), "a place has a number");
            slot = if place <= b'9' { place - b'0' } else { place - b'a' + 10 };
            i += 1;
        }
        code[at] = kind | slot;
        at += 1;
        if kind == IF {
            open[opened] = at;
            opened += 1;
            at += 1;
        }
    }
    assert!(opened == 0, "a condition has an end");
    (code, at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::mem::Bytes;
    use crate::machine::tx::Tx;
    use std::string::String;

    fn filled(pattern: &[u8], slots: &[Slot<'_>]) -> Option<String> {
        let mut buffer = [0; 140];
        let mut tx = Tx::new(Bytes::Lent(&mut buffer));
        let mut out = tx.lend_piece();
        let done = fill(&mut out, pattern, slots, slots);
        out.commit();
        done.then(|| String::from_utf8(tx.output().to_vec()).unwrap())
    }

    #[test]
    fn words_change_nothing() {
        const TEXT: &str = "{\"jsonrpc\":\"2.0\"a,\"result\":{<0~io.modelcontextprotocol/_meta>b params";
        const PLAIN: ([u8; 200], usize) = translate(TEXT, false);
        const SHORT: ([u8; 200], usize) = translate(TEXT, true);
        assert!(SHORT.1 + 50 < PLAIN.1);
        for slots in [[None], [Some(&b"1"[..])]] {
            let [plain, short] = [PLAIN, SHORT].map(|(code, len)| filled(&code[..len], &slots).unwrap());
            assert_eq!(plain, short);
            assert_eq!(plain.contains("io.modelcontextprotocol/_meta"), slots[0].is_some());
        }
    }

    /// One that is no longer anywhere only takes room.
    #[test]
    fn words_are_long_and_there_once() {
        for (i, text) in WORDS.iter().enumerate() {
            assert!(
                text.len() > 2 && text.bytes().all(|b| b.is_ascii() && !b"$@&<>~|".contains(&b)),
                "{text}"
            );
            assert_eq!(word_at(text.as_bytes(), 0), Some(i), "{text}");
            assert_eq!(word(WORD + u8::try_from(i).unwrap()), text.as_bytes());
        }
    }

    #[test]
    fn finds_one_of_several() {
        let all = pattern!("a params|bc|params|");
        for (n, text) in ["a params", "bc", "params", "", ""].iter().enumerate() {
            assert_eq!(filled(nth(all, n), &[]).as_deref(), Some(*text));
        }
    }

    #[test]
    fn fills_places() {
        let code = pattern!("{\"a\":$0,\"b\":\"@9\"}");
        assert_eq!(
            filled(code, &[Some(b"[1,\n2]"), Some(b"x\"")]).unwrap(),
            "{\"a\":[1, 2],\"b\":\"x\\\"\"}"
        );
        assert_eq!(filled(code, &[None]).unwrap(), "{\"a\":,\"b\":\"\"}");
        assert_eq!(filled(code, &[Some(&[b'1'; 140])]), None);
    }

    #[test]
    fn leaves_out_what_is_empty() {
        let code = pattern!("{<0~\"a\":{<1~1><2~2>}><f~f><2~\"b\":$2>}");
        let all = |a: bool, b: bool, c: bool| {
            let slot = |is: bool| is.then_some(&b"0"[..]);
            filled(code, &[slot(a), slot(b), slot(c)]).unwrap()
        };
        assert_eq!(all(false, true, false), "{}");
        assert_eq!(all(true, false, true), "{\"a\":{2},\"b\":0}");
        assert_eq!(all(true, true, true), "{\"a\":{1,2},\"b\":0}");
        assert_eq!(all(false, false, true), "{\"b\":0}");
    }

    #[test]
    fn fills_patterns_in_patterns() {
        let inner = pattern!("<1($1)>");
        assert_eq!(filled(pattern!("a&0b&0"), &[Some(inner), Some(b"x")]).unwrap(), "a(x)b(x)");
    }

    #[test]
    fn holds_long_texts() {
        const LONG: &str = concat!(
            "0123456789012345678901234567890123456789012345678901234567890123456789",
            "0123456789012345678901234567890123456789012345678901234567890123456789"
        );
        assert_eq!(filled(pattern!(LONG), &[]).unwrap(), LONG);
    }
}
