#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The facts of a section that are not in its document are left out without a word: each of their keys has to be one
that a schema has at one and the same place as the others of its list."""

import json
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from tap import Tap  # noqa: E402
from tracemill import ROOT  # noqa: E402

LISTS = re.compile(r"struct tm_column facts\[\d*\] = \{\n(.*?)\n    \};", re.S)
KEY = re.compile(r'\{ (?:(?:"[^"]*"|\w+), |(?:\.title = (?:"[^"]*"|\w+), )?\.key = )"([^"]+)"')


DOCUMENTS = ("summary", "comparison", "scaling", "check", "night")


class Schema:
    def __init__(self, document):
        self.root = json.loads((ROOT / "schemas" / f"{document}.schema.json").read_text(encoding="utf-8"))

    def resolved(self, node):
        if "$ref" in node:
            return self.resolved(self.root["$defs"][node["$ref"].rsplit("/", 1)[1]])
        for form in node.get("oneOf", []):
            if form.get("type") != "null":
                return self.resolved(form)
        return node

    def objects(self):
        """Every place of the schema that has members."""
        found, todo = [], [self.root]
        while todo:
            node = todo.pop()
            if isinstance(node, dict):
                if isinstance(node.get("properties"), dict):
                    found.append(node)
                todo += node.values()
            elif isinstance(node, list):
                todo += node
        return found

    def has(self, node, path):
        for name, index in re.findall(r"(\w+)(\[\d+\])?", path):
            node = self.resolved(node).get("properties", {}).get(name)
            if node is None:
                return False
            if index:
                node = self.resolved(node).get("items", {})
        return True


def main():
    tap = Tap()
    places = [(schema, place) for schema in map(Schema, DOCUMENTS) for place in schema.objects()]
    lists = [(source.name, KEY.findall(body))
             for source in sorted((ROOT / "reports" / "content").glob("*_sections.c"))
             for body in LISTS.findall(source.read_text(encoding="utf-8"))]

    tap.ok(len(lists) > 12 and all(keys for _, keys in lists), "lists of facts are found")
    for name, keys in lists:
        missing = min(([k for k in keys if not schema.has(place, k)] for schema, place in places), key=len)
        tap.ok(not missing, f"{name}: {len(keys)} facts are in the schema", ", ".join(missing))
    tap.done()


if __name__ == "__main__":
    main()
