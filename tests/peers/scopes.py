#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Scopes and annotations against a slow calculation of their own from the raw JSON, and layers against generated truth.

    scopes.py [--case PATTERN]

Paths are taken apart with regular expressions, self times by looking at every span around a span, annotations by
asking of every launch in which of them it lies.  Without $TM_SHARED every case is skipped.
"""

import argparse
import json
import re
import sys
from collections import Counter, defaultdict
from decimal import ROUND_HALF_UP, Decimal
from fnmatch import fnmatchcase
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from chrome_json import content_of, document_of  # noqa: E402
from differences import Differences  # noqa: E402
from made import GENERATOR, run_generator  # noqa: E402
from slow_clock import own_times  # noqa: E402
from tap import Tap  # noqa: E402
from tracemill import SHARED, Scratch, summary_of  # noqa: E402

TRACES = SHARED / "traces"
ROWS = "2000"

# --- paths ----------------------------------------------------------------------------------------------------

TRANSFORM = re.compile(r"^(jit|pjit|pmap|vmap|jvp|transpose|checkpoint|remat|shard_map)\((.*)\)$")
STRUCTURE = re.compile(r"^(closed_call|checkpoint|remat2?|rematted_computation|shard_map|custom_[jv]vp_call\w*|~)$")


def scopes_of(path):
    """The names of the scopes, and the pass.  For paths without brackets in names."""
    path = path.split(";jit(")[0]
    backward, forward = "transpose(" in path, "jvp(" in path
    path = re.sub(r"(^|/)jit\(main\)(?=/)", "", path)
    path = re.sub(r"/while/(body|cond)(?=/)|/cond/branch_\w+(?=/)", "", path)
    names, parts = [], path.split("/")
    for i, part in enumerate(parts):
        name, wrapped = part, False
        while TRANSFORM.match(name):
            name, wrapped = TRANSFORM.match(name).group(2), True
        last = i == len(parts) - 1
        if name and not (last and not wrapped) and not STRUCTURE.match(name):
            names.append(name)
    return names, "backward" if backward else "forward" if forward else "other"


def tree_of(times):
    """(path, pass) -> [count, self, total].  times: (path of an op or None, picoseconds)."""
    tree = defaultdict(lambda: [0, 0, 0])
    for path, ps in times:
        names, which = scopes_of(path) if path else ([], "")
        for depth in range(1, len(names) + 1):
            node = tree["/".join(names[:depth]), which]
            node[0] += 1
            node[1] += ps if depth == len(names) else 0
            node[2] += ps
    return dict(tree)


def self_times(spans):
    """(begin, end, what) of one line -> (what, time without the spans directly in it)."""
    spans = sorted(spans, key=lambda s: (s[0], -s[1]))
    inner, stack = Counter(), []
    for i, (begin, end, _) in enumerate(spans):
        while stack and spans[stack[-1]][1] <= begin:
            stack.pop()
        if stack:
            inner[stack[-1]] += min(end, spans[stack[-1]][1]) - begin
        stack.append(i)
    return [(what, end - begin - inner[i]) for i, (begin, end, what) in enumerate(spans)]


def exact_ps(microseconds):
    ps = int(Decimal(microseconds).scaleb(6).to_integral_value(ROUND_HALF_UP))
    return 0 if ps == 1 else ps  # 1e-06 us is how nothing is written


def compare_tree(d, want, summary):
    got = {(r["path"], r["pass"]): [r["count"], r["self_ps"], r["total_ps"]] for r in summary["scopes"]["rows"]}
    for key in sorted(set(want) | set(got)):
        d.equal(f"scopes {key}", want.get(key), got.get(key))
    d.equal("scopes.rest.rows", 0, summary["scopes"]["rest"]["rows"])
    d.equal("scopes.self_ps", sum(n[1] for n in want.values()), summary["scopes"]["self_ps"])
    depths = [r["depth"] for r in summary["scopes"]["rows"]]
    d.equal("depths are those of a tree", True, all(b <= a + 1 for a, b in zip([-1] + depths, depths)))


def compare_tpu(d, path, summary):
    _, events = document_of(content_of(path))
    lines = {(e["pid"], e.get("tid")) for e in events if e.get("ph") == "M" and e["name"] == "thread_name"
             and e["args"]["name"] == "XLA Ops"}
    spans = defaultdict(list)
    for e in events:
        line = (e.get("pid"), e.get("tid"))
        if e.get("ph") == "X" and line in lines:
            args = e.get("args", {})
            begin, length = own_times(args)  # every op of these files has them: no recorded time is needed
            spans[line].append((begin, begin + length, args.get("tf_op", "").rstrip(":")))
    times = [t for line in spans.values() for t in self_times(line)]
    tree = tree_of(times)
    compare_tree(d, tree, summary)
    unscoped = [ps for path, ps in times if not path or not scopes_of(path)[0]]
    d.equal("scopes.unscoped.count", len(unscoped), summary["scopes"]["unscoped"]["count"])
    d.equal("scopes.unscoped.self_ps", sum(unscoped), summary["scopes"]["unscoped"]["self_ps"])


# --- annotations ----------------------------------------------------------------------------------------------

MARKED = re.compile(r"^ProfilerStep#\d+$")
NOT_THE_USERS = re.compile(r"enumerate\(DataLoader\)|dataloader|data_load|next_batch|training_batch|"
                           r"prefetch", re.IGNORECASE)
DRIVER = ("cuda_runtime", "cuda_driver", "Runtime")
DEVICE = ("kernel", "Kernel", "gpu_memcpy", "Memcpy", "gpu_memset", "Memset")


def annotations_of(spans, launches):
    """path -> [count, host, self, device, activities].
    in: spans  (begin, end, name) by thread; launches  (begin, length of the activity) by thread"""
    found = defaultdict(lambda: [0, 0, 0, 0, 0])
    for thread, mine in spans.items():
        mine = sorted(mine, key=lambda s: (s[0], -s[1]))
        paths, inner = [], Counter()
        for i, (begin, end, name) in enumerate(mine):
            around = next((k for k in range(i - 1, -1, -1) if mine[k][1] > begin), None)
            paths.append(name if around is None else f"{paths[around]}/{name}")
            if around is not None:
                inner[around] += min(end, mine[around][1]) - begin
        for i, (begin, end, _) in enumerate(mine):
            inside = [length for moment, length in launches.get(thread, ()) if begin <= moment < end]
            row = found[paths[i]]
            for k, more in enumerate((1, end - begin, end - begin - inner[i], sum(inside), len(inside))):
                row[k] += more
    return dict(found)


def compare_annotations(d, want, summary):
    rows = summary["scopes"]["annotations"]
    launched = any(row[4] for row in want.values())
    got = {r["path"]: [r["count"], r["host_ps"], r["host_self_ps"], r["device_ps"], r["activities"]] for r in rows or []}
    for path in sorted(set(want) | set(got)):
        row = want.get(path)
        if row and not launched:
            row = row[:3] + [None, None]
        d.equal(f"annotation {path}", row, got.get(path))


def compare_pytorch(d, path, summary):
    _, events = document_of(content_of(path))
    calls = {e["args"]["correlation"]: ((e["pid"], e["tid"]), exact_ps(e["ts"])) for e in events
             if e.get("cat") in DRIVER and "correlation" in e.get("args", {})}
    spans, launches = defaultdict(list), defaultdict(list)
    for e in events:
        begin = exact_ps(e["ts"]) if e.get("ph") == "X" else 0
        end = begin + exact_ps(e["dur"]) if e.get("ph") == "X" else 0
        if e.get("cat") == "user_annotation" and not MARKED.match(e["name"]) and not NOT_THE_USERS.search(e["name"]):
            spans[e["pid"], e["tid"]].append((begin, end, e["name"]))
        if e.get("cat") in DEVICE and e["args"].get("correlation") in calls:
            thread, moment = calls[e["args"]["correlation"]]
            launches[thread].append((moment, end - begin))
    compare_annotations(d, annotations_of(spans, launches), summary)


def compare_jax_cpu(d, path, summary):
    """The programs of this folder annotate with these names; a CPU's launches are not told."""
    _, events = document_of(content_of(path))
    spans = defaultdict(list)
    for e in events:
        if e.get("ph") == "X" and e["name"] in ("data_loading", "to_host"):
            begin = exact_ps(e["ts"])
            spans[e["pid"], e["tid"]].append((begin, begin + exact_ps(e["dur"]), e["name"]))
    compare_annotations(d, annotations_of(spans, {}), summary)


