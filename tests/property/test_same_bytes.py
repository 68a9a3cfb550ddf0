#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Same input, options and version: the same bytes, whatever the memory, the place, the time zone, the language and the
user; and no output but the named files."""

import os
import shutil
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


FORMATS = "html,pdf,json,text,markdown,csv,collapsed,perfetto"
COMMANDS = {
    "report": ["report", "logs", "-o", "out/r", "--format", FORMATS, "--title", "T", "--note", "N"],
    "report --redact": ["report", "logs", "-o", "out/rr", "--format", FORMATS, "--redact"],
    "partial": ["report", "logs", "-o", "out/p", "--format", "partial"],
    "report of a partial": ["report", "out/p/run.partial", "-o", "out/rp", "--format",
                            FORMATS.replace(",perfetto", "")],
    "convert": ["convert", "logs", "-o", "out/a.pftrace.gz"],
    "convert --redact": ["convert", "logs", "-o", "out/b.json", "--redact"],
    "convert to CSV": ["convert", "logs", "-o", "out/c.csv"],
    "split": ["split", "logs", "-o", "out/s", "--by", "step=2"],
    "split --redact": ["split", "logs", "-o", "out/sr", "--by", "step=2", "--redact"],
}
PLACES = (
    ("here", {}),
    ("another time zone and language", {"TZ": "Asia/Kolkata", "LANG": "de_DE.UTF-8", "LC_ALL": "tr_TR.UTF-8",
                                        "COLUMNS": "60"}),
    ("another user", {"USER": "somebody", "LOGNAME": "somebody", "HOME": "/nowhere", "HOSTNAME": "elsewhere"}),
)


def made_at(folder, number, settings):
    """Everything that is written in a folder of its own, by name.  The last one is written by another user, where that
    can be."""
    place = folder / f"place-{'x' * 10 * number}{number}"
    logs = place / "logs" / "plugins" / "profile" / "2026_01_02_03_04_05"
    logs.mkdir(parents=True)
    for host in ("host0", "host1"):
        (logs / f"{host}.xplane.pb").write_bytes(make_profile.gpu(seed=3, steps=6, host=host).encode())
    (place / "out").mkdir()
    user = "nobody" if number == len(PLACES) - 1 and os.geteuid() == 0 else None
    if user:
        folder.chmod(0o755)
        shutil.chown(place / "out", user)
    results = [run(*command, cwd=place, user=user, **settings) for command in COMMANDS.values()]
    files = {str(p.relative_to(place / "out")): p.read_bytes() for p in (place / "out").rglob("*") if p.is_file()}
    return files, [r for r in results if r.status != 0]


def everywhere(tap, folder):
    """All outputs of all verbs, at other places."""
    first, failed = made_at(folder, 0, PLACES[0][1])
    tap.ok(not failed and len(first) > 40, f"{len(first)} files are written", *failed)
    for number, (label, settings) in enumerate(PLACES[1:], 1):
        made, failed = made_at(folder, number, settings)
        differ = sorted(n for n in {*first, *made} if first.get(n) != made.get(n))
        tap.ok(not failed and not differ, f"all outputs: {label}", differ[:10], *failed)


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
        everywhere(tap, folder)
    tap.done()


if __name__ == "__main__":
    main()
