#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The same bytes whatever the seeds of the hash tables are, and however the system cuts reads and writes: the program
of tests/programs/any_system.c against the program itself."""

import hashlib
import shutil
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import make_profile  # noqa: E402
import make_pytorch  # noqa: E402
from tap import Tap  # noqa: E402
from tracemill import BINARY, BUILD, DEMO, SANITIZED, UNDER, Scratch, run  # noqa: E402

ANY_SYSTEM = BUILD / "tests" / "any_system"
SYSTEMS = 4 if SANITIZED or UNDER else 24
STEPS = 12
COMMANDS = {
    "convert": ["convert", "SOURCE", "-o", "OUT/a.pftrace"],
    "convert to JSON": ["convert", "SOURCE", "-o", "OUT/a.json"],
    "report": ["report", "SOURCE", "-o", "OUT/r", "--format", "html,json,text,csv"],
}


def sources(folder):
    """name: path"""
    made = {"demo": DEMO}
    for kind, make in make_profile.MAKERS.items():
        made[kind] = folder / f"{kind}.xplane.pb"
        made[kind].write_bytes(make(seed=5, steps=STEPS).encode())
    made["PyTorch"] = folder / "host0.json"
    made["PyTorch"].write_bytes(make_pytorch.rank_of())
    return made


def digest(command, source, out, memory, binary, number=0):
    """Of all that a command writes, or the Result that is no success."""
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir()
    words = [word.replace("OUT", str(out)).replace("SOURCE", str(source)) for word in command]
    result = run(*words, "--memory", memory, "-q", binary=binary, ANY_SYSTEM=number)
    if result.status != 0 or result.crashed:
        return str(result)
    whole = hashlib.sha256()
    for path in sorted(p for p in out.rglob("*") if p.is_file()):
        whole.update(str(path.relative_to(out)).encode() + b"\0" + path.read_bytes())
    return whole.hexdigest()


def main():
    tap = Tap()
    with Scratch() as folder:
        out = folder / "out"
        for name, source in sources(folder).items():
            for what, command in COMMANDS.items():
                wanted = digest(command, source, out, "256M", BINARY)
                other = {}
                for number in range(1, SYSTEMS + 1):
                    got = digest(command, source, out, "32M" if number % 2 else "256M", ANY_SYSTEM, number)
                    if got != wanted:
                        other[number] = got
                tap.ok(not other, f"{name}: {what}, on {SYSTEMS} systems", other)
    tap.done()


if __name__ == "__main__":
    main()
