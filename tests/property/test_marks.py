#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every mark of a summary stands beside what it touches, in the text report and on the page, and its text with it."""

import html
import json
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import make_profile  # noqa: E402
from tap import Tap  # noqa: E402
from tracemill import Scratch, run  # noqa: E402

TITLES = {"steps": "Steps", "devices": "Devices", "gaps": "Idle gaps", "kernels": "Kernels", "transfers": "Transfers",
          "collectives": "Collectives", "compile": "Compilation", "memory": "Memory"}


def with_losses(space):
    """A JSON with a span of negative length and a warning's worth of lost ends."""
    trace = json.loads(make_profile.chrome_json(space))
    first = next(e for e in trace["traceEvents"] if e.get("ph") == "X")
    trace["traceEvents"][:0] = [dict(first, dur=-5), dict(first, ph="E")]
    return json.dumps(trace).encode()


def sign_of(summary, touched):
    letters = "".join(chr(ord("a") + i) for i, m in enumerate(summary["coverage"]["marks"]) if touched(m))
    return f" [{letters}]" if letters else ""


def check_text(tap, name, summary, text):
    lines = text.splitlines()
    wrong = []
    for section, title in TITLES.items():
        sign = sign_of(summary, lambda m, s=section: s in m["sections"])
        if summary[section] is not None and title + sign in lines:
            continue
        # named at the end, with its reason; with the marks where nothing was found in what could be read
        left_out = " ".join(text[text.index("\nChecked, nothing found\n"):text.index("\nDefinitions\n")].split())
        named = title + (sign if summary[section] is not None else "")
        if title in lines or named not in left_out:
            wrong.append(f"no heading '{title}{sign}', and '{named}' is not under 'Checked, nothing found'")
    for kpi in summary["kpis"]:
        sign = sign_of(summary, lambda m, k=kpi: m["id"] in k["marks"])
        if sign and kpi["applies"] and not any(line.startswith(f"{kpi['title']}{sign} ") for line in lines):
            wrong.append(f"no '{kpi['title']}{sign}'")
    flat = " ".join(text.split())
    wrong += [f"no '{m['text']}'" for m in summary["coverage"]["marks"] if m["text"] not in flat]
    tap.ok(not wrong, f"{name}: text", *wrong)


def check_page(tap, name, summary, page):
    wrong = []
    for i, mark in enumerate(summary["coverage"]["marks"]):
        links = page.count(f'href="#mark-{i}"')
        sections = sum(1 for s in TITLES if s in mark["sections"] and f'<section id="{s}"' in page)
        if links < sections + sum(mark["id"] in k["marks"] for k in summary["kpis"]):
            wrong.append(f"{mark['id']}: {links} links")
        if f'id="mark-{i}"' not in page or html.escape(mark["text"]).replace("&#x27;", "&#39;") not in page:
            wrong.append(f"{mark['id']}: its text is not there")
    marks = re.findall(r'href="#mark-(\d+)"', page)
    if any(int(m) >= len(summary["coverage"]["marks"]) for m in marks):
        wrong.append("a link to a mark that is none")
    tap.ok(not wrong, f"{name}: page", *wrong)


def check(tap, folder, name, path, wanted):
    out = folder / name.replace(" ", "-")
    result = run("report", path, "-o", out, "--format", "json,text,html,pdf")
    if not (out / "summary.json").exists():
        tap.ok(False, name, result)
        return
    summary = json.loads((out / "summary.json").read_text(encoding="utf-8"))
    tap.ok([m["id"] for m in summary["coverage"]["marks"]] == wanted, f"{name}: {', '.join(wanted) or 'no marks'}",
           [m["id"] for m in summary["coverage"]["marks"]], result)
    check_text(tap, name, summary, (out / "report.txt").read_text(encoding="utf-8"))
    check_page(tap, name, summary, (out / "report.html").read_text(encoding="utf-8"))


def main():
    tap = Tap()
    space = make_profile.gpu(seed=2)
    with Scratch() as folder:
        path = folder / "host0.xplane.pb"
        path.write_bytes(space.encode())
        check(tap, folder, "whole", path, [])
        cut = folder / "cut.xplane.pb"
        cut.write_bytes(path.read_bytes()[:-200])
        check(tap, folder, "cut short", cut, ["damaged"])
        path = folder / "host0.trace.json"
        path.write_bytes(make_profile.chrome_json(space))
        check(tap, folder, "JSON", path, ["lossy_copy"])
        path.write_bytes(with_losses(space))
        check(tap, folder, "JSON with losses", path, ["events_lost", "lossy_copy"])
    tap.done()


if __name__ == "__main__":
    main()
