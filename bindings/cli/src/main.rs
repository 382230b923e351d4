//! The barewire command line.
fn main() {}
