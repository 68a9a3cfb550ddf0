#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The schemas and pages of schemas/ are what the tables of fields in pipeline/doc/ make (`make schemas`)."""

import difflib
import json
import re
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from schemas import validator_of  # noqa: E402
from tap import Tap  # noqa: E402
from tracemill import BUILD, ROOT  # noqa: E402

NAMES = re.search(r"^SCHEMAS := (.*)", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M)[1].split()


def made(name, what):
    return subprocess.run([BUILD / "tests" / "print_schema", name, what], capture_output=True, text=True, check=True).stdout


# A path that a reader of documents names from the root: tm_of(content, "a.b"), tm_path(summary, "a[0].b").
PATHS = re.compile(r'\b(?:tm_of\(content|tm_path\((?:content->)?(?:summary|root|comparison)), "([^"]+)"\)')


def resolved(schema, node):
    while "$ref" in node or "oneOf" in node:
        node = (schema["$defs"][node["$ref"].rsplit("/", 1)[1]] if "$ref" in node
                else next(form for form in node["oneOf"] if form.get("type") != "null"))
    return node


def has_path(schema, path):
    node = schema
    for key, _ in re.findall(r"(\w+)|\[([^]]*)\]", path):
        node = resolved(schema, node)
        node = node.get("properties", {}).get(key, node.get("additionalProperties")) if key else node.get("items")
        if not isinstance(node, dict):
            return False
    return True


def misplaced(schema, node, value, path=""):
    """Where the members of objects are in another order than in the schema."""
    node = resolved(schema, node)
    if isinstance(value, list):
        return [place for one in value for place in misplaced(schema, node["items"], one, path + "[]")]
    if not isinstance(value, dict) or "properties" not in node:
        return []
    places = [list(node["properties"]).index(key) for key in value]
    return [path] * (places != sorted(places)) + [
        place for key, one in value.items() for place in misplaced(schema, node["properties"][key], one, f"{path}.{key}")]


def check_order(tap, schemas):
    names = {f"tracemill.{name}": schema for name, schema in schemas.items()}
    for path in sorted((ROOT / "tests" / "golden").glob("*/out/*.json")):
        try:
            document = json.loads(path.read_text(encoding="utf-8"))
        except json.JSONDecodeError:  # several in one file
            continue
        schema = names.get(document.get("schema") if isinstance(document, dict) else None)
        if schema:
            places = sorted(set(misplaced(schema, schema, document)))
            tap.ok(not places, f"members of {path.relative_to(ROOT / 'tests')} are in the order of their table", *places)


def check_paths(tap, schemas):
    """What is read of a document is in it: a path with a slip of the pen reads nothing, without a word."""
    found = {(path, source.name) for source in (ROOT / "reports").rglob("*.c")
             for path in PATHS.findall(source.read_text(encoding="utf-8"))}
    unknown = sorted(pair for pair in found if not any(has_path(schema, pair[0]) for schema in schemas.values()))
    tap.ok(len(found) > 150 and not unknown, f"{len(found)} paths that reports read are fields", *unknown)


def check_file(tap, path, text):
    kept = path.read_text(encoding="utf-8")
    lines = difflib.unified_diff(kept.splitlines(), text.splitlines(), "kept", "made", lineterm="", n=0)
    tap.ok(kept == text, f"{path.name} is what its tables make: make schemas", *list(lines)[:20])


def main():
    tap = Tap()
    for name in NAMES:
        check_file(tap, ROOT / "schemas" / f"{name}.schema.json", made(name, "json"))
        check_file(tap, ROOT / "schemas" / f"{name.upper()}.md", made(name, "page"))
        validator_of(tap, name)  # is a schema
    page = (ROOT / "schemas" / "SUMMARY.md").read_text(encoding="utf-8")
    used = set(re.findall(r"^\| `\w+` \| .*?`([\w.*\[\]]+)`[ ,]", page, re.M)) - set(re.findall(r"^#+ `(.*)`$", page, re.M))
    unknown = {path for path in used if ("." in path or "[" in path) and not path.startswith("tracemill.")}
    tap.ok(not unknown, "objects that the page names are on it", sorted(unknown))
    schema = json.loads((ROOT / "schemas" / "summary.schema.json").read_text(encoding="utf-8"))
    kept = {name for name in schema["$defs"] if f'"#/$defs/{name}"' in json.dumps(schema)}
    tap.ok(len(kept) > 20, "definitions are used", sorted(set(schema["$defs"]) - kept))
    schemas = {name: json.loads((ROOT / "schemas" / f"{name}.schema.json").read_text(encoding="utf-8")) for name in NAMES}
    check_order(tap, schemas)
    check_paths(tap, schemas)
    refused = subprocess.run([BUILD / "tests" / "print_schema", "nothing", "json"], capture_output=True, text=True, check=False)
    tap.ok(refused.returncode == 2, "an unknown document is refused")
    tap.done()


if __name__ == "__main__":
    main()
