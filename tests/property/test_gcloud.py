#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Buckets through the real `gcloud storage`, from a server on this machine that speaks Google's API: inputs, roots, mirrors,
a bucket that keeps earlier versions, and what fails.  A start of gcloud takes more than a second of CPU: all but those of two
cases are forks of a process that has loaded it."""

import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from buckets import SYSTEM_PATH, Between, Tools, gcloud_tools  # noqa: E402
from google_bucket import GoogleBucket, problem  # noqa: E402
from tap import Tap  # noqa: E402
from tracemill import BINARY, ROOT, Scratch, run, summary_of  # noqa: E402

DEMO = next((ROOT / "tests/data/demo").rglob("*.xplane.pb"))
TINY = next((ROOT / "tests/data/tiny").rglob("*.xplane.pb"))
HARD_NAME = "one/a b'\"$(x) é/demo.xplane.pb"
SLOW = 20  # seconds, in which gcloud starts on a loaded machine


class Rig:
    """The bucket and the client."""

    def __init__(self, folder, bucket, program):
        self.folder, self.bucket = folder, bucket
        self.tools = gcloud_tools(folder / "tools", program)
        self.started = Tools(folder / "started", gcloud=f'export PATH={SYSTEM_PATH}\nexec {shlex.quote(program)} "$@"')

    def run(self, *arguments, port=None, **more):
        return run(*arguments, **{**self.settings(port), **more})

    def settings(self, port=None, tools=None):
        """tools: `started`, where the program itself is to be started; None = a fork of one that has loaded"""
        return self.bucket.settings(tools or self.tools, self.folder / "config", port)

    def calls(self):
        """Of the client since the last question: what follows `gcloud storage`."""
        calls = self.tools.calls() + self.started.calls()
        return [" ".join(call[2:4]) if call[2] == "objects" else call[2] for call in calls]


def contents(folder):
    """All files that a mirror has."""
    files = {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    return {name: data for name, data in files.items() if not name.startswith(("mirror/", "."))}


def refused(tap, name, result, status, *words):
    tap.ok(result.status == status and not result.crashed and all(word in result.err for word in words), name, result)


def check_inputs(tap, rig):
    """An object gives what its file gives; a whole bucket and a prefix are listed."""
    rig.bucket.put(HARD_NAME, DEMO.read_bytes())
    rig.bucket.put("one/2026-11-20/tiny.xplane.pb", TINY.read_bytes())
    rig.bucket.put("ones/2026-11-21/tiny.xplane.pb", TINY.read_bytes())
    _, usual = summary_of(DEMO, rig.folder / "local")
    result, summary = summary_of(f"gs://traces/{HARD_NAME}", rig.folder / "remote", **rig.settings(tools=rig.started))
    calls = rig.calls()
    tap.ok(result.status == 0 and summary and {**summary, "input": 0} == {**usual, "input": 0}, "an object has the figures of its file", result)
    tap.ok(calls == ["cat"], "fetched once, and nothing listed", calls)
    rig.bucket.page = 2
    result = rig.run("list", "gs://traces")
    tap.ok(result.status == 0 and result.out.count("gs://traces/") == 3 and rig.calls() == ["objects list"], "a whole bucket, in pages of two", result)
    rig.bucket.page = 1000
    result = rig.run("brief", "gs://traces/one", "--latest")
    tap.ok(result.status == 0 and rig.calls() == ["objects list", "cat"], "the latest run below a prefix", result)


def check_faults(tap, rig):
    """Each ends with the client's reason, and without output."""
    uri, out = f"gs://traces/{HARD_NAME}", rig.folder / "faulty"

    def report(where, port=None, *options):
        return rig.run("report", where, "-o", out, *options, port=port)

    refused(tap, "no such object", report("gs://traces/one/none.xplane.pb"), 3, "cannot fetch", "gcloud failed with status 1",
            "matched no objects or files: gs://traces/one/none.xplane.pb")
    refused(tap, "no such prefix", report("gs://traces/none/"), 3, "nothing in 'gs://traces/none'")
    refused(tap, "no such bucket", report("gs://nowhere"), 3, "cannot list 'gs://nowhere'", "gs://nowhere not found: 404")
    rig.bucket.refuses = lambda method, path: problem(403, "reader may not list it", "forbidden")
    refused(tap, "no access", report("gs://traces/one"), 3, "cannot list", "does not have permission to access", "reader may not list it")
    rig.bucket.refuses = lambda method, path: None
    with Between(rig.bucket.port, "reset", 20000) as port:
        refused(tap, "reset while it is read", report(uri, port), 3, "cannot fetch", "gcloud failed with status 1")
    with Between(rig.bucket.port, "stall", 20000) as port:
        refused(tap, "it stops", report(uri, port, "--fetch-timeout", f"{SLOW}s"), 3, f"sent nothing for {SLOW} seconds")
    tap.ok(not out.exists(), "no output of any of them", sorted(out.rglob("*")) if out.exists() else "")
    rig.calls()


def processes_of(rig):
    """Those of the client, which have the folder of its settings in their environment."""
    mark, found = f"CLOUDSDK_CONFIG={rig.folder / 'config'}".encode(), []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if mark in (process / "environ").read_bytes() and b"gcloud" in (process / "cmdline").read_bytes():
                found.append(process.name)
        except OSError:
            continue  # it has ended
    return found


