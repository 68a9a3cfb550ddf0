# SPDX-License-Identifier: Apache-2.0
"""What the truth file of a generated profile does not hold, counted from the profile itself: rows per operation, short
collectives, host waits inside a device's span, events per host line."""

import functools
import re
from collections import Counter, defaultdict

from slow_time import union
from xspace import planes_of

SMALL_PS = 100 * 10**6
ALLOCATOR = ("MemoryAllocation", "MemoryDeallocation")  # a JSON has none of them
DEVICE = re.compile(r"^/device:(GPU|TPU):\d+$")
HOST_WAIT = re.compile(r"^(infeed|outfeed)\.")
BEGIN = re.compile(r"-start(\.\d+)?$")
TPU_COLLECTIVE = re.compile(r"^(all-reduce|all-gather|reduce-scatter|async-collective)")


class Row:
    """Of one operation."""

    def __init__(self):
        self.count = self.total = self.most = 0
        self.least = None
        self.path = ""

    def add(self, event, path):
        self.count += 1
        self.total += event.length
        self.most = max(self.most, event.length)
        self.least = event.length if self.least is None else min(self.least, event.length)
        self.path = path

    @property
    def figures(self):
        return [self.count, self.total, self.least, self.most]


class Facts:
    """paths: the xplane.pb of every host."""

    def __init__(self, platform, paths):
        self.platform = platform
        self.planes = [(path, planes_of(path)) for path in paths]

    def _device_lines(self):
        for path, planes in self.planes:
            for plane in planes:
                for line in plane.lines:
                    is_ours = plane.name == "/host:CPU" if self.platform == "cpu" else DEVICE.match(plane.name)
                    if is_ours and (self.platform != "tpu" or line.name == "XLA Ops"):
                        yield path, plane, line

    @functools.cached_property
    def work(self):
        """(event, op, is it a collective, path) of everything that is neither a copy, a memset nor a graph."""
        found = []
        for _, _, line in self._device_lines():
            for event in line.events:
                stats = event.stats
                op = event.label if self.platform == "tpu" else stats.get("hlo_op")
                is_host_call = self.platform == "cpu" and "correlation_id" in stats
                if not op or is_host_call or "cuda_graph_exec_id" in stats:
                    continue
                is_collective = bool(TPU_COLLECTIVE.match(op)) if self.platform == "tpu" \
                    else event.name.startswith("ncclDevKernel")
                path = stats.get("name") or stats.get("tf_op") or ""
                found.append((event, op, is_collective, path.rstrip(":")))
        return found

    @functools.cached_property
    def ops(self):
        rows = defaultdict(Row)
        for event, op, _, path in self.work:
            rows[op].add(event, path)
        return rows

    def cost(self, stat):
        """TPU: a statistic summed over all operations; of an asynchronous one its end counts, not its begin too."""
        return sum(e.stats.get(stat, 0) for e, op, _, _ in self.work if not BEGIN.search(op))

    @functools.cached_property
    def small_collectives(self):
        """[count, time] of those that are shorter than a small kernel's limit."""
        small = [e.length for e, _, is_collective, _ in self.work if is_collective and e.length < SMALL_PS]
        return [len(small), sum(small)]

    @functools.cached_property
    def collective_ops(self):
        return {op for _, op, is_collective, _ in self.work if is_collective}

    @functools.cache
    def instants(self, with_allocator):
        """How many events without a length each thread of a host has."""
        counts = Counter()
        for path, planes in self.planes:
            for plane in planes:
                for line in plane.lines if plane.name == "/host:CPU" else ():
                    counts[(path.name.split(".")[0], line.name)] += sum(
                        not e.length and (with_allocator or e.name not in ALLOCATOR) for e in line.events)
        return counts

    def host_waits_ps(self, host, device, first, last):
        """TPU: the host waits of a device between its first and its last activity."""
        spans = []
        for path, plane, line in self._device_lines():
            if plane.name == device and path.name.startswith(f"{host}."):
                spans += [(max(e.begin, first), min(e.end, last)) for e in line.events if HOST_WAIT.match(e.label)]
        return union([s for s in spans if s[1] > s[0]])
