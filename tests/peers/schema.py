#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every summary keeps to schemas/summary.schema.json."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import make_pprof  # noqa: E402
import make_profile  # noqa: E402
from schemas import problems, validator_of  # noqa: E402
from tap import Tap  # noqa: E402
from tracemill import DEMO, SHARED, Scratch, summary_of  # noqa: E402


def check(tap, validator, name, source, folder, *options, statuses=(0,)):
    result, summary = summary_of(source, folder / name.replace(" ", "-"), *options)
    if summary is None or result.status not in statuses:
        tap.ok(False, name, result)
        return None
    errors = problems(validator, summary)
    tap.ok(not errors, name, *errors)
    return summary


def main():
    tap = Tap()
    validator = validator_of(tap, "summary")
    tap.ok(not validator.is_valid({}), "the schema refuses an empty object")
    with Scratch() as folder:
        summary = check(tap, validator, "demo", DEMO, folder)
        if summary:
            for section in [s for s in summary if s != "why"]:  # there is none where nothing is null
                broken = dict(summary)
                del broken[section]
                tap.ok(not validator.is_valid(broken), f"the schema misses '{section}' where it is left out")
            tap.ok(not validator.is_valid(dict(summary, surprise=1)), "the schema refuses an unknown section")
        for name, make in make_profile.MAKERS.items():
            path = folder / f"{name}.xplane.pb"
            path.write_bytes(make(seed=2).encode())
            check(tap, validator, f"{name} profile", path, folder)
            check(tap, validator, f"{name} profile, all steps", path, folder, "--steps", "all")
            cut = folder / f"{name}-cut.xplane.pb"
            cut.write_bytes(path.read_bytes()[:-path.stat().st_size // 3])
            check(tap, validator, f"{name} profile, cut", cut, folder, statuses=(0, 4))
        prof = make_pprof.write(folder / "memory.prof", make_pprof.some())
        check(tap, validator, "a device memory profile alone", prof, folder)
        check(tap, validator, "a device memory profile beside the demo", [DEMO, prof], folder)
        paths = sorted((SHARED / "traces" / "xspace").glob("*.xplane.pb"))
        if not paths:
            tap.skip("summaries of real profiles", f"no profiles at {SHARED}")
        for path in paths:
            if not path.name.startswith("corrupt"):
                check(tap, validator, path.name, path, folder)
    tap.done()


if __name__ == "__main__":
    main()
