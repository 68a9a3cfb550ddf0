# SPDX-License-Identifier: Apache-2.0
"""Inputs in which one text field after the other holds a text that means harm.

An input is made as by a profiler (make_profile.py, make_pytorch.py, make_pprof.py) and then changed on the wire: in
every message that has the field, or could have it.  A change is a function from what stood there (bytes) to what
stands there then."""

import copy
import json

import make_profile
import make_pprof
import make_pytorch
from make_profile import chunk, number, varint
from xspace import BYTES, VARINT
from xspace import varint as read_varint

# Message: {number of a field: (its name, the message it holds; "" = a text)}.  A map's entry is a message of its own.
SPACE = {
    "space": {1: ("plane", "plane"), 2: ("error", ""), 3: ("warning", ""), 4: ("host", "")},
    "plane": {2: ("name", ""), 3: ("line", "line"), 4: ("event metadata", "event entry"),
              5: ("stat metadata", "stat entry"), 6: ("stat", "stat")},
    "line": {2: ("name", ""), 4: ("event", "event"), 11: ("display name", "")},
    "event": {4: ("stat", "stat")},
    "event entry": {2: ("value", "event name")},
    "event name": {2: ("name", ""), 3: ("metadata", ""), 4: ("display name", ""), 5: ("stat", "stat")},
    "stat entry": {2: ("value", "stat name")},
    "stat name": {2: ("name", ""), 3: ("description", "")},
    "stat": {},
}
HLO = {
    "proto": {1: ("module", "module")},
    "module": {1: ("name", ""), 2: ("entry", ""), 3: ("computation", "computation"), 17: ("frames", "frames")},
    "frames": {1: ("file", ""), 2: ("function", "")},
    "computation": {1: ("name", ""), 2: ("instruction", "instruction"), 8: ("thread", "")},
    "instruction": {1: ("name", ""), 2: ("opcode", ""), 7: ("metadata", "op metadata"), 28: ("target", ""),
                    43: ("config", "")},
    "op metadata": {1: ("type", ""), 2: ("path", ""), 3: ("file", "")},
}


def rewrite(data, schema, message, change):
    """The message with change(message, field, bytes) in place of each of its texts, and of those within."""
    out, at, known, seen = [], 0, schema[message], set()
    while at < len(data):
        begin = at
        tag, at = read_varint(data, at)
        if tag & 7 != BYTES:
            at = read_varint(data, at)[1] if tag & 7 == VARINT else at + (8 if tag & 7 == 1 else 4)
            out.append(data[begin:at])
            continue
        size, at = read_varint(data, at)
        value, at = data[at:at + size], at + size
        name, inner = known.get(tag >> 3, (None, None))
        if inner:
            value = rewrite(value, schema, inner, change)
        elif name:
            seen.add(name)
            value = change(message, name, value)
        out.append(chunk(tag >> 3, value))
    absent = [(n, name) for n, (name, inner) in known.items() if not inner and name not in seen]
    return b"".join(out) + b"".join(chunk(n, value) for n, name in absent if (value := change(message, name, b"")))


def text_fields(schema):
    return [(message, name) for message, parts in schema.items() for name, inner in parts.values() if not inner]


def at_field(message, field, change):
    return lambda m, f, value: change(value) if (m, f) == (message, field) else value


# --- XSpace ---------------------------------------------------------------------------------------------------

def instruction(id, name, opcode, path, target=""):
    place = chunk(2, path) + chunk(3, "/home/a/train.py") + number(4, 40 + id)
    shape = number(2, 11) + chunk(3, varint(64)) + chunk(3, varint(64))
    return chunk(2, chunk(1, name) + chunk(2, opcode) + chunk(3, shape) + chunk(7, place) + chunk(28, target) +
                 number(35, id))


