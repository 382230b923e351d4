//! The log that the boards have in flash: 1,000 lines of 50 bytes.

/// Numbered lines. Quotes and line feeds become two characters on the wire.
pub static LOG: &str = match core::str::from_utf8(&BYTES) {
    Ok(text) => text,
    Err(_) => panic!("the log is ASCII"),
};

static BYTES: [u8; 50_000] = {
    let line = *b"0000 supply 3.01 V, door closed, \"all is well\", ok\n";
    let mut log = [0; 50_000];
    let mut at = 0;
    while at < log.len() {
        let (number, column) = (at / 50, at % 50);
        log[at] = match column {
            0 => b'0' + (number / 1000 % 10) as u8,
            1 => b'0' + (number / 100 % 10) as u8,
            2 => b'0' + (number / 10 % 10) as u8,
            3 => b'0' + (number % 10) as u8,
            49 => b'\n',
            _ => line[column],
        };
        at += 1;
    }
    log
};
