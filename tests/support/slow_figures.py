# SPDX-License-Identifier: Apache-2.0
"""A JAX or TensorFlow profile as plain lists, and its figures worked out from them after their definitions
(docs/metrics.md, docs/classes.md) by sorting and sweeping.  Nothing here is shared with the program.

Reads an xplane.pb on the wire (xspace.py) or a trace.json.gz (chrome_json.py).  Everything is in whole picoseconds.
"""

import functools
import re
from collections import defaultdict
from decimal import ROUND_HALF_EVEN, Decimal

from chrome_json import content_of, document_of
from slow_clock import put_on_device_clocks
from slow_time import RANKS, union
from xspace import fields, planes_of, text_of

NOTHING = None  # rank of what takes nobody's time: a wait for the host
COMPUTE, COLLECTIVE_RANK = 0, 1
DEVICE = re.compile(r"^/device:(GPU|TPU):(\d+)$")
HOST = re.compile(r"^/host:CPU$")
DERIVED = re.compile(r"^(Steps|XLA Modules|XLA Ops|Framework |TensorFlow Ops|TensorFlow Name Scope|Launch Stats|Source code)")
DERIVED_IDS = range(0xDEADBEEF, 0xDEADBEEF + 0x10000)
COLLECTIVES = ("all-reduce", "all-gather", "reduce-scatter", "all-to-all", "collective-permute", "collective-broadcast",
               "ragged-all-to-all", "send", "recv")
OP_COLLECTIVE = re.compile(rf"^({'|'.join(COLLECTIVES)})(-start|-done)?(\.[^ ]*)?$")
KERNEL_COLLECTIVE = re.compile(r"nccl|rccl|nvshmem|msccl|all_?reduce|all_?gather|reduce_?scatter|all_?to_?all|"
                               r"cross_device_reduce|multimem", re.IGNORECASE)
COPY = re.compile(r"^Memcpy|^MEMCPY|^CopyHostTo|^CopyDeviceTo|__amd_rocclr_copyBuffer")
MEMSET = re.compile(r"^Memset|__amd_rocclr_fillBuffer")
TO_HOST = re.compile(r"D2H|DtoH|DeviceToHost")
TO_DEVICE = re.compile(r"H2D|HtoD|HostToDevice")
COMPILE = re.compile(r"^backend_compile(_and_load)?$")
MASK = (1 << 64) - 1  # of a program's id, which is written with and without a sign
NO_PATH = "XlaModule:"
HOST_SPACE = "S(5)"  # of a TPU's shape: the host's memory
STEP_STATS = ("_r", "step_num")


class Span:
    """An event.  `stats`: called for the event's statistics, as texts or numbers."""

    __slots__ = ("name", "shown", "begin", "length", "_stats")

    def __init__(self, name, shown, begin, length, stats):
        self.name, self.shown, self.begin, self.length, self._stats = name, shown, begin, length, stats

    @property
    def end(self):
        return self.begin + self.length

    @property
    def stats(self):
        return self._stats()


class Activity:
    """What takes a device's time.  `rank`: its place in the sweep, None where it only waits for the host.  `pieces`: the
    stretches in which nothing that began in it runs; `swept`: those in which nothing that lies in it does, which differ
    where ops overlap without lying in each other (times by a device's clock are whole ticks)."""

    def __init__(self, span, sort, rank, op="", path=""):
        self.name, self.begin, self.length, self.end = span.name, span.begin, span.length, span.end
        self.sort, self.rank, self.op, self.path = sort, rank, op, path
        self.pieces, self.swept = [(span.begin, span.end)], [(span.begin, span.end)]
        self.part = ""  # of an asynchronous operation of a TPU: start, done
        self.span = span

    @property
    def way(self):
        """Of a copy."""
        return RANKS[self.rank]

    @property
    def bytes(self):
        """Of a copy; None where they are not told."""
        told = re.search(r"size:(\d+)", str(self.span.stats.get("memcpy_details", "")))
        return int(told[1]) if told else None

    @property
    def is_kernel(self):
        """What the table of kernels counts."""
        return self.sort not in ("copy", "memset") or "kernel_details" in self.span.stats

    @property
    def op_is_start(self):
        """The begin of an asynchronous operation of a TPU."""
        return self.part == "start"

    @property
    def op_is_wait(self):
        return self.part == "done"

    @property
    def occupancy(self):
        """As it was recorded, in percent; None where it was not."""
        stats = self.span.stats
        told = re.search(r"occ_pct:([\d.]+)", str(stats.get("kernel_details", "")))
        return stats.get("theoretical_occupancy_pct") or (told[1] if told else None)

    @property
    def self_time(self):
        return sum(end - begin for begin, end in self.pieces)


