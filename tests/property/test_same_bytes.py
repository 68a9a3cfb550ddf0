#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Same input, options and version: the same bytes, whatever the memory; and no output but the named files."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import make_profile  # noqa: E402
from tap import Tap  # noqa: E402
from tracemill import DEMO, Scratch, run  # noqa: E402

FILES = ["report.html", "report.pdf", "report.txt", "summary.json"]


def outputs(folder):
    return {p.name: p.read_bytes() for p in sorted(folder.iterdir())}


def compare(tap, name, source, folder, *options):
    """Report on `source` with different memory, and twice with the same; the bytes are equal."""
    made = {}
    for label, memory in (("first", "256M"), ("again", "256M"), ("32M", "32M")):
        out = folder / f"{name}-{label}"
        result = run("report", source, "-o", out, "--memory", memory, *options)
        if result.status != 0:
            tap.ok(False, f"{name}: {label}", result)
            return
        made[label] = outputs(out)
    tap.ok(list(made["first"]) == FILES, f"{name}: the four files and nothing else", list(made["first"]))
    for label in ("again", "32M"):
        for file in FILES:
            tap.ok(made["first"].get(file) == made[label].get(file), f"{name}: {file}, {label}",
                   "the bytes differ from those of the first run")


def replaced(tap, folder):
    """Older files of these names are replaced; a file of another name stays."""
    out = folder / "used"
    out.mkdir()
    (out / "summary.json").write_text("old")
    (out / "notes.txt").write_text("mine")
    result = run("report", DEMO, "-o", out)
    tap.ok(result.status == 0 and (out / "summary.json").read_bytes()[:1] == b"{", "an older summary is replaced", result)
    tap.ok((out / "notes.txt").read_text() == "mine", "a file of another name stays")
    tap.ok(sorted(p.name for p in out.iterdir()) == sorted(FILES + ["notes.txt"]), "no temporary file is left",
           sorted(p.name for p in out.iterdir()))


def main():
    tap = Tap()
    with Scratch() as folder:
        compare(tap, "demo", DEMO, folder)
        for kind, make in make_profile.MAKERS.items():
            path = folder / f"{kind}.xplane.pb"
            path.write_bytes(make(seed=4, steps=8).encode())
            compare(tap, kind, path, folder)
        large = folder / "large.xplane.pb"
        large.write_bytes(make_profile.gpu(seed=5, steps=20, devices=4, per_step=400).encode())
        compare(tap, "32,000 activities", large, folder)
        replaced(tap, folder)
    tap.done()


if __name__ == "__main__":
    main()
