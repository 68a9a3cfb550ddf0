#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Real runs whose story is known: what their report says first, and what it must not say.

    named_runs.py [--case PATTERN] [--list]

The story comes from how a run was made (a loop that sleeps while it loads, a step that compiles each time), from who
published it (one late rank of four), or from the model that ran: its layers, its width, how many devices share it.  A
row of FACTS is one thing that somebody who knows the run expects.  Without $TM_SHARED: skipped.
"""

import argparse
import re
import sys
from fnmatch import fnmatchcase
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from findings import about_the_run, first_by_stake, problems_of  # noqa: E402
from tap import Tap  # noqa: E402
from tracemill import SHARED, Scratch, summary_of  # noqa: E402

TRACES = SHARED / "traces"
QWEN = "kineto/tracelens-traces-{}-Qwen_Qwen1.5-0.5B-Chat__1016005.json.gz"
RUNS = {
    "train": ["logdir/train"],
    "stall": ["logdir/stall"],
    "unfused": ["logdir/unfused"],
    "compile": ["logdir/compile"],
    "pmap": ["logdir/pmap"],
    "megatron": [f"kineto/astra-sim-workload-megatron-tp8-megatron_kineto_{rank}.json" for rank in range(4)],
    "resnet50-no-workers": ["kineto/kineto-samples-resnet50_num_workers_0-worker0.1623143566756.pt.trace.json.gz"],
    "linear": ["kineto/param-tests-inputs-linear_kineto.json.gz"],
    "vllm-tpu": ["jax-json/vllm-tpu.trace.json.gz"],
    "v6e": ["xspace/xprof-tpu-v6e-inference.xplane.pb"],
    "qwen-h100": [QWEN.format("h100")],
    "qwen-mi300": [QWEN.format("mi300")],
}
MIB = 1 << 20


# --- what can be asked ----------------------------------------------------------------------------------------

def first(*ids):
    """One of these is the first finding about the run, and no mere remark."""
    def ask(summary):
        found = first_by_stake(about_the_run(summary["findings"]))
        return found and found["id"] in ids and found["severity"] != "info" or f"first is {found and found['id']}"
    return f"{' or '.join(ids)} is first", ask


def raised(least, *ids):
    """One of these is among the findings, of this severity or worse."""
    worse = ("info", "warning", "critical")

    def ask(summary):
        found = {f["id"]: f["severity"] for f in summary["findings"] if f["id"] in ids}
        return any(worse.index(s) >= worse.index(least) for s in found.values()) or f"there: {found}"
    return f"{' or '.join(ids)} is a {least}", ask


def nothing_else(*ids):
    """No other finding about the run is bad."""
    def ask(summary):
        others = [f["id"] for f in about_the_run(summary["findings"]) if f["severity"] == "critical" and f["id"] not in ids]
        return not others or f"bad: {others}"
    return f"nothing is bad{' but ' + ', '.join(ids) if ids else ''}", ask


def never(pattern):
    """No finding of an id like this."""
    def ask(summary):
        found = [f["id"] for f in summary["findings"] if re.search(pattern, f["id"])]
        return not found or f"there: {found}"
    return f"no finding like {pattern}", ask


def figure(what, want, get):
    """A figure of the summary is what is known."""
    def ask(summary):
        got = get(summary)
        return got == want or f"expected {want}, got {got}"
    return what, ask


def holds(what, check):
    """What must be true of the summary; `check` may return what is wrong as a text."""
    return what, lambda summary: check(summary) or "it does not hold"


def device_pct(name):
    return lambda s: 100 * s["total"][name] / s["total"]["window_ps"]


def executions(summary, table, pattern):
    """How often what is named so ran."""
    return sum(r["count"] for r in summary[table]["by_name" if table == "kernels" else "rows"]
               if re.search(pattern, r["name"]))


def share_of(summary, category):
    return next((r["share_pct"] for r in summary["kernels"]["by_category"] if r["category"] == category), 0)


def scope_count(summary, path):
    return next((r["count"] for r in summary["scopes"]["rows"] if r["path"] == path), 0)


def said_of(summary, finding):
    """All that a finding says."""
    found = next((f for f in summary["findings"] if f["id"] == finding), None)
    return " ".join([found["title"], *found["evidence"]]) if found else ""


def text_of(summary):
    return " ".join([summary["verdict"]["text"]] + [" ".join([f["title"], f["cause"], *f["evidence"], *f["fix"]])
                                                     for f in summary["findings"]])


def stake_of(summary, finding):
    return next((f["share_pct"] for f in summary["findings"] if f["id"] == finding), 0)


def is_not_healthy(summary):
    """The verdict does not deny what a finding says is at stake."""
    most = max((f["share_pct"] or 0 for f in about_the_run(summary["findings"])), default=0)
    calm = "no single avoidable loss" in summary["verdict"]["text"]
    return not (calm and most >= 3) or f"'{summary['verdict']['text']}', and {most:.1f}% is at stake"


def no_faster_than(peak):
    """No operation moves more bytes in a second than the memory can."""
    def check(summary):
        odd = [f"{r['name']} {r['bandwidth']:.3g} B/s" for r in summary["ops"]["rows"] if (r["bandwidth"] or 0) > 1.05 * peak]
        return not odd or f"faster: {odd[:4]}"
    return check


def names_of_scopes(summary):
    odd = [r["name"] for r in summary["scopes"]["rows"] if ";" in r["name"]]
    return not odd or f"two paths in one name: {odd}"


# A layer of Qwen runs q, k, v, o, gate, up, down: 7 products; the head is one more.
QWEN_LAYERS = 34  # as many as the flash kernels; the published model has 24: the one that ran is a deeper one
INFERENCE = (never("^collective|straggler|imbalance|slow_device"), never("compile|^idle_input"),
             holds("an inference has no backward pass", lambda s: "backward" not in text_of(s)))
PROCESSES = holds("the verdict does not deny a finding", is_not_healthy)

FACTS = {
    # 20 steps of some 7 ms; drawing the random batch takes 1.2 ms of each, inside the loop: that is input.
    "train": (first("idle_input"), nothing_else("idle_input"), never("^compile|collective|transfer"),
              holds("a fifth is input, not more", lambda s: 15 < stake_of(s, "idle_input") < 25),
              figure("no compile", 0, lambda s: s["compile"]["count"])),
    # the same with time.sleep(0.02) in data_loading: 20 of 25 ms
    "stall": (first("idle_input"), nothing_else("idle_input"),
              holds("four fifths", lambda s: stake_of(s, "idle_input") > 80),
              holds("data_loading is named", lambda s: "data_loading" in said_of(s, "idle_input"))),
    # 17 small programs per step outside of jit (4 x matmul, add, multiply, tanh, and the mean).  The batch that is drawn
    # between costs more: 1.1 of 3.3 ms; so the small programs are told, but not first.  What the host does between them
    # (15.6 % of the time) is told once: 6.3 % are pauses between programs, the rest is Python behind the batch.
    "unfused": (raised("warning", "eager_dispatch"), raised("warning", "idle_host"),
                holds("no pause is counted twice", lambda s: stake_of(s, "eager_dispatch") + stake_of(s, "idle_host") < 15.7),
                nothing_else("idle_input", "idle_host", "eager_dispatch", "op_dominant"),
                holds("the programs of a step are counted", lambda s: "17" in said_of(s, "eager_dispatch"))),
    # another batch size in each of 20 steps
    "compile": (first("compile_in_steps"), figure("20 compiles", 20, lambda s: s["compile"]["inside_steps"]["count"]),
                holds("the module is named", lambda s: "train_step" in said_of(s, "compile_in_steps"))),
    # four CPU devices that average their gradients: the all-reduce of 4 layers, nothing beside it.  Half of it is waiting,
    # for each of them in turn; the all-reduce itself is told apart from that
    "pmap": (raised("critical", "collective_exposed"), raised("critical", "straggler"),
             figure("4 devices", 4, lambda s: len(s["devices"])),
             figure("only all-reduce", ["all-reduce"], lambda s: sorted({r["kind"] for r in s["collectives"]["rows"]})),
             holds("nobody stands out", lambda s: s["collectives"]["skew"]["straggler"] is None and
                   "for each other" in said_of(s, "straggler")),
             holds("waiting and moving are told once", lambda s: stake_of(s, "straggler") + stake_of(s, "collective_exposed")
                   <= device_pct("exposed_collective_ps")(s) + 0.1),
             never("^transfer")),
    # ranks 0 to 3 of 8; rank 0 comes late and waits least: 241 ms in NCCL, the others 413 to 481 ms
    "megatron": (raised("critical", "straggler"),
                 holds("the wait for it is no exposed collective once more", lambda s: stake_of(s, "straggler") +
                       stake_of(s, "collective_exposed") <= device_pct("exposed_collective_ps")(s) + 0.1),
                 holds("the late ranks are named with their shares", lambda s: all(
                     text in said_of(s, "straggler") for text in ("kineto_0/gpu:0 (77.1%)", "kineto_2/gpu:2 (17.5%)",
                                                                  "kineto_3/gpu:3 (4.7%)"))),
                 figure("4 hosts", 4, lambda s: len(s["input"]["hosts"])),
                 holds("one clock", lambda s: s["collectives"]["skew"]["clock"]["aligned"] is True),
                 figure("all of them meet", [84, 0], lambda s: [s["collectives"]["skew"][k] for k in ("matched", "unmatched")]),
                 figure("who waits least", "megatron_kineto_0/gpu:0", lambda s: min(
                     s["collectives"]["skew"]["members"], key=lambda m: m["collective_ps"])["device"].split("tp8-")[-1]),
                 never("kernel_dominant|op_dominant")),  # the all-reduce is told where it belongs
    "resnet50-no-workers": (first("idle_input"), figure("6 steps", 6, lambda s: s["steps"]["count"]),
                            holds("the loader is named", lambda s: "DataLoader" in said_of(s, "idle_input")),
                            holds("convolutions are the most of it", lambda s: share_of(s, "convolution") > 40),
                            never("^collective|straggler")),
    # 8,700 kernels of 43 us: the host cannot launch as fast as they run
    "linear": (first("eager_dispatch"),
               holds("the host's share is over half", lambda s: s["host"]["overhead_pct"] > 50),
               holds("sgemm, so no matrix units", lambda s: executions(s, "kernels", "sgemm") > 2000),
               never("^collective|^transfer|^idle_input|^compile")),
    # Qwen3-32B's shape: 64 layers, 5,120 wide, over 2 cores, 1,024 tokens in bf16
    "vllm-tpu": (figure("2 cores", 2, lambda s: len(s["devices"])),
                 figure("64 layers on each of 2 cores", 2 * 64, lambda s: scope_count(s, "step_fun/MergedColumnParallelLinear")),
                 figure("an all-reduce behind attention, one behind the MLP, one of the embedding", 2 * (2 * 64 + 1),
                        lambda s: s["collectives"]["total"]["count"]),
                 figure("each of 1,024 x 5,120 bf16 over 2 cores", [[10 * MIB, 2]],
                        lambda s: sorted({(r["message_bytes"], r["group_size"]) for r in s["collectives"]["rows"]}) and
                        [list(k) for k in sorted({(r["message_bytes"] or 0, r["group_size"] or 0)
                                                  for r in s["collectives"]["rows"]})]),
                 holds("products are the most of it, then attention", lambda s: share_of(s, "gemm/dot") > 55
                       and 20 < share_of(s, "custom") + share_of(s, "attention") < 35),
                 first("collective_exposed"), nothing_else(), never("straggler|imbalance|^idle_|backward|^transfer"),
                 figure("an inference has no backward pass", 0, lambda s: s["scopes"]["passes"]["backward"]),
                 holds("a scope has one name", names_of_scopes), PROCESSES),
    # a sum of arrays that lie in the host's memory: 5 GiB each way and again, at some 60 GB/s
    "v6e": (first("transfer_h2d"), raised("critical", "transfer_d2h"), nothing_else("transfer_h2d", "transfer_d2h"),
            figure("4 chips", 4, lambda s: len(s["devices"])),
            holds("they compute for 3%", lambda s: 2 < device_pct("compute_ps")(s) < 4),
            holds("nothing is faster than the memory", no_faster_than(1638e9)),
            never("kernel|backward|^compile_in")),
    "qwen-h100": (figure("layers: flash attention", QWEN_LAYERS, lambda s: executions(s, "kernels", "flash_fwd")),
                  figure("products: 7 of a layer, and the head", 7 * QWEN_LAYERS + 1,
                         lambda s: executions(s, "kernels", "sm90_xmma_gemm")),
                  figure("one forward pass", 1, lambda s: s["steps"]["count"]), *INFERENCE,
                  holds("products are 28%, attention 8.5%", lambda s: 25 < share_of(s, "gemm/dot") < 31
                        and 7 < share_of(s, "attention") < 10),
                  # rotary, norms and casts as kernels of their own: what torch.compile would fuse is 60 % of the time
                  first("elementwise_unfused"), PROCESSES),
    "qwen-mi300": (figure("layers: attention", QWEN_LAYERS, lambda s: executions(s, "kernels", "^attn_fwd")),
                   figure("one forward pass", 1, lambda s: s["steps"]["count"]), *INFERENCE,
                   holds("products are 40%, attention 13%", lambda s: 36 < share_of(s, "gemm/dot") < 43
                         and 11 < share_of(s, "attention") < 15),
                   first("elementwise_unfused"), PROCESSES),
}


# --- running --------------------------------------------------------------------------------------------------

def run_case(tap, name, offences):
    paths = [TRACES / path for path in RUNS[name]]
    if not all(path.exists() for path in paths):
        tap.skip(name, f"no {RUNS[name][0]} at {TRACES}")
        return
    with Scratch() as folder:
        result, summary = summary_of(paths, folder)
    if summary is None or result.status != 0:
        tap.ok(False, name, f"report ended with {result}")
        return
    told = "  ".join(f"{f['id']} ({f['severity']}, {f['share_pct'] or 0:.1f}%)" for f in summary["findings"])
    for what, ask in FACTS[name]:
        try:
            answer = ask(summary)
        except (KeyError, TypeError, AttributeError, ValueError) as missing:
            answer = f"{type(missing).__name__}: {missing}"
        tap.ok(answer is True, f"{name}: {what}", answer, f"told: {told}")
    for rule, lines in problems_of(summary).items():
        offences.setdefault(rule, []).extend(f"{name}: {line}" for line in lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--case", default="*", metavar="PATTERN", help="only these runs")
    parser.add_argument("--list", action="store_true", help="name the facts")
    options = parser.parse_args()
    names = [name for name in RUNS if fnmatchcase(name, options.case)]
    if options.list:
        print("\n".join(f"{name}: {what}" for name in names for what, _ in FACTS[name]))
        return
    tap, offences = Tap(), {}
    for name in names:
        run_case(tap, name, offences)
    for rule, lines in offences.items():
        tap.ok(not lines, f"real runs: {rule}", *lines[:20])
    tap.done()


if __name__ == "__main__":
    main()
