"""The server of ../src/pipes/server.rs on the Python SDK 2.x."""

import os
from pathlib import Path

from mcp.server.mcpserver import MCPServer

FULL = Path(os.environ["BENCH_TEXT"]).read_text()
server = MCPServer("alerts")


@server.tool(structured_output=False)
def get_alerts(state: str) -> str:
    """Warnings for a state, in short."""
    return f"No active alerts for {state}."


@server.tool(structured_output=False)
def get_alerts_full(state: str) -> str:
    """Warnings for a state, in full."""
    return FULL


if __name__ == "__main__":
    server.run(transport="stdio")
