#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What is asked for by the words of a command line alone: the reports of a stored summary, a format on stdout, the runs of a
folder, the help of one verb."""

import json
import os
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import make_profile  # noqa: E402
from tap import Tap  # noqa: E402
from tracemill import DEMO, Scratch, run  # noqa: E402

FORMATS = "html,pdf,json,text,markdown,collapsed"
STREAMS = {"html": "report.html", "pdf": "report.pdf", "json": "summary.json", "text": "report.txt", "markdown": "report.md",
           "collapsed": "scopes.collapsed"}


def check_again(tap, profile, folder):
    run("report", profile, "-o", folder / "first", "--format", FORMATS)
    stored = folder / "first" / "summary.json"
    result = run("report", stored, "-o", folder / "again", "--format", FORMATS)
    differ = [name for name in STREAMS.values() if (folder / "first" / name).read_bytes() != (folder / "again" / name).read_bytes()]
    tap.ok(result.status == 0 and not differ, "a stored summary gives the same reports", result, *differ)
    for more in (("--format", "partial"), ("--title", "T"), ("--redact",)):
        result = run("report", stored, "-o", folder / "refused", *more)
        tap.ok(result.status == 2 and "hint:" in result.err, f"what a summary cannot give is refused: {more[0]}", result)
    broken = folder / "summary.json"
    broken.write_text(stored.read_text(encoding="utf-8")[:5000], encoding="utf-8")
    tap.ok(run("report", broken, "-o", folder / "refused").status == 3, "a summary that is cut short is refused")


def check_stdout(tap, profile, folder):
    for name, file in STREAMS.items():
        result = run("report", profile, "-o", "-", "--format", name)
        tap.ok(result.status == 0 and result.raw_out == (folder / "first" / file).read_bytes(), f"-o -: {name} goes to stdout", result.err)
    for name in ("html,pdf", "csv", "perfetto"):
        result = run("report", profile, "-o", "-", "--format", name)
        tap.ok(result.status == 2 and not result.out, f"-o -: {name} is refused", result)


def check_runs(tap, folder):
    for number, parent in enumerate(("warm", "cold")):
        place = folder / "logdir" / parent / "plugins" / "profile" / f"run_{number}"
        place.mkdir(parents=True)
        (place / "demo.xplane.pb").write_bytes(next(DEMO.rglob("*.xplane.pb")).read_bytes())
    result = run("list", folder / "logdir")
    lines = result.out.splitlines()
    tap.ok(lines[0].split() == ["TIME", "HOSTS", "FILES", "SIZE", "KIND", "RUN", "FOLDER"] and len(lines) == 3
           and all(re.search(rf"run_\d  .*{name}/plugins/profile/run_\d$", result.out, re.M) for name in ("warm", "cold")),
           "list shows folders, dates and sizes", result)
    newest = run("list", folder / "logdir", "--latest", "--json")
    result = run("report", folder / "logdir", "-o", folder / "out")
    tap.ok(result.status == 2 and result.err.count("MiB, in ") == 2 and result.err.count(" UTC") == 2, "and so does a refusal", result)
    result = run("report", folder / "logdir", "--latest", "-o", "-", "--format", "json")
    tap.ok(json.loads(result.out)["input"]["run"] == json.loads(newest.out)["runs"][0]["run"], "--latest is the last of the list")
    for name, copied in (("2026_01_01_10_00_00", 2_000_000_000), ("2026_01_02_10_00_00", 1_000_000_000)):
        place = folder / "dated" / name
        place.mkdir(parents=True)
        (place / "demo.xplane.pb").write_bytes(next(DEMO.rglob("*.xplane.pb")).read_bytes())
        os.utime(place / "demo.xplane.pb", (copied, copied))
    last = run("list", folder / "dated").out.splitlines()[-1]
    latest = json.loads(run("list", folder / "dated", "--latest", "--json").out)["runs"][0]
    tap.ok(last.startswith("2026-01-02 10:00:00 UTC ") and latest["time"] == "2026-01-02 10:00:00 UTC" and
           latest["newest"].startswith("2001-09-09"), "the time is the one that --latest compares, not that of a copy", last, latest)


def check_help(tap):
    text = " ".join(run("help", "report").out.split())
    for other in ("convert:", "split:", "batch scan", "NAME.split/", "scaling:"):
        tap.ok(other not in text, f"the help of report does not speak of '{other}'")
    tap.ok("NAME.report/" in text and "partial and perfetto" in text, "but of its own", text[:2000])
    tap.ok("a file (default: stdout)" in " ".join(run("help", "batch", "scan").out.split()), "an action has its own words")
    tap.ok("NAME.split/" in run("help", "split").out and "NAME.report/" not in run("help", "split").out, "and so has split")


def main():
    tap = Tap()
    with Scratch() as folder:
        profile = make_profile.write_all(folder, seed=9)["gpu"]
        check_again(tap, profile, folder)
        check_stdout(tap, profile, folder)
        check_runs(tap, folder)
        check_help(tap)
    tap.done()


if __name__ == "__main__":
    main()