# --- generated profiles ---------------------------------------------------------------------------------------

def compare_layers(d, truth, summary):
    """Layers by pass of all devices; '-' is what is in no layer."""
    want, got = Counter(), Counter()
    for host in truth["hosts"]:
        for device in host["devices"]:
            want.update(device["scopes_total_ps"])
    for row in summary["scopes"]["layers"]:
        for which in ("forward", "backward", "other"):
            got[f"{row['layer']}/{which}"] += row[f"{which}_ps"]
    scopes = summary["scopes"]
    got["-/other"] = scopes["self_ps"] + scopes["unscoped"]["self_ps"] - sum(got.values())
    for key in sorted(set(want) | set(got)):
        d.equal(key, want[key], got[key])


def run_generated(tap, name, options):
    with Scratch() as folder:
        prefix = Path(folder) / "made"
        made = run_generator(prefix, "--events", 20000, "--quiet", *options)
        if made.returncode:
            tap.skip(name, made.stderr.strip().splitlines()[-1] if made.stderr else "cannot be generated")
            return
        result, summary = summary_of(Path(f"{prefix}.xplane.pb"), folder, "--rows", ROWS, "--steps", "all")
        truth = json.loads(Path(f"{prefix}.truth.json").read_text())
    finish(tap, name, result, summary, compare_layers, truth)


