//! The two tools of `../barewire`, as rmcp's documentation shows servers.

use rmcp::handler::server::wrapper::Parameters;
use rmcp::transport::stdio;
use rmcp::{ServiceExt, tool, tool_router};

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Numbers {
    a: i64,
    b: i64,
}

struct Hello;

#[tool_router(server_handler)]
impl Hello {
    #[tool(description = "Adds two integers.")]
    fn add(&self, Parameters(Numbers { a, b }): Parameters<Numbers>) -> Result<String, String> {
        told(a.checked_add(b))
    }

    #[tool(description = "Multiplies two integers.")]
    fn multiply(&self, Parameters(Numbers { a, b }): Parameters<Numbers>) -> Result<String, String> {
        told(a.checked_mul(b))
    }
}

fn told(result: Option<i64>) -> Result<String, String> {
    result.map(|number| number.to_string()).ok_or_else(|| "the result is too large".into())
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    Hello.serve(stdio()).await?.waiting().await?;
    Ok(())
}
