#!/usr/bin/env python3
"""Builds the images of tests/footprint, runs them in QEMU, and writes or checks docs/footprint.md. Started by tests/footprint/run."""

import json
import os
import pathlib
import re
import struct
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).parent
PAGE = HERE / "../../docs/footprint.md"
README = HERE / "../../README.md"
IMAGES = pathlib.Path(os.environ["FOOTPRINT_IMAGES"])
TOOLS = pathlib.Path(os.environ["FOOTPRINT_TOOLS"])
WITHIN = 0.03

# Target: processor, machine of QEMU, where input lies, where RAM ends.
TARGETS = {
    "thumbv6m-none-eabi": ("Cortex-M0", "qemu-system-arm -machine microbit -semihosting", 0x30000, 0x20004000),
    "thumbv7em-none-eabihf": ("Cortex-M4", "qemu-system-arm -machine mps2-an386 -semihosting", 0x30000, 0x20004000),
    "riscv32imc-unknown-none-elf": ("RV32IMC", "qemu-system-riscv32 -machine virt -bios none", 0x80200000, 0x80104000),
}
# Configuration: features, profile.
CONFIGURATIONS = {
    "framing and JSON": ("json", "release"),
    "server, both eras": ("server,legacy,modern", "release"),
    "server, legacy": ("server,legacy", "release"),
    "server, modern": ("server,modern", "release"),
    "server, both eras, `core::fmt`": ("fmt,legacy,modern", "release"),
    # This image does not link under the proof, so it is built without it.
    "server, both eras, serde": ("serde,stop,legacy,modern", "release"),
    "client, both eras": ("client,legacy,modern", "release"),
    "client and server, both eras": ("client,server,legacy,modern", "release"),
    'server, both eras, `opt-level = "s"`': ("server,legacy,modern", "s"),
}

# Beside it: one call decoded and its result encoded, and nothing else. The proof is asked of ours alone.
PEERS = {
    "`barewire::json`": ("ours", "release"),
    "serde-json-core 0.7": ("serde-json-core,stop", "release"),
    "picojson 0.2, which only decodes": ("picojson,stop", "release"),
}

META = '"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"elicitation":{}}}'


def request(number, method, params=None):
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": method} | ({"params": params} if params else {}), separators=(",", ":"))


def call(number, tool, arguments):
    return request(number, "tools/call", {"name": tool, "arguments": arguments})


HELLO = request(1, "initialize", {"protocolVersion": "2025-06-18", "capabilities": {"roots": {}, "sampling": {}}, "clientInfo": {"name": "c", "version": "1"}})
# What is counted: one small call, in the era that all configurations but one speak; with its claim in the other.
COUNTED = {
    True: call(50, "set_led", {"on": True}),
    False: '{"jsonrpc":"2.0","id":50,"method":"tools/call","params":{"name":"set_led","arguments":{"on":true},%s}}' % META,
}
# The rest is there for the stack: all kinds of messages that a server can get, good and bad.
HARSH = [
    request(2, "ping"),
    request(3, "server/discover"),
    '{"jsonrpc":"2.0","id":4,"method":"server/discover","params":{%s}}' % META,
    request(5, "tools/list"),
    '{"jsonrpc":"2.0","id":6,"method":"tools/list","params":{%s}}' % META,
    request(7, "tools/list", {"cursor": "9"}),
    call(8, "add", {"a": 12, "b": -3}),
    '{"jsonrpc":"2.0","id":"\\u0061","method":"tools/call","params":{"name":"\\u0061dd","arguments":{"a":1e3,"b":50e-1}}}',
    '{"jsonrpc":"2.0","id":9.0,"method":"tools/call","params":{"name":"echo","arguments":{"te\\u0078t":"\\ud83d\\ude00\\n\\"é€😀"},%s}}' % META,
    call(10, "echo", {"text": 5}),
    call(11, "echo", [1]),
    call(12, "nope", {}),
    call(13, "read_temperature", {}),
    call(14, "uptime", {}),
    '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":14}}',
    '{"jsonrpc":"2.0","method":"notifications/\\u0061ny"}',
    '{"jsonrpc":"2.0","id":15,"result":{}}',
    '{"jsonrpc":"2.0","id":16,"method":"ping","params":{"x":' + "[" * 140 + "]" * 140 + "}}",
    '{"jsonrpc":"2.0","id":17,"method":"tools/call","params":{"name":"echo","arguments":{"text":"' + "x" * 700 + '"}}}',
    '{"method":"ping","jsonrpc":"2.0","params":{"x":"' + "é" * 600 + '","y":[1,2.5e-7,true,null,{"a":[]}]},"id":18}',
    "[" + request(19, "ping") + "]",
    "junk",
    '{"jsonrpc":"2.0","id":20,"method":"tools/call","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2030-01-01","io.modelcontextprotocol/clientCapabilities":{}}}}',
    HELLO.replace("2025-06-18", "2025-03-26").replace('"id":1', '"id":21'),
    "[" + call(22, "add", {"a": 1, "b": 2}) + "," + request(23, "ping") + ",5," + call(24, "echo", {"text": "in a batch"}) + "]",
]
SERVER_SAYS = [
    '{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"ttlMs":0,"cacheScope":"private"}}',
    '{"jsonrpc":"2.0","id":2,"result":{"resultType":"complete","tools":[{"name":"set_led","description":"Turns it \\u006fn or off.","inputSchema":{"type":"object"}}],"ttlMs":0,"cacheScope":"private"}}',
    '{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"x"}}',
    '{"jsonrpc":"2.0","id":3,"result":{"resultType":"complete","content":[{"type":"text","text":"on"}],"isError":false}}',
]


