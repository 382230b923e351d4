#!/usr/bin/env python3
"""The official Python SDK's client talks to a board, by way of our program's bridge as the command that it starts.

usage: sdk.py PYTHON BAREWIRE    PYTHON: of an environment with the SDK; BAREWIRE: our program
The boards and QEMU are where FIRMWARE_IMAGES and FIRMWARE_TOOLS say. One line for each board and mode; fails if one is wrong.
"""

import json
import os
import pathlib
import socket
import subprocess
import sys
import tempfile
import time

PYTHON, BAREWIRE = sys.argv[1:3]
CLIENT = pathlib.Path(__file__).resolve().parents[1] / "peers/clients/py.py"
TOOLS, IMAGES = (pathlib.Path(os.environ[name]) for name in ("FIRMWARE_TOOLS", "FIRMWARE_IMAGES"))
LIMIT = 120  # seconds for anything
LOG = "".join(f'{n:04} supply 3.01 V, door closed, "all is well", o\n' for n in range(1000))
NAMES = ["set_led", "read_temperature", "read_log", "uptime", "echo", "calibrate"]
BOARDS = {
    "m4": ["qemu-system-arm", "-machine", "mps2-an386"],
    "m0": ["qemu-system-arm", "-machine", "microbit"],
    "riscv": ["qemu-system-riscv32", "-machine", "virt", "-bios", "none"],
}
PLAN = [
    ["list", None],
    ["led", ["set_led", {"on": True}]],
    ["echo", ["echo", {"text": "Ä \"quoted\" 😀"}]],
    ["bad", ["set_led", {}]],
    ["log", ["read_log", {}]],
    ["later", ["calibrate", {}]],
]


def boot(line):
    """Waits until the board is up: what comes earlier than its UART is lost, and the SDK says it once only."""
    end = time.monotonic() + LIMIT
    with socket.socket(socket.AF_UNIX) as end_of_line:
        while end_of_line.connect_ex(line) and time.monotonic() < end:
            time.sleep(0.01)
        end_of_line.settimeout(LIMIT)
        heard = b""
        while not heard.endswith(b"reset by pin\r\n"):
            byte = end_of_line.recv(1)
            if not byte:
                raise ConnectionError(f"the board's line ended after {heard[-200:]}")
            heard += byte


def talk(board, mode):
    with tempfile.TemporaryDirectory() as folder:
        line = f"{folder}/line"
        program, *machine = BOARDS[board]
        qemu = subprocess.Popen(
            [TOOLS / program, *machine, "-nographic", "-monitor", "none", "-kernel", IMAGES / board]
            + ["-serial", f"unix:{line},server=on,wait=on"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            boot(line)
            command = [BAREWIRE, "bridge", f"unix:{line}"]
            done = subprocess.run(
                [PYTHON, CLIENT, mode, json.dumps(PLAN), "--", *command],
                capture_output=True,
                text=True,
                timeout=LIMIT,
            )
        finally:
            qemu.kill()
            qemu.wait()
    try:
        got = json.loads(done.stdout)
    except ValueError:
        return f"no answer: {done.stdout[-500:]}{done.stderr[-2000:]}"
    modern = mode != "legacy"
    wanted = {
        "version": (mode if mode[0] == "2" else "modern") if modern else "legacy",
        "list": {"names": NAMES},
        "led": {"text": "on", "failed": False},
        "echo": {"text": "Ä \"quoted\" 😀", "failed": False},
        "bad": {"text": "`on` is missing; it must be true or false", "failed": True},
        "log": {"text": LOG, "failed": False},
        "later": {"text": "calibrated", "failed": False},
    }
    return next((f"{key}: {str(got.get(key))[:200]}" for key in wanted if got.get(key) != wanted[key]), None)


bad = 0
for board in BOARDS:
    for mode in ("legacy", "auto", "2026-07-28"):
        wrong = talk(board, mode)
        print(f"Python SDK, {mode}, {board}: {wrong or 'ok'}", flush=True)
        bad |= wrong is not None
sys.exit(bad)
