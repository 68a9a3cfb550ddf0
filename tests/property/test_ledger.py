#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The ledger of regressions through the program: a record stays open until the figure is back, under one id; what people
decide outlives the history; late, repeated and killed merges give the same bytes."""

import json
import random
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import made_batch  # noqa: E402
import make_profile  # noqa: E402
from tap import Tap  # noqa: E402
from tracemill import BINARY, Scratch, run  # noqa: E402

STEP_PS, JOBS = 10**11, 2


class Batch:
    """Nights of two jobs or more; the steps of the second one are `level` times as long.  An `absent` job does not run."""

    def __init__(self, folder, template, jobs=JOBS):
        self.folder, self.template, self.out, self.levels, self.facts, self.ops = folder, template, folder / "out", {}, {}, {}
        self.jobs, self.noise, self.absent, self.status = jobs, {}, set(), {}
        self.out.mkdir(parents=True)

    def night(self, *numbers, level=1.0, revision=None, facts=None, ops=None):
        for number in numbers:
            self.levels[number], self.facts[number], self.ops[number] = (level, revision), facts or {}, ops

    def write(self):
        lines = []
        for number, (level, revision) in sorted(self.levels.items()):
            for job in range(self.jobs):
                if (number, job) in self.absent:
                    continue
                line, result = self.template.run_of(number * self.jobs + job, self.jobs)
                noise = random.Random(f"{number} {job}")
                for name in ("compute_ps", "exposed_collective_ps", "idle_ps", "device_utilization_pct", "mfu_pct", "compile_time_ps", "peak_memory_bytes"):
                    result["figures"][name] = None
                result["figures"]["step_time_ps"] = round(STEP_PS * (level if job == 1 else 1) * noise.gauss(1, self.noise.get((number, job), 0.003)))
                result["facts"] |= self.facts[number]
                result["ops"] = [{"name": name, "time_ps": ps} for name, ps in (self.ops[number] or {}).items()]
                result["status"] = self.status.get((number, job), result["status"])
                line["keys"]["revision"] = revision
                folder = self.out / "runs" / line["id"]
                folder.mkdir(parents=True, exist_ok=True)
                (folder / "result.json").write_text(json.dumps(result), encoding="utf-8")
                lines.append(line)
        lines.sort(key=lambda line: line["path"])
        header = {**self.template.header, "runs": len(lines), "files": len(lines),
                  "bytes": sum(file["bytes"] for line in lines for file in line["files"])}
        (self.out / "manifest.jsonl").write_text("".join(json.dumps(line) + "\n" for line in [header, *lines]), encoding="utf-8")

    def merge(self, *options):
        self.write()
        return run("batch", "merge", self.out, "--format", "json", "-q", *options)

    def page(self):
        return json.loads((self.out / "index.json").read_text("utf-8"))

    def ledger(self, what="id, state, since"):
        """Rows of the ledger in history.db."""
        base = sqlite3.connect(f"file:{self.out / 'history.db'}?immutable=1", uri=True)
        rows = base.execute(f"SELECT {what} FROM regressions ORDER BY since_ns").fetchall()
        base.close()
        return rows

    def files(self):
        return {name: (self.out / name).read_bytes() for name in ("history.db", "index.json")}


def check_life(tap, folder, template):
    batch = Batch(folder, template)
    batch.night(*range(12), revision="aaaaaaa1")
    tap.ok(batch.merge().status == 0 and batch.ledger() == [], "quiet nights have no record")
    batch.night(12, 13, level=1.08, revision="bbbbbbb2")
    result = batch.merge()
    ledger = batch.ledger()
    tap.ok(result.status == 1 and len(ledger) == 1 and ledger[0][1] == "open", "a regression opens: status 1", result, ledger)
    name = ledger[0][0]
    tap.ok(re.fullmatch(r"r-[0-9a-f]{10}", name) and f"({name}" in result.err, "its id is on stderr", result.err)
    row = batch.page()["regressions"][0]
    tap.ok((row["regression"], row["revision_before"], row["revision"]) == (name, "aaaaaaa1", "bbbbbbb2"), "and on the page, with its revisions", row)
    places = [Path(word).parent for f in batch.page()["findings"] if f["id"] == "night_worse" for text in f["fix"]
              for word in re.findall(r"\S+/summary\.json", text)]
    tap.ok(len(places) == 2 and all((batch.out / place / "result.json").exists() for place in places), "and what to compare is there", places)
    batch.night(*range(14, 40), level=1.08, revision="bbbbbbb2")
    result = batch.merge("--fail-on-regression", "no")
    tap.ok(result.status == 0 and name in result.err and batch.ledger()[0][:2] == (name, "open"), "it is open a month later, also if it does not fail", result)
    tap.ok(batch.merge().status == 1, "and the status says so each night")
    batch.night(*range(40, 44), level=1.0, revision="ccccccc3")
    result = batch.merge()
    tap.ok(result.status == 0 and batch.ledger()[0][:2] == (name, "fixed") and [r["regression"] for r in batch.page()["closed"]] == [name],
           "it is fixed with another revision", result, batch.ledger())
    batch.night(*range(44, 46), level=1.0, revision="ccccccc3")
    tap.ok(batch.merge().status == 0 and batch.ledger()[0][:2] == (name, "fixed"), "and stays in the ledger")


def check_late(tap, folder, template):
    """A night that comes late is assessed in its place, and the record keeps its id."""
    batch, whole = Batch(folder / "late", template), Batch(folder / "whole", template)
    batch.night(*range(12))
    batch.night(13, 14, level=1.08)
    batch.merge()
    first = batch.ledger()
    batch.night(12, level=1.08)
    batch.merge()
    late = batch.ledger()
    tap.ok(len(late) == 1 and late[0][0] == first[0][0] and late[0][2] < first[0][2], "a late night moves the start, and not the id", first, late)
    again = batch.files()
    batch.merge()
    tap.ok(batch.files() == again, "a repeated merge gives the same bytes")
    whole.night(*range(12))
    whole.night(12, 13, 14, level=1.08)
    whole.merge()
    tap.ok([row[1:] for row in whole.ledger()] == [row[1:] for row in late], "as all at once")


def check_decisions(tap, folder, template):
    batch = Batch(folder, template)
    batch.night(*range(12))
    batch.night(12, 13, 14, level=1.08)
    batch.merge()
    name = batch.ledger()[0][0]
    result = run("batch", "ack", batch.out, name)
    tap.ok(result.status == 2 and "--reason" in result.err and not (batch.out / "decisions.jsonl").exists(), "ack wants a reason", result)
    result = run("batch", "ack", batch.out, "r-0000000000", "--reason", "x")
    tap.ok(result.status == 2 and "batch regressions" in result.err, "and a regression that is there", result)
    result = run("batch", "ack", batch.out, name, "--reason", "known <b>\n")
    tap.ok(result.status == 0, "ack", result)
    listed = json.loads(run("batch", "regressions", batch.out, "--json").out)["regressions"]
    tap.ok([(r["id"], r["state"], r["reason"]) for r in listed] == [(name, "acknowledged", "known <b>\n")], "it counts at once in the list", listed)
    tap.ok(name in run("batch", "regressions", batch.out).out, "also for people")
    junit = folder / "night.xml"
    result = batch.merge("--junit", junit, "--openmetrics", folder / "metrics.txt", "--markdown", folder / "night.md")
    page = batch.page()
    tap.ok(result.status == 0 and not page["regressions"] and [r["regression"] for r in page["acknowledged"]] == [name] and
           page["jobs"][0]["state"] != "worse", "acknowledged: listed, and no alarm", result, page["jobs"][0]["state"])
    suite = [s for s in ElementTree.parse(junit).getroot() if s.get("name") == "regressions"][0]
    tap.ok((suite.get("failures"), suite.get("skipped")) == ("0", "1"), "JUnit skips it", ElementTree.tostring(suite))
    places = re.findall("run: ([^;]+)", suite.findtext("testcase/system-out"))
    tap.ok(len(places) == 2 and all((batch.out / place / "result.json").exists() for place in places), "and names the folders of its runs", places)
    batch.night(15, 16, 17, level=1.2)
    result = batch.merge("--junit", junit, "--openmetrics", folder / "metrics.txt", "--markdown", folder / "night.md")
    suite = [s for s in ElementTree.parse(junit).getroot() if s.get("name") == "regressions"][0]
    tap.ok(result.status == 1 and batch.ledger()[0][:2] == (name, "open") and suite.get("failures") == "1", "one that grows is open again", result)
    tap.ok(f'id="{name}"' in (folder / "metrics.txt").read_text("utf-8") and name in (folder / "night.md").read_text("utf-8"), "in metrics and Markdown")
    before = batch.ledger("*")
    (batch.out / "history.db").unlink()
    batch.merge()
    tap.ok(batch.ledger("*") == before, "a lost history is rebuilt with the decision", before, batch.ledger("*"))
    result = run("batch", "accept", batch.out, name, "--reason", "two more layers")
    result = batch.merge()
    tap.ok(result.status == 0 and batch.ledger()[0][:2] == (name, "accepted") and not batch.page()["regressions"], "accepted: closed", result, batch.ledger())
    batch.night(*range(18, 24), level=1.2)
    tap.ok(batch.merge().status == 0 and len(batch.ledger()) == 1, "the new level is the baseline")
    batch.night(24, 25, level=1.32)
    tap.ok(batch.merge().status == 1 and [row[1] for row in batch.ledger()] == ["accepted", "open"], "from which another one opens", batch.ledger())
    before = batch.ledger("*")
    (batch.out / "history.db").unlink()
    batch.merge()
    tap.ok(batch.ledger("*") == before, "which a rebuilt history says, too", before, batch.ledger("*"))
    result = run("batch", "ack", batch.out, name, "--reason", "x")
    tap.ok(result.status == 2 and "accepted" in result.err, "what is closed is not decided", result)
    return batch


def check_cause(tap, folder, template):
    """Without summaries, the operations in the history say what got slower; also when the runs have been pruned."""
    ops = {"fusion.1": 5e9, "fusion.2": 3e9, "dot.3": 2e9, "copy.4": 1e9}
    batch = Batch(folder, template)
    batch.night(*range(12), ops=ops)
    batch.night(12, 13, level=1.08, ops=ops | {"dot.3": 9e9, "fusion.1": 4e9, "copy.4": 1.5e9, "fusion.2": 3.1e9, "short.5": 0.5e9})
    result = batch.merge("--markdown", folder / "night.md")
    wants = "dot.3 takes 9.00 ms of a step, before 2.00 ms; copy.4 takes 1.50 ms of a step, before 1.00 ms"
    tap.ok(result.status == 1 and batch.ledger("cause") == [(wants,)] and wants in (folder / "night.md").read_text("utf-8"),
           "the operations that got slower by most are the cause", result, batch.ledger("cause"))
    new = Batch(folder / "new", template)
    new.night(*range(12), ops=ops)
    new.night(12, level=1.2, ops=ops | {"fusion.9": 2e9})
    new.merge()
    tap.ok(new.ledger("cause") == [("fusion.9 takes 2.00 ms of a step, before less",)], "also one that was not among them", new.ledger("cause"))


def check_series(tap, folder, template):
    """A library that changes with the level: a regression, or with --series-by a series of its own."""
    for options, status in ((), 1), (("--series-by", "libraries"), 0), (("--series-by", "host,driver"), 1):
        batch = Batch(folder / "-".join(("by", *options)), template)
        batch.night(*range(12), facts={"jaxlib": "0.7.1", "driver": "550", "host": "a"})
        batch.night(*range(12, 15), level=1.08, facts={"jaxlib": "0.7.2", "driver": "550", "host": "a"})
        result = batch.merge(*options)
        told = [text for finding in batch.page()["findings"] for text in finding["evidence"] if "jaxlib" in text]
        tap.ok(result.status == status and len(batch.ledger()) == status and len(told) == status, f"{options}: {'one' if status else 'none'} opens", result, told)
        batch.night(*range(15, 30), facts={"jaxlib": "0.7.2", "driver": "550", "host": "a"}, level=1.08)
        batch.night(30, 31, 32, facts={"jaxlib": "0.7.2", "driver": "550", "host": "a"}, level=1.2)
        batch.merge(*options)
        again = batch.files()
        batch.merge(*options)
        tap.ok(batch.files() == again and max(batch.ledger("since"))[0] == made_batch.date_of(made_batch.START_NS + (30 if options and not status else 12) * made_batch.DAY_NS),
               f"{options}: a later change is found in its series, and a repeated merge gives the same bytes", batch.ledger())


def check_shards(tap, folder):
    """Shards of one manifest, in any order, and results joined of folders: the same ledger as one process makes."""
    made, markers = {}, make_profile.markers
    for factor in (1, 2):
        make_profile.markers = lambda python, dice, steps, length_us, factor=factor: markers(python, dice, steps, factor * length_us)
        made[factor] = make_profile.cpu(steps=8, per_step=6).encode()
    make_profile.markers = markers
    for night in range(1, 13):
        place = folder / "logs" / "job" / f"2026-11-{night:02}" / f"{'abc'[night // 5]}000000{night // 5}"
        place.mkdir(parents=True)
        (place / "vm.xplane.pb").write_bytes(made[2 if night > 9 else 1])
    manifest = folder / "all.jsonl"
    run("batch", "scan", folder / "logs", "-o", manifest, "-q")
    outs = {name: folder / name for name in ("one", "shards", "joined")}
    run("batch", "run", "--manifest", manifest, "-o", outs["one"], "-q")
    for share in (2, 0, 1):
        result = run("batch", "run", "--manifest", manifest, "-o", outs["shards"], "--shard", f"{share}/3", "-q")
        tap.ok(result.status == 0, f"share {share}", result)
        run("batch", "run", "--manifest", manifest, "-o", folder / f"part{share}", "--shard", f"{share}/3", "-q")
    result = run("batch", "join", *(folder / f"part{share}" for share in (1, 2, 0)), "-o", outs["joined"], "-q")
    tap.ok(result.status == 0, "three folders are joined", result)
    told = {}
    for name, out in outs.items():
        result = run("batch", "merge", out, "--format", "json", "-q")
        base = sqlite3.connect(f"file:{out / 'history.db'}?immutable=1", uri=True)
        rows = base.execute("SELECT id, figure, state, since, revision, revision_before, cause FROM regressions").fetchall()
        base.close()
        told[name] = (result.status, (out / "history.db").read_bytes(), (out / "index.json").read_bytes())
        tap.ok(result.status == 1 and ("step_time_ps", "open", "2026-11-10", "c0000002") in [row[1:5] for row in rows], f"{name}: the regression is open", result, rows)
    tap.ok(told["one"] == told["shards"] == told["joined"], "with the same bytes")
    causes = {row[6] for row in rows if row[2] == "open"}
    tap.ok(all(re.fullmatch(r"No single cause; largest increases per step: Idle: [^(]+ \([^)]+\)(, Idle: [^(]+ \([^)]+\))?", c or "") for c in causes) and causes,
           "without a single cause, the parts of a step that grew the most are named", causes)


def check_confirm(tap, folder, template):
    """With --confirm 2, the first run only asks for another one."""
    batch = Batch(folder, template)
    batch.night(*range(12))
    batch.night(12, level=1.2)
    result = batch.merge("--confirm", "2")
    page = batch.page()
    tap.ok(result.status == 0 and not page["regressions"] and [r["job"] for r in page["unconfirmed"]] == ["job-0001"] and
           (batch.out / "confirm.txt").read_text("utf-8") == "job-0001\n", "a regression of one run is to be confirmed", result, page["unconfirmed"])
    name = page["unconfirmed"][0]["regression"]
    listed = json.loads(run("batch", "regressions", batch.out, "--json").out)["regressions"]
    told = run("batch", "regressions", batch.out).out.splitlines()
    tap.ok([(r["id"], r["state"], r["runs"]) for r in listed if r["id"] == name] == [(name, "unconfirmed", 1)] and page["unconfirmed"][0]["state"] == "unconfirmed" and
           any(line.split()[:2] == [name, "unconfirmed"] and "1 run so far" in line for line in told), "and is listed as such", listed, told)
    batch.merge("--confirm", "2", "--junit", folder / "junit.xml")
    cases = {case.get("name").split()[-1]: case.find("skipped") for case in ElementTree.parse(folder / "junit.xml").iter("testcase")}
    tap.ok(cases[name] is not None and "to be confirmed" in cases[name].get("message"), "in JUnit XML, too", cases)
    batch.night(13, level=1.2)
    result = batch.merge("--confirm", "2")
    tap.ok(result.status == 1 and (batch.out / "confirm.txt").read_bytes() == b"" and len(batch.page()["regressions"]) == 1, "and is an alarm with the second", result)


def check_withdrawn(tap, folder, template):
    """The noise of other jobs grows, so that a small regression is within chance: its record stays, and says so everywhere."""
    batch, junit, metrics, note = Batch(folder, template, 12), folder / "night.xml", folder / "metrics.txt", folder / "night.md"
    outputs = ("--junit", junit, "--openmetrics", metrics, "--markdown", note, "--format", "json,html")
    batch.night(*range(14))
    batch.night(14, 15, 16, level=1.022)
    result = batch.merge()
    first = batch.ledger()
    tap.ok(result.status == 1 and [row[1] for row in first] == ["open"], "a small regression opens among quiet jobs", result, first)
    name = first[0][0]
    batch.night(*range(17, 40))
    batch.absent = {(number, 1) for number in range(17, 40)}
    batch.noise = {(number, job): 0.02 for number in range(17, 40) for job in range(12)}
    result = batch.merge(*outputs)
    row = {row[0]: row[1:] for row in batch.ledger("id, state, reason, closed, closed_run")}.get(name)
    reason = row and row[1]
    tap.ok(row == ("withdrawn", reason, batch.page()["night"], None) and "noise" in reason, "it is withdrawn, and does not leave the ledger", batch.ledger())
    tap.ok(result.status == 0 and f"({name}): {reason}" in result.err, "no alarm, and stderr says why", result)
    closed = [r for r in batch.page()["closed"] if r["regression"] == name]
    tap.ok([(r["state"], r["reason"]) for r in closed] == [("withdrawn", reason)] and batch.page()["counts"]["regressions_closed"] >= 1, "the page lists it", batch.page()["closed"])
    tap.ok(all(word in (batch.out / "index.html").read_text("utf-8") for word in (name, "withdrawn", reason)), "also in HTML")
    cases = {case.get("name").split()[-1]: case.find("skipped") for case in ElementTree.parse(junit).iter("testcase")}
    suite = [s for s in ElementTree.parse(junit).getroot() if s.get("name") == "regressions"][0]
    tap.ok(f"withdrawn: {reason}" in cases[name].get("message") and int(suite.get("skipped")) == sum(skip is not None for skip in cases.values()),
           "JUnit skips it with the reason", ElementTree.tostring(suite))
    line = [at for at in metrics.read_text("utf-8").splitlines() if name in at]
    tap.ok(len(line) == 1 and line[0].startswith("tracemill_regression_closed{") and 'state="withdrawn"' in line[0] and reason in line[0], "OpenMetrics has it as closed", line)
    told = ((batch.out / "feed.atom").read_text("utf-8"), note.read_text("utf-8"))
    tap.ok(all(reason in text and "withdrawn" in text for text in told), "the feed and Markdown have it, too", *told)
    listed = json.loads(run("batch", "regressions", batch.out, "--json").out)["regressions"]
    tap.ok([(r["state"], r["reason"]) for r in listed if r["id"] == name] == [("withdrawn", reason)], "and the list", listed)
    result = run("batch", "ack", batch.out, name, "--reason", "x")
    tap.ok(result.status == 2 and "withdrawn" in result.err, "nobody has to decide about it", result)
    again = batch.files()
    batch.merge(*outputs)
    tap.ok(batch.files() == again, "a repeated merge gives the same bytes")
    batch.night(40)
    batch.absent.add((40, 1))
    batch.noise |= {(40, job): 0.02 for job in range(12)}
    batch.merge()
    kept = {row[0]: row[1:] for row in batch.ledger("id, state, reason, closed")}.get(name)
    tap.ok(kept == row[:3] and name not in json.dumps(batch.page()), "it stays in the ledger, and leaves the page of the next night", kept, row)
    batch.noise = {}
    batch.merge()
    tap.ok([at[:2] for at in batch.ledger()] == [(name, "open")], "and is open again under its id if the rows show it again", batch.ledger())
    batch.status = {(number, 1): "failed" for number in (14, 15, 16)}
    batch.merge()
    tap.ok(batch.ledger("id, state, reason") == [(name, "withdrawn", "the run that showed it is failed now")], "a run that failed when it was worked again does not show it", batch.ledger("*"))


def check_ended(tap, folder, template):
    """A job that runs no more: its record ends after 30 nights without it, on one page, also if that night comes with others."""
    for several in (False, True):
        batch, junit, note = Batch(folder / str(several), template), folder / "night.xml", folder / "night.md"
        batch.night(*range(14))
        batch.night(14, 15, 16, level=1.1)
        batch.night(*range(17, 46))
        batch.absent = {(number, 1) for number in range(17, 60)}
        batch.merge()
        (name, *row), *others = batch.ledger("id, state, closed")
        tap.ok(row == ["open", None] and not others and [r["regression"] for r in batch.page()["regressions"]] == [name], "open after 29 nights", row, others)
        batch.night(*range(46, 48 if several else 47))
        outputs = ("--junit", junit, "--markdown", note, "--format", "json,html")
        result = batch.merge(*outputs)
        night, reason = batch.page()["night"], "no run on this hardware in the last 30 nights"
        tap.ok(batch.ledger("id, state, closed, closed_run, reason") == [(name, "ended", night, None, reason)], "it ends on the page of the 30th", batch.ledger("*"))
        listed = [(r["regression"], r["state"], r["reason"]) for r in batch.page()["closed"]]
        tap.ok(listed == [(name, "ended", reason)] and not batch.page()["regressions"] and result.status == 0, "which lists it, without an alarm", listed, result)
        cases = {case.get("name").split()[-1]: case.find("skipped") for case in ElementTree.parse(junit).iter("testcase")}
        told = (result.err, note.read_text("utf-8"), (batch.out / "index.html").read_text("utf-8"), cases[name].get("message"))
        tap.ok(all("ended" in text and reason in text for text in told), "stderr, Markdown, HTML and JUnit say why", *told[:2], told[3])
        again = batch.files()
        batch.merge(*outputs)
        tap.ok(batch.files() == again, "a repeated merge gives the same bytes")
        batch.night(50)
        batch.merge()
        tap.ok(batch.ledger("id, state, closed") == [(name, "ended", night)] and not batch.page()["closed"], "the next page is without it", batch.ledger(), batch.page()["closed"])
    batch.absent = {(number, 1) for number in range(17, 50)}
    batch.night(50, 51, level=1.1)
    batch.merge()
    tap.ok(batch.ledger("id, state, closed") == [(name, "open", None)], "and a slow run opens it again", batch.ledger())


def check_file(tap, batch):
    """Damaged and interrupted decisions."""
    path = batch.out / "decisions.jsonl"
    whole, name = path.read_bytes(), batch.ledger()[-1][0]
    before = batch.files()
    path.write_bytes(whole + b'{"id": "r-')
    tap.ok(batch.merge().status == 1 and batch.files() == before, "a line that was not completed does not count")
    run("batch", "ack", batch.out, name, "--reason", "y")
    lines = path.read_bytes()[len(whole):]
    tap.ok(lines.count(b"\n") == 1 and json.loads(lines)["id"] == name, "and is replaced by the next one", lines)
    for data, what in ((b"no JSON\n", "line 3"), (b'{"decision": "x"}\n', "decision"), (b"[1]\n", "line 3"), (b'{"decision": "accepted", "id": "../x"}\n', "'id'")):
        path.write_bytes(whole + data)
        result = batch.merge()
        tap.ok(result.status == 3 and what in result.err and batch.files() == before, f"{data}: refused with its line", result)
    path.write_bytes(whole)


def check_kills(tap, batch):
    """A merge that is killed at any moment leaves the old files or the new ones, and the next one completes it."""
    name = batch.ledger()[-1][0]
    run("batch", "ack", batch.out, name, "--reason", "z")
    keep = batch.folder / "keep"
    shutil.copytree(batch.out, keep)
    batch.merge()
    done, kills, torn = batch.files(), 0, []
    for delay in range(1, 12):
        shutil.rmtree(batch.out)
        shutil.copytree(keep, batch.out)
        old = batch.files()
        process = subprocess.Popen([BINARY, "batch", "merge", batch.out, "--format", "json", "-q"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            process.wait(timeout=0.002 * delay)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            process.wait()
            kills += 1
        if any(data not in (old[key], done[key]) for key, data in batch.files().items()):
            torn.append(delay)
    batch.merge()
    tap.ok(not torn and batch.files() == done, f"killed merges leave whole files ({kills} kills)", *torn)


def check_missing_folder(tap, folder):
    for words in (("trend", "job"), ("export",), ("regressions",), ("prune",), ("merge",)):
        result = run("batch", words[0], folder / "missing", *words[1:])
        tap.ok(result.status in (3, 5) and "missing" in result.err and "hint: give the output folder" in result.err,
               f"batch {words[0]} of a missing folder says what to give", result)


def main():
    tap = Tap()
    with Scratch() as folder:
        template = made_batch.Template(folder / "template")
        check_life(tap, folder / "life", template)
        check_late(tap, folder / "late", template)
        check_cause(tap, folder / "cause", template)
        check_series(tap, folder / "series", template)
        check_shards(tap, folder / "shards")
        check_confirm(tap, folder / "confirm", template)
        check_withdrawn(tap, folder / "withdrawn", template)
        check_ended(tap, folder / "ended", template)
        batch = check_decisions(tap, folder / "decisions", template)
        check_file(tap, batch)
        check_kills(tap, batch)
        check_missing_folder(tap, folder)
    tap.done()


if __name__ == "__main__":
    main()
