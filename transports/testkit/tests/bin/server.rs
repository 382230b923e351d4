//! The suite's server as a program.

fn main() -> std::io::Result<()> {
    barewire_testkit::serve_stdio()
}
