# SPDX-License-Identifier: Apache-2.0
"""Turns the JSON of `tracemill brief` or `tracemill check` on stdin into annotations, and outputs of the step."""

import json
import os
import sys


def escape(text, more=""):
    """A message; with more=":,": a property.  Names in a profile may say anything."""
    for character in "%\r\n" + more:
        text = text.replace(character, f"%{ord(character):02X}")
    return text


def annotate(level, title, text):
    print(f"::{level} title={escape(title, ':,')}::{escape(text)}")


def main():
    document = json.load(sys.stdin)
    if sys.argv[1] == "brief":
        verdict = document["verdict"]
        annotate("notice", "tracemill", verdict["text"])
        for finding in document["findings"]:
            if finding["severity"] == "critical":
                annotate("warning", finding["title"], " ".join(filter(None, (finding["evidence"], finding["advice"]))))
        with open(os.environ["GITHUB_OUTPUT"], "a", encoding="utf-8") as out:
            out.write("verdict=" + " ".join(verdict["text"].split()) + "\n")
        return
    for gate in document["gates"]:
        title = gate["title"] or gate["figure"]
        if gate["status"] == "failed":
            against = f", baseline {gate['baseline_text']}" if gate["baseline_text"] else ""
            annotate("error", title, f"{gate['value_text']}, {gate['rule']} {gate['limit_text']}{against}")
        elif gate["status"] == "unknown":
            annotate("warning", title, f"cannot be judged: {gate['why']}")


main()
