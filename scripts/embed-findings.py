#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Turns the table of findings (schemas/findings.json) into C, so that no run has to parse it.

  embed-findings.py schemas/findings.json >findings_table.c

The types are in reports/findings/findings.h.  Mistakes in the table are errors here: an unknown key, a duplicate
id, a list that does not exist.
"""

import json
import re
import sys

AUDIENCES = {word: f"TM_FOR_{word.upper()}" for word in ("gpu", "tpu", "cpu", "jax", "torch", "tensorflow", "other", "train", "infer")}
ABOUT = ("run", "profile", "defect")
SEVERITIES = ("info", "warning", "critical")
REPLAYS = ("compute", "collective", "copy", "stragglers", "imbalance")
CASES_MOST = 32   # bits of tm_situation.cases
GROUPS_MOST = 2   # of cases in one condition: struct tm_condition
NAME = re.compile(r"[a-z][a-z0-9_]*")
PLACEHOLDER = re.compile(r"\{([^}]*)\}")
# Of sentences: enum tm_sentence_kind, and what follows from the end of a name.
KINDS = ("time", "moment", "count", "bytes", "percent", "rate", "flop_rate", "number", "integer", "whole", "tenths",
         "hundredths", "plural", "name", "device", "text")
KIND_OF_END = {"ps": "time", "pct": "percent", "bytes": "bytes", "count": "count", "name": "name", "device": "device"}
PATH = re.compile(r"[a-z][a-z0-9_]*(\[\d+\])?(\.[a-z][a-z0-9_]*(\[\d+\])?)*")
MARKS = {"[": "OPEN", "|": "ELSE", "]": "CLOSE"}


class Wrong(Exception):
    pass


def check(holds, where, what):
    if not holds:
        raise Wrong(f"{where}: {what}")


def check_keys(value, where, needed, optional=()):
    check(isinstance(value, dict), where, "an object is missing")
    for key in value:
        check(key in needed or key in optional, where, f"unknown key '{key}'")
    for key in needed:
        check(key in value, where, f"'{key}' is missing")


def check_text(text, where):
    check(isinstance(text, str) and text.strip() == text != "", where, f"{text!r} is no text")
    return text


def check_name(name, where):
    check(isinstance(name, str) and NAME.fullmatch(name), where, f"{name!r} is no name")
    return name


def literal(text):
    """A C string; '?' is escaped as it may begin a trigraph."""
    if text is None:
        return "NULL"
    out = []
    for byte in text.encode():
        char = chr(byte)
        out.append("\\" + char if char in '\\"?' else char if 32 <= byte < 127 else f"\\{byte:03o}")
    return '"' + "".join(out) + '"'


def value_of(inner, where):
    """The kind of a value, and its name."""
    path, equals, word = inner.partition("=")
    if equals:
        check(PATH.fullmatch(path) and len(path) < 64 and word, where, f"'{{{inner}}}' compares nothing")
        return "IS", inner
    path, _, kind = inner.partition(":")
    check(PATH.fullmatch(path), where, f"{path!r} is no name of a value")
    kind = kind or KIND_OF_END.get(re.split(r"[._]", path)[-1])
    check(kind in KINDS, where, f"'{{{inner}}}' has no known kind")
    return kind.upper(), path


def parts_of(text, where):
    """A sentence as (kind, text): plain text, marks of optional parts, values."""
    parts, is_open = [], ""
    for token in re.findall(r"\{[^}]*\}|[\[\]|{}]|[^\[\]|{}]+", check_text(text, where)):
        if token in "{}":
            raise Wrong(f"{where}: a brace without its other one")
        if token in MARKS:
            check(is_open in {"[": ("",), "|": ("[",), "]": ("[", "|")}[token], where, f"'{token}' is out of place")
            is_open = "" if token == "]" else token
            parts.append((MARKS[token], None))
        elif token[0] == "{":
            parts.append(value_of(token[1:-1], where))
        else:
            parts.append(("PLAIN", token))
    check(not is_open, where, "an optional part does not end")
    return parts


def sentences(name, table, where):
    """The C of a list of sentences."""
    check(isinstance(table, dict), where, "an object is missing")
    out, rows = [], []
    for number, (key, text) in enumerate(table.items()):
        parts = parts_of(text, f"{where}, {check_name(key, where)}")
        inner = " ".join(f"{{ TM_SENTENCE_{kind}, {literal(part)} }}," for kind, part in parts)
        out.append(f"static const struct tm_sentence_part {name}_{number}[] = {{ {inner} {{ TM_SENTENCE_END, NULL }} }};")
        rows.append(f"    {{ {literal(key)}, {name}_{number} }},")
    return "\n".join([*out, f"static const struct tm_sentence {name}[] = {{", *rows, "    { NULL, NULL },\n};"])


class Row:
    """One finding on its way to C.  Cases and arguments are numbered in the order in which they appear."""

    def __init__(self, number, value, shared):
        self.number, self.shared, self.cases, self.arguments, self.out = number, shared, [], [], []
        self.id = check_name(value.get("id"), f"finding {number}")
        check_keys(value, self.id, ("id", "section", "title", "causes", "advice"),
                   ("about", "severity", "unless", "verdict", "replay", "kpis", "variants", "evidence"))
        self.evidence = value.get("evidence", {})
        self.section = check_name(value["section"], self.id)
        self.about = f"TM_ABOUT_{self.word(value.get('about', 'run'), ABOUT)}"
        self.unless = [check_name(name, self.id) for name in value.get("unless", [])]
        self.verdict = check_text(value["verdict"], self.id) if "verdict" in value else None
        self.replay = self.word(value["replay"], REPLAYS).lower() if "replay" in value else None
        self.kpis = [self.kpi(kpi) for kpi in value.get("kpis", [])]
        variants = value.get("variants", [])
        self.variants = [self.variant(f"v{n}", variant, False) for n, variant in enumerate(variants)]
        default = {key: value[key] for key in ("severity", "title", "causes", "advice") if key in value}
        self.variants.append(self.variant("v", default, True))

    def word(self, word, words):
        check(word in words, self.id, f"{word!r} is none of {', '.join(words)}")
        return word.upper()

    def kpi(self, kpi):
        kpi = {"id": kpi} if isinstance(kpi, str) else kpi
        check_keys(kpi, self.id, ("id",), ("for", "of"))
        audience = self.audience(kpi.get("for", []))
        return f"{{ {literal(check_name(kpi['id'], self.id))}, {audience}, {literal(kpi.get('of'))} }}"

    def audience(self, words):
        check(isinstance(words, list) and all(word in AUDIENCES for word in words), self.id, f"{words!r} is nobody")
        return " | ".join(AUDIENCES[word] for word in words) or "0"

    def case_bits(self, group):
        bits = 0
        for name in group.split("|"):
            if check_name(name, self.id) not in self.cases:
                check(len(self.cases) < CASES_MOST, self.id, "too many cases")
                self.cases.append(name)
            bits |= 1 << self.cases.index(name)
        return f"{bits:#x}"

    def condition(self, value):
        groups = value.get("when", [])
        check(isinstance(groups, list) and len(groups) <= GROUPS_MOST, self.id, f"{groups!r}: more than {GROUPS_MOST}")
        bits = ", ".join(self.case_bits(group) for group in groups) or "0"
        return f"{{ {self.audience(value.get('for', []))}, {{ {bits} }} }}"

    def title(self, title):
        for name in PLACEHOLDER.findall(check_text(title, self.id)):
            if check_name(name, self.id) not in self.arguments:
                self.arguments.append(name)
        return title

    def expand(self, items, when=()):
        """The list with those that it uses in their places."""
        check(isinstance(items, list) and items, self.id, "a list is empty")
        for item in items:
            item = {"text": item} if isinstance(item, str) else item
            if isinstance(item, dict) and "use" in item:
                check_keys(item, self.id, ("use",), ("when",))
                check(item["use"] in self.shared, self.id, f"no list '{item['use']}' is shared")
                yield from self.expand(self.shared[item["use"]], [*when, *item.get("when", [])])
                continue
            check_keys(item, self.id, ("text",), ("for", "when"))
            yield {**item, "when": [*when, *item.get("when", [])]}

    def list(self, name, items):
        if items is None:
            return "NULL"
        name = f"{name}_{self.number}"
        self.out.append(f"static const struct tm_finding_text {name}[] = {{")
        self.out += [f"    {{ {literal(check_text(item['text'], self.id))}, {self.condition(item)} }},"
                     for item in self.expand(items)]
        self.out.append("    { NULL, { 0, { 0 } } },\n};")
        return name

    def variant(self, name, value, is_default):
        check_keys(value, self.id, (), ("for", "when", "severity", "title", "causes", "advice"))
        check(is_default or value.get("for") or value.get("when"), self.id, "a variant without 'for' or 'when'")
        condition = self.condition(value)
        severity = f"TM_{self.word(value['severity'], SEVERITIES)}" if "severity" in value else "TM_SEVERITY_BY_SHARE"
        title = literal(self.title(value["title"]) if "title" in value else None)
        causes = self.list(f"{name}_causes", value.get("causes"))
        advice = self.list(f"{name}_advice", value.get("advice"))
        return f"    {{ {condition}, {severity}, {title}, {causes}, {advice} }},"

    def names(self, kind, names):
        self.out.append(f"static const char *const {kind}_{self.number}[] = "
                        f"{{ {''.join(literal(name) + ', ' for name in names)}NULL }};")

    def tables(self):
        n = self.number
        self.names("cases", self.cases)
        self.names("arguments", self.arguments)
        self.names("unless", self.unless)
        self.out.append(f"static const struct tm_finding_kpi kpis_{n}[] = "
                        f"{{ {''.join(kpi + ', ' for kpi in self.kpis)}{{ NULL, 0, NULL }} }};")
        self.out.append(sentences(f"evidence_{n}", self.evidence, self.id))
        self.out += [f"static const struct tm_finding_variant variants_{n}[] = {{", *self.variants, "};"]
        return "\n".join(self.out)

    def row(self):
        n = self.number
        return (f"    {{ {literal(self.id)}, {literal(self.section)}, {self.about}, {literal(self.verdict)}, "
                f"{literal(self.replay)}, "
                f"cases_{n}, arguments_{n}, unless_{n}, kpis_{n}, variants_{n}, {len(self.variants)}, "
                f"evidence_{n} }},")


def rows_of(table):
    check_keys(table, "table", ("schema", "schema_version", "shared", "evidence", "findings"))
    check(table["schema"] == "tracemill.findings" and table["schema_version"] == 1, "table", "another schema")
    rows = [Row(number, value, table["shared"]) for number, value in enumerate(table["findings"])]
    for number, row in enumerate(rows):
        check(row.id not in {other.id for other in rows[:number]}, row.id, "it comes twice")
        for name in row.unless:
            check(name in {other.id for other in rows} - {row.id}, row.id, f"'unless': there is no '{name}'")
    used = json.dumps(table)
    for name in table["shared"]:
        check(f'"use": "{name}"' in used, name, "no finding uses it")
    for row in rows:
        twice = row.evidence.keys() & table["evidence"].keys()
        check(not twice, row.id, f"{', '.join(twice)}: a sentence that all findings share")
    return rows


def main():
    path = sys.argv[1]
    try:
        with open(path, encoding="utf-8") as file:
            table = json.load(file)
        rows = rows_of(table)
        shared = sentences("shared", table["evidence"], "evidence")
    except (OSError, ValueError, Wrong) as error:
        print(f"{path}: {error}", file=sys.stderr)
        return 1
    print(f'/* made from {path} */\n#include "reports/findings/findings.h"\n')
    print(f"{shared}\nconst struct tm_sentence *const tm_shared_evidence = shared;")
    print("\n".join(row.tables() for row in rows))
    print("const struct tm_finding_row tm_finding_rows[] = {")
    print("\n".join(row.row() for row in sorted(rows, key=lambda row: row.id)))
    print(f"}};\nconst size_t tm_finding_row_count = {len(rows)};")
    return 0


if __name__ == "__main__":
    sys.exit(main())
