#!/usr/bin/env python3
"""The table peer × era × behaviour, printed and judged: real servers under our command line, our servers under real clients.

usage: table.py PEERS BIN    PEERS: what install.sh made; BIN: the folder of `barewire` and `fixture-server`
A cell is `ok`, `-` where the peer has no such thing, or `WRONG` with the reason below the table; any WRONG fails.
"""

import concurrent.futures
import json
import os
import pathlib
import shutil
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
PEERS, BIN = (pathlib.Path(arg).resolve() for arg in sys.argv[1:3])
BAREWIRE, FIXTURE = str(BIN / "barewire"), str(BIN / "fixture-server")
COLUMNS = ["list", "call", "isError", "unknown", "timeout"]
LIMIT = 60  # seconds for anything


def python(venv):
    return str(PEERS / "venvs" / venv / "bin" / "python")


def script(kind, package, name):
    """A script of ours lies beside the packages that it imports."""
    copy = PEERS / "npm" / package / f"{kind}.mjs"
    shutil.copyfile(HERE / f"{kind}s" / f"{name}.mjs", copy)
    return ["node", str(copy)]


def run(command):
    start = time.monotonic()
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT, stdin=subprocess.DEVNULL)
    except subprocess.TimeoutExpired:
        return None, "", "hangs", LIMIT
    return done.returncode, done.stdout, done.stderr, time.monotonic() - start


# Servers: their command, eras, and for each step tool and arguments; the status that an unknown tool must give
# (1: the server says isError, 5: it says -32602).
OURS = {"call": ("get_alerts", {"state": "TX"}), "isError": ("boom", {}), "timeout": ("slow", {"seconds": 30})}
TIME = {"call": ("get_current_time", {"timezone": "UTC"}), "isError": ("get_current_time", {"timezone": "Mars/Base"})}
EVERYTHING = {
    "call": ("get-sum", {"a": 1, "b": 2}),
    "isError": ("get-sum", {"a": "x", "b": 2}),
    "timeout": ("trigger-long-running-operation", {"duration": 30, "steps": 2}),
}
LEGACY, BOTH = ["auto", "legacy"], ["auto", "legacy", "modern"]
MODERN = "2026-07-28"
ALERT = 'Event: storm\nArea: "north" of the Rio Grande, near Cañón\nNotes: up to 40 °C ⚡ 🌪\n'
ALERTS = "Alerts for TX\n" + "---\n".join([ALERT] * 500)
SERVERS = [
    ("Python SDK 2.3.0", [python("mcp2"), str(HERE / "servers/py.py")], BOTH, OURS, 1, ALERTS),
    ("Python SDK 1.30.0", [python("mcp1"), str(HERE / "servers/py.py")], LEGACY, OURS, 1, ALERTS),
    ("Python SDK 1.9.4", [python("mcp19"), str(HERE / "servers/py.py")], LEGACY, OURS, 1, ALERTS),
    ("TypeScript SDK 1.32.2", script("server", "sdk1", "ts1"), LEGACY, OURS, 1, ALERTS),
    ("TypeScript SDK 2.4.0", script("server", "sdk2", "ts2"), BOTH, OURS, 5, ALERTS),
    (
        "server-everything",
        ["node", str(PEERS / "npm/everything/node_modules/@modelcontextprotocol/server-everything/dist/index.js"), "stdio"],
        LEGACY,
        EVERYTHING,
        1,
        "3",
    ),
    (
        "server-time",
        [str(PEERS / "venvs/time/bin/mcp-server-time"), "--local-timezone", "UTC"],
        BOTH,
        TIME,
        5,
        "UTC",
    ),
]


def server_row(name, command, era, eras, steps, unknown, text):
    def call(tool, arguments, timeout="30"):
        words = [BAREWIRE, "call", tool, "--args", json.dumps(arguments), "--json", "--era", era]
        return run([*words, "--timeout", timeout, "--", *command])

    cells = {}
    code, out, err, _ = run([BAREWIRE, "list", "--json", "--era", era, "--timeout", "30", "--", *command])
    listed = parsed(out)
    names = [tool["name"] for tool in listed.get("tools", [])]
    protocol = listed.get("server", {}).get("protocol")
    # Auto must find the modern era where there is one.
    modern = era == "modern" or era == "auto" and "modern" in eras
    fine = code == 0 and steps["call"][0] in names and (protocol == MODERN) == modern
    cells["list"] = verdict(fine, f"status {code}, {protocol}", out, err)
    code, out, err, _ = call(*steps["call"])
    said = "".join(block.get("text", "") for block in parsed(out).get("content", []))
    fine = code == 0 and (said == text or len(text) < 10 and text in said)
    cells["call"] = verdict(fine, f"status {code}", out, err)
    code, out, err, _ = call(*steps["isError"])
    cells["isError"] = verdict(code == 1, f"status {code}", out, err)
    code, out, err, _ = call("no_such_tool", {})
    cells["unknown"] = verdict(code == unknown, f"status {code}, not {unknown}", out, err)
    if "timeout" in steps:
        # The limit also holds for the start, and a Python server takes a second for it on a busy machine.
        code, out, err, took = call(*steps["timeout"], timeout="5")
        cells["timeout"] = verdict(code == 4 and took < 25, f"status {code} after {took:.1f} s", out, err)
    return name, era, cells


