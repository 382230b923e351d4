//! The revisions of the protocol.
use core::fmt;

/// The eras that are compiled in. Plain conditions, so that all code is checked in every combination.
pub(crate) const LEGACY: bool = cfg!(feature = "legacy");
pub(crate) const MODERN: bool = cfg!(feature = "modern");

/// A protocol revision; ordered by age.
///
/// ```
/// use barewire::Version;
/// assert!(Version::V2024_11_05 < Version::V2026_07_28);
/// assert_eq!(Version::parse("2025-06-18"), Some(Version::V2025_06_18));
/// assert_eq!(Version::V2025_06_18.as_str(), "2025-06-18");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[non_exhaustive]
pub enum Version {
    /// The first one.
    V2024_11_05,
    /// The only one with batches; brought annotations and audio.
    V2025_03_26,
    /// Brought structured content, titles, resource links, elicitation.
    V2025_06_18,
    /// The last with a handshake; brought icons and tasks.
    V2025_11_25,
    /// The first without: every request says who it is.
    V2026_07_28,
}

impl Version {
    /// All of them, oldest first.
    pub const ALL: [Self; 5] =
        [Self::V2024_11_05, Self::V2025_03_26, Self::V2025_06_18, Self::V2025_11_25, Self::V2026_07_28];
    /// The newest that a handshake can agree on.
    pub const NEWEST_LEGACY: Self = Self::V2025_11_25;
    /// The newest of all.
    pub const NEWEST: Self = Self::V2026_07_28;

    /// As on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::V2024_11_05 => "2024-11-05",
            Self::V2025_03_26 => "2025-03-26",
            Self::V2025_06_18 => "2025-06-18",
            Self::V2025_11_25 => "2025-11-25",
            Self::V2026_07_28 => "2026-07-28",
        }
    }

    /// The inverse; `None` for a revision that this crate does not speak.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|v| v.as_str() == text)
    }

    /// Is it stateless (2026-07-28), not agreed on by a handshake?
    #[must_use]
    pub const fn is_modern(self) -> bool {
        matches!(self, Self::V2026_07_28)
    }
}

impl Version {
    /// [`is_modern`](Self::is_modern) of the revision that is spoken: where there is only one era, the compiler knows.
    pub(crate) const fn is_stateless(self) -> bool {
        MODERN && (!LEGACY || self.is_modern())
    }

    /// Is the revision that is spoken `first` or a later one?
    pub(crate) fn since(self, first: Self) -> bool {
        !LEGACY || self >= first
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}
