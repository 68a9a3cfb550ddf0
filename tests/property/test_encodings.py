#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The format allows many byte strings for one profile; every one gives the same figures."""

import gzip
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import make_profile  # noqa: E402
from make_profile import Encoding  # noqa: E402
from tap import Tap  # noqa: E402
from tracemill import Scratch, summary_of  # noqa: E402

ENCODINGS = {
    "tables before lines": Encoding(metadata_first=True),
    "strings in place": Encoding(text_as_ref=False),
    "events in any order": Encoding(shuffle=5),
    "times since the epoch": Encoding(absolute=True),
    "lines with a base of their own": Encoding(line_base_ns=39_000_001),
    "planes in two parts": Encoding(split_planes=True),
    "lines in two parts": Encoding(split_lines=True),
    "unknown fields everywhere": Encoding(unknown_fields=True),
    "all of it": Encoding(True, False, 9, True, 0, True, True, True),
}


def figures(summary):
    """What must not depend on the bytes: everything but the file itself and how it was written."""
    return {k: v for k, v in summary.items() if k not in ("input", "coverage")}


def first_difference(a, b, path="summary"):
    if isinstance(a, dict) and isinstance(b, dict):
        for key in list(a) + [k for k in b if k not in a]:
            if a.get(key) != b.get(key):
                return first_difference(a.get(key), b.get(key), f"{path}.{key}")
    if isinstance(a, list) and isinstance(b, list):
        for i in range(max(len(a), len(b))):
            x, y = a[i] if i < len(a) else "nothing", b[i] if i < len(b) else "nothing"
            if x != y:
                return first_difference(x, y, f"{path}[{i}]")
    return f"{path}: {a!r} as usual, {b!r} so"


def report(data, folder, label):
    where = folder / label.replace(" ", "-")
    where.mkdir()
    path = where / "host0.xplane.pb"  # the same name: ids and titles come from it
    path.write_bytes(data)
    return summary_of(path, where / "out")


def main():
    tap = Tap()
    for kind, make in make_profile.MAKERS.items():
        space = make(seed=3)
        plain = space.encode()
        inputs = {label: space.encode(how) for label, how in ENCODINGS.items()}
        inputs["gzip"] = gzip.compress(plain, mtime=0)
        third = len(plain) // 3
        inputs["gzip in three members"] = b"".join(
            gzip.compress(part, mtime=0) for part in (plain[:third], plain[third:2 * third], plain[2 * third:]))
        with Scratch() as folder:
            result, usual = report(plain, folder, "as the writer does it")
            if usual is None or result.status != 0:
                tap.ok(False, f"{kind}: as the writer does it", result)
                continue
            for label, data in inputs.items():
                result, summary = report(data, folder, label)
                if summary is None or result.status != 0:
                    tap.ok(False, f"{kind}: {label}", result)
                    continue
                same = figures(summary) == figures(usual)
                tap.ok(same, f"{kind}: {label}", "" if same else first_difference(figures(usual), figures(summary)))
    tap.done()


if __name__ == "__main__":
    main()
