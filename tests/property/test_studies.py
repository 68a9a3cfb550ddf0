#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The way of compare, scaling and check: profiles and their summaries give the same, with any memory; operands, groups,
labels and stdin; files as a whole or not at all; the exit status."""

import json
import re
import sqlite3
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import make_profile  # noqa: E402
from tap import Tap  # noqa: E402
from tracemill import BINARY, UNDER, Scratch, run  # noqa: E402

FORMATS = "html,pdf,text,json,markdown,csv"
LIMIT = '{"schema": "tracemill.gates", "schema_version": 1, "gates": [{"figure": "%s", %s}]}'


def make(folder):
    """Profiles 1 to 4 and the reports of 1 and 2."""
    for number in range(1, 5):
        (folder / f"{number}.xplane.pb").write_bytes(make_profile.gpu(seed=number, steps=10).encode())
    for number in (1, 2):
        run("report", f"{number}.xplane.pb", "-o", f"{number}.report", "--format", "json", cwd=folder)


def files(folder):
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def told(folder, name):
    """The JSON of a study without where its runs came from."""
    document = json.loads((folder / name).read_text("utf-8"))
    for side in document.get("sides", []) + document.get("points", []):
        for one in side["runs"]:
            del one["path"], one["kind"]
    return document


def compare(tap, folder, out, *operands, status=0, **environment):
    result = run("compare", *operands, "-o", out, "-q", cwd=folder, **environment)
    if result.status != status:
        tap.ok(False, f"compare {' '.join(map(str, operands))}: exit status {status}", result)
    return result


def same_from_anywhere(tap, folder):
    ways = {
        "profiles": ["a=1.xplane.pb", "b=2.xplane.pb"],
        "summaries": ["a=1.report", "b=2.report/summary.json"],
        "one of each": ["a=1.xplane.pb", "b=2.report/"],
        "groups of one": ["a=1.report", "--", "b=2.xplane.pb"],
        "the least memory": ["a=1.xplane.pb", "b=2.xplane.pb", "--memory", "32M"],
    }
    first = None
    for label, operands in ways.items():
        compare(tap, folder, label, *operands, "--format", "json")
        document = told(folder, f"{label}/compare.json")
        first = first or document
        tap.ok(document == first, f"the same comparison of {label}")
    piped = run("compare", "a=-", "b=2.report", "-o", "piped", "-q", "--format", "json", cwd=folder,
                stdin=(folder / "1.xplane.pb").read_bytes())
    document = told(folder, "piped/compare.json") if piped.status == 0 else None
    for document_of in (document, first):
        for side in document_of["sides"] if document_of else []:
            for one in side["runs"]:
                one.pop("run")
    tap.ok(document == first, "the same comparison through a pipe", piped)


def whole_files(tap, folder):
    for memory in ("32M", "256M", "1G"):
        compare(tap, folder, f"all-{memory}", "1.report", "2.report", "3.xplane.pb", "--format", FORMATS, "--memory", memory)
    made = files(folder / "all-256M")
    tap.ok(made == files(folder / "all-32M") == files(folder / "all-1G"), "the same bytes with any memory")
    tap.ok({"compare.html", "compare.pdf", "compare.txt", "compare.json", "compare.md", "csv/index.csv"} <= set(made),
           "every format has its file", None, str(sorted(made)))
    compare(tap, folder, "all-256M", "1.report", "2.report", "3.xplane.pb", "--format", FORMATS)
    tap.ok(files(folder / "all-256M") == made, "again, over the old files: the same bytes")
    blocked = folder / "blocked"
    (blocked / "compare.pdf").mkdir(parents=True)
    (blocked / "compare.json").write_text("old")
    result = compare(tap, folder, blocked, "1.report", "2.report", status=5)
    tap.ok(files(blocked).keys() <= {"compare.json", "compare.txt", "compare.html"} and
           not [p for p in blocked.iterdir() if p.name.startswith(".")], "nothing half is left behind", result)
    result = run("compare", "old=1.report", "2.report", "--json", "--format", "json", cwd=folder)
    there = folder / "2-against-old.compare" / "compare.json"
    tap.ok(there.exists() and there.read_bytes() == result.raw_out, "--json prints the file, a folder gets its name", result)


def operands(tap, folder):
    compare(tap, folder, "groups", "1.report", "old=2.report", "--", "3.xplane.pb", "4.xplane.pb", "--format", "json")
    sides = told(folder, "groups/compare.json")["sides"]
    tap.ok([(s["label"], len(s["runs"])) for s in sides] == [("old", 2), ("3 and 1 more", 2)], "groups and their labels", None,
           str([(s["label"], len(s["runs"])) for s in sides]))
    (folder / "results.json").write_text(json.dumps({
        "autodiff": {"execution_time": 0.5, "tensorboard_trace": "1.report"},
        "skipped": {"execution_time": 3},
        "vjp": {"execution_time": {"mean": 0.25}, "tensorboard_trace": str(folder / "2.xplane.pb")}}))
    compare(tap, folder, "results", "--results", "results.json", "--format", "json")
    sides = told(folder, "results/compare.json")["sides"]
    tap.ok([(s["label"], s["runs"][0]["measured_ps"]) for s in sides] ==
           [("autodiff", 500_000_000_000), ("vjp", 250_000_000_000)], "runs of a benchmark, with their times", None, str(sides)[:300])
    in_ms = json.loads((folder / "1.report" / "summary.json").read_text("utf-8"))["steps"]["median_ps"] / 1e9 * 1.25
    (folder / "ms.json").write_text(json.dumps({"a": {"execution_time": in_ms, "tensorboard_trace": "1.report"},
                                                "b": {"execution_time": in_ms, "tensorboard_trace": "2.report"}}))
    for name, options, scale, says in (("unit-auto", (), 1e9, True), ("unit-ms", ("--time-unit", "ms"), 1e9, False),
                                       ("unit-us", ("--time-unit", "us"), 1e6, False), ("unit-s", ("--time-unit", "s"), 1e12, False)):
        result = run("compare", "--results", "ms.json", *options, "-o", name, "--format", "json", cwd=folder)
        times = [s["runs"][0]["measured_ps"] for s in told(folder, f"{name}/compare.json")["sides"]]
        tap.ok(all(abs(t - in_ms * scale) <= 1 for t in times) and ("taken as milliseconds" in result.err) == says, f"times of a benchmark: {name}",
               result, times)
    for label, words in {"the same file": ["1.xplane.pb", "./1.xplane.pb"], "the same run": ["1.xplane.pb", "1.report"]}.items():
        result = compare(tap, folder, "never", *words, status=2)
        tap.ok(not (folder / "never").exists(), f"{label} is refused, and nothing is written", result)


def partial(tap, folder):
    whole = (folder / "3.xplane.pb").read_bytes()
    (folder / "cut.xplane.pb").write_bytes(whole[:len(whole) * 4 // 5])
    compare(tap, folder, "partial", "1.report", "cut.xplane.pb", status=4)
    tap.ok(json.loads((folder / "partial/compare.json").read_text("utf-8"))["input"]["partial"], "a damaged run is told")
    compare(tap, folder, "strict", "1.report", "cut.xplane.pb", "--strict", status=3)
    tap.ok(not (folder / "strict").exists(), "--strict writes nothing")


def gates(tap, folder):
    def check(label, status, *arguments):
        result = run("check", *arguments, cwd=folder)
        tap.ok(result.status == status, f"check: {label}: exit status {status}", result)
        return result

    check("a gate file is made", 0, "1.report", "--init", "--gate", "made.json")
    check("the run it was made of holds it", 0, "1.xplane.pb", "--gate", "made.json", "--junit", "x/j.xml", "--markdown", "x/m.md")
    tap.ok(set(files(folder / "x")) == {"j.xml", "m.md"}, "check: its files are there")
    check("a gate file that is there stays", 5, "1.report", "--init", "--gate", "made.json")
    (folder / "low.json").write_text(LIMIT % ("step_time", '"max": "1ps"'))
    check("a limit that is broken", 1, "1.report", "--gate", "low.json")
    failed = check("a limit that is broken, as JSON", 1, "1.report", "--gate", "low.json", "--json")
    tap.ok(json.loads(failed.out)["counts"]["failed"] == 1, "check: JSON on stdout", failed)
    (folder / "wrong.json").write_text(LIMIT % ("steps.medain_ps", '"max": "1ps"'))
    result = check("a figure that is not there", 2, "1.report", "--gate", "wrong.json")
    tap.ok("median_ps" in result.err, "check: the nearest figure is told", result)
    (folder / "change.json").write_text(LIMIT % ("step_time", '"max_increase_pct": -99'))
    check("a change without a baseline", 2, "nowhere-before-this/..", "--gate", "change.json")
    check("a change that did not come", 1, "1.report", "--gate", "change.json", "--baseline", "2.report", "--baseline", "3.xplane.pb")
    kpis = json.loads((folder / "1.report/summary.json").read_text("utf-8"))["kpis"]
    unknown = next(row["id"] for row in kpis if row["value"] is None)
    (folder / "null.json").write_text(LIMIT % (unknown, '"max": 1'))
    check("a figure that the run cannot support", 4, "1.report", "--gate", "null.json")
    (folder / "null.json").write_text(LIMIT % (unknown, '"max": 1, "required": false'))
    check("the same where it need not be known", 0, "1.report", "--gate", "null.json")
    check("a damaged input", 4, "cut.xplane.pb", "--gate", "made.json")
    failed = compare(tap, folder, "fail-on", "1.report", "2.report", "--fail-on", "step_time>1ps", status=1)
    tap.ok((folder / "fail-on/compare.html").exists() and "gate failed" in failed.err, "--fail-on: the files are there", failed)
    compare(tap, folder, "fail-off", "1.report", "2.report", "--fail-on", "step_time>100s", status=0)
    reader = subprocess.Popen(["true"], stdin=subprocess.PIPE)
    reader.wait()
    gone = subprocess.run(UNDER + [str(BINARY), "check", "1.report", "--gate", "low.json"], stdout=reader.stdin, cwd=folder,
                          stderr=subprocess.DEVNULL, check=False)
    tap.ok(gone.returncode == 1, "check: a reader that went away changes no status")


def several(tap, folder, summary):
    """Of three sides: who is fastest, by how much, whether that is significant, and what they differ in, in this order."""
    for name, factor in (("fast", 0.8), ("slowest", 1.5)):
        one = json.loads(json.dumps(summary))
        steps = [int(factor * ps / 1.2) for ps in summary["steps"]["samples_ps"]]
        one["steps"].update(samples_ps=steps, mean_ps=sum(steps) // 20, median_ps=sorted(steps)[10])
        one["input"]["files"][0]["xxh3"] = name.encode().hex().rjust(16, "0")[:16]
        one["environment"]["hosts"][0]["jax"] = "9.9.9" if name == "fast" else one["environment"]["hosts"][0]["jax"]
        (folder / f"{name}.json").write_text(json.dumps(one))
    for sides, wanted in ((("plain", "slowest", "fast"), r"fast is fastest: 20\.0% faster than plain\. Mean step time: fast \S+ ms "
                           r"\(-20\.0%, significant\), plain \S+ ms \(base\), slowest \S+ ms \(\+50\.0%, significant\)\."
                           r" The sides differ in versions\."),
                          (("fast", "plain", "slowest"), r"None of the 2 others is faster than fast\. Mean step time: fast \S+ ms \(base\)")):
        compare(tap, folder, "-".join(sides), *(f"{side}.json" for side in sides), status=0)
        text = json.loads((folder / "-".join(sides) / "compare.json").read_text("utf-8"))["verdict"]["text"].replace("\u00a0", " ")
        tap.ok(re.match(wanted, text), f"{' '.join(sides)}: the verdict ranks the sides", text)

    for side in ("plain", "slowest", "fast"):  # four steps decide nothing
        one = json.loads((folder / f"{side}.json").read_text())
        one["steps"].update(samples_ps=one["steps"]["samples_ps"][:4], samples=4, chosen=4)
        (folder / f"few-{side}.json").write_text(json.dumps(one))
    compare(tap, folder, "few", "few-plain.json", "few-slowest.json", "few-fast.json", status=0)
    verdict = json.loads((folder / "few" / "compare.json").read_text("utf-8"))["verdict"]
    tap.ok("inconclusive" in verdict["text"] and verdict["severity"] == "info", "what is not significant is not called good", verdict)


def verdicts(tap, folder):
    """What runs differ by, the verdict as a gate, sums per step."""
    def of(out):
        return json.loads((folder / out / "compare.json").read_text("utf-8"))

    for number, steps in ((20, 20), (60, 60)):
        (folder / f"steps{number}.xplane.pb").write_bytes(make_profile.gpu(seed=3, steps=steps).encode())
    compare(tap, folder, "per-step", "steps20.xplane.pb", "steps60.xplane.pb", "--fail-on", "gaps.count>+25%", "--fail-on",
            "kernels.total_ps>+25%", "--fail-on", "total.busy_ps>+25%", status=0)
    failed = compare(tap, folder, "in-all", "steps20.xplane.pb", "steps60.xplane.pb", "--fail-on", "kernels.count.total>+25%",
                     "--fail-on", "kernels.count<+1000%", status=1)
    tap.ok("kernels.count.total" in failed.err and "per step" in failed.err, "--fail-on: sums per step, .total as they are", failed)
    summary = json.loads((folder / "1.report/summary.json").read_text("utf-8"))
    for name, factor in (("plain", 1), ("slow", 1.2)):
        steps = [int(factor * 10 ** 10 * (1 + (i * 7 % 20) / 1000)) for i in range(20)]
        summary["steps"].update(samples_ps=steps, mean_ps=sum(steps) // 20, median_ps=sorted(steps)[10], samples=20, chosen=20)
        summary["input"]["files"][0]["xxh3"] = f"{int(factor * 10):016x}"
        (folder / f"{name}.json").write_text(json.dumps(summary))
    for label, more, status, verdict in (("known not", [], 1, "regression"), ("less", ["--run-spread", "5%"], 1, "regression"),
                                         ("more", ["--run-spread", "30"], 0, "no_change")):
        compare(tap, folder, label, "plain.json", "slow.json", "--fail-on", "regression", *more, status=status)
        tap.ok(of(label)["verdict"]["verdict"] == verdict, f"runs differ by {label}: {verdict}", of(label)["verdict"])
    told = compare(tap, folder, "gate", "plain.json", "slow.json", "--fail-on", "step_time>+5%", status=1)
    tap.ok("gate failed: steps.median_ps" in told.err, "--fail-on: a step time past its limit", told)
    for more in (["--run-spread", "30"], ["--run-spread", "30", "--fail-on", "mean_step_time>+5%"]):
        compare(tap, folder, "gate-spread", "plain.json", "slow.json", "--fail-on", "step_time>+5%", *more, status=0)
    compare(tap, folder, "gate-less", "plain.json", "slow.json", "--fail-on", "mean_step_time>+5%", "--run-spread", "5", status=1)
    compare(tap, folder, "faster", "slow.json", "plain.json", "--fail-on", "regression", status=0)
    tap.ok(of("faster")["verdict"]["verdict"] == "improvement", "the other way: improvement", of("faster")["verdict"])
    several(tap, folder, summary)
    for name, factor in (("quiet", 0.001), ("loud", 0.06)):  # of groups the runs are tested: the gate does not judge each by itself
        sides = []
        for side, slower in (("a", 1), ("b", 1.08)):
            for i in range(2):
                steps = [int(ps * slower * (1 + factor * (2 * i - 1))) for ps in summary["steps"]["samples_ps"]]
                one = json.loads(json.dumps(summary))
                one["steps"].update(samples_ps=steps, mean_ps=sum(steps) // 20, median_ps=sorted(steps)[10])
                one["input"]["files"][0]["xxh3"] = f"{side}{i}".encode().hex().rjust(16, "0")
                (folder / f"{name}-{side}{i}.json").write_text(json.dumps(one))
            sides += [f"{name}-{side}{i}.json" for i in range(2)] + (["--"] if side == "a" else [])
        compare(tap, folder, name, *sides, "--fail-on", "step_time>+5%", status=name == "quiet")
        tap.ok(of(name)["verdict"]["verdict"] == ("regression" if name == "quiet" else "no_change"), f"groups of {name} runs",
               of(name)["verdict"])
    compare(tap, folder, "no-spread", "plain.json", "slow.json", "--run-spread", "3ms", status=2)
    for night in range(1, 7):
        place = folder / "logs" / "job" / f"2026-11-0{night}"
        place.mkdir(parents=True)
        (place / "h.xplane.pb").write_bytes(make_profile.gpu(seed=night, steps=10).encode())
    run("batch", "logs", "-o", "night", "--format", "json", "-q", cwd=folder)
    compare(tap, folder, "history", "plain.json", "slow.json", "--history", "night/history.db", status=0)
    test = of("history")["tests"][0]
    tap.ok(test["run_spread_pct"] and "6 runs of 'job'" in of("history")["notes"][0]["text"], "--history: what runs of the job differ by", test)
    # the mean of the job varies by far more than its median: a gate of either keeps to its own
    base = sqlite3.connect(folder / "night/history.db")
    base.executemany("UPDATE runs SET step_time_ps = ?, mean_step_time_ps = ?, device_utilization_pct = ? WHERE night = ?",
                     [(10**10 + n, 10**10 * (1 + n % 2), 50 + 10 * (n % 2), f"2026-11-0{n}") for n in range(1, 7)])
    base.commit()
    base.close()
    compare(tap, folder, "own", "plain.json", "slow.json", "--history", "night/history.db", "--fail-on", "mean_step_time>+5%", status=0)
    test = of("own")["tests"][0]
    tap.ok(test["moved"] == "median" and test["mean"]["run_spread_pct"] > 50 > 1 > test["median"]["run_spread_pct"],
           "--history: each figure has its own", test)
    compare(tap, folder, "own", "plain.json", "slow.json", "--history", "night/history.db", "--fail-on", "step_time>+5%", status=1)
    busy = json.loads((folder / "slow.json").read_text())
    [k for k in busy["kpis"] if k["id"] == "device_utilization"][0]["value"] *= 0.8
    busy["input"]["files"][0]["xxh3"] = "b" * 16
    (folder / "busy.json").write_text(json.dumps(busy))
    compare(tap, folder, "own", "plain.json", "busy.json", "--fail-on", "utilization<-5%", status=1)
    compare(tap, folder, "own", "plain.json", "busy.json", "--fail-on", "utilization<-5%", "--history", "night/history.db", status=0)
    base = sqlite3.connect(folder / "night/history.db")
    base.execute("UPDATE runs SET definitions = 1 WHERE night < '2026-11-04'")
    base.commit()
    base.close()
    compare(tap, folder, "older", "plain.json", "slow.json", "--history", "night/history.db", status=0)
    tap.ok(of("older")["tests"][0]["run_spread_pct"] is None, "--history: not of figures that were defined differently",
           of("older")["tests"][0])
    compare(tap, folder, "no-job", "plain.json", "slow.json", "--history", "other=night/history.db", status=0)
    tap.ok(of("no-job")["tests"][0]["run_spread_pct"] is None, "--history: a job that has no runs", of("no-job")["tests"][0])
    compare(tap, folder, "no-db", "plain.json", "slow.json", "--history", "plain.json", status=3)


def main():
    tap = Tap()
    with Scratch() as folder:
        make(folder)
        for part in (same_from_anywhere, whole_files, operands, partial, gates, verdicts):
            part(tap, folder)
    tap.done()


if __name__ == "__main__":
    main()
