#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`sharding`: how many devices compute the same, against a simulation of each device.  Random partitioned programs with
tuples, fusions, calls, branches and loops, collectives with their groups in every form that XLA writes; a value of a
device is what it was computed from, so devices compute the same where their values are equal.  And collectives by origin."""

import json
import random
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "fuzz"))
import hostile_fields  # noqa: E402
import seeds_hlo  # noqa: E402
from make_profile import NS, Event, Line, Plane, Space, chunk, environment_planes, number  # noqa: E402
from make_seeds import packed  # noqa: E402
from tap import Tap  # noqa: E402
from tracemill import Scratch, run  # noqa: E402

SHAPE = seeds_hlo.shape((64,))
ROUNDS = 12  # of a loop that is simulated: more than its state has elements


def tile_sharding(dice, bits):
    """out: (OpSharding, [part of each device])"""
    devices = 1 << bits
    order = list(range(bits))
    dice.shuffle(order)
    split = dice.randrange(bits + 1)
    if split == 0 and dice.random() < 0.7:
        return b"", [0] * devices
    dims = [2] * split + [1] * dice.randrange(2) + [1 << (bits - split)]
    grid = [sum((n >> (bits - 1 - i) & 1) << (bits - 1 - order[i]) for i in range(bits)) for n in range(devices)]
    tiles = packed(9, *[2] * bits) + packed(10, *order) if dice.random() < 0.5 else packed(4, *grid)
    part = [0] * devices
    for place, device in enumerate(grid):
        part[device] = place >> (bits - split)
    return number(1, 3) + packed(3, *dims) + number(6, 1) + tiles, part


def groups_along(dice, bits, along):
    """Groups of devices that differ in these bits, in one of the forms of HLO.  out: (bytes, [group of each device])"""
    devices = 1 << bits
    group = [tuple(d for d in range(devices) if (d ^ one) & ~along == 0) for one in range(devices)]
    lists = sorted(set(group))
    rest = [i for i in range(bits) if not along >> (bits - 1 - i) & 1]
    members = [i for i in range(bits) if along >> (bits - 1 - i) & 1]
    iota = number(1, len(lists)) + number(2, len(lists[0])) + packed(3, *[2] * bits) + packed(4, *rest, *members)
    axes = b"".join(chunk(1, chunk(1, f"axis_{i}") + number(2, 2)) for i in range(bits))
    forms = [b"".join(seeds_hlo.group(*one) for one in lists), chunk(87, b"".join(chunk(1, packed(1, *one)) for one in lists)),
             chunk(87, chunk(2, iota)), chunk(92, iota), chunk(93, chunk(1, axes) + b"".join(chunk(2, number(1, i)) for i in members))]
    first = members[0] if members else 0
    if members == list(range(first, first + len(members))):  # a part of one axis
        whole = chunk(1, chunk(1, "all") + number(2, devices))
        forms.append(chunk(93, chunk(1, whole) + chunk(2, chunk(2, number(1, 1 << first) + number(2, 1 << len(members))))))
    return dice.choice(forms) + number(26, 1), group


class Program:
    def __init__(self, seed, bits):
        self.dice, self.bits, self.devices = random.Random(seed), bits, 1 << bits
        self.ids, self.computations, self.computed, self.names = 100, [], {}, []

    def next(self):
        self.ids += 1
        return self.ids

    def note(self, name, values):
        """Devices whose values are equal in all evaluations."""
        ids = {}
        same = [ids.setdefault(v, len(ids)) for v in values]
        known = self.computed.get(name)
        self.computed[name] = list(zip(known, same)) if known else same

    def copies(self):
        return {name: min(same.count(one) for one in same) for name, same in self.computed.items()}

    def fused(self, own):
        """A fusion's computation.  out: its id"""
        one, a, b, c, place = (self.next() for _ in range(5))
        ops = [seeds_hlo.op(a, f"p.{a}", "parameter", SHAPE, (), number(9, 0)), seeds_hlo.op(b, f"p.{b}", "parameter", SHAPE, (), number(9, 1))]
        if own:
            ops.append(seeds_hlo.op(place, f"own.{place}", "partition-id", SHAPE))
        ops.append(seeds_hlo.op(c, f"f.{c}", "add", SHAPE, (a, place if own else b)))
        self.computations.append(seeds_hlo.computation(one, c, *ops, fusion=True))
        return one

    def block(self, values, depth, length):
        """Random ops on values {id: [of each device], or a list of such for a tuple}.  out: (bytes, what runs it again)"""
        ops, steps = [], []
        known = list(values)
        for _ in range(length):
            self.add(ops, steps, known, depth)
        return ops, steps, known

    def add(self, ops, steps, known, depth):
        dice, id = self.dice, self.next()
        plain = [k for k in known if not isinstance(k, tuple)]
        a, b = dice.choice(plain), dice.choice(plain)
        sort = dice.choices(("add", "fusion", "collective", "own", "tuple", "loop", "call", "branch"),
                            (8, 3, 5, 0.3, 2, 1.2 if depth else 0, 1 if depth else 0, 0.7 if depth else 0))[0]
        name = f"{sort}.{id}"
        if sort == "add":
            ops.append(seeds_hlo.op(id, name, "add", SHAPE, (a, b)))
            steps.append(lambda v: self.compute(v, id, name, a, b))
        elif sort == "fusion":
            own = dice.random() < 0.1
            ops.append(seeds_hlo.op(id, name, "fusion", SHAPE, (a, b), packed(38, self.fused(own))))
            steps.append(lambda v: self.compute(v, id, name, a, b, own))
        elif sort == "own":
            ops.append(seeds_hlo.op(id, name, "partition-id", SHAPE))
            steps.append(lambda v: (v.__setitem__(id, list(range(self.devices))), self.note(name, v[id])))
        elif sort == "collective":
            self.add_collective(ops, steps, id, a)
        elif sort == "tuple":
            parts = [dice.choice(plain) for _ in range(dice.randrange(1, 5))]
            n, out = dice.randrange(len(parts)), self.next()
            ops.append(seeds_hlo.op(id, name, "tuple", seeds_hlo.tuple_of(*[SHAPE] * len(parts)), parts))
            ops.append(seeds_hlo.op(out, f"gte.{out}", "get-tuple-element", SHAPE, (id,), number(13, n)))
            steps.append(lambda v: v.__setitem__(out, v[parts[n]]))
            known.append(out)
            return
        elif sort == "loop":
            self.add_loop(ops, steps, known, id, name, plain, depth)
            return
        elif sort == "call":
            inner, body, root = self.computation_of(2, depth)
            ops.append(seeds_hlo.op(id, name, "call", SHAPE, (a, b), packed(38, inner)))
            steps.append(lambda v: v.__setitem__(id, body([v[a], v[b]])[root]))
        else:
            self.add_branch(ops, steps, id, name, (a, b, dice.choice(plain)), depth)
        known.append(id)

    def compute(self, v, id, name, a, b, own=False):
        v[id] = [hash((id, x, y, d if own else -1)) for d, (x, y) in enumerate(zip(v[a], v[b]))]
        self.note(name, v[id])

    def add_collective(self, ops, steps, id, a):
        along = self.dice.randrange(1, self.devices)
        more, group = groups_along(self.dice, self.bits, along)
        sort = self.dice.choice(("all-reduce", "all-gather", "reduce-scatter", "all-to-all"))
        ops.append(seeds_hlo.op(id, f"{sort}.{id}", sort, SHAPE, (a,), more))

        def step(v):
            parts = [tuple(v[a][m] for m in group[d]) for d in range(self.devices)]
            own = sort in ("reduce-scatter", "all-to-all")
            v[id] = [hash((id, p, group[d].index(d) if own else -1)) for d, p in enumerate(parts)]
        steps.append(step)

    def computation_of(self, parameters, depth):
        """out: (id, function of the parameters' values, the id of its result)"""
        one, ids = self.next(), [self.next() for _ in range(parameters)]
        ops, steps, known = self.block(ids, depth - 1, self.dice.randrange(2, 6))
        root = known[-1]
        head = [seeds_hlo.op(p, f"p.{p}", "parameter", SHAPE, (), number(9, i)) for i, p in enumerate(ids)]
        self.computations.append(seeds_hlo.computation(one, root, *head, *ops))

        def body(values):
            v = dict(zip(ids, values))
            for step in steps:
                step(v)
            return v
        return one, body, root

    def add_branch(self, ops, steps, id, name, operands, depth):
        left, right = self.computation_of(1, depth), self.computation_of(1, depth)
        ops.append(seeds_hlo.op(id, name, "conditional", SHAPE, operands, packed(38, left[0], right[0])))

        def step(v):
            a, b = left[1]([v[operands[1]]])[left[2]], right[1]([v[operands[2]]])[right[2]]
            v[id] = [hash((id, x, y, p)) for x, y, p in zip(a, b, v[operands[0]])]  # either may be the result
        steps.append(step)

    def add_loop(self, ops, steps, known, id, name, plain, depth):
        """A state of some elements; each round some are computed from others."""
        n = self.dice.randrange(2, 6)
        init = [self.dice.choice(plain) for _ in range(n)]
        state, body, condition, test, start, p = (self.next() for _ in range(6))
        parts = [self.next() for _ in range(n)]
        whole = seeds_hlo.tuple_of(*[SHAPE] * n)
        inner = [seeds_hlo.op(state, f"p.{state}", "parameter", whole, (), number(9, 0))]
        inner += [seeds_hlo.op(part, f"gte.{part}", "get-tuple-element", SHAPE, (state,), number(13, i)) for i, part in enumerate(parts)]
        more, again, inside = self.block(parts, depth - 1, self.dice.randrange(3, 9))
        inside = [i for i in inside if i not in parts]
        results = [self.dice.choice(inside) if inside and self.dice.random() < 0.5 else parts[i] for i in range(n)]
        root = self.next()
        inner += [*more, seeds_hlo.op(root, f"tuple.{root}", "tuple", whole, results)]
        self.computations.append(seeds_hlo.computation(body, root, *inner))
        self.computations.append(seeds_hlo.computation(condition, test, seeds_hlo.op(p, f"p.{p}", "parameter", whole, (), number(9, 0)),
                                                       seeds_hlo.op(test, f"constant.{test}", "constant", SHAPE)))
        ops.append(seeds_hlo.op(start, f"tuple.{start}", "tuple", whole, init))
        ops.append(seeds_hlo.op(id, name, "while", whole, (start,), packed(38, body, condition)))
        out = [self.next() for _ in range(n)]
        ops += [seeds_hlo.op(o, f"gte.{o}", "get-tuple-element", SHAPE, (id,), number(13, i)) for i, o in enumerate(out)]

        def step(v):
            values = [v[i] for i in init]
            seen = [list(zip(x)) for x in values]
            for _ in range(ROUNDS):
                inner_values = dict(zip(parts, values))
                for one in again:
                    one(inner_values)
                values = [inner_values[r] for r in results]
                seen = [[x + (y,) for x, y in zip(s, value)] for s, value in zip(seen, values)]
            for o, s in zip(out, seen):  # of any round: how many there are is not known
                v[o] = [hash((o, x)) for x in s]
        steps.append(step)
        known += out

    def encode(self):
        values, head = {}, []
        for i in range(6):
            id = self.next()
            sharding, values[id] = tile_sharding(self.dice, self.bits)
            values[id] = [hash((id, p)) for p in values[id]]
            head.append(seeds_hlo.op(id, f"p.{id}", "parameter", SHAPE, (), number(9, i) + chunk(40, sharding)))
        one = self.next()
        ops, steps, known = self.block(values, 2, 25)
        for step in steps:
            step(values)
        entry = seeds_hlo.computation(one, known[-1], *head, *ops)
        assignment = chunk(15, number(1, 1) + number(2, self.devices))
        return seeds_hlo.module_of(*self.computations, entry, more=number(5, 7) + number(6, one) + assignment)


