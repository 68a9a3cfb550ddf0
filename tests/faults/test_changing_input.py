#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Files that become shorter, longer or empty, that are written over, replaced or removed, or become a pipe, while they are
read: just before any one of the calls that look at files.  The output is that of the file as it was, or as it became,
or something is said: never a mixture of both without a word.

    test_changing_input.py [--full] [--case PATTERN] [--change PATTERN]

Without --full some moments of each.
"""

import argparse
import fnmatch
import gzip
import io
import json
import os
import random
import re
import struct
import sys
import tarfile
import zipfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import faulted_verbs  # noqa: E402
import make_profile  # noqa: E402
from faulted_verbs import Rig, Verb, files  # noqa: E402
from tap import Tap  # noqa: E402
from tracemill import Scratch  # noqa: E402

BEFORE, AFTER = 1_700_000_000, 1_700_000_500  # times of change, in seconds
LOOKS = "read,pread64,openat,newfstatat,lseek,close,mmap"
SOME = 2
# What happens to file $1; $2 is another of the same size, $3 what is put behind it.
CHANGES = {
    "shorter": 'truncate -s $(($(stat -c %s "$1") / 2)) "$1"',
    "a byte shorter": 'truncate -s -1 "$1"',
    "empty": ': >"$1"',
    "longer": 'cat "$3" >>"$1"',
    "written over": 'dd if="$2" of="$1" conv=notrunc bs=1M status=none',
    "replaced": 'cp "$2" "$1.new"; mv "$1.new" "$1"',
    "removed": 'rm "$1"',
    "a pipe": 'rm "$1"; mkfifo "$1"',
}


# --- two files of one size ------------------------------------------------------------------------------------

def varint(value):
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes(out) + bytes([value])


def padded_profile(data, size):
    """A field that no reader knows, behind it."""
    for length in range(size - len(data) - 1, -1, -1):
        field = varint(100 << 3 | 2) + varint(length) + bytes(length)
        if len(data) + len(field) == size:
            return data + field
    raise RuntimeError("no length fits")


def padded_gzip(data, size):
    packed = gzip.compress(data, mtime=0)
    room = size - len(packed) - 2
    return packed[:3] + b"\x04" + packed[4:10] + struct.pack("<H", room) + bytes(room) + packed[10:]


def profiles(steps=12, per_step=60):
    one, other = (make_profile.gpu(seed=seed, steps=steps, per_step=per_step).encode() for seed in (1, 2))
    size = max(len(one), len(other)) + 1000
    return padded_profile(one, size), padded_profile(other, size)


def traces():
    def text(step):
        events = [{"ph": "M", "pid": 1, "name": "process_name", "args": {"name": "/device:GPU:0"}}]
        events += [{"ph": "X", "pid": 1, "tid": 1 + n % 3, "ts": n * 10, "dur": step, "name": f"k{n % 50}"} for n in range(9000)]
        return json.dumps({"displayTimeUnit": "ns", "traceEvents": events}).encode()
    return text(5), text(7)


def gzips(pair, size=60000):
    return tuple(padded_gzip(data, size) for data in pair)


def tar_of(data):
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        info = tarfile.TarInfo("host0.xplane.pb")
        info.size = len(data)
        archive.addfile(info, io.BytesIO(data))
    return buffer.getvalue()


def zip_of(data):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr(zipfile.ZipInfo("host0.xplane.pb"), data)
    return buffer.getvalue()


# --- what is read ---------------------------------------------------------------------------------------------

WAITS = ("settings",)  # a pipe there is one that the caller names and writes to
SAME = {("tar", "a byte shorter"), ("tar", "longer"), ("extract", "a byte shorter"), ("extract", "longer"), ("zip", "longer"),
        ("summary", "a byte shorter")}  # a change that nothing of the content knows


class Case:
    """A verb, and the file that changes while it reads."""

    def __init__(self, name, path, pair, *words, **settings):
        self.name, self.path, self.pair = name, path, pair
        self.verb = Verb(name, *words, **settings)


def summaries(folder):
    """Two summaries of one size."""
    texts = [(folder / "made" / name / "summary.json").read_bytes() for name in ("a", "both")]
    size = max(map(len, texts)) + 1
    return tuple(text + b" " * (size - len(text)) for text in texts)


def cases(folder):
    plain, text = profiles(), traces()
    shape = "--format", "json"
    yield Case("report", "x.xplane.pb", plain, "report", "x.xplane.pb", "-o", "out/r", *shape)
    yield Case("convert", "x.xplane.pb", plain, "convert", "x.xplane.pb", "-o", "out/t.pftrace")
    yield Case("convert-arguments", "x.xplane.pb", plain, "convert", "x.xplane.pb", "-o", "out/t.json", "--args", "all")
    yield Case("split", "x.xplane.pb", plain, "split", "x.xplane.pb", "-o", "out/s", "--max-events", "300")
    yield Case("inspect", "x.xplane.pb", plain, "inspect", "x.xplane.pb")
    yield Case("json", "x.trace.json", text, "report", "x.trace.json", "-o", "out/r", *shape)
    yield Case("convert-json", "x.trace.json", text, "convert", "x.trace.json", "-o", "out/t.csv")
    yield Case("gzip", "x.xplane.pb.gz", gzips(plain), "report", "x.xplane.pb.gz", "-o", "out/r", *shape)
    yield Case("json-gzip", "x.trace.json.gz", gzips(text), "report", "x.trace.json.gz", "-o", "out/r", *shape)
    yield Case("tar", "x.tar", tuple(map(tar_of, plain)), "report", "x.tar", "-o", "out/r", *shape)
    yield Case("zip", "x.zip", tuple(map(zip_of, plain)), "report", "x.zip", "-o", "out/r", *shape)
    yield Case("tar-gzip", "x.tar.gz", gzips(map(tar_of, plain)), "report", "x.tar.gz", "-o", "out/r", *shape)
    yield Case("extract", "x.tar", tuple(map(tar_of, plain)), "extract", "x.tar", "-o", "out/e")
    yield Case("copy", "x.xplane.pb", plain, "extract", "x.xplane.pb", "-o", "out/e")
    yield Case("summary", "x.json", summaries(folder), "compare", "x.json", "made/both/summary.json", "-o", "out/c", *shape,
               "--force")
    yield Case("partial", "x.partial", partials(folder), "report", "x.partial", "-o", "out/r", *shape)
    yield Case("gates", "x.gates.json", gates(), "check", "made/a", "--gate", "x.gates.json", "--json")
    yield Case("settings", "x.settings.json", (b'{"rows": 7}', b'{"rows": 9}'), "config", "show", "--config", "x.settings.json")
    yield Case("batch", "root/job/x.xplane.pb", plain, "batch", "root", "-o", "out/b", *shape, "--jobs", "1", resumes=True)
    yield Case("run", "x.jsonl", manifests(folder), "batch", "run", "--manifest", "x.jsonl", "-o", "out/b", *shape, "--jobs", "1")


def partials(folder):
    """Of two sizes: a partial has no room for what is not in it."""
    return tuple((folder / "partials" / name / "run.partial").read_bytes() for name in ("a", "b"))


def gates():
    return tuple(json.dumps({"gates": [{"figure": "coverage.events_read", "min": least}]}).encode() for least in (1, 9))


def manifests(folder):
    text = (folder / "manifest.jsonl").read_bytes()
    return text, text.replace(b'"input"', b'"outer"')


def written(out):
    """What lies below a folder, but for the time of the last change of an input, which nobody can set back: the last
    part of its version in a manifest."""
    manifests = {str(path.relative_to(out)): re.sub(r'("version": "[0-9]+-[0-9]+)-[0-9]+"', r'\1"', path.read_text(encoding="utf-8"))
                 for path in out.rglob("manifest.jsonl")}
    return files(out) | manifests


# --- a case ---------------------------------------------------------------------------------------------------

class Changing:
    def __init__(self, case, folder):
        self.case, self.folder = case, folder
        self.path = folder / case.path
        self.other, self.more = folder / "other-one", folder / "more-of-it"
        self.rig = Rig(case.verb, folder)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.other.write_bytes(case.pair[1])
        self.more.write_bytes(case.pair[1][:3000])

    def as_it_was(self):
        if self.path.is_fifo() or self.path.is_file():
            self.path.unlink()
        self.path.write_bytes(self.case.pair[0])
        os.utime(self.path, (BEFORE, BEFORE))

    def command(self, change):
        """As one word for sh -c."""
        text = CHANGES[change].replace("$1", str(self.path)).replace("$2", str(self.other)).replace("$3", str(self.more))
        return f'{text}; [ ! -f "{self.path}" ] || touch -d @{AFTER} "{self.path}"'

    def outcome(self, result):
        return result.status, result.raw_out, written(self.rig.out)

    def before_and_after(self, change):
        """What comes of the file as it was, and as it becomes."""
        self.as_it_was()
        before = self.outcome(self.rig.run())
        self.as_it_was()
        os.system(self.command(change))
        return before, self.outcome(self.rig.run())

    def count(self):
        self.as_it_was()
        log = self.folder / "calls"
        self.rig.run(under=[faulted_verbs.AT_CALL, "--calls", LOOKS, "--list", log, "--"])
        return len(log.read_text(encoding="ascii").split())

    def problem(self, change, number, known):
        self.as_it_was()
        result = self.rig.at(number, "--calls", LOOKS, "--run", self.command(change))
        if result.crashed or result.status == 124:
            return f"it crashed, or has no end\n{result}"
        if self.outcome(result) in known:
            return ""
        if result.status == 0 and self.case.verb.resumes:
            # Listed before, worked after: the next batch sees another fingerprint, and does it again.
            self.rig.run(keeps=True)
            if written(self.rig.out) == known[1][2]:
                return ""
        if result.status == 0:
            return f"neither what was nor what became, and no word of it\n{result}"
        said = "tracemill: " in result.err or b"the file grew while it was read" in result.raw_out  # what inspect prints
        return "" if said and result.status in (1, 2, 3, 4) else f"it does not say what happened\n{result}"


def one_case(tap, case, folder, options):
    changing = Changing(case, folder)
    count = changing.count()
    for change in CHANGES:
        if not fnmatch.fnmatch(change, options.change) or (change == "a pipe" and case.name in WAITS):
            continue
        known = changing.before_and_after(change)
        moments = range(1, count + 1)
        if not options.full:
            moments = random.Random(case.name + change).sample(moments, min(SOME, count))
        wrong = []
        for number in moments:
            said = changing.problem(change, number, known)
            if said:
                wrong.append(f"at call {number} of {count}: {said}")
        sound = known[0][0] == 0 and (known[0] != known[1]) == ((case.name, change) not in SAME)
        tap.ok(sound and not wrong, f"{case.name}: {change}, at {len(moments)} of {count} calls",
               "" if sound else f"the test sees no difference: {known[0][0]}", *wrong[:3], f"{len(wrong)} in all")
    if changing.path.exists():
        changing.path.unlink()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--case", default="*")
    parser.add_argument("--change", default="*")
    options = parser.parse_args()
    tap = Tap()
    faulted_verbs.require_tracing(tap, "input that changes")
    with Scratch() as folder:
        faulted_verbs.prepare(folder)
        for case in cases(folder):
            if fnmatch.fnmatch(case.name, options.case):
                one_case(tap, case, folder, options)
    tap.done()


if __name__ == "__main__":
    main()
