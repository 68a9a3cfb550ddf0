#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the program says, on both streams, of names and values that mean harm: every option of every verb with them, every verb with
files of every state below such a name.  A terminal obeys none of it, no line is turned round or made up, and what is JSON stays so."""

import gzip
import io
import json
import os
import pty
import re
import shutil
import subprocess
import sys
import tarfile
import unicodedata
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import hostile_fields as fields  # noqa: E402
import make_profile  # noqa: E402
from tap import Tap  # noqa: E402
from tracemill import BINARY, Scratch, run  # noqa: E402

FORGED = "tracemill: done"
# Of a component's 255 bytes: what a terminal obeys, what forges a line, what turns or hides text, what is no UTF-8, what printf would take.
NAMES = {
    "escapes": b"a\x1b[2J\x1b]52;c;aGk=\x07\x1b]8;;http:x.invalid\x1b\\l\x1b[31m\x7f\x08\x0e%s%n%99999d",
    "lines": b"a\n" + FORGED.encode() + b"\r" + FORGED.encode() + b"\x0b\x0c\t\xc2\x85\xe2\x80\xa8\xe2\x80\xa9",
    "C1": b"a\xc2\x9b31m\xc2\x9d52;c;\xc2\x9c\xc2\x90\x9b31m\x9d\xff\xc0\xaf\xed\xa0\x80\xf4\x90\x80\x80\xe2\x82",
    "direction": "a\u202e\u2066\u2067\u200e\u061cgnp\u2069\u202c\u200b\u200d\ufeff\u00ad\u2060\U000e0041\u3164".encode(),
    "markup": b"a<script>alert(1)<script>&amp;\"'`$(id);|=1",
}
NAMES["all"] = NAMES["escapes"] + NAMES["lines"] + NAMES["C1"] + NAMES["direction"]
COLOR = re.compile(r"\x1b\[(0|[0-9;]*)m")


def hidden(sign):
    """A terminal obeys it, or it is not seen: everything of the kinds control, format, and separator of lines."""
    return sign != "\n" and (unicodedata.category(sign) in ("Cc", "Cs", "Zl", "Zp") or
                             unicodedata.category(sign) == "Cf" and not 0x600 <= ord(sign) <= 0x605)


def stream_wrong(name, data, has_color=False):
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        return [f"{name}: {error}"]
    text = COLOR.sub("", text) if has_color else text
    wrong = [f"{name}: {sign!r} in {text[max(text.index(sign) - 30, 0):][:60]!r}" for sign in sorted(set(text)) if hidden(sign)]
    return wrong + [f"{name}: a line of a name begins a line" for line in text.split("\n") if line.startswith(FORGED)][:1]


def said_wrong(result, has_color=False):
    wrong = stream_wrong("stdout", result.raw_out, has_color) + stream_wrong("stderr", result.raw_err, has_color)
    if result.crashed or result.status == 124:
        wrong.append(f"status {result.status}: {result.err[-300:]}")
    return wrong


VERBS = ["report", "brief", "show", "query", "schema", "inspect", "convert", "split", "compare", "scaling", "check", "batch", "batch scan", "batch run", "batch merge",
         "batch submit", "batch prune", "batch export", "list", "extract", "config", "help"]


def options_of(verb):
    """Options of a verb that take a word."""
    text = run("help", *verb.split()).out
    return re.findall(r"^ +(?:-\w, )?--([a-z-]+) [A-Z0-9a-z]\S*  ", text, re.MULTILINE)


class Place:
    """A folder of good and bad inputs."""

    def __init__(self, folder):
        self.folder = folder
        self.good = folder / "good.xplane.pb"
        self.good.write_bytes(make_profile.gpu(seed=1, steps=3).encode())

    def run(self, verb, *words, **more):
        home = self.folder / "here"
        shutil.rmtree(home, ignore_errors=True)
        home.mkdir()
        return run(*verb.split(), *words, cwd=home, **more)


def operands(verb, place):
    if verb in ("compare", "scaling"):
        return [place.good, place.good]
    if verb in ("batch merge", "batch prune", "batch export"):
        return [place.folder / "batch"]
    if verb in ("config", "help"):
        return []
    return [place.good]


def check_options(tap, place):
    """Every option of every verb."""
    for verb in VERBS:
        bad, names = [], options_of(verb)
        for option in names:
            for how in ("all", "markup"):
                text = NAMES[how].decode("utf-8", "surrogateescape")
                result = place.run(verb, *operands(verb, place), f"--{option}={text}")
                bad += [f"--{option} {how}: {w}" for w in said_wrong(result)]
        tap.ok(not bad, f"{verb}: values of {len(names)} options", *bad[:12])


def tar_of(members):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.GNU_FORMAT) as tar:
        for name, data in members:
            info = tarfile.TarInfo(name.decode("utf-8", "surrogateescape"))
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
    return out.getvalue()


def states(place, name):
    """(what, operand) of inputs in every state below such a name."""
    home, good = os.fsencode(place.folder / "states") + b"/" + name, place.good.read_bytes()
    shutil.rmtree(place.folder / "states", ignore_errors=True)
    os.makedirs(home)
    hostile = fields.full_space(lambda old: name + old)
    text = json.dumps(name.decode("utf-8", "replace"))
    files = {"empty": (b".xplane.pb", b""), "text": (b".txt", name * 9), "cut": (b".xplane.pb", good[:len(good) // 2]),
             "harmful": (b".xplane.pb", hostile), "cut gzip": (b".xplane.pb.gz", gzip.compress(good)[:-9]),
             "damaged": (b".xplane.pb", hostile[:3000] + b"\xff" * 99), "no JSON": (b".json", b'{"traceEvents": [{"name": ' + text.encode() + b"x"),
             "other JSON": (b".json", b"{" + text.encode() + b": " + text.encode() + b"}"),
             "tar": (b".tar", tar_of([(name + b"/r/" + name + b".xplane.pb", hostile), (name + b"/s/h.xplane.pb", good[:999])])),
             "cut tar": (b".tar", tar_of([(name + b"/" + name + b".xplane.pb", good)])[:3000])}
    for what, (suffix, data) in files.items():
        path = home + b"/" + name[:200] + suffix
        with open(path, "wb") as file:
            file.write(data)
        yield what, os.fsdecode(path)
        os.unlink(path)
    for run_name in (b"r", b"s"):
        os.makedirs(home + b"/" + name[:200] + run_name)
        with open(home + b"/" + name[:200] + run_name + b"/" + name[:200] + b".xplane.pb", "wb") as file:
            file.write(good)
    yield "two runs", os.fsdecode(home)
    yield "missing", os.fsdecode(home + b"/none" + name[:200])
    os.symlink(name[:200], home + b"/" + name[:200])
    yield "a loop", os.fsdecode(home + b"/" + name[:200])


STATE_VERBS = {
    "report": ("-o", "out"), "report json": ("-o", "out", "--json", "--latest"), "report color": ("-o", "out", "--color", "always", "--latest"),
    "inspect": (), "inspect json": ("--json",), "brief": (), "brief json": ("--json",), "show": ("ops",), "show csv": ("figures", "--csv"), "query": ("select name from events",), "query json": ("select * from args", "--json"), "query csv": ("select * from kernels", "--csv"), "convert": ("-o", "out.pftrace", "--latest"), "split": ("-o", "out", "--max-events", "50", "--latest"),
    "compare": ("GOOD", "-o", "out"), "scaling": ("GOOD", "-o", "out"), "check": ("--gate", "GATES"), "check json": ("--gate", "GATES", "--json"),
    "batch": ("-o", "out"), "batch json": ("-o", "out", "--json"), "batch scan": (), "list": (), "list json": ("--json",),
    "extract": ("-o", "copies", "--latest"), "report into": ("INTO",)}


def check_states(tap, place):
    """Every verb with files of every state below such a name."""
    (place.folder / "gates.json").write_text(json.dumps({"gates": [{"figure": "steps.median_ps", "max": "1ps"}]}))
    for how, name in NAMES.items():
        bad = []
        for what, operand in states(place, name):
            for label, options in STATE_VERBS.items():
                words = {"GOOD": place.good, "GATES": place.folder / "gates.json", "INTO": f"--output={operand}"}
                verb = label.removesuffix(" json").removesuffix(" color").removesuffix(" into")
                first = place.good if "INTO" in options else operand
                result = place.run(verb, first, *(words.get(word, word) for word in options))
                bad += [f"{label}, {what}: {w}" for w in said_wrong(result, "color" in label)]
                if label.endswith(" json") and result.status in (0, 4):
                    try:
                        json.loads(result.raw_out.decode("utf-8"))
                    except ValueError as error:
                        bad.append(f"{label}, {what}: {error}")
        tap.ok(not bad, f"{how}: every verb with inputs of every state", *bad[:12])


def on_a_terminal(words, folder):
    """All that the program writes to a terminal, which is its stdout and stderr."""
    ours, theirs = pty.openpty()
    child = subprocess.Popen([BINARY, *words], cwd=folder, stdin=subprocess.DEVNULL, stdout=theirs, stderr=theirs,
                             env={**os.environ, "TERM": "xterm"})
    os.close(theirs)
    data = b""
    try:
        while piece := os.read(ours, 1 << 16):
            data += piece
    except OSError:
        pass  # how a terminal tells that its last writer is gone
    os.close(ours)
    child.wait()
    return data


def check_terminal(tap, place):
    """With progress and colors: nothing but the program's own sequences."""
    own = re.compile(rb"\r\x1b\[K|\x1b\[[0-9;]*m|\r(?=\n)")
    home = os.fsencode(place.folder / "shown")
    for how, name in NAMES.items():
        folder, bad = home + b"/" + how.encode() + b"/" + name, []
        os.makedirs(folder)
        path = folder + b"/" + name[:200] + b".xplane.pb"
        with open(path, "wb") as file:
            file.write(fields.full_space(lambda old, new=name: new + old))
        for words in ((b"report", path, b"-o", home + b"/out-" + how.encode()), (b"inspect", path), (b"convert", path, b"-o", home + b"/" + how.encode() + b".json"),
                      (b"batch", folder, b"-o", home + b"/batch-" + how.encode()), (b"list", folder)):
            data = on_a_terminal(words, place.folder)
            bad += [f"{words[0].decode()}: {w}" for w in stream_wrong("terminal", own.sub(b"", data))] + ([] if data else [f"{words[0].decode()} is silent"])
        tap.ok(not bad, f"{how}: on a terminal", *bad[:8])


def main():
    tap = Tap()
    with Scratch() as folder:
        place = Place(folder)
        check_options(tap, place)
        check_states(tap, place)
        check_terminal(tap, place)
    tap.done()


if __name__ == "__main__":
    main()