def profile(proto, names, paths=None):
    """A GPU that runs each op once, one after the other."""
    line, at = Line(13, "Stream #13(Compute)"), 1000 * NS
    for name in names:
        stats = {"kernel_details": "regs:32 grid:1,1,1 block:128,1,1", "hlo_op": name, "hlo_module": "jit_f", "program_id": 7}
        line.events.append(Event(name.split(".")[0], at, 1000 * NS, stats))
        at += 2000 * NS
    plane = Plane("/device:GPU:0", 0, [line], {"device_vendor": "Nvidia", "core_count": 132, "memory_size": 80 << 30})
    return hostile_fields.space_bytes(Space([plane, Plane("/host:CPU", lines=[Line(1, "python")]), *environment_planes()]), proto)


def show(path, what):
    result = run("show", path, what, "--json", "--rows", "10000")
    return (json.loads(result.out)["rows"] if result.status == 0 else None), result


def check_random(tap, folder):
    path, wrong, ops = folder / "random.xplane.pb", [], 0
    for seed in range(40):
        program = Program(seed, 2 + seed % 3)
        proto = program.encode()
        want = program.copies()
        path.write_bytes(profile(proto, want))
        rows, result = show(path, "sharding")
        got = {row["name"]: row["copies"] for row in rows or ()}
        ops += len(want)
        wrong += [f"seed {seed}, {program.devices} devices: {name}: {got.get(name)} copies, simulated {want[name]}"
                  for name in want if got.get(name) != want[name]][:3] if rows else [f"seed {seed}: {result}"]
    tap.ok(not wrong and ops > 500, f"copies of {ops} ops in 40 random programs", *wrong[:6])


