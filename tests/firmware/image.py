#!/usr/bin/env python3
"""Looks into linked firmware: how large it is, and what must not be in it.

usage: image.py IMAGE…    prints a table; fails if an image has an allocator, panics or float formatting.
That the images link at all is the stronger proof of the second: their panic handler calls a function that does not exist.
"""

import pathlib
import struct
import sys

ALLOC, NOBITS = 2, 8
# In mangled names, since those are what the file holds.
FORBIDDEN = {
    "an allocator": ("__rust_alloc", "__rg_alloc", "5alloc5alloc"),
    "float formatting": ("flt2dec", "3fmt5float"),
    "a panic": ("9panicking", "slice_index_fail", "len_mismatch_fail", "unwrap_failed", "expect_failed"),
}


def read(path):
    """Sections (name, type, flags, address, size) and the names of all symbols."""
    data = pathlib.Path(path).read_bytes()
    assert data[:5] == b"\x7fELF\x01", f"{path} is no 32-bit ELF file"
    table, size, count, names = struct.unpack_from("<I", data, 32) + struct.unpack_from("<HHH", data, 46)
    raw = [struct.unpack_from("<10I", data, table + size * n) for n in range(count)]

    def text(section, at):
        start = raw[section][4] + at
        return data[start : data.index(b"\0", start)].decode()

    sections = [(text(names, s[0]), s[1], s[2], s[3], s[5]) for s in raw]
    symbols = []
    for s in raw:
        if s[1] == 2:
            for at in range(s[4], s[4] + s[5], 16):
                symbols.append(text(s[6], struct.unpack_from("<I", data, at)[0]))
    return sections, symbols


def main():
    bad = 0
    print(f"{'image':<18} {'flash':>7} {'of it the log':>14} {'static RAM':>11}")
    for path in sys.argv[1:]:
        sections, symbols = read(path)
        name = pathlib.Path(path).name
        loaded = [s for s in sections if s[2] & ALLOC and s[4] and not s[0].startswith((".stack", ".heap"))]
        flash = sum(s[4] for s in loaded if s[1] != NOBITS)
        ram = sum(s[4] for s in loaded if s[0].startswith((".data", ".bss", ".uninit", ".sdata", ".sbss")))
        has_log = any(s.endswith("3log5BYTES") or "3log5BYTES" in s for s in symbols)
        print(f"{name:<18} {flash:>7} {50_000 if has_log else 0:>14} {ram:>11}")
        for what, signs in FORBIDDEN.items():
            found = [s for s in symbols if any(sign in s for sign in signs)]
            for symbol in found:
                print(f"{name}: has {what}: {symbol}")
                bad = 1
    return bad


sys.exit(main())
