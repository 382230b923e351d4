//! A server and a client on file descriptors 0 and 1, by system calls alone: the server without arguments, the client
//! with any.
//!
//! That it links proves that nothing in it allocates (there is no allocator) and that no panic can be reached (the
//! panic handler calls a function that does not exist). The features `alloc` and `panic` must break that.
#![no_std]
#![no_main]

#[cfg(feature = "alloc")]
extern crate alloc;

mod client;
mod server;
mod sys;

#[unsafe(no_mangle)]
extern "C" fn run(arguments: usize) -> i32 {
    if arguments > 1 {
        return client::talk();
    }
    server::serve();
    0
}
