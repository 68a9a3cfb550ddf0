# SPDX-License-Identifier: Apache-2.0
"""Whether the importer makes the same of two traces: slices on their rows, arguments, arrows, counters."""

from collections import Counter


def label(held, track):
    """Of a row: its process, its thread, its own name and those above it, up to a process."""
    names = []
    while track is not None:
        names.append((track.thread, track.process) if track.thread or track.process else track.name)
        if track.thread or track.process:
            break
        track = held.tracks.get(track.parent)
    return tuple(names)


def row_of(held, one, with_depth):
    track = held.tracks[one.track]
    return (*label(held, track), track.name, one.ts, one.dur, one.name, one.category,
            one.depth if with_depth else None, tuple(sorted(map(repr, one.args))))


def of(held, skips=lambda track: False, with_depth=True):
    """All of it, as multisets by sort.  skips: tracks that do not count"""
    slices = {number: one for number, one in held.slices.items() if not skips(held.tracks[one.track])}
    rows = {number: row_of(held, one, with_depth) for number, one in slices.items()}
    return {
        "slice": Counter(rows.values()),
        "arrow": Counter((rows[a], rows[b]) for a, b in held.flows if a in rows and b in rows),
        "value": Counter(tuple(row) for row in held.counters if "tracemill" not in (row[2] or "")),
    }


def differences(a, b, most=3):
    """Lines that tell how b is not a; both are of `of`."""
    told = []
    for sort in a:
        lost, new = a[sort] - b[sort], b[sort] - a[sort]
        if lost or new:
            told.append(f"{sort}s: {sum(a[sort].values())}, then {sum(b[sort].values())}; "
                        f"{sum(lost.values())} lost, {sum(new.values())} new")
            told += [f"  lost: {str(row)[:600]}" for row in list(lost)[:most]]
            told += [f"  new: {str(row)[:600]}" for row in list(new)[:most]]
    return told
