#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Texts that mean harm in everything that a PDF shows: qpdf finds no object, no key and no action in it that the PDF of a harmless run
does not have, and no address that leads elsewhere than to a report of the night."""

import json
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import hostile_documents as documents  # noqa: E402
import hostile_fields as fields  # noqa: E402
import hostile_texts as texts  # noqa: E402
import make_history  # noqa: E402
import nights  # noqa: E402
from pdf_reader import letters, missing_tools, tool  # noqa: E402
from tap import Tap  # noqa: E402
from tracemill import Scratch, run, summary_of  # noqa: E402

# What a string of a PDF could end with, and begin.
SYNTAX = (texts.TOKEN + ") /S /URI /URI (http://x.invalid/) >> << /S /JavaScript /JS (app.alert\\(1\\)) >> \\) \\( (((\\\r endobj\n9 0 obj "
          "<< /OpenAction << /S /Launch /F (calc) >> >>\nendstream endobj trailer %%EOF javascript:window.__hit=1").encode()
HARMS = {"syntax of a PDF": SYNTAX, "markup": texts.MARKUP, "controls": texts.CONTROLS.replace(b"\0", b""), "an address": texts.ADDRESS}
NEVER = {"/JS", "/JavaScript", "/AA", "/OpenAction", "/Launch", "/EmbeddedFiles", "/EmbeddedFile", "/RichMedia", "/AcroForm", "/XFA", "/GoToR",
         "/GoToE", "/SubmitForm", "/ImportData", "/Filespec"}


def parts_of(value):
    """(names and keys, strings) of an object, through all that it holds."""
    names, strings = set(), set()
    if isinstance(value, dict):
        names = {key for key in value if key.startswith("/")}
    if isinstance(value, str):
        (names if value.startswith("/") else strings).add(value)
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        more = parts_of(inner)
        names, strings = names | more[0], strings | more[1]
    return names, strings


def seen_in(path):
    """(names and keys but those of fonts, addresses, problems)"""
    done = tool("qpdf", "--check", path)
    problems = [] if done.returncode == 0 else [done.stderr.decode("utf-8", "replace")[:300]]
    document = json.loads(tool("qpdf", "--json=2", "--json-stream-data=none", path).stdout)["qpdf"][1]
    names, _ = parts_of(document)
    addresses = set(re.findall(r'"/URI": "u:((?:[^"\\]|\\.)*)"', json.dumps(document, ensure_ascii=False)))
    return {name for name in names if not re.match(r"/(F\d+|[A-Z]{6}\+|Form|X\d+|I\d+)", name)}, addresses, problems


def check(tap, what, plain, path, shows=True):
    known, _, _ = plain
    names, addresses, wrong = seen_in(path)
    text = tool("pdftotext", "-layout", path, "-").stdout.decode("utf-8", "replace")
    wrong += [f"new in it: {name[:60]}" for name in sorted(names - known)] + sorted(names & NEVER)
    wrong += [f"address {address[:80]}" for address in addresses if not re.fullmatch(r"runs/([0-9a-f]{2}/)?[\w.-]+/report\.(html|pdf)", address)]
    wrong += [f"{sign!r}" for sign in sorted(set(text.replace("\f", "\n")) & texts.FORBIDDEN)]
    wrong += [] if not shows or texts.TOKEN in text or texts.TOKEN in letters(text) else ["the text is nowhere in it"]
    tap.ok(not wrong, what, *wrong[:10])


def report(folder, source, *options):
    run("report", source, "-o", folder / "out", "--format", "pdf", *options)
    return folder / "out" / "report.pdf"


def check_reports(tap, folder):
    source = folder / "input.xplane.pb"
    source.write_bytes(fields.full_space(lambda old: old + b" and more"))
    plain = seen_in(report(folder, source, "--title", "a title", "--note", "a note"))
    tap.ok(len(plain[0]) > 20 and not plain[0] & NEVER and not plain[1], "a harmless report: no action, no address", sorted(plain[0] & NEVER), plain[1])
    for how, harm in HARMS.items():
        said = harm.decode("utf-8", "surrogateescape")
        source.write_bytes(fields.full_space(lambda old, new=harm: new + old))
        check(tap, f"{how} in many fields, in title and note", plain, report(folder, source, "--title", said, "--note", said))


def check_studies(tap, folder):
    """Of summaries in which every text that may be any means harm."""
    (folder / "plain.xplane.pb").write_bytes(fields.space_bytes(fields.base_space()))
    _, summary = summary_of(folder / "plain.xplane.pb", folder / "plain")
    other = folder / "other.json"

    def write(document):
        other.write_text(json.dumps(document), encoding="utf-8")
        return other

    (folder / "gates.json").write_text(json.dumps({"gates": [{"figure": "steps.median_ps", "max": "1s"}]}))
    free = documents.free_places(summary, lambda d: run("check", write(d), "--gate", folder / "gates.json").status in (0, 1, 4))
    for verb in ("compare", "scaling"):
        plain = None
        for how, harm in {"harmless": b" and more", **HARMS}.items():
            write(documents.changed(summary, free, lambda old, new=harm.decode("utf-8", "replace"): new + old))
            run(verb, folder / "plain" / "summary.json", other, "-o", folder / "study", "--format", "pdf", "--force")
            path = folder / "study" / f"{verb}.pdf"
            plain = plain or seen_in(path)
            check(tap, f"{verb}: {how} in all texts of a summary", plain, path, how != "harmless")
            path.unlink()


def check_nights(tap, folder):
    plain = None
    for how, harm in {"harmless": b"plain", **HARMS}.items():
        text = harm.decode("utf-8", "replace")
        words = dict.fromkeys(("name", "revision", "label", "platform", "model", "verdict", "severity", "finding", "gates"), text)
        rows = [make_history.run_of("job", ago, 100 if ago else 130, **words) | {"job": text} for ago in range(12)]
        rows.append(make_history.failed(make_history.run_of("other", 0), text) | {"job": f"{text}!"})
        nights.tell(folder / "night", rows)
        path = folder / "night" / "index.pdf"
        plain = plain or seen_in(path)
        check(tap, f"a night: {how} in every text of a row", plain, path, how != "harmless")


def main():
    tap = Tap()
    absent = missing_tools()
    if absent:
        tap.skip("harmful texts in a PDF", f"not installed: {' '.join(absent)}")
        tap.done()
    tap.ok(parts_of({"a": [{"/A": {"/S": "/JavaScript"}}]})[0] & NEVER, "an action is seen where there is one")
    with Scratch() as folder:
        check_reports(tap, folder)
        check_studies(tap, folder)
        check_nights(tap, folder)
    tap.done()


if __name__ == "__main__":
    main()
