# SPDX-License-Identifier: Apache-2.0
"""Seeds of fuzz_pftrace: traces of another writer in each form, damaged, and of other data sources."""

import gzip

import make_pftrace


def seeds():
    trace = make_pftrace.foreign(steps=4)
    out = {"plain": trace, "late": make_pftrace.foreign(steps=3, late=True), "packed": make_pftrace.packed(trace),
           "gz": gzip.compress(trace, mtime=0), "cut": trace[:len(trace) * 2 // 3], "hole": trace[:500] + b"\0" * 90 + trace[700:],
           "twice": trace * 2, "padded": trace + b"\0" * 64}
    # Events that came from Chrome's format, and this program's own first packet.
    legacy = b"".join(make_pftrace.packet(make_pftrace.chunk(11, make_pftrace.chunk(23, "a") + make_pftrace.number(11, 5) +
                                                             make_pftrace.chunk(6, make_pftrace.number(2, ord(phase)) + make_pftrace.number(6, 9) +
                                                                                make_pftrace.number(3, 4))), 1, 0, 1000 + i)
                      for i, phase in enumerate("XBEistfbneM"))
    out["legacy"] = legacy
    out["own"] = make_pftrace.packet(make_pftrace.chunk(126, make_pftrace.chunk(1, make_pftrace.chunk(1, "tracemill.version") +
                                                                                make_pftrace.chunk(3, "0.1.0")))) + trace
    return out