def check_moves(tap, folder):
    """Collectives by the last part of their path; a program on one device has no section."""
    def path_of(text):
        return chunk(7, chunk(2, text)) + seeds_hlo.group(0, 1) + number(26, 1)
    ops = [seeds_hlo.op(1, "a", "parameter", SHAPE, (), number(9, 0)),
           seeds_hlo.op(10, "all-gather.1", "all-gather", seeds_hlo.shape((128,)), (1,), path_of("jit(f)/jvp(mlp)/dot_general")),
           seeds_hlo.op(11, "all-gather.2", "all-gather", seeds_hlo.shape((128,)), (1,), path_of("jit(f)/shard_map/all_gather")),
           seeds_hlo.op(12, "all-reduce.1", "all-reduce", SHAPE, (1,), path_of("jit(f)/(a/dot_general:b/reduce_sum)")),
           seeds_hlo.op(13, "all-reduce.2", "all-reduce", SHAPE, (1,), path_of("jit(f)/shard_map/psum"))]
    names = ("all-gather.1", "all-gather.2", "all-reduce.1", "all-reduce.2")
    for devices in (1, 2, 6):
        proto = seeds_hlo.module_of(seeds_hlo.computation(2, 13, *ops), more=number(6, 2) + chunk(15, number(1, 1) + number(2, devices)))
        path = folder / f"moves{devices}.xplane.pb"
        path.write_bytes(profile(proto, names))
        rows, result = show(path, "sharding.moves")
        got = {row["name"]: (row["origin"], row["bytes"]) for row in rows or ()}
        want = {"all-gather.1": ("reshards", 512), "all-gather.2": ("requested", 512), "all-reduce.1": ("sums", 256),
                "all-reduce.2": ("requested", 256)} if devices > 1 else {}
        tap.ok(rows is not None and got == want, f"collectives by origin, {devices} devices", got, result)


def main():
    tap = Tap()
    with Scratch() as folder:
        check_random(tap, folder)
        check_moves(tap, folder)
    tap.done()


if __name__ == "__main__":
    main()
