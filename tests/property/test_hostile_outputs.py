#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Texts that mean harm, in one text field of every input after the other, in what a report writes beside its page, in labels and
paths of what is compared, and in gates:
nothing for a terminal to obey in the text, no table left and no markup begun in Markdown, no formula and no shifted
column in CSV, a PDF whose text can be read, strict JSON."""

import csv
import io
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import hostile_fields as fields  # noqa: E402
import hostile_texts as texts  # noqa: E402
import make_profile  # noqa: E402
from tap import Tap  # noqa: E402
from tracemill import Scratch, run  # noqa: E402

FIELDS_SHOWN = 40  # at least so many fields reach the text, or the test looks at nothing
WIDTH = 100        # columns of report.txt
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.IGNORECASE)
FENCE = re.compile(r"\s*(`{3,}(?=[^`]*$)|~{3,})")  # what follows on the line has no backtick: else it is a code span
# What Markdown takes for more than text, outside of code: an element, a comment, a picture, a link to somewhere.
OWN = re.compile(r"</?details>|<summary>[A-Za-z, -]+</summary>")  # lines of the report itself
RAW = re.compile(r"(?<!\\)<[A-Za-z/!?]|(?<!\\)!\[|(?<!\\)\]\((?!#)|(?<!\\)\]:|javascript:window[^`]*\)")


def signs_wrong(name, data):
    """Bytes that are no UTF-8, and signs that a terminal obeys or that hide text."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        return [f"{name}: {error}"]
    return [f"{name}: {sign!r} at {text.index(sign)}" for sign in sorted(set(text) & texts.FORBIDDEN)]


def check_text(folder, stem="report"):
    path = folder / f"{stem}.txt"
    wrong = signs_wrong("text", path.read_bytes())
    wide = [line for line in path.read_text(encoding="utf-8", errors="replace").splitlines() if len(line) > WIDTH]
    return wrong + [f"text: {len(line)} columns: {line[:60]}" for line in wide[:2] if texts.TOKEN in line]


# --- Markdown -------------------------------------------------------------------------------------------------

def without_code(line):
    """The line with its code spans blank: a run of backticks up to the next run of the same length."""
    out, at = [], 0
    for span in re.finditer(r"(?<![`\\])(`+)(?!`)(.*?)(?<!`)\1(?!`)", line):
        out += [line[at:span.start()], " " * len(span.group(0))]
        at = span.end()
    return "".join(out) + line[at:]


def cells_of(line):
    """How many cells a row has: bars inside of code count too, unless they are escaped."""
    return len(re.findall(r"(?<!\\)(?:\\\\)*\|", line)) - 1


def check_markdown(folder, stem="report"):
    data = (folder / f"{stem}.md").read_bytes()
    wrong, fence, columns = signs_wrong("markdown", data), None, None
    headings = 0
    for line in data.decode("utf-8", "replace").split("\n"):
        mark = FENCE.match(line)
        if fence:
            fence = None if mark and mark.group(1).startswith(fence) and line.strip() == mark.group(1) else fence
            continue
        if mark:
            fence = mark.group(1)
            continue
        headings += line.startswith("#") and texts.TOKEN in line
        if line.startswith("|"):
            columns = columns or cells_of(line)
            if cells_of(line) != columns:
                wrong.append(f"markdown: a row of {cells_of(line)} cells in a table of {columns}: {line[:80]}")
        else:
            columns = None
        raw = None if OWN.fullmatch(line) else RAW.search(without_code(line))
        if raw:
            wrong.append(f"markdown: raw {line[max(raw.start() - 20, 0):raw.start() + 40]!r}")
        if re.match(r"\s*(Heading|bold|item|quote|\d+\. one)", line):
            wrong.append(f"markdown: a line of a name begins a line: {line[:60]!r}")
    return wrong + (["markdown: a fence stays open"] if fence else [])


# --- the others -----------------------------------------------------------------------------------------------

# At the begin of a cell, and where a spreadsheet may begin another one; an apostrophe before it makes it a text.
SIGN = "[=+\\-@\uff1d\uff0b\uff0d\uff20]"
FORMULA = re.compile(rf"^[\t\r\n]|^[ \t\r\n\"]*{SIGN}|[;\t\r\n]\"*{SIGN}")


def is_formula(field):
    return bool(FORMULA.search(field)) and not NUMBER.fullmatch(field)


def check_csv(folder, _="report"):
    wrong = []
    for path in sorted((folder / "csv").glob("*.csv")):
        data = path.read_bytes()
        wrong += [f"csv: {path.name}: NUL"] if b"\0" in data else []
        try:
            lines = list(csv.reader(io.StringIO(data.decode("utf-8"), newline=""), strict=True))
        except (UnicodeDecodeError, csv.Error) as error:
            wrong.append(f"csv: {path.name}: {error}")
            continue
        if len({len(line) for line in lines}) > 1:
            wrong.append(f"csv: {path.name}: lines of {sorted({len(line) for line in lines})} columns")
        bad = [field for line in lines for field in line if is_formula(field)]
        wrong += [f"csv: {path.name}: formula {field[:40]!r}" for field in bad[:2]]
    return wrong


