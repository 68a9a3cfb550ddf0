#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A brief has at most 8,192 bytes in each form, keeps to its schema, and leaves nothing on disk: of made runs, of 1,000
hosts with long names, of damaged inputs, of a batch, of two runs, and of every file of $TM_SHARED/traces where they are."""

import json
import shutil
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import make_profile  # noqa: E402
from schemas import problems, validator_of  # noqa: E402
from tap import Tap  # noqa: E402
from tracemill import ROOT, SHARED, Scratch, run  # noqa: E402

BYTES = 8192
COLUMNS = 100
DEMO = ROOT / "tests" / "data" / "demo"
TINY = next((ROOT / "tests" / "data" / "tiny").rglob("*.xplane.pb"))
TRACES = SHARED / "traces"
FOLDERS = ("xspace/*", "jax-json/*", "kineto/*", "chrome/*", "memory/*", "logdir/*")
FORMS = ((), ("--json",), ("--markdown",))


def wrong_of(validator, result, form, allowed):
    """What is not right with one brief."""
    if result.status == 3 and 3 in allowed:
        return [] if not result.out and result.err else ["it is refused without a word, or with output"]
    wrong = [f"status {result.status}: {result.err[-200:]}"] * (result.status not in allowed)
    size = len(result.out.encode())
    wrong += [f"{size} bytes"] * (size > BYTES) + ["nothing"] * (size == 0)
    if form == ("--json",) and not wrong:
        wrong += problems(validator, json.loads(result.out)) + ["several lines"] * (result.out.count("\n") != 1)
    if not form:
        wide = [line for line in result.out.splitlines() if len(line) > COLUMNS and "  # " not in line]
        wrong += [f"wide: {line}" for line in wide[:1]]
    return wrong


def check(tap, validator, name, *words, allowed=(0,), **options):
    wrong = []
    for form in FORMS:
        result = run("brief", *words, *form, **options)
        wrong += wrong_of(validator, result, form, allowed)
        if form == ("--json",) and result.status in (0, 4) and not wrong:
            brief = json.loads(result.out)
    tap.ok(not wrong, name, *wrong[:8])
    return brief if not wrong and result.status != 3 else {}


def check_forms(tap, validator, folder):
    run("report", DEMO, "-o", folder / "one", "--format", "json", "-q")
    run("report", TINY, "-o", folder / "two", "--format", "json", "-q")
    run("compare", folder / "one", folder / "two", "-o", folder / "changes", "--format", "json", "-q")
    profile = check(tap, validator, "a profile", DEMO)
    for name, path in (("the folder of a report", folder / "one"), ("a summary", folder / "one" / "summary.json")):
        same = check(tap, validator, name, path)
        tap.ok({k: v for k, v in same.items() if k != "commands"} == {k: v for k, v in profile.items() if k != "commands"},
               f"{name}: as of the profile")
    two = check(tap, validator, "two runs", folder / "one", folder / "two")
    of_folder = check(tap, validator, "the folder of a comparison", folder / "changes")
    tap.ok(two.get("sides") == of_folder.get("sides") and two.get("verdict") == of_folder.get("verdict"), "and it says the same")
    compared = json.loads((folder / "changes" / "compare.json").read_text(encoding="utf-8"))
    tap.ok(two["verdict"]["verdict"] == compared["verdict"]["verdict"], "the verdict is that of the comparison")
    check(tap, validator, "options of figures", DEMO, "--steps", "2:4", "--window", "session", "--strict")
    redacted = run("brief", DEMO, "--redact", "--json").out
    names = ("train_step", "data_loading", str(DEMO))
    tap.ok(json.loads(redacted)["redacted"] and not [name for name in names if name in redacted], "--redact", redacted[:300])
    for words in (("--json", "--markdown"), ("--output", "x"), ("--markdown=maybe",), (folder / "two", folder / "one")):
        tap.ok(run("brief", folder / "one", *words).status == 2, f"refused: {' '.join(str(w) for w in words)}")
    tap.ok(run("brief", folder / "one", "--redact").status == 2, "refused: pseudonyms for a summary")
    tap.ok(run("brief", folder / "changes", folder / "one").status == 2, "refused: a comparison among runs")


def check_critical_path(tap, validator, folder):
    """The three kinds of work with the most time, and what a replay without each saves."""
    (folder / "gpu.xplane.pb").write_bytes(make_profile.gpu(steps=4).encode())
    run("report", folder / "gpu.xplane.pb", "-o", folder / "path", "--format", "json", "-q")
    path = json.loads((folder / "path" / "summary.json").read_text(encoding="utf-8"))["critical_path"]
    saved = {row["without"]: row["saved_ps"] for row in path["replay"]["rows"]}
    kinds = sorted(((row["total_ps"], kind) for kind, row in path["by_kind"].items() if row["total_ps"]), key=lambda row: -row[0])
    rows = check(tap, validator, "a run with a critical path", folder / "path").get("critical_path", [])
    tap.ok(kinds and [(row["time_ps"], row["id"]) for row in rows] == kinds[:3] and all(row["saved_ps"] == saved[row["id"]] for row in rows),
           "the critical path is that of the summary", rows, kinds)


def check_cut(tap, validator, folder):
    whole = TINY.read_bytes()
    (folder / "cut.xplane.pb").write_bytes(whole[: len(whole) * 2 // 3])
    brief = check(tap, validator, "a file that is cut short", folder / "cut.xplane.pb", allowed=(4,))
    tap.ok(brief.get("partial") and brief["input"]["damaged_files"] == 1 and brief["missing"], "and it says so")
    tap.ok(run("brief", folder / "cut.xplane.pb", "--strict").status == 3, "--strict refuses it")


def check_batch(tap, validator, folder):
    for job in ("train", "eval"):
        (folder / "in" / job / "2026-11-20").mkdir(parents=True)
        shutil.copy(TINY, folder / "in" / job / "2026-11-20" / "host.xplane.pb")
    run("batch", folder / "in", "-o", folder / "night", "--format", "json", "-q")
    brief = check(tap, validator, "a batch", folder / "night")
    tap.ok(brief.get("kind") == "batch" and brief["counts"]["runs"] == 2, "with its runs", str(brief.get("counts")))
    tap.ok(run("brief", folder / "night", folder / "night").status == 2, "two batches are refused")


def check_hosts(tap, validator, folder):
    """1,000 hosts, a third of them damaged."""
    place = folder / "plugins" / "profile" / "2026_11_20_20_37_30"
    place.mkdir(parents=True)
    whole = TINY.read_bytes()
    for number in range(1000):
        name = f"a-long-name-of-a-host-in-a-large-cluster-{number:04}.example.org"
        (place / f"{name}.xplane.pb").write_bytes(whole if number % 3 else whole[: len(whole) * 2 // 3])
    brief = check(tap, validator, "1,000 hosts", folder, allowed=(4,))
    tap.ok(brief.get("input", {}).get("hosts") == 1000 and brief["left_out"]["missing"] > 300, "what is left out is counted",
           str(brief.get("left_out")))


def check_catalog(tap, validator):
    paths = sorted(p for pattern in FOLDERS for p in TRACES.glob(pattern))
    for path in paths:
        check(tap, validator, str(path.relative_to(TRACES)), path, allowed=(0, 3, 4))
    if not paths:
        tap.skip("real profiles", "no $TM_SHARED")


def main():
    tap = Tap()
    validator = validator_of(tap, "brief")
    for each in (check_forms, check_critical_path, check_cut, check_batch, check_hosts):
        with Scratch() as folder:
            each(tap, validator, folder)
    with Scratch() as folder:
        run("brief", DEMO, cwd=folder)
        tap.ok(not list(folder.iterdir()), "nothing is left on disk")
    check_catalog(tap, validator)
    tap.done()


if __name__ == "__main__":
    main()
