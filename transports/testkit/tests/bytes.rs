//! The example of a byte stream passes, and stays short.

#[path = "../examples/bytes.rs"]
mod example;

#[test]
fn the_byte_stream_passes() {
    assert!(include_str!("../examples/bytes.rs").lines().count() <= 40);
    example::main();
}
