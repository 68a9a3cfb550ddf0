#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""schemas/findings.json and the rules in reports/findings/ name the same: findings, their cases, the arguments of their
titles, the sentences of their evidence and values in them.  What is wrong with the table is an error of the build."""

import copy
import json
import re
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from tap import Tap  # noqa: E402
from tracemill import ROOT, Scratch  # noqa: E402

FOLDER = ROOT / "reports" / "findings"
TABLE = json.loads((ROOT / "schemas" / "findings.json").read_text(encoding="utf-8"))
TOKEN = re.compile(r'/\*.*?\*/|"(?:\\.|[^"\\])*"|[A-Za-z_]\w*|\s+|.', re.S)
TEXT = re.compile(r'"((?:\\.|[^"\\])*)"')
LONG = 60  # characters of a title, cause or advice: not said by chance elsewhere


def without_comments(source):
    return "".join(token if token[0] != "/" or not token.startswith("/*") else " " for token in TOKEN.findall(source))


def arguments(code, name):
    """The second argument of each call of functions whose names begin so."""
    for call in re.finditer(rf"\b{name}\w*\(", code):
        depth, parts = 1, [""]
        for token in TOKEN.findall(code, call.end()):
            depth += {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}.get(token, 0)
            if depth == 0:
                break
            if token == "," and depth == 1:
                parts.append("")
            else:
                parts[-1] += token
        yield parts[1] if len(parts) > 1 else ""


def texts(expressions):
    return {text for expression in expressions for text in TEXT.findall(expression)}


class Rules:
    """A file of rules: its strings, and what it names."""

    def __init__(self, path):
        code = without_comments(path.read_text(encoding="utf-8"))
        self.name, self.strings = path.name, texts([re.sub(r'"\s+"', "", code)])
        self.facts = texts(arguments(code, "tm_finding_of_fact")) | texts(arguments(code, "tm_finding_of_share"))
        self.findings = texts(arguments(code, "tm_finding_of_")) | texts(arguments(code, "tm_is_reported"))
        self.cases = texts(arguments(code, "tm_finding_case"))
        self.arguments = texts(arguments(code, "tm_finding_argument"))
        self.evidence = texts(arguments(code, "tm_finding_emit")) | texts(arguments(code, "emit_staked")) | texts(arguments(code, "emit_at"))
        self.given = set(re.findall(r'\btm_given_\w+\("(\w+)"', code))


def expanded(items):
    for item in items:
        item = {"text": item} if isinstance(item, str) else item
        yield item
        yield from expanded(TABLE["shared"].get(item.get("use"), []))


def told(row):
    """Its parts, from the variants and the row itself: titles, conditions, texts."""
    blocks = [*row.get("variants", []), row]
    items = [item for block in blocks for key in ("causes", "advice") for item in expanded(block.get(key, []))]
    return [block["title"] for block in blocks if "title" in block], [*blocks, *items], items


def cases_of(row):
    return {name for part in told(row)[1] for group in part.get("when", []) for name in group.split("|")}


def arguments_of(row):
    return {name for title in told(row)[0] for name in re.findall(r"\{(\w+)\}", title)}


def evidence_of(row):
    return set(row.get("evidence", {}))


def check_evidence(tap, rules):
    """A rule emits each shared sentence, and values that it gives stand in a sentence."""
    shared, emits = TABLE["evidence"], [*rules, Rules(FOLDER / "finding.c")]
    for name in shared:
        tap.ok(any(name in file.evidence for file in emits), f"a rule emits the shared sentence '{name}'")
    for file in rules:
        own = [row.get("evidence", {}) for row in TABLE["findings"] if row["id"] in file.strings]
        values = re.findall(r"\{(\w+)", " ".join(text for list_ in [shared, *own] for text in list_.values()))
        tap.ok(file.given <= set(values), f"{file.name} gives values of sentences", file.given - set(values))


def check_names(tap, rules):
    rows = {row["id"]: row for row in TABLE["findings"]}
    tap.ok(len(rows) == len(TABLE["findings"]) > 60, "each finding has one row")
    unknown = {name for file in rules for name in file.findings} - set(rows)
    tap.ok(not unknown, "each finding of the rules has a row", unknown)
    mild = [name for file in rules for name in file.facts & set(rows) if "severity" not in rows[name]]
    tap.ok(not mild, "each finding of a fact has a severity", mild)
    files = {name: [file for file in rules if name in file.strings] for name in rows}
    tap.ok(all(files.values()), "each row is given by a rule", [name for name in rows if not files[name]])
    for what, of in (("cases", cases_of), ("arguments", arguments_of), ("evidence", evidence_of)):
        lost = [(name, part) for name, row in rows.items() for part in of(row)
                if not any(part in file.strings for file in files[name])]
        tap.ok(not lost, f"a rule gives all {what} of its row", lost)
        for file in rules:
            known = set().union(*(of(row) for name, row in rows.items() if file in files[name]))
            given = getattr(file, what) - (set(TABLE["evidence"]) if what == "evidence" else set())
            tap.ok(given <= known, f"{file.name} gives {what} that rows have", given - known)


def check_texts(tap, rules):
    said = {item["text"] for row in TABLE["findings"] for item in told(row)[2] if "text" in item}
    said |= {title for row in TABLE["findings"] for title in told(row)[0]}
    twice = [text for file in rules for text in file.strings if len(text) >= LONG and text in said]
    tap.ok(not twice, "no text of the table is in a rule", twice)
    prefixed = [text for file in rules for text in file.strings
                if re.match(r"(gpu|tpu|jax|torch|tensorflow|other|train|infer)[,|]", text)]
    tap.ok(not prefixed, "no rule has advice of its own", prefixed)


def check_kpis(tap):
    thresholds = json.loads((ROOT / "schemas" / "thresholds.json").read_text(encoding="utf-8"))
    known = {kpi["id"] for kpi in thresholds["kpis"]}
    named = {kpi if isinstance(kpi, str) else kpi["id"] for row in TABLE["findings"] for kpi in row.get("kpis", [])}
    tap.ok(named <= known, "findings explain key figures that exist", named - known)
    lonely = known - named - {"step_time"}  # any finding explains that one
    tap.ok(not lonely, "each key figure has findings that explain it", lonely)


def spoil(change):
    table = copy.deepcopy(TABLE)
    change(table["findings"][0], table)
    return table


WRONG = {
    "unknown key": lambda row, table: row.update(titel="x"),
    "is none of info": lambda row, table: row.update(severity="grave"),
    "'causes' is missing": lambda row, table: row.pop("causes"),
    "it comes twice": lambda row, table: table["findings"].append(row),
    "is nobody": lambda row, table: row["advice"].insert(0, {"for": ["cuda"], "text": "x"}),
    "no list 'nothing' is shared": lambda row, table: row["advice"].insert(0, {"use": "nothing"}),
    "no finding uses it": lambda row, table: table["shared"].update(lonely=["x"]),
    "is no name": lambda row, table: row.update(title="{Share} of it"),
    "is no text": lambda row, table: row.update(title=" a blank too many"),
    "there is no 'elsewhere'": lambda row, table: row.update(unless=["elsewhere"]),
    "a list is empty": lambda row, table: row.update(causes=[]),
    "a variant without": lambda row, table: row.update(variants=[{"title": "x"}]),
    "more than 2": lambda row, table: row["advice"].insert(0, {"when": ["a", "b", "c"], "text": "x"}),
    "is out of place": lambda row, table: row.update(evidence={"x": "a ] b"}),
    "does not end": lambda row, table: row.update(evidence={"x": "a [b {count}"}),
    "without its other one": lambda row, table: row.update(evidence={"x": "a {b"}),
    "has no known kind": lambda row, table: row.update(evidence={"x": "{dur_ps:seconds}"}),
    "'{kernels}' has no known": lambda row, table: row.update(evidence={"x": "{kernels} kernels"}),
    "is no name of a value": lambda row, table: row.update(evidence={"x": "{a b:count}"}),
    "compares nothing": lambda row, table: row.update(evidence={"x": "[{kind=} x]"}),
    "all findings share": lambda row, table: row.update(evidence=table["evidence"]),
    "another schema": lambda row, table: table.update(schema_version=2),
}


def embed(path):
    command = [sys.executable, ROOT / "scripts" / "embed-findings.py", path]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def check_embedding(tap):
    with Scratch() as folder:
        for message, change in WRONG.items():
            path = folder / "findings.json"
            path.write_text(json.dumps(spoil(change)), encoding="utf-8")
            result = embed(path)
            tap.ok(result.returncode == 1 and message in result.stderr, f"refused: {message}", result.stderr)


def main():
    tap = Tap()
    rules = [Rules(path) for path in sorted([*FOLDER.glob("*_findings.c"), FOLDER / "checks.c"])]
    check_names(tap, rules)
    check_evidence(tap, rules)
    check_texts(tap, rules)
    check_kpis(tap)
    check_embedding(tap)
    tap.done()


if __name__ == "__main__":
    main()
