//! Where the ids of a client start.

use barewire::{Client, ClientConfig, Era, Millis, Output, Storage};

fn first_line(config: &ClientConfig<'_>) -> String {
    let mut storage = Storage::<512, 512, 2>::new();
    let mut client = Client::new(config, storage.buffers());
    match client.poll(Millis(0)) {
        Output::Send(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        _ => String::new(),
    }
}

#[test]
fn they_start_where_they_are_told_to() {
    let config = ClientConfig::new("c", "1").era(Era::Legacy);
    assert!(first_line(&config).contains(r#""id":1,"#));
    assert!(first_line(&config.first_id(4_000_000)).contains(r#""id":4000000,"#));
    // 0 is not an id of ours.
    assert!(first_line(&config.first_id(0)).contains(r#""id":1,"#));
}
