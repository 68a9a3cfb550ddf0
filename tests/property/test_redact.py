#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""--redact: no name in anything that is written but the map, the same figures and findings, the same bytes."""

import json
import os
import re
import stat
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import make_pprof  # noqa: E402
import make_profile  # noqa: E402
import planted  # noqa: E402
import schemas  # noqa: E402
from tap import Tap  # noqa: E402
from tracemill import DEMO, Scratch, run  # noqa: E402

FORMATS = "html,pdf,json,text,markdown,csv,collapsed,perfetto"
ENDINGS = ("pftrace", "pftrace.gz", "json", "json.gz", "csv")
SPLITS = (["--format", "pftrace", "--max-events", "150"], ["--format", "json", "--by", "device"])
PSEUDONYM = re.compile(r"^[bcdfghjkmnpqrstvwxyz][bcdfghjkmnpqrstvwxyz2-9]{7}$", re.I)


def memory_profile(planter):
    samples = make_pprof.some(samples=20)
    for sample in samples:
        sample.stack = [(planter.plant("function", f), f"/home/{planter.plant('file', 'x')}{file}", line)
                        for f, file, line in sample.stack]
        sample.kind = planter.plant("kind", sample.kind) if sample.count == 1 else sample.kind
        sample.device = planter.plant("device", sample.device) if sample.device else ""
    return samples


def sources(folder):
    """(name, path, planter): files and folders whose names are planted too."""
    for kind, maker in make_profile.MAKERS.items():
        planter = planted.Planter()
        path = folder / kind / planter.word() / f"{planter.word()}.xplane.pb"
        path.parent.mkdir(parents=True)
        path.write_bytes(planted.xspace(maker, planter, 3))
        yield kind, path, planter
    for name, make in (("JAX's JSON", planted.chrome_json), ("PyTorch's JSON", planted.pytorch)):
        planter = planted.Planter()
        path = folder / name / f"{planter.word()}.json"
        path.parent.mkdir()
        path.write_bytes(make(planter, 3))
        yield name, path, planter
    planter = planted.Planter()
    place = folder / "two" / planter.word() / "plugins" / "profile" / planter.word()
    place.mkdir(parents=True)
    for seed in (4, 5):
        (place / f"{planter.word()}.xplane.pb").write_bytes(planted.xspace(make_profile.gpu, planter, seed))
    yield "two hosts", place.parents[2], planter


def write_all(source, out, *options):
    """Everything that is written of a source.  out: the Results that are no success"""
    out.mkdir()
    results = [run("report", source, "-o", out / "r", "--format", FORMATS, *options)]
    for ending in ENDINGS:
        results.append(run("convert", source, "-o", out / f"a.{ending}", *options))
    results.append(run("convert", source, "-o", out / "plain.pftrace", "--plain", *options))
    for number, more in enumerate(SPLITS):
        results.append(run("split", source, "-o", out / f"s{number}", *more, *options))
    return [r for r in results if r.status != 0], "".join(r.out for r in results)


def numbers(value, path=""):
    """(path, value) of everything in a summary that is no text; of texts that they are there."""
    if isinstance(value, dict):
        for key, inner in value.items():
            if key not in ("why", "xxh3", "redacted"):
                yield from numbers(inner, f"{path}.{key}")
    elif isinstance(value, list):
        for i, inner in enumerate(value):
            yield from numbers(inner, f"{path}[{i}]")
    else:
        yield path, "text" if isinstance(value, str) else value


def summary_of(folder):
    return json.loads((folder / "summary.json").read_text(encoding="utf-8"))


def read_map(path):
    """word -> pseudonym"""
    lines = path.read_text(encoding="utf-8").splitlines()
    assert lines[0] == "tracemill names 1" and re.fullmatch("key [0-9a-f]{32}", lines[1]), lines[:2]
    return {word: pseudonym for pseudonym, word in (line.split("\t") for line in lines[2:])}


def names_of_events(path):
    return {e.get("name") for e in json.loads(path.read_text(encoding="utf-8"))["traceEvents"] if e.get("ph") == "X"}


def check_map(tap, name, path, written):
    """in: written  words that are in the outputs without --redact"""
    names = read_map(path)
    missing = [w for w in written if not any(w == n or w in n for n in names)]
    tap.ok(stat.S_IMODE(os.stat(path).st_mode) == 0o600, f"{name}: the map is for its owner only")
    tap.ok(all(PSEUDONYM.match(p) for p in names.values()), f"{name}: pseudonyms have their form",
           [p for p in names.values() if not PSEUDONYM.match(p)][:5])
    tap.ok(list(names.values()) == sorted(names.values()), f"{name}: the map is in order")
    tap.ok(len(written) > 10 and not missing, f"{name}: all {len(written)} words are in the map", missing[:20])