# --- reading --------------------------------------------------------------------------------------------------

def exact_ps(microseconds):
    """The JSON holds doubles of microseconds: the nearest whole picosecond."""
    return int((Decimal(str(microseconds)) * 10**6).to_integral_value(ROUND_HALF_EVEN))


def tracks_of_profile(path):
    """(process, line, line id, spans)"""
    for plane in planes_of(path):
        for line in plane.lines:
            yield plane.name, line.shown or line.name, line.id, [
                Span(e.name, e.label, e.begin, e.length, functools.partial(getattr, e, "stats"))
                for e in line.events if not e.is_aggregated]


def paths_of_programs(path):
    """program id -> instruction -> framework path, out of the programs that the profile holds (xla/service/hlo.proto)."""
    found = {}
    for plane in planes_of(path):
        for key, (name, _) in plane.names.items() if plane.name == "/host:metadata" else ():
            program = re.search(r"\((-?\d+)\)$", name)  # jit_train_step(12)
            for proto in plane.metadata_stats(key).values():
                if program and isinstance(proto, bytes):
                    found[int(program[1]) & MASK] = dict(instructions_of(proto))
    return found


def inside(data, span, number):
    """The messages that a message holds under a number."""
    return [value for n, value in fields(data, *span) if n == number]


def instructions_of(proto):
    """(name, framework path) of every instruction of an HloProto."""
    for module in inside(proto, (0, len(proto)), 1):
        for computation in inside(proto, module, 3):
            for instruction in inside(proto, computation, 2):
                name = "".join(text_of(proto, t) for t in inside(proto, instruction, 1))
                notes = [text for note in inside(proto, instruction, 7) for text in inside(proto, note, 2)]
                if notes:
                    yield name, text_of(proto, notes[-1])


def tracks_of_json(path):
    _, events = document_of(content_of(path))
    names, lines, tracks = {}, {}, defaultdict(list)
    for e in events:
        if e.get("name") == "process_name":
            names[e["pid"]] = e["args"]["name"]
        elif e.get("name") == "thread_name":
            lines[(e["pid"], e["tid"])] = e["args"]["name"]
        elif e.get("ph") == "X":
            length = exact_ps(e.get("dur", 0))
            args = e.get("args") or {}
            text = args.get("long_name") or e["name"]
            tracks[(e["pid"], e["tid"])].append(
                Span(text, e["name"], exact_ps(e["ts"]), 0 if length == 1 else length, lambda a=args: a))
    for (process, line), spans in tracks.items():
        yield names.get(process, ""), lines.get((process, line), ""), line, spans


# --- what an event is -----------------------------------------------------------------------------------------

def is_op_collective(op):
    return bool(OP_COLLECTIVE.match(op.rsplit("/", 1)[-1].replace("_", "-")))


def copy_direction(span, launch):
    """Of a GPU's copy: by its name, by the kinds of memory, or by the call that launched it."""
    stats = span.stats
    for name in (span.name, launch or ""):
        if TO_HOST.search(name):
            return "d2h"
        if TO_DEVICE.search(name):
            return "h2d"
        if re.search(r"P2P|PtoP|Peer", name):
            return "p2p"
        if re.search(r"D2D|DtoD|DeviceToDevice", name):
            return "d2d"
    kinds = dict(re.findall(r"kind_(src|dst):(\w+)", stats.get("memcpy_details", "")))
    if len(kinds) == 2:
        on_host = {side: kind in ("pinned", "pageable") for side, kind in kinds.items()}
        return {(True, False): "h2d", (False, True): "d2h", (False, False): "d2d"}.get(
            (on_host["src"], on_host["dst"]), "other")
    return "other"


def of_gpu(span, launches):
    """An event of a stream as an activity; None where it is a graph's envelope.  A kernel of no operation is named
    after itself."""
    stats = span.stats
    op, path = str(stats.get("hlo_op") or ""), str(stats.get("name") or stats.get("tf_op") or "")
    is_copy = "memcpy_details" in stats or bool(COPY.search(span.name))
    if is_op_collective(op) or (KERNEL_COLLECTIVE.search(span.name) and not is_copy):
        return Activity(span, "collective", COLLECTIVE_RANK, op or span.name, path)
    if is_copy:
        way = copy_direction(span, launches.get(str(stats.get("correlation_id"))))
        return Activity(span, "copy", RANKS.index(way), op, path)
    if MEMSET.search(span.name):
        return Activity(span, "memset", COMPUTE, op, path)
    if "cuda_graph_exec_id" in stats and "kernel_details" not in stats:
        return None
    return Activity(span, "kernel", COMPUTE, op or span.name, path)