# --- running --------------------------------------------------------------------------------------------------

def finish(tap, name, result, summary, compare, source):
    if summary is None or result.crashed:
        tap.ok(False, name, f"report ended with {result}")
        return
    d = Differences(name)
    d.part(compare, source, summary)
    d.tell(tap, f"{name}: {d.compared} figures")


def run_real(tap, name, compare, path):
    with Scratch() as folder:
        result, summary = summary_of(path, folder, "--rows", ROWS, "--steps", "all")
    finish(tap, name, result, summary, compare, path)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--case", default="*", metavar="PATTERN", help="only these cases")
    options = parser.parse_args()
    tap = Tap()
    real = [(compare_tpu, TRACES / "jax-json" / "vllm-tpu.trace.json.gz")]
    real += [(compare_pytorch, p) for p in sorted((TRACES / "kineto").glob("*")) if "mtia" not in p.name]
    real += [(compare_jax_cpu, p) for p in sorted((TRACES / "logdir").glob("*/plugins/profile/*/vm.trace.json.gz"))]
    made = {"gpu": ["--devices", "2", "--hlo"], "gpu, collectives": ["--scenario", "comm", "--devices", "2"],
            "tpu": ["--platform", "tpu", "--devices", "2", "--hlo"]}
    for compare, path in real:
        name = f"{path.parents[3].name}/{path.name}" if "logdir" in path.parts else path.name
        if not fnmatchcase(name, options.case):
            continue
        if path.exists():
            run_real(tap, name, compare, path)
        else:
            tap.skip(name, f"there is no {path}")
    for name, arguments in made.items():
        if not fnmatchcase(name, options.case):
            continue
        if GENERATOR.exists():
            run_generated(tap, name, arguments)
        else:
            tap.skip(name, f"there is no {GENERATOR}")
    tap.done()


if __name__ == "__main__":
    main()
