# SPDX-License-Identifier: Apache-2.0
"""What the importer holds against what a tally says that it must.  Each comparison gives lines that tell what differs;
none where everything is equal."""

import gzip
import math
import re
from collections import Counter, defaultdict
from decimal import Decimal

import trace_tally

DERIVED = " · tracemill"  # in the names of rows and processes that were worked out
NATURAL = range(1, 2**31)
ORIGIN = re.compile(rb'"origin_us"\s*:\s*"?(-?[0-9.]+)')
NO_TEXT = re.compile("[\0\ud800-\udfff\ufffd]+")
SHOWN = 4               # differences that are told of each sort


def origin_ns(path):
    """What a JSON's clock reads at 0, on the input's: its own words."""
    data = path.read_bytes()
    found = ORIGIN.search(gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data)
    return int(Decimal(found.group(1).decode()) * 1000) if found else 0


def is_derived(track):
    name = track.thread[1] if track.thread else track.name
    process = track.process[1] if track.process else None
    return DERIVED in (process or "") or (name or "").endswith(DERIVED)


def label_of_track(track):
    process = track.process[1] if track.process else None
    return clean(process or ""), clean((track.thread[1] if track.thread else track.name) or "")


def differences(what, wanted, held):
    """Two Counters."""
    lines = []
    for word, rest in (("is missing", wanted - held), ("is too much", held - wanted)):
        for value, count in list(rest.items())[:SHOWN]:
            lines.append(f"{what} {word}: {value} x {count}")
        if len(rest) > SHOWN:
            lines.append(f"{what} {word}: {sum(rest.values())} in all")
    return lines


# --- slices on their rows -------------------------------------------------------------------------------------

def held_rows(held, offset=0):
    """out: {label: Counter of rows}, each row the sorted tuple of its slices"""
    found = defaultdict(list)
    for track in held.tracks.values():
        if track.slices and not is_derived(track):
            content = sorted((s.ts + offset, s.dur, clean(s.name), s.depth) for s in track.slices)
            found[label_of_track(track)].append((track, content))
    return found


def nested(content):
    """With the depths that the importer gives to a JSON: what has no length lies in what has none at the same time."""
    open_spans = []
    for ts, dur, name, _ in sorted(content, key=lambda s: (s[0], -s[1])):
        while open_spans and (open_spans[-1][0] < ts or open_spans[-1] == (ts, True)):
            open_spans.pop()
        yield ts, dur, name, len(open_spans)
        open_spans.append((ts + dur, dur > 0))


def wanted_rows(recording, is_json):
    found = defaultdict(list)
    for (row, lane), content in trace_tally.slices_by_row(recording).items():
        content = nested(content) if is_json else content
        content = sorted((ts, dur, clean(name), depth) for ts, dur, name, depth in content)
        found[(clean(row.process.name), clean(row.name))].append((row, lane, content))
    return found


def clean(text):
    """As it stands in an output: valid UTF-8 without NUL.  How many replacements stand for what was no text does not
    count."""
    return text if text.isascii() and "\0" not in text else NO_TEXT.sub("\ufffd", text)


def compare_slices(recording, held, offset=0, is_json=False):
    """offset: of the output's clock behind the recording's, in ns."""
    wanted, got = wanted_rows(recording, is_json), held_rows(held, offset)
    lines = []
    for label in sorted(set(wanted) | set(got)):
        ours = Counter(tuple(c) for _, _, c in wanted.get(label, ()))
        theirs = Counter(tuple(c) for _, c in got.get(label, ()))
        if ours == theirs:
            continue
        all_ours = Counter(s for content, n in ours.items() for s in content for _ in range(n))
        all_theirs = Counter(s for content, n in theirs.items() for s in content for _ in range(n))
        lines += differences(f"{label}: slice", all_ours, all_theirs)
        if all_ours == all_theirs:
            lines.append(f"{label}: on other lanes: {sorted(map(len, theirs))}, not {sorted(map(len, ours))}")
    return lines


def is_natural(number):
    return isinstance(number, int) and number in NATURAL


def compare_numbers(recording, held):
    """Processes and threads keep their numbers where those can be used, and all are different."""
    wanted, got = wanted_rows(recording, False), held_rows(held)
    lines, users = [], defaultdict(set)
    for rows in wanted.values():
        for row, _, _ in rows:
            users[row.process.number].add(row.process)
    for label, rows in wanted.items():
        tids = Counter(t.thread[0] for t, _ in got.get(label, ()) if t.thread)
        for row, lane, _ in rows:
            number = row.number
            if lane == 0 and row.sort == trace_tally.THREAD and is_natural(number) \
                    and got.get(label) and number not in tids:
                lines.append(f"{label}: thread {number} has another number: {sorted(tids)[:SHOWN]}")
        pids = {t.process[0] for t, _ in got.get(label, ()) if t.process}
        natural = {row.process.number for row, _, _ in rows if is_natural(row.process.number)
                   and len(users[row.process.number]) == 1}
        if natural - pids and got.get(label):
            lines.append(f"{label}: processes {sorted(natural)} have other numbers: {sorted(pids)}")
    return lines


