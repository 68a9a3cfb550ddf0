#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Outputs and spill files that cannot be written: exit status 5, a message, and no file but the older ones."""

import csv
import fcntl
import hashlib
import os
import shlex
import shutil
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import faulted_verbs  # noqa: E402
import make_profile  # noqa: E402
from tap import Tap  # noqa: E402
from tracemill import BINARY, DEMO, Scratch, run, run_without_rights  # noqa: E402


FORMATS = "html,pdf,text,json,markdown,csv,collapsed"
FILES = ["csv", "report.html", "report.md", "report.pdf", "report.txt", "scopes.collapsed", "summary.json"]
MAP_HEAD = b"tracemill names 1\nkey "


def content(folder):
    """Of all that lies there, hidden or not: what it is."""
    return {str(p.relative_to(folder)): hashlib.sha256(p.read_bytes()).hexdigest() if p.is_file() else "a folder"
            for p in sorted(folder.rglob("*"))} if folder.exists() else None


def is_whole(tables):
    """A folder of tables has what its index lists, and nothing else."""
    with open(tables / "index.csv", newline="", encoding="utf-8") as file:
        listed = {row["file"] for row in csv.DictReader(file)}
    return listed | {"index.csv"} == {p.name for p in tables.iterdir()}


def is_map(path):
    """A map is there whole, for its owner only."""
    text = path.read_bytes()
    return text.startswith(MAP_HEAD) and text.endswith(b"\n") and stat.S_IMODE(os.stat(path).st_mode) == 0o600


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


def taken_names(tap, folder):
    """Something else where a file of the report, its tables or its map should be."""
    for name in ("report.md", "scopes.collapsed"):
        out = folder / f"taken-{name}"
        (out / name).mkdir(parents=True)
        result = run("report", DEMO, "-o", out, "--format", FORMATS)
        left = {p.name for p in out.iterdir()}
        tap.ok(result.status == 5 and left <= set(FILES), f"a folder where {name} should be", result, sorted(left))
    out = folder / "taken-csv"
    out.mkdir()
    (out / "csv").write_text("mine")
    result = run("report", DEMO, "-o", out, "--format", FORMATS)
    tap.ok(result.status == 5 and content(out) == {"csv": hashlib.sha256(b"mine").hexdigest()},
           "a file where csv/ should be", result, content(out))
    names = folder / "names"
    names.mkdir()
    result = run("report", DEMO, "-o", folder / "no-map", "--redact", "--redact-map", names)
    tap.ok(result.status in (2, 5) and not list(names.iterdir()) and not content(folder / "no-map"),
           "a folder where the map should be", result)
    result = run("report", DEMO, "-o", folder / "no-map", "--redact", "--redact-map", folder / "nowhere" / "map")
    tap.ok(result.status == 5 and not content(folder / "no-map"), "no folder for the map", result)
    for inside in ("q/map", "q/csv/map", "q/../q/map"):
        (folder / "q" / "csv").mkdir(parents=True, exist_ok=True)
        result = run("report", DEMO, "-o", folder / "q", "--format", FORMATS, "--redact", "--redact-map",
                     f"{folder}/{inside}")
        tap.ok(result.status == 2 and content(folder / "q") == {"csv": "a folder"}, f"no map in {inside}", result)


def locked_tables(tap, folder):
    """An older csv/ that cannot be emptied is not replaced: what was in it would stay under another name."""
    out = folder / "open"
    out.mkdir()
    out.chmod(0o777)
    (out / "host0.xplane.pb").write_bytes(make_profile.cpu().encode())
    command = ["report", out / "host0.xplane.pb", "-o", out / "out", "--format", "csv"]
    result = run_without_rights(folder, *command)
    (out / "out" / "csv").chmod(0o555)
    before = content(out)
    again = run_without_rights(folder, *command)
    tap.ok(result.status == 0 and again.status == 5 and "permission denied" in again.err.lower()
           and content(out) == before, "an older csv/ without permission", result, again, content(out))
    (out / "out" / "csv").chmod(0o755)


