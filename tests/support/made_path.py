# SPDX-License-Identifier: Apache-2.0
"""A profile whose critical paths are known by construction: each step is a case with its parts, in microseconds."""

from make_profile import US, Event, Line, Plane, Space, environment_planes

PLANE = {"device_vendor": "Nvidia", "core_count": 132, "memory_size": 80 << 30}
ALL_REDUCE = "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)"


class Made:
    """Times are microseconds after the start of the step that is being made."""

    def __init__(self, devices=2):
        self.python = Line(1, "python")
        self.streams = [{} for _ in range(devices)]
        self.correlation = 0
        self.base = 1000

    def host(self, name, begin, length, **stats):
        self.python.events.append(Event(name, (self.base + begin) * US, length * US, stats))

    def work(self, name, launch, begin, length, device=0, stream=13, call=1, **stats):
        """Device work and the call that launches it."""
        self.correlation += 1
        self.host("cuLaunchKernel", launch, call, correlation_id=self.correlation, device_id=device)
        line = self.streams[device].setdefault(stream, Line(stream, f"Stream #{stream}(Compute)"))
        stats.setdefault("kernel_details", "regs:32 grid:132,1,1 block:128,1,1 occ_pct:50")
        facts = {"hlo_op": name.split("(")[0], "hlo_module": "jit_step", "program_id": 7} if "Memcpy" not in name else {}
        line.events.append(Event(name, (self.base + begin) * US, length * US,
                                 {"correlation_id": self.correlation, **stats, **facts}))

    def space(self, host="host0"):
        planes = [Plane(f"/device:GPU:{d}", d, list(lines.values()), dict(PLANE)) for d, lines in enumerate(self.streams)]
        return Space([*planes, Plane("/host:CPU", lines=[self.python]), *environment_planes()], host)


def event_waits(m):
    """Kernels of two streams that wait for each other, and one beside them that nothing waits for."""
    m.host("train", 20, 370, _r=1)
    m.work("k1", 30, 40, 100)
    m.work("k2", 32, 143, 200, stream=17)
    m.work("k3", 34, 345, 50)
    m.work("beside", 36, 50, 60, stream=18)
    return 395, {"compute": 350, "device_wait": 5, "launch": 10, "host": 10, "unrecorded": 20}


def straggler(m):
    """Device 0 waits in a collective for device 1, and ends last."""
    m.host("train", 0, 400, _r=1)
    m.work("k", 5, 15, 50)
    m.work("k", 7, 20, 300, device=1)
    m.work(ALL_REDUCE, 9, 70, 335, stream=15)
    m.work(ALL_REDUCE, 11, 324, 78, device=1, stream=15)
    return 405, {"compute": 300, "collective": 81, "device_wait": 4, "launch": 14, "host": 6}


def host_bound(m):
    """The host takes longer for each launch than the device for the kernel."""
    m.host("train", 0, 418, _r=1)
    for i in range(1, 9):
        m.work("small", 50 * i, 50 * i + 8, 10, call=2)
    return 418, {"compute": 10, "launch": 22, "host": 386}


def input_stall(m):
    m.host("train", 0, 425, _r=1)
    m.host("data_loading", 10, 300)
    m.work("k", 320, 330, 100, call=2)
    return 430, {"compute": 100, "launch": 10, "input": 300, "host": 20}


def host_sync(m):
    """The host waits for a result before it launches again."""
    m.host("train", 0, 280, _r=1)
    m.work("k1", 5, 15, 200)
    m.host("BlockHostUntilReady", 20, 202)
    m.work("k2", 230, 240, 50)
    return 290, {"compute": 250, "launch": 20, "sync": 7, "host": 13}


def copy_first(m):
    """A kernel waits for a copy to the device on another stream."""
    m.host("train", 0, 110, _r=1)
    m.work("MemcpyH2D", 5, 12, 80, stream=14, kernel_details="",
           memcpy_details="kind_src:pinned kind_dst:device size:1048576 dest:0 async:1")
    m.work("k", 8, 95, 20)
    return 115, {"compute": 20, "copy": 80, "device_wait": 3, "launch": 7, "host": 5}


