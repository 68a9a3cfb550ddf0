#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Everything that show lists can be shown in each form; the JSON keeps to its schema, has the rows that the summary has, and
what it returns and leaves out adds up to all: of made runs, of a comparison and a batch, of damaged inputs, and, in one form
of each thing in turn, of every file of $TM_SHARED/traces where they are."""

import csv
import io
import json
import re
import shutil
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from schemas import problems, validator_of  # noqa: E402
from tap import Tap  # noqa: E402
from tracemill import ROOT, SHARED, Scratch, run  # noqa: E402

DEMO = ROOT / "tests" / "data" / "demo"
TINY = next((ROOT / "tests" / "data" / "tiny").rglob("*.xplane.pb"))
TRACES = SHARED / "traces"
FOLDERS = ("xspace/*", "jax-json/*", "kineto/*", "chrome/*", "memory/*", "logdir/*")
MEASURES = {"time": "time_ps", "count": "count", "bytes": "bytes"}
PART = re.compile(r"\[([^]]*)\]|\.?([^.[]+)")


def at(value, path):
    """The value at a path, as the program reads it; None = nothing."""
    for element, member in PART.findall(path):
        key = element or member
        if isinstance(value, list) and element:
            value = value[int(key)] if key.isdigit() and int(key) < len(value) else None
        else:
            value = value.get(key) if isinstance(value, dict) else None
    return value


def rest_of(document, path):
    """What the document says of rows that a table does not list."""
    parent, _, key = path.rpartition(".")
    parent = at(document, parent) if parent else document
    if not isinstance(parent, dict):
        return None
    rest = parent.get("rest")
    if isinstance(parent.get(f"{key}_rest"), dict):
        return parent[f"{key}_rest"]
    if isinstance(rest, dict) and isinstance(rest.get(key), dict):
        return rest[key]
    return rest if key == "rows" and isinstance(rest, dict) else None


def sums_wrong(answer):
    """Parts that do not add up to what they are parts of."""
    wrong = []
    left = answer["left_out"]
    for key in ("rows", *(MEASURES[name] for name in answer["measures"])):
        total, returned, out = answer["total"][key], answer["returned"][key], left[key]
        parts = [left[name][key] for name in ("by_where", "by_top", "not_listed")]
        if None in (total, out, *parts):
            wrong += [f"{key}: some known, some not"] * ((total, out, parts[2]) != (None, None, None))
            continue
        wrong += [f"{key}: {returned} + {out} != {total}"] * (returned + out != total)
        wrong += [f"{key}: {parts} != {out}"] * (sum(parts) != out)
    if answer["rows_returned"] != len(answer["rows"]) or answer["rows_returned"] != answer["returned"]["rows"]:
        wrong.append("rows_returned")
    for name, field in answer["measures"].items():
        total = sum(row.get(field) or 0 for row in answer["rows"])
        wrong += [f"{name} of the rows: {total}"] * (total != answer["returned"][MEASURES[name]])
    return wrong


def total_wrong(document, answer):
    """Against the document itself."""
    listed, rest = at(document, answer["table"]), rest_of(document, answer["table"])
    if not isinstance(listed, list) or not listed or not isinstance(listed[0], dict):
        return []
    wrong = []
    if rest is not None:
        wrong += ["rows in all"] * (answer["rows_total"] != len(listed) + rest["rows"])
        for name, field in answer["measures"].items():
            total = sum(row.get(field) or 0 for row in listed) + (rest.get(field) or 0)
            wrong += [f"{name} in all"] * (rest.get(field) is not None and total != answer["total"][MEASURES[name]])
    if not answer["query"]["where"] and not answer["query"]["sort"] and not answer["query"]["fields"]:
        wrong += ["other rows than the document"] * (answer["rows"] != listed[:len(answer["rows"])])
    return wrong


def check_answer(validator, document, result, allowed):
    if result.status not in allowed:
        return [f"status {result.status}: {result.err[-200:]}"], None
    answer = json.loads(result.out)
    return problems(validator, answer) + sums_wrong(answer) + total_wrong(document, answer), answer


def check_csv(result, answer):
    """As many rows and columns, and exact numbers."""
    rows = list(csv.reader(io.StringIO(result.out)))
    wrong = [] if len(rows) == answer["rows_returned"] + 1 else [f"{len(rows)} lines of CSV"]
    wrong += ["columns of CSV"] * (len({len(row) for row in rows}) > 1 or len(set(rows[0])) < len(rows[0]))
    wrong += ["columns and fields"] * (len(rows[0]) != len(answer["fields"]))
    return wrong


def check_text(result, form, allowed):
    wrong = [f"{form}: status {result.status}"] * (result.status not in allowed) + [f"{form}: nothing"] * (not result.out)
    return wrong + [f"wide: {line}" for line in result.out.splitlines() if not form and len(line) > 100][:1]


def check_sorted(validator, document, name, folder, allowed, answer):
    fields = [path for path, field in answer["fields"].items()
              if not field["list"] and (field["unit"] or field["kind"] in ("count", "name", "word"))]
    if answer["rows_returned"] < 2 or not fields:
        return []
    words = ("--top", "1", "--sort", f"-{fields[-1]},{fields[0]}", "--where", f"not {fields[-1]} is null")
    return check_answer(validator, document, run("show", folder, name, "--json", *words), allowed)[0]


def check_one(validator, document, name, folder, allowed):
    """One name in each form."""
    wrong, answer = check_answer(validator, document, run("show", folder, name, "--json"), allowed)
    if wrong:
        return wrong
    wrong += check_csv(run("show", folder, name, "--csv", "-q"), answer)
    for form in ((), ("--markdown",)):
        wrong += check_text(run("show", folder, name, *form), form, allowed)
    return wrong + check_sorted(validator, document, name, folder, allowed, answer)


def check_in_turn(validator, document, name, folder, allowed, turn):
    """One name in one form, as JSON every other time."""
    form = ((), ("--json",), ("--csv", "-q"), ("--json", "--top", "1"), ("--markdown",), ("--json",))[turn // 3 % 6]
    result = run("show", folder, name, *form)
    if form[:1] == ("--json",):
        return check_answer(validator, document, result, allowed)[0]
    return check_text(result, form, allowed)


def check_document(tap, validator, title, folder, file, allowed=(0,), turn=None):
    """Each row of the contents.  in: turn  of the form; None = all forms"""
    wrong, contents = check_answer(validator, {}, run("show", folder, "--json"), allowed)
    if wrong:
        tap.ok(False, f"{title}: contents", *wrong[:8])
        return
    document = json.loads(file.read_text(encoding="utf-8"))
    names = [row["name"] for row in contents["rows"]]
    wrong = ["a name is there twice"] * (len(names) != len(set(names)))
    for number, name in enumerate(names):
        if turn is not None and (turn + number) % 3:
            continue  # of another file it is shown
        found = (check_one(validator, document, name, folder, allowed) if turn is None
                 else check_in_turn(validator, document, name, folder, allowed, turn + number))
        wrong += [f"{name}: {text}" for text in found[:3]]
    tap.ok(not wrong, f"{title}: {len(names)} tables and figures", *wrong[:12])


def check_made(tap, validator, folder):
    run("report", DEMO, "-o", folder / "one", "--format", "json", "-q")
    run("report", DEMO, "-o", folder / "short", "--format", "json", "-q", "--rows", "7")
    run("report", TINY, "-o", folder / "two", "--format", "json", "-q")
    run("compare", folder / "one", folder / "two", "-o", folder / "changes", "--format", "json", "-q")
    for name in ("one", "short", "two"):
        check_document(tap, validator, name, folder / name, folder / name / "summary.json")
    check_document(tap, validator, "a comparison", folder / "changes", folder / "changes" / "compare.json")
    for job in ("train", "eval"):
        (folder / "in" / job / "2026-11-20").mkdir(parents=True)
        shutil.copy(TINY, folder / "in" / job / "2026-11-20" / "host.xplane.pb")
    run("batch", folder / "in", "-o", folder / "night", "--format", "json", "-q")
    check_document(tap, validator, "a batch", folder / "night", folder / "night" / "index.json")


def check_profile(tap, validator, folder):
    """A profile says the same as its summary; --rows and --top hold."""
    run("report", DEMO, "-o", folder / "one", "--format", "json", "-q")
    for words in (("ops",), ("gaps", "--top", "3"), ("steps", "--where", "period_ps > 40ms", "--fields", "number,period_ps")):
        of_profile = run("show", DEMO, *words, "--json")
        tap.ok(of_profile.out == run("show", folder / "one", *words, "--json").out, f"a profile and its summary: {words}")
    few = json.loads(run("show", DEMO, "ops", "--rows", "5", "--json").out)
    tap.ok(few["rows_returned"] == 5 and few["left_out"]["not_listed"]["rows"] == few["rows_total"] - 5, "--rows", few["left_out"])
    wrong = sums_wrong(few)
    tap.ok(not wrong and few["total"] == json.loads(run("show", DEMO, "ops", "--json").out)["total"], "and all is as much", *wrong)
    rows = json.loads(run("show", DEMO, "ops", "--json", "--sort", "-self_ps,name").out)["rows"]
    tap.ok(rows == sorted(rows, key=lambda row: (-row["self_ps"], row["name"])), "sorted by two fields")
    rows = json.loads(run("show", DEMO, "ops", "--json", "--where", "self_ps > 1ms and category ~ 'GEMM'").out)["rows"]
    tap.ok(rows and all(row["self_ps"] > 10**9 and "gemm" in row["category"] for row in rows), "filtered", rows[:1])
    redacted = run("show", DEMO, "ops", "--redact", "--json").out
    tap.ok(json.loads(redacted)["redacted"] and "capture-demo" not in redacted, "--redact", redacted[:200])
    run("show", DEMO, "ops", cwd=folder / "one")
    tap.ok(sorted(p.name for p in (folder / "one").iterdir()) == ["summary.json"], "nothing is left on disk")


def check_refused(tap, folder):
    run("report", TINY, "-o", folder / "one", "--format", "json", "-q")
    for words, says in (
            (("kernles",), "kernels"), (("steps.medain_ps",), "steps.median_ps"), (("annotations",), "scopes.annotations"),
            (("devices[99]",), "the list has"), (("ops", "--where", "slf_ps > 1ms"), "self_ps"), (("ops", "--where", "self_ps > 1GiB"), "time"),
            (("ops", "--where", "self_ps >"), "too early"), (("ops", "--sort", "nmae"), "name"), (("ops", "--fields", "name,,"), "missing"),
            (("ops", "--top", "0"), "whole number"), (("ops", "--json", "--csv"), "combine"), (("ops", "more"), "one name"),
            (("ops", "--redact"), "--redact")):
        result = run("show", folder / "one", *words)
        tap.ok(result.status == 2 and not result.out and says in result.err, f"refused: {' '.join(words)}", result)


def check_cut(tap, validator, folder):
    whole = TINY.read_bytes()
    (folder / "cut.xplane.pb").write_bytes(whole[: len(whole) * 2 // 3])
    wrong, answer = check_answer(validator, {}, run("show", folder / "cut.xplane.pb", "ops", "--json"), (4,))
    tap.ok(not wrong and answer["partial"], "a file that is cut short says so", *wrong)
    tap.ok(run("show", folder / "cut.xplane.pb", "ops", "--strict").status == 3, "--strict refuses it")


def check_catalog(tap, validator):
    paths = sorted(p for pattern in FOLDERS for p in TRACES.glob(pattern))
    for turn, path in enumerate(paths):
        with Scratch() as folder:
            made = run("report", path, "-o", folder / "made", "--format", "json", "-q")
            if made.status not in (0, 4):
                tap.ok(run("show", path).status == made.status, f"{path.relative_to(TRACES)} is refused alike")
                continue
            name, file = str(path.relative_to(TRACES)), folder / "made" / "summary.json"
            check_document(tap, validator, name, folder / "made", file, (0, 4), turn)
    if not paths:
        tap.skip("real profiles", "no $TM_SHARED")


def main():
    tap = Tap()
    validator = validator_of(tap, "show")
    for each in (check_made, check_profile, check_cut):
        with Scratch() as folder:
            each(tap, validator, folder)
    with Scratch() as folder:
        check_refused(tap, folder)
    check_catalog(tap, validator)
    tap.done()


if __name__ == "__main__":
    main()