def parsed(out):
    """The one object that --json prints."""
    try:
        return json.loads(out)
    except ValueError:
        return {}


# Clients: their command and modes.
CLIENTS = [
    ("Python client 2.3.0", [python("mcp2"), str(HERE / "clients/py.py")], ["legacy", "auto", "2026-07-28"]),
    ("Python client 1.30.0", [python("mcp1"), str(HERE / "clients/py.py")], ["legacy"]),
    ("Python client 1.9.4", [python("mcp19"), str(HERE / "clients/py.py")], ["legacy"]),
    ("TypeScript client 1.32.2", script("client", "sdk1", "ts1"), ["legacy"]),
    ("TypeScript client 2.4.0", script("client", "sdk2", "ts2"), ["legacy", "auto", "2026-07-28"]),
    ("rmcp 3.11.0", [str(PEERS / "rmcp/debug/peer-rmcp")], ["legacy", "auto", "modern"]),
]


def client_row(name, command, mode):
    plan = [
        ["list", None],
        ["call", ["get_alerts", {"state": "TX"}]],
        ["isError", ["get_alerts", {}]],
        ["unknown", ["no_such_tool", {}]],
        ["again", None],
    ]
    cells = {}
    code, out, err, _ = run([*command, mode, json.dumps(plan), "--", BAREWIRE, "serve", "weather"])
    got = answer(out)
    names = ["get_alerts", "get_forecast"]
    era = parsed(out).get("version", "")
    modern = era in ("modern", MODERN)
    fine = got("list", "names") == got("again", "names") == names and modern == (mode != "legacy")
    cells["list"] = verdict(fine, f"list, {era}", out, err)
    _, alerts, _, _ = run([BAREWIRE, "call", "get_alerts", "state=TX", "--", BAREWIRE, "serve", "weather"])
    called = len(alerts) > 50000 and got("call", "text") == alerts and got("call", "failed") is False
    cells["call"] = verdict(called, "get_alerts", out, err)
    # Arguments that don't decode are an isError result since 2025-11-25, and -32602 before.
    old = name.endswith("1.9.4")
    bad = got("isError", "code") == -32602 if old else got("isError", "failed") is True
    cells["isError"] = verdict(bad, "bad arguments", out, err)
    cells["unknown"] = verdict(got("unknown", "code") == -32602, "unknown tool", out, err)
    plan = [["timeout", ["hang", {}]], ["again", ["echo", {"text": "é"}]]]
    code, out, err, _ = run([*command, mode, json.dumps(plan), "--", FIXTURE])
    got = answer(out)
    late = got("timeout", "timeout") is True and got("again", "text") == "é"
    cells["timeout"] = verdict(late, "hang, then echo", out, err)
    return name, mode, cells


def answer(out):
    given = parsed(out)
    return lambda step, member: given.get(step, {}).get(member, "")


def inspector_row():
    inspector = ["node", str(PEERS / "npm/inspector/node_modules/.bin/mcp-inspector"), "--cli", BAREWIRE, "serve", "weather"]

    def call(*words):
        return run([*inspector, "--method", "tools/call", *words])

    cells = {}
    code, out, err, _ = run([*inspector, "--method", "tools/list"])
    cells["list"] = verdict(code == 0 and "get_forecast" in out, f"status {code}", out, err)
    code, out, err, _ = call("--tool-name", "get_forecast", "--tool-arg", "latitude=40.7128", "--tool-arg", "longitude=-74.006")
    cells["call"] = verdict(code == 0 and '"text"' in out, f"status {code}", out, err)
    code, out, err, _ = call("--tool-name", "get_alerts")
    cells["isError"] = verdict('"isError": true' in out, f"status {code}", out, err)
    code, out, err, _ = call("--tool-name", "no_such_tool")
    cells["unknown"] = verdict(code != 0 and "-32602" in out + err, f"status {code}", out, err)
    return "Inspector 0.15.0", "legacy", cells


def verdict(fine, what, out, err):
    return None if fine else f"{what}: {out[-300:].strip()} {err[-500:].strip()}"


def main():
    rows = [(server_row, (n, c, era, eras, s, u, t)) for n, c, eras, s, u, t in SERVERS for era in eras]
    split = len(rows)
    rows += [(client_row, (n, c, mode)) for n, c, modes in CLIENTS for mode in modes] + [(inspector_row, ())]
    with concurrent.futures.ThreadPoolExecutor(max(2, os.cpu_count() or 2)) as pool:
        done = list(pool.map(lambda row: row[0](*row[1]), rows))
    passed, wrong = 0, []
    for title, part in (("under barewire", done[:split]), ("over barewire serve", done[split:])):
        print(f"\n{title:26} {'era':11}" + "".join(f"{column:9}" for column in COLUMNS))
        for name, era, cells in part:
            line = ""
            for column in COLUMNS:
                reason = cells.get(column, "-")
                line += f"{'ok' if reason is None else '-' if reason == '-' else 'WRONG':9}"
                passed += reason is None
                if reason not in (None, "-"):
                    wrong.append(f"{name} {era} {column}: {reason}")
            print(f"{name:26} {era:11}{line}")
    print()
    for reason in wrong:
        print(f"WRONG {reason}")
    print(f"{passed} passed, {len(wrong)} failed")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