def slow_launch(m):
    """A launch call that takes long, of a kernel whose stream is busy when it starts."""
    m.host("train", 0, 180, _r=1)
    m.work("k1", 5, 15, 50)
    m.work("k2", 40, 150, 30, call=100)
    return 180, {"compute": 80, "launch": 95, "host": 5}


def slow_signal(m):
    """The host learns late that a result is there: nothing else happens meanwhile."""
    m.host("train", 0, 360, _r=1)
    m.work("k1", 5, 15, 200)
    m.host("BlockHostUntilReady", 20, 300)
    m.work("k2", 330, 340, 30)
    return 370, {"compute": 230, "launch": 20, "sync": 105, "host": 15}


def hidden_input(m):
    """While a collective runs alone, the host loads the next batch, and is done shortly before it."""
    m.host("train", 0, 400, _r=1)
    m.work("k1", 5, 15, 50)
    m.work(ALL_REDUCE, 7, 66, 300, stream=15)
    m.host("data_loading", 20, 320)
    m.work("k2", 345, 370, 30, call=2)
    return 400, {"compute": 80, "collective": 300, "device_wait": 5, "launch": 10, "host": 5}


CASES = (straggler, event_waits, host_bound, input_stall, host_sync, copy_first, slow_launch)


# What a finding about steps of one case measures and what a replay saves, in microseconds of each device and step.
FINDINGS = (
    (slow_signal, 1, "idle_sync", ["sync"], 105, 105),
    (hidden_input, 1, "collective_exposed", ["collective"], 300, 23),
    (straggler, 2, "slow_device", ["imbalance"], 125, 125),
)


def make(rounds=2, cases=CASES, devices=2):
    """out: the profile, and by step its case, its length and its parts"""
    m, truth = Made(devices), []
    for number in range(rounds * len(cases)):
        case = cases[number % len(cases)]
        marker = len(m.python.events)
        length, parts = case(m)
        m.python.events[marker].stats["step_num"] = number
        assert sum(parts.values()) == length, case.__name__
        truth.append((case.__name__, length, parts))
        m.base += length
    return m.space(), truth


# What each device of three hosts computes before the all-reduce of a step, in microseconds.
WORK = ((100, 90), (120, 100), (200, 110))
MOVE = 50


def across(rounds=20, rest=20):
    """Hosts that wait for each other in an all-reduce of each step.  Every fifth step, the second host is the last one.
    out: the profiles by host, and what is known of them, in microseconds"""
    hosts = [Made(len(devices)) for devices in WORK]
    loads, own, path = {}, [], {}
    for number in range(rounds):
        works = [[us + 130 * (h == 1 and d == 0 and number % 5 == 4) for d, us in enumerate(devices)]
                 for h, devices in enumerate(WORK)]
        last = 15 + max(map(max, works))
        length = last + MOVE + rest
        for made, devices in zip(hosts, works):
            made.host("train", 0, length, _r=1, step_num=number)
            for d, us in enumerate(devices):
                made.work("k", 5 + d, 15, us, device=d)
                made.work(ALL_REDUCE, 9 + d, 15 + us, last + MOVE - 15 - us, device=d, stream=15)
            made.base += length
        first = min(map(min, works))
        since = -first if number == 0 else rest + 15  # the path starts with the first arrival
        own.append({(h, d): since + us for h, devices in enumerate(works) for d, us in enumerate(devices)})
        for device, us in own[-1].items():
            loads[device] = loads.get(device, 0) + us
        device = max(own[-1], key=own[-1].get)
        path[device] = path.get(device, 0) + own[-1][device]
    late = [max(step, key=step.get)[0] for step in own]
    mean = sum(loads.values()) / len(loads)
    even = [{device: us * min(1, mean / loads[device]) for device, us in step.items()} for step in own]
    truth = {
        "path": {f"host{h}/gpu:{d}": us for (h, d), us in path.items()},
        "move": MOVE * rounds,
        # the path ends on the first of the devices that end together
        "host_switches": sum(a != b for a, b in zip(late, late[1:] + [0])),
        "stragglers": sum(sorted(step.values())[-1] - sorted(step.values())[-2] for step in own),
        "imbalance": sum(max(step.values()) - max(more.values()) for step, more in zip(own, even)),
        "devices": len(loads),
    }
    return {f"host{h}": made.space(f"host{h}") for h, made in enumerate(hosts)}, truth
