#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Collectives of several devices against a slow calculation of its own, in whole picoseconds.

    skew.py [--case PATTERN]

Late arrivals of ranks that are one run, whose the exposed time of each device is, and what of it is waiting for a late
rank and what moving data, from the raw JSON after the definitions of docs/metrics.md.  Ranks by a generator here; PyTorch's profiles and the ranks of one Megatron job of
$TM_SHARED, and profiles of its generator with their truth.  Without the folder these are skipped.
"""

import argparse
import gzip
import json
import random
import re
import sys
from collections import Counter, defaultdict
from decimal import Decimal
from fnmatch import fnmatchcase
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from made import GENERATOR, run_generator  # noqa: E402
from tap import Tap  # noqa: E402
from tracemill import SHARED, Scratch, summary_of  # noqa: E402

KINETO = SHARED / "traces" / "kineto"
MEGATRON = "astra-sim-workload-megatron-tp8-megatron_kineto_*.json"
REAL = ("holistictrac-data-nccl_parser_config-nccl_data.json.gz", "tracelens-traces-mi300-resnet_act_checkpoint.json.gz",
        "tracelens-traces-b200-eager_trace.json.gz", "holistictrac-data-trace_filter-sampled_rank-0.json.gz",
        "holistictrac-data-df_index_resolver-df_index_resolver.json.gz")
GENERATED = {
    "gpu, comm": ["--devices", "2", "--scenario", "comm"],
    "gpu, imbalance": ["--devices", "4", "--scenario", "imbalance"],
    "gpu, four streams and a slow device": ["--devices", "3", "--streams", "4", "--slow-device", "2=1.3"],
    "gpu, asynchronous dispatch": ["--devices", "2", "--scenario", "comm", "--async"],
    "tpu, comm": ["--platform", "tpu", "--devices", "2", "--scenario", "comm", "--async"],
}
COLLECTIVE = re.compile(r"nccl|rccl|all_?reduce|all_?gather|reduce_?scatter|all_?to_?all|cross_device_reduce",
                        re.IGNORECASE)
KINDS = (("reduce-scatter", "reduce_?scatter"), ("all-reduce", "all_?reduce|cross_device_reduce"),
         ("all-gather", "all_?gather"), ("all-to-all", "all_?to_?all"), ("broadcast", "broadcast"),
         ("send-recv", "send|recv"))
TOGETHER = ("all-reduce", "all-gather", "reduce-scatter", "all-to-all")
ELEMENT_BYTES = {"Float": 4, "BFloat16": 2, "Half": 2, "Long": 8, "Int": 4, "Double": 8, "Byte": 1, "Char": 1}
COMPUTE_CATEGORIES = ("kernel", "Kernel", "gpu_memset", "Memset")


def exact_ps(microseconds):
    return int(Decimal(microseconds).scaleb(6))


class Event:
    """A kernel or a memset of a device."""

    def __init__(self, raw):
        args = raw.get("args", {})
        self.name, self.device = raw["name"], args.get("device", 0)
        self.begin = exact_ps(raw["ts"])
        self.end = self.begin + exact_ps(raw.get("dur", 0))
        self.is_collective = raw["cat"].lower() == "kernel" and bool(COLLECTIVE.search(self.name))
        self.operation = args.get("Collective name", "")
        self.group = (args.get("Process Group Name", ""), args.get("Process Group Ranks", ""))
        self.size = args.get("Group size") or None
        elements = max(int(args.get("In msg nelems", 0)), int(args.get("Out msg nelems", 0)))
        self.sequence = args.get("Seq")
        self.bytes = elements * ELEMENT_BYTES.get(args.get("dtype", ""), 0) or None
        self.kind = next((kind for text in (self.operation, self.name) for kind, words in KINDS
                          if re.search(words, text, re.IGNORECASE)), "other")

    def communicator(self):
        """What it is matched by: its number in its group, else its place among those of the same group and message."""
        if not self.operation:
            return self.kind, self.name
        if self.sequence is not None:
            return self.kind, self.operation, str(self.group), "number", self.sequence
        return self.kind, self.operation, str(self.group), None if self.kind == "all-to-all" else self.bytes


def events_of(path):
    opened = gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else open(path, encoding="utf-8")
    with opened as file:
        document = json.load(file, parse_float=Decimal)
    raw = document["traceEvents"] if isinstance(document, dict) else document
    return [Event(e) for e in raw if e.get("ph") == "X" and e.get("cat") in COMPUTE_CATEGORIES]


# --- late arrivals --------------------------------------------------------------------------------------------


def match(ranks):
    """The collectives of several ranks, as lists of (rank, event), and how many have no counterpart."""
    by_communicator, unmatched, instances = defaultdict(lambda: defaultdict(list)), 0, []
    for rank, events in enumerate(ranks):
        for event in (e for e in events if e.is_collective):
            if event.kind == "send-recv":
                unmatched += 1
            else:
                by_communicator[event.communicator()][rank].append(event)
    for members in by_communicator.values():
        shared = Counter(len(events) for events in members.values())
        count = max(shared, key=lambda n: (shared[n], n))
        taken = [rank for rank, events in members.items() if len(events) == count and shared[count] > 1]
        unmatched += sum(len(events) for rank, events in members.items() if rank not in taken)
        for n in range(count if taken else 0):
            instance = [(rank, sorted(members[rank], key=lambda e: (e.begin, -e.end))[n]) for rank in sorted(taken)]
            begin, end = max(e.begin for _, e in instance), min(e.end for _, e in instance)
            if instance[0][1].kind in TOGETHER and begin >= end:
                unmatched += len(instance)
            else:
                instances.append(instance)
    return instances, unmatched


def skew_of(ranks):
    """The figures of collectives.skew."""
    instances, unmatched = match(ranks)
    members = [Counter() for _ in ranks]
    lengths = []
    for instance in instances:
        begins = sorted(e.begin for _, e in instance)
        lengths.append(begins[-1] - begins[0])
        for rank, event in instance:
            member = members[rank]
            member["count"] += 1
            member["late_ps"] += event.begin - begins[0]
            member["late_max_ps"] = max(member["late_max_ps"], event.begin - begins[0])
            member["wait_ps"] += begins[-1] - event.begin
        if begins[-1] > begins[0]:
            last = next(rank for rank, e in instance if e.begin == begins[-1])
            members[last]["last_count"] += 1
            members[last]["alone_ps"] += (begins[-1] - begins[-2]) * (len(begins) - 1)
            for moment, after in zip(sorted(set(begins)), sorted(set(begins))[1:]):
                missing = [rank for rank, e in instance if e.begin > moment]
                waited = (after - moment) * (len(instance) - len(missing))
                for rank in missing:
                    members[rank]["caused_ps"] += waited // len(missing)
                members[last]["caused_ps"] += waited % len(missing)
    waited = sum(m["wait_ps"] for m in members)
    for member, events in zip(members, ranks):
        member["collective_ps"] = sum(e.end - e.begin for e in events if e.is_collective)
        member["caused_pct"] = 100 * member["caused_ps"] / waited if waited else None
    lengths.sort()
    rank_of = lambda pct: lengths[-(-len(lengths) * pct // 100) - 1]  # noqa: E731
    return {"matched": len(instances), "unmatched": unmatched, "late_ps": sum(lengths),
            "wait_ps": sum(m["wait_ps"] for m in members), "max_ps": lengths[-1], "p50_ps": rank_of(50),
            "p95_ps": rank_of(95)}, members


def check_skew(tap, name, paths, folder, *options):
    result, summary = summary_of(paths, folder / "skew", *options)
    if summary is None:
        tap.ok(False, f"{name}: a report is made", result)
        return None
    skew = summary["collectives"]["skew"]
    whole, members = skew_of([events_of(p) for p in paths])
    wrong = [f"{key} is {skew[key]}, not {value}" for key, value in whole.items() if skew[key] != value]
    for row, member in zip(skew["members"], members):
        wrong += [f"{key} of {row['device']} is {row[key]}, not {member[key]}" for key in row
                  if key not in ("device", "why") and row[key] != member[key] and
                  not (key == "caused_pct" and row[key] is not None and abs(row[key] - member[key]) < 1e-9)]
    caused = sum(row["caused_ps"] for row in skew["members"])
    if caused != skew["wait_ps"]:
        wrong.append(f"the devices cause {caused} of {skew['wait_ps']}")
    tap.ok(not wrong and len(skew["members"]) == len(members), f"{name}: late arrivals", *wrong[:8])
    return skew


# --- exposed time ---------------------------------------------------------------------------------------------


def exposed_of(events):
    """(collective, begin, end) of the exposed time of one device, instant by instant."""
    found, owner = [], None
    collectives = sorted((e for e in events if e.is_collective and e.end > e.begin), key=lambda e: (e.begin, -e.end))
    compute = [e for e in events if not e.is_collective and e.end > e.begin]
    borders = sorted({t for e in collectives + compute for t in (e.begin, e.end)})
    begins, ends = defaultdict(list), defaultdict(list)
    for event in collectives + compute:
        begins[event.begin].append(event)
        ends[event.end].append(event)
    running = []
    for begin, end in zip(borders, borders[1:]):
        running = [e for e in running if e.end > begin] + begins[begin]
        now = [e for e in running if e.is_collective]
        if not now:
            continue
        if owner not in now:  # the first to begin, or the one that ends last
            old = [e for e in now if e.begin < begin]
            owner = max(old, key=lambda e: (e.end, -collectives.index(e))) if old else \
                min(now, key=collectives.index)
        if len(now) == len(running):
            found.append((owner, begin, end))
    return found


def exposed_by_row(events):
    rows = Counter()
    for owner, begin, end in exposed_of(events):
        rows[owner.kind, owner.bytes, owner.size] += end - begin
    return rows


PARTS = ("exposed_wait_ps", "exposed_move_ps", "exposed_unmatched_ps")


def split_of(ranks):
    """The exposed time of each rank and of each row as (waiting, moving, without a counterpart)."""
    last = {}
    for instance in match(ranks)[0]:
        for _, event in instance:
            last[event] = max(e.begin for _, e in instance)
    by_rank, by_row = [Counter() for _ in ranks], defaultdict(Counter)
    for rank, events in enumerate(ranks):
        for owner, begin, end in exposed_of(events):
            if owner not in last:
                parts = {"exposed_unmatched_ps": end - begin}
            else:
                border = min(max(last[owner], begin), end)
                parts = {"exposed_wait_ps": border - begin, "exposed_move_ps": end - border}
            for to in (by_rank[rank], by_row[owner.kind, owner.bytes, owner.size]):
                to.update(parts)
    return by_rank, by_row, last


def check_split(tap, name, paths, folder, *options):
    """Of ranks whose profiles are of one device each, all of it chosen."""
    result, summary = summary_of(paths, folder / "split", "--steps", "all", "--rows", "10000", *options)
    if summary is None:
        tap.ok(False, f"{name}: a report is made", result)
        return
    ranks = [events_of(p) for p in paths]
    by_rank, by_row, last = split_of(ranks)
    wrong, rows = [], defaultdict(Counter)
    for device, wanted in zip(summary["devices"], by_rank):
        wrong += [f"{part} of {device['id']} is {device[part]}, not {wanted[part]}" for part in PARTS
                  if (device[part] or 0) != wanted[part]]
        if sum(device[part] or 0 for part in PARTS) != device["exposed_collective_ps"]:
            wrong.append(f"the parts of {device['id']} do not add up")
    for row in summary["collectives"]["rows"]:
        rows[row["kind"], row["message_bytes"], row["group_size"]].update({part: row[part] or 0 for part in PARTS})
        if sum(row[part] or 0 for part in PARTS) != row["exposed_ps"] or row["exposed_ps"] > row["total_ps"]:
            wrong.append(f"the parts of {row['kind']} do not add up")
    wrong += [f"{part} of {key} is {rows[key][part]}, not {by_row[key][part]}" for key in set(rows) | set(by_row)
              for part in PARTS if rows[key][part] != by_row[key][part]]
    for place in (summary["total"], summary["collectives"]["total"]):
        wrong += [f"{part} of all is {place[part]}" for part in PARTS
                  if (place[part] or 0) != sum(r[part] for r in by_rank)]
    moved = defaultdict(list)
    for rank in ranks:
        for event in (e for e in rank if e in last):
            moved[event.kind, event.bytes, event.size].append(max(event.end - last[event], 0))
    for row in summary["collectives"]["rows"]:
        lengths = moved.get((row["kind"], row["message_bytes"], row["group_size"]))
        if not lengths or not row["message_bytes"] or not sum(lengths):
            continue
        rate = len(lengths) * row["message_bytes"] / (sum(lengths) * 1e-12)
        if row["bandwidth_over"] != "moving" or abs(row["algorithm_bandwidth"] - rate) > 1e-9 * rate:
            wrong.append(f"{row['kind']} of {row['message_bytes']}: {row['algorithm_bandwidth']}, not {rate}")
    tap.ok(not wrong, f"{name}: waiting and moving", *wrong[:8])


def check_exposed(tap, name, path, folder):
    result, summary = summary_of(path, folder / "exposed", "--steps", "all", "--rows", "10000")
    if summary is None:
        tap.ok(False, f"{name}: a report is made", result)
        return
    by_device = defaultdict(list)
    for event in events_of(path):
        by_device[event.device].append(event)
    wanted = Counter()
    for events in by_device.values():
        wanted.update(exposed_by_row(events))
    found = Counter()
    for row in summary["collectives"]["rows"]:
        found[row["kind"], row["message_bytes"], row["group_size"]] += row["exposed_ps"]
    wrong = [f"{key}: {found[key]}, not {wanted[key]}" for key in set(found) | set(wanted) if found[key] != wanted[key]]
    tap.ok(not wrong, f"{name}: exposed time by row", *wrong[:8])
    check_sums(tap, name, summary)


def check_sums(tap, name, summary):
    """Rows add up to the devices, and bandwidths to what NCCL's tests call so."""
    collectives = summary["collectives"]
    rows = sum(r["exposed_ps"] for r in collectives["rows"]) + collectives["rest"]["exposed_ps"]
    devices = sum(d["exposed_collective_ps"] for d in summary["devices"])
    tap.ok(rows == collectives["total"]["exposed_ps"] and rows + collectives["outside"]["exposed_ps"] == devices,
           f"{name}: rows add up to the devices", f"{rows} of rows, {devices} of devices")
    wrong = [f"{r['kind']}: {r['exposed_ps']} of {r['total_ps']}" for r in collectives["rows"]
             if r["exposed_ps"] > r["total_ps"]]
    wrong += [f"the parts of {place.get('id') or place.get('kind')}" for place, whole in
              [(d, "exposed_collective_ps") for d in (*summary["devices"], summary["total"])] +
              [(r, "exposed_ps") for r in (*collectives["rows"], *(collectives[k] for k in ("rest", "total", "outside")))]
              if sum(place[part] or 0 for part in PARTS) != place[whole]]
    tap.ok(not wrong, f"{name}: exposed is part of the time, and waiting, moving and the rest of it", *wrong[:4])
    wrong = []
    for row in collectives["rows"]:
        n, rate = row["group_size"], row["algorithm_bandwidth"]
        if rate is None or row["bus_bandwidth"] is None:
            continue
        factor = {"all-reduce": lambda: 2 * (n - 1) / n, "all-gather": lambda: (n - 1) / n,
                  "reduce-scatter": lambda: (n - 1) / n, "all-to-all": lambda: (n - 1) / n}
        bus = rate * factor.get(row["kind"], lambda: 1)()
        right = row["bytes"] / (row["total_ps"] * 1e-12)
        if row["bandwidth_over"] != "duration":
            right = rate  # of matched ones: check_split
        if abs(rate - right) > 1e-9 * right or abs(row["bus_bandwidth"] - bus) > 1e-9 * bus:
            wrong.append(f"{row['kind']} of {row['message_bytes']}: {rate}, {row['bus_bandwidth']}")
    if summary["environment"]["platform"] == "gpu":
        tap.ok(not wrong, f"{name}: bandwidths", *wrong[:4])