def check_json(folder, stem="report"):
    def refuse(text):
        raise ValueError(f"{text} is no JSON")

    try:
        text = (folder / ("summary.json" if stem == "report" else f"{stem}.json")).read_bytes().decode("utf-8")
        json.loads(text, parse_constant=refuse)
        json.dumps(json.loads(text), ensure_ascii=False).encode("utf-8")  # no lone half of a pair
    except (UnicodeError, ValueError) as error:
        return [f"json: {error}"]
    return []


def check_collapsed(folder, _="report"):
    path = folder / "scopes.collapsed"
    if not path.exists():
        return []
    bad = [line for line in path.read_bytes().split(b"\n")[:-1] if not re.fullmatch(rb"[^\x00-\x1f]+ \d+", line)]
    return [f"collapsed: {line[:60]!r}" for line in bad[:2]] + signs_wrong("collapsed", path.read_bytes())


def check_pdf(folder, stem="report"):
    path = folder / f"{stem}.pdf"
    if not path.exists() or not shutil.which("pdftotext"):
        return []
    done = subprocess.run(["pdftotext", "-layout", str(path), "-"], capture_output=True, check=False)
    text = done.stdout.decode("utf-8", "replace").replace("\f", "\n")
    wrong = [] if done.returncode == 0 and "tracemill" in text else [f"pdf: no text: {done.stderr[:100]!r}"]
    return wrong + [f"pdf: {sign!r}" for sign in sorted(set(text) & texts.FORBIDDEN)]


CHECKS = {"text": check_text, "markdown": check_markdown, "csv": check_csv, "json": check_json,
          "collapsed": check_collapsed, "pdf": check_pdf}
QUICK = [name for name in CHECKS if name != "pdf"]


class Outputs:
    def __init__(self, tap, folder):
        self.tap, self.folder = tap, folder
        self.shown = 0

    def wrong_with(self, what, source, formats, *options):
        out = self.folder / "out"
        shutil.rmtree(out, ignore_errors=True)
        result = run("report", source, "-o", out, "--format", ",".join(formats), *options)
        wrong = signs_wrong("stderr", result.raw_err) + signs_wrong("stdout", result.raw_out)
        if result.crashed or result.status not in (0, 3, 4):
            self.tap.ok(False, f"{what}: a report is written", result)
        if not (out / "report.txt").exists():
            return wrong
        self.shown += texts.TOKEN.encode() in (out / "report.txt").read_bytes()
        return wrong + [word for name in formats for word in CHECKS[name](out)]

    def all(self, how, suffix, inputs, formats=QUICK):
        bad = []
        for field, data in inputs:
            source = self.folder / f"input{suffix}"
            source.write_bytes(data)
            bad += [f"{field}: {word}" for word in self.wrong_with(f"{how}, {field}", source, formats)]
        self.tap.ok(not bad, f"{how} in every field of {suffix}", *bad[:12])

    def one(self, what, suffix, data, *options):
        source = self.folder / f"input{suffix}"
        source.write_bytes(data)
        wrong = self.wrong_with(what, source, list(CHECKS), *options)
        self.tap.ok(not wrong, what, *wrong[:12])


def check_fields(outputs):
    changes = {"markdown": lambda old: old + texts.MARKDOWN, "markup": lambda old: texts.MARKUP + old,
               "controls": lambda old: old + texts.CONTROLS}
    for how, change in changes.items():
        outputs.all(how, ".xplane.pb", fields.spaces(change))
        outputs.all(how, ".json", fields.chrome_jsons(change))
        outputs.all(how, ".prof", fields.memory_profiles(change))


def check_all_at_once(outputs):
    """Also in the PDF."""
    changes = {"markdown": texts.MARKDOWN, "markup": texts.MARKUP, "controls": texts.CONTROLS, "long names": texts.LONG,
               **{f"formula {i}": text for i, text in enumerate(texts.FORMULAS)}}
    for how, text in changes.items():
        outputs.one(f"{how} in many fields", ".xplane.pb", fields.full_space(lambda old, new=text: new + old))


def check_options(outputs):
    plain = fields.space_bytes(fields.base_space())
    said = {"markdown": texts.MARKDOWN, "markup": texts.MARKUP, "controls": texts.CONTROLS.replace(b"\0", b""),
            "a formula": texts.FORMULAS[0]}
    for option in ("--title", "--note"):
        for how, text in said.items():
            outputs.one(f"{how} as {option}", ".xplane.pb", plain, option, text.decode("utf-8", "surrogateescape"))


