//! Tests of the whole: the checker over all bytes that either side writes, and what the other tests share.

pub mod alloc;
pub mod cases;
pub mod fixture;
pub mod model;
pub mod pair;
pub mod schema;
#[cfg(unix)]
pub mod soak;
pub mod transcript;

/// The README's examples compile.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
pub struct Readme;

use std::env;
use std::path::{Path, PathBuf};

/// A file or folder of the material that lies beside the repository (schemas, cases, captures), where it is present.
///
/// `BAREWIRE_SHARED` names the folder; without it `shared` is looked for beside the workspace root and one level above.
#[must_use]
pub fn shared(path: &str) -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent()?;
    let named = env::var_os("BAREWIRE_SHARED").map(PathBuf::from);
    let beside = root.ancestors().skip(1).take(2).map(|folder| folder.join("shared"));
    named.into_iter().chain(beside).map(|folder| folder.join(path)).find(|found| found.exists())
}
