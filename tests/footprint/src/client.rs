//! A client that opens a session, lists the tools and calls one.
use crate::board;
use core::hint::black_box;
use core::mem::MaybeUninit;
use barewire::{Client, ClientConfig, ClientEvent, Content, Millis, Output, Storage};

static CONFIG: ClientConfig<'static> = ClientConfig::new("button", "1.0.0");
static STORAGE: board::Once<Storage<512, 512, 2>> = board::Once::new(Storage::new());
static CLIENT: board::Once<MaybeUninit<Client<'static>>> = board::Once::new(MaybeUninit::uninit());
#[used]
#[unsafe(link_section = ".sizes.machine")]
static SIZE: u32 = size_of::<Client<'static>>() as u32;

#[inline(never)]
fn start() -> &'static mut Client<'static> {
    // An address that the compiler knew would stand in full in each function that uses it: 200 bytes.
    black_box(CLIENT.take().write(Client::new(&CONFIG, STORAGE.take().buffers())))
}

/// Until the call has ended.
pub fn talk() {
    // Switches the UART on: a client speaks first.
    board::read(&mut []);
    let client = start();
    let (mut now, mut asked, mut lit) = (0u64, false, false);
    loop {
        match client.poll(Millis(now)) {
            Output::Send(bytes) => {
                let n = board::write(bytes);
                client.sent(n);
            }
            Output::Event(ClientEvent::Opened { .. }) => {
                let _ = client.list_tools(None).and_then(|request| request.send());
            }
            Output::Event(ClientEvent::Content { content: Content::Text(text), .. }) => lit = text == "on",
            Output::Event(ClientEvent::Ended { .. }) if asked => {
                board::write(if lit { b"lit\n" } else { b"dark\n" });
                return;
            }
            Output::Event(ClientEvent::Ended { .. }) => {
                asked = true;
                let call = client.call_tool("set_led").map(|call| {
                    call.args(|o| {
                        o.bool("on", true);
                    })
                });
                let _ = call.and_then(|call| call.send());
            }
            Output::Event(ClientEvent::NotOpened(_)) | Output::Closed => return,
            Output::Event(_) => {}
            Output::Wait { .. } | Output::Blocked { .. } => match board::read(client.space()) {
                0 => client.end_of_input(),
                n => client.filled(n),
            },
        }
        now = now.wrapping_add(1);
    }
}