def balanced(text):
    """Length of the bracket that a text begins with."""
    depth = 0
    for i, letter in enumerate(text):
        depth += (letter == "(") - (letter == ")")
        if not depth:
            return i + 1
    return len(text)


def opcode_of(text):
    """(opcode, shape of the result, operands) of "%name = shape opcode(operands)"; empty where it is no such text."""
    name, mark, rest = text.partition(" = ")
    if not mark or not name.startswith("%"):
        return "", "", ""
    size = balanced(rest) if rest.startswith("(") else rest.find(" ")
    shape, rest = rest[:size], rest[size:].lstrip()
    opcode, _, operands = rest.partition("(")
    return opcode, shape, operands


def moved_way(shape, operands):
    """Of a copy on a TPU: to or from the host where a side lies in its memory."""
    if shape.startswith("("):  # of a start: (target, source, context)
        sides = re.split(r", (?=\w+\[)", shape[1:])
        target, source = sides[0], sides[1] if len(sides) > 1 else ""
    else:
        target = shape
        sides = re.split(r", (?=\w+\[)", operands[1:]) if operands.startswith("(") else [operands]
        source = sides[1] if len(sides) > 1 else sides[0]
    if HOST_SPACE in target and HOST_SPACE not in source:
        return "d2h"
    if HOST_SPACE in source and HOST_SPACE not in target:
        return "h2d"
    return "d2d"


def of_tpu(span):
    """An event of `XLA Ops`.  Waits and starts belong to what they are for."""
    stats = span.stats
    opcode, shape, operands = opcode_of(span.name)
    category = str(stats.get("hlo_category") or "")
    if not opcode:  # the text is cut
        opcode = category if re.search(r"-(start|done)$", category) or category in COLLECTIVES else ""
    if opcode in ("fusion", "custom-call") and (re.search(r"-(start|done)$", category) or category in COLLECTIVES):
        opcode = category
    path = str(stats.get("tf_op") or "")
    op = span.shown.lstrip("%").partition(" = ")[0]
    base = re.sub(r"-(start|done)$", "", opcode)
    part = opcode[len(base) + 1:]
    if opcode in ("infeed", "outfeed") or "is_host_transfer=true" in span.name:
        return Activity(span, "wait_host", NOTHING, op, path)
    if base == "async":
        is_collective = any(word in span.name for word in COLLECTIVES[:7])
        found = Activity(span, "collective" if is_collective else "copy",
                         COLLECTIVE_RANK if is_collective else RANKS.index("d2d"), op, path)
    elif base in COLLECTIVES:
        found = Activity(span, "collective", COLLECTIVE_RANK, op, path)
        part = part or ("start" if base in ("send", "recv") else "")
    elif part:
        found = Activity(span, "copy", RANKS.index(moved_way(shape, operands)), op, path)
    else:
        found = Activity(span, "op", COMPUTE, op, path)
    found.part = part
    return found


def take_out(pieces, inner):
    begin, end = pieces.pop()
    pieces += [piece for piece in ((begin, inner.begin), (inner.end, end)) if piece[0] < piece[1]] or [(inner.end, inner.end)]


def split_nested(activities):
    """Takes from each activity what those that lie in it take: at every moment the innermost one runs."""
    stack = []
    for a in sorted(activities, key=lambda a: (a.begin, -a.length)):
        while stack and stack[-1].end <= a.begin:
            stack.pop()
        if stack and a.length:
            take_out(stack[-1].pieces, a)
            if a.end <= stack[-1].end:
                take_out(stack[-1].swept, a)
        if a.length:
            stack.append(a)


# --- a run ----------------------------------------------------------------------------------------------------

