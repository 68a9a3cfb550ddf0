#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The work of a batch: shares make what one process makes, joined hosts make what `report` makes of their run, a failed item
is a row and stops nobody, and what stands is not done again."""

import fcntl
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import batches  # noqa: E402
import make_profile  # noqa: E402
import schemas  # noqa: E402
from tap import Tap  # noqa: E402
from tracemill import SANITIZED, Scratch, run  # noqa: E402

MANY = "many-job-2026-01-01"
TRIES = 4  # of what a busy machine can come before


class Batch:
    """A root of made profiles and its manifest, and one OUT of it that nobody disturbed."""

    def __init__(self, folder):
        self.folder, self.root, self.manifest, self.plain = folder, folder / "root", folder / "m.jsonl", folder / "plain"
        self.count = batches.make_root(self.root, nights=1)
        self.scanned = batches.scan(self.root, self.manifest)
        self.worked = batches.work(self.manifest, self.plain)
        self.merged = run("batch", "merge", self.plain)
        self.whole = batches.content(self.plain)
        self.turn = 0

    def out(self):
        self.turn += 1
        return self.folder / f"out-{self.turn}"

    def complete(self, tap, name, out, *options):
        """One more run and a merge make the undisturbed OUT."""
        last = batches.work(self.manifest, out, *options)
        run("batch", "merge", out)
        unlike = batches.difference(batches.content(out), self.whole)
        tap.ok(last.status == self.worked.status and not unlike, f"{name}: the next run completes it", last, unlike)


def counted(result):
    return json.loads(result.out) if result.out.startswith("{") else {}


def plain(tap, batch):
    told = counted(batches.work(batch.manifest, batch.plain, "--json"))
    statuses = [r["status"] for r in batches.results(batch.plain).values()]
    tap.ok(batch.worked.status == 4 and told.get("items") == batch.count and told.get("worked") == 0,
           "what is done is not done again", batch.worked, told)
    tap.ok(sorted(set(statuses)) == ["done", "partial", "refused"] and statuses.count("refused") == 1,
           "a damaged trace is a partial report, an empty one a row", statuses)
    validator = schemas.validator_of(tap, "result")
    wrong = {name: schemas.problems(validator, result) for name, result in batches.results(batch.plain).items()}
    tap.ok(wrong and not any(wrong.values()), "results keep to their schema", wrong)
    empty = batches.result_of(batch.plain, "empty-job")
    tap.ok(empty and "empty" in empty["message"] and not empty["message"].startswith("tracemill") and empty["exit_status"] == 3
           and empty["figures"] is None and not empty["files"], "a row has its reason", empty)
    told = counted(batches.work(batch.manifest, batch.plain, "--json", "--retry"))
    tap.ok(told.get("worked") == 1 and told.get("refused") == 1, "--retry does what was refused again", told)
    unlike = batches.difference(batches.content(batch.plain), batch.whole)
    tap.ok(not unlike, "and nothing changes by it", unlike)


def shares(tap, batch):
    out = batch.out()
    processes = [batches.start("batch", "run", "--manifest", batch.manifest, "-o", out, "--shard", f"{i}/3", "--quiet",
                               "--jobs", "1") for i in range(3)]
    statuses = [p.wait() for p in processes]
    for process in processes:
        process.stderr.close()
    run("batch", "merge", out)
    unlike = batches.difference(batches.content(out), batch.whole)
    tap.ok(not unlike and set(statuses) <= {0, 4}, "three shares at the same time make what one process makes", statuses,
           unlike)


def same_report(tap, folder):
    """Of a run of several hosts, and of one."""
    root = folder / "alone" / "night-run"
    for seed, host in enumerate(("a", "b", "c"), 1):
        batches.write(root / f"{host}.xplane.pb", make_profile.tpu(seed=seed, host=host).encode())
    single = batches.write(folder / "single" / "one-run" / "host0.xplane.pb", make_profile.cpu(seed=5).encode()).parent
    for place in (root, single):
        out, report = folder / f"{place.name}-out", folder / f"{place.name}-report"
        done = run("batch", place, "-o", out, "--format", "html,pdf,text,json,markdown,csv,collapsed")
        run("report", place, "-o", report, "--format", "html,pdf,text,json,markdown,csv,collapsed")
        made = next((out / "runs").glob("*/*"))
        ours = {k: v for k, v in batches.content(made).items() if k != "result.json" and not k.startswith("hosts")}
        unlike = batches.difference(ours, batches.content(report))
        tap.ok(done.status == 0 and len(ours) > 8 and not unlike, f"{place.name}: the files are those of `report`", done, unlike)


def reports_below(tap, batch):
    """The same among many runs."""
    for job in ("many-job", "gpu-job", "cut-job"):
        report, made = batch.folder / f"{job}-report", next(batch.plain.glob(f"runs/*/{job}*"))
        run("report", batch.root / job / "2026-01-01", "-o", report)
        ours = {k: v for k, v in batches.content(made).items() if k != "result.json" and not k.startswith("hosts")}
        unlike = batches.difference(ours, batches.content(report))
        tap.ok(len(ours) == 4 and not unlike, f"{job}: its files are those of `report`", unlike)


def missing_host(tap, batch):
    """A host that cannot be read is told as missing; once it can be, the report is of all."""
    root, out, manifest = batch.folder / "hosts", batch.out(), batch.folder / "hosts.jsonl"
    shutil.copytree(batch.root / "many-job", root / "many-job")
    whole = (root / "many-job/2026-01-01/b.xplane.pb").read_bytes()
    all_of_it = batch.out()
    batches.scan(root, manifest)
    batches.work(manifest, all_of_it)
    run("batch", "merge", all_of_it)
    shutil.copy(root / "many-job/2026-01-01/b.xplane.pb", root / "kept")
    batches.write(root / "many-job/2026-01-01/b.xplane.pb", b"")
    batches.scan(root, manifest)
    batches.work(manifest, out)
    run("batch", "merge", out)
    result = batches.result_of(out, MANY)
    summary = json.loads(next(out.glob("runs/*/many*/summary.json")).read_text(encoding="utf-8"))
    files = summary["input"]["files"]
    tap.ok(result["status"] == "partial" and "'b" in result["message"].replace("/b", "'b") and "empty" in result["message"],
           "a missing host is told in the result", result["message"])
    tap.ok(summary["input"]["partial"] and summary["input"]["hosts"] == ["a", "c"] and files[-1]["kind"] == "missing"
           and "empty" in files[-1]["problems"][0], "and in the report", files)
    told = counted(run("batch", "merge", out, "--json"))
    stamp = os.stat(next(out.glob("runs/*/many*/report.html"))).st_mtime_ns
    run("batch", "merge", out)
    tap.ok(os.stat(next(out.glob("runs/*/many*/report.html"))).st_mtime_ns == stamp, "it is not joined again", told)
    batches.write(root / "many-job/2026-01-01/b.xplane.pb", whole)
    batches.scan(root, manifest)
    batches.work(manifest, out)
    run("batch", "merge", out)
    contents = [batches.content(o) for o in (out, all_of_it)]
    for content in contents:
        content.pop("manifest.jsonl")  # it has the time at which the file changed
    unlike = batches.difference(*contents)
    tap.ok(not unlike, "once it can be read the report is of all hosts", unlike)
    for host in "abc":
        batches.write(root / f"many-job/2026-01-01/{host}.xplane.pb", b"")
    batches.scan(root, manifest)
    batches.work(manifest, out)
    merged = run("batch", "merge", out)
    result = batches.result_of(out, MANY)
    tap.ok(merged.status == 4 and result["status"] == "refused" and not list(out.glob("runs/*/many*/report.html")),
           "of a run without a host that can be read no report is left", merged, result)


def changed(tap, batch):
    victim = batch.root / "gpu-job/2026-01-01/host0.xplane.pb"
    kept, when = victim.read_bytes(), victim.stat().st_mtime_ns
    for name, change in (("vanished", victim.unlink), ("changed", lambda: victim.write_bytes(kept[:-10] + b"0123456789")),
                         ("cut short", lambda: victim.write_bytes(kept[:1000]))):
        out = batch.out()
        change()
        result = batches.work(batch.manifest, out)
        row = batches.result_of(out, "gpu-job") or {}
        others = [r["status"] for r in batches.results(out).values()]
        tap.ok(result.status == 4 and row.get("status") == "failed" and "after the scan" in row["message"]
               and row["hint"] and others.count("failed") == 1 and len(others) == batch.count,
               f"{name}: the item fails, the others do not", result, row)
        victim.write_bytes(kept)
        os.utime(victim, ns=(when, when))
        batch.complete(tap, name, out)


def timeout(tap, batch):
    out = batch.out()
    result = batches.work(batch.manifest, out, "--item-timeout", "1us")
    rows = list(batches.results(out).values())
    failed = [r for r in rows if r["status"] == "failed"]
    # One that ended all the same before it was looked at is done.
    tap.ok(result.status == 4 and failed and all("longer than" in r["message"] and r["exit_status"] == 143 for r in failed)
           and len(rows) == batch.count, "items that take too long fail", result, rows[:1])
    batch.complete(tap, "out of time", out)


def killed(tap, batch):
    """The first worker that is seen is killed.  On a busy machine it may have ended before: then once more."""
    for _ in range(TRIES):
        out = batch.out()
        process = batches.start("batch", "run", "--manifest", batch.manifest, "-o", out, "--jobs", "1", "--quiet")
        workers = []
        while not workers and process.poll() is None:
            workers = batches.children(process)
        for pid in workers:
            batches.kill(pid)
        _, err = process.communicate(timeout=120)
        failed = [r for r in batches.results(out).values() if r["status"] == "failed"]
        if failed:
            break
    tap.ok(process.returncode == 4 and len(failed) == 1 and failed[0]["exit_status"] == 137
           and "signal 9" in failed[0]["message"] and len(batches.results(out)) == batch.count,
           "a worker that is killed is a row", err.decode(), failed)
    batch.complete(tap, "killed", out)


def options(tap, batch):
    out = batch.out()
    result = batches.work(batch.manifest, out, "--strict", "--format", "html")
    row = batches.result_of(out, "cut-job")
    tap.ok(result.status == 4 and row["status"] == "refused" and "--strict" in row["message"],
           "--strict refuses what is damaged", result, row)
    told = counted(batches.work(batch.manifest, out, "--json", "--format", "json"))
    left = {p.name for p in out.glob("runs/*/gpu*/*")}
    parts = [r for r in batches.results(out).values() if r["host"]]
    tap.ok(told["worked"] >= batch.count - len(parts) and left == {"summary.json", "result.json"},
           "other options: done again, and files of no format that was asked for go away", told, left)
    told = counted(batches.work(batch.manifest, out, "--json", "--format", "text,json"))
    tap.ok(told["worked"] == batch.count - len(parts), "partials are not made again for another format", told)
    stale = next(out.glob("runs/*/gpu*"))
    (stale / "result.json").unlink()
    (stale / ".report.html.4711-0.part").write_text("half")
    (stale / "notes.txt").write_text("mine")
    batches.work(batch.manifest, out, "--format", "text,json")
    left = {p.name for p in stale.iterdir()}
    tap.ok(left == {"summary.json", "report.txt", "result.json", "notes.txt"},
           "what a killed worker left goes away, what is not ours stays", left)
    (stale / "notes.txt").unlink()
    batch.complete(tap, "options", out)


def failing_storage(tap, batch):
    """A trace that the system cannot read is done again when it can."""
    out = batch.out()
    victim = next(batch.root.rglob("*gpu*/**/*.xplane.pb"), None)
    under = ["strace", "-f", "-qq", "-o", "/dev/null", "-P", victim, "-e", "trace=pread64,read", "-e",
             "inject=pread64,read:error=EIO:when=4+"]
    if not victim or SANITIZED or run("version", under=["strace", "-qq", "-o", "/dev/null"]).status != 0:
        tap.skip("storage that fails", "strace may not trace here, or the program is not as it is")
        return
    result = run("batch", "run", "--manifest", batch.manifest, "-o", out, "--jobs", "1", under=under)
    rows = [r for r in batches.results(out).values() if r["status"] == "failed"]
    tap.ok(result.status == 4 and len(rows) == 1 and rows[0]["exit_status"] == 3 and "Input/output" in rows[0]["message"],
           "a trace that the system cannot read failed, and is not refused", result, rows)
    batch.complete(tap, "storage that failed", out)


def refused(tap, batch):
    """Nothing is begun, and no OUT is made."""
    bad = batch.folder / "bad-thresholds.json"
    bad.write_text("{")
    for name, status, words in (("thresholds that cannot be read", 2, ["--thresholds", bad]),
                                ("a trace as a format", 2, ["--format", "html,perfetto"]),
                                ("more jobs than there is memory for", 2, ["--jobs", "90000"])):
        out = batch.out()
        result = batches.work(batch.manifest, out, *words)
        tap.ok(result.status == status and not list(out.glob("runs/*/*")), name, result)
    result = run("batch", "run", "-o", batch.out())
    tap.ok(result.status == 2 and "manifest" in result.err, "not a manifest", result)
    result = run("batch", "run", "--manifest", batch.manifest)
    tap.ok(result.status == 2 and "-o" in result.err, "no OUT", result)
    out = batch.folder / "a-file"
    out.write_text("mine")
    result = batches.work(batch.manifest, out)
    tap.ok(result.status == 5 and out.read_text() == "mine", "a file where OUT should be", result)
    out = batch.out()
    result = run("batch", "run", "--manifest", batch.manifest, "-o", out, "--dry-run")
    tap.ok(result.status == 0 and len(result.out.splitlines()) == batch.count and not out.exists(),
           "--dry-run lists the items and does nothing", result)
    out.mkdir()
    lock = os.open(out, os.O_RDONLY)
    fcntl.flock(lock, fcntl.LOCK_EX)
    result = batches.work(batch.manifest, out)
    tap.ok(result.status == 5 and "another batch" in result.err and not list(out.iterdir()), "OUT is another batch's", result)
    result = batches.work(batch.manifest, out, "--shard", "0/2")
    tap.ok(result.status == 5 and not list(out.iterdir()), "also for a share", result)
    fcntl.flock(lock, fcntl.LOCK_SH)
    result = batches.work(batch.manifest, out, "--shard", "0/2")
    tap.ok(result.status in (0, 4), "shares work beside shares", result)
    before, merge = batches.content(out), batches.start("batch", "merge", out)

    def not_merged():
        told = merge.communicate(timeout=120)[1].decode()
        tap.ok(merge.returncode == 5 and "another batch" in told and batches.content(out) == before,
               "nothing is merged while it is locked", told)
        os.close(lock)

    return not_merged


def full_disk(tap, batch):
    out = batch.out()
    out.mkdir()
    size = "size=700k"
    if os.geteuid() != 0 or subprocess.run(["mount", "-t", "tmpfs", "-o", size, "tmpfs", out], check=False,
                                           stderr=subprocess.DEVNULL).returncode:
        tap.skip("a full disk", "nothing can be mounted here")
        return
    try:
        result = batches.work(batch.manifest, out, "--jobs", "1", "--tmp", batch.folder)
        rows = batches.results(out).values()
        failed = [r for r in rows if r["status"] == "failed"]
        hidden = [p for p in out.rglob(".*")]
        tap.ok(result.status in (4, 5) and (failed or len(rows) < batch.count)
               and all(r["exit_status"] == 5 and "No space left" in r["message"] for r in failed) and not hidden,
               "a full disk: items fail, or are not done", result, failed[:1], hidden)
        subprocess.run(["mount", "-o", "remount,size=100m", out], check=True)
        batch.complete(tap, "a full disk", out)
    finally:
        subprocess.run(["umount", out], check=False)


def memory_of(pid, field="VmHWM"):
    with open(f"/proc/{pid}/status", encoding="ascii") as file:
        return next((int(line.split()[1]) for line in file if line.startswith(field)), 0)


def look_at_driver(manifest, out, few):
    """out: the status of a batch, the most KiB of its driver up to so many items, and in all"""
    process = batches.start("batch", "run", "--manifest", manifest, "-o", out, "--quiet", "--jobs", "2")
    early = late = 0
    while process.poll() is None:
        done = sum(1 for _ in out.glob("runs/*/*"))
        try:
            now = memory_of(process.pid)
        except (OSError, StopIteration):
            break
        if done <= few:
            early = max(early, now)
        late = max(late, now)
        time.sleep(0.01)
    process.communicate()
    return process.returncode, early, late


def soak(tap, folder):
    """The driver holds no more after many items than after few."""
    if SANITIZED:
        tap.skip("the driver's memory does not grow with the items", "a sanitizer keeps what was given back")
        return
    root, manifest, out, count = folder / "soak", folder / "soak.jsonl", folder / "soak-out", 240
    for i in range(count):
        batches.write(root / f"job-{i:03}" / "2026-01-01" / "host0.xplane.pb", b"" if i % 4 else b"no trace")
    batches.scan(root, manifest)
    for _ in range(TRIES):  # on a busy machine the last early look may come before all that few items take
        shutil.rmtree(out, ignore_errors=True)
        status, early, late = look_at_driver(manifest, out, count // 4)
        if status != 4 or early and late - early < 1024:
            break
    tap.ok(status == 4 and len(batches.results(out)) == count and early and late - early < 1024,
           "the driver's memory does not grow with the items", f"{early} KiB early, {late} KiB late")


def twice(tap, folder):
    """A share that is started twice at once, as pods and users do: the same as once; and where the first one is killed."""
    root, manifest, once, out = folder / "twice", folder / "twice.jsonl", folder / "twice-once", folder / "twice-out"
    for i in range(40):
        batches.write(root / f"job-{i:02}" / "2026-01-01" / "host0.xplane.pb", make_profile.cpu(seed=i, steps=5, per_step=4).encode())
    batches.scan(root, manifest)
    share = ("batch", "run", "--manifest", manifest, "--shard", "0/2", "--format", "json,csv,html", "--jobs", "2")
    first = run(*share, "-o", once, "-q")
    both = [batches.start(*share, "-o", out) for _ in range(3)]
    said = [process.communicate()[1].decode() for process in both]
    states = [result["status"] for result in batches.results(out).values()]
    tap.ok([process.returncode for process in both] == [first.status] * 3 == [0] * 3 and set(states) == {"done"},
           "a share that is started three times at once: all of it done", [p.returncode for p in both], states, *said)
    tap.ok(sum("share 0/2 is running in another process" in text for text in said) == 2, "who waits says so", *said)
    tap.ok(not batches.difference(batches.content(once), batches.content(out)), "and the same files as of one",
           batches.difference(batches.content(once), batches.content(out)))
    shutil.rmtree(out)
    killed, later = batches.start(*share, "-o", out, "-q"), None
    while not batches.children(killed) and killed.poll() is None:
        time.sleep(0.002)
    later = batches.start(*share, "-o", out, "-q")
    time.sleep(0.1)
    batches.kill(killed.pid)
    killed.communicate()
    later.communicate()
    tap.ok(later.returncode == 0 and not batches.difference(batches.content(once), batches.content(out)),
           "the second one goes on where the first was killed", later.returncode, batches.difference(batches.content(once), batches.content(out)))
    (out / ".share-1-2.lock").write_bytes(b"")
    tap.ok(run("batch", "merge", out, "-q").status in (0, 4) and not list(out.glob(".share-*")), "a lock that was left behind goes with a merge")


def main():
    tap = Tap()
    with Scratch() as folder:
        batch = Batch(folder)
        if tap.ok(batch.scanned.status == 0 and batch.merged.status in (0, 4) and len(batch.whole) > 30,
                  "a batch", batch.scanned, batch.worked, batch.merged):
            later = refused(tap, batch)
            for check in (plain, shares, reports_below, missing_host, changed, timeout, killed, options, failing_storage, full_disk):
                check(tap, batch)
            later()
        same_report(tap, folder)
        twice(tap, folder)
        soak(tap, folder)
    tap.done()


main()
