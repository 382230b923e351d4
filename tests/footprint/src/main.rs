//! Images for the footprint table: what one configuration costs in flash and RAM, linked with nothing but itself.
//!
//! That one links proves that it has no allocator (there is none) and no panic that can be reached (the panic handler
//! calls a function that does not exist; the feature `panic` must break that).
#![no_std]
#![no_main]

mod board;
#[cfg(feature = "client")]
mod client;
#[cfg(feature = "json")]
mod json;
#[cfg(feature = "peers")]
mod peers;
#[cfg(feature = "server")]
mod server;

#[unsafe(no_mangle)]
extern "C" fn run() -> ! {
    #[cfg(feature = "json")]
    json::talk();
    #[cfg(feature = "peers")]
    peers::talk();
    #[cfg(feature = "server")]
    server::serve();
    #[cfg(feature = "client")]
    client::talk();
    board::exit();
}
