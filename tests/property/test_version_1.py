#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a program of version 1 left behind (tests/data/version-1): its figures are defined differently, so its summaries and
partials are refused with the command that makes new ones, and its history is migrated, kept, and compared with nothing."""

import json
import random
import shutil
import sqlite3
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import made_batch  # noqa: E402
import schemas  # noqa: E402
from tap import Tap  # noqa: E402
from test_history import FORMAT, history_of, kill_one, merge, rows_of  # noqa: E402
from tracemill import ROOT, Scratch, run  # noqa: E402

OLD = ROOT / "tests" / "data" / "version-1"
TINY = "tests/data/tiny/plugins/profile/2026_11_21_01_41_10/demo.xplane.pb"
LATER = ("host", "driver", "framework", "jax", "jaxlib", "cuda", "rocm", "libtpu", "labels")  # columns since version 4
NIGHTS, JOBS = 8, 2  # of the stored history: runs 0 to 15
COMMAND = f"hint: create a new one from the profile: tracemill report {TINY} --format json"


# --- summaries and partials ---


def summaries(tap, folder):
    old, gates = OLD / "summary.json", folder / "gates.json"
    run("report", ROOT / TINY, "-o", folder / "new", "--format", "json")
    new = folder / "new" / "summary.json"
    tap.ok(json.loads(new.read_text(encoding="utf-8"))["schema_version"] == 2, "a summary has version 2")
    gates.write_text(json.dumps({"schema": "tracemill.gates", "schema_version": 1,
                                 "gates": [{"figure": "step_time", "max": "1s", "max_increase_pct": 5, "required": False}]}),
                     encoding="utf-8")
    for words in (["compare", old, new], ["compare", new, old], ["scaling", old, new], ["check", old, "--gate", gates],
                  ["check", new, "--gate", gates, "--baseline", old]):
        out = [] if words[0] == "check" else ["-o", folder / "study"]
        result = run(*words, *out, cwd=folder)
        label = " ".join(Path(word).name if isinstance(word, Path) else word for word in words)
        tap.ok(result.status == 3 and "it is a summary of version 1, whose figures are defined differently" in result.err
               and COMMAND in result.err, f"{label}: refused with the command that makes a new one", result)
    again = run(*COMMAND.split("tracemill ")[1].split(), "-o", folder / "again", cwd=ROOT)
    tap.ok(again.status == 0 and (folder / "again" / "summary.json").exists(), "and that command makes it", again)
    document, place = json.loads(old.read_text(encoding="utf-8")), folder / "changed.json"
    for name, change, wanted in (
            ("a path with a quotation mark", {"path": "a b'c.xplane.pb"}, "tracemill report 'a b'\\''c.xplane.pb' --format json"),
            ("a member of an archive", {"archived": True}, "tracemill report INPUT --format json"),
            ("a long path", {"path": "x" * 3000}, "tracemill report INPUT --format json")):
        files = [{**document["input"]["files"][0], **change}]
        place.write_text(json.dumps({**document, "input": {**document["input"], "files": files}}), encoding="utf-8")
        result = run("compare", place, new, "-o", folder / "study")
        tap.ok(result.status == 3 and f"profile: {wanted}" in result.err, f"{name}: {wanted}", result)
    place.write_text(json.dumps({**document, "settings": {**document["settings"], "steps": "all", "gap_min": "5us"}}),
                     encoding="utf-8")
    result = run("compare", place, new, "-o", folder / "study")
    tap.ok(result.status == 3 and f"{TINY} --steps all --gap-min 5us --format json" in result.err, "its settings are named",
           result)


def partials(tap, folder):
    for verb in ("report", "compare"):
        more = [OLD / "run.partial"] if verb == "report" else [OLD / "run.partial", ROOT / TINY]
        result = run(verb, *more, "-o", folder / "partial")
        tap.ok(result.status == 3 and "a partial of format 6, of an older tracemill that defined figures differently" in result.err
               and "tracemill report PROFILE --format partial" in result.err, f"{verb}: an old partial is refused", result)


# --- the history ---


def batch_of(template, folder, name, nights, factor=10):
    """OUT with the old history, its step times that many times as long, and the results of new nights after it."""
    out = folder / name
    out.mkdir()
    template.write(out, range(NIGHTS * JOBS, (NIGHTS + nights) * JOBS), jobs=JOBS)
    shutil.copy(OLD / "history.db", out / "history.db")
    base = sqlite3.connect(out / "history.db")
    base.execute("UPDATE runs SET step_time_ps = step_time_ps * ?", (factor,))
    base.commit()
    base.close()
    return out


def migrated(tap, template, folder):
    out = batch_of(template, folder, "migrated", 4)
    before = [dict(row) for row in rows_of(out)]
    export = [json.loads(line) for line in run("batch", "export", out).out.splitlines()]
    tap.ok(len(before) == 16 and "definitions" not in before[0] and [row["definitions"] for row in export] == [1] * 16,
           "an old history is read")
    validator = schemas.validator_of(tap, "history")
    tap.ok(not [p for row in export for p in schemas.problems(validator, row)], "and its lines fit the schema")
    done, first = merge(out), history_of(out)
    after = {row["id"]: dict(row) for row in rows_of(out)}
    tap.ok(done.status == 0 and len(after) == 24 and sum(row["definitions"] == 2 for row in after.values()) == 8,
           "the first merge puts its rows beside the new ones", done)
    tap.ok(all({**row, "definitions": 1, "page": row["night"], "mean_step_time_ps": None, **dict.fromkeys(LATER)} == after[row["id"]] for row in before),
           "with every value that they had")
    tap.ok(merge(out).status == 0 and history_of(out) == first, "again, with the same bytes")
    night = json.loads((out / "index.json").read_text(encoding="utf-8"))
    times = {row["id"]: row["step_time_ps"] for row in after.values()}
    new = sorted(t for t in times.values() if t < 5 * min(times.values()))
    tap.ok(night["counts"]["history_older_runs"] == 16 and all(
        new[0] <= job["figures"]["step_time_ps"]["before"] <= new[-1] and job["state"] != "better" for job in night["jobs"]),
        "jobs are compared with new runs only", night["jobs"])
    points = [point for trend in night["trends"] if trend["figure"] == "step_time_ps" for point in trend["points"]]
    tap.ok(points and len(points) == 8 and max(p["value"] for p in points) <= new[-1], "trends have new runs only", len(points))
    tap.ok(not night["change_points"], "no level changed", night["change_points"])


def told(tap, template, folder):
    out = batch_of(template, folder, "told", 1)
    merge(out, "--format", "html,text,json", "--openmetrics", folder / "old.metrics")
    night = json.loads((out / "index.json").read_text(encoding="utf-8"))
    tap.ok([job["state"] for job in night["jobs"]] == ["not_judged"] * 2 and not night["regressions"] and not night["better"],
           "one new night is compared with nothing", night["jobs"])
    note = "Figures are defined differently since version 2, so trends, baselines and change points start over."
    for name in ("index.html", "index.txt"):
        text = " ".join((out / name).read_text(encoding="utf-8").split())
        tap.ok(text.count(note) == 1 and "16 runs of version 1 stay in history.db" in text, f"{name} says so, once")
    later = folder / "later"
    template.write(later, range(JOBS), jobs=JOBS)
    merge(later, "--format", "html,text,json")
    tap.ok(note not in (later / "index.txt").read_text(encoding="utf-8"), "and only where there are such runs")
    absent = batch_of(template, folder, "absent", 0)
    done = merge(absent, "--openmetrics", folder / "absent.metrics")
    metrics = (folder / "absent.metrics").read_text(encoding="utf-8") if (folder / "absent.metrics").exists() else ""
    tap.ok(done.status == 0 and 'tracemill_run_success{job="job-0000"} 1' in metrics and "tracemill_step_time_seconds{" not in metrics,
           "old figures are not given to a scraper", done, metrics[:300])


def gates(tap, template, folder):
    out, file = batch_of(template, folder, "gates", 1), folder / "night-gates.json"
    file.write_text(json.dumps({"schema": "tracemill.gates", "schema_version": 1,
                                "gates": [{"figure": "steps.median_ps", "max_increase_pct": 5}]}), encoding="utf-8")
    for folder_of in (out / "runs").iterdir():
        (folder_of / "summary.json").write_bytes(template.summary)
    for name in [row["id"] for row in rows_of(out)]:
        (out / "runs" / name).mkdir()
        shutil.copy(OLD / "summary.json", out / "runs" / name / "summary.json")
    done = merge(out, "--gate", file)
    night = json.loads((out / "index.json").read_text(encoding="utf-8"))
    text = json.dumps(night["gates"])
    tap.ok(done.status in (0, 4) and night["gates"]["counts"]["failed"] == 0 and "version 1" not in text,
           "gates take no run of version 1 as a baseline", done, text[:400])


def killed(tap, template, folder):
    out, dice, torn, kills = batch_of(template, folder, "killed", 150), random.Random(5), [], 0
    old = history_of(out)
    merge(out)
    new = history_of(out)
    for turn in range(20):
        (out / "history.db").write_bytes(old)
        kills += kill_one(["batch", "merge", out, *FORMAT], dice.random() * 0.15)
        if history_of(out) not in (old, new):
            torn.append(turn)
    tap.ok(not torn and kills >= 3, f"a migration that is killed leaves the old history or the new one ({kills} kills)", *torn)
    done = merge(out)
    tap.ok(done.status == 0 and history_of(out) == new, "and the next merge completes it", done)


# --- results ---


def results(tap, folder):
    template = made_batch.Template(folder / "results")
    logs, out = folder / "results" / "logs", folder / "results" / "template"
    path = template.folder / "result.json"
    old = {key: value for key, value in template.result.items() if key != "definitions"}
    tap.ok(template.result["definitions"] == 2, "a result tells the version of its figures")
    path.write_text(json.dumps(old), encoding="utf-8")
    done, rows = merge(out), rows_of(out)
    tap.ok(done.status == 4 and "1 not processed yet" in done.err and [(r["status"], r["definitions"]) for r in rows] == [("done", 1)],
           "an old result is kept as what it is until it is worked anew", done)
    done = run("batch", logs, "-o", out, *template.options)
    tap.ok(done.status == 0 and json.loads(path.read_text(encoding="utf-8")) == template.result
           and [(r["status"], r["definitions"]) for r in rows_of(out)] == [("done", 2)], "a batch works it anew", done)
    path.write_text(json.dumps({**old, "pruned": True}), encoding="utf-8")
    done = run("batch", logs, "-o", out, *template.options)
    tap.ok(done.status == 0 and json.loads(path.read_text(encoding="utf-8"))["pruned"]
           and [(r["status"], r["definitions"]) for r in rows_of(out)] == [("done", 1)], "a pruned one stays as it is", done)


def main():
    tap = Tap()
    with Scratch() as folder:
        summaries(tap, folder)
        partials(tap, folder)
        template = made_batch.Template(folder / "made")
        migrated(tap, template, folder)
        told(tap, template, folder)
        gates(tap, template, folder)
        killed(tap, template, folder)
        results(tap, folder)
    tap.done()


if __name__ == "__main__":
    main()
