#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Objects in buckets as inputs and roots: from a real S3 server on this machine through the real client, with faults; the
commands that are run, word by word; and none that the user did not ask for."""

import gzip
import json
import shutil
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from buckets import Between, Bucket, Tools, aws_tools  # noqa: E402
from tap import Tap  # noqa: E402
from tracemill import ROOT, Scratch, run, summary_of  # noqa: E402

DEMO = next((ROOT / "tests/data/demo").rglob("*.xplane.pb"))
TINY = next((ROOT / "tests/data/tiny").rglob("*.xplane.pb"))
NIGHT = "plugins/profile/2026_11_2{}_01_00_00"
DENIED = (b"HTTP/1.1 403 Forbidden\r\nContent-Type: application/xml\r\nConnection: close\r\n\r\n<Error><Code>InvalidAccessKeyId"
          b"</Code><Message>The key does not exist in our records</Message></Error>")


def without_input(summary):
    return summary and {k: v for k, v in summary.items() if k != "input"}


def check_inputs(tap, folder, bucket, tools):
    """An object gives what its file gives, in every form."""
    settings = bucket.settings(tools)
    for name, data in (("demo.xplane.pb", DEMO.read_bytes()), ("demo.xplane.pb.gz", gzip.compress(DEMO.read_bytes()))):
        local = folder / name
        local.write_bytes(data)
        bucket.put("one/" + name, data)
        _, usual = summary_of(local, folder / "local")
        result, summary = summary_of("s3://traces/one/" + name, folder / "remote", **settings)
        tap.ok(result.status == 0 and summary and without_input(summary) == without_input(usual), f"{name}: same figures", result)
        tap.ok(summary and summary["input"]["files"][0]["path"] == "s3://traces/one/" + name, f"{name}: its address", result)
        calls = tools.calls()
        tap.ok(len(calls) == 1 and calls[0][:3] == ["aws", "s3", "cp"], f"{name}: fetched once, and nothing listed", calls)
    result = run("convert", "s3://traces/one/demo.xplane.pb", "-o", folder / "remote.pftrace", **settings)
    run("convert", folder / "demo.xplane.pb", "-o", folder / "local.pftrace")
    tap.ok(result.status == 0 and (folder / "remote.pftrace").stat().st_size == (folder / "local.pftrace").stat().st_size,
           "converted as the file is", result)
    result = run("compare", "s3://traces/one/demo.xplane.pb", TINY, "-o", folder / "compared", "--force",
                 "--format", "json", **settings)
    tap.ok(result.status == 0 and "s3://traces/one/demo" in next((folder / "compared").glob("*.json")).read_text(encoding="utf-8"),
           "compared with a file", result)


def check_summaries(tap, folder, bucket, tools):
    """Stored summaries stand for their runs."""
    tools.calls()
    settings = bucket.settings(tools)
    for name, trace in (("demo", DEMO), ("tiny", TINY)):
        run("report", trace, "-o", folder / name, "--format", "json")
        bucket.put(f"stored/{name}/summary.json", (folder / name / "summary.json").read_bytes())
    there, here = "s3://traces/stored/demo/summary.json", folder / "demo/summary.json"
    for name, arguments, options in (("brief", [], []), ("show", ["ops"], []), ("check", [], ["--gate", folder / "gates.json"])):
        if name == "check":
            run("check", here, "--init", "--gate", folder / "gates.json")
        usual, result = run(name, here, *arguments, *options), run(name, there, *arguments, *options, **settings)
        calls = tools.calls()
        tap.ok(result.status == usual.status == 0 and result.out.replace(there, str(here)) == usual.out, f"{name} of a stored summary", result)
        tap.ok(len(calls) == 1 and calls[0][1:3] == ["s3", "cp"], f"{name}: fetched once, nothing listed", calls)
    result = run("compare", there, folder / "tiny", "-o", folder / "stored", "--force", "--format", "json", **settings)
    tap.ok(result.status == 0 and (folder / "stored/compare.json").exists(), "compared with a folder", result)
    run("report", here, "-o", folder / "again", "--format", "text")
    result = run("report", there, "-o", folder / "made", "--format", "text", **settings)
    tap.ok(result.status == 0 and (folder / "made/report.txt").read_bytes() == (folder / "again/report.txt").read_bytes(),
           "its report is made again", result)
    bucket.put("stored/none/summary.json", b'{"schema": "tracemill.summ')
    refused(tap, "half a summary", run("brief", "s3://traces/stored/none/summary.json", **settings), "cannot read")
    refused(tap, "no summary", run("brief", "s3://traces/stored/nothing/summary.json", **settings), "cannot fetch", "404")
    tools.calls()


def refused(tap, name, result, *words):
    tap.ok(result.status == 3 and not result.crashed and all(word in result.err for word in words), name, result)


def check_faults(tap, folder, bucket, tools):
    """Each ends with a message and without output."""
    out, uri = folder / "faulty", "s3://traces/one/demo.xplane.pb"

    def report(where, port=None, *options):
        return run("report", where, "-o", out, *options, **bucket.settings(tools, port))

    refused(tap, "no such object", report("s3://traces/one/none.xplane.pb"), "cannot fetch", "aws failed with status", "404")
    refused(tap, "no such prefix", report("s3://traces/none/"), "nothing in 's3://traces/none'")
    refused(tap, "no such bucket", report("s3://nowhere/x/"), "cannot list", "NoSuchBucket")
    refused(tap, "no profile", report("s3://traces/other/"), "no profile in", "among 1 object")
    refused(tap, "an archive", report("s3://traces/logs.tar.gz"), "cannot read the archive")
    with Between(bucket.port, "reset", 20000) as port:
        refused(tap, "reset while it is read", report(uri, port), "cannot fetch", "aws failed")
    with Between(bucket.port, DENIED) as port:
        refused(tap, "wrong credentials", report(uri, port), "cannot fetch", "403")
        refused(tap, "wrong credentials for a list", report("s3://traces/one/", port), "cannot list", "InvalidAccessKeyId")
    with Between(bucket.port, "stall", 20000) as port:
        refused(tap, "it stops", report(uri, port, "--fetch-timeout", "3s"), "sent nothing for 3 seconds", "--fetch-timeout")
    tap.ok(not out.exists(), "no output of any of them", sorted(out.rglob("*")) if out.exists() else "")
    tools.calls()


def check_commands(tap, folder, bucket):
    """The words that are run."""
    uri = "s3://traces/a b/'$(touch x);\"*/-demo.xplane.pb"
    key = uri.split("/", 3)[3]
    result = run("report", uri, PATH=folder)
    refused(tap, "without a helper", result, "no program for it is installed (aws or rclone)", "--fetch", "aws s3 cp",
            "| tracemill report -")
    refused(tap, "without a helper for the other store", run("report", "gs://b/h.xplane.pb", PATH=folder), "gcloud or rclone",
            "gcloud storage cat")
    give = f"exec /bin/cat {DEMO}"
    tools = Tools(folder / "own", fetch=give, aws=give, rclone=give, gcloud=give)
    for name, options, where, wanted in (
            ("its own command", ["--fetch", "fetch --from '{bucket}' \"x {key} y\" {uri}"], uri,
             ["fetch", "--from", "traces", f"x {key} y", uri]),
            ("aws", [], uri, ["aws", "s3", "cp", "--only-show-errors", uri, "-"]),
            ("gcloud", [], "gs://traces/h.xplane.pb", ["gcloud", "storage", "cat", "gs://traces/h.xplane.pb"])):
        result = run("brief", where, *options, PATH=tools.path, cwd=folder)
        calls = tools.calls()
        tap.ok(result.status == 0 and calls == [wanted], f"the words of {name}", calls, result)
    result = run("brief", "gs://traces/[h].xplane.pb", PATH=tools.path)
    refused(tap, "a pattern is not passed to gcloud", result, "for a pattern")
    result = run("brief", "s3://traces/-h.xplane.pb", "--fetch", "fetch {key}", PATH=tools.path)
    tap.ok(result.status == 2 and not tools.calls(), "a name is not an option", result)
    result = run("brief", uri, "--fetch", "nothing-there {uri}", PATH=tools.path)
    refused(tap, "a command that is not there", result, "nothing-there failed", "cannot run it: No such file")
    (Path(tools.path) / "aws").unlink()
    result = run("brief", uri, PATH=tools.path)
    tap.ok(result.status == 0 and tools.calls() == [["rclone", "cat", f":s3,env_auth:traces/{key}"]], "rclone", result)
    run("brief", DEMO, PATH=tools.path)
    tap.ok(not tools.calls() and not (folder / "x").exists(), "a file starts no helper")


def listed(tap, name, folder, where, listing, count, **settings):
    result = run("list", where, "--json", "--listing", f"/bin/cat {folder / 'listing'}", **settings) if listing is not None else \
        run("list", where, "--json", **settings)
    runs = json.loads(result.out)["runs"] if result.status == 0 else []
    tap.ok(len(runs) == count, name, result)
    return runs


def check_lists(tap, folder, bucket, tools):
    settings = bucket.settings(tools)
    runs = listed(tap, "the runs of a bucket", folder, "s3://traces", None, 4, **settings)
    tap.ok(all(run["folder"].startswith("s3://traces/") for run in runs), "by their addresses", runs)
    listed(tap, "a prefix is a folder, not a start of a name", folder, "s3://traces/night", None, 2, **settings)
    pages = "aws s3api list-objects-v2 --page-size 2 --bucket {bucket} --prefix {key} --output json --query Contents[]"
    result = run("list", "s3://traces", "--json", "--listing", pages, **settings)
    tap.ok(result.status == 0 and len(json.loads(result.out)["runs"]) == 4, "in pages of two, as the store names its members", result)
    rows = [{"name": "log/a/h.xplane.pb", "generation": 17, "size": "12", "update_time": "2026-11-20T10:00:00+0000"},
            {"name": "log/a/.hid/h.xplane.pb", "size": 1}, {"name": "log/a//h.xplane.pb", "size": 1},
            {"name": "log/../h.xplane.pb", "size": 1}, {"name": "log/b/x.json", "size": 1}, {"name": "other/h.xplane.pb", "size": 2}]
    for name, text in (("an array", json.dumps(rows, indent=1)), ("lines", "".join(json.dumps(row) + "\n" for row in rows))):
        (folder / "listing").write_text(text, encoding="utf-8")
        runs = listed(tap, f"a list as {name}", folder, "gs://b/log", text, 1)
        tap.ok(runs and runs[0]["folder"] == "gs://b/log/a" and runs[0]["bytes"] == 12 and
               runs[0]["newest"].startswith("2026-11-20 10:00:00"), f"its members, as {name}", runs)
    for name, text in (("text", "no such bucket"), ("half an object", '[{"name": "log/a/h.xplane.pb", "si')):
        (folder / "listing").write_text(text, encoding="utf-8")
        refused(tap, f"a list that is {name}", run("list", "gs://b/log", "--listing", f"/bin/cat {folder / 'listing'}"), "cannot list")
    tools.calls()


def lines_of(out):
    """The runs of a batch."""
    return [json.loads(line) for line in (out / "manifest.jsonl").read_text(encoding="utf-8").splitlines()[1:]]


def check_batch(tap, folder, bucket, tools):
    """Only what is new is fetched: the version of the store decides."""
    settings, out = bucket.settings(tools), folder / "perf"

    def batch(name, fetched, runs):
        result = run("batch", "s3://traces/night/", "-o", out, "--format", "json", **settings)
        calls = [call[2] for call in tools.calls()]
        done = len(list(out.glob("runs/*/result.json"))) + len(list(out.glob("runs/*/*/result.json")))
        tap.ok(result.status == 0 and calls.count("cp") == fetched and calls.count("list-objects-v2") == 1 and done == runs, name,
               calls, result)

    batch("a batch of a bucket", 2, 2)
    batch("again: one list, nothing fetched", 0, 2)
    bucket.put(f"night/{NIGHT.format(2)}/demo.xplane.pb", gzip.compress(DEMO.read_bytes()))
    batch("one object has changed", 1, 2)
    bucket.put(f"night/{NIGHT.format(3)}/demo.xplane.pb", DEMO.read_bytes())
    batch("one is new", 1, 3)
    local = folder / "night"
    for at in (1, 2, 3):
        place = local / NIGHT.format(at)
        place.mkdir(parents=True)
        shutil.copy(DEMO, place)
    run("batch", local, "-o", folder / "local", "--format", "json")
    keys = [[{key: value for key, value in line["keys"].items() if key != "when_ns"} for line in lines_of(where)]
            for where in (out, folder / "local")]
    tap.ok(len(keys[0]) == 3 and keys[0] == keys[1], "keys as of folders", keys)
    with Between(bucket.port, "reset", 20000) as port:
        bucket.put(f"night/{NIGHT.format(4)}/demo.xplane.pb", DEMO.read_bytes())
        result = run("batch", "s3://traces/night/", "-o", out, "--format", "json", **bucket.settings(tools, port))
        tap.ok(result.status not in (0, 1) and "1" in result.out + result.err, "an item whose fetch fails is a failed item", result)
    tools.calls()
    batch("and is done in the next batch", 1, 4)


def main():
    tap = Tap()
    with Scratch() as folder, Bucket() as bucket:
        tools = aws_tools(folder / "tools")
        bucket.put("other/readme.txt", b"x")
        check_inputs(tap, folder, bucket, tools)
        check_summaries(tap, folder, bucket, tools)
        check_faults(tap, folder, bucket, tools)
        check_commands(tap, folder, bucket)
        for at in (1, 2):
            bucket.put(f"night/{NIGHT.format(at)}/demo.xplane.pb", DEMO.read_bytes())
        bucket.put("nights/demo.xplane.pb", DEMO.read_bytes())
        check_lists(tap, folder, bucket, tools)
        check_batch(tap, folder, bucket, tools)
    tap.done()


main()
