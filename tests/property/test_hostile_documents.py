#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A summary of somebody else, given to compare, scaling and check, in which one text after the other means harm, and all at once; and
the same of gates, thresholds and configurations."""

import json
import re
import sqlite3
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import hostile_documents as documents  # noqa: E402
import hostile_fields as fields  # noqa: E402
import hostile_texts as texts  # noqa: E402
import made_batch  # noqa: E402
import make_profile  # noqa: E402
from tap import Tap  # noqa: E402
from test_hostile_outputs import (check_csv, check_json, check_markdown, check_pdf, check_text,  # noqa: E402
                                  signs_wrong, without_code)
from tracemill import Scratch, run, summary_of  # noqa: E402

CHECKS = {"text": check_text, "markdown": check_markdown, "csv": check_csv, "json": check_json}
PLACES_LEAST = 60  # so many texts of a summary may be any, or the test looks at nothing
HARMS = {"markdown": texts.MARKDOWN, "markup": texts.MARKUP, "controls": texts.CONTROLS.replace(b"\0", b""), "a formula": texts.FORMULAS[0],
         "a hidden formula": texts.FORMULAS[-1]}
DONE = (0, 1, 4)


def put(path, value):
    path.write_text(json.dumps(value), encoding="utf-8")
    return path


def wrong_with(folder, verb, formats, *operands, may_be_refused=False):
    """What is wrong with what a study writes."""
    result = run(verb, *operands, "-o", folder / "study", "--format", ",".join(formats), "--force")
    wrong = signs_wrong("stderr", result.raw_err) + signs_wrong("stdout", result.raw_out)
    if result.crashed or result.status not in (0, 1, 3, 4):
        return [*wrong, str(result)]
    if result.status == 3:
        return wrong if may_be_refused else [*wrong, str(result)]
    if not may_be_refused and texts.TOKEN.encode() not in (folder / "study" / f"{verb}.txt").read_bytes():
        wrong.append("the text is nowhere in it")
    return wrong + [word for name in formats for word in {**CHECKS, "pdf": check_pdf}[name](folder / "study", verb)]


def check_judged(folder, summary):
    """text, Markdown, JUnit of a check of it."""
    result = run("check", summary, "--gate", folder / "gates.json", "--junit", folder / "check.xml", "--markdown", folder / "check.md")
    wrong = signs_wrong("stderr", result.raw_err) + signs_wrong("stdout", result.raw_out)
    if result.status not in DONE or result.crashed:
        return [str(result)]
    try:
        if not list(ElementTree.fromstring((folder / "check.xml").read_bytes()).iter("testcase")):
            wrong.append("junit: no case")
    except ElementTree.ParseError as error:
        wrong.append(f"junit: {error}")
    return wrong + signs_wrong("junit", (folder / "check.xml").read_bytes()) + check_markdown(folder, "check")


def check_summaries(tap, folder, good, summary):
    put(folder / "gates.json", {"gates": [{"figure": "steps.median_ps", "max": "1ps"}, {"figure": "ops.rows[0].self_ps", "max": "1ps"}]})
    other = folder / "other.json"
    free = documents.free_places(summary, lambda d: run("check", put(other, d), "--gate", folder / "gates.json").status in DONE)
    tap.ok(len(free) >= PLACES_LEAST, f"{len(free)} texts of a summary may be any", *sorted(documents.text_places(summary) - free))
    for how, harm in HARMS.items():
        text = harm.decode("utf-8", "replace")
        every = put(other, documents.changed(summary, free, lambda old, new=text: new + old))
        bad = check_judged(folder, every)
        for verb in ("compare", "scaling"):
            bad += [f"{verb}: {w}" for w in wrong_with(folder, verb, [*CHECKS, "pdf"], good, every)]
            bad += [f"{verb}, both: {w}" for w in wrong_with(folder, verb, [*CHECKS], every, every)]
        tap.ok(not bad, f"{how} in all texts of a summary", *bad[:12])
    for how in ("markup", "controls"):
        text, bad = HARMS[how].decode("utf-8", "replace"), []
        for place in sorted(documents.text_places(summary)):
            put(other, documents.changed(summary, {place}, lambda old, new=text: old + new))
            bad += [f"{'.'.join(place)}: {w}" for w in wrong_with(folder, "compare", ["text", "markdown"], good, other, may_be_refused=True)]
        tap.ok(not bad, f"{how} in one text of a summary after the other", *bad[:12])


def check_settings(tap, folder):
    """Texts and names of members of gates, thresholds and configurations: what is said of them."""
    source = folder / "plain.xplane.pb"
    thresholds = {"schema": "tracemill.thresholds", "schema_version": 1, "kpis": [{"id": "device_utilization", "good": 99.5, "bad": 60}],
                  "limits": [{"id": "straggler", "value": 7}]}
    gates = {"schema": "tracemill.gates", "schema_version": 1, "gates": [
        {"figure": "steps.median_ps", "max": "1ps", "title": "t", "note": "n", "required": True}, {"figure": "step_time", "max_increase_pct": 5}]}
    config = {"memory": "64M", "title": "t", "note": "n", "format": "json", "steps": "auto", "output": str(folder / "configured")}
    for name, plain, command in (("gates", gates, ("check", source, "--gate")), ("thresholds", thresholds, ("report", source, "-o", folder / "r", "--thresholds")),
                                 ("configuration", config, ("config", "show", "--config")), ("configuration of a report", config, ("report", source, "--config"))):
        bad = []
        for how, harm in HARMS.items():
            text = harm.decode("utf-8", "replace")
            made = [documents.changed(plain, {place}, lambda _, new=text: new) for place in documents.text_places(plain)]
            made += [{**plain, text: text}, {text: 1, **plain}, *([{**plain, "gates": [{text: text}]}] if name == "gates" else [])]
            raw = [json.dumps(document).encode() for document in made] + [b"{" + harm, harm, json.dumps(plain).encode()[:-1] + b"," + harm]
            for data in raw:
                (folder / "settings.json").write_bytes(data)
                result = run(*command, folder / "settings.json", cwd=folder)
                bad += signs_wrong("stderr", result.raw_err) + signs_wrong("stdout", result.raw_out) + ([str(result)] if result.crashed else [])
        tap.ok(not bad, f"{name} of texts that mean harm", *bad[:8])


def check_commands(tap, folder):
    """The command that a report tells, with names that a shell would take apart: its words are the ones that were given."""
    for name in ("a b'c\"$(touch hit)`touch hit`;touch hit&|<>*?[x]{y}~!#\\.xplane.pb", "=cmd|x.xplane.pb", "\u00fc $HOME .xplane.pb"):
        (folder / name).write_bytes(make_profile.gpu(seed=1, steps=4).encode())
        run("report", name, "-o", "again", "--format", "text", cwd=folder)
        text = (folder / "again" / "report.txt").read_text("utf-8")
        said = text[text.index("Reproduce: ") + len("Reproduce: "):].splitlines()
        end = next(i for i, line in enumerate(said) if not line or line.startswith(("INPUT:", "FILE:")))
        done = subprocess.run(["bash", "-c", 'tracemill() { printf "%s\\0" "$@"; }; ' + " ".join(said[:end])], cwd=folder, capture_output=True, check=False)
        words = done.stdout.decode().split("\0")
        tap.ok(words[:2] == ["report", name] and not (folder / "hit").exists(), f"a shell takes the command as it was: {name}", words, done.stderr)


PATHS = ("javascript:window.__hit=1", "//x.invalid/a", "../../../etc/passwd", "runs/%2e%2e/%2e%2e/x", "/etc", "file:///etc/passwd", "runs/a\nb", "-rf")


def check_history(tap, folder):
    """Each column of texts of a history that somebody changed: it is refused, or what it says does no harm, as SQL neither."""
    out = folder / "history"
    out.mkdir()
    made_batch.Template(folder).write(out, range(6), jobs=2)
    first = run("batch", "merge", out, "-q", "--format", "html,json,text,markdown,csv")
    good = (out / "history.db").read_bytes()
    db = sqlite3.connect(out / "history.db")
    columns = [row[1] for row in db.execute("PRAGMA table_info(runs)") if "TEXT" in row[2].upper()]
    db.close()
    tap.ok(first.status == 0 and len(columns) >= 12, "a history with columns of texts", first, columns)
    seen = 0
    for column in columns:
        bad = []
        for text in (*PATHS, *(harm.decode("utf-8", "replace")[:3000] for harm in HARMS.values()), "'); DROP TABLE runs; --"):
            (out / "history.db").write_bytes(good)
            with sqlite3.connect(out / "history.db") as changed:
                changed.execute(f"UPDATE runs SET {column} = ? WHERE id = (SELECT max(id) FROM runs)", (text,))  # noqa: S608
            changed.close()
            for verb in (("merge", out, "--format", "html,text,markdown,csv", "--openmetrics", out / "metrics", "--junit", out / "junit.xml"),
                         ("export", out), ("prune", out, "--keep", "1", "--dry-run")):
                result = run("batch", *verb)
                seen += result.status in (0, 4)
                bad += [f"{verb[0]}: {w}" for w in signs_wrong("stderr", result.raw_err) + signs_wrong("stdout", result.raw_out)]
                bad += [f"{verb[0]}: {result}"] if result.crashed else []
                if verb[0] == "merge" and result.status in (0, 4):
                    links = re.findall(r'href="([^"#]*)"', (out / "index.html").read_text("utf-8"))
                    for line in (out / "index.md").read_text("utf-8").split("\n"):
                        links += re.findall(r"\]\(([^)]*)\)", without_code(line))
                    bad += [f"a link to {link[:60]}" for link in links if link and not re.fullmatch(r"runs/([0-9a-f]{2}/)?[\w.-]+/report\.html", link)]
                    ElementTree.fromstring((out / "junit.xml").read_bytes())
        tap.ok(not bad, f"{column} of a history", *bad[:6])
    tap.ok(seen > 100, "most of them are read", seen)


def main():
    tap = Tap()
    with Scratch() as folder:
        (folder / "plain.xplane.pb").write_bytes(fields.space_bytes(fields.base_space()))
        _, summary = summary_of(folder / "plain.xplane.pb", folder / "plain")
        check_summaries(tap, folder, folder / "plain" / "summary.json", summary)
        check_settings(tap, folder)
        check_commands(tap, folder)
        check_history(tap, folder)
    tap.done()


if __name__ == "__main__":
    main()
