#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Outputs and spill files that cannot be written: exit status 5, a message, and no file but the older ones."""

import signal
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import make_profile  # noqa: E402
from tap import Tap  # noqa: E402
from tracemill import BINARY, DEMO, Scratch, run, run_without_rights  # noqa: E402


def unwritable(tap, folder):
    locked = folder / "locked"
    locked.mkdir()
    locked.chmod(0o555)
    source = folder / "host0.xplane.pb"
    source.write_bytes(make_profile.cpu().encode())
    result = run_without_rights(folder, "report", source, "-o", locked / "out")
    tap.ok(result.status == 5 and "permission denied" in result.err.lower(), "a folder without permission", result)
    file = folder / "file"
    file.write_text("mine")
    result = run("report", DEMO, "-o", file)
    tap.ok(result.status == 5 and file.read_text() == "mine", "a file where the folder should be", result)
    result = run("report", DEMO, "-o", folder / ("x" * 300))
    tap.ok(result.status == 5, "a name that is too long", result)
    taken = folder / "taken"
    (taken / "report.html").mkdir(parents=True)
    result = run("report", DEMO, "-o", taken)
    # Each file is replaced as a whole, so some may be there; none under another name.
    left = {p.name for p in taken.iterdir()}
    tap.ok(result.status == 5 and left <= {"report.html", "report.txt", "report.pdf", "summary.json"},
           "a folder where report.html should be", result, sorted(left))


def spill_folder(tap, folder):
    result = run("report", DEMO, "-o", folder / "spill", "--tmp", folder / "nowhere")
    tap.ok(result.status in (2, 5) and not (folder / "spill").exists(), "a spill folder that is not there", result)


MOUNT = 'mount -t tmpfs -o size={size} none "$1" && shift && exec "$@"'


def can_mount(folder):
    """The command that runs another with a small file system on `folder`, or None."""
    for prefix in (["unshare", "--mount"], ["unshare", "--user", "--map-root-user", "--mount"]):
        command = prefix + ["sh", "-c", MOUNT.format(size="64k"), "sh", str(folder), "true"]
        try:
            if subprocess.run(command, capture_output=True, check=False).returncode == 0:
                return prefix
        except OSError:
            pass
    return None


def full_disk(tap, folder):
    place = folder / "small"
    place.mkdir()
    prefix = can_mount(place)
    if not prefix:
        tap.skip("a full disk", "no right to mount a small file system")
        return
    for size in ("16k", "64k", "256k"):
        # After the run, inside the same mount: what lies in the output folder.
        script = '"$@"; echo "status $?"; ls -A out 2>/dev/null | sed "s/^/left /"'
        command = prefix + ["sh", "-c", MOUNT.format(size=size), "sh", str(place), "sh", "-c", f"cd '{place}'; {script}",
                            "sh", str(BINARY), "report", str(DEMO), "-o", "out"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        lines = done.stdout.splitlines()
        left = sorted(line[5:] for line in lines if line.startswith("left "))
        whole = ["report.html", "report.pdf", "report.txt", "summary.json"]
        good = ("status 5" in lines and left == [] and "no space left" in done.stderr.lower()) or \
            ("status 0" in lines and left == whole)
        tap.ok(good, f"a disk of {size}: all or nothing", done.stdout, done.stderr)


def standard_output(tap):
    with open("/dev/full", "wb") as full:
        for verb in (["inspect", DEMO], ["list", DEMO], ["help"], ["--version"]):
            done = subprocess.run([BINARY, *verb], stdout=full, stderr=subprocess.PIPE, check=False)
            tap.ok(done.returncode == 5, f"{verb[0]} onto a full device", done.returncode, done.stderr)
    done = subprocess.run(f"'{BINARY}' inspect '{DEMO}' | head -c 1 >/dev/null; echo ${{PIPESTATUS[0]}}", shell=True,
                          executable="/bin/bash", capture_output=True, text=True, check=False)
    tap.ok(done.stdout.strip() in ("0", "141"), "a reader that goes away is no error", done.stdout, done.stderr)


def killed(tap, folder):
    """A signal in the middle: status 128 + n, no temporary file, no half report."""
    path = folder / "large.xplane.pb"
    path.write_bytes(make_profile.gpu(seed=5, steps=30, devices=4, per_step=1500).encode())
    for number in (signal.SIGTERM, signal.SIGINT):
        for wait in (0.02, 0.1, 0.3):
            out = folder / f"killed-{number}-{wait}"
            process = subprocess.Popen([BINARY, "report", path, "-o", out], stdout=subprocess.DEVNULL,
                                       stderr=subprocess.DEVNULL)
            time.sleep(wait)
            process.send_signal(number)
            status = process.wait()
            left = sorted(p.name for p in out.iterdir()) if out.exists() else []
            ended = status in (-number, 128 + number) and not any(n.startswith(".") or n.endswith(".part") for n in left)
            tap.ok(ended or status == 0, f"signal {int(number)} after {wait} s", f"status {status}, left {left}")


def main():
    tap = Tap()
    with Scratch() as folder:
        unwritable(tap, folder)
        spill_folder(tap, folder)
        full_disk(tap, folder)
        standard_output(tap)
        killed(tap, folder)
        (folder / "locked").chmod(0o755)
    tap.done()


if __name__ == "__main__":
    main()
