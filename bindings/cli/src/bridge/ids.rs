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
    /// Numbers that fit no integer; few will ever be seen.
    Huge,
}

impl Key {
    fn of(id: Raw<'_>) -> Self {
        match (id.as_i64(), id.as_string()) {
            (Some(number), _) => Self::Number(number),
            (_, Some(text)) => Self::Text(text.chars().collect()),
            _ => Self::Huge,
        }
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

    /// Whether there is room for one more: their number and the length of their ids are bounded.
    pub(super) const fn has_room(&self, id: Raw<'_>, most: usize, bytes: usize) -> bool {
        self.count < most && self.bytes + id.as_bytes().len() <= bytes
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
        ] {
            assert_eq!(ids.insert(raw(id), id), is_new, "{id}");
        }
        assert_eq!(ids.remove(raw("1.0")), Some("1"));
        assert_eq!(ids.remove(raw("1")), None);
        let left: Vec<&str> = ids.take(|_| true).into_iter().map(|(_, value)| value).collect();
        let huge = ["123456789012345678901234567890", "123456789012345678901234567891"];
        assert_eq!(left, ["\"1\"", huge[0], huge[1], "\"\""]);
        assert_eq!((ids.count, ids.bytes), (0, 0));
    }
}
