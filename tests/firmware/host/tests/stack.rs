//! How deep the stacks are, under the harshest that a line can bring.
use firmware_host::{Board, Image, META, call};

/// What the deepest paths of decoding and answering take: both eras, lists, deep and long input, escapes, errors.
fn harsh(board: &mut Board) {
    board.open();
    let newer = |id: u32, method: &str, more: &str| {
        format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{{{more}{META}}}}}"#)
    };
    let deep = format!("{{\"a\":{}{}}}", "[".repeat(110), "]".repeat(110));
    let asks = [
        newer(1, "server/discover", ""),
        newer(2, "tools/list", ""),
        newer(3, "tools/call", r#""name":"echo","arguments":{"text":"\u00e4"},"#),
        newer(4, "tools/call", r#""name":"read_temperature","#),
        newer(5, "tools/call", r#""name":"set_led","arguments":{"on":7},"#),
        r#"{"jsonrpc":"2.0","id":6,"method":"tools/list"}"#.into(),
        call(7, "echo", r#"{"text":"\ud83d\ude00 \"quoted\" \n"}"#),
        call(8, "set_led", &deep),
        call(9, "nothing", "{}"),
        call(10, "read_log", "{}"),
        call(11, "calibrate", "{}"),
        call(12, "echo", &format!(r#"{{"text":"{}"}}"#, "\\u0041".repeat(1500))),
        r#"{"jsonrpc":"2.0","id":13,"method":"tools/list","params":{"cursor":"none"}}"#.into(),
        newer(14, "tools/call", r#""name":"set_led","arguments":{"on":1e400},"#),
        call(15, "uptime", "{}"),
    ];
    for ask in asks {
        board.ask(&ask);
        board.send(b"\xff~D{[\"noise\n");
    }
}

/// Bytes, with what `main` itself holds: the machine, the link, the application. Buffers are static.
#[test]
fn stacks_have_a_limit() {
    for (image, limit) in [(Image::M0, 3072), (Image::M4, 3392), (Image::Riscv, 4608)] {
        let mut board = Board::start(image);
        harsh(&mut board);
        let used = board.stack();
        println!("{image:?}: {used} bytes of stack were used");
        assert!(used > 256, "{image:?}: that was not the stack");
        assert!(used <= limit, "{image:?}: {used} bytes of stack, {limit} are the limit");
    }
}