def check_source(tap, validator, folder, name, source, planter):
    out, names = folder / f"out-{len(list(folder.iterdir()))}", folder / "map"
    names.unlink(missing_ok=True)
    failed, said = write_all(source, out, "--redact", "--redact-map", names)
    if not tap.ok(not failed, f"{name}: everything is written", *failed):
        return
    tap.ok(not planted.found(out), f"{name}: no name is left", planted.found(out)[:12])
    tap.ok(planted.MARK not in said.lower(), f"{name}: no name on stdout", said[:400])
    write_all(source, folder / f"{out.name}-open")
    written = planted.words_in(folder / f"{out.name}-open", planter.words)
    check_map(tap, name, names, written)
    redacted = summary_of(out / "r")
    tap.ok(not schemas.problems(validator, redacted), f"{name}: the summary keeps to its schema",
           *schemas.problems(validator, redacted))
    plain = summary_of(folder / f"{out.name}-open" / "r")
    a, b = list(numbers(plain)), list(numbers(redacted))
    tap.ok(a == b, f"{name}: the same figures", [x for x in zip(a, b) if x[0] != x[1]][:8],
           [len(a), len(b)])
    tap.ok([f["id"] for f in plain["findings"]] == [f["id"] for f in redacted["findings"]],
           f"{name}: the same findings")
    write_again(tap, name, source, out, names)


def read_rows(folder):
    """CSV among the formats has more of them."""
    return summary_of(folder)["settings"]["rows"]


def write_again(tap, name, source, out, names):
    """The same bytes in little memory, with the key of the map and with the one of the input."""
    again = out / "again"
    failed, _ = write_all(source, again, "--redact", "--redact-map", names, "--memory", "32M")
    files = [p.relative_to(again) for p in again.rglob("*") if p.is_file()]
    differ = [str(f) for f in files if (out / f).read_bytes() != (again / f).read_bytes()]
    tap.ok(not failed and files and not differ, f"{name}: the same bytes in 32M", differ[:8], *failed)
    result = run("report", source, "-o", out / "own", "--redact", "--rows", read_rows(out / "r"))
    tap.ok(result.status == 0 and summary_of(out / "own") == summary_of(out / "r"),
           f"{name}: the key comes from the input", result)
    tap.ok(read_map(out / "own.names").items() <= read_map(names).items() and "do not share it" in result.err,
           f"{name}: the map lies beside the output", result)


# --- what is left ---------------------------------------------------------------------------------------------

def refusals(tap, folder):
    """What would give names away is not done."""
    result = run("report", DEMO, "-o", folder / "p", "--redact", "--format", "partial")
    tap.ok(result.status == 2 and "partial" in result.err and not (folder / "p").exists(), "no partial", result)
    result = run("report", DEMO, "-o", folder / "q", "--redact", "--redact-map", folder / "q" / "map")
    tap.ok(result.status != 0 and not (folder / "q" / "map").exists() and not (folder / "q" / "summary.json").exists(),
           "no map in the output", result)
    (folder / "no-map").write_text("something else\n")
    result = run("report", DEMO, "-o", folder / "q2", "--redact", "--redact-map", folder / "no-map")
    tap.ok(result.status == 2 and (folder / "no-map").read_text() == "something else\n", "a file that is no map stays",
           result)
    result = run("report", DEMO, "-o", folder / "q3", "--redact-map", folder / "m")
    tap.ok(result.status == 2 and "--redact" in result.err, "a map without --redact", result)


def default_names(tap, folder):
    """Names of outputs that nobody chose are pseudonyms."""
    work = folder / "work"
    work.mkdir()
    source = folder / "Zsecretname.xplane.pb"
    source.write_bytes(make_profile.gpu(seed=2).encode())
    results = [run(verb, source, "--redact", cwd=work) for verb in ("report", "convert", "split")]
    tap.ok(all(r.status == 0 for r in results), "outputs without a name of their own", *results)
    left = [p.name for p in work.iterdir() if "zsecret" in p.name.lower()]
    tap.ok(not left and len(list(work.iterdir())) == 6, "their names are pseudonyms",
           sorted(p.name for p in work.iterdir()))


