"""How deep the stack gets behind each door of a linked image: from the compiler's stack sizes and the image's own calls.

usage: depth.py IMAGE OBJDUMP LIMIT [names]

Calls are read from the disassembly of the image, so nothing that was inlined or left out is guessed. A call through a pointer may
go to any function whose address is anywhere in the image and whose name fits RULES; one that no rule knows may go to all of them.
A function that can reach itself is a failure: the core has no recursion, and this is where that is proven. Panics are not
in the image (its panic handler does not link). Ends with 1 if a door is deeper than LIMIT bytes, if there is recursion, or if a
frame is not known.
"""

import re
import struct
import subprocess
import sys

# Who calls through pointers, and what may be behind them.
RULES = [
    # Formatting: arguments are values with a `fmt`, and what they write to is a `Write`.
    # `write_fmt` is in their tables too, but core never calls it there: it would be `core::fmt::write` again.
    (r"^core::fmt::write$", r" as core::fmt::(Display|LowerHex|UpperHex|Debug)>::fmt|core::fmt::Write>::write_(str|char)"),
    (r"^<?core::fmt|^<.* as core::fmt::(Display|LowerHex|Debug)>", r"core::fmt::Write>::write_(str|char)"),
    # The core's own: sinks, and closures that are lent for one call.
    (r"", r"Sink>::put|\{closure|::call_once|FnOnce|FnMut|\{\{closure"),
]


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


class Image:
    def __init__(self, path, objdump):
        with open(path, "rb") as file:
            self.bytes = file.read()
        self.wide = self.bytes[4] == 2
        self.arm = struct.unpack_from("<H", self.bytes, 18)[0] == 40
        self.sections = list(self.read_sections())
        self.functions = {}
        self.read_symbols(run("nm", "-C", path))
        self.sizes = dict(self.read_sizes())
        self.calls = {start: set() for start in self.functions}
        self.pointers = {start: 0 for start in self.functions}
        self.pushed = {start: 0 for start in self.functions}
        self.taken = self.read_taken()
        self.read_code(run(objdump, "-d", "--no-show-raw-insn", path))

    def read_sections(self):
        form = "<IIQQQQIIQQ" if self.wide else "<IIIIIIIIII"
        at, size, count, names = (
            (struct.unpack_from("<Q", self.bytes, 40)[0], *struct.unpack_from("<HHH", self.bytes, 58))
            if self.wide
            else (struct.unpack_from("<I", self.bytes, 32)[0], *struct.unpack_from("<HHH", self.bytes, 46))
        )
        raw = [struct.unpack_from(form, self.bytes, at + i * size) for i in range(count)]
        strings = raw[names][4]
        for name, kind, flags, address, offset, length, *_ in raw:
            end = self.bytes.index(b"\0", strings + name)
            yield self.bytes[strings + name : end].decode(), kind, flags, address, offset, length

    def read_symbols(self, text):
        for line in text.splitlines():
            found = re.match(r"([0-9a-f]+) [tTwW] (.*)", line)
            if found and not found[2].startswith("$"):
                self.functions.setdefault(int(found[1], 16) & ~self.arm, found[2])

    def read_sizes(self):
        for name, _, _, _, offset, length in self.sections:
            at, end = offset, offset + length
            while name == ".stack_sizes" and at < end:
                start = struct.unpack_from("<Q" if self.wide else "<I", self.bytes, at)[0]
                at += 8 if self.wide else 4
                size = shift = 0
                while True:
                    byte = self.bytes[at]
                    at += 1
                    size |= (byte & 127) << shift
                    shift += 7
                    if byte < 128:
                        break
                yield start & ~self.arm, size

    def read_taken(self):
        """Functions whose address stands in the data, or (ARM) among the code."""
        step = 8 if self.wide else 4
        taken = set()
        for name, kind, flags, _, offset, length in self.sections:
            if kind != 1 or not flags & 2 or (flags & 4 and not self.arm):
                continue
            for at in range(offset, offset + length - step + 1, 4):
                word = struct.unpack_from("<Q" if self.wide else "<I", self.bytes, at)[0]
                start = word & ~1 if self.arm else word
                if start in self.functions and (not self.arm or word & 1):
                    taken.add(start)
        return taken

    def read_code(self, text):
        here, before = None, ""
        for line in text.splitlines():
            found = re.match(r"([0-9a-f]+) <(.*)>:", line)
            if found:
                start = int(found[1], 16)
                here = start if start in self.functions else here
                continue
            found = re.match(r"\s+([0-9a-f]+):\s+(.*)", line)
            if not found or here is None:
                continue
            code = found[2].split(";")[0].strip()
            (self.arm_line if self.arm else self.x86_line)(here, code, before)
            before = code

    def word(self, address):
        """What stands at an address of the data."""
        for _, kind, flags, start, offset, length in self.sections:
            if kind == 1 and flags & 2 and start <= address < start + length:
                return struct.unpack_from("<Q" if self.wide else "<I", self.bytes, offset + address - start)[0]
        return 0

    def x86_line(self, here, code, before):
        address = re.search(r"# (?:0x)?([0-9a-f]+)", code)
        if address and code.startswith("lea") and int(address[1], 16) in self.functions:
            self.taken.add(int(address[1], 16))
        for value in re.findall(r"\$0x([0-9a-f]+)", code):
            if int(value, 16) in self.functions:
                self.taken.add(int(value, 16))
        jump = re.match(r"(call|j\w+)q?\s+(?:0x)?([0-9a-f]+)\b", code)
        if re.match(r"jmp\w*\s+\*0x[0-9a-f]+\(,", code):
            pass  # The table of a `match`: it stays inside the function.
        elif jump:
            target = int(jump[2], 16)
            # A jump to a function's first byte is a tail call, unless it is a loop around the own first instruction.
            if target in self.functions and (jump[1] == "call" or target != here):
                self.calls[here].add(target)
        elif address and re.match(r"(call|jmp)\w*\s+\*", code):
            # Through a variable: memchr chooses its variant when it is called first.
            chosen = self.functions.get(self.word(int(address[1], 16)), "")
            family = chosen.split("::")[0] or None
            self.calls[here] |= {start for start in self.taken if self.functions[start].split("::")[0] == family}
            self.pointers[here] += not chosen
        elif re.match(r"call\w*\s+\*", code) or (re.match(r"jmp\w*\s+\*", code) and not before.startswith("add")):
            self.pointers[here] += 1
        if re.match(r"push", code):
            self.pushed[here] += 8
        down = re.match(r"subq?\s+\$(0x[0-9a-f]+|\d+),\s*%rsp", code)
        if down:
            self.pushed[here] += int(down[1], 0)

    def arm_line(self, here, code, before):
        jump = re.match(r"(bl|blx|b|b\.w|b\.n|bl\.w|b[a-z]{2}(?:\.n|\.w)?)\s+(?:0x)?([0-9a-f]+)\b", code)
        if jump and not re.match(r"(bl|blx)\s+r", code):
            target = int(jump[2], 16)
            if target in self.functions and (jump[1].startswith("bl") and jump[1] != "blt" or target != here):
                self.calls[here].add(target)
        elif re.match(r"blx\s+r", code) or re.match(r"bx\s+r", code):
            self.pointers[here] += 1
        pushed = re.match(r"push\s+\{(.*)\}", code)
        if pushed:
            self.pushed[here] += 4 * sum(
                1 if "-" not in part else int(part.split("-")[1].strip()[1:]) - int(part.split("-")[0].strip()[1:]) + 1
                for part in pushed[1].split(",")
            )
        down = re.match(r"sub\s+sp, (?:sp, )?#(0x[0-9a-f]+|\d+)", code)
        if down:
            self.pushed[here] += int(down[1], 0)

    def behind_pointers(self, here):
        name = self.functions[here]
        rule = next(target for caller, target in RULES if re.search(caller, name))
        return {start for start in self.taken if re.search(rule, self.functions[start])} or self.taken

    def frame(self, here):
        # Calls on x86-64 push the return address; on ARM it is in the frame.
        return self.sizes.get(here, self.pushed[here]) + (0 if self.arm else 8)


