//! A session with whatever is at the far end.

use barewire_serial::host::{Device, Failure as Missed, OpenError};
use barewire_stdio::{CallResult, Client, Options, ServerInfo, ToolInfo};

/// A server that can be asked.
pub(crate) enum Peer {
    /// A child process, or the other end of a socket.
    Client(Client, ServerInfo),
    /// A device behind a serial port.
    Device(Device, ServerInfo),
}

impl Peer {
    pub(crate) fn over(client: Client) -> Self {
        let server = client.server().clone();
        Self::Client(client, server)
    }

    /// The device has just been reached; if it is gone again, that is told as a silent one.
    pub(crate) fn behind(device: Device, silent: OpenError) -> Result<Self, OpenError> {
        match device.server() {
            Some(server) => Ok(Self::Device(device, server)),
            None => Err(silent),
        }
    }

    pub(crate) const fn server(&self) -> &ServerInfo {
        match self {
            Self::Client(_, server) | Self::Device(_, server) => server,
        }
    }

    pub(crate) fn list_tools(&self) -> Result<Vec<ToolInfo>, Missed> {
        match self {
            Self::Client(client, _) => client.list_tools().map_err(Missed::Call),
            Self::Device(device, _) => device.list_tools(),
        }
    }

    pub(crate) fn call(
        &self,
        name: &str,
        args_json: &str,
        options: Options<'_>,
    ) -> Result<CallResult, Missed> {
        match self {
            Self::Client(client, _) => client.call_with(name, args_json, options).map_err(Missed::Call),
            Self::Device(device, _) => device.call_with(name, args_json, options),
        }
    }

    /// Ends the session, and the server if it is a child.
    pub(crate) fn close(&self) {
        match self {
            Self::Client(client, _) => drop(client.close()),
            Self::Device(device, _) => device.close(),
        }
    }
}
