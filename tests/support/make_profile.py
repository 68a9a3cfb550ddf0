#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Small profiles as the JAX profiler writes them, and what is true of them.

    make_profile.py gpu|tpu|cpu|hostile OUT.xplane.pb|OUT.trace.json [--seed N] [--steps N] [--devices N] [--host NAME]

Pure Python.  A profile is a Space of planes, lines and events; encode() writes it as XSpace bytes, in any of the
ways that the format allows for the same content (see Encoding), chrome_json() the lossy copy that lies beside them.  truth_of() works its figures out again from the
events by the plainest means, one elementary stretch of time after the other: slow, and unlike the program.
Field numbers: schemas/xplane.proto.
"""

import argparse
import json
import random
import struct
from dataclasses import dataclass, field

NS = 1000  # picoseconds
US = 1000 * NS
MS = 1000 * US
EPOCH_NS = 1_767_225_600_000_000_000  # 2026-01-01, what the made profiles give as their start


# --- the wire -------------------------------------------------------------------------------------------------

def varint(value):
    value &= (1 << 64) - 1  # negative numbers are ten bytes long
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def number(tag, value):
    """An integer field; zero is left out, as the writer does."""
    return varint(tag << 3) + varint(value) if value else b""


def chunk(tag, data):
    if isinstance(data, str):
        data = data.encode("utf-8")
    return varint(tag << 3 | 2) + varint(len(data)) + data


@dataclass
class Encoding:
    """One of the many byte strings for the same profile."""
    metadata_first: bool = False   # tables before lines; the C++ writer does lines first
    text_as_ref: bool = True       # strings as references into the stat names
    shuffle: int = 0               # seed: the events of each line in any order; 0 = sorted
    absolute: bool = False         # lines count from the epoch, not from the profile's start
    line_base_ns: int = 0          # lines begin here, and their events count from it
    split_planes: bool = False     # each plane in two parts of the same name, as in joined files
    split_lines: bool = False      # each line in two parts of the same id
    unknown_fields: bool = False   # fields that no reader knows, in every message


UNKNOWN = chunk(900, b"later") + varint(901 << 3) + varint(7) + varint(902 << 3 | 5) + b"abcd" + \
    varint(903 << 3 | 1) + b"12345678"


@dataclass
class Event:
    name: str
    start_ps: int
    dur_ps: int = 0
    stats: dict = field(default_factory=dict)
    facts: dict = field(default_factory=dict)  # stats of the metadata: constants of all events of this name
    display: str = ""
    what: tuple = ()  # for truth_of: (sort, further facts); not written


@dataclass
class Line:
    id: int
    name: str
    events: list = field(default_factory=list)


@dataclass
class Plane:
    name: str
    id: int = 0
    lines: list = field(default_factory=list)
    stats: dict = field(default_factory=dict)

    def line(self, id, name):
        self.lines.append(Line(id, name))
        return self.lines[-1]


class Tables:
    """Event and stat metadata of one plane, as they are needed."""

    def __init__(self, text_as_ref):
        self.names, self.events, self.text_as_ref = {}, {}, text_as_ref

    def name_id(self, text):
        return self.names.setdefault(text, len(self.names) + 1)

    def event_id(self, event):
        key = (event.name, event.display, tuple(sorted(event.facts.items())))
        return self.events.setdefault(key, len(self.events) + 1)

    def stat(self, name, value):
        out = number(1, self.name_id(name))
        if isinstance(value, float):
            return out + varint(2 << 3 | 1) + struct.pack("<d", value)
        if isinstance(value, bytes):
            return out + chunk(6, value)
        if isinstance(value, str):
            return out + (varint(7 << 3) + varint(self.name_id(value)) if self.text_as_ref else chunk(5, value))
        tag = 4 if value < 0 or value % 2 else 3  # writers use int64 and uint64 for the same stat
        return out + varint(tag << 3) + varint(value)

    def encode(self, extra):
        entries = []
        for (name, display, facts), id in list(self.events.items()):
            value = number(1, id) + chunk(2, name) + (chunk(4, display) if display else b"")
            value += b"".join(chunk(5, self.stat(k, v)) for k, v in facts) + extra
            entries.append(chunk(4, number(1, id) + chunk(2, value)))
        for text, id in self.names.items():
            entries.append(chunk(5, number(1, id) + chunk(2, number(1, id) + chunk(2, text) + extra)))
        return b"".join(entries)


def encode_event(event, base_ns, tables, extra):
    out = number(1, tables.event_id(event)) + number(2, event.start_ps - base_ns * NS) + number(3, event.dur_ps)
    return out + b"".join(chunk(4, tables.stat(k, v) + extra) for k, v in event.stats.items()) + extra


def encode_line(line, how, tables, extra):
    events = list(line.events)
    if how.shuffle:
        random.Random(how.shuffle + line.id).shuffle(events)
    else:
        events.sort(key=lambda e: (e.start_ps, -e.dur_ps))
    half = len(events) // 2
    parts = [events[:half], events[half:]] if how.split_lines else [events]
    base = how.line_base_ns
    stamp = base + (EPOCH_NS if how.absolute else 0)
    for part in parts:
        body = b"".join(chunk(4, encode_event(e, base, tables, extra)) for e in part)
        yield chunk(3, number(1, line.id) + chunk(2, line.name) + number(3, stamp) + body + extra)


def encode_plane(plane, lines, how):
    tables = Tables(how.text_as_ref)
    extra = UNKNOWN if how.unknown_fields else b""
    head = number(1, plane.id) + chunk(2, plane.name)
    body = b"".join(part for line in lines for part in encode_line(line, how, tables, extra))
    stats = b"".join(chunk(6, tables.stat(k, v)) for k, v in plane.stats.items())
    metadata = tables.encode(extra)
    return chunk(1, head + (metadata + body if how.metadata_first else body + metadata) + stats + extra)


@dataclass
class Space:
    planes: list
    host: str = "host0"

    def encode(self, how=None):
        """The XSpace bytes."""
        how = how or Encoding()
        out = []
        for plane in self.planes:
            lines = plane.lines
            if how.split_planes and len(lines) > 1:
                out.append(encode_plane(plane, lines[1:], how))
                lines = lines[:1]
            out.append(encode_plane(plane, lines, how))
        return b"".join(out) + chunk(4, self.host)


# --- the copy for trace viewers -------------------------------------------------------------------------------

NOT_COPIED = ("MemoryAllocation", "MemoryDeallocation")  # events
INTERNAL = ("_r", "program_id")                          # stats


def microseconds(ps):
    """Exact, as the writer prints it: 1234567 -> 1.234567."""
    return f"{ps // US}.{ps % US:06}".rstrip("0").rstrip(".")


def chrome_event(pid, tid, event):
    facts = {**event.facts, **event.stats}
    args = {k: v if isinstance(v, str) else str(v) for k, v in facts.items() if k not in INTERNAL}
    if event.display:
        args["long_name"] = event.name
    text = json.dumps({"name": event.display or event.name, **({"args": args} if args else {})})
    return f'{{"ph":"X","pid":{pid},"tid":{tid},"ts":{microseconds(event.start_ps)},' \
           f'"dur":{microseconds(max(event.dur_ps, 1))},{text[1:]}'


def chrome_json(space):
    """The JSON that the profiler writes beside the XSpace, for the planes of devices that ran and of the host."""
    names, events = [], []
    for plane in space.planes:
        pid = 701 if plane.name == "/host:CPU" else plane.id + 1
        if not plane.lines:
            continue
        names.append(json.dumps({"ph": "M", "pid": pid, "name": "process_name", "args": {"name": plane.name}}))
        for line in plane.lines:
            tid = line.id % (1 << 32)
            names.append(json.dumps({"ph": "M", "pid": pid, "tid": tid, "name": "thread_name", "args": {"name": line.name}}))
            events += [chrome_event(pid, tid, e) for e in line.events if e.name not in NOT_COPIED]
    return ('{"displayTimeUnit":"ns","metadata":{"highres-ticks":true},"traceEvents":['
            + ",".join([*names, *events, "{}"]) + "]}").encode("utf-8")


# --- what runs ------------------------------------------------------------------------------------------------

def environment_planes():
    return [Plane("/host:metadata", stats={"jax_version": "0.10.2", "jaxlib_version": "0.10.2", "process_id": 4242}),
            Plane("Task Environment", stats={"profile_start_time": EPOCH_NS,
                                             "profile_stop_time": EPOCH_NS + 2_000_000_000})]


def markers(python, dice, steps, length_us):
    """Step markers with a data loader inside, on the line `python`; a compilation before them and one inside."""
    python.events.append(Event("backend_compile_and_load", 2 * MS, 30 * MS, what=("compile", None)))
    begin = 40 * MS
    spans = []
    for step in range(steps):
        length = dice.randrange(length_us, 2 * length_us) * US
        spans.append((begin, length))
        python.events.append(Event("train", begin, length, {"_r": 1, "step_num": step}, what=("marker", step)))
        python.events.append(Event("data_loading", begin + 2 * US, length // 16))
        if step == steps // 2:
            python.events.append(Event("backend_compile_and_load", begin + length // 8, length // 8,
                                       what=("compile", step)))
        begin += length + dice.randrange(0, 40) * US
    return spans


KERNELS = ("gemm_fusion_dot_1", "loop_add_fusion", "input_reduce_fusion_2", "transpose_memset_kernel",
           "void cutlass::Kernel2<cutlass_80_tensorop_bf16>(Params)")
COLLECTIVES = ("ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)", "one_shot_all_reduce")
COPIES = {"h2d": ("MemcpyH2D", "pinned", "device"), "d2h": ("MemcpyD2H", "device", "pageable"),
          "d2d": ("MemcpyD2D", "device", "device"), "p2p": ("MemcpyP2P", "device", "device")}


def gpu_activity(dice, device):
    """One piece of device work: (stream, event without its time)."""
    sort = dice.choices(("kernel", "collective", "copy", "memset"), (12, 2, 4, 1))[0]
    if sort == "copy":
        direction = dice.choice(tuple(COPIES))
        name, source, target = COPIES[direction]
        size = dice.choice((4, 4096, 1 << 20, (1 << 20) + 1))
        other = (device + 1) % 8 if direction == "p2p" else device
        details = f"kind_src:{source} kind_dst:{target} size:{size} dest:{other} async:1"
        return dice.choice((14, 16)), Event(name, 0, 0, {"memcpy_details": details}, what=("copy", (direction, size)))
    if sort == "memset":
        return 13, Event("Memset 0", 0, 0, {"Memset_details": "kind:device num_bytes:4096 async:1"},
                         what=("memset", 4096))
    name = dice.choice(KERNELS if sort == "kernel" else COLLECTIVES)
    grid = dice.choice((1, 132))
    details = f"regs:32 static_shared:0 dynamic_shared:1024 grid:{grid},1,1 block:128,1,1 occ_pct:50"
    stats = {"kernel_details": details, "hlo_op": name.split("(")[0], "hlo_module": "jit_train_step", "program_id": 7,
             "name": f"jit(train_step)/{name.split('(')[0]}"}
    return (15 if sort == "collective" else dice.choice((13, 17))), Event(name, 0, 0, stats, what=(sort, None))


def gpu(seed=1, steps=5, devices=2, host="host0", per_step=40):
    """GPUs with several streams that overlap, touch and stand still, launched from one python thread."""
    dice = random.Random(seed)
    python = Line(1, "python")
    spans = markers(python, dice, steps, 900)
    planes, correlation = [], 100
    for d in range(devices):
        lines, free = {}, {}
        for begin, length in spans:
            for launch in sorted(dice.randrange(begin + length // 8, begin + length) for _ in range(per_step)):
                correlation += 1
                stream, event = gpu_activity(dice, d)
                launch = launch // NS * NS
                python.events.append(Event("cuLaunchKernel", launch, dice.randrange(1, 4) * US,
                                           {"correlation_id": correlation, "device_id": d}))
                start = max(launch + dice.randrange(2, 30) * US, free.get(stream, 0))
                event.start_ps, event.dur_ps = start, dice.choice((1, 800, 3000, 17001, 40000)) * NS
                event.stats["correlation_id"] = correlation
                free[stream] = start + event.dur_ps
                lines.setdefault(stream, Line(stream, f"Stream #{stream}(Compute)")).events.append(event)
        planes.append(Plane(f"/device:GPU:{d}", d, list(lines.values()),
                            {"device_vendor": "Nvidia", "core_count": 132, "memory_size": 80 << 30}))
    planes.append(Plane(f"/device:GPU:{devices}", devices, [], {"device_vendor": "Nvidia"}))  # never used
    threads = [python, allocations(dice, spans, devices)]
    return Space(planes + [Plane("/host:CPU", lines=threads)] + environment_planes(), host)


def allocations(dice, spans, devices):
    line = Line(77, "py_xla_execute/77")
    held, peak, capacity = [0] * devices, [0] * devices, 80 << 30
    for begin, length in spans:
        for d in range(devices):
            for k in range(3):
                size = dice.randrange(1, 4096) * 256
                sign = -1 if held[d] > size and dice.random() < 0.4 else 1
                held[d] += sign * size
                peak[d] = max(peak[d], held[d])
                line.events.append(Event(
                    "MemoryAllocation" if sign > 0 else "MemoryDeallocation", begin + length * (k * devices + d) // 16,
                    0, {"allocator_name": f"GPU_{d}_bfc", "bytes_reserved": 0, "bytes_allocated": held[d],
                        "bytes_available": capacity - held[d], "fragmentation": 0.25, "peak_bytes_in_use": peak[d],
                        "requested_bytes": size, "allocation_bytes": size, "addr": 4096 * (k + 1)},
                    what=("memory", (d, sign, size, held[d], peak[d], capacity))))
    return line


TPU_OPS = (
    ("%fusion.{i} = f32[128,256]{{1,0}} fusion(f32[128,256]{{1,0}} %p.0), kind=kLoop", "loop fusion", "kernel"),
    ("%dot.{i} = bf16[128,128]{{1,0}} dot(bf16[128,64]{{1,0}} %a.1, bf16[64,128]{{1,0}} %b.2)", "convolution", "kernel"),
    ("%all-reduce.{i} = f32[1024]{{0}} all-reduce(f32[1024]{{0}} %fusion.3), replica_groups={{}}", "all-reduce",
     "collective"),
    ("%copy-done.{i} = f32[64]{{0}} copy-done((f32[64]{{0}}, u32[]) %copy-start.{i})", "copy-done", "wait_copy"),
    ("%all-gather-done.{i} = f32[64]{{0}} all-gather-done((f32[8]{{0}}, f32[64]{{0}}) %all-gather-start.{i})",
     "all-gather-done", "wait_collective"),
    ("%infeed.{i} = (f32[64]{{0}}, token[]) infeed(token[] %after-all.1)", "infeed", "wait_host"),
)


def tpu(seed=1, steps=5, devices=2, host="host0", per_step=40):
    """TPU cores: one line of ops in order, times that are no whole nanoseconds, executions of one module."""
    dice = random.Random(seed)
    python = Line(1, "python")
    spans = markers(python, dice, steps, 900)
    planes = []
    for d in range(devices):
        plane = Plane(f"/device:TPU:{d}", d, stats={"device_type_string": "TPU v6 lite"})
        modules, ops = plane.line(2, "XLA Modules"), plane.line(3, "XLA Ops")
        at = 0
        for step, (begin, length) in enumerate(spans):
            at = max(at, begin + length // 4)
            first = at
            for _ in range(per_step):
                at += dice.choice((0, 0, 1, 999, 123_457))
                text, category, sort = dice.choice(TPU_OPS)
                i = dice.randrange(1, 4)
                name = text.format(i=i)
                event = Event(name, at, dice.randrange(1, 20 * US), {},
                              {"hlo_category": category, "program_id": 9}, name[1:name.index(" ")], (sort, None))
                ops.events.append(event)
                at += event.dur_ps
            modules.events.append(Event("jit_train_step(9)", first, at - first, {"run_id": 1000 + step}))
            python.events.append(Event("DoEnqueueProgram", begin + length // 6, 5 * US,
                                       {"run_id": 1000 + step, "device_ordinal": d}))
        planes.append(plane)
    return Space(planes + [Plane("/host:CPU", lines=[python])] + environment_planes(), host)


def cpu(seed=1, steps=5, devices=1, host="host0", per_step=40):
    """A CPU-only run: the ops lie on the threads of the host."""
    del devices
    dice = random.Random(seed)
    python = Line(1, "python")
    spans = markers(python, dice, steps, 900)
    threads = [Line(-1000 - t, f"tf_XLAEigen/{-1000 - t}") for t in range(2)]
    for step, (begin, length) in enumerate(spans):
        for thread in threads:
            at = begin + length // 4
            for _ in range(per_step // 2):
                at += dice.choice((0, 1, 3000)) * NS
                op = dice.choice(("dot.1", "broadcast_add_fusion", "reduce.2"))
                event = Event(op, at, dice.choice((1, 500, 9000, 14001)) * NS,
                              {"hlo_op": op, "hlo_module": "jit_train_step", "program_id": 8, "run_id": 500 + step,
                               "device_ordinal": 0}, what=("kernel", None))
                at += event.dur_ps
                thread.events.append(event)
                thread.events.append(Event(f"end: {op}", at, 0))
            assert at < begin + length, "an op past its step: make the steps longer"
    return Space([Plane("/host:CPU", lines=[python] + threads)] + environment_planes(), host)


# --- what is true of it ---------------------------------------------------------------------------------------

SORTS = ("kernel", "memset", "collective", "copy", "wait_copy", "wait_collective")
ORDER = ("compute", "collective", "h2d", "d2h", "p2p", "d2d", "other")


def level_of(event):
    sort, fact = event.what
    if sort in ("kernel", "memset"):
        return "compute"
    if sort in ("collective", "wait_collective"):
        return "collective"
    return fact[0] if sort == "copy" else "other"


def stretches(events, cut):
    """Elementary stretches of time between all begins and ends: (begin, end, levels that run in it)."""
    spans = [(e.start_ps, e.start_ps + e.dur_ps, level_of(e)) for e in events]
    edges = sorted({t for b, e, _ in spans for t in (b, e)} | set(cut))
    ordered = sorted(spans)
    running, k = [], 0
    for begin, end in zip(edges, edges[1:]):
        while k < len(ordered) and ordered[k][0] <= begin:
            running.append(ordered[k])
            k += 1
        running = [s for s in running if s[1] > begin]
        yield begin, end, {s[2] for s in running}


def busy_within(events, begin, end):
    return sum(e - b for b, e, levels in stretches(events, (begin, end)) if levels and begin <= b and e <= end)


def gaps_of(parts):
    """Lengths of the maximal idle stretches."""
    gaps, open_since = [], None
    for begin, end, levels in parts:
        if not levels and open_since is None:
            open_since = begin
        elif levels and open_since is not None:
            gaps.append((open_since, begin - open_since))
            open_since = None
    return gaps + ([(open_since, end - open_since)] if open_since is not None else [])


def extent(events):
    return min(e.start_ps for e in events), max(e.start_ps + e.dur_ps for e in events)


def overlap(a, b):
    """Extents that overlap by half or more of the shorter one: devices that are active at the same time."""
    return 2 * (min(a[1], b[1]) - max(a[0], b[0])) >= min(a[1] - a[0], b[1] - b[0])


def device_truth(events, every):
    """In the window of the devices that are active at the same time.  every: the extents of all devices"""
    first, last = extent(events)
    group, before = [(first, last)], 0
    while len(group) > before:
        before = len(group)
        group = [e for e in every if any(overlap(e, other) for other in group)]
    window = min(e[0] for e in group), max(e[1] for e in group)
    parts = list(stretches(events, window))
    time = dict.fromkeys(ORDER, 0)
    present = dict.fromkeys(ORDER, 0)
    for begin, end, levels in parts:
        for level in levels:
            present[level] += end - begin
        if levels:
            time[min(levels, key=ORDER.index)] += end - begin
    copy_ps = sum(e - b for b, e, levels in parts if levels - {"compute", "collective"})
    busy = sum(time.values())
    gaps = gaps_of(parts)
    return {
        "first_ps": first, "last_ps": last, "busy_ps": busy, "idle_ps": window[1] - window[0] - busy,
        "compute_ps": time["compute"], "collective_ps": present["collective"],
        "exposed_collective_ps": time["collective"], "copy_ps": copy_ps,
        "exposed_copy_ps": sum(time[d] for d in ORDER[2:]),
        "exposed_by_direction_ps": {d: time[d] for d in ORDER[2:]},
        "gap_count": len(gaps), "longest": sorted((g[1] for g in gaps), reverse=True)[:20],
        "activities": len(events),
    }


def truth_of(space):
    """Figures by device name, and those of the host.  Times are picoseconds after the profile's start."""
    devices, host = {}, {"compiles": [], "markers": []}
    works = [[e for line in plane.lines for e in line.events if e.what and e.what[0] in SORTS] for plane in space.planes]
    extents = [extent(work) for work in works if work]
    for plane, work in zip(space.planes, works):
        every = [e for line in plane.lines for e in line.events if e.what]
        if work:
            devices[plane.name] = device_truth(work, extents)
            devices[plane.name]["kernels"] = kernel_truth(work)
            devices[plane.name]["copies"] = copy_truth(work)
        host["compiles"] += [(e.start_ps, e.dur_ps, e.what[1]) for e in every if e.what[0] == "compile"]
        host["markers"] += [(e.what[1], e.start_ps, e.dur_ps) for e in every if e.what[0] == "marker"]
    return {"devices": devices, "compiles": sorted(host["compiles"]), "markers": sorted(host["markers"]),
            "memory": memory_truth(space), "events": sum(len(line.events) for p in space.planes for line in p.lines)}


