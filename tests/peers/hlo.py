#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the HLO in a profile says of its ops, op by op, against the exact truth of generated profiles; and the real
profiles that hold programs: all of their ops are found, and nothing is missing that they tell.

The generator ($TM_SHARED/tools/make_trace.py) and the profiles are of other hands; without them it is skipped.
"""

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from differences import Differences  # noqa: E402
from made import GENERATOR, run_generator  # noqa: E402
from tap import Tap  # noqa: E402
from tracemill import BUILD, SHARED, Scratch, run  # noqa: E402

PROGRAM = BUILD / "tests" / "hlo_ops"
MADE = {
    "gpu": ("--platform", "gpu", "--devices", "2"),
    "gpu-graphs": ("--platform", "gpu", "--devices", "2", "--graphs", "expanded"),
    "gpu-comm": ("--platform", "gpu", "--devices", "4", "--scenario", "comm"),
    "tpu": ("--platform", "tpu", "--devices", "2"),
    "tpu-comm": ("--platform", "tpu", "--devices", "4", "--scenario", "comm"),
}
# Of real profiles: programs, instructions, events that name an op, those that were joined.
REAL = {
    "jax-mi300-conv-8gpu": (8, 850, 198, 198),
    "jax-mi300-gemm": (16, 68, 42, 42),
    "jax-mi355-fused-attention": (9, 946, 150, 150),
    "xprof-tpu-v6e-inference": (4, 43, 6601, 6613),  # also what asynchronous lines and modules hold
    "xla-gtx1080ti": (2, None, 2, 2),
}


def read(path, *options):
    """The ops by (program, name), the programs, and the counts; None where the program failed."""
    result = run(*options, path, binary=PROGRAM)
    if result.status:
        return None, result
    rows = [json.loads(line) for line in result.out.splitlines()]
    ops = {(row["program_id"], row["name"]): row for row in rows if "name" in row}
    return (ops, [row for row in rows if "instructions" in row], rows[-1]), result


def compare_ops(d, truth, ops):
    program = truth["program_id"]
    program -= 2**64 if program >= 2**63 else 0
    for name, want in truth["ops"].items():
        row = ops.get((program, name))
        if not d.equal(f"{name}", True, row is not None):
            continue
        d.equal(f"{name}.flops", want["flops"], row.get("flops"))
        d.equal(f"{name}.bytes", want["bytes"], row.get("bytes"))
        d.equal(f"{name}.path", want["op_name"], row["path"])
        d.equal(f"{name}.source", want["source"], row["source"])
        d.equal(f"{name}.collective_bytes", want.get("collective_bytes", 0), row["message_bytes"])
        d.equal(f"{name}.group_size", want.get("group_size", 0), row["group_size"])


def made(tap, folder):
    for name, options in MADE.items():
        prefix = folder / name
        done = run_generator(prefix, "--events", 5000, "--hlo", *options)
        if done.returncode:
            tap.skip(name, "the generator does not run")
            continue
        got, result = read(f"{prefix}.xplane.pb")
        if not got:
            tap.ok(False, name, result)
            continue
        d = Differences(name)
        truth = json.loads(Path(f"{prefix}.truth.json").read_text())["hosts"][0]["hlo"]
        compare_ops(d, truth, got[0])
        tap.ok(not d.wrong, f"{name}: {len(truth['ops'])} ops", d.report())
        small = read(f"{prefix}.xplane.pb", "-m", "32")[1]
        tap.ok(small.raw_out == result.raw_out, f"{name}: the same with 32 MiB")


def real(tap):
    for name, (programs, instructions, named, joined) in REAL.items():
        path = SHARED / "traces" / "xspace" / f"{name}.xplane.pb"
        if not path.exists():
            tap.skip(name, f"no profile at {path}")
            continue
        got, result = read(path)
        if not got:
            tap.ok(False, name, result)
            continue
        d = Differences(name)
        d.equal("programs", programs, len(got[1]))
        if instructions:
            d.equal("instructions", instructions, sum(row["instructions"] for row in got[1]))
        d.equal("named", named, got[2]["named"])
        d.equal("joined", joined, got[2]["joined"])
        d.equal("why", [""] * len(got[1]), [row["why"] for row in got[1]])
        tap.ok(not d.wrong, f"{name}: {len(got[0])} ops", d.report())


def main():
    tap = Tap()
    with Scratch() as folder:
        if GENERATOR.exists():
            made(tap, folder)
        else:
            tap.skip("generated profiles", f"no generator at {GENERATOR}")
        real(tap)
    tap.done()


if __name__ == "__main__":
    main()
