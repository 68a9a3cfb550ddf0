#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What `batch scan` lists: every run below its roots once, with keys and fingerprints, whatever names are there and in
whatever order they were made; shares that hold each trace once; and the completions of verbs of two words."""

import io
import json
import os
import random
import subprocess
import sys
import tarfile
import urllib.parse
import zipfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import make_profile  # noqa: E402
from tap import Tap  # noqa: E402
from tracemill import BINARY, SANITIZED, Scratch, run  # noqa: E402

WHEN = 1_795_204_800  # 2026-11-20, 20:00
SAFE = set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-")


def put(path, data=b"x", when=WHEN):
    path = os.fsencode(path)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(data)
    os.utime(path, (when, when))


def read(text):
    lines = [json.loads(line) for line in text.splitlines()]
    return lines[0], lines[1:]


def scan(*arguments, **more):
    result = run("batch", "scan", *arguments, "-q", **more)
    return (*read(result.out), result) if result.status == 0 else (None, [], result)


def make_logs(root, order):
    """Nightly runs of two jobs, one of them of three hosts, and periodic ones of a training run."""
    files = []
    for night in range(1, 6):
        for job in ("llama/7b", "gemma"):
            folder = root / job / f"2026-11-{night:02}" / f"{night:06x}c" / "plugins/profile" / f"2026_11_{night:02}_03_00_00"
            for host in ["a", "b", "c"] if job == "gemma" else ["a"]:
                files.append((folder / f"{host}.xplane.pb", f"{job}{night}{host}".encode() * (night * 50)))
    files += [(root / f"train/exp3/step_{step}" / "h.trace.json.gz", b"%d" % step) for step in (10, 200, 3000)]
    random.Random(order).shuffle(files)
    for path, data in files:
        put(path, data)


def check_runs(tap, root):
    header, runs, result = scan(root)
    tap.ok(header and header["runs"] == 13 and header["files"] == 23, "every run is listed, with all of its hosts", result)
    tap.ok(header and header["bytes"] == sum(f["bytes"] for r in runs for f in r["files"]), "the header has the sum of sizes")
    by_job = {job: [r for r in runs if r["keys"]["job"] == job] for job in ("llama/7b", "gemma", "train/exp3")}
    tap.ok([len(by_job[j]) for j in by_job] == [5, 5, 3], "each run is of its job", [r["keys"] for r in runs])
    tap.ok([r["keys"]["night"] for r in by_job["gemma"]] == [f"2026-11-0{n}" for n in range(1, 6)]
           and by_job["gemma"][0]["keys"]["revision"] == "000001c"
           and by_job["gemma"][1]["keys"]["when_ns"] - by_job["gemma"][0]["keys"]["when_ns"] == 86400 * 10**9,
           "night, time and revision are told by the path", by_job["gemma"])
    tap.ok({r["keys"]["step"] for r in by_job["train/exp3"]} == {10, 200, 3000}
           and {r["keys"]["training"] for r in by_job["train/exp3"]} == {"train/exp3"}, "periodic profiles have their steps")
    tap.ok(len({r["id"] for r in runs}) == 13 and all(set(r["id"]) <= SAFE and r["id"][0] != "." for r in runs),
           "ids are plain and each run's own")
    tap.ok([r["path"] for r in runs] == sorted(r["path"] for r in runs), "runs are sorted by path")
    return result.out


def check_same(tap, root, folder, text):
    again = folder / "again" / root.name
    make_logs(again, 99)
    other = run("batch", "scan", again, "-q").out.replace(str(folder / "again"), str(folder))
    pairs = list(zip(text.splitlines()[1:], other.splitlines()[1:]))
    tap.ok(len(pairs) == 13 and all(json.loads(a)["keys"] == json.loads(b)["keys"] for a, b in pairs),
           "the order in which files were made changes nothing")
    tap.ok(run("batch", "scan", ".", "-q", cwd=root).out == text, "a root may be told by any of its names")
    tap.ok(run("batch", "scan", root, root, "-q").out == text, "a root that is named twice counts once")
    put(again / "elsewhere/2026_11_01_03_00_00/z.xplane.pb")
    more = {r["id"]: r for r in read(run("batch", "scan", again, "-q").out)[1]}
    before = {r["id"]: r for r in read(other.replace(str(folder), str(folder / "again")))[1]}
    tap.ok(len(more) == 14 and all(more.get(i) == r for i, r in before.items()), "a new run changes nothing of the others")


def check_outputs(tap, root, folder, text):
    out = folder / "new" / "m.jsonl"
    result = run("batch", "scan", root, "-o", out, "--json")
    told = json.loads(result.out) if result.status == 0 else {}
    tap.ok(out.exists() and out.read_text() == text and told.get("runs") == 13 and told.get("jobs") == 3,
           "-o writes the same, and --json tells what it is", result)
    run("batch", "scan", root, "-o", folder / "new")
    tap.ok((folder / "new/manifest.jsonl").read_text() == text, "-o of a folder writes manifest.jsonl into it")
    tap.ok(run("batch", "scan", root, "-o", "/proc/nowhere/m").status == 5, "an output that cannot be written is told")
    pipe = folder / "pipe"
    os.mkfifo(pipe)
    result = run("batch", "scan", root, "-o", pipe)
    tap.ok(result.status == 5 and pipe.is_fifo() and "not a file" in result.err, "a pipe is not replaced by a file", result)
    for name, more, wanted in (("of a list on stdout is no failure", (), 0),
                               ("hides no file that could not be written", ("-o", folder / "limited"), 5)):
        done = subprocess.run(["sh", "-c", '(sleep 0.2; "$@"; echo $? >"$0") | true', str(folder / "status"), "prlimit",
                               "--fsize=64", str(BINARY), "batch", "scan", str(root), "--quiet", *map(str, more)],
                              stderr=subprocess.PIPE, check=False)
        status = (folder / "status").read_text().strip()
        tap.ok(status == str(wanted), f"a reader that went away {name}", status, done.stderr.decode())
    ids = []
    for index in range(4):
        part = run("batch", "run", "--manifest", out, "-o", folder / "out", "--dry-run", "--shard", f"{index}/4")
        ids.append(sorted(part.out.splitlines()))
    whole = run("batch", "run", "--manifest", out, "-o", folder / "out", "--dry-run")
    tap.ok(len(whole.out.splitlines()) == 23 and sorted(sum(ids, [])) == sorted(whole.out.splitlines()),
           "four shares hold each trace once", whole)
    by_variable = run("batch", "run", "--manifest", out, "-o", folder / "out", "--dry-run", SLURM_ARRAY_TASK_ID=3,
                      SLURM_ARRAY_TASK_MIN=1, SLURM_ARRAY_TASK_MAX=4, SLURM_ARRAY_TASK_COUNT=4)
    tap.ok(sorted(by_variable.out.splitlines()) == ids[2], "an array of Slurm tells the share", by_variable)
    lines = text.splitlines(keepends=True)
    for name, bad in (("cut", text[:-50]), ("short", "".join(lines[:-1])),
                      ("outside", text.replace('"path": "train', '"path": "../train'))):
        out.write_text(bad)
        result = run("batch", "run", "--manifest", out, "-o", folder / "out", "--dry-run")
        tap.ok(result.status == 3 and not result.crashed and "line" in result.err, f"a list that is {name} is refused", result)


def check_known(tap, folder):
    """A file whose version is in the manifest that is replaced is not read; any change is found, a restored time too."""
    root, out = folder / "known root", folder / "known"
    make_logs(root, 5)
    out.mkdir()
    run("batch", "scan", root, "-o", out)
    path = out / "manifest.jsonl"
    text = path.read_text()
    _, runs = read(text)
    first, last = runs[0]["files"][0], runs[-1]["files"][0]
    uris = [urllib.parse.unquote(f["uri"]) == f"file://{root}/{f['path']}" for r in runs for f in r["files"]]
    tap.ok(len(uris) == 23 and all(uris) and "known%20root" in first["uri"] and first["version"].startswith(f"{first['bytes']}-"),
           "each line has the URI and the version of its files", first)
    path.write_text(text.replace(first["fingerprint"], "0" * 16))
    run("batch", "scan", root, "-o", out)
    tap.ok(path.read_text() == text.replace(first["fingerprint"], "0" * 16), "what is known is not read again")
    victim = root / last["path"]
    put(victim, b"z" * last["bytes"])
    put(root / "new/2026_11_01_03_00_00/z.xplane.pb")
    run("batch", "scan", root, "-o", out)
    _, now = read(path.read_text())
    files = {f["path"]: f["fingerprint"] for r in now for f in r["files"]}
    tap.ok(files[last["path"]] not in ("", last["fingerprint"]) and files[first["path"]] == "0" * 16 and len(files) == 24,
           "another content of the same size and time is found, and what is new", files)
    lines = [json.loads(line) for line in text.splitlines()]
    for line in lines[1:]:
        for file in line["files"]:
            del file["version"], file["uri"]
    for name, old in (("an older program", "".join(json.dumps(line) + "\n" for line in lines)), ("nobody", "{}\n"),
                      ("a killed writer", path.read_text()[:-400])):
        path.write_text(old)
        result = run("batch", "scan", root, "-o", out)
        _, again = read(path.read_text())
        same = [f["fingerprint"] for r in again if r["path"] == runs[1]["path"] for f in r["files"]]
        tap.ok(result.status == 0 and len(again) == 14 and same == [f["fingerprint"] for f in runs[1]["files"]],
               f"a manifest of {name} is replaced", result)


def check_keys(tap, root):
    _, runs, result = scan(root, "--keys", "{job}/{}/{night}/{revision}")
    llama = [r for r in runs if r["path"].startswith("llama")]
    tap.ok({r["keys"]["job"] for r in llama} == {"llama"} and {r["keys"]["job"] for r in runs} == {"llama", "gemma", "train/exp3"}
           and "8 runs do not match --keys" in result.err, "a template says what parts are, the look the others", result)
    _, runs, result = scan(root, "--label", "night=2026-12-24", "--label", "job=all", "--label", "warm")
    tap.ok({(r["keys"]["job"], r["keys"]["night"], r["keys"]["label"]) for r in runs} == {("all", "2026-12-24", "warm")},
           "labels win over paths", result)
    _, runs, result = scan(root, TRACEMILL_KEYS="{label}")
    tap.ok({r["keys"]["label"] for r in runs} == {"llama", "gemma", "train"}, "a variable may tell the template", result)


def check_roots(tap, root, folder):
    header, runs, result = scan(root, root / "llama", root / "gemma/2026-11-01")
    tap.ok(header and header["runs"] == 13 and "6 runs are below two roots" in result.err,
           "runs below two roots are taken once, by the outer one", result)
    one = root / "train/exp3/step_10/h.trace.json.gz"
    header, runs, result = scan(one)
    tap.ok(header and header["runs"] == 1 and runs[0]["path"] == one.name and runs[0]["files"][0]["path"] == one.name,
           "a file is a run", result)
    put(folder / "empty/readme.txt")
    for name, arguments, words in (("missing", [folder / "none"], "cannot open"), ("bare", [folder / "empty"], "no profile in"),
                                   ("bare beside a good one", [root, folder / "empty"], "no profile in")):
        result = run("batch", "scan", *arguments)
        tap.ok(result.status == 3 and words in result.err and not result.out, f"a root that is {name} is told", result)
    tap.ok(run("batch", "scan", "-", stdin=b"x").status == 2, "stdin is no batch")


def check_archives(tap, root, folder):
    plain = {(r["run"], json.dumps(r["keys"])) for r in scan(root)[1]}
    names = [p for p in sorted(root.rglob("*")) if p.is_file()]
    tar = folder / "dump.tar.gz"
    with tarfile.open(tar, "w:gz") as archive:
        for path in names:
            archive.add(path, str(path.relative_to(root)))
        bad = tarfile.TarInfo("../../etc/up.xplane.pb")
        archive.addfile(bad, io.BytesIO())
    _, runs, result = scan(tar)
    tap.ok({(r["run"], json.dumps(r["keys"])) for r in runs} == plain and "1 run is skipped" in result.err,
           "an archive holds the same runs, and none outside", result)
    tap.ok(len({f["fingerprint"] for r in runs for f in r["files"]}) == 1
           and all(f["path"] == "dump.tar.gz" and f["position"] > 0 for r in runs for f in r["files"]),
           "members have the fingerprint of their archive")
    tap.ok(run("batch", "scan", tar, "--strict").status == 3, "--strict takes a run that is left out for an error")
    with zipfile.ZipFile(folder / "dump.zip", "w") as archive:
        archive.writestr("h.xplane.pb", b"x")
    _, runs, result = scan(folder / "dump.zip")
    tap.ok(len(runs) == 1 and runs[0]["keys"]["job"] == "dump", "an archive of one file is a run of the archive's name", result)


def check_names(tap, folder):
    root = folder / "names"
    hostile = [b"new\nline", b"tab\t", b"\x1b[31mred", b"\xff\xfe", b"caf\xc3\xa9", b"..hidden..", b"-rf", b"$(id)", b"<b>&\"'",
               b"a" * 250, b"{job}", b"\xe2\x80\xa8line", b"%s%n", b" ", b"CON", b"x" * 120 + b"\xc3"]
    for name in hostile:
        if not name.startswith(b"."):
            put(os.path.join(os.fsencode(root), name, name[:100], b"h" + name[:100] + b".xplane.pb"))
    header, runs, result = scan(root)
    found = {bytes.fromhex(r["path_hex"]) if "path_hex" in r else r["path"].encode() for r in runs}
    wanted = {name + b"/" + name[:100] for name in hostile if not name.startswith(b".")}
    tap.ok(found == wanted and not result.crashed, "any name is listed, byte by byte", result)
    tap.ok(len({r["id"] for r in runs}) == len(wanted) and all(set(r["id"]) <= SAFE and r["id"][0] != "." for r in runs)
           and all(set(f["id"]) <= SAFE and f["id"][0] != "." for r in runs for f in r["files"]), "ids are plain whatever names are")
    tap.ok(not any(ord(c) < 32 or ord(c) == 127 for r in runs for c in "".join(str(v) for v in r["keys"].values())),
           "keys have no control characters")
    (folder / "m").write_text(result.out)
    listed = run("batch", "run", "--manifest", folder / "m", "-o", folder / "o", "--dry-run")
    tap.ok(listed.status == 0 and len(listed.out.splitlines()) == len(wanted), "what was written reads again", listed)


def check_memory(tap, folder):
    root = folder / "many"
    count = 500 if SANITIZED else 4000
    for i in range(count):
        put(root / f"job{i % 7}" / f"{i:05}" / "h.xplane.pb")
    result = run("batch", "scan", root, "--memory", "32M", "-o", folder / "many.jsonl")
    tap.ok(result.status == 0 and read((folder / "many.jsonl").read_text())[0]["runs"] == count,
           "thousands of runs fit into the least memory", result)


COMPLETE = """. "$0"
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=(); _tracemill; printf '%s\\n' "${COMPREPLY[@]}"
"""


def check_completions(tap, folder):
    for shell in ("bash", "zsh", "fish"):
        (folder / shell).write_text(run("completions", shell).out)

    def offered(*words):
        done = subprocess.run(["bash", "-c", COMPLETE, str(folder / "bash"), *words], capture_output=True, check=False,
                              cwd=folder, text=True)
        return done.stdout.split()

    tap.ok(offered("tracemill", "ba") == ["batch"], "bash: a verb of two words is offered by its first", offered("tracemill", "ba"))
    tap.ok(set(offered("tracemill", "batch", "")) >= {"scan", "run", "merge", "submit", "prune", "export"},
           "bash: then its actions", offered("tracemill", "batch", ""))
    tap.ok(offered("tracemill", "batch", "scan", "--ke") == ["--keys"] and offered("tracemill", "batch", "prune", "--ke") == ["--keep"]
           and offered("tracemill", "batch", "run", "--ke") == [], "bash: then that action's options")
    tap.ok(offered("tracemill", "report", "--format", "ht") == ["html"] and
           offered("tracemill", "report", "--format", "html,pd") == ["html,pdf"] and
           "html,pdf,text" in offered("tracemill", "report", "--format", "html,pdf,"), "bash: each word of a list is offered",
           offered("tracemill", "report", "--format", "html,pd"))
    for shell, start in (("zsh", "_values -s , format html"), ("fish", "(__fish_append , html")):
        tap.ok(start in (folder / shell).read_text(), f"{shell}: each word of a list is offered")
    for shell in ("zsh", "fish"):
        text = (folder / shell).read_text()
        tap.ok('"batch scan"' not in text and "-a batch scan" not in text and "export" in text, f"{shell}: actions are words of their own")
        try:
            done = subprocess.run([shell, "-n", str(folder / shell)], capture_output=True, check=False)
            tap.ok(done.returncode == 0, f"{shell} reads its completions", done.stderr)
        except FileNotFoundError:
            tap.skip(f"{shell} reads its completions", f"no {shell} here")


def check_links(tap, folder):
    """What lies outside of ROOT is no part of a batch, whatever leads there, unless it is asked for."""
    root, outside = folder / "linked", folder / "outside"
    put(root / "train" / "2026-11-20" / "vm.xplane.pb", make_profile.cpu(seed=1, steps=5).encode())
    put(outside / "deep" / "2026-11-19" / "vm.xplane.pb", make_profile.cpu(seed=2, steps=5).encode())
    (root / "everything").symlink_to("/")
    (root / "beside").symlink_to("../outside")
    (root / "train" / "2026-11-20" / "other.xplane.pb").symlink_to(outside / "deep" / "2026-11-19" / "vm.xplane.pb")
    (root / "notes.txt").symlink_to("/etc/passwd")
    (root / "zz-again").symlink_to("train")
    (root / "nowhere.xplane.pb").symlink_to("nothing")
    _, runs, result = scan(root)
    told = run("batch", "scan", root, "-o", folder / "linked.jsonl", "--json", "-q")
    tap.ok([r["path"] for r in runs] == ["train/2026-11-20"] and [len(r["files"]) for r in runs] == [1] and
           "3 links point outside ROOT and are not followed" in result.err and json.loads(told.out)["links_not_followed"] == 3,
           "links that lead out of ROOT are counted, and not followed", result, runs)
    (root / "everything").unlink()
    (root / "train" / "2026-11-20" / "other.xplane.pb").unlink()
    _, runs, result = scan(root, "--follow-links")
    tap.ok(sorted(r["path"] for r in runs) == ["beside/deep/2026-11-19", "train/2026-11-20"] and not result.err,
           "--follow-links follows them", result, runs)
    listed = run("list", root, "--json")
    tap.ok(len(json.loads(listed.out)["runs"]) == 1 and json.loads(listed.out)["links_not_followed"] == 1 and
           "--follow-links" in listed.err, "list and what reads a folder do the same", listed)
    named = run("report", root / "beside", "-o", folder / "linked-report", "--format", "json", "-q")
    tap.ok(named.status == 0, "a link that is named itself is followed", named)
    only = folder / "linked-only"
    only.mkdir()
    (only / "x").symlink_to(outside)
    none = run("list", only)
    tap.ok(none.status == 3 and "1 link is not followed" in none.err and "hint: --follow-links" in none.err, "a folder of links alone says so", none)

    trace, moved = root / "train" / "2026-11-20" / "vm.xplane.pb", outside / "moved.xplane.pb"
    trace.rename(moved)
    trace.symlink_to(moved)  # the same content and times as when it was scanned
    work = ("batch", "run", "--manifest", folder / "linked.jsonl", "-o", folder / "linked-out", "--format", "json", "-q")
    done = run(*work)
    tap.ok(done.status == 4 and "points outside" in done.err, "a file that became a link out of ROOT since the scan is not read", done)
    done = run(*work, "--follow-links", "--retry")
    tap.ok(done.status == 0, "but with --follow-links", done)


def main():
    tap = Tap()
    with Scratch() as folder:
        folder = folder.resolve()
        root = folder / "logs"
        make_logs(root, 1)
        text = check_runs(tap, root)
        check_same(tap, root, folder, text)
        check_outputs(tap, root, folder, text)
        check_known(tap, folder)
        check_keys(tap, root)
        check_roots(tap, root, folder)
        check_archives(tap, root, folder)
        check_names(tap, folder)
        check_links(tap, folder)
        check_memory(tap, folder)
        check_completions(tap, folder)
    tap.done()


if __name__ == "__main__":
    main()
