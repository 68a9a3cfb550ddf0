#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What --format csv, collapsed and text write: the tables hold every row and the exact numbers of the summary, and every
table of the page; stacks add up; no line of the text is too wide."""

import csv
import json
import re
import sys
import unicodedata
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import make_profile  # noqa: E402
from tap import Tap  # noqa: E402
from tracemill import DEMO, Scratch, run  # noqa: E402

FORMATS = "html,json,text,csv,collapsed"
HEADER = ["file", "section", "caption", "rows", "rows_not_listed"]
# file -> rows of the summary, all of them in order: every column that has a member's name has its value
LISTS = {"kernels.csv": "kernels.rows", "ops.csv": "ops.rows", "collectives.csv": "collectives.rows",
         "devices.csv": "devices", "scopes.csv": "scopes.rows", "gaps-longest.csv": "gaps.longest",
         "host-waits.csv": "host.sync.rows"}
# (file, column, total of the summary, what the summary does not list)
SUMS = [("kernels.csv", "total_ps", "kernels.total_ps", "kernels.rest.total_ps"),
        ("kernels.csv", "count", "kernels.count", "kernels.rest.count"),
        ("ops.csv", "self_ps", "ops.self_ps", "ops.rest.self_ps"),
        ("gap-causes.csv", "total_ps", "gaps.total_ps", None),
        ("devices.csv", "busy_ps", "total.busy_ps", None),
        ("step-parts.csv", "total_ps", "steps.parts.total_ps", None),
        ("collectives.csv", "total_ps", "collectives.total.total_ps", "collectives.rest.total_ps"),
        ("kernel-categories.csv", "total_ps", "kernels.total_ps", None)]


def at(summary, path):
    for key in path.split("."):
        summary = summary.get(key) if isinstance(summary, dict) else None
    return summary


def read(path):
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.reader(file, strict=True))


def column(rows, name):
    place = rows[0].index(name)
    return [row[place] for row in rows[1:]]


def without_apostrophe(text):
    return text[1:] if text[:2] in ("'=", "'+", "'-", "'@", "'\t", "'\r") else text


def as_text(value):
    if value is None:
        return ""
    return {True: "true", False: "false"}[value] if isinstance(value, bool) else value


def same(cell, value):
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return cell != "" and float(cell) == value
    return without_apostrophe(cell) == as_text(value)


def check_shape(tables):
    """Each file has one header of plain, different names, and lines of as many cells."""
    for name, rows in tables.items():
        head = rows[0]
        if len(set(head)) != len(head) or not all(re.fullmatch(r"[a-z0-9_]+", key) for key in head):
            yield f"{name}: header {head}"
        if any(len(row) != len(head) for row in rows):
            yield f"{name}: lines of {sorted({len(row) for row in rows})} cells"


def check_index(tables):
    index = tables["index.csv"]
    if index[0] != HEADER:
        yield f"header {index[0]}"
    if sorted(row[0] for row in index[1:]) != sorted(set(tables) - {"index.csv"}):
        yield f"listed and there differ: {set(tables) ^ {row[0] for row in index[1:]}}"
    for name, _, _, rows, _ in index[1:]:
        if name in tables and int(rows) != len(tables[name]) - 1:
            yield f"{name}: {rows} rows in the index, {len(tables[name]) - 1} in the file"


def check_lists(tables, summary):
    for name, path in LISTS.items():
        rows = at(summary, path) or []
        if name not in tables:  # of a section that this platform has not; check_page tells of others
            continue
        if len(rows) != len(tables[name]) - 1:
            yield f"{name}: {len(tables[name]) - 1} rows of {len(rows)}"
        keys = [key for key in tables[name][0] if rows and key in rows[0]]
        for key in keys:
            wrong = [i for i, (cell, row) in enumerate(zip(column(tables[name], key), rows)) if not same(cell, row[key])]
            if wrong:
                yield f"{name}: {key} differs in row {wrong[0]}"
        if rows and len(keys) < 2:
            yield f"{name}: columns {keys} only"


def check_sums(tables, summary):
    for name, key, total, rest in SUMS:
        if name in tables and at(summary, total) is not None:
            found = sum(int(cell or 0) for cell in column(tables[name], key)) + ((at(summary, rest) or 0) if rest else 0)
            if found != at(summary, total):
                yield f"{name}: {key} adds up to {found}, not {at(summary, total)}"


def check_page(tables, page):
    """Each table of the page that has an id is a file."""
    ids = re.findall(r'<table[^>]* aria-labelledby="caption-([a-z0-9-]+)"', page)
    if not ids:
        yield "the page has no tables"
    yield from (f"{name}.csv is missing" for name in ids if name + ".csv" not in tables)


def check_findings(tables, summary):
    if column(tables["findings.csv"], "id") != [finding["id"] for finding in summary["findings"]]:
        yield "findings differ"
    for cell, finding in zip(column(tables["findings.csv"], "fix"), summary["findings"]):
        if without_apostrophe(cell) != "\n".join(finding["fix"] or []):
            yield f"the fix of {finding['id']} differs"
    shown = [kpi["id"] for kpi in summary["kpis"] if kpi.get("applies", True)]
    shown.sort(key=lambda id: id != "step_time")  # the throughput comes first
    if column(tables["kpis.csv"], "id") != shown:
        yield "key figures differ"


def check_stacks(text, summary):
    total, scopes = 0, summary["scopes"]
    for line in text.splitlines():
        match = re.fullmatch(r"(.+) ([0-9]+)", line)
        if not match:
            yield f"no stack: {line!r}"
            continue
        total += int(match[2])
        frames = match[1].split(";")
        if match[1][0] != "(" and (len(frames) < 2 or (" " in match[1]) or frames[0] not in ("forward", "backward", "other")):
            yield f"frames: {line!r}"
    if scopes and scopes["rows"] is not None:
        whole = scopes["self_ps"] + scopes["unscoped"]["self_ps"]
    else:
        whole = at(summary, "ops.self_ps") or 0
    if abs(total * 1000 - whole) > 500:
        yield f"{total} ns of {whole} ps"


def width(line):
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in line)


def check_text(text):
    for number, line in enumerate(text.splitlines(), 1):
        if width(line) > 100 or line.endswith(" "):
            yield f"line {number}: {line}"


HIDDEN = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]")


def check_hidden(tap, source, folder):
    """Nothing that is not seen is written unless it is asked for."""
    for options in ((), ("--raw",)):
        run("report", source, "-o", folder / "shown", "--format", "csv", *options)
        found = [path.name for path in (folder / "shown" / "csv").iterdir() if HIDDEN.search(path.read_text(encoding="utf-8"))]
        tap.ok(bool(found) == bool(options), f"hostile: hidden characters {options}", *found)


def check(tap, name, source, folder, *options):
    result = run("report", source, "-o", folder, "--format", FORMATS, *options)
    if not tap.ok(result.status in (0, 3), f"{name}: written", result):
        return None
    summary = json.loads((folder / "summary.json").read_text(encoding="utf-8"))
    tables = {path.name: read(path) for path in (folder / "csv").iterdir()}
    page = (folder / "report.html").read_text(encoding="utf-8")
    stacks = (folder / "scopes.collapsed").read_text(encoding="utf-8")
    text = (folder / "report.txt").read_text(encoding="utf-8")
    for what, wrong in (("tables have a header and equal lines", check_shape(tables)),
                        ("the index lists the files", check_index(tables)),
                        ("tables have the rows and numbers of the summary", check_lists(tables, summary)),
                        ("tables add up", check_sums(tables, summary)),
                        ("every table of the page is there", check_page(tables, page)),
                        ("findings and key figures are there", check_findings(tables, summary)),
                        ("stacks add up", check_stacks(stacks, summary)),
                        ("no line of the text is too wide", check_text(text))):
        wrong = list(wrong)
        tap.ok(not wrong, f"{name}: {what}", *wrong[:5])
    return tables


def many_kernels():
    """A profile with more kernels than a table of the page has rows."""
    space = make_profile.gpu(seed=3, steps=10, devices=2, per_step=60)
    number = 0
    for plane in space.planes:
        for line in plane.lines:
            for event in line.events:
                if event.what and event.what[0] == "kernel":
                    number += 1
                    event.name = f"kernel_{number % 700}"
    return space


def check_rows(tap, folder):
    source = folder / "many.xplane.pb"
    source.write_bytes(many_kernels().encode())
    tables = check(tap, "700 kernels", source, folder / "many")
    tap.ok(tables and len(tables["kernels.csv"]) > 600, "700 kernels: the file has more than 500 rows",
           len(tables["kernels.csv"]) if tables else "")
    settings = json.loads((folder / "many" / "summary.json").read_text(encoding="utf-8"))["settings"]
    tap.ok(settings["rows"] == "2000", "700 kernels: the summary tells how many rows there may be", settings)
    page = (folder / "many" / "report.html").read_text(encoding="utf-8")
    table = re.search(r'<table[^>]*"caption-kernel-names".*?</table>', page, re.S)
    tap.ok(table and table[0].count("<tr") <= 505, "700 kernels: the page has 500", table and table[0].count("<tr"))
    tables = check(tap, "700 kernels, --rows 20", source, folder / "few", "--rows", "20")
    row = next((row for row in tables["index.csv"] if row[0] == "kernels.csv"), []) if tables else []
    tap.ok(row[3:4] == ["20"] and int(row[4]) > 500, "700 kernels, --rows 20: the index tells what is not listed", row)
    run("report", source, "-o", folder / "plain", "--format", "json")
    summary = json.loads((folder / "plain" / "summary.json").read_text(encoding="utf-8"))
    tap.ok(len(summary["kernels"]["rows"]) == 500, "700 kernels: without csv the summary has 500 rows",
           len(summary["kernels"]["rows"]))


def files(folder):
    return {path.name: path.read_bytes() for path in (folder / "csv").iterdir()}


def check_again(tap, folder):
    """Older tables go, files of others stay, the same bytes come with any memory."""
    out = folder / "again"
    run("report", folder / "many.xplane.pb", "-o", out, "--format", "csv")
    (out / "csv" / "notes.txt").write_text("mine")
    before = set(files(out))
    result = run("report", DEMO, "-o", out, "--format", "csv", "--memory", "32M")
    after = files(out)
    run("report", DEMO, "-o", folder / "other", "--format", "csv")
    expected = files(folder / "other")
    tap.ok(result.status == 0 and after.pop("notes.txt", None) == b"mine", "a file of another name stays", result)
    tap.ok(before - {"notes.txt"} - set(expected) and after == expected, "older tables go; same bytes with any memory",
           sorted(set(after) ^ set(expected)))
    tap.ok([path.name for path in out.iterdir()] == ["csv"], "no temporary folder is left", sorted(out.iterdir()))


def check_in_the_way(tap, folder):
    """What is no folder is not replaced, and the older report stays as it was."""
    out = folder / "way"
    out.mkdir()
    (out / "csv").write_text("mine")
    (out / "report.md").write_text("older")
    result = run("report", DEMO, "-o", out, "--format", "markdown,csv")
    tap.ok(result.status == 5 and "cannot write" in result.err, "a file in the place of the folder is an error", result)
    tap.ok((out / "report.md").read_text() == "older" and (out / "csv").read_text() == "mine", "the older report stays")
    tap.ok(len(list(out.iterdir())) == 2, "nothing else is left", sorted(out.iterdir()))


def main():
    tap = Tap()
    with Scratch() as folder:
        check(tap, "demo", DEMO, folder / "demo")
        for kind, make in make_profile.ALL_MAKERS.items():
            path = folder / f"{kind}.xplane.pb"
            path.write_bytes(make(seed=4, steps=8).encode())
            check(tap, kind, path, folder / kind, *(("--raw",) if kind == "hostile" else ()))
            if kind == "hostile":
                check_hidden(tap, path, folder)
        check_rows(tap, folder)
        check_again(tap, folder)
        check_in_the_way(tap, folder)
    tap.done()


if __name__ == "__main__":
    main()