def program():
    """A small HLO program whose instructions are those of make_profile.gpu."""
    rows = [("gemm_fusion_dot_1", "dot"), ("loop_add_fusion", "fusion"), ("input_reduce_fusion_2", "fusion"),
            ("transpose_memset_kernel", "custom-call")]
    body = b"".join(instruction(i + 1, n, o, f"jit(train_step)/layer_{i}/{n}", "cublas" if o == "custom-call" else "")
                    for i, (n, o) in enumerate(rows))
    frames = chunk(1, "/home/a/train.py") + chunk(2, "step")
    return chunk(1, chunk(1, "jit_train_step") + chunk(2, "main") + chunk(3, chunk(1, "main") + body + number(5, 1)) +
                 number(5, 7) + chunk(17, frames))


def base_space(kind="gpu"):
    """out: make_profile.Space, small, of GPUs, TPUs or CPUs, with what most sections of a report need"""
    space = make_profile.MAKERS[kind](seed=5, steps=3, devices=2, per_step=16)
    space.planes[-2].stats["XLA_FLAGS"] = "--xla_gpu_enable_latency_hiding_scheduler=true"
    return space


def space_bytes(space, hlo=None):
    """hlo: of its program, whose plane is added"""
    metadata = chunk(4, number(1, 7) + chunk(2, number(1, 7) + chunk(2, "jit_train_step(7)") +
                                             chunk(5, number(1, 1) + chunk(6, program() if hlo is None else hlo))))
    names = chunk(5, number(1, 1) + chunk(2, number(1, 1) + chunk(2, "Hlo Proto")))
    return space.encode() + chunk(1, number(1, 90) + chunk(2, "/host:metadata") + metadata + names)


def stat_texts(space):
    """Names of the statistics with a text."""
    holders = [holder for plane in space.planes for line in plane.lines for event in line.events
               for holder in (event.stats, event.facts)] + [plane.stats for plane in space.planes]
    return sorted({name for holder in holders for name, value in holder.items() if isinstance(value, str)})


def with_stat(space, stat, change, as_ref, as_bytes=False):
    """The bytes of a profile whose texts of that statistic are changed."""
    changed = copy.deepcopy(space)
    for plane in changed.planes:
        holders = [plane.stats] + [h for line in plane.lines for e in line.events for h in (e.stats, e.facts)]
        for holder in holders:
            if isinstance(holder.get(stat), str):
                value = change(holder[stat].encode())
                holder[stat] = value if as_bytes else Raw(value)
    return changed.encode(make_profile.Encoding(text_as_ref=as_ref))


class Raw(str):
    """A text of any bytes, for writers that encode a str."""

    def __new__(cls, value):
        raw = super().__new__(cls, value.decode("utf-8", "replace"))
        raw.value = value
        return raw

    def encode(self, *_):
        return self.value


def spaces(change, kind="gpu"):
    """(name of the field, bytes of the profile) for every text field of an XSpace and of its program."""
    space = base_space(kind)
    plain = space_bytes(space)
    for message, field in text_fields(SPACE):
        yield f"{kind} {message}: {field}", rewrite(plain, SPACE, "space", at_field(message, field, change))
    for stat in stat_texts(space):
        yield f"{kind} text: {stat}", with_stat(space, stat, change, as_ref=False)
        yield f"{kind} reference: {stat}", with_stat(space, stat, change, as_ref=True)
    if kind == "gpu":
        for message, field in text_fields(HLO):
            hlo = rewrite(program(), HLO, "proto", at_field(message, field, change))
            yield f"program {message}: {field}", space_bytes(space, hlo)
        yield "bytes: name", with_stat(space, "name", change, as_ref=False, as_bytes=True)


HOST_CALLS = (b"train", b"cu", b"Mem", b"backend")  # names that the program knows


