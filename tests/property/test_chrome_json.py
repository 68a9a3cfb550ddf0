#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The reader of Chrome traces against Python's own reader of JSON: the same events, or both refuse.

Real files, generated ones with every oddity that we know of, and mutated ones, by bytes and by values; with every engine, windows and reads
of many sizes.  Python's reader gives values, and what they mean is worked out here a second time, slowly: times with
Decimal, texts as bytes."""

import bisect
import decimal
import fnmatch
import gzip
import json
import os
import random
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "fuzz"))
import make_seeds  # noqa: E402
from mutants import mutants  # noqa: E402
from tap import Tap  # noqa: E402
from tracemill import BUILD, SANITIZED, SANITIZER, SHARED, Scratch  # noqa: E402

PROGRAM = BUILD / "tests" / "chrome_events"
DAMAGED = int(os.environ.get("TM_MUTATIONS", "2400"))
MUTANT_SEED = int(os.environ.get("TM_MUTANT_SEED", "1"))
GENERATED = 600
# Of a larger real file, pieces of it from begin to end; one larger file is read whole.
WHOLE_BYTES, PIECES, PIECE_BYTES = 3 << 19, 6, 256 << 10
READ_WHOLE = "*mtia_inference_rank_0*"
INT64 = range(-(2**63), 2**63)
NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?")
PLAIN = re.compile(r"0|-?[1-9][0-9]{0,19}")
OFFSET = b'{"offset":'  # what the line of an event begins with
SPACE = " \t\r\n"
RAW = 0xF0000  # a byte above 0x7f stands for itself as this character, which no text here has


# --- Python's reader ---


class Number(str):
    """A number as it is written."""


class Constant(str):
    """NaN, Infinity, -Infinity."""


class Pairs(list):
    """An object: its members in order, repeated ones too."""


DECODER = json.JSONDecoder(strict=False, object_pairs_hook=Pairs, parse_float=Number, parse_int=Number,
                           parse_constant=Constant)


def to_text(data):
    return data.decode("latin-1").translate({b: RAW + b for b in range(0x80, 0x100)})


def to_bytes(text):
    return b"".join(bytes([ord(c) - RAW]) if RAW <= ord(c) < RAW + 0x100 else c.encode("utf-8", "surrogatepass")
                    for c in text) if not text.isascii() else text.encode()


class Damage(Exception):
    """The text is no JSON from this character on."""

    def __init__(self, at):
        super().__init__(at)
        self.at = at


STRING = re.compile(r'(?:[^"\\]|\\["\\/bfnrt]|\\u[0-9a-fA-F]{4})*')


def wrong_text(text, i):
    """out: where the text that begins at i is none; else behind it, negative"""
    i = STRING.match(text, i + 1).end()
    if text[i:i + 1] == '"':
        return None, i + 1
    i += text[i:i + 1] == "\\"
    if text[i:i + 1] == "u":
        i = re.compile("u[0-9a-fA-F]{0,3}").match(text, i).end()
    return i, i


def wrong_word(text, i):
    for word in ("true", "false", "null", "NaN", "Infinity"):
        if text[i:i + 1] == word[0]:
            n = next((n for n, c in enumerate(word) if text[i + n:i + n + 1] != c), len(word))
            return (None, i + n) if n == len(word) else (i + n, i + n)
    return i, i


def wrong_number(text, i):
    if text[i] == "-":
        i += 1
        if text[i:i + 1] == "I":
            return wrong_word(text, i)
    whole = re.compile("0|[1-9][0-9]*").match(text, i)
    if not whole:
        return i, i
    i = whole.end()
    if text[i:i + 1] in set("0123456789"):
        return i, i
    if text[i:i + 1] == ".":
        digits = re.compile("[0-9]+").match(text, i + 1)
        if not digits:
            return i + 1, i + 1
        i = digits.end()
    if text[i:i + 1] in set("eE"):
        i = re.compile("[-+]?").match(text, i + 1).end()
        digits = re.compile("[0-9]+").match(text, i)
        if not digits:
            return i, i
        i = digits.end()
    return None, i


def wrong_value(text, i):
    """out: where the value that begins at i is no JSON, or None; where it ends"""
    space = re.compile("[ \t\r\n]*")
    first = text[i:i + 1]
    if first == '"':
        return wrong_text(text, i)
    if first and first in "-0123456789":
        return wrong_number(text, i)
    if not first or first not in "{[":
        return wrong_word(text, i)
    last = "}" if first == "{" else "]"
    i = space.match(text, i + 1).end()
    if text[i:i + 1] == last:
        return None, i + 1
    while True:
        if first == "{":
            if text[i:i + 1] != '"':
                return i, i
            at, i = wrong_text(text, i)
            if at is not None:
                return at, at
            i = space.match(text, i).end()
            if text[i:i + 1] != ":":
                return i, i
            i = space.match(text, i + 1).end()
        at, i = wrong_value(text, i)
        if at is not None:
            return at, at
        i = space.match(text, i).end()
        if text[i:i + 1] == last:
            return None, i + 1
        if text[i:i + 1] != ",":
            return i, i
        i = space.match(text, i + 1).end()


class Reference:
    """What a document says: also behind damage, from where the next event is whole."""

    def __init__(self, data):
        self.tallies = Counter()
        self.events, self.header_pairs, self.is_list = [], [], False
        self.has_events = self.empty = False
        self.begin = 3 if data.startswith(b"\xef\xbb\xbf") else 0
        data = data[self.begin:]
        self.tallies["byte-order-mark"] += self.begin > 0
        self.text = to_text(data)
        self.ranges, self.places, self.is_left = [], 0, False
        self.state, self.inside, i, self.first = "begin", None, 0, True
        mark = next((n for n, c in enumerate(b"\xef\xbb\xbf") if data[n:n + 1] != bytes([c])), 3)
        if mark:  # not all of it
            i = self.go_on(mark)
        while i is not None:
            try:
                i = getattr(self, "read_" + self.state)(i)
            except Damage as damage:
                i = self.go_on(damage.at)

    def at_space(self, i):
        while i < len(self.text) and self.text[i] in SPACE:
            i += 1
        return i

    def at(self, i):
        return self.text[i:i + 1]

    def expect(self, i, characters):
        if not self.at(i) or self.at(i) not in characters:
            raise Damage(i)
        return self.at(i)

    def value(self, i):
        try:
            value, end = DECODER.scan_once(self.text, i)
        except (StopIteration, json.JSONDecodeError):
            raise Damage(wrong_value(self.text, i)[0]) from None
        wrong = wrong_value(self.text, i)[0] if isinstance(value, Number) else None
        if wrong is not None:  # Python takes the part of a number that is one
            raise Damage(wrong)
        return value, end

    # --- the document: each takes a step, and gives where it ends

    def read_begin(self, i):
        i = self.at_space(i)
        self.is_list = self.expect(i, "[{") == "["
        self.state = "elements" if self.is_list else "members"
        return i + 1

    def read_tail(self, i):
        rest = self.text[i:]
        if rest.strip(SPACE + "\0"):
            raise Damage(len(self.text) - len(rest.lstrip(SPACE + "\0")))
        self.tallies["zero-padding"] += "\0" in rest
        return None

    def read_members(self, i):
        i = self.at_space(i)
        if self.at(i) == "}":
            self.state = "tail"
            return i + 1
        if not self.first:
            self.expect(i, ",")
            i = self.at_space(i + 1)
        self.first = False
        self.expect(i, '"')
        key, i = self.value(i)
        i = self.at_space(i)
        self.expect(i, ":")
        i = self.at_space(i + 1)
        if key == "traceEvents":
            self.expect(i, "[")
            self.tallies["repeated-key"] += self.has_events
            self.has_events = self.first = True
            self.state = "elements"
            return i + 1
        begin = i
        value, i = self.value(i)
        self.header_pairs.append((key, value))
        self.tallies["nan-number"] += constants(value)
        self.tallies["stack-frames"] += key == "stackFrames" and i - begin > len("{}")
        return i

    def settle(self, tally):
        self.tallies[tally] += self.empty
        self.empty = False

    def open_end(self, i):
        """The bare list may end between two elements."""
        if not self.is_list or self.at(i) not in ("", "\0"):
            return False
        self.settle("empty-object")
        self.tallies["open-array"] += 1
        self.state = "tail"
        return True

    def read_elements(self, i):
        i = self.at_space(i)
        if self.at(i) == "]":
            self.settle("closing-object")
            self.first, self.state = False, "tail" if self.is_list else "members"
            return i + 1
        if self.open_end(i):
            return i
        if not self.first:
            self.expect(i, ",")
            self.settle("empty-object")
            i = self.at_space(i + 1)
            if self.open_end(i):
                return i
        self.first = False
        self.inside = i if self.at(i) == "{" else None
        value, i = self.value(i)
        self.inside = None
        if not isinstance(value, Pairs):
            self.tallies["not-an-object"] += 1
            self.tallies["nan-number"] += constants(value)
        elif value:
            self.events.append(event_of(value, self.tallies))
        self.empty = value == [] and isinstance(value, Pairs)
        return i

    # --- damage

    def go_on(self, at):
        """out: behind the next event that is whole; None where there is none"""
        begin = at if self.inside is None else self.inside
        self.inside = None
        i = self.behind_zeros(at)
        if i < len(self.text):
            is_left = self.state == "begin" or (self.state == "tail" and not self.places and
                                                not (self.is_list and self.at(i) in "{,"))
            self.tallies["damaged-text"] += 1
            self.places += 1
            if is_left:
                self.is_left = True
                self.ranges.append((at, begin, i))
                return None
            self.settle("empty-object")
            i, behind = self.next_event(i)
        self.ranges.append((at, begin, i))
        if i == len(self.text):
            return None
        self.events.append(event_of(self.value(i)[0], self.tallies))
        self.state, self.first = "elements", False
        return behind

    def behind_zeros(self, i):
        i = re.compile("\0*").match(self.text, i).end()
        self.tallies["cut-short"] += i == len(self.text)
        return i

    def next_event(self, i):
        """out: where it begins, and where it ends"""
        before = ""
        while i < len(self.text):
            c = self.text[i]
            if c != "{" or before == ":":
                before = c if c > " " else before
                i += 1
                continue
            wrong, behind = wrong_value(self.text, i)
            if wrong is not None:
                i, before = self.behind_zeros(wrong), ""
            elif letter_of(dict(self.value(i)[0]).get("ph")):
                return i, behind
            else:
                i, before = behind, "}"
        return i, i

    def damage(self):
        """As the program prints it."""
        if not self.ranges:
            return None
        at, begin, end = (x + self.begin for x in self.ranges[0])
        return [at, begin, end, self.places, sum(e - b for _, b, e in self.ranges), int(self.is_left)]


def constants(value):
    if isinstance(value, Constant):
        return 1
    if isinstance(value, Pairs):
        return sum(constants(v) for _, v in value)
    return sum(map(constants, value)) if isinstance(value, list) else 0


# --- what it means ---

EXACT = decimal.Context(prec=30000, Emax=decimal.MAX_EMAX, Emin=decimal.MIN_EMIN)
STATS = {}


def stat_of(key):
    """The number of an argument, which the program is asked for once for all keys."""
    return STATS.get(key, 0)


def exact(text):
    """A number as a Decimal that is neither so large nor so small that it could not be worked with."""
    try:
        value = EXACT.create_decimal(text)
    except decimal.Overflow:
        value = decimal.Decimal("-1e401" if text.startswith("-") else "1e401")
    if value and value.adjusted() > 400:
        return decimal.Decimal("1e400").copy_sign(value)
    return decimal.Decimal("1e-400").copy_sign(value) if value and value.adjusted() < -20000 else value


def whole(text):
    """A number as int where it is one."""
    value = exact(text)
    return int(value) if value == value.to_integral_value(context=EXACT) else None


def time_of(value):
    """out: picoseconds, whether it is too large, the tallies"""
    if isinstance(value, Number):
        text, kind = str(value), []
    elif isinstance(value, str) and not isinstance(value, Constant) and NUMBER.fullmatch(value) and value.isascii():
        text, kind = value, ["string-number"]
    else:
        return None, False, ["bad-number"]
    if "e" in text.lower():
        kind.append("exponent-number")
    ps = int(EXACT.multiply(exact(text), 10**6).to_integral_value(decimal.ROUND_HALF_UP, context=EXACT))
    if abs(ps) // 10**6 >= 2**63:
        return (-(2**63) if ps < 0 else 2**63 - 1) * 10**6, True, kind
    return ps, False, kind


def text_of(value):
    return to_bytes(value) if isinstance(value, str) and not isinstance(value, (Number, Constant)) else None


def id_of(value):
    if isinstance(value, Number):
        number = whole(value)
        fits = number is not None and -(2**63) <= number < 2**64
        return number if fits else value.encode().hex()
    text = text_of(value)
    if text is None:
        return None
    if PLAIN.fullmatch(value) and value.isascii() and -(2**63) <= int(value) < 2**64:
        return int(value)
    return text.hex()


def letter_of(value):
    text = text_of(value)
    if text is None:
        return 0
    return text[0] if len(text) == 1 and 0 < text[0] < 0x80 else ord("?")


def fact_of(value, tallies):
    text = text_of(value)
    if text is not None:
        return text.hex()
    if isinstance(value, Number):
        number = whole(value)
        if number is not None and number in INT64:
            return number, float(number).hex()
        real = float(value)
        if abs(real) == float("inf"):
            tallies["nan-number"] += 1
            return None
        return None, real.hex()
    return value if isinstance(value, list) and not isinstance(value, Pairs) else None


def facts_of(pairs, tallies):
    facts, seen = {}, set()
    for key, value in pairs:
        stat = stat_of(key)
        if key in seen:
            facts.pop(stat, None)
        seen.add(key)
        fact = fact_of(value, tallies) if stat else None
        if fact is not None:
            facts[stat] = fact
    return facts


def is_repeated(pairs):
    return len({k for k, _ in pairs}) < len(pairs)


def nests(value):
    return isinstance(value, Pairs) or (isinstance(value, list) and any(isinstance(v, list) for v in value))


def tally_name(name, text, tallies):
    has_half = any(0xD800 <= ord(c) < 0xE000 for c in text)
    tallies["unicode-name"] += any(b >= 0x80 for b in name) and not has_half
    tallies["control-character"] += any(b < 0x20 or b == 0x7F for b in name)
    tallies["lone-surrogate"] += has_half


def event_of(pairs, tallies):
    last = dict(pairs)
    event = {"ph": letter_of(last.get("ph"))}
    kinds = set()
    for key in ("ts", "dur"):
        if key not in last:
            continue
        ps, large, kind = time_of(last[key])
        if large and key == "ts":
            ps, kind = None, kind + ["bad-number"]
        tallies["bad-number"] += "bad-number" in kind
        kinds.update(kind)
        if ps is not None:
            event[key] = ps
        if large and key == "dur":
            event["long_dur"] = True
    for kind in ("string-number", "exponent-number"):
        tallies[kind] += kind in kinds
    if letter_of(last.get("s")) in b"gpt":
        event["s"] = chr(letter_of(last["s"]))
    if letter_of(last.get("bp")) == ord("e"):
        event["bp"] = True
    id2 = dict(last["id2"]) if isinstance(last.get("id2"), Pairs) else {}
    ids = [id_of(last.get("id")), id_of(id2.get("local")), id_of(id2.get("global")), id_of(last.get("bind_id"))]
    event.update(pid=id_of(last.get("pid")), tid=id_of(last.get("tid")), id=next((i for i in ids if i is not None), None))
    for key in ("name", "cat"):
        text = text_of(last.get(key))
        event[key] = None if text is None else text.hex()
        if key == "name" and text is not None:
            tally_name(text, last[key], tallies)
    objects = [v for k, v in pairs if k in ("args", "id2") and isinstance(v, Pairs)]
    tallies["repeated-key"] += is_repeated(pairs) or any(map(is_repeated, objects))
    args = [v for k, v in pairs if k == "args" and isinstance(v, Pairs)]
    tallies["nested-argument"] += any(nests(v) for a in args for _, v in a)
    tallies["nan-number"] += sum(constants(v) for k, v in pairs if k not in ("ts", "dur"))
    event["facts"] = {}
    for value in args:
        event["facts"] = facts_of(value, tallies)
    event["args"] = isinstance(last.get("args"), Pairs)
    if event["args"]:
        event["list"] = node_of(without_depths(last["args"]))
    else:
        event["facts"] = {}
    return {k: v for k, v in event.items() if v is not None}


DEEPEST = 24   # lists and objects inside one another that are kept
COMPARED = 8192  # bytes of arguments: longer ones may not be whole


def node_of(value):
    """An argument as the program prints it: what is too deep was taken out before."""
    if isinstance(value, Pairs):
        return {"pairs": [x for k, v in value for x in (to_bytes(k).hex(), node_of(v))]}
    if isinstance(value, list):
        return [node_of(v) for v in value]
    if isinstance(value, Number):
        is_integer = re.fullmatch("-?[0-9]+", value) and value != "-0" and -(2**63) <= int(value) < 2**64
        return int(value) if is_integer else {"number": str(value)}
    return to_bytes(value).hex() if isinstance(value, str) else value


def without_depths(value, depth=0):
    """What stays of it; nothing below the deepest level."""
    if not isinstance(value, list):
        return value
    pairs = isinstance(value, Pairs)
    kept = [v for v in value if depth < DEEPEST or not isinstance(v[1] if pairs else v, list)]
    if pairs:
        return Pairs((k, without_depths(v, depth + 1)) for k, v in kept)
    return [without_depths(v, depth + 1) for v in kept]


INTS = {"baseTimeNanoseconds": "base", "rank": "rank", "world_size": "world"}
TEXTS = {"host_name": ("host", 127), "traceName": ("trace_name", 255), "backend": ("backend", 31)}


def cut(text, most):
    """As a string of C of that size has it, cut between two characters."""
    if len(text) > most:
        while most > 0 and text[most] & 0xC0 == 0x80:
            most -= 1
        text = text[:most]
    return text.split(b"\0")[0]


def take_field(header, key, value):
    if key in INTS:
        written = isinstance(value, Number) or (text_of(value) is not None and value.isascii() and NUMBER.fullmatch(value))
        number = whole(value) if written else None
        if number is not None and number in INT64:
            header[INTS[key]] = number
    elif key in TEXTS and text_of(value) is not None:
        header[TEXTS[key][0]] = cut(text_of(value), TEXTS[key][1]).hex()


def header_of(reference):
    header = {"is_list": int(reference.is_list), "highres": 0, "schema": 0, "base": 0, "rank": -1, "world": -1,
              "backend": "", "host": "", "trace_name": "", "devices": 0}
    for key, value in reference.header_pairs:
        if key in ("baseTimeNanoseconds", "host_name", "traceName"):
            take_field(header, key, value)
        elif key == "schemaVersion":
            header["schema"] = 1
        elif key == "metadata" and isinstance(value, Pairs):
            for inner, flag in value:
                if inner == "highres-ticks":
                    header["highres"] = int(flag is True)
        elif key == "distributedInfo" and isinstance(value, Pairs):
            for inner, field in value:
                if inner in ("rank", "world_size", "backend"):
                    take_field(header, inner, field)
        elif key == "deviceProperties":
            header["devices"] = sum(isinstance(v, Pairs) for v in value) if type(value) is list else 0
    return header


# --- our reader ---


class Ours:
    """What the program printed of one file."""

    def __init__(self):
        self.events, self.header, self.tallies, self.damage, self.refused = [], None, Counter(), None, False

    def take(self, line):
        value = json.loads(line)
        if "header" in value:
            self.header = value["header"]
        elif "tallies" in value:
            self.tallies = Counter(value["tallies"])
        elif "problem" in value:
            self.damage = value["damage"]
        elif "refused" in value:
            self.refused = True
        else:
            self.events.append(value)


def list_in(text):
    return DECODER.decode(to_text(bytes.fromhex(text)))


def same_fact(ours, wanted):
    if isinstance(wanted, str):
        return ours == wanted
    if isinstance(wanted, tuple):
        return isinstance(ours, list) and float.fromhex(ours[1]) == float.fromhex(wanted[1]) and \
            (wanted[0] is None or ours[0] == wanted[0])
    return isinstance(ours, str) and list_in(ours) == wanted


def same_event(ours, wanted):
    ours = dict(ours)
    facts, wanted_facts = ours.pop("facts"), wanted["facts"]
    ours.pop("offset")
    length = ours["args"][0] if "args" in ours else 0
    if length == 0 or length > COMPARED:  # it outgrew the window; it may be too long to be kept whole
        ours.pop("list", None)
        wanted = {k: v for k, v in wanted.items() if k != "list"}
    ours["args"] = "args" in ours
    for key in ("ts", "dur"):
        if key in ours:
            ours[key] = int(ours[key])
    if ours != {k: v for k, v in wanted.items() if k != "facts"}:
        return False
    return {int(k) for k in facts} == set(wanted_facts) and \
        all(same_fact(facts[str(k)], v) for k, v in wanted_facts.items())


def difference(ours, reference, cuts):
    """What differs, in words; None = nothing."""
    if ours.refused:
        return "refused"
    if ours.damage != reference.damage():
        return f"damaged: {ours.damage} here, {reference.damage()} there"
    if len(ours.events) != len(reference.events):
        return f"{len(ours.events)} events here, {len(reference.events)} there ({ours.damage})"
    for i, (a, b) in enumerate(zip(ours.events, reference.events)):
        if not same_event(a, b):
            return f"event {i}: {str(a)[:600]} here, {str(b)[:600]} there"
    wanted = +reference.tallies
    if cuts:
        ours.tallies.pop("long-value", None)
    if +ours.tallies != wanted:
        return f"tallies: {dict(ours.tallies)} here, {dict(wanted)} there"
    if ours.damage:  # what a member holds before it is damaged may be known
        return None
    header = dict(ours.header, devices=len(ours.header["devices"]))
    header = {k: header[k] for k in header_of(reference)}
    return None if header == header_of(reference) else f"header: {header} here, {header_of(reference)} there"


def call(*arguments):
    done = subprocess.run([str(PROGRAM), *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          timeout=300, check=False)
    if SANITIZER.search(done.stderr) or done.returncode not in (0, 77):
        raise RuntimeError(f"status {done.returncode}: {done.stderr[-2000:]!r}")
    return done


def read_ours(paths, *options):
    results = []
    for line in call(*options, *paths).stdout.splitlines():
        if line == b'{"file":true}':
            results.append(Ours())
        else:
            results[-1].take(line)
    return results


def engines():
    return [e for e in ("plain", "sse2", "avx2", "neon") if call("-e", e, "-k", "ts").returncode == 0]


def learn_keys(keys):
    keys = sorted(k for k in keys if k and k.isascii() and "\0" not in k and k not in STATS)
    for i in range(0, len(keys), 1000):
        numbers = call("-k", *keys[i:i + 1000]).stdout.split()
        STATS.update(zip(keys[i:i + 1000], map(int, numbers)))


def learn_keys_in(data):
    learn_keys({key.decode() for key in set(re.findall(rb'"([ -!#-\[\]-~]{1,40})"\s*:', data))})


# --- documents ---

KEYS = ["correlation", "External id", "device", "grid", "block", "name", "hlo_op", "bytes", "Input Dims", "shape",
        "est. achieved occupancy %", "registers per thread", "a", "bb", "stream", "x" * 33, "y" * 70, "long_name"]
NUMBERS = ["0", "1", "-1", "12", "1.5", "0.0000005", "0.00000049", "1e3", "2.5E+1", "1e-7", "5e-7", "-0.25", "-0",
           "123456789012345678", "9223372036854775807", "9223372036854775808", "18446744073709551615",
           "18446744073709551616", "-9223372036854775808", "1e18", "9.3e18", "1e400", "-1e400", "1e-400", "0e5",
           "962334.41700000002", "9.9999999999999995e-07", "1666382280874284.1234567", "0.9999995", "12.0", "100e-2",
           "9223372036854775807.9999996", "0." + "3" * 60, "7" * 40, "99999999.99999999", "12345678.1234567"]
LETTERS = ["a", "B", " ", "/", "\\\"", "\\\\", "\\/", "\\n", "\\t", "\\u0041", "\\u00e9", "\\u0000", "\\ud83d\\ude00",
           "\\ud83d", "\\ude00", "\\ud83dx", "\\ud83d\\u0041", "\\u007F", "é", "漢", "\x01", "\n", "\x7f", "\xff", "fusion"]
SPACES = ["", "", "", "", " ", "\n  ", "\t", "\r\n", " " * 40]


class Maker:
    """Documents by chance, from a seed."""

    def __init__(self, seed):
        self.dice = random.Random(seed)

    def one(self, choices):
        return self.dice.choice(choices)

    def maybe(self, share):
        return self.dice.random() < share

    def space(self):
        return self.one(SPACES)

    def text(self):
        inside = "".join(self.one(LETTERS) for _ in range(self.dice.randrange(0, 14)))
        return '"' + inside + '"'

    def key(self, name):
        if self.maybe(0.03) and name:
            at = self.dice.randrange(len(name))
            name = name[:at] + f"\\u{ord(name[at]):04x}" + name[at + 1:]
        return '"' + name + '"'

    def number(self):
        if self.maybe(0.5):
            return str(self.dice.randrange(10**self.dice.randrange(1, 16)) / self.one([1, 1, 10, 1000]))
        return self.one(NUMBERS)

    def simple(self):
        roll = self.dice.random()
        if roll < 0.4:
            return self.number()
        if roll < 0.8:
            return self.text()
        return self.one(["true", "false", "null", "NaN", "Infinity", "-Infinity", '"17"', '"-3"', '"0x1f"', '""', '"1.5"'])

    def join(self, parts, ends):
        inside = ("," + self.space()).join(p + self.space() for p in parts)
        return ends[0] + self.space() + inside + ends[1]

    def members(self, pairs):
        return self.join([self.key(k) + self.space() + ":" + self.space() + v for k, v in pairs], "{}")

    def value(self, depth=0):
        if depth > 3 or self.maybe(0.75):
            return self.simple()
        count = self.dice.randrange(0, 4)
        if self.maybe(0.5):
            return self.join([self.value(depth + 1) for _ in range(count)], "[]")
        return self.members([(self.one(KEYS), self.value(depth + 1)) for _ in range(count)])

    def args(self):
        return self.members([(self.one(KEYS), self.value(1)) for _ in range(self.dice.randrange(0, 6))])

    def id2(self):
        return self.members([(self.one(["local", "global", "other"]), self.simple()) for _ in range(2)])

    def member(self, key):
        usual = {"ph": lambda: '"' + self.one("XXXXBEiIMCsftbne") + '"', "ts": self.number, "dur": self.number,
                 "pid": self.number, "tid": self.number, "args": self.args, "id2": self.id2, "s": lambda: '"' + self.one("gptx") + '"',
                 "bp": lambda: '"e"'}
        return key, usual[key]() if key in usual and self.maybe(0.85) else self.value()

    def event(self):
        if self.maybe(0.03):
            return self.one(["{}", "{ }", "null", "7", '"text"', "[1]", "NaN"])
        keys = [k for k in ("ph", "ts", "dur", "pid", "tid", "name", "cat", "args") if self.maybe(0.85)]
        keys += [k for k in ("id", "id2", "bind_id", "s", "bp", "tts", "cname", "ts", "name", "args") if self.maybe(0.12)]
        self.dice.shuffle(keys)
        return self.members([self.member(k) for k in keys])

    def events(self):
        parts = [self.event() for _ in range(self.dice.randrange(0, 7))] + ["{}"] * self.maybe(0.2)
        return self.join(parts, "[]")

    def header(self):
        devices = self.join([self.members([("id", str(i)), ("name", self.text()), ("numSms", "108")]) for i in range(2)], "[]")
        every = [("displayTimeUnit", '"ns"'), ("metadata", '{"highres-ticks":true}'), ("schemaVersion", "1"),
                 ("baseTimeNanoseconds", self.number()), ("host_name", self.text()), ("traceName", self.text()),
                 ("deviceProperties", devices), ("stackFrames", self.value()),
                 ("distributedInfo", self.members([("rank", self.number()), ("backend", self.text()), ("world_size", "8")]))]
        return [m for m in every if self.maybe(0.3)]

    def document(self):
        if self.maybe(0.35):
            text = self.events()
            if self.maybe(0.3):
                text = text[:-1].rstrip() + self.one(["", ",", " ", "\n,\n"])
        else:
            pairs = self.header() + [("traceEvents", self.events())] * self.one([1, 1, 1, 1, 0, 2])
            self.dice.shuffle(pairs)
            text = self.members(pairs)
        text = self.one(["", "", "", "\ufeff", "\n"]) + text + self.one(["", "", "\n", " \n", "\0\0\0", "\n\0"])
        return text.encode("latin-1", "ignore") if self.maybe(0.1) else text.replace("\xff", "\udcff").encode("utf-8", "surrogateescape")

    def damage(self, data):
        data = bytearray(data)
        for _ in range(self.one([1, 1, 1, 2, 5])):
            at = self.dice.randrange(len(data) + 1)
            length = self.dice.randrange(1, 12)
            how = self.dice.randrange(6)
            if how == 0 and at < len(data):
                data[at] ^= 1 << self.dice.randrange(8)
            elif how == 1:
                data[at:at] = self.one([b"{", b"}", b"[", b"]", b'"', b",", b":", b"\\", b"\0", b"-", b"0", b"e", b"1.", b"null"])
            elif how == 2:
                del data[at:at + length]
            elif how == 3:
                del data[at:]
            elif how == 4:
                data[at:at] = data[at:at + length * 4]
            elif at < len(data):
                data[at] = self.one(b'{}[]",:\\ 0123456789.eE+-tfnNI\0\n')
        return bytes(data)


# --- the cases ---


def compare(tap, name, documents, folder, options, cuts=False):
    """Writes, reads and compares them all; one case."""
    paths = []
    for i, data in enumerate(documents):
        paths.append(folder / f"{i}.json")
        paths[-1].write_bytes(data)
    wrong, damaged, count = [], 0, 0
    for begin in range(0, len(paths), 200):
        part = documents[begin:begin + 200]
        results = read_ours(paths[begin:begin + 200], *options[begin // 200 % len(options)])
        for i, (data, ours) in enumerate(zip(part, results)):
            if not data:
                continue  # an empty file is refused as such
            reference = Reference(data)
            damaged += bool(reference.ranges)
            count += 1
            text = difference(ours, reference, cuts)
            if text:
                wrong.append(f"document {begin + i}, {options[begin // 200 % len(options)]}: {text}\n{data[:1500]!r}")
    tap.ok(not wrong, f"{name}: {count} documents, {damaged} of them damaged, are read as Python reads them",
           f"{len(wrong)} differ", *wrong[:3])


def real_files():
    folders = [SHARED / "traces" / name for name in ("chrome", "jax-json", "kineto", "logdir")]
    return sorted(p for f in folders for p in f.rglob("*") if re.search(r"\.json(\.gz)?$", p.name))


def pieces_of(data, offsets):
    """A document of PIECES runs of its events, evenly over all of it, the first and the last ones among them, and of what
    stands before and behind the events.  offsets: where each event begins"""
    first, last, bounds = offsets[0], offsets[-1], []
    for i in range(PIECES):
        begin = first + (last - first) * i // PIECES
        begin = offsets[bisect.bisect_left(offsets, begin)]
        end = offsets[min(bisect.bisect_left(offsets, begin + PIECE_BYTES), len(offsets) - 1)]
        bounds.append((begin, max(end, bounds[-1][1] if bounds else 0)))
    bounds = [(0, first), *bounds, (last, len(data))]
    return b"".join(data[max(begin, bounds[i - 1][1] if i else 0):end] for i, (begin, end) in enumerate(bounds))


def compare_real(tap, engine_names, folder):
    files = real_files()
    if not files:
        tap.skip("real files", "TM_SHARED has none")
        return
    largest = 64 << 20 if not SANITIZED else 4 << 20  # Python takes a second for 10 MB
    skipped = 0
    for i, path in enumerate(files):
        data, name = path.read_bytes(), f"{path.parent.name}/{path.name}"
        data = gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data
        if len(data) > largest:
            skipped += 1
            continue
        what, options = "", ("-e", engine_names[i % len(engine_names)])
        if len(data) > WHOLE_BYTES and not fnmatch.fnmatch(path.name, READ_WHOLE) and not os.environ.get("TM_WHOLE"):
            offsets = [int(line[len(OFFSET):line.index(b",")]) for line in call(*options, path).stdout.splitlines()
                       if line.startswith(OFFSET)]
            if offsets:
                what = f", pieces of {len(data) >> 20} MiB"
                data, path = pieces_of(data, offsets), folder / path.name.removesuffix(".gz")
                path.write_bytes(data)
        learn_keys_in(data)
        ours = read_ours([path], *options)[0]
        text = difference(ours, Reference(data), False)
        tap.ok(text is None, f"{name}{what} ({len(ours.events)} events)", text)
    tap.skip("large real files", f"{skipped} of {len(files)} files are over {largest >> 20} MiB")


def sweep(tap, name, data, folder, engine_names):
    path = folder / "sweep.json"
    path.write_bytes(data)
    offsets = [e["offset"] for e in read_ours([path])[0].events] + [len(data)]
    widest = max([512] + [b - a for a, b in zip(offsets, offsets[1:])])  # no event outgrows such a window
    for option, sizes in (("-R", "1-4096"), ("-W", f"{widest}-{widest + 2000}")):
        for engine in engine_names if option == "-W" else engine_names[-1:]:
            other = call("-e", engine, option, sizes, path).stdout.split()
            what = "reads" if option == "-R" else "windows"
            tap.ok(not other, f"{name}: {what} of {sizes} bytes change nothing ({engine})", f"sizes {other[:20]}")
    other = call("-w", 512, "-R", "1-600", path).stdout.split()
    tap.ok(not other, f"{name}: reads of 1-600 bytes change nothing in a small window", f"sizes {other[:20]}")


def main():
    tap = Tap()
    engine_names = engines()
    learn_keys(KEYS)
    with Scratch() as folder:
        compare_real(tap, engine_names, folder)
        made = [Maker(seed).document() for seed in range(GENERATED)]
        ways = [["-e", e, "-w", w, "-r", r] for w, r in ((0, 0), (16384, 7), (0, 61), (16384, 0)) for e in engine_names]
        compare(tap, "generated", made, folder, ways)
        dice = Maker(77)
        small = [d for d in made if 0 < len(d) < 3000]
        damaged = [dice.damage(dice.one(small)) for _ in range(DAMAGED)]
        compare(tap, "mutated", damaged, folder, ways)
        seeds = [json.dumps(make(), indent=i).encode() for i, make in enumerate((make_seeds.jax_trace, make_seeds.pytorch_trace,
                                                                                 make_seeds.other_trace))]
        for part in mutants("json", MUTANT_SEED, DAMAGED, small + seeds * 50, folder):
            for data in part:
                learn_keys_in(data)
            compare(tap, "values mutated", part, folder, [way[:3] + [way[3] and max(map(len, part))] + way[4:] for way in ways])
        larger = sorted(small, key=len)[-3:]
        for i, data in enumerate(larger if not SANITIZED else larger[:1]):
            sweep(tap, f"document {i}", data, folder, engine_names)
    tap.done()


if __name__ == "__main__":
    main()