def check_redacted(outputs):
    """Pseudonyms for all of it: nothing of the text is left, and what is left is as safe."""
    for how, text in {"markup": texts.MARKUP, "controls": texts.CONTROLS, "markdown": texts.MARKDOWN}.items():
        source = fields.full_space(lambda old, new=text: old + new)
        outputs.one(f"{how} in many fields, redacted", ".xplane.pb", source, "--redact")


STUDY_CHECKS = {name: check for name, check in CHECKS.items() if name != "collapsed"}
LABELS = {"markdown": texts.MARKDOWN, "markup": texts.MARKUP, "controls": texts.CONTROLS.replace(b"\0", b""),
          **{f"formula {i}": text for i, text in enumerate(texts.FORMULAS)}}


def study_wrong(tap, what, folder, verb, *operands):
    """What is wrong with the files of a study."""
    out = folder / "study"
    shutil.rmtree(out, ignore_errors=True)
    result = run(verb, *operands, "-o", out, "--format", ",".join(STUDY_CHECKS), "--force", cwd=folder)
    wrong = signs_wrong("stderr", result.raw_err) + signs_wrong("stdout", result.raw_out)
    if result.crashed or result.status not in (0, 4) or not (out / f"{verb}.txt").exists():
        tap.ok(False, f"{what}: a study is written", result)
        return wrong
    if texts.TOKEN.encode() not in (out / f"{verb}.txt").read_bytes():
        wrong.append("the text is nowhere in it")
    return wrong + [word for check in STUDY_CHECKS.values() for word in check(out, verb)]


def check_studies(tap, folder):
    """In names of profiles, in labels and in paths of what is compared, and of what scales."""
    plain = [folder / f"plain{i}.xplane.pb" for i in (1, 2)]
    for i, path in enumerate(plain):
        path.write_bytes(make_profile.gpu(seed=i, steps=8, devices=i + 1).encode())
    for how, text in LABELS.items():
        label = text.decode("utf-8", "surrogateescape").replace("=", ":").replace("/", "|")
        bad, hostile = folder / (label[:40] + ".xplane.pb"), [folder / f"hostile{i}.xplane.pb" for i in (1, 2)]
        bad.write_bytes(make_profile.gpu(seed=9, steps=8, devices=3).encode())
        for i, path in enumerate(hostile):
            path.write_bytes(fields.full_space(lambda old, new=text, more=i: new + old + b"x" * more))
        for what, words in {
                "in a label": ("compare", f"{label}={plain[0]}", f"b={plain[1]}"),
                "in labels of three": ("compare", plain[0], f"{label}={plain[1]}", f"{label}2={bad}"),
                "in a path": ("compare", plain[0], bad),
                "in names": ("compare", *hostile),
                "in a path of a study of scaling": ("scaling", *plain, bad)}.items():
            if any(word.startswith("-") for word in map(str, words)):
                continue  # an option
            wrong = study_wrong(tap, f"{how} {what}", folder, *words)
            tap.ok(not wrong, f"{how} {what}", *wrong[:8])
        bad.unlink()


def check_gates(tap, folder):
    """In the path, the title and the note of a gate, and in the name of the run: text, Markdown, JUnit."""
    source = folder / "gated.xplane.pb"
    for how, text in {**LABELS, "controls": texts.CONTROLS}.items():
        source.write_bytes(fields.full_space(lambda old, new=text: new + old))
        said = text.decode("utf-8", "replace")
        (folder / "gates.json").write_text(json.dumps({"schema": "tracemill.gates", "schema_version": 1, "gates": [
            {"figure": "ops.rows[0].self_ps", "max": "1ps", "title": said, "note": said}]}), "utf-8")
        result = run("check", source, "--gate", "gates.json", "--junit", "check.xml", "--markdown", "check.md", cwd=folder)
        if result.status not in (1, 4):
            tap.ok(False, f"{how} in a gate: it is judged", result)
            continue
        wrong = signs_wrong("stdout", result.raw_out) + signs_wrong("stderr", result.raw_err) + check_markdown(folder, "check")
        try:
            suite = ElementTree.fromstring((folder / "check.xml").read_bytes())
            wrong += [] if list(suite.iter("testcase")) else ["junit: no case"]
        except ElementTree.ParseError as error:
            wrong.append(f"junit: {error}")
        wrong += [] if texts.TOKEN in result.out else ["the text is nowhere in it"]
        tap.ok(not wrong, f"{how} in a gate", *wrong[:8])


def main():
    tap = Tap()
    with Scratch() as folder:
        outputs = Outputs(tap, folder)
        check_fields(outputs)
        tap.ok(outputs.shown >= FIELDS_SHOWN, "many of the fields are in the text", outputs.shown)
        check_all_at_once(outputs)
        check_options(outputs)
        check_redacted(outputs)
        check_studies(tap, folder)
        check_gates(tap, folder)
    tap.done()


if __name__ == "__main__":
    main()
