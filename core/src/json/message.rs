//! Short texts without allocation, for errors.

use core::fmt;

/// Text that is cut off, with an ellipsis, where `N` bytes are not enough.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Message<const N: usize> {
    bytes: [u8; N],
    len: u8,
    cut: bool,
}

impl<const N: usize> Message<N> {
    pub(super) const fn new() -> Self {
        Self { bytes: [0; N], len: 0, cut: false }
    }

    pub(super) fn of(text: impl fmt::Display) -> Self {
        let mut message = Self::new();
        let _ = fmt::write(&mut message, format_args!("{text}"));
        message
    }

    pub(super) fn as_str(&self) -> &str {
        self.bytes.get(..usize::from(self.len)).and_then(|b| core::str::from_utf8(b).ok()).unwrap_or_default()
    }

    /// Puts `text` before what is there; cuts its start if that is too much.
    pub(super) fn prepend(&mut self, text: &str) {
        let room = N.min(usize::from(u8::MAX)).saturating_sub(usize::from(self.len));
        if self.cut {
            return;
        }
        let mut from = text.len().saturating_sub(room);
        self.cut = from > 0;
        while !text.is_char_boundary(from) {
            from = from.saturating_add(1);
        }
        let text = text.get(from..).unwrap_or_default().as_bytes();
        let mut bytes = [0; N];
        for (to, from) in bytes.iter_mut().zip(text.iter().chain(&self.bytes)) {
            *to = *from;
        }
        self.bytes = bytes;
        // Both lengths were just held to 255 together.
        self.len = self.len.saturating_add(text.len() as u8);
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.len == 0
    }

    pub(super) const fn is_cut(&self) -> bool {
        self.cut
    }
}

impl<const N: usize> fmt::Write for Message<N> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        if self.cut {
            return Ok(());
        }
        let start = usize::from(self.len);
        let room = N.min(usize::from(u8::MAX)).saturating_sub(start);
        let mut len = text.len().min(room);
        self.cut = len < text.len();
        while !text.is_char_boundary(len) {
            len = len.saturating_sub(1);
        }
        let end = start.saturating_add(len);
        if let (Some(room), Some(text)) = (self.bytes.get_mut(start..end), text.as_bytes().get(..len)) {
            super::copy(room, text);
            self.len = end as u8;
        }
        Ok(())
    }
}

impl<const N: usize> fmt::Display for Message<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())?;
        if self.cut { f.write_str("…") } else { Ok(()) }
    }
}

impl<const N: usize> fmt::Debug for Message<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::fmt::Write as _;
    use std::string::ToString as _;

    #[test]
    fn is_cut_between_characters() {
        let mut message = Message::<4>::new();
        message.write_str("aé").unwrap();
        message.write_str("éé").unwrap();
        message.write_str("x").unwrap();
        assert_eq!(message.to_string(), "aé…");
    }

    #[test]
    fn grows_at_the_front() {
        let mut message = Message::<6>::of("cd");
        message.prepend("éb");
        assert_eq!((message.as_str(), message.is_cut()), ("ébcd", false));
        message.prepend("xé");
        assert_eq!((message.as_str(), message.is_cut()), ("ébcd", true));
        message.prepend("y");
        assert_eq!(message.as_str(), "ébcd");
    }
}
