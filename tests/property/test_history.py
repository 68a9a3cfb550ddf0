#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The history of a batch through the program: the same bytes however it came about, whole at any moment, the same in SQL as
in the export; pruning, which leaves what it has to."""

import csv
import hashlib
import io
import json
import os
import random
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import made_batch  # noqa: E402
import make_profile  # noqa: E402
import schemas  # noqa: E402
from tap import Tap  # noqa: E402
from tracemill import BINARY, ROOT, SANITIZED, Scratch, run  # noqa: E402

FORMAT = ("--format", "json")
SCHEMA = json.loads((ROOT / "schemas" / "history.schema.json").read_text(encoding="utf-8"))
LARGE = 400 if SANITIZED else 3000


def merge(out, *options):
    return run("batch", "merge", out, *FORMAT, *options)


def history_of(out):
    return (out / "history.db").read_bytes()


def rows_of(out, what="*"):
    base = sqlite3.connect(f"file:{out / 'history.db'}?immutable=1", uri=True)
    base.row_factory = sqlite3.Row
    rows = base.execute(f"SELECT {what} FROM runs ORDER BY job, when_ns, id").fetchall()  # noqa: S608
    base.close()
    return rows


def print_of(folder):
    """Everything in a folder: names and hashes."""
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
            for path in sorted(folder.rglob("*")) if path.is_file() and not path.is_symlink()}


# --- the same bytes ---


def the_same_bytes(tap, template, folder):
    whole, again = folder / "whole", folder / "again"
    template.write(whole, range(60), jobs=5)
    done = merge(whole, "--json")
    tap.ok(done.status == 0, "merging made results goes well", done)
    tap.ok(done.out == (whole / "index.json").read_text(encoding="utf-8"), "--json prints index.json", done.out[:200])
    first = {name: (whole / name).read_bytes() for name in ("history.db", "index.json")}
    tap.ok(merge(whole).status == 0 and all((whole / name).read_bytes() == first[name] for name in first),
           "merging twice gives the same bytes")
    template.write(again, range(60), jobs=5)
    merge(again, "--memory", "1G")
    tap.ok(history_of(again) == first["history.db"], "and so it does with more memory")
    for seed in range(3):
        parts, numbers, dice = folder / f"parts{seed}", list(range(59)), random.Random(seed)
        dice.shuffle(numbers)
        numbers.insert(0, 59)  # of the last night: what comes from then on is of its page
        cuts = sorted(dice.sample(range(1, 60), 4))
        for begin, end in zip([0, *cuts], [*cuts, 60]):
            template.write(parts, sorted(numbers[max(begin - 5, 0):end]), jobs=5)  # some of the night before once more
            merge(parts)
        tap.ok(history_of(parts) == first["history.db"], f"merged in five parts in any order, as at once: {seed}")
    parts = folder / "nights"
    for end in (15, 30, 45, 60):
        template.write(parts, range(end), jobs=5)
        merge(parts)
    same = ", ".join(name for name in SCHEMA["properties"] if name not in ("page", "ops", "scopes"))
    tap.ok([tuple(row) for row in rows_of(parts, same)] == [tuple(row) for row in rows_of(whole, same)] and
           len({row["page"] for row in rows_of(parts)}) == 4 and len({row["page"] for row in rows_of(whole)}) == 1,
           "merged night by night: the same rows, each with the night whose page it is on")


def failures(tap, template, folder):
    out = folder / "failures"
    template.write(out, range(8), jobs=2)
    ids = [template.run_of(number, 2)[0]["id"] for number in range(8)]
    (out / "runs" / ids[0] / "result.json").unlink()
    path = out / "runs" / ids[1] / "result.json"
    path.write_bytes(path.read_bytes()[:-9])
    path = out / "runs" / ids[2] / "result.json"
    path.write_text(path.read_text(encoding="utf-8").replace(template.result["fingerprint"], "0" * 16), encoding="utf-8")
    path = out / "runs" / ids[3] / "result.json"
    result = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps({**result, "status": "refused", "message": "no trace", "figures": None, "facts": None,
                                "verdict": None, "files": []}), encoding="utf-8")
    done = merge(out)
    rows = {row["id"]: row for row in rows_of(out)}
    tap.ok(done.status == 4 and "1 cannot be read, 3 not processed yet" in done.err, "what is not there is told", done)
    tap.ok([rows[name]["status"] for name in ids] == ["missing"] * 3 + ["refused"] + ["done"] * 4,
           "results that are absent, damaged or of another input are missing")
    row = rows[ids[3]]
    tap.ok(row["message"] == "no trace" and row["report"] is None and row["step_time_ps"] is None and row["hosts"] is None,
           "a failure has its reason and no figures")
    template.write(out, range(8), jobs=2)
    tap.ok(merge(out).status == 0 and {row["status"] for row in rows_of(out)} == {"done"}, "and is replaced once it is done")


# --- times of operations ---


def varints(data):
    """The numbers of LEB128 data."""
    numbers, value, shift = [], 0, 0
    for byte in data:
        value |= (byte & 0x7f) << shift
        shift += 7
        if byte < 0x80:
            numbers.append(value)
            value, shift = 0, 0
    return numbers


def ops_of(out, row):
    """{"ops", "scopes"} of a row, read with another decoder."""
    base = sqlite3.connect(f"file:{out / 'history.db'}?immutable=1", uri=True)
    blob = base.execute("SELECT times FROM op_times WHERE job = ? AND run = ?", (row["job"], row["id"])).fetchone()
    names = dict(base.execute("SELECT id, name FROM op_names WHERE job = ?", (row["job"],)).fetchall())
    base.close()
    numbers, told = iter(varints(blob[0]) if blob else [1, 0, 0]), {}
    assert next(numbers) == 1
    for key in ("ops", "scopes"):
        at, rows = 0, []
        for _ in range(next(numbers)):
            at += next(numbers)
            rows.append({"name": names[at], "time_ps": 1000 * next(numbers)})
        told |= {key: rows} if rows else {}
    return told


def with_ops(template, number, jobs, scale=1.0):
    """A run whose longest operations are known: fifty of them, of which some come and go."""
    line, result = template.run_of(number, jobs)
    night = number // jobs
    result["ops"] = [{"name": f"fusion.{k}" if k % 5 else f"fusion.{k}.{night // 7}", "time_ps": round(scale * 1e6 * (80 - k) + 1000 * night)} for k in range(50)]
    result["scopes"] = [{"name": f"model/layer_{k}", "time_ps": 3e6 * (90 - k)} for k in range(50)]
    return line, result


def write_ops(out, template, numbers, jobs, scale=lambda number: 1.0):
    template.write(out, numbers, jobs)
    for number in numbers:
        line, result = with_ops(template, number, jobs, scale(number))
        (out / "runs" / line["id"] / "result.json").write_text(json.dumps(result), encoding="utf-8")


def operations(tap, template, folder):
    """The longest operations and scopes of each run: the same bytes however they came, kept after pruning, bounded."""
    jobs, nights, out, other = 3, 40, folder / "operations", folder / "operations in parts"
    write_ops(out, template, range(jobs * nights), jobs)
    tap.ok(merge(out).status == 0, "merging runs with operations")
    rows = rows_of(out)
    wants = {line["id"]: result for line, result in (with_ops(template, number, jobs) for number in range(jobs * nights))}
    wrong = [row["id"] for row in rows for key in ("ops", "scopes")
             if {op["name"]: op["time_ps"] for op in ops_of(out, row)[key]} !=
             {op["name"]: 1000 * round(op["time_ps"] / 1000) for op in wants[row["id"]][key]}]
    tap.ok(len(rows) == len(wants) and not wrong, "the history has those of each result", *wrong[:3])
    base = sqlite3.connect(f"file:{out / 'history.db'}?immutable=1", uri=True)
    mean = base.execute("SELECT avg(length(times)) FROM op_times").fetchone()[0]
    used = base.execute("SELECT count(*), count(DISTINCT job || name) FROM op_names").fetchone()
    base.close()
    tap.ok(mean < 600, f"in {mean:.0f} bytes a run of 50 operations and 50 scopes")
    tap.ok(used[0] == used[1], "each name of a job once", used)
    for last in (range(60), range(30, jobs * nights), range(jobs * nights)):  # in another order, and some first with other times
        write_ops(other, template, last, jobs, lambda number, last=last: 1.0 if len(last) == jobs * nights else 1.5)
        lines = [json.loads(text) for text in (other / "manifest.jsonl").read_text("utf-8").splitlines()]
        for line in lines[1:]:
            result = json.loads((other / "runs" / line["id"] / "result.json").read_text("utf-8"))
            result["options"] = f"{len(last):016x}" if len(last) < jobs * nights else result["options"]
            (other / "runs" / line["id"] / "result.json").write_text(json.dumps(result), encoding="utf-8")
        merge(other)
    plain = [base.execute("SELECT * FROM op_times, op_names USING (job) ORDER BY 1, 2, 3").fetchall()
             for base in map(sqlite3.connect, (out / "history.db", other / "history.db"))]
    tap.ok(plain[0] == plain[1], "the same however the runs came; names that no run has are gone")
    point = run("batch", "trend", out, "job-0001", "fusion.3", "--json")
    points = json.loads(point.out)["rows"]
    tap.ok([p["time_ps"] for p in points] == [77_000_000 + 1000 * night for night in range(nights)] and
           [p["night"] for p in points] == sorted(p["night"] for p in points), "the trend of an operation, night by night", point.out[:400])
    table = list(csv.DictReader(io.StringIO(run("batch", "trend", out, "job-0001", "fusion.3", "--csv").out)))
    tap.ok([int(line["time_ps"]) for line in table] == [p["time_ps"] for p in points], "the same as CSV", table[:2])
    lines = run("batch", "trend", out, "job-0001", "model/layer_7", "-q").out.splitlines()
    tap.ok(len(lines) == nights and all("scope" in line and "249" in line for line in lines), "and of a scope, as lines", *lines[:2])
    listed = json.loads(run("batch", "trend", out, "job-0001", "--json").out)["rows"]
    tap.ok(len(listed) == 100 and [r["name"] for r in listed[:2]] == ["fusion.0.5", "fusion.1"] and
           [r["runs"] for r in listed[:2]] == [nights % 7, nights] and listed[1]["before_ps"] == 79_019_000, "without a name, those of the newest run", *listed[:2])
    for words, told in ((("nobody",), "no job 'nobody'"), (("job-0001", "fusion"), "among its longest operations")):
        result = run("batch", "trend", out, *words)
        tap.ok(result.status == 2 and told in result.err and "hint: " in result.err, f"{told}: refused", result)
    tap.ok(run("batch", "trend", out, "job-0001", "--json", "--csv").status == 2, "--json and --csv: refused")
    trend = run("batch", "trend", out, "job-0001", "fusion.3").out
    run("batch", "prune", out, "--keep", 3)
    results = [json.loads(path.read_text("utf-8")) for path in out.glob("runs/*/result.json")]
    tap.ok(sum(result["ops"] is None for result in results) == jobs * (nights - 3), "pruning removes them from results")
    merge(out)
    tap.ok(run("batch", "trend", out, "job-0001", "fusion.3").out == trend, "and not from the history")
    many = folder / "many nights"
    write_ops(many, template, range(410), 1)
    merge(many)
    ids = [row["id"] for row in rows_of(many)]
    has = [row["id"] for row in rows_of(many) if ops_of(many, row)]
    tap.ok(len(ids) == 410 and has == ids[10:], "they are kept for the last 400 runs of a job", len(has))
    whole = history_of(many)
    merge(many)
    tap.ok(history_of(many) == whole, "and a repeated merge changes nothing")
    for path in many.glob("runs/*/result.json"):  # they are the end of the file
        path.write_text(path.read_text("utf-8").split('"ops"', 1)[0] + '"ops": [{', encoding="utf-8")
    statuses = {row["id"]: row["status"] for row in rows_of(many)}
    merge(many)
    known = {row["id"] for row in rows_of(many) if row["status"] == statuses[row["id"]]}
    tap.ok(known == set(has), "they are not read again where the history has them", sorted(set(has) ^ known)[:3])
    base = sqlite3.connect(many / "history.db")
    for damage in (b"", b"\x02\x00\x00", b"\x01\x01", b"\x01\x01\x00\x05\x00", b"\x01\x80\x00\x00", b"\x01\x00\x00\x00", b"\x01\x33" + b"\x01\x01" * 51 + b"\x00"):
        base.execute("UPDATE op_times SET times = ? WHERE run = ?", (damage, has[7]))
        base.commit()
        result = merge(many)
        tap.ok(result.status == 3 and "is damaged" in result.err, f"times {damage[:5]!r} are refused", result)
    base.close()


# --- readers ---


def readers(tap, template, folder):
    out, odd = folder / "readers", "we\u202eird \"job'; DROP TABLE runs; --"
    template.write(out, range(30), jobs=3)
    lines = (out / "manifest.jsonl").read_text(encoding="utf-8").splitlines()
    line = json.loads(lines[3])
    line["keys"].update(revision="deadbeef01", label=odd, training="big/run", step=1000)
    lines[3] = json.dumps(line)
    (out / "manifest.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    done = merge(out)
    tap.ok(done.status == 0, "merging keys that mean harm", done)
    export = run("batch", "export", out)
    rows, told = rows_of(out), [json.loads(text) for text in export.out.splitlines()]
    known = [{key: row[key] for key in row.keys() if row[key] is not None} | ops_of(out, row) for row in rows]
    tap.ok(export.status == 0 and told == known, "the export has what SQL has, in its order", export.err)
    seen = odd.replace("\u202e", "?")  # what turns text is not taken over
    tap.ok(sum(row["label"] == seen for row in rows) == 1, "a text that means harm is a text", {row["label"] for row in rows})
    validator = schemas.validator_of(tap, "history")
    wrong = [problem for row in told for problem in schemas.problems(validator, row)]
    tap.ok(not wrong, "every line fits the schema", *wrong[:3])
    tap.ok(list(SCHEMA["properties"]) == [*rows[0].keys(), "ops", "scopes"], "the schema has the columns, in their order")
    named = folder / "named" / "history.jsonl"
    tap.ok(run("batch", "export", out, "-o", named).status == 0 and named.read_bytes() == export.raw_out,
           "into a file goes the same")
    base = sqlite3.connect(out / "history.db")
    tap.ok(base.execute("PRAGMA integrity_check").fetchone()[0] == "ok" and
           base.execute("PRAGMA user_version").fetchone()[0] == 5 and
           base.execute("PRAGMA application_id").fetchone()[0] == 0x544d4842 and
           base.execute("PRAGMA journal_mode").fetchone()[0] == "delete", "another reader finds a whole database")
    plan = " ".join(str(row) for row in base.execute("EXPLAIN QUERY PLAN SELECT * FROM runs WHERE job = 'x' ORDER BY when_ns"))
    base.close()
    tap.ok("runs_by_job" in plan, "with an index by job", plan)


def questions(tap, folder):
    """The SQL of the docs, asked of the history of the readers."""
    text = (ROOT / "docs" / "history.md").read_text(encoding="utf-8")
    base = sqlite3.connect(f"file:{folder / 'readers' / 'history.db'}?immutable=1", uri=True)
    asked = [question.replace("'train'", "'job-0001'") for question in re.findall(r"```sql\n(.*?)```", text, re.DOTALL)]
    counts = [len(base.execute(question).fetchall()) for question in asked]
    base.close()
    tap.ok(len(asked) == 6 and all(counts[i] > 0 for i in (0, 2, 5)), "the questions of docs/history.md have answers", counts)
    columns = re.findall(r"`(\w+)`", text[text.index("| columns"):text.index("The figures are")])
    names = list(SCHEMA["properties"])
    tap.ok(all(name in columns for name in names[:names.index("step_time_ps") + 1]), "and its table has the columns",
           *(name for name in names if name not in columns))


def strangers(tap, template, folder):
    out = folder / "strangers"
    template.write(out, range(10), jobs=2)
    merge(out)
    whole = history_of(out)
    for name, content in (("cut", whole[:len(whole) // 2]), ("empty", b""), ("a text", b"to do: nothing\n" * 90),
                          ("damaged", whole[:8192] + b"\xff" * 64 + whole[8256:])):
        (out / "history.db").write_bytes(content)
        before = print_of(out)
        done = [merge(out), run("batch", "export", out), run("batch", "prune", out)]
        tap.ok(all(result.status == 3 and "history" in result.err and "hint: move it away" in result.err for result in done)
               and print_of(out) == before, f"{name}: refused, with what to do, and nothing is written", *done)
    (out / "history.db").unlink()
    merge(out)
    tap.ok(history_of(out) == whole, "moved away, it is made again of what the manifest names")


# --- whole at any moment ---


def kill_one(command, seconds):
    """out: True if it was killed"""
    process = subprocess.Popen([str(BINARY), *map(str, command)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                               env=dict(os.environ, SOURCE_DATE_EPOCH="4000000000"))
    time.sleep(seconds)
    process.send_signal(signal.SIGKILL)
    return process.wait() == -signal.SIGKILL


def killed(tap, template, folder):
    out, dice, torn, kills = folder / "killed", random.Random(5), [], 0
    template.write(out, range(LARGE // 2), jobs=10)
    merge(out)
    old = history_of(out)
    template.write(out, range(LARGE // 2, LARGE), jobs=10)
    begin = time.monotonic()
    merge(out)
    seconds, new = time.monotonic() - begin, history_of(out)
    turn = 0
    while turn < 20 or kills < 5 and turn < 100:
        (out / "history.db").write_bytes(old)
        is_killed = kill_one(["batch", "merge", out, *FORMAT], dice.random() * seconds)
        kills += is_killed
        seconds *= 1 if is_killed else 0.95  # the merge that was timed may have waited for the machine
        if history_of(out) not in (old, new):
            torn.append(turn)
        turn += 1
    tap.ok(not torn and kills >= 5, f"a merge that is killed leaves the old history or the new one ({kills} kills)", *torn)
    done = merge(out)
    left = [path.name for path in out.iterdir() if path.name.startswith(".")]
    tap.ok(done.status == 0 and history_of(out) == new and not left, "and the next one completes it, and clears away", done, left)
    (out / "history.db").write_bytes(old)
    limited = subprocess.run(["prlimit", f"--fsize={len(old) // 2}", str(BINARY), "batch", "merge", str(out), *FORMAT],
                             stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False)
    left = [path.name for path in out.iterdir() if path.name.startswith(".")]
    tap.ok(limited.returncode == 5 and history_of(out) == old and not left,
           "what cannot be written leaves the old one", limited.stderr.decode())


# --- pruning ---


def prune(tap, template, folder):
    out, jobs, nights = folder / "prune", 2, 20
    template.write(out, range(jobs * nights), jobs, has_files=True)
    ids = [template.run_of(number, jobs)[0]["id"] for number in range(jobs * nights)]
    for name in ids:
        (out / "runs" / name / "report.html").write_text("x" * 1000, encoding="utf-8")
        (out / "runs" / name / "csv").mkdir()
        (out / "runs" / name / "csv" / "ops.csv").write_text("x", encoding="utf-8")
    mine, secret = out / "runs" / ids[0] / "notes.md", folder / "secret.html"
    mine.write_text("mine", encoding="utf-8")
    secret.write_text("secret", encoding="utf-8")
    for name in (".report.html.77-0.part", ".csv.77-0.part/ops.csv"):  # of a process that was killed
        (out / "runs" / ids[0] / name).parent.mkdir(exist_ok=True)
        (out / "runs" / ids[0] / name).write_text("half", encoding="utf-8")
    (out / "runs" / ids[1] / "report.pdf").symlink_to(secret)
    (out / "runs" / ids[1] / "hosts").symlink_to(folder)
    merge(out)
    before = print_of(out)
    done = run("batch", "prune", out, "--keep", 5, "--dry-run")
    tap.ok(done.status == 0 and print_of(out) == before and done.out.count("\n") == 31 and "of 30 runs would be removed" in done.out,
           "a dry run tells what would go, and does nothing", done)
    counted = run("batch", "prune", out, "--keep", 5, "--dry-run", "--json")
    told = json.loads(counted.out) if counted.out.startswith("{") else {}
    tap.ok(told.get("schema") == "tracemill.prune" and told["dry_run"] and told["runs"] == 30 and told["files"] >= 60
           and told["bytes"] > 30000 and told["oldest_kept"] == sorted({row["night"] for row in rows_of(out)})[-5]
           and print_of(out) == before, "and as JSON", counted)
    done = run("batch", "prune", out, "--keep", 5, "--json")
    tap.ok(json.loads(done.out or "{}") == {**told, "dry_run": False}, "what goes is what was told before", done)
    left = {name: sorted(path.name for path in (out / "runs" / name).iterdir()) for name in ids}
    tap.ok(done.status == 0 and all(left[name] == ["csv", "report.html", "result.json", "summary.json"] for name in ids[30:]),
           "the newest nights keep everything", done)
    tap.ok(all(left[name] == ["result.json", "summary.json"] for name in ids[26:30]), "gates keep what they compare with")
    tap.ok(all(left[name] == ["result.json"] for name in ids[2:26]), "of others nothing but the result stays")
    tap.ok(left[ids[0]] == ["notes.md", "result.json"], "what killed processes left goes, too", left[ids[0]])
    tap.ok(mine.read_text(encoding="utf-8") == "mine" and left[ids[1]] == ["hosts", "result.json"] and secret.exists(),
           "what others put there stays, and links are not followed", left[ids[0]], left[ids[1]])
    rows = {row["id"]: row for row in rows_of(out)}
    tap.ok(len(rows) == 40 and all(rows[name]["report"] is None and rows[name]["step_time_ps"] for name in ids[:30]) and
           all(rows[name]["report"] for name in ids[30:]) and all(rows[name]["summary"] is None for name in ids[:26]) and
           all(rows[name]["summary"] for name in ids[26:]), "figures stay in the history, without a report")
    pruned = print_of(out)
    tap.ok(run("batch", "prune", out, "--keep", 5).status == 0 and print_of(out) == pruned, "again it does nothing")
    tap.ok(merge(out).status == 0 and history_of(out).hex() and print_of(out)["history.db"] == pruned["history.db"],
           "merging finds the same history")
    tap.ok(run("batch", "prune", out, "--keep", 99).status == 0 and print_of(out)["history.db"] == pruned["history.db"],
           "with more nights kept than there are, nothing goes")


def prune_killed(tap, template, folder):
    out, spare, dice, kills = folder / "cut", folder / "spare", random.Random(3), 0
    template.write(spare, range(120), jobs=2, has_files=True)
    merge(spare)
    shutil.copytree(spare, out)
    begin = time.monotonic()
    run("batch", "prune", out, "--keep", 3)
    seconds, wanted = time.monotonic() - begin, print_of(out / "runs")
    wrong = []
    for turn in range(8):
        shutil.rmtree(out)
        shutil.copytree(spare, out)
        kills += kill_one(["batch", "prune", out, "--keep", 3], dice.random() * seconds)
        if turn % 2:
            merge(out)  # somebody merges in between
        done = run("batch", "prune", out, "--keep", 3)
        merge(out)
        if done.status != 0 or print_of(out / "runs") != wanted or len(rows_of(out)) != 120:
            now = print_of(out / "runs")
            wrong.append(f"{turn}: {done} {sorted(set(now.items()) ^ set(wanted.items()))[:4]}")
    tap.ok(not wrong, f"pruning that is killed is completed by the next ({kills} kills)", *wrong)


def prune_hosts(tap, folder):
    """Real runs: of several hosts, and of one."""
    logs, out = folder / "logs", folder / "hosts"
    for night in ("20", "21", "22"):
        for job, hosts in (("two", "ab"), ("one", "a")):
            run_folder = logs / job / f"2026-11-{night}" / "plugins" / "profile" / f"2026_11_{night}_03_00_00"
            run_folder.mkdir(parents=True)
            for host in hosts:
                (run_folder / f"{host}.xplane.pb").write_bytes(make_profile.cpu(seed=int(night), per_step=6, host=host).encode())
    damaged = logs / "two" / "2026-11-20" / "plugins" / "profile" / "2026_11_20_03_00_00" / "b.xplane.pb"
    damaged.write_bytes(b"no trace at all\n")
    done = run("batch", logs, "-o", out, *FORMAT)
    tap.ok(done.status == 4, "a batch with a host that cannot be read", done)
    merged = run("batch", "merge", out, *FORMAT)
    tap.ok(merged.status == 4 and "damaged" in merged.err, "damage of an earlier night that came with this one is its status, too", merged)
    first = rows_of(out, "id, status, step_time_ps")
    done = run("batch", "prune", out, "--keep", 1)
    partials = sorted(path.relative_to(out / "runs").parts[1].split("-")[0] for path in out.rglob("run.partial"))
    tap.ok(done.status == 0 and partials == ["two", "two"], "partials of hosts go too", done, partials)
    pruned = {name: value for name, value in print_of(out).items() if name.startswith("runs/")}
    again = run("batch", logs, "-o", out, "--format", "json,text")  # other options: nothing that was pruned comes back
    kept = {name: value for name, value in print_of(out).items() if name.startswith("runs/") and "-22-" not in name}
    tap.ok(again.status == 0 and "damaged" in again.err and kept == {name: value for name, value in pruned.items() if "-22-" not in name},
           "what was pruned is not made again", again, sorted(set(pruned) ^ set(kept)))
    tap.ok([tuple(row) for row in rows_of(out, "id, status, step_time_ps")] == [tuple(row) for row in first],
           "its rows stay as they are")
    shutil.copytree(logs / "one" / "2026-11-22", logs / "one" / "2026-11-23")
    later = run("batch", logs, "-o", out, *FORMAT)
    tap.ok(later.status == 0 and "damaged" in later.err, "in the next night damage is told, and is no status", later)


def main():
    tap = Tap()
    with Scratch() as folder:
        template = made_batch.Template(folder)
        the_same_bytes(tap, template, folder)
        failures(tap, template, folder)
        operations(tap, template, folder)
        readers(tap, template, folder)
        questions(tap, folder)
        strangers(tap, template, folder)
        killed(tap, template, folder)
        prune(tap, template, folder)
        prune_killed(tap, template, folder)
        prune_hosts(tap, folder)
    tap.done()


if __name__ == "__main__":
    main()
