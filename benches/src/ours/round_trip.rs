use barewire::{
    Call, Client, ClientConfig, ClientEvent, Content, Era, Millis, Output, Server, ServerConfig, ServerEvent,
    Storage, Tool,
};

use crate::{Contender, Corpus, Digest, Seen, Turns};

const NOW: Millis = Millis(0);
static TOOLS: &[Tool<'static>] = &[Tool::new(
    "get_alerts",
    "Warnings for a state.",
    r#"{"type":"object","properties":{"state":{"type":"string"}}}"#,
)];
static SERVER: ServerConfig<'static> = ServerConfig::new("weather", "1").tools(TOOLS);
static LEGACY: ClientConfig<'static> = ClientConfig::new("bench", "1").era(Era::Legacy);
static MODERN: ClientConfig<'static> = ClientConfig::new("bench", "1").era(Era::Modern);

/// Room for 51 KB of text and its escapes.
type Large = Storage<{ 64 * 1024 }, { 64 * 1024 }, 1>;

/// A client and a server, whose bytes are handed over as they are.
pub(super) struct Pair {
    client: Client<'static>,
    server: Server<'static>,
    answers: Turns<String>,
}

impl Pair {
    pub(super) fn new(corpus: &Corpus) -> Self {
        // They stay to the end of the run, as in a firmware's `static`.
        let memory = || Box::leak(Box::new(Large::new())).buffers();
        let config = if corpus.modern { &MODERN } else { &LEGACY };
        let (client, server) = (Client::new(config, memory()), Server::new(&SERVER, memory()));
        let mut pair = Self { client, server, answers: Turns::texts(corpus) };
        assert!(pair.run(|event| matches!(event, ClientEvent::Opened { .. })), "the session does not open");
        pair
    }

    /// Until the client says what `until` waits for; false if everything stands still before.
    fn run(&mut self, mut until: impl FnMut(ClientEvent<'_>) -> bool) -> bool {
        loop {
            let mut moved = false;
            loop {
                match self.client.poll(NOW) {
                    Output::Send(bytes) => {
                        let taken = self.server.feed(bytes);
                        self.client.sent(taken);
                        moved |= taken > 0;
                        if taken == 0 {
                            break;
                        }
                    }
                    Output::Event(event) => {
                        if until(event) {
                            return true;
                        }
                    }
                    Output::Wait { .. } | Output::Blocked { .. } | Output::Closed => break,
                }
            }
            loop {
                match self.server.poll(NOW) {
                    Output::Send(bytes) => {
                        let taken = self.client.feed(bytes);
                        self.server.sent(taken);
                        moved |= taken > 0;
                        if taken == 0 {
                            break;
                        }
                    }
                    Output::Event(ServerEvent::Call(Call { reply, .. })) => {
                        // A refusal shows in the digest.
                        let _ = reply.text(self.answers.next()).finish();
                    }
                    Output::Event(_) => {}
                    Output::Wait { .. } | Output::Blocked { .. } | Output::Closed => break,
                }
            }
            if !moved {
                return false;
            }
        }
    }
}

impl Contender for Pair {
    fn read(&mut self, _: &[u8]) -> Digest {
        let sent = self
            .client
            .call_tool("get_alerts")
            .and_then(|call| call.args(|o| _ = o.str("state", "TX")).send());
        if sent.is_err() {
            return Digest::REFUSED;
        }
        let mut seen = Seen::ABSENT;
        let ended = self.run(|event| match event {
            ClientEvent::Content { content: Content::Text(text), .. } => {
                seen = Seen::of(text.as_bytes());
                false
            }
            event => matches!(event, ClientEvent::Ended { .. }),
        });
        if ended { Digest::of(seen) } else { Digest::REFUSED }
    }
}
