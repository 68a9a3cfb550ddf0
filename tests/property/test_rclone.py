#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Buckets through the real rclone, from a real S3 server on this machine: inputs, roots, mirrors, and what fails.  Its
commands for gs:// are the same with the name of another backend."""

import shutil
import sys
from pathlib import Path
from xml.etree import ElementTree

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from buckets import Between, Bucket, Tools  # noqa: E402
from tap import Tap  # noqa: E402
from tracemill import ROOT, Scratch, run, summary_of  # noqa: E402

DEMO = next((ROOT / "tests/data/demo").rglob("*.xplane.pb"))
TINY = next((ROOT / "tests/data/tiny").rglob("*.xplane.pb"))
DENIED = (b"HTTP/1.1 403 Forbidden\r\nContent-Type: application/xml\r\nConnection: close\r\n\r\n<Error><Code>AccessDenied"
          b"</Code><Message>Access Denied</Message></Error>")


def settings(bucket, tools, port=None):
    """rclone's S3 backend without a configuration file.  A bundle of certificates of the environment is nothing for it."""
    return {**bucket.settings(tools, port), "RCLONE_S3_PROVIDER": "Other", "RCLONE_S3_REGION": "us-east-1",
            "RCLONE_S3_ENDPOINT": f"http://127.0.0.1:{port or bucket.port}", "RCLONE_S3_FORCE_PATH_STYLE": "true",
            "RCLONE_S3_NO_CHECK_BUCKET": "true", "RCLONE_CONFIG": "", "RCLONE_RETRIES": 1, "RCLONE_LOW_LEVEL_RETRIES": 1}


def objects(bucket, prefix):
    found = ElementTree.fromstring(bucket.get("")[0]).findall(".//{*}Key")
    return {key.text.removeprefix(prefix): bucket.get(key.text)[0] for key in found if key.text.startswith(prefix)}


def contents(folder):
    """All files that a mirror has."""
    files = {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    return {name: data for name, data in files.items() if not name.startswith(("mirror/", "."))}


def refused(tap, name, result, status, *words):
    tap.ok(result.status == status and not result.crashed and all(word in result.err for word in words), name, result)


def check_inputs(tap, folder, bucket, tools):
    bucket.put("one/demo.xplane.pb", DEMO.read_bytes())
    uri, out = "s3://traces/one/demo.xplane.pb", folder / "faulty"
    _, usual = summary_of(DEMO, folder / "local")
    result, summary = summary_of(uri, folder / "remote", **settings(bucket, tools))
    calls = tools.calls()
    tap.ok(result.status == 0 and summary and {**summary, "input": 0} == {**usual, "input": 0}, "an object has the figures of its file", result)
    tap.ok([call[1] for call in calls] == ["cat"], "fetched once, and nothing listed", calls)

    def report(where, port=None, *options):
        return run("report", where, "-o", out, *options, **settings(bucket, tools, port))

    refused(tap, "no such object", report("s3://traces/one/none.xplane.pb"), 3, "cannot fetch 's3://traces/one/none.xplane.pb'", "does not exist, or is empty")
    refused(tap, "no such prefix", report("s3://traces/none/"), 3, "nothing in 's3://traces/none'")
    refused(tap, "no such bucket", report("s3://nowhere/x/"), 3, "cannot list 's3://nowhere/x'", "directory not found")
    with Between(bucket.port, DENIED) as port:
        refused(tap, "no access", report(uri, port), 3, "cannot fetch", "403")
        refused(tap, "no access to the list", report("s3://traces/one/", port), 3, "cannot list", "403")
    with Between(bucket.port, "reset", 20000) as port:
        refused(tap, "reset while it is read", report(uri, port), 3, "cannot fetch", "rclone failed")
    with Between(bucket.port, "stall", 20000) as port:
        refused(tap, "it stops", report(uri, port, "--fetch-timeout", "3s"), 3, "sent nothing for 3 seconds")
    tap.ok(not out.exists(), "no output of any of them")
    tools.calls()


def check_mirror(tap, folder, bucket, tools):
    """A root in a bucket, its mirror with names that need care, a restored and a pruned folder."""
    for night in (20, 21):
        bucket.put(f"nights/job/2026-11-{night}/h.xplane.pb", TINY.read_bytes())
    out, prefix = folder / "out", 'a "b", c/perf/'
    batch = ("batch", "s3://traces/nights", "-o", out, "--format", "json,csv", "--mirror", f"s3://traces/{prefix}")
    result = run(*batch, **settings(bucket, tools))
    calls, here = [call[1] for call in tools.calls()], contents(out)
    tap.ok(result.status == 0 and objects(bucket, prefix) == here, "everything is in the bucket", result,
           sorted(set(objects(bucket, prefix)) ^ set(here)))
    tap.ok(calls.count("lsjson") == 2 and calls.count("cat") == 2 and calls.count("copy") <= 5 and len(calls) <= 9,
           f"two traces and {len(here)} objects by {len(calls)} starts", calls)
    result = run(*batch, **settings(bucket, tools))
    calls = [call[1] for call in tools.calls()]
    tap.ok(result.status == 0 and calls == ["lsjson"], "the same objects are not fetched again", calls, result)
    shutil.rmtree(out)
    result = run(*batch, **settings(bucket, tools))
    calls = [call[1] for call in tools.calls()]
    tap.ok(result.status == 0 and contents(out) == here and calls == ["lsjson", "copy", "lsjson", "lsjson"],
           f"{len(here)} objects are restored by {len(calls) - 1} starts", calls, result)
    bucket.put(f"{prefix}runs/mine.txt", b"mine")
    prune = ("batch", "prune", out, "--keep", 1, "--mirror", f"s3://traces/{prefix}")
    with Between(bucket.port, DENIED) as port:
        result = run(*prune, **settings(bucket, tools, port))
        tap.ok(result.status == 5 and "cannot store 's3://traces/" in result.err and set(here) <= set(objects(bucket, prefix)),
               "a bucket that refuses the pruned results keeps the reports", result)
    stopped = run(*prune, "--remove", "/bin/false", **settings(bucket, tools))
    tap.ok(stopped.status == 5 and "cannot remove objects below" in stopped.err, "a command that fails removes nothing", stopped)
    tools.calls()
    result = run(*prune, **settings(bucket, tools))
    calls, there, pruned = [call[1] for call in tools.calls()], objects(bucket, prefix), contents(out)
    tap.ok(result.status == 0 and there == {**pruned, "runs/mine.txt": b"mine"} and len(pruned) < len(here) and calls == ["delete"],
           "a prune removes its objects, and no others", sorted(set(there) ^ set(pruned)), calls, result)


def main():
    tap = Tap()
    program = shutil.which("rclone")
    if not program:
        tap.skip("buckets through rclone", "rclone is not installed")
        tap.done()
    with Scratch() as folder, Bucket() as bucket:
        tools = Tools(folder / "tools", rclone=f'unset AWS_CA_BUNDLE\nexec {program} "$@"')
        check_inputs(tap, folder, bucket, tools)
        check_mirror(tap, folder, bucket, tools)
    tap.done()


main()