class Run:
    """One host's profile.  `devices`: id as the summary's, behind the host -> activities in the order of time."""

    def __init__(self, path):
        self.is_json = ".json" in path.name
        self.tracks = list(tracks_of_json(path) if self.is_json else tracks_of_profile(path))
        self.clocks = put_on_device_clocks(self.tracks)
        self.launch_names, self.launches = self._launches()
        self.devices = {}
        self.modules, self.flights = {}, {}  # of a TPU's core: its executions, what is in flight beside it
        for process, line, number, spans in self.tracks:
            match = DEVICE.match(process)
            if match and spans:
                self._add_line(f"{match[1].lower()}:{match[2]}", match[1], line, number, spans)
        if not self.devices:
            self._add_cpu()
        self._add_paths({} if self.is_json else paths_of_programs(path))
        for found in self.devices.values():
            found.sort(key=lambda a: (a.begin, a.end))
        self.steps = self._steps()

    def _host_tracks(self):
        return [track for track in self.tracks if HOST.match(track[0])]

    def _launches(self):
        """Correlation id -> the name of the call on the host, its begin, and (begin, end)."""
        names, begins, self.calls = {}, {}, {}
        for _, _, _, spans in self._host_tracks():
            for span in spans:
                stats = span.stats
                if "correlation_id" in stats and "Synchronize" not in span.name:
                    names[str(stats["correlation_id"])] = span.name
                    begins[str(stats["correlation_id"])] = span.begin
                    self.calls[str(stats["correlation_id"])] = (span.begin, span.end)
        return names, begins

    def _add_line(self, device, kind, line, number, spans):
        if kind == "TPU":
            if line == "XLA Ops":
                found = [of_tpu(span) for span in spans]
                split_nested(found)
                self.devices[device] = found
            elif line == "XLA Modules":
                self.modules[device] = spans
            elif line == "Async XLA Ops":
                self.flights[device] = spans
        elif not DERIVED.match(line) and (number & 0xFFFFFFFF) not in DERIVED_IDS:
            found = [a for a in (of_gpu(span, self.launch_names) for span in spans) if a]
            if found:
                self.devices.setdefault(device, []).extend(found)

    def _add_cpu(self):
        """The events of XLA's operations on the host's threads; a device per ordinal."""
        found = defaultdict(list)
        for _, _, _, spans in self._host_tracks():
            ops = defaultdict(list)
            for span in spans:
                stats = span.stats
                op = stats.get("hlo_op")
                if not op or "correlation_id" in stats or span.name.startswith("end: "):
                    continue
                is_collective = is_op_collective(str(op))
                ops[int(stats.get("device_ordinal", 0))].append(
                    Activity(span, "collective" if is_collective else "op", COLLECTIVE_RANK if is_collective else COMPUTE,
                             str(op), str(stats.get("tf_op") or "")))
            split_nested([a for mine in ops.values() for a in mine])
            for ordinal, mine in ops.items():
                found[ordinal].extend(mine)
        for ordinal, mine in found.items():
            self.devices[f"cpu:{ordinal}"] = mine

    def _add_paths(self, programs):
        """Where an event does not tell where it comes from, its program does."""
        for a in [a for mine in self.devices.values() for a in mine]:
            if a.path and a.path != NO_PATH:
                continue
            program = a.span.stats.get("program_id")
            a.path = programs.get(int(program) & MASK, {}).get(a.op, "") if program is not None else ""

    def _steps(self):
        """(number, begin, length) of the host's markers, in the order of time."""
        found = []
        for _, _, _, spans in self._host_tracks():
            for span in spans:
                if span.name.startswith("$"):
                    continue
                stats = span.stats
                if "step_num" in stats or "_r" in stats:
                    found.append((int(stats.get("step_num", -1)), span.begin, span.length))
        return sorted(found, key=lambda s: s[1])

    @functools.cached_property
    def compiles(self):
        """Begins of the compiles on threads that hold Python; what lies in another one is no compile of its own."""
        begins = []
        for _, _, _, spans in self._host_tracks():
            if not any(span.name.startswith("$") for span in spans):
                continue
            reached = None
            for span in sorted((s for s in spans if COMPILE.match(s.name)), key=lambda s: (s.begin, -s.length)):
                if reached is None or span.begin >= reached:
                    begins.append(span.begin)
                    reached = span.end
        return begins

    @property
    def kind(self):
        """gpu, tpu or cpu; one kind only."""
        return next(iter(self.devices), "").split(":")[0]

    @property
    def is_cpu(self):
        return self.kind == "cpu"

    def is_op(self, activity):
        """What the tables of operations and scopes count."""
        return self.kind != "gpu" or bool(activity.op) or activity.is_kernel

    def of(self, device):
        return self.devices[device]

    def launched(self, device):
        """(begin, end, its launch) of each activity."""
        return [(a.begin, a.end, self.calls.get(str(a.span.stats.get("correlation_id"))))
                for a in self.of(device) if is_activity(a)]

    def memory_events(self):
        """What allocators took and gave back: (allocator, address, bytes; 0 = given back), in the order of time."""
        found = []
        for _, _, _, spans in self._host_tracks():
            found += [(s.begin, s.name, s.stats) for s in spans if s.name in ("MemoryAllocation", "MemoryDeallocation")]
        found.sort(key=lambda e: e[0])
        return [(str(stats.get("allocator_name") or stats.get("index_on_host")), stats.get("addr"),
                 int(stats.get("allocation_bytes", 0)) if name == "MemoryAllocation" else 0)
                for _, name, stats in found]

    def ranked(self, device):
        """For the sweep: every stretch with its rank."""
        return [(a.rank, begin, end) for a in self.of(device) if is_activity(a) for begin, end in a.swept]

    def moment_of(self, activity):
        """Which step it is of: the one in which its launch began, without one the activity."""
        if activity.sort == "op":
            return activity.begin
        return self.launches.get(str(activity.span.stats.get("correlation_id")), activity.begin)


