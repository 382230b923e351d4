//! The contenders beside Barewire, each at one version. None of their code is here: they are called as their pages say.

mod codecs;
mod embedded;
mod flexon;
mod id;
mod jiter;
mod rmcp_model;
mod rmcp_pair;
mod simd;
mod sonic;

use barewire_benches::{Row, rows::light};

/// All of them, after the light ones. A contender of your own is one more line here.
#[must_use]
pub fn rows() -> Vec<Row> {
    let mut rows = light();
    rows.extend(codecs::rows());
    rows.extend(sonic::rows());
    rows.extend(flexon::rows());
    rows.extend(simd::rows());
    rows.extend(jiter::rows());
    rows.extend(embedded::rows());
    rows.extend(rmcp_model::rows());
    rows.extend(rmcp_pair::rows());
    rows
}
