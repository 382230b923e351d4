//! The example of a message channel passes, and stays short.

#[path = "../examples/packets.rs"]
mod example;

#[test]
fn the_message_channel_passes() {
    assert!(include_str!("../examples/packets.rs").lines().count() <= 40);
    example::main();
}
