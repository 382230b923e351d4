//! The arguments of a call that is run elsewhere.

use crate::json::Raw;
use crate::server::Args;
use alloc::vec::Vec;

/// The arguments of a call, copied out of the machine, which has checked them: for a driver that hands calls to threads or tasks.
///
/// ```
/// use barewire::{Args, BadArgs, Fields, FromArgs, owned::OwnedArgs};
/// struct Echo<'m>(&'m str);
/// impl<'m> FromArgs<'m> for Echo<'m> {
///     fn from_args(mut fields: Fields<'m>) -> Result<Self, BadArgs> {
///         let mut text = Err(BadArgs::new("text", "a string"));
///         while let Some((key, value)) = fields.next() {
///             if key == "text" {
///                 text = value.str("text");
///             }
///         }
///         text.map(Self)
///     }
/// }
/// # let mut sent = br#"{"text":"a\u00e9"}"#.to_vec();
/// # let args = Args::from_json(&mut sent).unwrap(); // of a `Call`
/// let mut owned = OwnedArgs::default();
/// owned.set(&args);
/// // Anywhere and any time later, and more than once:
/// let mut memory = Vec::new();
/// assert_eq!(owned.lend(&mut memory).decode::<Echo<'_>>().unwrap().0, "aé");
/// assert_eq!(owned.json().as_str(), r#"{"text":"a\u00e9"}"#);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OwnedArgs(Vec<u8>);

impl OwnedArgs {
    /// Arguments of more bytes give their memory back when others follow.
    const KEEP: usize = 64 << 10;

    /// Copies them, into the memory of those that were here.
    pub fn set(&mut self, args: &Args<'_>) {
        let json = args.json().as_bytes();
        if self.0.capacity() > Self::KEEP.max(json.len()) {
            self.0 = Vec::new();
        }
        self.0.clear();
        self.0.extend_from_slice(json);
    }

    /// As they came: an object, `{}` if the peer sent none.
    #[must_use]
    pub fn json(&self) -> Raw<'_> {
        if self.0.is_empty() { Raw::EMPTY_OBJECT } else { Raw::trusted(&self.0) }
    }

    /// To decode, which undoes escapes in place: in a copy that is made in `memory`, whose content is dropped.
    pub fn lend<'m>(&self, memory: &'m mut Vec<u8>) -> Args<'m> {
        memory.clear();
        memory.extend_from_slice(&self.0);
        Args::new(memory)
    }
}

impl From<&Args<'_>> for OwnedArgs {
    fn from(args: &Args<'_>) -> Self {
        let mut owned = Self::default();
        owned.set(args);
        owned
    }
}
