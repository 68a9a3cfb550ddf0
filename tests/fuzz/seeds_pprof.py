# SPDX-License-Identifier: Apache-2.0
"""Seeds of fuzz_pprof: device memory profiles with their tables in each order, packed and not, damaged, and others."""

import gzip

import make_pprof
from make_profile import chunk, number


def seeds():
    samples = make_pprof.some(samples=8)
    out = {"cpu": make_pprof.encode(samples, types=(("samples", "count"), ("cpu", "nanoseconds"))),
           "one-type": make_pprof.encode(samples, types=(("space", "bytes"),)),
           "no-samples": make_pprof.encode([])}
    for order in ("jax", "strings first", "tables first"):
        for packed in (True, False):
            out[f"{order}-{packed}".replace(" ", "-")] = make_pprof.encode(samples, order, packed)
    whole = out["jax-True"]
    out["gz"] = gzip.compress(whole, mtime=0)
    out["cut"] = whole[:len(whole) * 2 // 3]
    out["strange"] = whole + number(9, 5) + chunk(14, b"???") + chunk(2, number(1, 99) + number(2, 1 << 63))
    # A value that is negative, as a varint of ten bytes, and labels with numbers.
    out["negative"] = whole + chunk(2, number(1, 1) + number(2, (1 << 64) - 5) + number(2, 7) + chunk(3, number(1, 1) + number(3, 7)))
    return out
