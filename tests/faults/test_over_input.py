#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What is written takes the place of nothing that is read, nor of another output: status 2 before any work, and every file as
it was.  For every verb that writes, by the same path, by other paths to it, by links."""

import hashlib
import json
import os
import shutil
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import make_profile  # noqa: E402
from tap import Tap  # noqa: E402
from tracemill import Scratch, run  # noqa: E402

TRACE = "logs/train/2026-01-01/plugins/profile/2026_01_01_03_00_00/host0.xplane.pb"


def content(folder):
    return {str(p.relative_to(folder)): hashlib.sha256(p.read_bytes()).hexdigest() if p.is_file() else "folder"
            for p in sorted(folder.rglob("*"))}


def prepare(folder):
    """Inputs of all kinds, each with a name that an output may have."""
    path = folder / TRACE
    path.parent.mkdir(parents=True)
    path.write_bytes(make_profile.cpu(seed=1, steps=6).encode())
    steps = [run("report", "logs", "-o", "rep", "--format", "json,partial", "-q", cwd=folder),
             run("check", "rep/summary.json", "--init", "--gate", "gates.json", "-q", cwd=folder),
             run("convert", "logs", "-o", "trace.json", "-q", cwd=folder),
             run("split", "logs", "-o", "parts", "--format", "json", "-q", cwd=folder),
             run("batch", "logs", "-o", "perf", "--format", "json", "-q", cwd=folder)]
    if any(step.status != 0 for step in steps):
        raise SystemExit("\n".join(map(str, steps)))
    (folder / "named").mkdir()
    shutil.copy(folder / "rep" / "summary.json", folder / "named" / "compare.html")
    shutil.copy(folder / "rep" / "summary.json", folder / "named" / "scaling.json")
    shutil.copy(folder / "trace.json", folder / "named" / "index.json")
    (folder / "thresholds").mkdir()
    (folder / "thresholds" / "report.txt").write_text("{}", encoding="utf-8")
    (folder / "settings.json").write_text("{}", encoding="utf-8")
    os.link(folder / "gates.json", folder / "hard")
    (folder / "soft").symlink_to("gates.json")
    (folder / "beside").symlink_to("rep")
    part = min(p.name for p in (folder / "parts").iterdir() if p.name != "index.json" and p.suffix == ".json")
    return part


def cases(part):
    check = ("check", "logs", "--gate", "gates.json")
    batch = ("batch", "logs", "-o", "perf", "--format", "json")
    merge = ("batch", "merge", "perf", "--format", "json")
    yield from ((*check, "--junit", path) for path in ("gates.json", "./rep/../gates.json", "hard", "soft", TRACE, "new/../" + TRACE))
    yield (*check, "--markdown", TRACE)
    yield (*check, "--baseline", "rep/summary.json", "--markdown", "beside/summary.json")
    yield (*check, "--baseline", "old=rep/summary.json", "--junit", "rep/summary.json")
    yield (*check, "--config", "settings.json", "--junit", "settings.json")
    yield (*check, "--junit", "new", "--markdown", "./new")
    yield (*check, "--junit", "rep/new", "--markdown", "beside/new")
    yield ("check", "logs", "--init", "--gate", TRACE, "--force")
    yield ("check", "rep/summary.json", "--gate", "gates.json", "--junit", "rep/summary.json")
    yield ("report", "rep/run.partial", "-o", "rep", "--format", "partial")
    yield ("report", "logs", "-o", "rep", "--format", "json", "--thresholds", "rep/summary.json")
    yield ("report", "logs", "-o", "thresholds", "--format", "text", "--thresholds", "thresholds/report.txt")
    yield ("report", "logs", "-o", "new", "--format", "json", "--redact", "--redact-map", "new/summary.json")
    yield ("compare", "named/compare.html", "logs", "-o", "named", "--force")
    yield ("compare", "logs", "logs", "-o", "named", "--force", "--history", "train=named/compare.html")
    yield ("scaling", "named/scaling.json", "logs", "-o", "named", "--force")
    yield ("convert", "trace.json", "-o", "trace.json")
    yield ("convert", "trace.json", "-o", "rep/../trace.json")
    yield ("convert", "logs", "-o", "new.pftrace", "--redact", "--redact-map", "new.pftrace")
    yield ("extract", TRACE, "-o", str(Path(TRACE).parent), "--force")
    yield ("split", "named/index.json", "-o", "named", "--format", "json", "--force")
    yield ("split", f"parts/{part}", "-o", "parts", "--format", "json")
    for of in (batch, merge):
        for option in ("--junit", "--markdown", "--openmetrics"):
            yield from ((*of, option, path) for path in ("perf/history.db", "perf/manifest.jsonl", "perf/index.json", "perf/index.html",
                                                         "perf/runs/new", TRACE))
        yield (*of, "--gate", "gates.json", "--openmetrics", "gates.json")
        yield (*of, "--junit", "new", "--openmetrics", "new")
    yield ("batch", "export", "perf", "-o", "perf/history.db")
    yield ("batch", "export", "perf", "-o", "perf/manifest.jsonl")
    yield ("batch", "scan", "logs", "-o", TRACE)
    yield ("batch", "submit", "--slurm", "logs", "-o", "perf", "--dry-run", "--junit", "perf/history.db")


def main():
    tap = Tap()
    with Scratch() as folder:
        part = prepare(folder)
        before = content(folder)
        for words in cases(part):
            done = run(*words, "-q", cwd=folder)
            after = content(folder)
            tap.ok(done.status == 2 and "cannot write '" in done.err and after == before, " ".join(map(str, words)), done,
                   *sorted(set(before.items()) ^ set(after.items())))
            if after != before:
                break
        fine = run("batch", "logs", "-o", "perf", "--format", "json", "--gate", "gates.json", "--junit", "perf/night.xml", "--markdown",
                   "perf/night.md", "--openmetrics", "perf/metrics.prom", "-q", cwd=folder)
        tap.ok(fine.status == 0 and json.loads((folder / "perf" / "index.json").read_text(encoding="utf-8"))["counts"]["runs"] == 1,
               "files of their own beside the others are written", fine)
        again = run("report", "logs", "-o", "rep", "--format", "json,partial", "-q", cwd=folder)
        tap.ok(again.status == 0, "older outputs are replaced", again)
    tap.done()


if __name__ == "__main__":
    main()
