#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The inputs that once broke something (tests/fuzz/found/TARGET-WHAT.hex), and the seeds of each fuzz target,
through the target without the fuzzer: all that it checks holds."""

import os
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from tap import Tap  # noqa: E402
from tracemill import BUILD, ROOT, SANITIZED, Scratch  # noqa: E402

FUZZ = ROOT / "tests" / "fuzz"
SEEDS_OF_SLOW = 40  # under sanitizers, of each target


def inputs(target, folder):
    """Seeds, and what was found; those that a target makes itself come when it begins.  out: how many were found"""
    subprocess.run([sys.executable, FUZZ / "make_seeds.py", folder, target.name], check=True)
    for path in sorted(folder.glob("made-*"))[SEEDS_OF_SLOW:] if SANITIZED else ():
        path.unlink()
    return len(list(folder.glob("found-*")))


def main():
    tap = Tap()
    for target in sorted(path for path in (BUILD / "replay").glob("fuzz_*") if not path.suffix):
        with Scratch() as folder:
            folder = Path(folder)
            found = inputs(target, folder)
            done = subprocess.run([target, folder], cwd=ROOT, env={**os.environ, "TM_FUZZ_SEEDS": str(folder)},
                                  capture_output=True, text=True, errors="replace", check=False)
            count = int(done.stdout.split()[0]) if done.returncode == 0 else 0
            tap.ok(done.returncode == 0 and count > found, f"{target.name} takes its seeds and {found} that were found",
                   f"status {done.returncode}", *done.stderr.splitlines()[-8:])
    names = {path.stem.split("-")[0] for path in (FUZZ / "found").glob("*.hex")}
    tap.ok(all((FUZZ / f"{name}.c").exists() for name in names), "every input that was found is of a target that there is", names)
    tap.done()


if __name__ == "__main__":
    main()
