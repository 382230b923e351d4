"""The least server, for cases that start one in Python: both eras, one tool."""

import json
import sys

for line in sys.stdin:
    message = json.loads(line)
    modern = "io.modelcontextprotocol/protocolVersion" in message.get("params", {}).get("_meta", {})
    method, server = message["method"], {"name": "fixture", "version": "1"}
    if "id" not in message:
        continue
    if method == "initialize":
        version = message["params"]["protocolVersion"]
        result = {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": server}
    elif method == "server/discover" and modern:
        result = {"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}}
    elif method == "tools/list":
        result = {"tools": [{"name": "noargs", "inputSchema": {"type": "object"}}]}
    else:
        result = {}
    if modern:
        result |= {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"}
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}, separators=(",", ":")), flush=True)
