# SPDX-License-Identifier: Apache-2.0
"""A Chrome trace in JSON, read the slow and plain way: the whole document, times as exact decimals."""

import gzip
import json
from collections import Counter
from decimal import Decimal

# The tally that counts events of these phases.
PHASES = {"metadata-event": "M", "begin-end-event": "BE", "instant-event": "iIRP", "counter-event": "C",
          "flow-event": "stf", "async-event": "bneSTpF", "other-phase": "NODvVca()"}


def content_of(path):
    """The bytes of a file, out of its gzip where it is one."""
    data = path.read_bytes()
    return gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data


def is_json(data):
    return data.lstrip()[:1] in (b"{", b"[")


def document_of(data, real=Decimal):
    """out: the document, its events: the objects of the list that are not empty.
    in: real  made of the text of each number that is not whole; None = a float, where only other values count"""
    document = json.loads(data.decode("utf-8", "replace"), parse_float=real)
    events = document if isinstance(document, list) else document["traceEvents"]
    return document, [e for e in events if isinstance(e, dict) and e]


def phase_counts(events):
    """How many events each tally of PHASES counts."""
    counts = Counter(e.get("ph", "-") for e in events)
    return {tally: sum(count for phase, count in counts.items() if phase in phases) for tally, phases in PHASES.items()}


def compare_phases(d, events, coverage):
    """Events read, which metadata is none of, and those of each phase, against the coverage of a summary.  d: a Differences"""
    d.equal("coverage.events_read", sum(e.get("ph") != "M" for e in events), coverage["events_read"])
    for tally, count in phase_counts(events).items():
        d.equal(f"coverage.tallies.{tally}", count, coverage["tallies"].get(tally, {"count": 0})["count"])