class Image:
    def __init__(self, path):
        self.path, data = path, pathlib.Path(path).read_bytes()
        table, size, count, names = struct.unpack_from("<I", data, 32) + struct.unpack_from("<HHH", data, 46)
        raw = [struct.unpack_from("<10I", data, table + size * n) for n in range(count)]

        def text(section, at):
            start = raw[section][4] + at
            return data[start : data.index(b"\0", start)].decode()

        self.sections = {text(names, s[0]): s for s in raw}
        self.symbols = []
        for s in raw:
            if s[1] == 2:
                for at in range(s[4], s[4] + s[5], 16):
                    name, _, length, _, _, _ = struct.unpack_from("<IIIBBH", data, at)
                    if length:
                        self.symbols.append((length, text(s[6], name)))
        self.flash = sum(self.size(name) for name in (".text", ".rodata", ".data"))
        self.ram = self.size(".bss") + self.size(".data")
        sizes = self.sections.get(".sizes")
        # Two machines in one image: both.
        self.machine = sum(struct.unpack_from(f"<{sizes[5] // 4}I", data, sizes[4])) if sizes else None

    def size(self, name):
        return self.sections[name][5] if name in self.sections else 0


def build(targets, features, profile):
    """One image for each target; built together, since much of it keeps one processor of the computer busy alone."""
    command = ["cargo", "build", "--locked", "--quiet", "--profile", profile, "-Zbuild-std=core", "--features", features]
    command += [argument for target in targets for argument in ("--target", target)]
    return subprocess.run(command, cwd=HERE, env=os.environ | {"CARGO_TARGET_DIR": str(IMAGES)}, capture_output=True, text=True)


def images(targets, features, profile):
    done = build(targets, features, profile)
    if done.returncode:
        sys.exit(f"{features}: does not build\n{done.stderr}")
    return [Image(IMAGES / target / profile / "barewire-footprint") for target in targets]


def script(features):
    """What the image is fed, and which line of it is counted."""
    if "client" in features and "server" not in features:
        return SERVER_SAYS, len(SERVER_SAYS) - 1
    legacy = "legacy" in features or "modern" not in features
    return [HELLO, '{"jsonrpc":"2.0","method":"notifications/initialized"}', *HARSH[:4], COUNTED[legacy], *HARSH[4:]], 6


def measure(target, features, image):
    """Instructions of one small call, and the deepest stack of all that is fed."""
    _, machine, at, top = TARGETS[target]
    lines, counted = script(features)
    text = [line.encode() + b"\n" for line in lines]
    start = at + sum(len(line) for line in text[:counted])
    with tempfile.NamedTemporaryFile() as fed:
        fed.write(b"".join(text) + b"\0")
        fed.flush()
        # The server of an image with both is fed first; the client then finds the end.
        plugin = f"{IMAGES}/count.so,from={start:#x},to={start + len(text[counted]):#x},stack={top - 0x3000:#x},top={top:#x}"
        program, *rest = machine.split()
        command = [TOOLS / program, *rest, "-nographic", "-monitor", "none", "-serial", "stdio", "-plugin", plugin]
        command += ["-device", f"loader,file={fed.name},addr={at:#x},force-raw=on", "-kernel", image.path]
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=120)
    said = done.stdout.decode(errors="replace")
    numbers = re.search(r"instructions (\d+) stack (\d+)", done.stderr.decode(errors="replace"))
    right = '{"jsonrpc":"2.0","id":50,"result":{'
    if features == "json":
        right = '{"json":true,"id":50}'
    elif "client" in features and "server" not in features:
        right = "lit\n"
    if not numbers or right not in said:
        sys.exit(f"{target}, {features}: did not answer as it should\n{said}\n{done.stderr.decode(errors='replace')}")
    return int(numbers[1]), int(numbers[2])


def rows(configurations):
    """By processor, then by configuration."""
    table = {target: [] for target in TARGETS}
    for name, (features, profile) in configurations.items():
        for target, image in zip(TARGETS, images(TARGETS, features, profile)):
            instructions, stack = measure(target, features, image)
            row = [TARGETS[target][0], name, image.flash, image.ram, image.machine or "-", stack, instructions or "-"]
            print(*row, sep=" | ", flush=True)
            table[target].append(row)
    return [row for rows in table.values() for row in rows]


