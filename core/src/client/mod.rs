//! The client's machine: bytes in, events and bytes out.
/// What a client remembers of one request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SlotClient;
