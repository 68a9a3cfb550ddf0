#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A stage, the fields of the summary and a section of the report add a figure: a patch that does so
(tests/data/add_figure.patch) is built in a copy of the tree, and the schema, its page, all media and the partials have
the figure."""

import csv
import json
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import make_profile  # noqa: E402
from patched_tree import test_addition, tool  # noqa: E402
from schemas import problems, validator_of  # noqa: E402
from tracemill import ROOT, run  # noqa: E402

PATCH = ROOT / "tests" / "data" / "add_figure.patch"
KEY, TITLE = "longest_ps", "Longest"
MEDIA = ("text", "html", "markdown", "csv", "json")


def by_direction(folder):
    summary = json.loads((folder / "summary.json").read_text(encoding="utf-8"))
    return summary, {row["direction"]: row.get(KEY) for row in summary["transfers"]["by_direction"]}


def check_schema(tap, folder, summary):
    made = tool(folder, "make", "schemas")
    tap.ok(made.returncode == 0, "the schemas are made anew", made.stderr)
    errors = problems(validator_of(tap, "summary", folder), summary)
    tap.ok(not errors, "the summary keeps to the new schema", *errors)
    old = problems(validator_of(tap, "summary"), summary)
    tap.ok(any(KEY in text for text in old), "the old one does not know it", *old)
    page = (folder / "schemas" / "SUMMARY.md").read_text(encoding="utf-8")
    tap.ok(f"`{KEY}`" in page.split("`transfers.by_direction[]`\n", 1)[1].split("##", 1)[0], "the page has it")


def check_media(tap, out, figures):
    for name in ("report.txt", "report.html", "report.md"):
        text = (out / name).read_text(encoding="utf-8")
        tap.ok(TITLE in text.split("Copies by direction", 1)[1][:2000], f"{name} has its column")
    with next(out.rglob("transfer-directions.csv")).open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    tap.ok([row.get(KEY) for row in rows] == [str(figure) for figure in figures.values()], "CSV has it", *rows, figures)


def links_of_terms(path):
    page = path.read_text(encoding="utf-8")
    return set(re.findall(r'<tr id="(term-[^"]*)"', page)), set(re.findall(r'href="#(term-[^"]*)"', page))


def check_terms(tap, folder, binary):
    """A new definition leaves the links of the others as they are."""
    run("report", "a.xplane.pb", "-o", "with", "--format", "html", binary=binary, cwd=folder)
    run("report", "a.xplane.pb", "-o", "without", "--format", "html", cwd=folder)
    (rows, links), (old_rows, old_links) = (links_of_terms(folder / name / "report.html") for name in ("with", "without"))
    tap.ok(len(links) > 20 and links <= rows and old_links <= old_rows, "links lead to terms", links - rows)
    tap.ok(rows - old_rows == {"term-transfers-longest"} and old_rows < rows, "the others keep their names",
           rows ^ old_rows)


def check_partials(tap, folder, binary, whole):
    for host in ("a", "b"):
        run("report", f"{host}.xplane.pb", "-o", f"part-{host}", "--format", "partial", binary=binary, cwd=folder)
        run("report", f"part-{host}/run.partial", "-o", f"alone-{host}", "--format", "json", binary=binary, cwd=folder)
    result = run("report", "part-a/run.partial", "part-b/run.partial", "-o", "merged", "--format", "json", binary=binary,
                 cwd=folder)
    tap.ok(result.status == 0, "partials with it merge", result)
    run("report", "a.xplane.pb", "b.xplane.pb", "-o", "both", "--format", "json", binary=binary, cwd=folder)
    merged = (folder / "merged" / "summary.json").read_bytes()
    tap.ok(merged == (folder / "both" / "summary.json").read_bytes(), "what is merged is what both hosts give")
    alone = [by_direction(folder / f"alone-{host}")[1] for host in ("a", "b")]
    tap.ok(all(whole[d] == max(one[d] for one in alone if d in one) for d in whole), "it merges by its rule", whole, alone)
    run("report", "a.xplane.pb", "-o", "before", "--format", "partial", cwd=folder)
    result = run("report", "before/run.partial", "-o", "refused", binary=binary, cwd=folder)
    tap.ok(result.status == 3 and "other fields" in result.err, "a partial of the program without it is refused", result)


def check_figure(tap, folder, files, _objects):
    tap.ok(not any(name.startswith("schemas/") for name in files), "no file that is made from others is among them", files)
    binary = folder / "tree" / "build" / "tracemill"
    for seed, host in enumerate(("a", "b"), 1):
        (folder / f"{host}.xplane.pb").write_bytes(make_profile.MAKERS["gpu"](seed=seed).encode())
    result = run("report", "a.xplane.pb", "b.xplane.pb", "-o", "whole", "--format", ",".join(MEDIA), binary=binary, cwd=folder)
    tap.ok(result.status == 0, "a report is made", result)
    summary, figures = by_direction(folder / "whole")
    longest = {row["direction"]: row["dur_ps"] for row in reversed(summary["transfers"]["largest"])}
    tap.ok(figures and all(v >= longest.get(d, 0) > 0 for d, v in figures.items()), "the figure is there", figures, longest)
    check_schema(tap, folder / "tree", summary)
    check_media(tap, folder / "whole", figures)
    check_terms(tap, folder, binary)
    check_partials(tap, folder, binary, figures)


if __name__ == "__main__":
    test_addition("a figure", PATCH, 4, check_figure, "build/tests/print_schema")