def older_tables(tap, folder):
    """csv/ is replaced as a whole; what is in it and is not ours stays."""
    out = folder / "older"
    run("report", DEMO, "-o", out, "--format", "csv")
    (out / "csv" / "mine.txt").write_text("mine")
    (out / "csv" / "folder").mkdir()
    (out / "csv" / "folder" / "kept").write_text("mine, too")
    result = run("report", DEMO, "-o", out, "--format", "csv")
    left = sorted(p.name for p in out.iterdir())
    others = [out / "csv" / "mine.txt", out / "csv" / "folder" / "kept"]
    tap.ok(result.status == 0 and left == ["csv"] and [p.read_text() for p in others] == ["mine", "mine, too"],
           "what is not ours stays in csv/", result, left)


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


SHOW = """find {names} 2>/dev/null | sort; find {names} -type f 2>/dev/null | sort | xargs -r cksum;
          stat -c '%a %n' map 2>/dev/null"""


def on_small_disk(prefix, place, size, before, *arguments):
    """Report in a folder on a file system of `size` bytes that `before`, a folder, was copied to.
    out: (status, standard error, whether what lies there changed, what lies there)"""
    show = SHOW.format(names="out map .map* .out*")
    script = (f"cp -a '{before}/.' . && {{ {show}; }} >'{place}.before'; "
              f"\"$@\" >'{place}.out' 2>'{place}.err'; echo $?; {{ {show}; }}")
    command = prefix + ["sh", "-c", MOUNT.format(size=size), "sh", str(place), "sh", "-c",
                        f"cd '{place}'; {script}", "sh", str(BINARY), "report", str(DEMO), "-o", "out", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    status, _, after = done.stdout.partition("\n")
    earlier = Path(f"{place}.before").read_text(encoding="utf-8")
    return status, Path(f"{place}.err").read_text(encoding="utf-8") + done.stderr, after != earlier, after


def full_disk_with_older(tap, folder):
    """The older report, its tables and its map are there as they were where the new ones find no room."""
    place, before = folder / "smaller", folder / "before"
    place.mkdir()
    prefix = can_mount(place)
    if not prefix:
        tap.skip("a full disk with an older report", "no right to mount a small file system")
        return
    options = ["--format", FORMATS, "--redact", "--redact-map"]
    result = run("report", DEMO, "-o", before / "out", "--rows", "50", *options, before / "map")
    whole = is_whole(before / "out" / "csv") and is_map(before / "map")
    tap.ok(result.status == 0 and whole, "the older report", result)
    blocks = sum(-(-p.stat().st_size // 4096) + 1 for p in before.rglob("*"))
    outcomes = set()
    for more in (1, 4, 16, 64, 128, 192, 256, 320, 1024):
        status, err, is_changed, left = on_small_disk(prefix, place, 4096 * (blocks + more), before, *options, "map")
        refused = status == "5" and "no space left" in err.lower() and not is_changed
        written = status == "0" and is_changed and ".part" not in left and "600 map" in left.splitlines()
        outcomes.add(status)
        tap.ok(refused or written, f"an older report and {4 * more} KiB: all or nothing", status, err, left)
    tap.ok(outcomes == {"0", "5"}, "disks with and without room", outcomes)


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
    path.write_bytes(make_profile.gpu(seed=5, steps=30, devices=4, per_step=150).encode() * 10)  # together one message
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


def wait_for_writing(process, out, hidden):
    """Until files are being written, `hidden` of them or more."""
    while process.poll() is None:
        if out.exists() and sum(p.name.startswith(".") for p in out.iterdir()) >= hidden:
            return
        time.sleep(0.001)


def killed_while_writing(tap, folder):
    """A signal between the first file and the last: no half table, no half map, nothing under another name."""
    path = folder / "many.xplane.pb"
    path.write_bytes(make_profile.gpu(seed=6, steps=30, devices=4, per_step=200).encode())
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        for hidden in (1, 3, 5, 7):
            name = f"signal {int(number)}, {hidden} files are being written"
            out, names = folder / f"{number}-{hidden}", folder / f"{number}-{hidden}.names"
            process = subprocess.Popen([BINARY, "report", path, "-o", out, "--format", FORMATS, "--redact", "--quiet"],
                                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            wait_for_writing(process, out, hidden)
            process.send_signal(number)
            status = process.wait()
            left = sorted(p.name for p in out.iterdir()) if out.exists() else []
            beside = [p.name for p in folder.iterdir() if p.name.startswith(f".{names.name}")]
            clean = not beside and set(left) <= set(FILES)
            good = left == FILES if status == 0 else status in (-number, 128 + number)
            tables = "csv" not in left or is_whole(out / "csv")
            tap.ok(clean and good and tables and (is_map(names) if left or names.exists() else True), name,
                   f"status {status}, left {left}, beside {beside}")


def left_behind(tap, folder):
    """What a killed run left under temporary names goes with the next run into the folder; what somebody writes, and what is not ours,
    stays."""
    source, out, words = folder / "left.xplane.pb", folder / "left", ("--format", "html,json,csv,text", "-q")
    source.write_bytes(make_profile.gpu(seed=4, steps=20, devices=2, per_step=200).encode())
    run("report", source, "-o", out, *words)
    whole = content(out)
    (out / ".csv.123-0.part").mkdir()
    (out / ".csv.123-0.part" / "steps.csv").write_bytes(b"")
    for name in (".report.html.123-0.part", ".summary.json.7-99.part", ".other.pdf.1-0.part"):
        (out / name).write_bytes(b"begun")
    done = run("report", source, "-o", out, *words)
    tap.ok(done.status == 0 and content(out) == whole, "what a killed run left goes with the next", done, *(content(out).keys() - whole.keys()))

    (out / ".csv.8-0.part").mkdir()
    (out / ".csv.8-0.part" / "notes.txt").write_bytes(b"mine")
    (out / ".csv.9-0.part").mkdir()
    foreign = (".report.html.part", "report.html.1-0.part", ".report.html.1-x.part", ".1-0.part", ".report.html.1-0.partial", ".a.9-1.part")
    for name in foreign:
        (out / name).write_bytes(b"mine")
    (out / ".link.1-0.part").symlink_to(".a.9-1.part")
    os.mkfifo(out / ".pipe.1-0.part")
    locks = [os.open(out / name, os.O_RDONLY) for name in (".a.9-1.part", ".csv.9-0.part")]
    for lock in locks:
        fcntl.flock(lock, fcntl.LOCK_EX)
    kept = content(out)
    done = run("report", source, "-o", out, *words)
    tap.ok(done.status == 0 and content(out) == kept, "what is locked, or not ours, stays", done, *(kept.keys() - content(out).keys()))
    for lock in locks:
        os.close(lock)
    run("report", source, "-o", out, *words)
    tap.ok(kept.keys() - content(out).keys() == {".a.9-1.part", ".csv.9-0.part"}, "once nobody holds it, it goes",
           *(kept.keys() - content(out).keys()))

    for path in out.glob(".*"):
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    (out / "report.html.1-0.part").unlink()
    left, wait = 0, 0.01
    while not left and wait < 2:
        with subprocess.Popen([BINARY, "report", source, "-o", out, *words]) as process:
            time.sleep(wait)
            process.kill()
        left, wait = len(list(out.glob(".*.part"))), wait * 1.05
    done = run("report", source, "-o", out, *words)
    tap.ok(left and done.status == 0 and content(out) == whole, f"of a run that was killed ({left} were there)", done,
           *(content(out).keys() ^ whole.keys()))
    for _ in range(5):
        several = [subprocess.Popen([BINARY, "report", source, "-o", out, *words]) for _ in range(3)]
        if [process.wait() for process in several] != [0, 0, 0] or content(out) != whole:
            break
    tap.ok(content(out) == whole, "runs at once into one folder leave each other's files alone", *(content(out).keys() ^ whole.keys()))
    why = faulted_verbs.cannot_trace()
    if why:
        tap.skip("a run that puts its tables there before another one does leaves nothing", why)
        return
    words = [str(word) for word in ("report", source, "-o", out, *words)]
    done = subprocess.run([faulted_verbs.AT_CALL, "--calls", "renameat2", "--at", "1", "--run", shlex.join([str(BINARY), *words]), "--",
                           BINARY, *words], capture_output=True, check=False)
    tap.ok(done.returncode == 0 and content(out) == whole, "a run that puts its tables there before another one does leaves nothing",
           done, *(content(out).keys() ^ whole.keys()))


def main():
    tap = Tap()
    with Scratch() as folder:
        unwritable(tap, folder)
        taken_names(tap, folder)
        locked_tables(tap, folder)
        older_tables(tap, folder)
        spill_folder(tap, folder)
        full_disk(tap, folder)
        full_disk_with_older(tap, folder)
        standard_output(tap)
        killed(tap, folder)
        killed_while_writing(tap, folder)
        left_behind(tap, folder)
        (folder / "locked").chmod(0o755)
    tap.done()


if __name__ == "__main__":
    main()