def kernel_truth(events):
    """By name: count, total, shortest, longest, sum of squares."""
    table = {}
    for e in events:
        if e.what[0] in ("kernel", "collective"):
            table.setdefault(e.name, []).append(e.dur_ps)
    return {name: (len(d), sum(d), min(d), max(d), sum(v * v for v in d)) for name, d in table.items()}


def copy_truth(events):
    """By direction: count, bytes, total."""
    table = {}
    for e in events:
        if e.what[0] == "copy":
            direction, size = e.what[1]
            count, total_bytes, total = table.get(direction, (0, 0, 0))
            table[direction] = (count + 1, total_bytes + size, total + e.dur_ps)
    return table


def memory_truth(space):
    table = {}
    for plane in space.planes:
        for line in plane.lines:
            for e in line.events:
                if e.what and e.what[0] == "memory":
                    d, sign, size, held, peak, capacity = e.what[1]
                    row = table.setdefault(f"GPU_{d}_bfc", {"allocations": 0, "deallocations": 0, "allocated_bytes": 0,
                                                            "peak_bytes": 0, "capacity_bytes": capacity})
                    row["allocations" if sign > 0 else "deallocations"] += 1
                    row["allocated_bytes"] += size if sign > 0 else 0
                    row["peak_bytes"] = max(row["peak_bytes"], held)
                    row["lifetime_peak_bytes"] = max(row.get("lifetime_peak_bytes", 0), peak)
    return table


