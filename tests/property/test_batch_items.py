#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The contract of a batch with any engine: a line of the manifest is an item, an item may be processed twice at once,
results of workers without a common folder are joined in a tree of any shape, and workers that take items by leases are
killed at any moment: each time the same bytes as those of one process.

    test_batch_items.py [--kills N] [--seed N]
"""

import argparse
import fcntl
import json
import os
import random
import re
import shutil
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import batches  # noqa: E402
import make_profile  # noqa: E402
from tap import Tap  # noqa: E402
from tracemill import Scratch, run  # noqa: E402


class Batch:
    def __init__(self, folder):
        self.folder, self.root, self.manifest, self.plain = folder, folder / "root", folder / "m.jsonl", folder / "plain"
        self.count = batches.make_root(self.root, nights=1)
        batches.scan(self.root, self.manifest)
        batches.work(self.manifest, self.plain)
        self.worked = batches.content(self.plain)
        run("batch", "merge", self.plain)
        self.merged = batches.content(self.plain)
        self.lines = self.manifest.read_text(encoding="utf-8").splitlines(keepends=True)[1:]

    def out(self, name):
        out = self.folder / name
        out.mkdir()
        shutil.copy(self.manifest, out / "manifest.jsonl")
        return out

    def finish(self, tap, name, out):
        run("batch", "merge", out)
        unlike = batches.difference(batches.content(out), self.merged)
        tap.ok(not unlike, f"{name}: the bytes of one process", unlike)


def by_line(tap, batch):
    """Each line on stdin, by two processes at once; then by name."""
    out = batch.out("lines")
    for line in batch.lines:
        twins = [batches.start("batch", "item", "-o", out, "--quiet", stdin=line) for _ in range(2)]
        statuses = [p.wait() for p in twins]
        for process in twins:
            process.stderr.close()
        if len(set(statuses)) != 1 or statuses[0] not in (0, 4):
            tap.ok(False, "two processes of an item end alike", statuses, line)
    batch.finish(tap, "each line by two processes at once", out)
    stamps = {p: p.stat().st_mtime_ns for p in out.rglob("result.json")}
    again = run("batch", "item", "-o", out, stdin="".join(batch.lines).encode())
    tap.ok(again.status == 4 and f"0 of {batch.count} items processed" in again.out and stamps == {p: p.stat().st_mtime_ns for p in stamps},
           "an item that is done is left as it is", again)
    for name, text, words in (("no line", "", "empty"), ("no JSON", "{\n", "stdin"), ("a cut line", batch.lines[0][:-20], "incomplete"),
                              ("no address", batch.lines[0].replace('"uri": "file://', '"uri": "'), "no root"),
                              ("another address", batch.lines[0].replace('"uri": "file:///', '"uri": "file:///x/../'), "no root"),
                              ("a way out", batch.lines[0].replace('"path": "', '"path": "../'), "below its root")):
        result = run("batch", "item", "-o", out, stdin=text.encode())
        tap.ok(result.status == 3 and words in result.err and not result.crashed, f"{name} is refused", result)


def by_name(tap, batch):
    out = batch.out("names")
    listed = run("batch", "run", "--manifest", batch.manifest, "-o", out, "--dry-run").out.splitlines()
    names = [line.split("\t")[0] for line in listed]
    many = next(n for n in names if n.startswith("many-job"))
    for name in range(3):
        run("batch", "item", "--manifest", batch.manifest, "--item", name, "-o", out)
    for name in names:
        run("batch", "item", "--manifest", batch.manifest, "--item", name.replace(" ", "/") if name == many else name, "-o", out)
    batch.finish(tap, "each item by its number or its name", out)
    for arguments, words in ((("--item", str(batch.count)), "no item"), (("--item", "many"), "no item"), ((), "used together")):
        result = run("batch", "item", "--manifest", batch.manifest, "-o", out, *arguments)
        tap.ok(result.status == 2 and words in result.err, f"{arguments or 'a manifest alone'}: refused", result)


def joined(tap, batch):
    """Folders with one item each, joined in trees of three shapes."""
    folders = []
    for i in range(batch.count):
        folders.append(batch.folder / f"worker-{i}")
        run("batch", "item", "--manifest", batch.manifest, "--item", str(i), "-o", folders[-1])
    dice = random.Random(3)

    def join(name, *parts):
        out = batch.folder / name
        result = run("batch", "join", *parts, "-o", out)
        if result.status != 0:
            tap.ok(False, "folders are joined", result)
        return out

    def tree(name, parts, width):
        level = 0
        while len(parts) > 1:
            level += 1
            parts = [join(f"{name}-{level}-{i}", *parts[i:i + width]) for i in range(0, len(parts), width)]
        return parts[0]

    at_once = batches.content(join("at-once", *folders))
    unlike = batches.difference(at_once, {k: v for k, v in batch.worked.items() if k != "manifest.jsonl"})
    tap.ok(not unlike, "joined folders are the folder of one process", unlike)
    joined_manifests(tap, batch, join, folders)
    for width in (2, 3):
        dice.shuffle(folders)
        unlike = batches.difference(batches.content(tree(f"tree-{width}", folders, width)), at_once)
        tap.ok(not unlike, f"in a tree of {width} branches, in another order, too", unlike)
    out = tree("last", [join("a", *folders[:6]), join("b", *folders[3:])], 2)
    shutil.copy(batch.manifest, out / "manifest.jsonl")
    batch.finish(tap, "joined in overlapping parts", out)


def joined_manifests(tap, batch, join, folders):
    """Folders with manifests of parts of the runs: joined, they have that of all."""
    whole = batch.manifest.read_bytes()
    parts = []
    for i, only in enumerate((lambda n: n % 3 != 0, lambda n: n % 3 != 1, lambda n: n % 3 == 0)):
        parts.append(batch.folder / f"part-{i}")
        shutil.copytree(folders[i], parts[i])
        header, *lines = whole.decode().splitlines(keepends=True)
        lines = [line for n, line in enumerate(lines) if only(n)]
        runs = [json.loads(line) for line in lines]
        header = {**json.loads(header), "runs": len(runs), "files": sum(len(r["files"]) for r in runs),
                  "bytes": sum(f["bytes"] for r in runs for f in r["files"])}
        (parts[i] / "manifest.jsonl").write_text(json.dumps(header) + "\n" + "".join(lines))
    orders = [join("m-abc", *parts), join("m-cba", *reversed(parts)), join("m-tree", parts[1], join("m-ac", parts[0], parts[2], folders[3]))]
    tap.ok(all((out / "manifest.jsonl").read_bytes() == whole for out in orders), "manifests of parts, joined, are that of all",
           *[len((out / "manifest.jsonl").read_bytes()) for out in orders], len(whole))
    older = parts[0] / "manifest.jsonl"
    in_both = [line for n, line in enumerate(whole.splitlines()[1:]) if n % 3 == 2]
    older.write_text(re.sub(r'("mtime_ns": )(\d+)', lambda m: f"{m[1]}{int(m[2]) - 1}", older.read_text()))
    kept = [(join(f"m-newer-{i}", *both) / "manifest.jsonl").read_bytes() for i, both in enumerate(((parts[0], parts[1]), (parts[1], parts[0])))]
    tap.ok(in_both and kept[0] == kept[1] and all(line in kept[0].splitlines() for line in in_both), "of two versions of a run, the newer one is kept, in any order")
    older.write_text("{\n")
    result = run("batch", "join", parts[0], parts[1], "-o", batch.folder / "m-cut")
    tap.ok(result.status == 3 and "manifest.jsonl" in result.err, "a damaged manifest is refused", result)


def better_one(tap, batch):
    """Of two results of an item, the better one is kept, whatever the order."""
    good, bad = batch.folder / "good", batch.folder / "bad"
    name = next(n for n in range(batch.count) if json.loads(batch.lines[n])["id"].startswith("gpu"))
    item = ("batch", "item", "--manifest", batch.manifest, "--item", str(name))
    run(*item, "-o", good)
    run(*item, "-o", bad, "--item-timeout", "1us")
    status = next(r["status"] for r in batches.results(bad).values())
    for turn, parts in enumerate(((good, bad), (bad, good))):
        out = batch.folder / f"better-{turn}"
        run("batch", "join", *parts, "-o", out)
        unlike = batches.difference(batches.content(out), batches.content(good))
        tap.ok(not unlike and status in ("failed", "done"), "a failure does not replace a result, a result replaces a failure", unlike)
    next(good.rglob("report.html")).write_bytes(b"cut")
    result = run("batch", "join", good, "-o", batch.folder / "incomplete")
    tap.ok(result.status == 0 and "1 incomplete" in result.out and not (batch.folder / "incomplete/runs").exists(),
           "a result whose files are not complete is not taken", result)


def partials(tap, folder):
    """Partials of five hosts: any tree that keeps their order gives the partial of all."""
    paths = []
    for i, host in enumerate("abcde"):
        batches.write(folder / "wide" / f"{host}.xplane.pb", make_profile.tpu(seed=i + 1, host=host).encode())
        run("report", folder / "wide" / f"{host}.xplane.pb", "-o", folder / f"part-{host}", "--format", "partial")
        paths.append(folder / f"part-{host}" / "run.partial")

    def join(*parts):
        join.count += 1
        out = folder / f"joined-{join.count}"
        run("batch", "join", *parts, "-o", out)
        return out / "run.partial"

    join.count = 0
    whole = join(*paths)
    shapes = {"pairs": lambda: join(join(*paths[:2]), join(*paths[2:4]), paths[4]),
              "from the left": lambda: join(join(join(join(paths[0], paths[1]), paths[2]), paths[3]), paths[4]),
              "from the right": lambda: join(paths[0], join(paths[1], join(paths[2], join(paths[3], paths[4]))))}
    for name, make in shapes.items():
        tap.ok(make().read_bytes() == whole.read_bytes(), f"partials joined in {name} are the same partial")
    profiles = [folder / "wide" / f"{host}.xplane.pb" for host in "abcde"]
    run("report", *profiles, "-o", folder / "of-profiles", "--format", "json")
    run("report", whole, "-o", folder / "of-partial", "--format", "json")
    tap.ok((folder / "of-profiles/summary.json").read_bytes() == (folder / "of-partial/summary.json").read_bytes(),
           "and its summary is that of the profiles")
    result = run("batch", "join", whole, folder / "wide", "-o", folder / "mixed")
    tap.ok(result.status == 2 and "at once" in result.err, "partials and folders are not mixed", result)


def worker(batch, out, lease="2s"):
    return batches.start("batch", "run", "--manifest", batch.manifest, "-o", out, "--lease", lease, "--jobs", "1", "--quiet")


def end(processes):
    for process in processes:
        process.wait(timeout=120)
        process.stderr.close()


def leases(tap, batch):
    out = batch.folder / "leased"
    end([worker(batch, out) for _ in range(3)])
    unlike = batches.difference(batches.content(out), batch.worked)
    tap.ok(not unlike, "three workers with leases make what one process makes, and leave no lease", unlike)
    held, name = batch.folder / "held", json.loads(batch.lines[0])["id"]
    (held / "leases").mkdir(parents=True)
    started = time.monotonic()  # the lease may be older than what follows
    (held / "leases" / name).write_text("of a process that was killed\n")
    end([worker(batch, held)])
    unlike = batches.difference(batches.content(held), batch.worked)
    tap.ok(not unlike and time.monotonic() - started > 1.9, "an item that nobody works on is taken over when its lease expires", unlike)
    failed = batch.folder / "failed"
    batches.work(batch.manifest, failed, "--lease", "2s", "--item-timeout", "1us")
    again = run("batch", "run", "--manifest", batch.manifest, "-o", failed, "--lease", "2s", "--json")
    retried = run("batch", "run", "--manifest", batch.manifest, "-o", failed, "--lease", "2s", "--json", "--retry")
    told = [json.loads(r.out) for r in (again, retried)]
    tap.ok(told[0]["worked"] == 0 and told[0]["failed"] + told[0]["done"] + told[0]["partial"] + told[0]["refused"] == batch.count
           and told[1]["failed"] == 0, "what failed is not tried again by each worker of a batch, but with --retry", told)
    result = run("batch", "run", "--manifest", batch.manifest, "-o", out, "--lease", "2s", "--shard", "0/2")
    tap.ok(result.status == 2 and "both" in result.err, "a share has no leases", result)


def just_ending(tap, batch):
    """A merge and a prune wait for a worker that still holds the lock."""
    out = batch.folder / "ending"
    shutil.copytree(batch.plain, out, symlinks=True)
    lock = os.open(out, os.O_RDONLY)
    fcntl.flock(lock, fcntl.LOCK_SH)
    merge = batches.start("batch", "merge", out)
    time.sleep(0.5)
    os.close(lock)
    told = merge.communicate(timeout=120)[1].decode()
    unlike = batches.difference(batches.content(out), batch.merged)
    tap.ok(merge.returncode == 4 and not unlike, "a merge waits for a worker that is just ending", merge.returncode, told, unlike)
    lock = os.open(out, os.O_RDONLY)
    fcntl.flock(lock, fcntl.LOCK_SH)
    prune = batches.start("batch", "prune", out)
    time.sleep(0.5)
    os.close(lock)
    told = prune.communicate(timeout=120)[1].decode()
    tap.ok(prune.returncode == 0, "and so does a prune", prune.returncode, told)


def killed(tap, batch, dice, rounds):
    """Workers are killed at random moments; whoever is left does everything."""
    for turn in range(rounds):
        out = batch.folder / f"killed-{turn}"
        processes = [worker(batch, out) for _ in range(3)]
        for process in processes[:2]:
            time.sleep(dice.random() * 0.4)
            batches.kill(process.pid)
        end(processes)
        unlike = batches.difference(batches.content(out), batch.worked)
        tap.ok(not unlike, f"round {turn}: the last worker completes what the killed ones left", unlike)


def places(tap, batch):
    """Runs lie in folders by the first digits of their hash; those that an older version put into one folder stay there."""
    folders = [p.parent.relative_to(batch.plain / "runs").parts for p in batch.plain.glob("runs/*/*/result.json")]
    tap.ok(len(folders) == 6 and all(prefix == name[-16:-14] for prefix, name in folders), "each run is in its folder", folders)
    out = batch.folder / "older"
    shutil.copytree(batch.plain, out, symlinks=True)
    for folder in list(out.glob("runs/*/*")):
        folder.rename(out / "runs" / folder.name)
    for folder in [p for p in (out / "runs").iterdir() if len(p.name) == 2]:
        folder.rmdir()
    (out / "history.db").unlink()
    again = run("batch", batch.root, "-o", out)
    page = json.loads((out / "index.json").read_text(encoding="utf-8"))
    links = [row["report"] for row in page["runs"] if row["report"]]
    tap.ok(again.status == 4 and not list(out.glob("runs/??")) and len(links) == 5 and all((out / link).exists() for link in links)
           and not any(link.count("/") > 2 for link in links), "runs of an older version are used where they are", again, links)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--kills", type=int, default=4)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    tap = Tap()
    with Scratch() as folder:
        folder = folder.resolve()
        batch = Batch(folder)
        places(tap, batch)
        by_line(tap, batch)
        by_name(tap, batch)
        joined(tap, batch)
        better_one(tap, batch)
        partials(tap, folder)
        leases(tap, batch)
        just_ending(tap, batch)
        killed(tap, batch, random.Random(arguments.seed), arguments.kills)
    tap.done()


if __name__ == "__main__":
    main()
