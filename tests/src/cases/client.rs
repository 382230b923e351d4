//! stub
use super::case::Case;
use super::{Era, Programs, Verdict};
pub(super) fn eras(_: &Case) -> Vec<Era> {
    vec![Era::Legacy]
}
pub(super) fn run(_: &Case, _: Era, p: &Programs) -> Result<Verdict, String> {
    let _ = &p.own;
    Ok(Verdict::Inapplicable("is not for machines"))
}
