#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every summary keeps to schemas/summary.schema.json, redacted or not."""

import sys
from fnmatch import fnmatchcase
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import make_pprof  # noqa: E402
import make_profile  # noqa: E402
import make_pytorch  # noqa: E402
from schemas import problems, validator_of  # noqa: E402
from tap import Tap  # noqa: E402
from tracemill import DEMO, SHARED, Scratch, summary_of  # noqa: E402


FOLDERS = ("xspace", "jax-json", "logdir", "kineto", "chrome", "memory")
NOT_READ = ("corrupt-*", "perfetto--*", "*rocprof-908*")


def is_refused(path):
    return any(fnmatchcase(path.name, pattern) for pattern in NOT_READ)


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
        rank = folder / "rank0.pt.trace.json"
        rank.write_bytes(make_pytorch.rank_of())
        check(tap, validator, "pytorch", rank, folder)
        check(tap, validator, "the demo, redacted", DEMO, folder, "--redact")
        check(tap, validator, "pytorch, redacted", rank, folder, "--redact")
        check(tap, validator, "a device memory profile, redacted", prof, folder, "--redact")
        paths = sorted(p for f in FOLDERS for p in (SHARED / "traces" / f).rglob("*") if p.is_file() and not is_refused(p))
        if not paths:
            tap.skip("summaries of real profiles", f"no profiles at {SHARED}")
        for path in paths:
            name = path.relative_to(SHARED / "traces")
            if path.parent.name == "xspace":
                check(tap, validator, str(name).replace("/", " "), path, folder, statuses=(0, 4))
            check(tap, validator, f"{name}, redacted".replace("/", " "), path, folder, "--redact", statuses=(0, 4))
    tap.done()


if __name__ == "__main__":
    main()
