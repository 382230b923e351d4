//! rmcp's client and server over a tokio duplex in one thread.

use std::sync::{Mutex, PoisonError};

use barewire_benches::{Contender, Corpus, Digest, Group, Row, Seen, Turns, row};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, JsonObject, ProtocolVersion,
    ServerCapabilities, ServerConfig,
};
use rmcp::service::{
    ClientLifecycleMode, ClientServiceExt, RequestContext, RoleClient, RoleServer, RunningService, ServiceExt,
};
use rmcp::{ErrorData, ServerHandler};
use tokio::runtime::{Builder, Runtime};

pub(crate) fn rows() -> Vec<Row> {
    vec![
        row(Group::RoundTrip, "rmcp", "3.11.0", |corpus| Pair::new(corpus).ok())
            .note("client and server over a tokio duplex of 64 KiB, current_thread"),
    ]
}

struct Weather {
    answers: Mutex<Turns<String>>,
}

impl ServerHandler for Weather {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    async fn call_tool(
        &self,
        _: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let text = self.answers.lock().unwrap_or_else(PoisonError::into_inner).next().clone();
        Ok(CallToolResult::success(vec![ContentBlock::text(text)]).into())
    }
}

struct Pair {
    // Dropped before the runtime that it runs on.
    client: RunningService<RoleClient, ()>,
    runtime: Runtime,
}

impl Pair {
    fn new(corpus: &Corpus) -> Result<Self, Box<dyn std::error::Error>> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let server = Weather { answers: Mutex::new(Turns::texts(corpus)) };
        let (near, far) = tokio::io::duplex(64 * 1024);
        let newest = || vec![ProtocolVersion::V_2026_07_28];
        let lifecycle = if corpus.modern {
            ClientLifecycleMode::Discover { preferred_versions: newest() }
        } else {
            ClientLifecycleMode::Initialize
        };
        let client = runtime.block_on(async {
            tokio::spawn(async move {
                if let Ok(running) = server.serve(far).await {
                    let _ = running.waiting().await;
                }
            });
            ().serve_with_lifecycle(near, lifecycle).await
        })?;
        Ok(Self { client, runtime })
    }
}

impl Contender for Pair {
    fn read(&mut self, _: &[u8]) -> Digest {
        let mut arguments = JsonObject::new();
        arguments.insert("state".into(), "TX".into());
        let call = CallToolRequestParams::new("get_alerts").with_arguments(arguments);
        let Ok(result) = self.runtime.block_on(self.client.call_tool(call)) else { return Digest::REFUSED };
        match result.content.first() {
            Some(ContentBlock::Text(text)) => Digest::of(Seen::of(text.text.as_bytes())),
            _ => Digest::REFUSED,
        }
    }
}