class Recursion(Exception):
    pass


def deepest(image, root):
    """The deepest way from a function, as bytes and names. Iterative: Python has a stack too."""
    best, path = {}, [(root, None)]
    on_path = {root}
    while path:
        here, todo = path[-1]
        if todo is None:
            targets = set(image.calls[here])
            if image.pointers[here]:
                targets |= image.behind_pointers(here)
            todo = sorted(targets)
            path[-1] = (here, todo)
        waiting = next((t for t in todo if t not in best), None)
        if waiting is None:
            below = max(((best[t][0], t) for t in todo), default=(0, None))
            best[here] = (image.frame(here) + below[0], below[1])
            on_path.discard(here)
            path.pop()
        elif waiting in on_path:
            ring = [start for start, _ in path]
            ring = ring[ring.index(waiting) :] + [waiting]
            raise Recursion(" -> ".join(image.functions[start] for start in ring))
        else:
            on_path.add(waiting)
            path.append((waiting, None))
    way, here = [], root
    while here is not None:
        way.append((image.frame(here), image.functions[here]))
        here = best[here][1]
    return best[root][0], way, best


def main():
    image = Image(sys.argv[1], sys.argv[2])
    limit, names = int(sys.argv[3]), sys.argv[4:]
    doors = {name: start for start, name in image.functions.items() if name.startswith("door_")}
    failed = False
    reached = set()
    for name in sorted(doors):
        try:
            depth, way, all_ = deepest(image, doors[name])
        except Recursion as ring:
            print(f"{name}: RECURSION: {ring}")
            failed = True
            continue
        reached |= set(all_)
        over = name != "door_session" and depth > limit
        failed |= over
        print(f"{name[5:]:18} {depth:6} bytes{'  OVER THE LIMIT' if over else ''}")
        if "ways" in names or over:
            for frame, function in way:
                print(f"      {frame:5} {function}")
    unknown = [image.functions[start] for start in reached if start not in image.sizes]
    through = [image.functions[start] for start in reached if image.pointers[start]]
    if "ways" in names:
        print("calls through pointers:", *sorted(through), sep="\n      ")
        print("addresses taken:", *sorted(image.functions[s] for s in image.taken), sep="\n      ")
    verdict = "FAILED" if failed else "no recursion"
    print(f"{len(reached)} functions, {len(through)} of them call through pointers; {verdict}")
    print(f"frames read from the code, for want of the compiler's word: {', '.join(sorted(unknown)) or 'none'}")
    sys.exit(failed)


main()
