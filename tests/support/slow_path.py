# SPDX-License-Identifier: Apache-2.0
"""The critical path of each step, worked out from lists (docs/metrics.md, "Critical path"): for GPUs of one host whose
calls are on one thread.  Every question is asked of all activities."""

import bisect
import re
from collections import defaultdict

from slow_figures import COLLECTIVE_RANK, COMPUTE, DERIVED, DERIVED_IDS, DEVICE, is_activity
from slow_steps import group_of, periods, step_at

US = 1_000_000
PAUSE = 10 * US
BUSY = ("compute", "collective", "copy")
CAUSES = ("device_wait", "launch", "compile", "input", "sync", "gc", "profiler", "host", "unrecorded")
KINDS = BUSY + CAUSES
CAUSE_OF_NAME = ((re.compile(r"^cu(LaunchKernel|Memcpy\w*Async)"), "launch"), (re.compile(r"^backend_compile"), "compile"),
                 (re.compile(r"^data_loading$"), "input"), (re.compile(r"^BlockHostUntilReady$"), "sync"))


class Node:
    """An activity of a device."""

    def __init__(self, activity, device, stream, call):
        self.begin, self.end, self.name = activity.begin, activity.end, activity.name
        self.device, self.stream, self.call = device, stream, call
        self.kind = {COMPUTE: "compute", COLLECTIVE_RANK: "collective"}.get(activity.rank, "copy")
        self.key = (activity.op or activity.name, activity.span.stats.get("program_id"))
        self.members = [self]


def nodes_of(run):
    streams = {}
    for process, line, number, spans in run.tracks:
        match = DEVICE.match(process)
        if match and not DERIVED.match(line) and (number & 0xFFFFFFFF) not in DERIVED_IDS:
            streams.update({id(span): number for span in spans})
    nodes = []
    for device in run.devices:
        for a in run.of(device):
            if is_activity(a):
                call = run.calls.get(str(a.span.stats.get("correlation_id")))
                nodes.append(Node(a, device, streams[id(a.span)], call))
                nodes[-1].step = step_at(run, run.moment_of(a))
    return sorted(nodes, key=lambda n: (n.begin, -n.end))


def match_collectives(nodes):
    """The n-th of its kind in a step on each device is one collective."""
    instances = defaultdict(list)
    counts = defaultdict(int)
    for node in nodes:
        if node.kind == "collective" and node.step is not None:
            place = (node.device, node.key, node.step)
            instances[(node.key, node.step, counts[place])].append(node)
            counts[place] += 1
    for members in instances.values():
        for node in members:
            node.members = members


class Thread:
    """What the host did, moment by moment: (begin, end, cause)."""

    def __init__(self, spans):
        self.spans = sorted((s for s in spans if s.length), key=lambda s: (s.begin, -s.length))
        edges = sorted({t for s in self.spans for t in (s.begin, s.end)})
        self.stretches = [(b, e, self._cause(b)) for b, e in zip(edges, edges[1:])]

    def _cause(self, moment):
        around = [s for s in self.spans if s.begin <= moment < s.end]
        causes = [next((c for pattern, c in CAUSE_OF_NAME if pattern.match(s.name)), "host") for s in around]
        own = next((c for c in reversed(causes) if c != "host"), "host" if around else "unrecorded")
        return "input" if own in ("sync", "launch") and "input" in causes else own

    def back_from(self, moment, begin):
        """The stretches before a moment, the last one first; what is between them is unrecorded."""
        at = moment
        for b, e, cause in reversed([s for s in self.stretches if s[0] < moment and s[1] > begin]):
            e = min(e, at)
            if e < at:
                yield e, at, "unrecorded"
            yield max(b, begin), e, cause
            at = max(b, begin)
        if at > begin:
            yield begin, at, "unrecorded"


def sync_stretches(stretches):
    """Neighbors of one cause are one stretch, except for the host's, whose names differ."""
    held = None
    for b, e, cause in stretches:
        if held and cause == held[2]:
            held = (b, held[1], cause)
            continue
        if held:
            yield held
        held = (b, e, cause)
    if held:
        yield held


def end_of(node):
    return node.end, -node.begin