def wait_for(condition):
    """out: whether it was met within a minute"""
    for _ in range(600):
        if condition():
            return True
        time.sleep(0.1)
    return False


def check_end(tap, rig, out):
    """Killed while the client stores a folder with all its processes."""
    settings = {**os.environ, **{name: str(value) for name, value in rig.settings(tools=rig.started).items()}}
    rig.bucket.asked()
    rig.bucket.holds = lambda method, path: method == "POST"
    with subprocess.Popen([BINARY, "batch", "merge", out, "--mirror", "gs://traces/killed"], env=settings,
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        started = wait_for(lambda: any(request.startswith("POST") for request in rig.bucket.asked()))
        count = len(processes_of(rig))
        process.send_signal(signal.SIGKILL)
    tap.ok(started and count > 1 and wait_for(lambda: not processes_of(rig)), f"{count} processes of the client end with this one",
           processes_of(rig))
    rig.bucket.holds = lambda method, path: None
    rig.calls()


def check_batch(tap, rig):
    """A root, its mirror, a new generation, a restored folder, a prune; the bucket keeps earlier versions."""
    bucket, out, prefix = rig.bucket, rig.folder / "out", "a b/perf/"
    bucket.earlier = []
    for night in (20, 21, 22):
        bucket.put(f"nights/job/2026-11-{night}/h.xplane.pb", TINY.read_bytes())
    bucket.retire("nights/job/2026-11-22/h.xplane.pb")
    root = ("batch", "gs://traces/nights", "-o", out, "--format", "json,text")
    batch = (*root, "--mirror", f"gs://traces/{prefix}")
    result = rig.run(*batch)
    calls, here = rig.calls(), contents(out)
    tap.ok(result.status == 0 and len(here) > 6 and bucket.contents(prefix) == here, "everything is in the bucket", result,
           sorted(set(bucket.contents(prefix)) ^ set(here)))
    tap.ok(calls.count("objects list") == 2 and calls.count("cat") == 2 and calls.count("cp") <= 5 and len(calls) <= 9,
           f"two traces and {len(here)} objects by {len(calls)} starts", calls)
    result = rig.run(*batch)
    calls = rig.calls()
    tap.ok(result.status == 0 and calls == ["objects list"], "the same generations are not fetched again", calls, result)
    check_end(tap, rig, out)
    bucket.put("nights/job/2026-11-21/h.xplane.pb", DEMO.read_bytes())
    result = rig.run(*root)
    calls = rig.calls()
    tap.ok(result.status == 0 and calls == ["objects list", "cat"], "another generation is", calls, result)
    bucket.refuses = lambda method, path: problem(403, "writer may not write it", "forbidden") if method == "POST" else None
    result = rig.run("batch", "merge", out, "--mirror", f"gs://traces/{prefix}")
    refused(tap, "a bucket that is not writable", result, 5, f"cannot store 'gs://traces/{prefix.rstrip('/')}'", "does not have permission to access",
            "writer may not write it")
    bucket.refuses = lambda method, path: None
    check_prune(tap, rig, out, prefix)
    rig.calls()
    here = contents(out)
    shutil.rmtree(out)
    result = rig.run("batch", "merge", out, "--format", "json,text", "--mirror", f"gs://traces/{prefix}")
    calls = rig.calls()
    tap.ok(result.status == 0 and contents(out).keys() == here.keys() and calls[:3] == ["objects list", "rsync", "objects list"] and
           not calls.count("cat"), f"{len(here)} objects are restored by three starts", calls, result)


def check_prune(tap, rig, out, prefix):
    """What could not be stored is; objects that are removed are earlier versions, and no longer there; one is gone already."""
    bucket, before = rig.bucket, contents(out)
    bucket.put(f"{prefix}runs/mine.txt", b"mine")
    gone = next(name for name in before if "2026-11-20" in name and name.endswith(".txt"))
    bucket.retire(prefix + gone)
    rig.calls()
    result = rig.run("batch", "prune", out, "--keep", 1, "--mirror", f"gs://traces/{prefix}")
    calls, there, pruned = rig.calls(), bucket.contents(prefix), contents(out)
    tap.ok(result.status == 0 and there == {**pruned, "runs/mine.txt": b"mine"} and len(pruned) < len(before),
           "a prune stores what is missing, and removes its objects, and no others", sorted(set(there) ^ set(pruned)), calls, result)
    tap.ok(calls[-2:] == ["rm", "objects list"] and any(stored.facts["name"] == prefix + gone for stored in bucket.earlier),
           "one that is gone is looked for once", calls)
    bucket.retire(f"{prefix}runs/mine.txt")


def main():
    tap = Tap()
    program = shutil.which("gcloud")
    if not program:
        tap.skip("buckets through gcloud", "gcloud is not installed")
        tap.done()
    with Scratch() as folder, GoogleBucket() as bucket:
        rig = Rig(folder, bucket, program)
        check_inputs(tap, rig)
        check_faults(tap, rig)
        check_batch(tap, rig)
    tap.done()


main()
