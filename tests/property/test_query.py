#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""SQL over runs: every question of the schema can be asked, what it returns is what the summary and the converted events say,
with any memory, in one process or from a kept file, of one host or of several; and nothing but a SELECT runs."""

import csv
import io
import json
import sqlite3
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from schemas import problems, validator_of  # noqa: E402
from tap import Tap  # noqa: E402
from tracemill import ROOT, SHARED, Scratch, run  # noqa: E402

SUPPORT = ROOT / "tests" / "support"
DEMO = ROOT / "tests" / "data" / "demo"

def make(folder, name, *options):
    path = folder / name
    kind = options[0]
    subprocess.run([sys.executable, SUPPORT / "make_profile.py", kind, path, *options[1:]], check=True)
    return path


def ask(source, sql, *options):
    """The rows of an answer, and what is wrong with it."""
    result = run("query", source, sql, "--json", *options)
    if result.status not in (0, 4):
        return None, [f"status {result.status}: {result.err}"]
    answer = json.loads(result.out)
    return answer["rows"], problems(ask.validator, answer)


def tables():
    return [row["table"] for row in json.loads(run("schema", "--json").out)["tables"]]


def check_questions(tap, runs):
    """Questions of each table, on each run; the columns that the schema lists are those that the table has."""
    empty = {}
    for name in tables():
        schema = json.loads(run("schema", name, "--json").out)
        wrong = []
        for label, source in runs.items():
            for question in schema["questions"]:
                rows, bad = ask(source, question["sql"])
                wrong += [f"{label}: {question['question']}: {b}" for b in bad[:2]]
                empty[question["question"]] = empty.get(question["question"], True) and not rows
            rows = list(csv.reader(io.StringIO(run("query", source, f"select * from {name}", "--csv").out)))
            if rows[0] != [column["column"] for column in schema["columns"]]:
                wrong.append(f"{label}: columns {rows[0]}")
        tap.ok(len(schema["questions"]) == 3 and not wrong, f"{name}: its questions", *wrong[:8])
    unanswered = [question for question, is_empty in empty.items() if is_empty]
    tap.ok(len(unanswered) <= 8, "most questions have rows in some of the runs", *unanswered)


def check_summary(tap, label, source):
    """Sums of SQL against the summary, and events against what convert writes."""
    with Scratch() as folder:
        run("report", source, "-o", folder / "r", "--format", "json", "-q")
        summary = json.loads((folder / "r" / "summary.json").read_text(encoding="utf-8"))
        run("convert", source, "-o", folder / "t.csv", "--plain", "-q")
        with open(folder / "t.csv", encoding="utf-8", newline="") as file:
            converted = list(csv.DictReader(file))
    wrong = []

    def equal(what, sql, expected, *options):
        rows, bad = ask(source, sql, *options)
        got = [tuple(row.values()) for row in rows or []]
        if bad or got != expected:
            wrong.append(f"{what}: {got[:4]}, not {expected[:4]} {bad}")

    by_class = {}
    for row in converted:
        counted = by_class.setdefault(row["class"], [0, 0])
        counted[0] += 1
        counted[1] += int(row["dur_ps"] or 0)
    equal("events by class", "select class, count(*) as n, total(dur_ps) as ps from events group by class order by class",
          [(name, n, float(ps)) for name, (n, ps) in sorted(by_class.items())])
    equal("names", "select count(distinct name) as n from events", [(len({row["name"] for row in converted if row["name"]}),)])
    equal("events of steps", "select count(*) as n from events where step is not null",
          [(sum(row["step"] != "" for row in converted),)])
    equal("arguments", "select count(distinct event) as n from args",
          [(sum(row["arguments"] not in ("", "{}") for row in converted),)])
    gaps = summary["gaps"]
    if gaps:
        equal("gaps", "select count(*) as n, sum(dur_ps) as ps from gaps", [(gaps["count"], gaps["total_ps"])], "--gap-min", "0s")
    kernels = summary["kernels"]
    if kernels and not kernels.get("rest", {}).get("rows"):
        listed = kernels["rows"]
        equal("kernels", "select count(*) as n, total(total_ps) as ps, total(count) as events from kernels",
              [(len(listed), float(sum(row["total_ps"] for row in listed)), float(sum(row["count"] for row in listed)))])
    equal("devices", "select id, busy_ps, gaps_count from devices order by id",
          sorted((row["id"], row["busy_ps"], row["gaps"]["count"] if row["gaps"] else None) for row in summary["devices"] or []))
    equal("findings", "select id, at_stake_ps from findings", [(row["id"], row["at_stake_ps"]) for row in summary["findings"]])
    equal("a figure", "select value from figures where path = 'steps.mean_ps'",
          [(summary["steps"]["mean_ps"],)] if summary["steps"] else [])
    tap.ok(not wrong, f"{label}: SQL says what the summary and the converted events say", *wrong)


def check_joins(tap, source):
    """Launches and steps join."""
    rows, bad = ask(source, "select count(*) as n, min(delay_ps) as least from launches")
    events, more = ask(source, "select count(*) as n from events e join launches l on l.host = e.host and l.id = e.launch "
                               "where e.start_ps < l.first_start_ps")
    steps, third = ask(source, "select count(*) as n from events e left join steps s on s.number = e.step where e.step is not null "
                               "and s.number is null")
    tap.ok(not bad + more + third and rows[0]["n"] > 0 and rows[0]["least"] >= 0 and events[0]["n"] == 0 and steps[0]["n"] == 0,
           "launches and steps join events", rows, events, steps)


def check_same(tap, source):
    """Any memory, another process, a kept file and another client give the same rows."""
    sql = "select * from events order by id limit 5000"
    least, most = (run("query", source, sql, "--csv", "--memory", memory) for memory in ("32M", "256M"))
    tap.ok(least.status == most.status == 0 and least.out == most.out and least.out.count("\n") > 100,
           "32 MiB and 256 MiB give the same rows", least.err, most.err)
    with Scratch() as folder:
        for name in ("one.sqlite", "two.sqlite"):
            run("query", source, "--keep", folder / name)
        one, two = ((folder / name).read_bytes() for name in ("one.sqlite", "two.sqlite"))
        tap.ok(one == two, "a kept database has the same bytes twice")
        kept = run("query", folder / "one.sqlite", sql, "--csv")
        tap.ok(kept.out == most.out, "a kept database gives the same rows", kept.err)
        with sqlite3.connect(folder / "one.sqlite") as client:
            count = client.execute("select count(*) from events").fetchone()[0]
            whole = client.execute("pragma integrity_check").fetchone()[0]
        tap.ok(str(count) == run("query", source, "select count(*) from events", "--csv").out.split()[1] and whole == "ok",
               "another client reads it", count, whole)
        bare = run("query", source, "--keep", folder / "bare.sqlite", "--args", "none")
        tap.ok(bare.status == 0 and (folder / "bare.sqlite").stat().st_size < len(one) * 0.8, "--args none makes it smaller")
        damaged = bytearray(one)
        damaged[8192:40000] = b"\xa5" * (40000 - 8192)
        (folder / "damaged.sqlite").write_bytes(damaged)
        result = run("query", folder / "damaged.sqlite", sql, "--csv")
        tap.ok(result.status == 3 and "damaged" in result.err, "a damaged database is refused", result.status, result.err)


def check_refused(tap, source):
    """What is no query, and what goes on for too long."""
    for sql in ("delete from kernels", "insert into gaps(host) values(1)", "drop view events", "create table t(x)", "attach 'f' as f",
                "pragma application_id = 1", "vacuum", "select 1; select 2", "", "select load_extension('x')",
                "select writefile('x', 'y')", "begin"):
        result = run("query", source, sql)
        tap.ok(result.status == 2 and "hint: " in result.err and not result.out, f"refused: {sql!r}", result.status, result.err)
    for sql, near in (("select slf_ps from ops", "self_ps"), ("select * from kernel", "kernels"), ("select dur_pss from events", "dur_ps")):
        result = run("query", source, sql)
        tap.ok(result.status == 2 and f"'{near}'" in result.err, f"{sql}: suggests {near}", result.err)
    endless = "with recursive n(i) as (select 1 union all select i + 1 from n) select max(i) from n"
    result = run("query", source, endless, "--time-limit", "200ms")
    tap.ok(result.status == 6 and "--time-limit" in result.err, "an endless query ends", result.status, result.err)
    for text in ("printf('%.*c', 1000000000, 'x')", "instr(hex(zeroblob(4000000)), hex(zeroblob(2000000)) || '1')"):
        result = run("query", source, f"select length({text})", "--time-limit", "200ms")
        tap.ok(result.status == 6 and result.err.endswith("rows\n") and "--time-limit" in result.err,
               f"one operation that takes long ends: {text}", result.status, result.err)
    large = "select max(length(hex(zeroblob(900000000)))) from events"
    result = run("query", source, large, "--memory", "64M")
    tap.ok(result.status in (2, 6) and "hint: " in result.err, "a query that takes too much memory ends", result.status, result.err)


def check_peak(tap):
    """200,000 events within the least memory: SQLite's memory counts."""
    with Scratch() as folder:
        path = make(folder, "large.xplane.pb", "gpu", "--steps", "40", "--per-step", "250", "--seed", "3")
        path.write_bytes(path.read_bytes() * 10)  # messages one after the other are one message
        result = run("query", path, "select class, count(*) from events group by class", "--stats", "--memory", "32M", "--json")
        peak = next((float(line.split()[2]) for line in result.err.splitlines() if line.startswith("memory, peak")), 1e9)
        tap.ok(result.status == 0 and peak <= 48, "stays within 48 MiB at --memory 32M", peak, result.err[-300:])