# --- counters, arguments ---------------------------------------------------------------------------------------

def compare_counters(recording, held, offset=0):
    wanted = Counter((clean(process.name), clean(title), trace_tally.to_ns(ps), float(value))
                     for (process, title), rows in recording.counters.items() for ps, value, _ in rows)
    got = Counter((clean(process or ""), clean(name or ""), ts + offset, float(value))
                  for ts, value, name, _, process in held.counters if not (name or "").endswith(DERIVED))
    return differences("counter", wanted, got)


def argument_of(row, is_json):
    """(path, value) of a row of the importer's arguments, without the prefix of its format; None: none of ours."""
    _, key, kind, whole, text, real = row
    prefix, dot, name = key.partition(".")
    if prefix not in ("debug", "args") or not dot or name.startswith(("tracemill.", "tracemill_")):
        return None
    if kind == "string":
        value = clean(text or "")
    elif kind == "real":
        value = near(real or 0) if is_json else float(real or 0)
    else:
        value = {"json": text, "bool": bool(whole)}.get(kind, whole)
    return clean(name), value


def as_key(key):
    """What the importer makes of a name in Perfetto's own format."""
    return re.sub(r"[.\[\]]", "_", key)


def real_text(value):
    return {math.inf: "Infinity", -math.inf: "-Infinity"}.get(value, "NaN")


def in_perfetto(value):
    """A value as it stands in the importer's tables, out of Perfetto's own format."""
    if value is None:
        return "null"
    if isinstance(value, (dict, list, tuple)):
        return "{}" if isinstance(value, dict) else "[]"
    if isinstance(value, float) and not math.isfinite(value):
        return real_text(value)
    if isinstance(value, int) and not isinstance(value, bool) and not -2**63 <= value < 2**63:
        return str(value) if 0 < value < 2**64 else float(value)
    return float(value) if isinstance(value, Decimal) else clean(value) if isinstance(value, str) else value


def near(value):
    """The importer reads a number of a JSON to the last digit but one or two."""
    return float(f"{value:.13g}")


def in_json(value):
    """The same of a JSON; None: the importer leaves it out."""
    if value is None or isinstance(value, (dict, list, tuple)):
        return None
    if isinstance(value, float):
        return near(value) if math.isfinite(value) else real_text(value)
    if isinstance(value, (int, Decimal)) and not isinstance(value, bool):
        is_whole = isinstance(value, int)
        too_large = not -2**63 <= value < 2**63 if is_whole else value.adjusted() >= 18
        return str(value) if too_large else value if is_whole else near(float(value))
    return clean(value) if isinstance(value, str) else value


def one_of_each(pairs, shown):
    """No key comes twice."""
    seen = Counter()
    for key, value in pairs:
        key = shown(key)
        seen[key] += 1
        yield (key if seen[key] == 1 else f"{key} ({seen[key]})"), value


def arguments_of(recording, values_of, is_json):
    """out: Counter of (ts, name, its arguments); values_of(item.args) gives pairs of a key and a value"""
    wanted, value_of, shown = Counter(), in_json if is_json else in_perfetto, str if is_json else as_key
    for row in recording.rows:
        for item in row.items:
            rows = sorted(repr((clean(path), value_of(value)))
                          for key, inner in one_of_each(values_of(item.args), shown)
                          for path, value in trace_tally.leaves(inner, key, shown) if value_of(value) is not None)
            wanted[(trace_tally.to_ns(item.begin), clean(item.name), tuple(rows))] += 1
    return wanted


def compare_arguments(wanted, held, offset=0, is_json=False):
    got = Counter()
    for one in held.slices.values():
        if not is_derived(held.tracks[one.track]):
            rows = sorted(repr(a) for a in (argument_of(row, is_json) for row in one.args) if a)
            got[(one.ts + offset, clean(one.name), tuple(rows))] += 1
    return differences("arguments", wanted, got)


# --- arrows ---------------------------------------------------------------------------------------------------

def compare_arrows(recording, held, offset=0, is_json=False):
    wanted = Counter((trace_tally.to_ns(a.begin), clean(a.name), trace_tally.to_ns(b.begin), clean(b.name))
                     for a, b in trace_tally.arrows_of(recording, is_json))
    got = Counter()
    for left, right in held.flows:
        one, other = held.slices[left], held.slices[right]
        if is_derived(held.tracks[one.track]) or is_derived(held.tracks[other.track]):
            continue
        got[(one.ts + offset, clean(one.name), other.ts + offset, clean(other.name))] += 1
    return differences("arrow", wanted, got)
