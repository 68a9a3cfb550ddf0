# SPDX-License-Identifier: Apache-2.0
"""Profiles in which every text has a word that nobody else has, and files in which it is looked for."""

import gzip
import json
import re
import shutil
import subprocess
import zlib

import make_profile
import make_pytorch
from make_profile import Event, Plane, chunk

MARK = "zsecret"  # in every planted word, in small letters or not
KEPT_KEYS = {"ph", "s", "bp", "cat", "id", "ts", "dur", "pid", "tid", "displayTimeUnit", "schemaVersion", "backend"}
FORMS = ("Zsecret{0}q", "zsecret{1}", "ZSECRET{2}", "Zsecret{1}")


def letters(number):
    """A number in letters, without digits that could stay."""
    return "".join(chr(ord("a") + int(d)) for d in str(number))


class Planter:
    """Gives words, each once, and the same one for the same text of the same field."""

    def __init__(self):
        self.words, self.known = [], {}

    def word(self):
        number = len(self.words) + 1
        form = FORMS[number % len(FORMS)]
        text = letters(number)
        self.words.append(form.format(number, text, text.upper()))
        return self.words[-1]

    def plant(self, field, text):
        key = (field, text)
        if key not in self.known:
            self.known[key] = f"{text}_{self.word()}"
        return self.known[key]


# --- profiles -------------------------------------------------------------------------------------------------

def plant_event(planter, event):
    if event.name not in ("data_loading", "cuLaunchKernel", "MemoryAllocation", "MemoryDeallocation",
                          "DoEnqueueProgram", "backend_compile_and_load") and not event.name.startswith("Mem"):
        event.name = planter.plant("event", event.name)
    if event.display:
        event.display = planter.plant("display", event.display)
    for stats in (event.stats, event.facts):
        for key, value in list(stats.items()):
            if isinstance(value, str):
                ending = f" {planter.word()}:1" if key.endswith("_details") and key not in planter.known else ""
                stats[key] = value + ending if key.endswith("_details") else planter.plant(key, value)
    event.stats[planter.plant("key", "note")] = planter.plant("value", "a long note of somebody that is kept as a name")


def xspace(maker, planter, seed):
    """The bytes of an XSpace."""
    space = maker(seed=seed, steps=6, host=planter.word())
    for plane in space.planes:
        for line in plane.lines:
            if line.name != "python" and not line.name.startswith("XLA"):
                line.name = planter.plant("line", line.name)
            for event in line.events:
                plant_event(planter, event)
        for key, value in list(plane.stats.items()):
            if isinstance(value, str):
                plane.stats[key] = f"{value}-{planter.word()}"
    home = f"/home/{planter.word()}/{planter.word()}"
    python = next(line for plane in space.planes for line in plane.lines if line.name == "python")
    first = min(event.start_ps for event in python.events)
    python.events.append(Event(f"${home}/train.py:12 {planter.word()}", first, 1000,
                               {"argv": f"python {home}/train.py --name={planter.word()}"}))
    space.planes.append(Plane("/host:metadata", stats={"hostname": planter.word(), "command_line": home,
                                                       "profile_options": planter.word()}))
    other = Plane(f"/host:{planter.word()}", 90)
    other.line(1, planter.word()).events.append(Event(planter.word(), first, 1000))
    custom = Plane(f"/device:CUSTOM:{planter.word()}", 91)
    custom.line(1, planter.word()).events.append(Event(planter.word(), first, 1000))
    space.planes += [other, custom]
    said = chunk(2, f"error of {planter.word()}") + chunk(3, f"warning of {planter.word()} in {home}")
    return space.encode() + said + chunk(4, planter.word())


def plant_value(planter, field, value):
    """A copy with a word in every text, and in the keys of arguments."""
    if isinstance(value, str):
        return value if field in KEPT_KEYS else planter.plant(field, value)
    if isinstance(value, list):
        return [plant_value(planter, field, v) for v in value]
    if isinstance(value, dict):
        out = {k: plant_value(planter, k, v) for k, v in value.items()}
        if field == "args" and out:
            out[planter.plant("key", "more")] = {planter.plant("key", "inside"): [planter.plant("value", "x"), 12]}
        return out
    return value


def json_of(document, planter):
    return json.dumps(plant_value(planter, "", document)).encode("utf-8")


def chrome_json(planter, seed):
    document = json.loads(make_profile.chrome_json(make_profile.gpu(seed=seed, steps=6)))
    first = next(e for e in document["traceEvents"] if e.get("ph") == "X")
    shared = {"pid": first["pid"], "tid": first["tid"], "ts": first["ts"]}
    document["traceEvents"] += [
        {"ph": "C", "name": "bytes", "id": planter.word(), "args": {planter.word(): 3}, **shared},
        {"ph": "b", "name": "span", "cat": planter.word(), "id": planter.word(), **shared},
        {"ph": "i", "name": "mark", "s": "t", "cat": planter.word(), **shared},
        {"ph": "s", "name": "arrow", "cat": planter.word(), "id": 7, **shared},
        {"ph": "f", "name": "arrow", "cat": planter.word(), "id": 7, "bp": "e", **shared},
    ]
    return json_of(document, planter)


def pytorch(planter, seed):
    return json_of(json.loads(make_pytorch.rank_of(seed=seed)), planter)


# --- what was written -----------------------------------------------------------------------------------------

def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value, at


def unpacked_packets(data):
    """The packets of a Perfetto trace that are compressed."""
    at = 0
    while at < len(data):
        tag, at = varint(data, at)
        length, at = varint(data, at)
        packet, at = data[at:at + length], at + length
        inner = 0
        while tag == 10 and inner < len(packet):
            field, inner = varint(packet, inner)
            if field & 7 == 0:
                _, inner = varint(packet, inner)
            elif field & 7 == 2:
                size, inner = varint(packet, inner)
                if field >> 3 == 50:
                    yield zlib.decompress(packet[inner:inner + size])
                inner += size
            else:
                inner += 8 if field & 7 == 1 else 4


def contents(path):
    """All forms in which a file holds texts."""
    data = path.read_bytes()
    if data[:2] == b"\x1f\x8b":
        data = gzip.decompress(data)
    yield data
    if ".pftrace" in path.name:
        yield from unpacked_packets(data)
    if data[:4] == b"%PDF":
        for stream in re.findall(rb"stream\r?\n(.*?)\r?\nendstream", data, re.S):
            try:
                yield zlib.decompress(stream)
            except zlib.error:
                yield stream
        if shutil.which("pdftotext"):
            yield subprocess.run(["pdftotext", "-q", path, "-"], capture_output=True, check=True).stdout


def holds(data, word):
    lower = data.lower()
    return any(word.lower().encode(code) in lower for code in ("utf-8", "utf-16-be", "utf-16-le"))


def found(root, word=MARK):
    """Places below a folder where a word is: names of files and folders, and what is in them."""
    out = []
    for path in sorted(root.rglob("*")):
        if word in str(path.relative_to(root)).lower():
            out.append(f"name {path}")
        if path.is_file() and any(holds(data, word) for data in contents(path)):
            out.append(str(path))
    return out


def words_in(root, words):
    """Those that are in a file below a folder."""
    texts = [data.lower() for path in root.rglob("*") if path.is_file() for data in contents(path)]
    return [w for w in words if any(w.lower().encode("utf-8") in text for text in texts)]