def control():
    done = build(["thumbv6m-none-eabi"], "server,legacy,modern,panic", "release")
    if done.returncode == 0 or "undefined symbol: a_panic_can_be_reached" not in done.stderr:
        sys.exit("control: an image with a panic links, or fails for another reason:\n" + done.stderr)
    print("control: an image in which a panic can be reached does not link")


def lines(table):
    head = ["processor", "configuration", "flash", "static RAM", "machine", "stack", "instructions"]
    lines = ["| " + " | ".join(head) + " |", "|---|---|" + "--:|" * 5]
    lines += ["| " + " | ".join(f"{v:,}" if isinstance(v, int) else v for v in row) + " |" for row in table]
    return "\n".join(lines)


def page(own, peers):
    text = (HERE / "page.md").read_text()
    text = text.replace("{table}", lines(own)).replace("{peers}", lines(peers))
    flash = {row[1]: row[2] for row in own if row[0] == "Cortex-M0"}
    whole = flash["server, both eras"]
    text = re.sub(r"\{saves:(.+?)\}", lambda found: f"{whole - flash[found[1]]:,}", text)
    text = re.sub(r"\{costs:(.+?)\}", lambda found: f"{flash[found[1]] - whole:,}", text)
    return text.replace("{compiler}", os.environ["FOOTPRINT_COMPILER"])


def written():
    """The rows that the page has, all of them texts."""
    rows = {}
    for line in PAGE.read_text().splitlines():
        cells = [cell.strip() for cell in line.strip("| ").split(" | ")]
        if len(cells) == 7:
            rows[tuple(cells[:2])] = cells[2:]
    return rows


def sentence():
    """What the README says of the page."""
    rows = {name: cells for (processor, name), cells in written().items() if processor == "Cortex-M0"}
    flash = {name: int(cells[0].replace(",", "")) for name, cells in rows.items()}
    ram, _, stack = (int(cell.replace(",", "")) for cell in rows["server, both eras"][1:4])
    whole = flash["server, both eras"]
    kilo = lambda name: f"{abs(flash[name] - whole) / 1000:.1f} KB"
    return (
        f"A tools server takes {whole / 1000:.0f} KB of flash, {ram / 1000:.1f} KB of RAM with its buffers and {stack / 1000:.1f} KB of stack on a Cortex-M0, without a driver; {kilo('server, legacy')} less without the stateless era, "
        f"{kilo('server, modern')} less without\nthat of handshakes; `core::fmt` would add {kilo('server, both eras, `core::fmt`')}, "
        f"a client {kilo('client and server, both eras')}, serde {kilo('server, both eras, serde')} ([docs/footprint.md](docs/footprint.md))."
    )


def compare(table):
    old = written()
    off = []
    for row in table:
        was = old.get((row[0], row[1]))
        for i, value in enumerate(row[2:]):
            before = was[i].replace(",", "") if was else "nothing"
            if not str(value) == before and not (before.isdigit() and abs(value - int(before)) <= WITHIN * int(before)):
                off.append(f"{row[0]}, {row[1]}: {['flash', 'static RAM', 'machine', 'stack', 'instructions'][i]} is {value}, the page says {before}")
    if sentence() not in README.read_text():
        off.append("README.md says other figures than the page")
    if not off:
        return print("docs/footprint.md is true")
    print(*off, "`tests/footprint/run --write` writes the page anew.", sep="\n")
    if f"({os.environ['FOOTPRINT_COMPILER']})" not in PAGE.read_text():
        return print("WARNING: the page was written with another compiler, so that this is no failure")
    sys.exit(1)


def symbols(target, name):
    features, profile = (CONFIGURATIONS | PEERS)[name]
    found = images([target], features, profile)[0].symbols
    modules = {}
    for length, symbol in sorted(found, reverse=True):
        parts = re.findall(r"\d+([a-z_]+?)(?=\d|[A-Z]|$)", symbol)
        module = "::".join(parts[:3]) if symbol.startswith("_R") else symbol
        modules[module] = modules.get(module, 0) + length
    for length, symbol in sorted(found, reverse=True)[:60]:
        print(length, symbol)
    print()
    for module, length in sorted(modules.items(), key=lambda item: -item[1])[:40]:
        print(length, module)


if sys.argv[1:2] == ["--symbols"]:
    symbols(*sys.argv[2:4])
else:
    own, peers = rows(CONFIGURATIONS), rows(PEERS)
    control()
    if sys.argv[1:] == ["--write"]:
        PAGE.write_text(page(own, peers))
        said = re.compile(r"A tools server takes .*?docs/footprint\.md\)[^\n]*", re.S)
        README.write_text(said.sub(lambda _: sentence(), README.read_text(), count=1))
    else:
        compare(own + peers)
