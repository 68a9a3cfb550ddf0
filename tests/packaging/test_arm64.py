#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The static program for arm64, under emulation: the contents of this machine's outputs, the goldens, and the readers' unit tests."""

import json
import math
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from test_static import FORMATS, LARGEST, check_goldens

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from planted import contents  # noqa: E402
from tap import Tap  # noqa: E402
from tracemill import BUILD, DEMO, ROOT, Scratch, run  # noqa: E402

ARM64 = BUILD / "arm64" / "static" / "tracemill"


def near(one, other):
    """The same document, with numbers equal to 12 digits."""
    if isinstance(one, dict):
        return isinstance(other, dict) and list(one) == list(other) and all(near(one[k], other[k]) for k in one)
    if isinstance(one, list):
        return isinstance(other, list) and len(one) == len(other) and all(map(near, one, other))
    if isinstance(one, float):
        return isinstance(other, float) and math.isclose(one, other, rel_tol=1e-12)
    return one == other


def unpacked(path):
    """What a file holds, compressed or not."""
    forms = list(contents(path))
    return forms[1:] or forms


def check_arm64(tap):
    """Text is the same byte for byte.  ISA-L packs with other code there: what is packed is compared unpacked."""
    emulator = shutil.which("qemu-aarch64-static")
    if not ARM64.exists() or not emulator:
        tap.skip("arm64: the static program", "make test-packaging builds it, and qemu-user-static runs it")
        return
    headers = subprocess.run(["readelf", "-hld", ARM64], capture_output=True, text=True, check=True).stdout
    tap.ok("AArch64" in headers and "NEEDED" not in headers and "INTERP" not in headers, "arm64: needs no library and no loader", headers)
    tap.ok(ARM64.stat().st_size < LARGEST, "arm64: is smaller than 8 MB", f"{ARM64.stat().st_size} bytes")
    with Scratch() as folder:
        emulated = folder / "tracemill"
        emulated.write_text(f"#!/bin/sh\nexec '{emulator}' '{ARM64}' \"$@\"\n")
        emulated.chmod(0o755)
        for seed, name in enumerate(("slow", "fast")):
            made = subprocess.run([sys.executable, ROOT / "tests/support/make_profile.py", "gpu", folder / f"{name}.xplane.pb", "--seed", str(seed),
                                   "--devices", "2", "--steps", "10"], check=False)
            tap.ok(made.returncode == 0, f"a profile to compare: {name}", made)
        tap.ok(run("version", binary=emulated).out == run("version").out, "arm64: has the same libraries")
        for name, program in (("here", None), ("arm64", emulated)):
            words = {} if program is None else {"binary": program}
            done = run("report", DEMO, "-o", folder / name, "--format", FORMATS, "-q", **words)
            tap.ok(done.status == 0, f"{name}: report ends well", done)
        names = [sorted(p.relative_to(folder / name) for p in (folder / name).rglob("*") if p.is_file()) for name in ("here", "arm64")]
        tap.ok(names[0] == names[1], "arm64: writes the same files", names)
        different = [n for n in names[0] if unpacked(folder / "here" / n) != unpacked(folder / "arm64" / n)]
        tap.ok(not different, "arm64: with the same contents", different)
        # The mathematical functions of the C library differ in the last bit of a probability.
        check_goldens(tap, emulated, "arm64", but="compare")
        for name, program in (("here", {}), ("arm64", {"binary": emulated})):
            run("compare", folder / "slow.xplane.pb", folder / "fast.xplane.pb", "-o", folder / f"{name}.compared", "--format", "json", "-q", **program)
        compared = [json.loads((folder / f"{name}.compared" / "compare.json").read_text(encoding="utf-8")) for name in ("here", "arm64")]
        tap.ok(near(*compared), "arm64: a comparison has the same figures to 12 digits")


def check_units(tap):
    """The readers' unit tests on arm64: every engine, reads of every size."""
    emulator, found = shutil.which("qemu-aarch64-static"), sorted((ARM64.parent / "unit").glob("test_*"))
    if not emulator or not found:
        tap.skip("arm64: the unit tests of the readers", "make test-packaging builds them, and qemu-user-static runs them")
        return
    for program in found:
        done = subprocess.run([emulator, "-L", "/usr/aarch64-linux-gnu", program], capture_output=True, text=True, check=False,
                              env={**os.environ, "TM_UNDER": emulator, "CMOCKA_MESSAGE_OUTPUT": "TAP"})
        text = done.stdout + done.stderr
        passed, plan = re.findall(r"^ok \d+ - ", text, re.MULTILINE), re.findall(r"^1\.\.(\d+)$", text, re.MULTILINE)
        tap.ok(done.returncode == 0 and passed and plan == [str(len(passed))], f"arm64: {program.name}: {len(passed)} cases", done.stdout[-2000:], done.stderr[-2000:])


def main():
    tap = Tap()
    if os.environ.get("TM_PACKAGING"):
        check_units(tap)
        check_arm64(tap)
    else:
        tap.skip("the static program for arm64", "make test-packaging builds it")
    tap.done()


if __name__ == "__main__":
    main()