class Ended:
    """The nodes of a walk by their end, for the question that is asked most."""

    def __init__(self, nodes):
        self.nodes = sorted(nodes, key=end_of)

    def latest(self, moment):
        """Of those that have ended at a moment the last one, of equals the longest."""
        at = bisect.bisect_right(self.nodes, moment, key=lambda n: n.end) - 1
        while at >= 0 and self.nodes[at].begin >= moment:
            at -= 1
        while at > 0 and end_of(self.nodes[at - 1]) == end_of(self.nodes[at]):
            at -= 1
        return self.nodes[at] if at >= 0 else None


def before(node, nodes):
    own = [n for n in nodes if n.device == node.device and n.end <= node.begin and n is not node]
    stream = [n for n in own if n.stream == node.stream]
    if stream and node.begin - max(n.end for n in stream) <= PAUSE:
        return max(stream, key=lambda n: n.end)
    return max(own, key=lambda n: n.end, default=None)


class Walk:
    def __init__(self, begin, end, nodes, thread):
        self.begin, self.at, self.nodes, self.thread, self.ended = begin, end, nodes, thread, Ended(nodes)
        self.parts = dict.fromkeys(KINDS, 0)
        self.on_path, self.devices = 0, defaultdict(int)

    def add(self, kind, start):
        start = max(start, self.begin)
        taken = max(self.at - start, 0)
        self.parts[kind] += taken
        self.at = min(self.at, start)
        return taken

    def host(self):
        """Back on the host.  out: the activity that a wait ended with"""
        for b, e, cause in sync_stretches(self.thread.back_from(self.at, self.begin)):
            node = self.ended.latest(e) if cause == "sync" else None
            if node and node.end > b:
                self.add("sync", node.end)
                return node
            self.add(cause, b)
        return None

    def step_back(self, node):
        self.on_path += 1
        start, came = node.begin, node
        last = max(node.members, key=lambda n: n.begin)
        overlap = [n for n in node.members if n.begin < node.end and n.end > node.begin]
        last = max(overlap, key=lambda n: n.begin)
        if last.begin > node.begin and last.begin < min(n.end for n in overlap) and last.begin < self.at:
            start, came = last.begin, last
        self.devices[node.device] += self.add(node.kind, start)
        if self.at <= self.begin:
            return None
        previous = before(came, self.nodes)
        ready = max(self.begin, previous.end if previous else self.begin)
        if came.call and came.call[0] > ready:
            self.add("launch", came.call[0])
            return self.host()
        if not came.call and self.at - ready >= PAUSE:
            return self.host()
        self.add("launch" if came.call and came.call[1] > ready else "device_wait", ready)
        return previous

    def run(self):
        node = self.ended.latest(self.at)
        while node and self.at > self.begin:
            node = self.step_back(node)
        self.add("unrecorded", self.begin)
        return self


def paths_of(run):
    """The walks of the steps of the first group of devices, by the number of the step."""
    group = group_of(run, next(iter(run.devices)))
    nodes = [n for n in nodes_of(run) if n.device in group]
    match_collectives(nodes)
    thread = Thread([s for track in run._host_tracks() for s in track[3] if "python" in track[1]])
    return {run.steps[i][0]: Walk(*period, nodes, thread).run()
            for i, period in enumerate(periods(run, group[0])) if period and period[1] > period[0]}


OF_DEVICES = ("compute", "collective", "copy", "device_wait", "stragglers", "imbalance", "compute_half", "compute_quarter")
VAGUE = ("host", "unrecorded")  # markers are all that the host of a made profile has beside these


