"""Drives a server by a client of the Python SDK: MODE PLAN -- COMMAND ARGS…

The plan is a JSON array of steps, [name, [tool, arguments]], or [name, null] to list the tools. One line of JSON comes out:
the version that was agreed, and what each step gave: {"names"}, {"text", "failed"}, {"code"} or {"timeout"}.
"""

import asyncio
import json
import sys

import mcp

mode, plan, command = sys.argv[1], json.loads(sys.argv[2]), sys.argv[4:]
TIMEOUT = 2.0  # seconds, of the step `timeout`


def given(result):
    failed = getattr(result, "is_error", getattr(result, "isError", False))
    return {"text": "".join(getattr(block, "text", "") for block in result.content), "failed": bool(failed)}


async def attempt(step, call):
    try:
        return given(await asyncio.wait_for(call, TIMEOUT if step == "timeout" else 30))
    except (asyncio.TimeoutError, TimeoutError):
        return {"timeout": True}
    except Exception as error:  # the SDKs have several error types; all of them hold the peer's code
        code = getattr(getattr(error, "error", None), "code", None)
        return {"code": code} if code is not None else {"broken": f"{type(error).__name__}: {error}"}


async def run(session, version):
    out = {"version": str(version)}
    for step, call in plan:
        if call is None:
            out[step] = {"names": [tool.name for tool in (await session.list_tools()).tools]}
        else:
            out[step] = await attempt(step, session.call_tool(*call))
    print(json.dumps(out))


async def modern():
    server = mcp.StdioServerParameters(command=command[0], args=command[1:])
    async with mcp.Client(server, mode=mode) as client:
        found = getattr(client.session, "discover_result", None)
        await run(client, mode if mode[0] == "2" else "modern" if found else "legacy")


async def legacy():
    from mcp import ClientSession
    from mcp.client.stdio import stdio_client

    server = mcp.StdioServerParameters(command=command[0], args=command[1:])
    async with stdio_client(server) as (read, write), ClientSession(read, write) as session:
        await run(session, (await session.initialize()).protocolVersion)


asyncio.run(modern() if hasattr(mcp, "Client") else legacy())
