#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Gates on summaries of real and of made profiles: what is written keeps to its schemas, the JUnit XML is what servers
read (one suite, a case for each gate, no two of one name, counts that add up, at most one outcome), whatever names a profile
has; and a run that was really slowed down fails."""

import copy
import json
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import hostile_texts  # noqa: E402
import make_profile  # noqa: E402
from schemas import problems, validator_of  # noqa: E402
from tap import Tap  # noqa: E402
from tracemill import BUILD, DEMO, Scratch, run, summary_of  # noqa: E402

GATES = BUILD / "tests" / "gates"
# Attributes and children by junit-10.xsd of Jenkins' xUnit plugin, as far as they are used.
ATTRIBUTES = {"testsuites": {"name", "time", "tests", "failures", "disabled", "errors"},
              "testsuite": {"name", "tests", "failures", "errors", "time", "disabled", "skipped", "timestamp", "hostname",
                            "id", "package"},
              "properties": set(), "property": {"name", "value"},
              "testcase": {"name", "assertions", "time", "classname", "status"},
              "skipped": {"type", "message"}, "error": {"type", "message"}, "failure": {"type", "message"},
              "system-out": set()}
CHILDREN = {"testsuites": {"testsuite"}, "testsuite": {"properties", "testcase", "system-out"}, "properties": {"property"},
            "testcase": {"skipped", "error", "failure", "system-out"}}
NEEDED = {"testsuite": {"name", "tests"}, "testcase": {"name"}, "property": {"name"}}
STATUS_OF = {"failure": "failed", "error": "unknown", "skipped": "skipped"}


def gates(*arguments):
    return run(*arguments, binary=GATES)


def faults_of(element):
    """What of an element servers do not know, and of all below it."""
    if set(element.attrib) - ATTRIBUTES.get(element.tag, set()) or NEEDED.get(element.tag, set()) - set(element.attrib):
        yield f"<{element.tag}> with {sorted(element.attrib)}"
    for child in element:
        if child.tag not in CHILDREN.get(element.tag, set()):
            yield f"<{child.tag}> in <{element.tag}>"
        yield from faults_of(child)


def junit_faults(text, document):
    tree = ElementTree.fromstring(text)
    yield from faults_of(tree)
    suite = tree.find("testsuite")
    cases = suite.findall("testcase")
    names = [case.get("name") for case in cases]
    if tree.tag != "testsuites" or len(tree) != 1 or len(set(names)) != len(names):
        yield "not one suite with cases of different names"
    outcomes = [[child.tag for child in case if child.tag in STATUS_OF] for case in cases]
    if any(len(found) > 1 for found in outcomes):
        yield "a case with two outcomes"
    if [STATUS_OF[found[0]] if found else "passed" for found in outcomes] != [row["status"] for row in document["gates"]]:
        yield "other outcomes than those of the document"
    for key, element in (("tests", None), ("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        if int(suite.get(key)) != sum(element is None or element in found for found in outcomes):
            yield f"{key} is {suite.get(key)}"
    if hostile_texts.FORBIDDEN & set(text):
        yield f"characters that hide or turn text: {sorted(map(ascii, hostile_texts.FORBIDDEN & set(text)))}"


def check_pair(tap, name, validators, gate_file, *summaries, status=None):
    """Judge, then hold what is written to its schema and to what servers read.  out: the document"""
    result, junit = gates("json", gate_file, *summaries), gates("junit", gate_file, *summaries)
    if result.status not in (0, 1) or junit.status != result.status:
        tap.ok(False, name, result, junit)
        return None
    document = json.loads(result.out)
    wrong = problems(validators[0], json.loads(gate_file.read_text(encoding="utf-8"))) + \
        problems(validators[1], document) + list(junit_faults(junit.out, document))
    failed = [row["figure"] for row in document["gates"] if row["status"] == "failed"]
    if (result.status == 1) != bool(failed) or status not in (None, result.status):
        wrong.append(f"status {result.status}, failed: {failed}")
    tap.ok(not wrong, name, *wrong)
    return document


def write(path, value):
    path.write_text(json.dumps(value), encoding="utf-8")
    return path


def changed(summary, factor, mark):
    """The same run with other files, its steps longer by a factor."""
    other = copy.deepcopy(summary)
    for at, file in enumerate(other["input"]["files"]):
        file["xxh3"] = f"{mark:08x}{at:08x}"
    steps = other["steps"]
    steps["samples_ps"] = [round(factor * ps) + at for at, ps in enumerate(steps["samples_ps"])]
    for key in ("median_ps", "mean_ps"):
        steps[key] = round(factor * steps[key])
    return other


def check_profile(tap, name, source, folder, validators):
    folder.mkdir()
    result, summary = summary_of(source, folder)
    if not summary:
        tap.ok(False, name, result)
        return
    made = gates("init", write(folder / "summary.json", summary))
    gate_file = folder / "gates.json"
    gate_file.write_text(made.out, encoding="utf-8")
    document = check_pair(tap, f"{name}: the gates made of a run hold for it", validators, gate_file,
                          folder / "summary.json", status=0)
    if document:
        tap.ok(document["counts"]["unknown"] == 0, f"{name}: and all of them are known")
    if len(summary["steps"]["samples_ps"] or []) < 6:
        return
    again = write(folder / "again.json", changed(summary, 1, 1))
    slow = write(folder / "slow.json", changed(summary, 20, 2))
    check_pair(tap, f"{name}: the same times again pass", validators, gate_file, again, folder / "summary.json", status=0)
    check_pair(tap, f"{name}: a slow run fails", validators, gate_file, slow, folder / "summary.json", again, status=1)


def check_hostile(tap, folder, validators):
    """Names that mean harm: as rows of the summary, in paths, titles and notes, as the name and path of the run."""
    texts = [text.decode("utf-8", "replace") for text in (hostile_texts.MARKUP, hostile_texts.ADDRESS,
                                                          hostile_texts.MARKDOWN, hostile_texts.CONTROLS)]
    rows = [{"name": text.replace("]", "")[:300], "self_ps": 5} for text in texts]
    summary = write(folder / "hostile.json",
                    {"input": {"run": texts[3], "partial": False, "files": []}, "ops": {"rows": rows}})
    limits = [{"max": "1ps", "max_increase_pct": 5}, {"min": "1ps"}]
    gate_file = write(folder / "gates-hostile.json", {"gates": [
        {"figure": f"ops.rows[{row['name']}].self_ps", "title": text, "note": text, "required": at % 2 == 0,
         **limits[at % 2]}
        for at, (row, text) in enumerate(zip(rows, texts))]})
    check_pair(tap, "names that mean harm", validators, gate_file, summary, status=1)


def main():
    tap = Tap()
    validators = [validator_of(tap, "gates"), validator_of(tap, "check")]
    tap.ok(not validators[0].is_valid({"gates": [{"figure": "a"}]}), "the schema wants a limit")
    tap.ok(not validators[0].is_valid({"gates": [{"figure": "a", "max": "5 parsecs"}]}), "the schema knows the units")
    tap.ok(not validators[0].is_valid({"gates": [{"figure": "a", "maxx": 5}]}), "the schema knows the members")
    with Scratch() as folder:
        check_profile(tap, "demo", DEMO, folder / "demo", validators)
        for name, make in make_profile.MAKERS.items():
            path = folder / f"{name}.xplane.pb"
            path.write_bytes(make(seed=2).encode())
            check_profile(tap, f"{name} profile", path, folder / name, validators)
        check_hostile(tap, folder, validators)
    tap.done()


if __name__ == "__main__":
    main()