HOSTILE_NAMES = (
    "<script>document.title='owned'</script>", "</script><script>document.title='owned'</script>",
    "<img src=x onerror=document.title='owned'>", "]]></style><b>", "a&amp;b &lt;c", "quote\"s 'and' `ticks`",
    "\u202ereversed\u202c", "line\nbreak\ttab\rreturn", "null\x00byte \x1b[31mred\x07", "\u2028separator", "k" * 5000,
    "../../etc/passwd", "%s%n%d", "名前 ядро 🚀", "=cmd()", "javascript:alert(1)",
)


def hostile(seed=1, steps=5, devices=1, host="<b>host</b>", per_step=60):
    """A GPU profile whose names mean harm: to a page, a terminal, a path or a format."""
    dice = random.Random(seed)
    space = gpu(seed, steps, devices, host, per_step)
    for plane in space.planes:
        for line in plane.lines:
            for event in line.events:
                if event.what and event.what[0] == "kernel" or event.name == "data_loading":
                    event.name = dice.choice(HOSTILE_NAMES)
                    if "name" in event.stats:
                        event.stats["name"] = dice.choice(HOSTILE_NAMES)
    return space


MAKERS = {"gpu": gpu, "tpu": tpu, "cpu": cpu}
ALL_MAKERS = {**MAKERS, "hostile": hostile}


def write_all(folder, seed):
    """One profile of each maker into a folder.  out: name -> path"""
    paths = {name: folder / f"{name}.xplane.pb" for name in ALL_MAKERS}
    for name, path in paths.items():
        path.write_bytes(ALL_MAKERS[name](seed=seed).encode())
    return paths


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("kind", choices=ALL_MAKERS)
    parser.add_argument("out")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--steps", type=int, default=5)
    parser.add_argument("--devices", type=int, default=2)
    parser.add_argument("--per-step", type=int, default=40, help="activities in a step and device")
    parser.add_argument("--host", default="host0", help="not used for `hostile`")
    options = parser.parse_args()
    more = {} if options.kind == "hostile" else {"host": options.host}
    space = ALL_MAKERS[options.kind](seed=options.seed, steps=options.steps, devices=options.devices,
                                     per_step=options.per_step, **more)
    with open(options.out, "wb") as file:
        file.write(chrome_json(space) if options.out.endswith(".json") else space.encode())


if __name__ == "__main__":
    main()
