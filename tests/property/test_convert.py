#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What convert and split write: the same bytes with any memory and any packing of the input; and what is read of it
again is what was there."""

import csv
import gzip
import io
import json
import shutil
import subprocess
import sys
import tarfile
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import make_profile  # noqa: E402
import make_pytorch  # noqa: E402
import written_trace  # noqa: E402
from tap import Tap  # noqa: E402
from tracemill import SHARED, Scratch, run, summary_of  # noqa: E402

ZSTD = shutil.which("zstd")
ENDINGS = ("pftrace", "pftrace.gz", "json", "csv")
SPLITS = (["--format", "pftrace", "--max-events", "150"], ["--format", "json", "--max-size", "64K", "--by", "device"],
          ["--by", "step=2", "--plain"])
BY_SIZE = "s1/"
RUN = "logs/plugins/profile/2026_01_02_03_04_05"


def sources():
    """name: (file name, bytes)"""
    warning = make_profile.chunk(3, "the profiler says something")
    made = {kind: ("host0.xplane.pb", make(seed=3).encode() + warning) for kind, make in make_profile.MAKERS.items()}
    made["JAX, gpu"] = ("host0.trace.json", make_profile.chrome_json(make_profile.gpu(seed=3)))
    made["PyTorch"] = ("host0.json", make_pytorch.rank_of())
    return made


def everything(source, folder, memory="256M", stdin=None):
    """The bytes of all that is written of a source, by name, or the Result that is no success."""
    shutil.rmtree(folder, ignore_errors=True)
    made = {}
    for ending in ENDINGS:
        result = run("convert", source, "-o", folder / f"a.{ending}", "--memory", memory, "-q", stdin=stdin)
        if result.status != 0:
            return result
    for number, options in enumerate(SPLITS):
        result = run("split", source, "-o", folder / f"s{number}", "--memory", memory, "-q", *options, stdin=stdin)
        if result.status != 0:
            return result
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            made[str(path.relative_to(folder))] = path.read_bytes()
    return made


def differing(a, b):
    """Names of the files that differ, or the Result."""
    if not isinstance(a, dict) or not isinstance(b, dict):
        return [str(b if isinstance(a, dict) else a)]
    return [name for name in sorted(a | b) if a.get(name) != b.get(name)]


def packings(name, data):
    """(label, name of the file, bytes)"""
    third = len(data) // 3
    yield "gzip", name, gzip.compress(data, mtime=0)
    yield "gzip of three members", name, b"".join(
        gzip.compress(part, mtime=0) for part in (data[:third], data[third:2 * third], data[2 * third:]))
    if ZSTD:
        yield "zstd", name, subprocess.run([ZSTD, "-q", "-c"], input=data, stdout=subprocess.PIPE, check=True).stdout
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as tar:
        info = tarfile.TarInfo(f"{RUN}/{name}")
        info.size = len(data)
        tar.addfile(info, io.BytesIO(data))
    yield "archive", "all.tar.gz", out.getvalue()


def unnamed(made):
    """What does not depend on the name of the file, which stands on the first line of a JSON."""
    if not isinstance(made, dict):
        return made
    return {name: data.split(b"\n", 1)[-1] for name, data in made.items()
            if name.endswith((".csv", ".json")) and not name.endswith("index.json") and not name.startswith(BY_SIZE)}


def same_bytes(tap, folder, name, file, data):
    """The path tells the name of the run, so that is the same for all."""
    place = folder / RUN
    place.mkdir(parents=True)
    (place / file).write_bytes(data)
    usual = everything(place / file, folder / "usual")
    broken = [written_trace.problem_of(folder / "usual" / made) for made in usual
              if not made.endswith(("index.json", "index.html"))] if isinstance(usual, dict) else [str(usual)]
    tap.ok(not any(broken), f"{name}: all of it is whole", *filter(None, broken))
    for memory in ("32M", "64M"):
        wrong = differing(usual, everything(place / file, folder / "other", memory))
        tap.ok(not wrong, f"{name}: --memory {memory}", *wrong)
    for label, packed, content in packings(file, data):
        where = folder / "packed" / RUN if label != "archive" else folder / "packed"
        where.mkdir(parents=True, exist_ok=True)
        (where / packed).write_bytes(content)
        wrong = differing(usual, everything(where / packed, folder / "other"))
        tap.ok(not wrong, f"{name}: {label}", *wrong)
        (where / packed).unlink()
    (folder / "stdin").write_bytes(data)
    file_itself, piped = (unnamed(everything(*way)) for way in ((folder / "stdin", folder / "usual"),
                                                               ("-", folder / "other", "256M", data)))
    wrong = differing(file_itself, piped)
    tap.ok(not wrong, f"{name}: stdin", *wrong)


def without_facts(path):
    return path.read_bytes().split(b"\n", 1)[1]


def figures(name, summary):
    """What does not depend on the format.  PyTorch's estimates of occupancy are mended by what its files say of the device,
    which a trace does not hold.  Rows of lanes are threads of their own, which changes what host threads did
    while a device was idle; an XSpace has more of the machine, and of the allocators."""
    found = {"kernels": summary["kernels"]}
    if name == "PyTorch":
        found["kernels"] = {**summary["kernels"], "rows": [{key: value for key, value in row.items() if key != "occupancy_pct"}
                                                           for row in summary["kernels"]["rows"]]}
    found["steps"] = {key: value for key, value in summary["steps"].items() if key not in ("parts", "list")}
    found["total"] = {key: value for key, value in summary["total"].items() if "worst" not in key}
    found["devices"] = [{key: row[key] for key in ("kind", "busy_ps", "idle_ps", "activities") if key in row}
                        for row in summary["devices"]]
    if name == "tpu":  # picoseconds, of which JSON has nanoseconds
        found = {}
    found["classes"] = {key: value for key, value in summary["coverage"]["classes"].items() if key != "counter"}
    return found


def read_again(tap, folder, name, file, data):
    """A JSON that was written is a trace like others: the same figures; and written once more it is the same."""
    (folder / "first").mkdir()
    (folder / "second").mkdir()
    source, once, twice = folder / "first" / file, folder / "second" / "host0.json", folder / "twice.json"
    source.write_bytes(data)
    result = run("convert", source, "-o", once, "--plain", "-q")
    again = run("convert", once, "-o", twice, "--plain", "-q")
    if not tap.ok(result.status == 0 and again.status == 0, f"{name}: converted twice", result, again):
        return
    _, first = summary_of(source, folder / "report1")
    result, second = summary_of(once, folder / "report2")
    a, b = (figures(name, first), figures(name, second)) if first and second else ({}, {"none": str(result)})
    wrong = [key for key in a | b if a.get(key) != b.get(key)]
    tap.ok(not wrong, f"{name}: the same figures", *(f"{key}: {a.get(key)}, {b.get(key)}"[:1500] for key in wrong))
    counted = [json.loads(run("inspect", path, "--json").out)["files"][0]["events"] for path in (once, twice)]
    tap.ok(counted[0] == counted[1], f"{name}: as many events", counted)
    if name != "PyTorch":  # what lies on no thread lies on one of that name from then on
        lines = [sorted(line for line in without_facts(path).split(b"\n") if b"sort_index" not in line) for path in (once, twice)]
        tap.ok(lines[0] == lines[1], f"{name}: the same JSON once more")


def without_rounding(found):
    """Times to a microsecond: a trace has nanoseconds, which add up."""
    if isinstance(found, dict):
        return {key: value // 1000_000 if key.endswith("_ps") and isinstance(value, int) else without_rounding(value)
                for key, value in found.items() if not key.endswith(("_pct", "stddev_ps"))}
    return [without_rounding(one) for one in found] if isinstance(found, list) else found


def almost(a, b):
    """Whether figures are equal but for a microsecond."""
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(almost(a[key], b[key]) for key in a)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(almost, a, b))
    return a == b or (isinstance(a, int) and isinstance(b, int) and abs(a - b) <= 1)


def limits_of(summary):
    """What the profile says of its devices, and the peaks that follow."""
    rows = summary["roofline"]["devices"] if summary.get("roofline") else []
    models = [{key: value for key, value in row.items() if key != "count"} for row in summary["environment"]["devices"] if row["used"]]
    return [{key: row.get(key) for key in ("device", "peak_flops", "peak_precision", "peak_bandwidth", "peak_source")} for row in rows] + models


def rows_of(summary):
    """Which program each operation is of, and where the steps of the critical path are, to a microsecond, in their order."""
    path = summary.get("critical_path") or {"rows": []}
    return {"modules": sorted([row["name"], str(row["module"])] for row in summary["ops"]["rows"]) if summary.get("ops") else [],
            "path": [[row["number"], row["begin_ps"] // 1000_000] for row in path["rows"]]}


def no_run(tap, folder):
    """A trace that is not the events of a run is no input: an overview, a comparison."""
    source, other = folder / "host0.xplane.pb", folder / "host1.xplane.pb"
    source.write_bytes(make_profile.gpu(seed=3).encode())
    other.write_bytes(make_profile.gpu(seed=4).encode())
    run("convert", source, "-o", folder / "overview.pftrace", "--overview", "-q")
    run("split", source, "-o", folder / "parts", "--max-events", "300", "-q")
    result = run("compare", source, other, "-o", folder / "both.pftrace", "--force", "--json")
    named = json.loads(result.out).get("timeline", {}).get("file") if result.out else None
    tap.ok(named == "both.pftrace" and (folder / "both.pftrace").exists(), "a comparison names the file that it wrote", named, result)
    for path, what, hint in ((folder / "overview.pftrace", "is an overview", "the profile that it was created from"),
                             (folder / "parts" / "overview.pftrace", "is an overview", "the parts beside it"),
                             (folder / "both.pftrace", "is a comparison", "one of the two profiles")):
        for verb in (("report", "-o", folder / "out"), ("convert", "-o", folder / "out.json"), ("inspect",)):
            result = run(verb[0], path, *verb[1:])
            tap.ok(result.status == 3 and what in result.err and hint in result.err and not (folder / "out.json").exists(),
                   f"{verb[0]} {path.relative_to(folder)}: refused", result)


def perfetto_again(tap, folder, name, file, data):
    """A .pftrace that was written is read as what it was made from: the same figures, with computed rows or without them; and
    written once more, and again, it is the same bytes."""
    for part in ("first", "second", "third", "fourth"):
        (folder / part).mkdir()
    source, traces = folder / "first" / file, [folder / part / "host0.pftrace" for part in ("second", "third", "fourth")]
    source.write_bytes(data)
    done = [run("convert", path, "-o", out, "-q") for path, out in zip((source, *traces), traces)]
    if not tap.ok(all(result.status == 0 for result in done), f"{name}: converted three times", *done):
        return
    tap.ok(traces[1].read_bytes() == traces[2].read_bytes(), f"{name}: the same .pftrace once more")
    _, first = summary_of(source, folder / "report1")
    result, second = summary_of(traces[0], folder / "report2")
    a, b = (without_rounding(figures(name, one)) for one in (first, second)) if first and second else ({}, {"none": str(result)})
    for found in (a, b):  # precision comes from the HLO, which a trace has not
        for row in found.get("kernels", {}).get("rows", ()):
            row.pop("precision", None)
            row.pop("why", None)
    if first and second:
        a["limits"], b["limits"] = (limits_of(one) for one in (first, second))
        a["rows"], b["rows"] = (rows_of(one) for one in (first, second))
        tap.ok(name != "tpu" or all(module == "jit_train_step" for _, module in b["rows"]["modules"]) and len(b["rows"]["path"]) > 2,
               f"{name}: operations have the program of their execution", b["rows"])
        tap.ok(name not in ("gpu", "tpu") or a["limits"], f"{name}: its devices have capabilities", a["limits"])
    wrong = [key for key in a | b if not almost(a.get(key), b.get(key))]
    tap.ok(not wrong, f"{name}: the same figures of the .pftrace", *(f"{key}: {a.get(key)}, {b.get(key)}"[:1500] for key in wrong))


def programs_of_hlo(tap, folder):
    """A TPU profile with HLO, whose devices run for long without the host: programs and steps are the same, in the same order."""
    source = SHARED / "traces" / "xspace" / "xprof-tpu-v6e-inference.xplane.pb"
    if not source.exists():
        tap.skip("HLO of TPUs", "the trace catalog is not there")
        return
    trace = folder / "host0.pftrace"
    result = run("convert", source, "-o", trace, "-q")
    found = [rows_of(summary_of(path, folder / f"report{path.suffix}")[1]) for path in (source, trace)]
    tap.ok(almost(*found) and len(found[0]["path"]) == 400, "HLO of TPUs: programs and steps of the .pftrace", result,
           *(str(one)[:1500] for one in found))


def parts_again(tap, folder, name, file, data):
    """Each part of a split is a trace that this program reads; no event is in none of them."""
    (folder / file).write_bytes(data)
    run("convert", folder / file, "-o", folder / "whole.json", "--plain", "-q")
    result = run("split", folder / file, "-o", folder / "parts", "--format", "json", "--max-events", "150", "--plain", "-q")
    listed = json.loads((folder / "parts" / "index.json").read_text(encoding="utf-8")) if result.status == 0 else {"parts": []}
    wrong, spans = [], 0
    for part in listed["parts"]:
        result = run("inspect", folder / "parts" / part["file"], "--json")
        events = json.loads(result.out)["files"][0]["events"] if result.status == 0 else -1
        spans += part["slices"] - part["pieces"] - part["launches"]
        if events < part["slices"] + part["counters"]:
            wrong.append(f"{part['file']}: {events} events read, {part['slices']} slices, {part['counters']} counters: {result}")
    whole = sum(event["ph"] in ("X", "i") for event in written_trace.events_of_json((folder / "whole.json").read_bytes()))
    tap.ok(len(listed["parts"]) > 1 and not wrong and spans == whole, f"{name}: {len(listed['parts'])} parts are read",
           f"{spans} spans in parts, {whole} in the whole", *wrong)


def two_hosts(tap, folder):
    """A run of two hosts: each has its rows, and all of both is there, in one file and in parts."""
    run_folder = folder / RUN
    run_folder.mkdir(parents=True)
    for number, host in enumerate(("../../a", "b c/d")):
        space = make_profile.gpu(seed=number + 1, devices=1, host=host)
        (run_folder / f"host{number}.xplane.pb").write_bytes(space.encode())
    for memory in ("32M", "256M"):
        for ending in ENDINGS:
            result = run("convert", folder / "logs", "-o", folder / f"{memory}.{ending}", "--memory", memory, "-q")
            wrong = written_trace.problem_of(folder / f"{memory}.{ending}") if result.status == 0 else str(result)
            tap.ok(not wrong, f"two hosts: {ending}, {memory}", wrong)
    for ending in ENDINGS:
        tap.ok((folder / f"32M.{ending}").read_bytes() == (folder / f"256M.{ending}").read_bytes(), f"two hosts: the same {ending}")
    events = written_trace.events_of_json((folder / "32M.json").read_bytes())
    processes = {e["pid"]: e["args"]["name"] for e in events if e["name"] == "process_name"}
    hosts = [sum(processes[e["pid"]].endswith(f"host{number}") for e in events if e["ph"] == "X") for number in (0, 1)]
    tap.ok(all(hosts) and len(processes) == len(set(processes.values())), "two hosts: both are there", hosts, processes)
    for options in SPLITS:
        result = run("split", folder / "logs", "-o", folder / "parts", "-q", *options)
        names = [path.name for path in (folder / "parts").glob("part-*")]
        wrong = [written_trace.problem_of(folder / "parts" / one) for one in names]
        tap.ok(result.status == 0 and not any(wrong) and len(list((folder / "parts").iterdir())) == len(names) + 3
               and any("host1" in one for one in names), f"two hosts: {' '.join(options)}", result, *wrong)


def arguments_by_name(tap, folder):
    """`inspect --arguments` counts each argument of each event once, and --args essential leaves most of them out."""
    source = folder / "host0.xplane.pb"
    source.write_bytes(make_profile.gpu(seed=3).encode())
    csv.field_size_limit(1 << 24)
    counts = {}
    for level in ("all", "essential"):
        run("convert", source, "-o", folder / f"{level}.csv", "--args", level, "--raw", "-q")
        with open(folder / f"{level}.csv", encoding="utf-8", newline="") as table:
            counts[level] = Counter(key for row in csv.DictReader(table) for key in json.loads(row["arguments"] or "{}"))
    result = run("inspect", source, "--arguments", "--json")
    found = json.loads(result.out)["arguments"]
    listed = {row["name"]: row for row in found["list"]}
    wrong = [f"{key}: {n}, listed {listed.get(key, {}).get('count')}" for key, n in counts["all"].items()
             if listed.get(key, {}).get("count") != n]
    tap.ok(result.status == 0 and not wrong and len(listed) == len(counts["all"]), "inspect lists the arguments of all events", *wrong)
    tap.ok(sum(row["bytes"] for row in listed.values()) == found["bytes"] and found["count"] == sum(counts["all"].values()),
           "and what they take adds up", found["bytes"])
    kept = {key for key, row in listed.items() if row["essential"]}
    tap.ok(kept == set(counts["essential"]), "what is essential is written", kept ^ set(counts["essential"]))
    share = sum(counts["essential"].values()) / sum(counts["all"].values())
    tap.ok(share < 0.6, "and is the smaller part", share)
    tap.ok("ESSENTIAL" in run("inspect", source, "--arguments").out and "arguments" not in json.loads(run("inspect", source, "--json").out),
           "only where it is asked for")


def with_zstd(tap, folder):
    """--zstd changes how packets are packed, and nothing else: read again, the trace is the same."""
    source = folder / "host0.xplane.pb"
    source.write_bytes(make_profile.gpu(seed=3, steps=20).encode())
    tables = {}
    for name, options in (("deflate", ()), ("zstd", ("--zstd",))):
        result = run("convert", source, "-o", folder / name / "a.pftrace", "--memory", "32M", *options)
        again = run("convert", folder / name / "a.pftrace", "-o", folder / f"{name}.csv", "-q")
        tap.ok(result.status == again.status == 0, f"{name}: written and read again", result, again)
        tap.ok(("Perfetto 58" in result.err) == (name == "zstd"), f"{name}: a note says who can read it", result)
        tables[name] = (folder / f"{name}.csv").read_bytes()
    tap.ok(tables["zstd"] == tables["deflate"], "the same events with --zstd")
    sizes = [(folder / name / "a.pftrace").stat().st_size for name in tables]
    tap.ok(sizes[1] < sizes[0], "and a smaller file", sizes)
    for name in ("x.json", "x.pftrace.gz"):
        result = run("convert", source, "-o", folder / name, "--zstd")
        tap.ok(result.status == 2 and "--zstd" in result.err and not (folder / name).exists(), f"{name} has no such packets", result)


def main():
    tap = Tap()
    with Scratch() as folder:
        arguments_by_name(tap, folder)
    with Scratch() as folder:
        with_zstd(tap, folder)
    with Scratch() as folder:
        no_run(tap, folder)
    with Scratch() as folder:
        programs_of_hlo(tap, folder)
    if not ZSTD:
        tap.skip("zstd", "no program zstd")
    for name, (file, data) in sources().items():
        for check in (same_bytes, read_again, perfetto_again, parts_again):
            with Scratch() as folder:
                check(tap, folder, name, file, data)
    with Scratch() as folder:
        two_hosts(tap, folder)
    tap.done()


if __name__ == "__main__":
    main()
