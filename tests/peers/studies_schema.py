#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What compare and scaling write keeps to schemas/comparison.schema.json and scaling.schema.json."""

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import make_profile  # noqa: E402
from schemas import problems, validator_of  # noqa: E402
from tap import Tap  # noqa: E402
from tracemill import Scratch, run  # noqa: E402


def make(folder):
    for name, maker, devices in (("a", "gpu", 1), ("b", "gpu", 2), ("c", "gpu", 3), ("d", "gpu", 5), ("e", "gpu", 2), ("cpu", "cpu", 1),
                                 ("tpu", "tpu", 2)):
        options = {"devices": devices} if maker == "gpu" else {}
        path = folder / f"{name}.xplane.pb"
        path.write_bytes(make_profile.MAKERS[maker](seed=devices, steps=9, **options).encode())
    cut = (folder / "b.xplane.pb").read_bytes()
    (folder / "cut.xplane.pb").write_bytes(cut[:len(cut) * 3 // 4])


def main():
    tap = Tap()
    studies = {  # operands, exit statuses that may be
        "compare": (("a", "b"), ("b", "e"), ("a", "b", "c", "tpu", "cpu"), ("b", "cut"), ("a", "cpu")),
        "scaling": (("a", "b"), ("a", "b", "c", "d"), ("a", "b", "e", "c"), ("a", "cut", "d"), ("a", "8=tpu")),
    }
    documents = {"compare": "comparison", "scaling": "scaling"}
    with Scratch() as folder:
        make(folder)
        for verb, rows in studies.items():
            validator = validator_of(tap, documents[verb])
            tap.ok(not validator.is_valid({}), f"the schema of {verb} refuses an empty object")
            for operands in rows:
                words = [f"{word}.xplane.pb" for word in operands]
                result = run(verb, *words, "-o", "out", "-q", "--format", "json", "--force", cwd=folder)
                name = f"{verb} {' '.join(operands)}"
                if result.status not in (0, 4):
                    tap.ok(False, name, result)
                    continue
                document = json.loads((folder / "out" / f"{verb}.json").read_text("utf-8"))
                errors = problems(validator, document)
                tap.ok(not errors, name, *errors)
                for member in [m for m in document if m != "why"]:
                    broken = {k: v for k, v in document.items() if k != member}
                    if validator.is_valid(broken):
                        tap.ok(False, f"{name}: the schema misses '{member}' where it is left out")
    tap.done()


if __name__ == "__main__":
    main()