def full_space(change):
    """The bytes of a profile with the change in what a report shows most of, all at once."""
    def inside(message, field, value):
        shown = message in ("space", "line") or (message, field) == ("event name", "display name")
        is_work = (message, field) == ("event name", "name") and not value.startswith(HOST_CALLS)
        return change(value) if shown or is_work else value
    hlo = rewrite(program(), HLO, "proto", lambda m, f, value: change(value) if f != "opcode" else value)
    return rewrite(space_bytes(base_space(), hlo), SPACE, "space", inside)


# --- Chrome JSON ----------------------------------------------------------------------------------------------

def json_bytes(text):
    """A text of any bytes inside a JSON text: bytes that are no UTF-8 stand there as they are."""
    return json.dumps(text.decode("utf-8", "surrogateescape"), ensure_ascii=False).encode("utf-8", "surrogateescape")


MARK = "@@changed@@"


def _changed(document, change, pick):
    """The JSON's bytes; pick(event) puts MARK + the old text in front of what is to be changed."""
    document = copy.deepcopy(document)
    for event in document["traceEvents"]:
        pick(event)
    parts = json.dumps(document).split(f'"{MARK}')
    out = [parts[0].encode()]
    for part in parts[1:]:
        old, _, rest = part.partition('"')
        out.append(json_bytes(change(json.loads(f'"{old}"').encode())) + rest.encode())
    return b"".join(out)


def _mark(holder, key):
    if isinstance(holder.get(key), str):
        holder[key] = MARK + holder[key]


def _mark_keys(event):
    if event.get("ph") == "X" and "args" in event:
        event["args"] = {MARK + key if i == 0 else key: value for i, (key, value) in enumerate(event["args"].items())}


def _mark_names(kind):
    def pick(event):
        if event.get("name") == kind:
            _mark(event["args"], "name")
    return pick


def _mark_values(event):
    if event.get("ph") != "M":
        for key in list(event.get("args", {})):
            _mark(event["args"], key)


JSON_FIELDS = {
    "process name": _mark_names("process_name"),
    "thread name": _mark_names("thread_name"),
    "event name": lambda event: _mark(event, "name") if event.get("ph") != "M" else None,
    "category": lambda event: _mark(event, "cat"),
    "phase": lambda event: _mark(event, "ph") if event.get("ph") == "i" else None,
    "process": lambda event: _mark(event, "pid"),
    "thread": lambda event: _mark(event, "tid"),
    "argument key": _mark_keys,
    "argument": _mark_values,
}


def chrome_jsons(change):
    """(name of the field, bytes) for the JSONs of both profilers."""
    plain = {"jax": json.loads(make_profile.chrome_json(base_space())),
             "pytorch": json.loads(make_pytorch.rank_of(ranks=1, steps=2)),
             "old pytorch": json.loads(make_pytorch.rank_of(ranks=1, steps=2, old=True))}
    for kind, document in plain.items():
        for field, pick in JSON_FIELDS.items():
            if kind != "old pytorch" or field in ("category", "process", "thread"):
                yield f"{kind} json {field}", _changed(document, change, pick)


# --- memory profiles ------------------------------------------------------------------------------------------

def memory_profiles(change):
    """(name of the field, bytes) for a device memory profile."""
    def put(pick):
        samples = make_pprof.some(samples=12)
        for sample in samples:
            pick(sample)
        return make_pprof.encode(samples)

    def frame(place):
        def pick(sample):
            sample.stack = [tuple(Raw(change(v.encode())) if i == place else v for i, v in enumerate(f))
                            for f in sample.stack]
        return pick

    def own(field):
        return lambda sample: setattr(sample, field, Raw(change(getattr(sample, field).encode())))

    yield "memory function", put(frame(0))
    yield "memory file", put(frame(1))
    yield "memory kind", put(own("kind"))
    yield "memory device", put(own("device"))
    types = tuple((Raw(change(t)), Raw(change(u))) for t, u in ((b"allocations", b"count"), (b"space", b"bytes")))
    yield "memory type", make_pprof.encode(make_pprof.some(samples=12), types=types)