class Replay:
    """A step without all of a kind: every time is looked up from what it waits for."""

    def __init__(self, begin, end, nodes, thread, without):
        self.begin, self.end, self.nodes, self.thread, self.without = begin, end, nodes, thread, without
        self.ended = Ended(nodes)
        self.late, self.ends, self.starts = {}, {}, {}
        self.loads = {}
        for n in nodes:
            if n.kind == "compute" and begin <= n.begin < end:
                self.loads[n.device] = self.loads.get(n.device, 0) + n.end - n.begin
        for n in nodes:
            instance = self.instance(n)
            last = max(instance, key=lambda m: m.begin)
            if len(instance) > 1 and begin <= last.begin < end:
                self.late[last.device] = max(self.late.get(last.device, begin), last.begin)

    def length(self, kind, length):
        if kind == "compute" and self.without in ("compute_half", "compute_quarter"):
            return length - length // (2 if self.without == "compute_half" else 4)
        return 0 if kind == self.without else length

    def has_less_work(self, node):
        """Than the other devices, for which it waits."""
        mean = sum(self.loads.values()) / max(len(self.loads), 1)
        return self.without == "imbalance" and self.loads.get(node.device, 0) < mean

    def balanced(self, node, length):
        """No device computes longer than all do on average."""
        if self.without != "imbalance" or node.kind != "compute":
            return length
        return int(length * min(1, sum(self.loads.values()) / len(self.loads) / self.loads[node.device]))

    def instance(self, node):
        """The members of a collective that were under way together."""
        overlap = [n for n in node.members if n.begin < node.end and n.end > node.begin]
        last = max(overlap, key=lambda n: n.begin)
        return overlap if last.begin < min(n.end for n in overlap) else [node]

    def host(self, moment):
        at = self.begin
        for b, e, cause in reversed(list(sync_stretches(self.thread.back_from(moment, self.begin)))):
            may_wait = cause == "sync" or (cause in VAGUE and self.without in OF_DEVICES)
            node = self.ended.latest(e) if may_wait else None
            if node and node.end > b:
                at = max(at, self.finish(node) + self.length(cause, e - node.end))
            else:
                at += self.length(cause, e - b)
        return at

    def begins(self, node):
        if node not in self.starts:
            self.starts[node] = self._begins(node)
        return self.starts[node]

    def _begins(self, node):
        previous = before(node, self.nodes)
        inside = previous and previous.end > self.begin
        ready, at = (previous.end, self.finish(previous)) if inside else (self.begin, self.begin)
        if not node.call and node.begin - ready >= PAUSE:
            return max(at, self.host(node.begin))
        if node.call and node.call[0] > ready:
            return max(at, self.host(node.call[0]) + self.length("launch", node.begin - node.call[0]))
        kind = "launch" if node.call and node.call[1] > ready else "device_wait"
        at += 0 if kind == "device_wait" and self.has_less_work(node) else self.length(kind, node.begin - ready)
        if node.call and node.call[0] >= self.begin:
            least = min(node.call[1] - node.call[0], node.begin - node.call[0])
            at = max(at, self.host(node.call[0]) + self.length("launch", least))
        return at

    def finish(self, node):
        if node not in self.ends:
            self.ends[node] = self._finish(node)
        return self.ends[node]

    def _finish(self, node):
        if node.begin < self.begin:
            return min(self.begin, node.end) + self.length(node.kind, max(node.end - self.begin, 0))
        instance = [n for n in self.instance(node) if n.begin >= self.begin]
        last = max(instance, key=lambda n: n.begin)
        if len(instance) < 2 or last.begin >= self.end:
            return self.begins(node) + self.balanced(node, self.length(node.kind, node.end - node.begin))
        ready = max(self.begins(n) for n in instance)
        if self.without == "stragglers":
            ready = min(self.begins(last), max(self.begins(n) for n in instance if n is not last))
        return ready + self.length(node.kind, node.end - last.begin)

    def saved(self):
        ended = [n for n in self.nodes if self.begin < n.end <= self.end and n.begin < self.end]
        if self.without == "stragglers":
            ended = [n for n in ended if n.begin >= self.late.get(n.device, n.begin)]
        return max(0, self.end - max((self.finish(n) for n in ended), default=self.begin))


WITHOUT = (*KINDS, "stragglers", "imbalance", "compute_half", "compute_quarter")


def replays_of(run):
    """What is saved without each kind, all steps of the first group of devices together."""
    group = group_of(run, next(iter(run.devices)))
    nodes = [n for n in nodes_of(run) if n.device in group]
    match_collectives(nodes)
    thread = Thread([s for track in run._host_tracks() for s in track[3] if "python" in track[1]])
    steps = [period for period in periods(run, group[0]) if period and period[1] > period[0]]
    return {kind: sum(Replay(*period, nodes, thread, kind).saved() for period in steps) for kind in (*WITHOUT, "nothing")}
