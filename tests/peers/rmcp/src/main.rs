//! Drives a server by a client on rmcp: `MODE PLAN -- COMMAND ARGS…` (see `../clients/py.py` for plan and output).

use std::time::Duration;

use rmcp::model::{CallToolRequestParams, ProtocolVersion};
use rmcp::service::{ClientLifecycleMode, ClientServiceExt, RoleClient, RunningService, ServiceError};
use rmcp::transport::TokioChildProcess;
use serde_json::{Map, Value, json};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [mode, plan, _, program, rest @ ..] = args.as_slice() else { return Err("usage".into()) };
    let newest = || vec![ProtocolVersion::V_2026_07_28];
    let lifecycle = match mode.as_str() {
        "legacy" => ClientLifecycleMode::Initialize,
        "auto" => ClientLifecycleMode::Auto {
            preferred_versions: newest(),
            legacy_version: Some(ProtocolVersion::V_2025_11_25),
        },
        _ => ClientLifecycleMode::Discover { preferred_versions: newest() },
    };
    let mut command = tokio::process::Command::new(program);
    command.args(rest);
    let client = ().serve_with_lifecycle(TokioChildProcess::new(command)?, lifecycle).await?;
    let mut out = Map::new();
    let version = client.peer_info().map(|info| info.protocol_version.to_string());
    out.insert("version".into(), json!(version.unwrap_or_default()));
    let plan: Vec<(String, Value)> = serde_json::from_str(plan)?;
    for (step, call) in plan {
        let given = match call.as_array().map(Vec::as_slice) {
            Some([name, arguments]) => attempt(&client, &step, name, arguments).await,
            _ => {
                let tools = client.list_all_tools().await?;
                json!({ "names": tools.iter().map(|tool| tool.name.to_string()).collect::<Vec<_>>() })
            }
        };
        out.insert(step, given);
    }
    println!("{}", Value::Object(out));
    client.cancel().await?;
    Ok(())
}

async fn attempt(client: &RunningService<RoleClient, ()>, step: &str, name: &Value, given: &Value) -> Value {
    let mut params = CallToolRequestParams::new(name.as_str().unwrap_or_default().to_owned());
    params.arguments = given.as_object().cloned();
    let limit = Duration::from_secs(if step == "timeout" { 2 } else { 30 });
    match tokio::time::timeout(limit, client.call_tool(params)).await {
        Err(_) => json!({ "timeout": true }),
        Ok(Err(ServiceError::McpError(error))) => json!({ "code": error.code.0 }),
        Ok(Err(error)) => json!({ "broken": error.to_string() }),
        Ok(Ok(result)) => {
            let texts: String =
                result.content.iter().filter_map(|b| b.as_text()).map(|t| t.text.as_str()).collect();
            json!({ "text": texts, "failed": result.is_error == Some(true) })
        }
    }
}
