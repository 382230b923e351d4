//! Requests that wait for their answers, by id.
//!
//! Ids are compared as JSON-RPC means them ([`Raw::same_id`]): 5 is 5.0 and never "5".

use std::collections::HashMap;

use barewire::json::Raw;

/// Open requests, each with what is to be remembered of it.
pub(super) struct Ids<T> {
    places: HashMap<Key, Vec<Entry<T>>>,
    count: usize,
    bytes: usize,
    /// The number of the next one: they are handed out in the order of their coming.
    next: u64,
}

struct Entry<T> {
    id: Box<[u8]>,
    number: u64,
    value: T,
}

/// What equal ids have in common.
#[derive(PartialEq, Eq, Hash)]
enum Key {
    Number(i64),
    Text(String),
    /// Numbers that fit no integer: the sign, the digits without zeros at either end, and the power of ten of the last one.
    Decimal(bool, Vec<u8>, i128),
    /// What is compared as text.
    Odd(Vec<u8>),
}

impl Key {
    fn of(id: Raw<'_>) -> Self {
        match (id.as_i64(), id.as_string()) {
            (Some(number), _) => Self::Number(number),
            (_, Some(text)) => Self::Text(text.chars().collect()),
            _ => Self::decimal(id.as_bytes()).unwrap_or_else(|| Self::Odd(id.as_bytes().into())),
        }
    }

    /// A number; `None` if it is none, or its exponent is not worth a calculation.
    fn decimal(text: &[u8]) -> Option<Self> {
        let unsigned = text.strip_prefix(b"-").unwrap_or(text);
        let e = unsigned.iter().position(|b| matches!(b, b'e' | b'E'));
        let (mantissa, exponent) = unsigned.split_at(e.unwrap_or(unsigned.len()));
        let exponent = core::str::from_utf8(exponent.get(1..).unwrap_or(b"0")).ok()?;
        let exponent: i128 = exponent.parse().ok()?;
        let dot = mantissa.iter().position(|b| *b == b'.').unwrap_or(mantissa.len());
        let mut digits: Vec<u8> = mantissa.iter().copied().filter(u8::is_ascii_digit).collect();
        let fraction = mantissa.len().saturating_sub(dot + 1);
        let all = digits.len();
        digits.truncate(digits.iter().rposition(|b| *b != b'0')? + 1);
        let power = exponent.checked_add((all - digits.len()) as i128)?.checked_sub(fraction as i128)?;
        digits.drain(..digits.iter().position(|b| *b != b'0')?);
        Some(Self::Decimal(text.len() != unsigned.len(), digits, power))
    }
}

impl<T> Ids<T> {
    pub(super) fn new() -> Self {
        Self { places: HashMap::new(), count: 0, bytes: 0, next: 0 }
    }

    /// Adds one; false if the id is there already.
    pub(super) fn insert(&mut self, id: Raw<'_>, value: T) -> bool {
        if self.get(id).is_some() {
            return false;
        }
        let entry = Entry { id: id.as_bytes().into(), number: self.next, value };
        self.next += 1;
        self.count += 1;
        self.bytes += id.as_bytes().len();
        self.places.entry(Key::of(id)).or_default().push(entry);
        true
    }

    pub(super) fn get(&self, id: Raw<'_>) -> Option<&T> {
        let entries = self.places.get(&Key::of(id))?;
        entries.iter().find(|entry| entry.is(id)).map(|entry| &entry.value)
    }

    pub(super) fn get_mut(&mut self, id: Raw<'_>) -> Option<&mut T> {
        let entries = self.places.get_mut(&Key::of(id))?;
        entries.iter_mut().find(|entry| entry.is(id)).map(|entry| &mut entry.value)
    }

    pub(super) fn remove(&mut self, id: Raw<'_>) -> Option<T> {
        let key = Key::of(id);
        let entries = self.places.get_mut(&key)?;
        let at = entries.iter().position(|entry| entry.is(id))?;
        let entry = entries.swap_remove(at);
        if entries.is_empty() {
            self.places.remove(&key);
        }
        self.count -= 1;
        self.bytes -= entry.id.len();
        Some(entry.value)
    }

    /// Takes out those that `which` says, the oldest first, their ids as they came.
    pub(super) fn take(&mut self, which: impl Fn(&T) -> bool) -> Vec<(Box<[u8]>, T)> {
        let mut taken = Vec::new();
        self.places.retain(|_, entries| {
            taken.extend(entries.extract_if(.., |entry| which(&entry.value)));
            !entries.is_empty()
        });
        self.count -= taken.len();
        self.bytes -= taken.iter().map(|entry| entry.id.len()).sum::<usize>();
        taken.sort_unstable_by_key(|entry| entry.number);
        taken.into_iter().map(|entry| (entry.id, entry.value)).collect()
    }

    pub(super) fn any(&self, which: impl Fn(&T) -> bool) -> bool {
        self.places.values().flatten().any(|entry| which(&entry.value))
    }

    /// Whether there is room for these as well: their number and the length of their ids are bounded.
    pub(super) fn has_room<'a>(
        &self,
        more: impl IntoIterator<Item = Raw<'a>>,
        most: usize,
        bytes: usize,
    ) -> bool {
        let (mut count, mut length) = (self.count, self.bytes);
        more.into_iter().all(|id| {
            (count, length) = (count + 1, length + id.as_bytes().len());
            count <= most && length <= bytes
        })
    }
}

impl<T> Entry<T> {
    fn is(&self, id: Raw<'_>) -> bool {
        Raw::from_bytes(&self.id).is_ok_and(|own| own.same_id(id))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(text: &str) -> Raw<'_> {
        Raw::new(text).unwrap()
    }

    #[test]
    fn ids_are_the_same_by_value_and_never_across_types() {
        let mut ids = Ids::new();
        for (id, is_new) in [
            ("1", true),
            ("\"1\"", true),
            ("1.0", false),
            ("10e-1", false),
            ("\"\\u0031\"", false),
            ("123456789012345678901234567890", true),
            ("123456789012345678901234567891", true),
            ("1234567890123456789012345678900e-1", false),
            ("\"\"", true),
            ("1.5", true),
            ("15e-1", false),
            ("0.0150e2", false),
            ("-1.5", true),
            ("1e400", true),
            ("10.0E+399", false),
            ("1e401", true),
            ("-0", true),
            ("0e5", false),
        ] {
            assert_eq!(ids.insert(raw(id), id), is_new, "{id}");
        }
        assert_eq!(ids.remove(raw("1.0")), Some("1"));
        assert_eq!(ids.remove(raw("1")), None);
        let left: Vec<&str> = ids.take(|_| true).into_iter().map(|(_, value)| value).collect();
        let huge = ["123456789012345678901234567890", "123456789012345678901234567891"];
        assert_eq!(left, ["\"1\"", huge[0], huge[1], "\"\"", "1.5", "-1.5", "1e400", "1e401", "-0"]);
        assert_eq!((ids.count, ids.bytes), (0, 0));
    }

    #[test]
    fn numbers_that_fit_no_integer_are_found_without_a_search() {
        let mut ids = Ids::new();
        for n in 0..4_000 {
            for id in [format!("12345678901234567890{n:06}"), format!("1e{}", 30 + n), format!("{n}.5")] {
                assert!(ids.insert(raw(&id), ()));
            }
        }
        assert!(ids.places.values().all(|entries| entries.len() == 1));
    }
}