def is_activity(activity):
    return activity.rank is not None


def spans_of(activities):
    return [(a.begin, a.end) for a in activities if is_activity(a)]


def self_times(activities):
    """op -> [count, self, total, squares of self]; a kernel of no operation stands for itself"""
    table = defaultdict(lambda: [0, 0, 0, 0])
    for a in activities:
        for i, value in enumerate((1, a.self_time, a.length, a.self_time ** 2)):
            table[a.op or (a.name if a.sort in ("kernel", "collective") else "")][i] += value
    return dict(table)


def in_flight(run, device, begin, end):
    """Of a TPU's core: what is in flight beside it within [begin, end), how much of that runs beside compute, and the
    flights that start there, by kind."""
    flights = run.flights.get(device, ())
    inside = [(max(s.begin, begin), min(s.end, end)) for s in flights if min(s.end, end) > max(s.begin, begin)]
    compute = [(max(b, begin), min(e, end)) for rank, b, e in run.ranked(device)
               if rank == COMPUTE and min(e, end) > max(b, begin)]
    counts = {"copy": [0, 0], "collective": [0, 0]}
    for span in flights:
        if begin <= span.begin < end:
            row = counts["collective" if of_tpu(span).sort == "collective" else "copy"]
            row[0] += 1
            row[1] += span.length
    return {"in_flight_ps": union(inside), "hidden_ps": union(inside) + union(compute) - union(inside + compute),
            "counts": counts}


# --- framework paths ------------------------------------------------------------------------------------------

WRAPPER = re.compile(r"^(jit|pjit|pmap|vmap|jvp|vjp|transpose|linearize|checkpoint|remat|rematted_computation|custom_jvp|"
                     r"custom_vjp|shard_map|xmap|named_call|xla_call|xla_pmap|core_call|soft_pmap)\((.*)\)$")


ADDED = ("closed_call", "core_call", "custom_jvp_call", "custom_vjp_call", "checkpoint", "remat", "remat2",
         "rematted_computation", "shard_map", "xmap", "pjit")
BRANCH = re.compile(r"^(while/(body|cond)|cond/branch_\w+)$")


def split_path(path):
    """The parts between '/' that stand in no bracket."""
    parts, depth, begin = [], 0, 0
    for i, letter in enumerate(path):
        depth += (letter in "([") - (letter in ")]")
        if letter == "/" and depth <= 0:
            parts.append(path[begin:i])
            begin = i + 1
    return [*parts, path[begin:]]


def pass_of(path):
    return "backward" if "transpose(" in path else "forward" if "jvp(" in path else "other"


def scope_of(path):
    """(scope, pass) of an operation's path: its last part is the operation itself where no transform is around it,
    transforms are taken off, and so are the parts that JAX adds for control flow and calls.  An empty scope: the
    operation lies in none."""
    parts = split_path(path.partition(";")[0].rstrip(":"))  # of several, where XLA made one operation of them, the first
    scope = []
    for i, part in enumerate(parts):
        inner = part
        while match := WRAPPER.match(inner):
            inner = match[2]
        is_plain = inner == part
        is_added = is_plain and (part in ADDED or (i and BRANCH.match(f"{parts[i - 1]}/{part}"))
                                 or (i + 1 < len(parts) and BRANCH.match(f"{part}/{parts[i + 1]}")))
        is_main = inner == "main" and i and WRAPPER.match(parts[i - 1]) and not is_plain
        is_again = not is_plain and scope and scope[-1] == inner
        if inner and not is_added and not is_main and not is_again and not (is_plain and i + 1 == len(parts)):
            scope.append(inner)
    return "/".join(scope), pass_of(path)