def check_hosts(tap):
    with Scratch() as folder:
        home = folder / "plugins" / "profile" / "r"
        home.mkdir(parents=True)
        for number in range(2):
            make(home, f"vm{number}.xplane.pb", "gpu", "--seed", str(number + 1))
        rows, bad = ask(folder, "select host, count(*) as n, count(distinct device) as devices from events group by host order by host")
        single = [ask(home / f"vm{n}.xplane.pb", "select count(*) as n from events")[0][0]["n"] for n in range(2)]
        tap.ok(not bad and [row["host"] for row in rows] == ["vm0", "vm1"] and [row["n"] for row in rows] == single,
               "several hosts are one database", rows, single)


def check_real(tap):
    """One question about each of the real traces that are there."""
    files = sorted(path for kind in ("xspace/*", "jax-json/*", "kineto/*") for path in (SHARED / "traces").glob(kind)
                   if not path.name.startswith("corrupt"))
    if not files:
        tap.skip("real traces", "no TM_SHARED/traces")
        return
    wrong = []
    for path in files:
        rows, bad = ask(path, "select (select count(*) from events) as events, (select total(total_ps) from kernels) as ps, "
                              "(select count(*) from gaps) as gaps")
        if bad or rows[0]["events"] == 0:
            wrong.append(f"{path.name}: {bad or rows}")
    tap.ok(not wrong, f"{len(files)} real traces can be queried", *wrong)


def main():
    tap = Tap()
    ask.validator = validator_of(tap, "query")
    check_peak(tap)  # first: the peak of a child includes what this process held when it was started
    with Scratch() as folder:
        runs = {"gpu": make(folder, "vm.xplane.pb", "gpu", "--seed", "5"), "cpu": DEMO}
        check_questions(tap, runs)
        for label, source in runs.items():
            check_summary(tap, label, source)
        check_joins(tap, runs["gpu"])
        check_same(tap, runs["gpu"])
        check_refused(tap, runs["gpu"])
    check_hosts(tap)
    check_real(tap)
    tap.done()


if __name__ == "__main__":
    main()
