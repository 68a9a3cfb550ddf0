#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The facts of a section that are not in its document are left out without a word: each of their paths has to be one
that a schema has where its list begins."""

import json
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from tap import Tap  # noqa: E402
from tracemill import ROOT  # noqa: E402

TEXT = r'((?:"[^"]*"\s*)+)'
LISTS = re.compile(rf'tm_emit_facts\(content, "[^"]*", "([^"]*)",\s*{TEXT}\)')
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

    def has(self, path):
        node = self.root
        for name, index in re.findall(r"(\w+)(\[\d+\])?", path):
            node = self.resolved(node)
            node = node.get("properties", {}).get(name) or node.get("additionalProperties")
            if not isinstance(node, dict):
                return False
            if index:
                node = self.resolved(node).get("items", {})
        return True


def paths_of(at, texts):
    """The paths of a list, "count, pauses.total_ps rare = Time": the first word of each."""
    columns = "".join(re.findall(r'"([^"]*)"', texts)).split(",")
    return [f"{at}.{column.split()[0]}" for column in columns]


def main():
    tap = Tap()
    schemas = [Schema(document) for document in DOCUMENTS]
    lists = [(source.name, paths_of(at, texts))
             for source in sorted((ROOT / "reports" / "content").glob("*_sections.c"))
             for at, texts in LISTS.findall(source.read_text(encoding="utf-8"))]

    tap.ok(len(lists) > 12 and all(paths for _, paths in lists), "lists of facts are found")
    for name, paths in lists:
        missing = min(([path for path in paths if not schema.has(path)] for schema in schemas), key=len)
        tap.ok(not missing, f"{name}: {len(paths)} facts are in the schema", ", ".join(missing))
    tap.done()


if __name__ == "__main__":
    main()
