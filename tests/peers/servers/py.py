"""A server on the Python SDK, whichever version runs it: 2.x has MCPServer where 1.x has FastMCP."""

import asyncio

try:
    from mcp.server.mcpserver import MCPServer as Server
except ModuleNotFoundError:
    from mcp.server.fastmcp import FastMCP as Server

server = Server("peer")


@server.tool()
def get_alerts(state: str) -> str:
    """Weather alerts of a state, made up and long: with line breaks, quotes and characters of two to four bytes."""
    alert = 'Event: storm\nArea: "north" of the Rio Grande, near Cañón\nNotes: up to 40 °C ⚡ 🌪\n'
    return f"Alerts for {state}\n" + "---\n".join(alert for _ in range(500))


@server.tool()
def boom() -> str:
    """Always fails."""
    raise ValueError("boom, as asked")


@server.tool()
async def slow(seconds: float) -> str:
    """Sleeps."""
    await asyncio.sleep(seconds)
    return "slept"


if __name__ == "__main__":
    server.run(transport="stdio")
