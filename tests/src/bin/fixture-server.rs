//! The server of the tests as a process of its own; see `barewire_tests::fixture`.

fn main() -> std::io::Result<()> {
    barewire_tests::fixture::main(std::env::args().skip(1))
}
