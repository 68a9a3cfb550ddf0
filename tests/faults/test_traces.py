#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Traces that cannot be written, or not to their end: exit status 5, a message, nothing under a final name; and inputs
that give no whole trace."""

import json
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import make_pprof  # noqa: E402
import make_profile  # noqa: E402
from tap import Tap  # noqa: E402
from test_output import MOUNT, can_mount  # noqa: E402
from tracemill import BINARY, DEMO, Scratch, run, run_without_rights  # noqa: E402

ENDINGS = (".pftrace", ".pftrace.gz", ".perfetto-trace", ".json", ".json.gz", ".csv", ".csv.gz")


def names(folder):
    return sorted(p.name for p in folder.iterdir()) if folder.exists() else []


def unwritable(tap, folder, source):
    locked = folder / "locked"
    locked.mkdir()
    locked.chmod(0o555)
    for verb, out in (("convert", locked / "a.pftrace"), ("split", locked / "parts")):
        result = run_without_rights(folder, verb, source, "-o", out)
        tap.ok(result.status == 5 and "permission denied" in result.err.lower() and not names(locked),
               f"{verb} into a folder without permission", result)
    locked.chmod(0o755)
    taken = folder / "taken.pftrace"
    taken.mkdir()
    result = run("convert", source, "-o", taken)
    tap.ok(result.status == 5 and "is a folder" in result.err and not names(taken), "a folder where the file should be", result)
    for verb, out in (("convert", folder / "x" / ("y" * 300 + ".pftrace")), ("split", folder / ("z" * 300))):
        result = run(verb, source, "-o", out)
        tap.ok(result.status == 5, f"{verb} to a name that is too long", result)
    result = run("split", source, "-o", source)
    tap.ok(result.status == 5 and source.stat().st_size > 0, "a file where the folder of parts should be", result)


def full_disk(tap, folder, source):
    place = folder / "small"
    place.mkdir()
    prefix = can_mount(place)
    if not prefix:
        tap.skip("a full disk", "no right to mount a small file system")
        return
    for verb, options in (("convert", ["-o", "out/a.pftrace"]), ("convert", ["-o", "out/a.json.gz"]), ("convert", ["-o", "out/a.csv"]),
                          ("split", ["-o", "out", "--max-events", "200"]), ("split", ["-o", "out", "--format", "json"]),
                          ("report", ["-o", "out", "--format", "html,perfetto"])):
        script = 'mkdir -p out; "$@"; echo "status $?"; ls -A out | sed "s/^/left /"'
        command = prefix + ["sh", "-c", MOUNT.format(size="16k"), "sh", str(place), "sh", "-c", f"cd '{place}'; {script}",
                            "sh", str(BINARY), verb, str(source), *options, "--tmp", str(folder)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        lines = done.stdout.splitlines()
        left = [line for line in lines if line.startswith("left ")]
        tap.ok("status 5" in lines and not left and "no space left" in done.stderr.lower(),
               f"{verb} {options[1]} on a full disk leaves nothing", done.stdout, done.stderr)


def killed(tap, folder):
    """A signal in the middle: nothing under the name of a file, no list of parts, and no part that is not whole."""
    path = folder / "large.xplane.pb"
    path.write_bytes(make_profile.gpu(seed=5, steps=30, devices=4, per_step=150).encode() * 10)  # together one message
    whole = folder / "whole"
    result = run("split", path, "-o", whole, "--max-events", "20000")
    sizes = {p.name: p.stat().st_size for p in whole.iterdir()} if result.status == 0 else {}
    tap.ok(len(sizes) > 4, "a split to compare with", result)
    for number in (signal.SIGTERM, signal.SIGINT):
        for wait in (0.05, 0.3, 0.8):
            for verb in ("convert", "split"):
                out = folder / f"killed-{verb}-{int(number)}-{wait}"
                out.mkdir()
                to = ["-o", out / "a.pftrace"] if verb == "convert" else ["-o", out, "--max-events", "20000"]
                process = subprocess.Popen([BINARY, verb, path, *to], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                time.sleep(wait)
                process.send_signal(number)
                status = process.wait()
                left = names(out)
                fine = status == 0 or (status in (-number, 128 + number) and "index.json" not in left and "a.pftrace" not in left
                                       and all((out / n).stat().st_size == sizes.get(n) for n in left))
                tap.ok(fine, f"{verb}: signal {int(number)} after {wait} s", f"status {status}, left {left}")


def half_inputs(tap, folder, source):
    """What could be read is written, exit status 4; --strict leaves no file; what has no events is refused."""
    cut = folder / "cut.xplane.pb"
    cut.write_bytes(source.read_bytes()[:source.stat().st_size * 2 // 3])
    for plain in ((), ("--plain",)):
        for ending in ENDINGS:
            out = folder / f"cut{'-plain' if plain else ''}{ending}"
            result = run("convert", cut, "-o", out, *plain)
            tap.ok(result.status == 4 and out.stat().st_size > 0 and "partial" in result.err, f"{out.name}: what could be read",
                   result)
            out.unlink(missing_ok=True)
            result = run("convert", cut, "-o", out, "--strict", *plain)
            tap.ok(result.status == 3 and not out.exists(), f"{out.name}: nothing under --strict", result)
        parts = folder / f"cut{'-plain' if plain else ''}.split"
        result = run("split", cut, "-o", parts, "--strict", "--max-events", "100", *plain)
        tap.ok(result.status == 3 and not names(parts), f"{parts.name}: nothing under --strict", result)
        result = run("split", cut, "-o", parts, *plain)
        tap.ok(result.status == 4 and json.loads((parts / "index.json").read_text())["partial"], f"{parts.name}: marked", result)
    profile = make_pprof.write(folder / "memory.prof", make_pprof.some())
    partial = folder / "partial"
    run("report", source, "-o", partial, "--format", "partial")
    for verb, to in (("convert", folder / "no.pftrace"), ("split", folder / "no")):
        for what in (profile, partial / "run.partial"):
            result = run(verb, what, "-o", to)
            tap.ok(result.status == 2 and "no events" in result.err and not to.exists(), f"{verb} {Path(what).name}", result)
    result = run("convert", "-", source, "-o", folder / "no.pftrace", stdin=source.read_bytes())
    tap.ok(result.status == 2 and "stdin" in result.err, "stdin beside a file", result)
    result = run("convert", "-", "-o", folder / "stdin.pftrace", stdin=source.read_bytes())
    tap.ok(result.status == 0, "stdin alone", result)
    named = folder / "stdin.xplane.pb"
    named.write_bytes(source.read_bytes())
    for ending in (".csv", ".json"):
        run("convert", named, "-o", folder / f"file{ending}")
        run("convert", "-", "-o", folder / f"stdin{ending}", stdin=source.read_bytes())
        made = [(folder / f"{name}{ending}").read_bytes().replace(b'"stdin.xplane.pb"', b'"-"') for name in ("file", "stdin")]
        tap.ok(made[0] == made[1], f"{ending}: stdin gives what the file gives")


def older_split(tap, folder, source):
    out = folder / "again"
    run("split", source, "-o", out, "--max-events", "100")
    many = names(out)
    (out / "notes.txt").write_text("mine")
    result = run("split", source, "-o", out)
    left = names(out)
    tap.ok(result.status == 0 and len(many) > 4 and left == ["index.html", "index.json", "notes.txt", "part-0001.pftrace"],
           "an older split is replaced, and nothing else", result, many, left)
    (out / "index.json").unlink()
    result = run("split", source, "-o", out)
    tap.ok(result.status == 5 and names(out) == ["index.html", "notes.txt", "part-0001.pftrace"], "a folder of others is left alone",
           result)
    result = run("split", source, "-o", out, "--force")
    tap.ok(result.status == 0 and (out / "notes.txt").read_text() == "mine", "but with --force", result)
    shutil.rmtree(out)


def main():
    tap = Tap()
    with Scratch() as folder:
        source = folder / "host0.xplane.pb"
        source.write_bytes(make_profile.gpu(seed=3).encode())
        unwritable(tap, folder, source)
        full_disk(tap, folder, DEMO)
        killed(tap, folder)
        half_inputs(tap, folder, source)
        older_split(tap, folder, source)
    tap.done()


if __name__ == "__main__":
    main()