# --- made-up ranks --------------------------------------------------------------------------------------------


def make_ranks(folder, seed, count=4, shift_us=0, numbered=False):
    """Ranks of one job that come to their collectives at different times, and leave together.  numbered: with sequence
    numbers, and of rank 2 the profile begins late."""
    numbers = Counter()
    dice, events, now = random.Random(seed), [[] for _ in range(count)], 1_700_000_000_000_000
    groups = [list(range(count)), list(range(count // 2)), list(range(count // 2, count))]
    for i in range(120):
        group, kind = dice.choice(groups), dice.choice(("allreduce", "_allgather_base", "_reduce_scatter_base"))
        arrivals = {rank: now + dice.randrange(0, 400) + (200 if rank == 1 else 0) for rank in group}
        end = max(arrivals.values()) + dice.randrange(20, 90)
        numbers[str(group)] += 1
        for rank, begin in arrivals.items():
            args = {"device": 0, "stream": 20, "Collective name": kind, "In msg nelems": 1 << (16 + i % 3), "dtype": "Float",
                    "Out msg nelems": 1 << 16, "Group size": len(group), "Process Group Name": str(group[0]),
                    "Process Group Ranks": str(group)}
            if numbered:
                args["Seq"] = numbers[str(group)]
                if rank == 2 and i < 25:
                    continue
            events[rank].append({"ph": "X", "cat": "kernel", "name": "ncclDevKernel_Generic", "pid": 0, "tid": 20,
                                 "ts": begin + Decimal(dice.randrange(1000)) / 1000, "dur": end - begin + 1, "args": args})
            events[rank].append({"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7,
                                 "ts": begin + dice.randrange(0, 60), "dur": dice.randrange(5, 50),
                                 "args": {"device": 0, "stream": 7}})
        now = end + dice.randrange(10, 50)
    paths = []
    for rank, own in enumerate(events):
        for event in own:
            event["ts"] = float(event["ts"] + (shift_us if rank else 0))
        path = folder / f"rank{rank}.json"
        path.write_text(json.dumps({"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "NVIDIA A100"}],
                                    "distributedInfo": {"backend": "nccl", "rank": rank, "world_size": count},
                                    "traceEvents": own}), encoding="utf-8")
        paths.append(path)
    return paths


def check_made(tap, folder):
    for seed in (1, 2, 3):
        place = folder / f"made-{seed}"
        place.mkdir()
        paths = make_ranks(place, seed)
        skew = check_skew(tap, f"made-up ranks, seed {seed}", paths, place)
        if skew:
            tap.ok(skew["clock"]["aligned"] is True and skew["straggler"] == "rank1/gpu:0",
                   f"made-up ranks, seed {seed}: rank 1 is the straggler", skew["straggler"], skew["clock"])
        check_split(tap, f"made-up ranks, seed {seed}", paths, place)
        check_split(tap, f"made-up ranks, seed {seed}, little memory", paths, place, "--memory", "32M")
        check_exposed(tap, f"made-up rank, seed {seed}", paths[0], place)
    for seed in (5, 6):
        place = folder / f"numbered-{seed}"
        place.mkdir()
        paths = make_ranks(place, seed, numbered=True)
        skew = check_skew(tap, f"ranks with sequence numbers, seed {seed}", paths, place)
        tap.ok(skew and skew["unmatched"] < 20 and skew["matched"] > 90,
               f"ranks with sequence numbers, seed {seed}: those of the late profile are matched", skew and skew["matched"])
        check_split(tap, f"ranks with sequence numbers, seed {seed}", paths, place)
    place = folder / "shifted"
    place.mkdir()
    _, summary = summary_of(make_ranks(place, 4, shift_us=700_000), place / "out")
    skew = summary and summary["collectives"]["skew"]
    tap.ok(skew and skew["clock"]["aligned"] is True and skew["straggler"] == "rank1/gpu:0" and
           all(row["method"] == "collectives" and abs(row["difference_ps"] + 700_000_000_000) < row["uncertainty_ps"]
               for row in skew["clock"]["list"][1:]),
           "ranks whose clocks differ are aligned by their collectives", skew and skew["clock"])


# --- cases ----------------------------------------------------------------------------------------------------


def check_megatron(tap, folder):
    paths = sorted(KINETO.glob(MEGATRON))
    if len(paths) < 4:
        tap.skip("ranks of a Megatron job", f"no profiles at {KINETO}")
        return
    skew = check_skew(tap, "Megatron, four ranks", paths, folder)
    if skew:
        tap.ok(skew["straggler"] == paths[0].stem + "/gpu:0" and skew["clock"]["aligned"] is True,
               "Megatron: the others wait for rank 0", skew["straggler"], skew["clock"])
        least = min(skew["members"], key=lambda m: m["collective_ps"])
        tap.ok(least["device"] == skew["straggler"], "Megatron: who comes last is the shortest inside", least)
        late = {m["device"].split("/")[0][-1]: round(m["caused_pct"]) for m in skew["members"] if m["caused_pct"] >= 3}
        tap.ok(late == {"0": 77, "2": 18, "3": 5}, "Megatron: three ranks cause 3% of the waiting or more", late)
    check_split(tap, "Megatron, four ranks", paths, folder)
    check_exposed(tap, "Megatron, rank 1", paths[1], folder)


def check_generated(tap, folder, name, options):
    prefix = folder / "t"
    made = run_generator(prefix, "--events", 12000, "--quiet", *options)
    if made.returncode:
        tap.skip(name, made.stderr.strip().splitlines()[-1] if made.stderr else "the generator failed")
        return
    result, summary = summary_of(f"{prefix}.xplane.pb", folder / "out", "--steps", "all")
    if summary is None:
        tap.ok(False, f"{name}: a report is made", result)
        return
    truth = json.loads(Path(f"{prefix}.truth.json").read_text(encoding="utf-8"))
    wanted = [d["collective"]["exposed_ps"] for h in truth["hosts"] for d in h["devices"]]
    tap.ok([d["exposed_collective_ps"] for d in summary["devices"]] == wanted, f"{name}: exposed time of the devices")
    tap.ok(summary["collectives"]["total"]["count"] >= 1 and sum(wanted) ==
           summary["collectives"]["total"]["exposed_ps"], f"{name}: exposed time of all rows")
    check_sums(tap, name, summary)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--case", default="*", metavar="PATTERN")
    pattern = parser.parse_args().case
    tap = Tap()
    with Scratch() as folder:
        if fnmatchcase("made-up", pattern):
            check_made(tap, folder)
        if fnmatchcase("megatron", pattern):
            (folder / "megatron").mkdir()
            check_megatron(tap, folder / "megatron")
        for file in (f for f in REAL if fnmatchcase(f, pattern)):
            (folder / file).mkdir()
            if (KINETO / file).exists():
                check_exposed(tap, file, KINETO / file, folder / file)
            else:
                tap.skip(file, f"no profile at {KINETO}")
        for name, options in GENERATED.items():
            if fnmatchcase(name, pattern) and GENERATOR.exists():
                (folder / name.replace(", ", "-").replace(" ", "-")).mkdir()
                check_generated(tap, folder / name.replace(", ", "-").replace(" ", "-"), name, options)
            elif fnmatchcase(name, pattern):
                tap.skip(name, f"no generator at {GENERATOR}")
    tap.done()


if __name__ == "__main__":
    main()
