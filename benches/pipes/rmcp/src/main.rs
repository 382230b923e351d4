//! The server of `../../src/pipes/server.rs` on rmcp: `rmcp-server pipes` or `rmcp-server stdio`, by the name of its transport.

use std::sync::Arc;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ListToolsResult, PaginatedRequestParams,
    ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::{RequestContext, RoleServer};
use rmcp::transport::{stdio, stdio_pipes};
use rmcp::{ErrorData, ServerHandler, ServiceExt};
use serde_json::json;

#[derive(Clone)]
struct Alerts(Arc<String>);

impl ServerHandler for Alerts {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let schema = json!({"type": "object", "properties": {"state": {"type": "string"}}, "required": ["state"]});
        let schema = Arc::new(schema.as_object().cloned().unwrap_or_default());
        let tool = |name, what| Tool::new(name, what, Arc::clone(&schema));
        Ok(ListToolsResult::with_all_items(vec![
            tool("get_alerts", "Warnings for a state, in short."),
            tool("get_alerts_full", "Warnings for a state, in full."),
        ]))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let text = if request.name == "get_alerts_full" {
            String::clone(&self.0)
        } else {
            let state = request.arguments.as_ref().and_then(|args| args.get("state")).and_then(|state| state.as_str());
            let state = state.ok_or_else(|| ErrorData::invalid_params("state: a string", None))?;
            format!("No active alerts for {state}.")
        };
        Ok(CallToolResult::success(vec![ContentBlock::text(text)]).into())
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::var_os("BENCH_TEXT").unwrap_or_default();
    let server = Alerts(Arc::new(std::fs::read_to_string(path)?));
    if std::env::args().nth(1).as_deref() == Some("stdio") {
        server.serve(stdio()).await?.waiting().await?;
    } else {
        server.serve(stdio_pipes()).await?.waiting().await?;
    }
    Ok(())
}
