# SPDX-License-Identifier: Apache-2.0
"""Small device memory profiles, as jax.profiler.save_device_memory_profile() writes them.

Pure Python.  A profile is a list of samples; encode() writes them in any of the orders that the format allows.
Field numbers: schemas/profile.proto.
"""

import gzip
import random
from dataclasses import dataclass, field

from make_profile import chunk, number, varint

JAX = "/usr/lib/python3/site-packages/jax/_src/"


@dataclass
class Sample:
    count: int
    bytes: int
    stack: list = field(default_factory=list)  # (function, file, line), from the inside
    kind: str = "buffer"
    device: str = "cuda:0"


def some(seed=1, samples=40, devices=2):
    """Buffers and programs of a training script, from few places of its code."""
    dice = random.Random(seed)
    calls = [[("apply_primitive", JAX + "dispatch.py", 91), ("array", JAX + "numpy/array.py", 268)],
             [("cache_miss", JAX + "pjit.py", 292), ("reraise_with_filtered_traceback", JAX + "traceback_util.py", 182)],
             [("apply", "/usr/lib/python3/site-packages/flax/core.py", 12)]]
    out = []
    for _ in range(samples):
        own = [("init" if dice.random() < 0.5 else "step", "/home/a/train.py", dice.randint(1, 6)),
               ("main", "/home/a/train.py", 40), ("<module>", "/home/a/train.py", 50)]
        program = dice.random() < 0.3
        out.append(Sample(dice.randint(1, 4), dice.randint(0, 1 << 20), dice.choice(calls) + own,
                          "executable" if program else "buffer",
                          "" if program else f"cuda:{dice.randrange(devices)}"))
    return out


class Tables:
    """Strings, functions and locations by their numbers."""

    def __init__(self):
        self.strings, self.functions, self.locations = [""], {}, {}

    def text(self, text):
        if text not in self.strings:
            self.strings.append(text)
        return self.strings.index(text)

    def location(self, frame):
        name, file, line = frame
        function = self.functions.setdefault((name, file), len(self.functions) + 1)
        return self.locations.setdefault((function, line), len(self.locations) + 1)


def encode_sample(tables, sample, packed):
    ids = [tables.location(frame) for frame in sample.stack]
    values = [sample.count, sample.bytes]
    if packed:
        out = chunk(1, b"".join(map(varint, ids))) + chunk(2, b"".join(map(varint, values)))
    else:
        out = b"".join(varint(1 << 3) + varint(v) for v in ids) + b"".join(varint(2 << 3) + varint(v) for v in values)
    for key, value in (("kind", sample.kind), ("device", sample.device)):
        if value:
            out += chunk(3, number(1, tables.text(key)) + number(2, tables.text(value)))
    return out


def encode(samples, order="jax", packed=True, types=(("allocations", "count"), ("space", "bytes"))):
    """The bytes of a profile, plain.  order: "jax", or "strings first" and "tables first" """
    tables = Tables()
    parts = {"types": b"".join(chunk(1, number(1, tables.text(t)) + number(2, tables.text(u))) for t, u in types),
             "samples": b"".join(chunk(2, encode_sample(tables, s, packed)) for s in samples)}
    parts["locations"] = b"".join(chunk(4, number(1, i) + chunk(4, number(1, f) + number(2, line)))
                                  for (f, line), i in tables.locations.items())
    parts["functions"] = b"".join(chunk(5, number(1, i) + number(2, tables.text(name)) + number(4, tables.text(file)))
                                  for (name, file), i in tables.functions.items())
    parts["strings"] = b"".join(chunk(6, s) for s in tables.strings)
    orders = {"jax": ("types", "samples", "locations", "functions", "strings"),
              "strings first": ("strings", "types", "samples", "locations", "functions"),
              "tables first": ("functions", "locations", "strings", "samples", "types")}
    return b"".join(parts[p] for p in orders[order])


def write(path, samples, **how):
    path.write_bytes(gzip.compress(encode(samples, **how), 6, mtime=0))
    return path