def one_map(tap, folder):
    """Two runs with one map have the same pseudonyms; without it they have not."""
    names, outs = folder / "shared.names", []
    for number, options in enumerate(([names], [names], [], [])):
        seed = number + 1
        source = folder / f"run{number}.xplane.pb"
        space = make_profile.gpu(seed=seed)
        for line in (line for plane in space.planes for line in plane.lines):
            for event in line.events:
                event.name = event.name.replace("loop_add_fusion", "okapi_fusion")
        source.write_bytes(space.encode())
        out = folder / f"one{number}"
        chosen = ["--redact-map", *options] if options else []
        run("report", source, "-o", out, "--format", "json", "--redact", *chosen)
        outs.append({r["name"] for r in summary_of(out)["kernels"]["rows"] if re.fullmatch("[^_]+_fusion", r["name"])})
    tap.ok(outs[0] == outs[1] and len(outs[0]) == 1, "one map, one pseudonym", outs)
    tap.ok(len({*outs[0], *outs[2], *outs[3]}) == 3, "another key, another pseudonym", outs)
    tap.ok(read_map(names)["okapi"] + "_fusion" in outs[0], "the map tells what it stands for", outs)


def memory_profiles(tap, folder):
    planter = planted.Planter()
    source = folder / f"{planter.word()}.prof"
    make_pprof.write(source, memory_profile(planter))
    out = folder / "prof"
    result = run("report", source, "-o", out, "--redact", "--format", "html,pdf,json,text,markdown,csv,collapsed")
    tap.ok(result.status in (0, 3) and not planted.found(out), "a device memory profile", result, planted.found(out))


def addresses(tap, folder, validator):
    """Addresses of buffers, as long as real ones are, are numbers: they stay, and so the summary keeps to its schema."""
    space = make_profile.gpu(seed=3)
    for event in (e for plane in space.planes for line in plane.lines for e in line.events if "addr" in e.stats):
        event.stats["addr"] += 0x7f3a_1234_0000
    source = folder / "addresses.xplane.pb"
    source.write_bytes(space.encode())
    seen = []
    for name, more in (("names", []), ("pseudonyms", ["--redact"])):
        result = run("report", source, "-o", folder / name, "--format", "json", *more)
        summary = summary_of(folder / name)
        tap.ok(result.status == 0 and not schemas.problems(validator, summary), f"addresses: the schema, with {name}", result,
               *schemas.problems(validator, summary))
        seen.append([h["address"] for a in summary["memory"]["allocators"] for h in a["holders"]])
    tap.ok(seen[0] and seen[0] == seen[1], "addresses stay", seen)


def hosts_in_texts(tap, folder):
    """The name of a host is in texts too, made of words that stay or of digits alone."""
    for out, name in ((folder / "first-host", "gpu-node-17"), (folder / "second-host", "48151623")):
        space = make_profile.gpu(seed=3)
        for event in (e for plane in space.planes for line in plane.lines for e in line.events):
            event.stats["note"] = f"sent to {name}:8471"
        source = folder / f"{name}.xplane.pb"
        source.write_bytes(space.encode())
        failed, said = write_all(source, out, "--redact", "--redact-map", folder / "hosts.names")
        left = planted.found(out, name)
        tap.ok(not failed and not left and name not in said, f"the host {name} is in no text", left[:12], *failed)


def choices(schema):
    """Words of which the schema of the summary lets a text be one."""
    if isinstance(schema, dict):
        yield from (w for w in [*schema.get("enum", []), schema.get("const")] if isinstance(w, str))
        for inner in schema.values():
            yield from choices(inner)
    elif isinstance(schema, list):
        for inner in schema:
            yield from choices(inner)


def own_words(tap, folder):
    """The program's own words stay: reports and findings are told apart by them."""
    words = sorted(set(choices(schemas.schema_of("summary"))))
    events = [{"ph": "X", "name": w, "pid": 1, "tid": 1, "ts": 10 * i, "dur": 5} for i, w in enumerate(words)]
    source, out = folder / "words.json", folder / "words-out.json"
    source.write_text(json.dumps({"traceEvents": events}), encoding="utf-8")
    result = run("convert", source, "-o", out, "--redact", "--plain")
    tap.ok(result.status == 0 and names_of_events(out) == set(words), "words of the schema stay", result,
           sorted(set(words) - names_of_events(out)))


def said_by_user(tap, folder):
    """A title and a note are to be read."""
    result = run("report", DEMO, "-o", folder / "said", "--redact", "--title", "Our Zebra", "--note", "See okapi")
    report = summary_of(folder / "said")["report"]
    tap.ok(result.status == 0 and report == {"title": "Our Zebra", "note": "See okapi", "redacted": True},
           "title and note stay as they are", report)


def main():
    tap = Tap()
    validator = schemas.validator_of(tap, "summary")
    with Scratch() as folder:
        for name, source, planter in sources(folder):
            check_source(tap, validator, folder, name, source, planter)
        refusals(tap, folder)
        default_names(tap, folder)
        one_map(tap, folder)
        memory_profiles(tap, folder)
        said_by_user(tap, folder)
        addresses(tap, folder, validator)
        own_words(tap, folder)
        hosts_in_texts(tap, folder)
    tap.done()


if __name__ == "__main__":
    main()
