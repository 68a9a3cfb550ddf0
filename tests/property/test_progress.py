#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The progress line, on a terminal: each phase of the work shows its share, bytes, events, rate and time left, for XSpace and
JSON, plain and compressed; elsewhere there is none."""

import json
import os
import pty
import re
import struct
import sys
import zlib
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import make_profile  # noqa: E402
from tap import Tap  # noqa: E402
from tracemill import BINARY, DEMO, Scratch, run  # noqa: E402

COPIES, EVENTS = 70, 1_800_000  # work that lasts some tenths of a second in each phase
PHASES = ["reading", "analyzing"]
BLOCK = 9_000                 # events that are made; the others are the same again
LINE = re.compile(r"^(reading|surveying|analyzing|writing)(?: device \d+ of \d+)? ( *\d+)%(?:  (?:(\d+) of )?(\d+) MiB(?:  ([\d,]+)(?: of ([\d,]+))? events)?  ([\d.]+) (MiB|M events)/s)?"
                  r"(?:  (\d+:\d\d) left)?$")


def on_terminal(*words):
    """out: exit status, what a terminal gets"""
    pid, terminal = pty.fork()
    if pid == 0:
        os.execv(BINARY, [str(BINARY), *map(str, words)])
    data = b""
    while True:
        try:
            block = os.read(terminal, 1 << 16)
        except OSError:  # the other end is closed
            break
        if not block:
            break
        data += block
    os.close(terminal)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), data.decode("utf-8", "replace")


def packed(first, block, count, last):
    """A gzip file of `first`, `count` times `block`, and `last`, in which the block is deflated once: what follows a full flush
    does not depend on what precedes it."""
    deflate = zlib.compressobj(1, zlib.DEFLATED, -zlib.MAX_WBITS)
    head = deflate.compress(first) + deflate.flush(zlib.Z_FULL_FLUSH)
    body = deflate.compress(block) + deflate.flush(zlib.Z_FULL_FLUSH)
    tail = deflate.compress(last) + deflate.flush()
    whole = first + block * count + last
    return (b"\x1f\x8b\x08" + bytes(7) + head + body * count + tail
            + struct.pack("<II", zlib.crc32(whole), len(whole) & 0xffffffff))


def sources(folder):
    """(name, path, the phases that have lines)"""
    space = next(DEMO.rglob("*.xplane.pb")).read_bytes()  # messages one after the other are one message
    block = ",\n".join(f'{{"ph":"X","cat":"kernel","pid":0,"tid":7,"ts":{i * 3},"dur":2,"name":"op{i % 500}","args":'
                       f'{{"device":0,"stream":7,"long_name":"{"a word of many " * 3}"}}}}' for i in range(BLOCK))
    block = block.encode()
    for name, parts in (("xplane.pb", (b"", space, COPIES, b"")),
                        ("trace.json", (b'{"traceEvents":[' + block, b",\n" + block, EVENTS // BLOCK - 1, b"]}"))):
        first, repeated, count, last = parts
        (folder / f"big.{name}").write_bytes(first + repeated * count + last)
        (folder / f"packed.{name}.gz").write_bytes(packed(*parts))
        yield name, folder / f"big.{name}", PHASES
        yield f"{name}.gz", folder / f"packed.{name}.gz", PHASES


def check(tap, name, path, phases, folder):
    status, text = on_terminal("report", path, "-o", folder / "out", "--format", "json", "--memory", "32M")
    lines = [line for line in text.split("\r\x1b[K") if line and "\r\n" not in line]
    rows = [LINE.match(line) for line in lines]
    tap.ok(status in (0, 4) and rows and all(rows), f"{name}: every line has a share, bytes and a rate",
           *(line for line, row in zip(lines, rows) if not row), text[-300:])
    rows = [row for row in rows if row]
    seen = list(dict.fromkeys(row[1] for row in rows))
    tap.ok([phase for phase in seen if phase in phases] == phases, f"{name}: phases {', '.join(phases)}", seen)
    shares = [int(row[2]) for row in rows]
    tap.ok(shares == sorted(shares) and shares[-1] < 100 and shares[-1] - shares[0] > 30,
           f"{name}: one share of all the work, which never goes back", shares)
    for phase in phases:
        of = [row for row in rows if row[1] == phase]
        shares = [int(row[2]) for row in of]
        tap.ok(shares == sorted(shares) and shares and shares[0] < 100 and all(row[9] for row in of if int(row[2]) < 99),
               f"{name}: {phase} goes on and tells the time left", shares)
        counts = [int((row[5] or "0").replace(",", "")) for row in of]
        tap.ok(counts == sorted(counts) and counts and counts[-1] > 0, f"{name}: {phase} counts events", counts)
    tap.ok(text.count("\r\x1b[K") > len(lines), f"{name}: the line is cleared at the end")


def check_devices(tap, folder):
    """The device whose events are analyzed is named where there are several, and the file where there are several."""
    space = make_profile.gpu(seed=3).encode()
    run_folder = folder / "two" / "plugins" / "profile" / "x"
    run_folder.mkdir(parents=True)
    for host in ("a", "b"):
        (run_folder / f"{host}.xplane.pb").write_bytes(space * 900)
    _, text = on_terminal("report", folder / "two", "-o", folder / "out", "--format", "json", "--jobs", "1")
    lines = [line for line in text.split("\r\x1b[K") if line.startswith("analyzing")]
    tap.ok(any(re.match(r"analyzing file [12] of 2 device [12] of \d+ +\d+%", line) for line in lines), "the device and the file are named",
           *lines[:5], text[-200:])
    tap.ok(not any("opening" in line or "100%" in line for line in text.split("\r\x1b[K")), "nothing is opened, and never 100%", text[-200:])


def main():
    tap = Tap()
    with Scratch() as folder:
        for name, path, phases in sources(folder):
            check(tap, name, path, phases, folder)
        check_devices(tap, folder)
        path = folder / "big.trace.json"
        status, text = on_terminal("report", path, "-o", folder / "out", "--format", "json", "--quiet")
        tap.ok(status in (0, 4) and "%  " not in text, "--quiet shows none", text[:200])
        result = run("report", path, "-o", folder / "out", "--format", "json")
        tap.ok("\r" not in result.err and "reading" not in result.err, "off a terminal there is none", result.err)
        tap.ok(json.loads((folder / "out" / "summary.json").read_text(encoding="utf-8"))["coverage"]["events_read"] == EVENTS,
               "all events were read")
    tap.done()


if __name__ == "__main__":
    main()
