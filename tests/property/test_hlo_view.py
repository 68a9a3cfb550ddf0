#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`show RUN hlo OP`, `programs` and `hlo.buffers` against the HLO as a plain reader of the wire sees it: every instruction of
every program in generated and real profiles, with what it reads, what reads it, two levels of each, and what it calls.

The real profiles ($TM_SHARED/traces) are of other hands; without them they are skipped."""

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "fuzz"))
import hostile_fields  # noqa: E402
import make_seeds  # noqa: E402
import seeds_hlo  # noqa: E402
from make_profile import chunk, number  # noqa: E402
from tap import Tap  # noqa: E402
from tracemill import SHARED, Scratch, run  # noqa: E402
from xspace import fields, signed, text_of, varint  # noqa: E402

REAL = ("xspace/jax-mi300-conv-8gpu", "xspace/jax-mi355-fused-attention", "xspace/xprof-tpu-v6e-inference", "xspace/xla-gtx1080ti")
OPS_MOST = 12  # of a real program


class Instruction:
    def __init__(self, data, span, computation):
        self.computation, self.operands, self.called, self.name, self.opcode, self.id = computation, [], [], "", "", 0
        for field, value in fields(data, *span):
            if field == 1:
                self.name = text_of(data, value)
            elif field == 2:
                self.opcode = text_of(data, value)
            elif field == 35:
                self.id = signed(value)
            elif field in (36, 38):
                (self.operands if field == 36 else self.called).extend(numbers(data, value))


def numbers(data, value):
    if not isinstance(value, tuple):
        return [signed(value)]
    found, at = [], value[0]
    while at < value[1]:
        one, at = varint(data, at)
        found.append(signed(one))
    return found


class Program:
    def __init__(self, data, span):
        self.instructions, self.ids, self.sizes, self.heaps = [], {}, {}, []
        for field, value in fields(data, *span):
            if field == 1:
                self.take_module(data, value)
            elif field == 3:
                self.take_buffers(data, value)
                self.take_heaps(data, value)

    def take_module(self, data, span):
        for field, value in fields(data, *span):
            if field == 3:
                place = len(self.ids)
                self.ids[place] = 0
                for inner, of in fields(data, *value):
                    if inner == 2:
                        self.instructions.append(Instruction(data, of, place))
                    elif inner == 5:
                        self.ids[place] = signed(of)

    def take_buffers(self, data, span):
        self.sizes = dict.fromkeys(("argument", "constant", "output", "temporary"), 0)
        for field, value in fields(data, *span):
            if field != 3:
                continue
            row = {key: of for key, of in fields(data, *value) if not isinstance(of, tuple)}
            if not row.get(3):
                kind = "argument" if row.get(5) else "constant" if row.get(12) else "output" if row.get(7) else "temporary"
                self.sizes[kind] += row.get(2, 0)

    def take_heaps(self, data, span):
        """Of each heap: (most bytes in use, the instruction then, sizes of the values alive, the largest first)"""
        def plain(part):
            return {key: text_of(data, of) if isinstance(of, tuple) else of for key, of in fields(data, *part) if key in (1, 2, 4, 5)}
        parts = list(fields(data, *span))
        sizes = {p.get(1, 0): p.get(2, 0) for p in ({k: v for k, v in fields(data, *of) if not isinstance(v, tuple)} for n, of in parts if n == 1)}
        for trace in (of for n, of in parts if n == 4):
            users, owner, live, best = {}, {}, 0, (0, None, [])
            for event in (plain(of) for n, of in fields(data, *trace) if n == 1):
                kind, value = event.get(1, 0), event.get(2, 0)
                if kind != 1:
                    owner[value] = value if kind == 0 else owner.get(event.get(5, 0), event.get(5, 0))
                    live += sizes[owner[value]] if not users.get(owner[value]) else 0
                    users[owner[value]] = users.get(owner[value], 0) + 1
                else:
                    users[owner[value]] -= 1
                    live -= sizes[owner[value]] if not users[owner[value]] else 0
                if live > best[0]:
                    best = (live, event.get(4), sorted((sizes[v] for v in users if users[v]), reverse=True))
            self.heaps.append(best)

    def around(self, op):
        """{relation and level: names}"""
        mine = [i for i in self.instructions if i.computation == op.computation and i is not op]
        first = [i for i in mine if i.id in op.operands[:64]]
        users = [i for i in mine if op.id in i.operands and i not in first]
        near = {id(i) for i in (op, *first, *users)}
        reads = {o for i in first for o in i.operands[:64]}
        second = [i for i in mine if i.id in reads and id(i) not in near]
        near.update(map(id, second))
        used = {i.id for i in users}
        third = [i for i in mine if used & set(i.operands) and id(i) not in near]
        bodies = {place for place, number_of in self.ids.items() if number_of in op.called}
        found = {"operand1": first, "user1": users, "operand2": second, "user2": third,
                 "body1": [i for i in self.instructions if i.computation in bodies],
                 "caller1": [i for i in self.instructions if self.ids[op.computation] in i.called]}
        return {key: sorted(i.name for i in value) for key, value in found.items() if value}


def programs_of(data):
    """{name with its number: Program}"""
    found = {}
    for field, plane in fields(data, 0, len(data)):
        if field != 1 or not any(n == 2 and text_of(data, v) == "/host:metadata" for n, v in fields(data, *plane)):
            continue
        for number_of, entry in fields(data, *plane):
            for inner, metadata in fields(data, *entry) if number_of == 4 else ():
                name, spans = "", []
                for key, value in fields(data, *metadata) if inner == 2 else ():
                    if key == 2:
                        name = text_of(data, value)
                    elif key == 5:
                        spans += [v for k, v in fields(data, *value) if k == 6]
                for span in spans:
                    found[name] = Program(data, span)
    return found


def show(path, *what):
    result = run("show", path, *what, "--json")
    return (json.loads(result.out) if result.status == 0 else None), result


def check_programs(tap, name, path, programs):
    got, result = show(path, "programs")
    if not got:
        tap.ok(False, f"{name}: programs", result)
        return {}
    rows = {row["name"]: row for row in got["rows"]}
    wrong = [f"{len(rows)} programs, {len(programs)} in the file"] if len(rows) != len(programs) else []
    by_size = {}
    for program in programs.values():  # their numbers may be others than those in their names
        by_size.setdefault(len(program.instructions), []).append(program)
    for row in rows.values():
        fits = [p for p in by_size.get(row["instructions"], ()) if all(row[f"{k}_bytes"] == v for k, v in p.sizes.items())]
        if not fits:
            wrong.append(f"{row['name']}: {row}")
        elif fits[0].sizes and row["peak_bytes"] != sum(fits[0].sizes.values()):
            wrong.append(f"{row['name']}: peak {row['peak_bytes']}")
    tap.ok(not wrong, f"{name}: {len(rows)} programs with their memory", *wrong)
    return rows


def check_heaps(tap, name, path, programs, rows):
    """The largest heap of each program, and what is alive in it at its peak."""
    got, result = show(path, "hlo.peak")
    wrong, heaps = [] if got else [str(result)], 0
    for row in rows.values():
        fits = [p for p in programs.values() if len(p.instructions) == row["instructions"] and
                all(row[f"{k}_bytes"] == v for k, v in p.sizes.items())]
        peaks = [max(p.heaps, key=lambda heap: heap[0]) for p in fits if any(heap[0] for heap in p.heaps)]
        heaps += bool(peaks)
        if (row["heap_peak_bytes"], row["peak_at"]) not in [peak[:2] for peak in peaks] + [(None, None)] * (not peaks):
            wrong.append(f"{row['name']}: {row['heap_peak_bytes']} at {row['peak_at']}, replayed {peaks}")
        listed = sorted((r["bytes"] for r in (got or {"rows": ()})["rows"] if r["program"] == row["name"] and r["kind"] == "temporary"), reverse=True)
        if peaks and len(listed) < 20 and not any(set(peak[2]) <= set(listed) for peak in peaks):
            wrong.append(f"{row['name']}: {listed} listed, alive {peaks}")
    tap.ok(not wrong, f"{name}: peaks of {heaps} heaps", *wrong[:4])
    return heaps


def check_ops(tap, name, path, programs, most):
    wrong, checked = [], 0
    names = {}
    for program in programs.values():
        for one in program.instructions:
            names[one.name] = names.get(one.name, 0) + 1
    for program in programs.values():
        alone = [i for i in program.instructions if names[i.name] == 1 and i.name and "/" not in i.name]
        alone.sort(key=lambda i: (-len(i.called), -len(i.operands), i.name))
        for op in alone[:most]:
            got, result = show(path, "hlo", "%" + op.name)
            if not got:
                wrong.append(f"{op.name}: {result}")
                continue
            found = {}
            for row in got["rows"]:
                if row["relation"] == "op":
                    ids = {i.id: i.name for i in program.instructions if i.computation == op.computation}
                    reads = [ids.get(o) or f"#{o}" for o in op.operands[:64]]
                    if (row["name"], row["opcode"], row["operands"]) != (op.name, op.opcode, reads):
                        wrong.append(f"{op.name}: {row}")
                else:
                    found.setdefault(f"{row['relation']}{row['level']}", []).append(row["name"])
            found = {key: sorted(n or "" for n in value) for key, value in found.items()}
            if found != program.around(op):
                wrong.append(f"{op.name}: {found} for {program.around(op)}")
            checked += 1
    tap.ok(not wrong and checked, f"{name}: {checked} instructions with what is around them", *wrong[:5])


def sharding(*more):
    return chunk(40, b"".join(more))


SHARDINGS = {
    "{replicated}": sharding(),
    "{maximal device=3}": sharding(number(1, 1), make_seeds.packed(4, 3)),
    "{manual}": sharding(number(1, 4)),
    "{devices=[2,2]0,1,2,3}": sharding(number(1, 3), make_seeds.packed(3, 2, 2), make_seeds.packed(4, 0, 1, 2, 3)),
    "{devices=[2,1,2]<=[4] last_tile_dim_replicate}":
        sharding(number(1, 3), make_seeds.packed(3, 2, 1, 2), number(6, 1), make_seeds.packed(9, 4)),
    "{devices=[1,4]<=[2,2]T(1,0)}": sharding(number(1, 3), make_seeds.packed(3, 1, 4), make_seeds.packed(9, 2, 2), make_seeds.packed(10, 1, 0)),
    "{{replicated}, {manual}}": sharding(number(1, 2), chunk(5, b""), chunk(5, number(1, 4))),
}


def check_texts(tap, folder):
    """Shapes with layouts, every form of a sharding, replica groups, sources."""
    laid_out = number(2, seeds_hlo.F32) + make_seeds.packed(3, 16, 128) + chunk(5, make_seeds.packed(1, 1, 0) +
                                                                              chunk(6, make_seeds.packed(1, 8, 128)) + number(8, 1))
    ops = [seeds_hlo.op(200 + i, f"add.{i}", "add", seeds_hlo.shape((4,)), (3, 3), more) for i, more in enumerate(SHARDINGS.values())]
    ops += [seeds_hlo.op(300, "laid.1", "add", laid_out, (3,)),
            seeds_hlo.op(301, "all-reduce.9", "all-reduce", seeds_hlo.shape((64,)), (3,), seeds_hlo.group(0, 1) + seeds_hlo.group(2, 3))]
    proto = seeds_hlo.module_of(seeds_hlo.computation(1, 200, *seeds_hlo.parameters(), *ops))
    path = folder / "texts.xplane.pb"
    path.write_bytes(hostile_fields.space_bytes(hostile_fields.base_space(), proto))
    for i, want in enumerate(SHARDINGS):
        got, result = show(path, "hlo", f"add.{i}")
        tap.ok(got and got["rows"][0]["sharding"] == want, f"sharding {want}", result if not got else got["rows"][0])
    got, result = show(path, "hlo", "laid.1")
    tap.ok(got and got["rows"][0]["shape"] == "f32[16,128]{1,0:T(8,128)S(1)}" and got["rows"][0]["bytes"] == 8192, "layout",
           result if not got else got["rows"][0])
    got, result = show(path, "hlo", "all-reduce.9")
    tap.ok(got and got["rows"][0]["replica_groups"] == "{{0,1},{2,3}}", "replica groups", result if not got else got["rows"][0])
    text = run("show", path, "hlo", "all-reduce.9")
    tap.ok("%all-reduce.9 = f32[64] all-reduce(%c)" in text.out and "{{0,1},{2,3}}" in text.out, "as text", text)


def two_programs(*names):
    """A profile with two programs that have the same instructions."""
    proto = seeds_hlo.calls()
    entries = b"".join(chunk(4, number(1, 7 + i) + chunk(2, number(1, 7 + i) + chunk(2, f"{name}({7 + i})") + chunk(5, number(1, 1) + chunk(6, proto))))
                       for i, name in enumerate(names))
    stats = chunk(5, number(1, 1) + chunk(2, number(1, 1) + chunk(2, "Hlo Proto")))
    return hostile_fields.base_space().encode() + chunk(1, number(1, 90) + chunk(2, "/host:metadata") + entries + stats)


def check_names(tap, folder):
    path = folder / "two.xplane.pb"
    path.write_bytes(two_programs("jit_f", "jit_f"))
    result = run("show", path, "hlo", "fusion.1")
    tap.ok(result.status == 2 and "2 programs have" in result.err and "jit_f(7)/fusion.1, jit_f(8)/fusion.1" in result.err,
           "a name in two programs is refused with both", result)
    got, result = show(path, "hlo", "jit_f(8)/%fusion.1")
    tap.ok(got and {row["program"] for row in got["rows"]} == {"jit_f(8)"}, "that of a program", result)
    got, result = show(path, "hlo", "7/fusion.1")
    tap.ok(got and {row["program"] for row in got["rows"]} == {"jit_f(7)"}, "that of a number", result)
    result = run("show", path, "hlo", "fusoin.1")
    tap.ok(result.status == 2 and "did you mean 'fusion.1'" in result.err, "a similar name is suggested", result)
    plain = folder / "plain.xplane.pb"
    plain.write_bytes(hostile_fields.base_space().encode())
    result = run("show", plain, "hlo", "fusion.1")
    tap.ok(result.status == 3 and "contains no HLO" in result.err, "a profile without HLO", result)
    result = run("show", plain, "programs")
    tap.ok(result.status == 0 and "programs.figures" in result.out, "programs of a profile without HLO: its figures", result)
    for options in ((path, "hlo", "fusion.1", "--redact"), (path, "programs", "fusion.1"), ("-", "hlo", "fusion.1")):
        result = run("show", *options)
        tap.ok(result.status == 2, f"refused: {options[1:]}", result)


def check_damage(tap, folder):
    """Cut at every place: an answer that says so, or a refusal, and never a crash."""
    proto, wrong, answers = seeds_hlo.calls(), [], 0
    path = folder / "cut.xplane.pb"
    for length in range(0, len(proto), 7):
        path.write_bytes(hostile_fields.space_bytes(hostile_fields.base_space(), proto[:length]))
        for what in (("programs",), ("hlo.peak",), ("hlo", "fusion.1")):
            result = run("show", path, *what)
            answers += result.status == 4
            if result.status not in (0, 2, 3, 4):
                wrong.append(f"{length}: {result}")
    tap.ok(not wrong and answers, f"programs cut at {len(range(0, len(proto), 7))} places", *wrong[:3])


def check_large(tap, folder):
    """An instruction of 3,000 operands and as many users: listed in part, counted in whole, in 32 MiB."""
    n = 3000
    ops = [seeds_hlo.op(1000 + i, f"p.{i}", "parameter", seeds_hlo.shape((4,)), (), number(9, i)) for i in range(n)]
    ops.append(seeds_hlo.op(1, "hub", "tuple", seeds_hlo.shape((4,)), tuple(range(1000, 1000 + n))))
    ops += [seeds_hlo.op(9000 + i, f"u.{i}", "negate", seeds_hlo.shape((4,)), (1,)) for i in range(n)]
    path = folder / "large.xplane.pb"
    path.write_bytes(hostile_fields.space_bytes(hostile_fields.base_space(), seeds_hlo.module_of(seeds_hlo.computation(1, 1, *ops))))
    got, result = show(path, "hlo", "hub", "--memory", "32M")
    rows = got["rows"] if got else []
    users = [row for row in rows if row["relation"] == "user"]
    tap.ok(got and rows[0]["operand_count"] == n and len(rows[0]["operands"]) == 64 and len(users) == 128 and
           got["rows_total"] == 1 + 64 + n, "an instruction with thousands of users", result if not got else got["rows_total"])


def main():
    tap = Tap()
    with Scratch() as folder:
        for seed in ("costs", "calls", "customs", "collectives", "sources", "assigned", "heap"):
            path = folder / f"{seed}.xplane.pb"
            path.write_bytes(hostile_fields.space_bytes(hostile_fields.base_space(), seeds_hlo.seeds()[seed]))
            programs = programs_of(path.read_bytes())
            rows = check_programs(tap, seed, path, programs)
            heaps = check_heaps(tap, seed, path, programs, rows)
            tap.ok(heaps == (seed == "heap"), f"{seed}: heaps", heaps)
            check_ops(tap, seed, path, programs, 100)
        check_texts(tap, folder)
        check_names(tap, folder)
        check_damage(tap, folder)
        check_large(tap, folder)
        for name in REAL:
            path = SHARED / "traces" / f"{name}.xplane.pb"
            if not path.exists():
                tap.skip(name, f"no profile at {path}")
                continue
            programs = programs_of(path.read_bytes())
            check_heaps(tap, name, path, programs, check_programs(tap, name, path, programs))
            if len(programs) > 2:  # two of the same instructions have no name of their own
                check_ops(tap, name, path, programs, OPS_MOST)
    tap.done()


if __name__ == "__main__":
    main()
