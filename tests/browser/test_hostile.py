#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Texts that mean harm, in one text field of every input after the other, in the page and in a real browser: nothing
of them runs, nothing is asked for, no element comes of them, and no sign that turns a line round or hides it."""

import json
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import hostile_documents as documents  # noqa: E402
import hostile_fields as fields  # noqa: E402
import hostile_texts as texts  # noqa: E402
import make_profile  # noqa: E402
from devtools import BROWSER, Browser  # noqa: E402
from tap import Tap  # noqa: E402
from tracemill import SANITIZED, Scratch, run, summary_of  # noqa: E402

PAGE_BYTES = 5 << 20
FIELDS_SHOWN = 40  # at least so many fields reach the page, or the test looks at nothing

# What a page is made of, apart from its words.  Elements that a report does not use count wherever they stand.
LOOK = """(() => {
    const count = (selector) => document.querySelectorAll(selector).length;
    const every = Array.from(document.querySelectorAll('*'));
    const attributes = every.flatMap((e) => Array.from(e.attributes));
    return {
        hit: window.__hit ?? null,
        scripts: count('script'), styles: count('style'), titles: count('title'), policies: count('meta[http-equiv]'),
        strange: count('img,iframe,object,embed,link,base,form,audio,video,frame,applet,portal,math,foreignObject,'
            + 'template,textarea'),
        handlers: attributes.filter((a) => a.name.toLowerCase().startsWith('on')).map((a) => a.name),
        links: attributes.filter((a) => ['href', 'src', 'action', 'xlink:href', 'srcdoc', 'formaction'].includes(a.name)
            && !a.value.startsWith('#')).map((a) => a.value.slice(0, 80)),
        inline: attributes.filter((a) => a.name === 'style' && !a.ownerElement.matches('.tooltip')).length,
        names: Array.from(new Set(every.map((e) => e.localName))).sort(),
        signs: Array.from(new Set(document.documentElement.textContent)).filter((c) => FORBIDDEN.includes(c)),
        token: document.documentElement.textContent.includes(TOKEN),
    };
})()""".replace("FORBIDDEN", json.dumps(sorted(texts.FORBIDDEN - {"\t"}))).replace("TOKEN", json.dumps(texts.TOKEN))
# Numbers that stand alone, not in a character reference, an escape or a name: of two pages that differ in these alone, a
# browser sees the same.
NUMBERS = re.compile(rb"(?<![#&\\\w])(?:[0-9a-f]{16,}|[0-9]+)")
PLAIN = {"hit": None, "scripts": 1, "styles": 1, "policies": 1, "strange": 0, "handlers": [], "links": [], "inline": 0}
# Elements that pages of harmless runs have.
USED = set("a article b body br button caption circle code dd details div dl dt em figcaption figure footer g h1 h2 h3 "
           "h4 head header html i input label li line main marker meta nav ol option output p path polygon polyline rect "
           "script section select span strong style summary sup svg table tbody td text tfoot th thead time title tr "
           "ul small wbr".split())


def suffix(old):
    """Behind what stood there, so that it is still taken for what it was."""
    return old + texts.MARKUP


def controls(old):
    return old + texts.CONTROLS


def address(_):
    return texts.ADDRESS


def wrong_with(page, path):
    """What is wrong with a page: a list of words; and whether TOKEN stands on it."""
    page.load(path)
    seen = page.js(LOOK)
    wrong = [f"{key}: {seen[key]}" for key, value in PLAIN.items() if seen[key] != value]
    wrong += [f"asked for {address[:80]}" for address in page.requests if address != path.as_uri()]
    wrong += [f"dialog {text}" for text in page.dialogs] + [f"console: {text[:200]}" for text in page.said]
    wrong += [f"element {name}" for name in seen["names"] if name not in USED]
    wrong += [f"raw {sign!r}" for sign in sorted(seen["signs"])]
    size = path.stat().st_size
    return wrong + ([f"{size} bytes"] if size > PAGE_BYTES else []), seen["token"]


HARMS = {"a script": "<script>window.__hit=1</script>", "a picture": "<img src=x onerror=window.__hit=1>",
         "a dialog": "<script>alert(1)</script>", "a request": "<link rel=stylesheet href=a.css>",
         "a link": "<a href='javascript:1'>x</a>", "a handler": "<p onclick='1'>x</p>",
         "a style": "<p style='color:red'>x</p>", "an element": "<blink>x</blink>", "a sign": "x\u202ey",
         "words on the console": "<script>console.log(1)</script>"}


def check_look(tap, page, folder):
    """Each harm is seen in a page that has it."""
    path = folder / "harm.html"
    frame = "<!DOCTYPE html><meta charset=utf-8><meta http-equiv=x><style>p{}</style><script>1</script><body>"
    for what, harm in {"nothing": "", **HARMS}.items():
        path.write_text(frame + harm, encoding="utf-8")
        wrong, _ = wrong_with(page, path)
        tap.ok(bool(wrong) == bool(harm), f"{what} is seen in a page", *wrong)


class Inputs:
    """Writes an input, reports on it and looks at the page, once at pages that differ in numbers alone: what a text is
    encoded as, or a field that no report shows, changes the sizes and the fingerprint of the input."""

    def __init__(self, tap, page, folder):
        self.tap, self.page, self.folder = tap, page, folder
        self.shown, self.seen = 0, {}

    def report(self, what, source, *options):
        out = self.folder / "out"
        result = run("report", source, "-o", out, "--format", "html", *options)
        path = out / "report.html"
        if result.crashed or result.status not in (0, 3, 4) or result.status == 0 and not path.exists():
            self.tap.ok(False, f"{what}: a page is written", result)
        if not path.exists():
            return []
        key = NUMBERS.sub(b"0", path.read_bytes())
        if key not in self.seen:
            self.seen[key] = wrong_with(self.page, path)
        wrong, is_shown = self.seen[key]
        self.shown += is_shown
        path.unlink()
        return wrong

    def all(self, how, suffix_of_file, inputs):
        """One case for many fields; it names those that went wrong."""
        bad = []
        for field, data in inputs:
            source = self.folder / f"input{suffix_of_file}"
            source.write_bytes(data)
            bad += [f"{field}: {word}" for word in self.report(f"{how}, {field}", source)]
        self.tap.ok(not bad, f"{how} in every field of {suffix_of_file}", *bad[:10])


def check_fields(inputs):
    for how, change in {"markup": suffix, "controls": controls, "an address": address}.items():
        kinds = ("gpu", "tpu", "cpu") if how == "markup" else ("gpu",)
        for kind in kinds:
            inputs.all(f"{how} ({kind})", ".xplane.pb", fields.spaces(change, kind))
        inputs.all(how, ".json", fields.chrome_jsons(change))
        inputs.all(how, ".prof", fields.memory_profiles(change))


def check_long(tap, inputs):
    """1 MiB in many places at once: on the page are the ends of it."""
    jsons = dict(fields.chrome_jsons(lambda old: old + texts.LONG[:1 << 14]))
    many = {".xplane.pb": fields.full_space(lambda old: texts.LONG + old), ".json": jsons["pytorch json event name"],
            ".prof": dict(fields.memory_profiles(lambda old: texts.LONG + old))["memory function"]}
    for suffix_of_file, data in many.items():
        source = inputs.folder / f"input{suffix_of_file}"
        source.write_bytes(data)
        wrong = inputs.report(f"long names, {suffix_of_file}", source)
        tap.ok(not wrong, f"names of 1 MiB in {suffix_of_file}", *wrong)


def check_outside(tap, inputs):
    """Names of files and folders, and what the user says."""
    names = {"markup": "<img src=x onerror=window.__hit=1>\"'&`", "controls": "\u202ertl\x1b[31m\x07\u200b\n",
             "bytes": b"\xff\xed\xa0\x80<b>".decode("utf-8", "surrogateescape")}
    for what, name in names.items():
        folder = inputs.folder / (name + texts.TOKEN)
        folder.mkdir()
        source = folder / f"{name}.xplane.pb"
        source.write_bytes(fields.space_bytes(fields.base_space()))
        wrong = inputs.report(f"{what} in the names of file and folder", source)
        tap.ok(not wrong, f"{what} in the names of file and folder", *wrong)
    plain = inputs.folder / "plain.xplane.pb"
    plain.write_bytes(fields.space_bytes(fields.base_space()))
    said = {"markup": texts.MARKUP, "controls": texts.CONTROLS.replace(b"\0", b""), "address": texts.ADDRESS}
    for option in ("--title", "--note"):
        for what, text in said.items():
            wrong = inputs.report(f"{what} as {option}", plain, option, text.decode("utf-8", "surrogateescape"))
            tap.ok(not wrong, f"{what} as {option}", *wrong)


def check_studies(tap, page, folder):
    """Labels, paths and names in the pages of comparisons and of a study of scaling."""
    plain = [folder / f"plain{i}.xplane.pb" for i in (1, 2)]
    for i, path in enumerate(plain):
        path.write_bytes(make_profile.gpu(seed=i, steps=8, devices=i + 1).encode())
    for how, text in {"markup": texts.MARKUP, "controls": texts.CONTROLS.replace(b"\0", b""), "address": texts.ADDRESS}.items():
        label = text.decode("utf-8", "surrogateescape").replace("=", ":").replace("/", "|")
        bad, hostile = folder / (label[:60] + ".xplane.pb"), [folder / f"hostile{i}.xplane.pb" for i in (1, 2)]
        bad.write_bytes(make_profile.gpu(seed=9, steps=8, devices=3).encode())
        for i, path in enumerate(hostile):
            path.write_bytes(fields.full_space(lambda old, new=text, more=i: new + old + b"x" * more))
        for what, (verb, *words) in {
                "in labels": ("compare", f"{label}={plain[0]}", f"{label}2={plain[1]}", "--title", label, "--note", label),
                "in labels of three": ("compare", plain[0], f"{label}={plain[1]}", bad),
                "in names": ("compare", *hostile),
                "in a study of scaling": ("scaling", *plain, bad)}.items():
            out = folder / "study"
            result = run(verb, *words, "-o", out, "--format", "html", "--force")
            path = out / f"{verb}.html"
            if result.status not in (0, 4) or not path.exists():
                tap.ok(False, f"{how} {what}: a page is written", result)
                continue
            wrong, is_shown = wrong_with(page, path)
            tap.ok(is_shown and not wrong, f"{how} {what}", *wrong, is_shown)
            path.unlink()
        bad.unlink()


# How many elements of each kind there are.
COUNTS = """(() => { const counts = {};
    for (const e of document.querySelectorAll('*')) counts[e.localName] = (counts[e.localName] ?? 0) + 1;
    return counts; })()"""


def check_summaries(tap, page, folder):
    """A summary of somebody else in which every text that may be any means harm: nothing runs, and as many elements of each kind as with
    harmless texts of the same length."""
    source, other = folder / "plain.xplane.pb", folder / "other.json"
    source.write_bytes(fields.space_bytes(fields.base_space()))
    _, summary = summary_of(source, folder / "plain")

    def write(document):
        other.write_text(json.dumps(document), encoding="utf-8")
        return other

    (folder / "gates.json").write_text(json.dumps({"gates": [{"figure": "steps.median_ps", "max": "1s"}]}))
    free = documents.free_places(summary, lambda d: run("check", write(d), "--gate", folder / "gates.json").status in (0, 1, 4))
    harms = {"markup": texts.MARKUP, "controls": texts.CONTROLS.replace(b"\0", b""), "an address": texts.ADDRESS}
    for how, raw in harms.items():
        harm = raw.decode("utf-8", "replace")
        for verb in ("compare", "scaling"):
            counts = []
            for text in (texts.TOKEN + "-" * (len(harm) - len(texts.TOKEN)), harm):
                write(documents.changed(summary, free, lambda old, new=text: old + new))
                result = run(verb, folder / "plain" / "summary.json", other, "-o", folder / "study", "--format", "html", "--force")
                path = folder / "study" / f"{verb}.html"
                if not tap.ok(result.status in (0, 4) and path.exists(), f"{how} in all texts of a summary: {verb} writes a page", result):
                    return
                wrong, is_shown = wrong_with(page, path)
                counts.append(page.js(COUNTS))
                path.unlink()
            strange = {name for name in counts[0] | counts[1] if counts[0].get(name) != counts[1].get(name)}
            tap.ok(is_shown and not wrong, f"{how} in all texts of a summary: {verb}", *wrong, is_shown)
            tap.ok(not strange, f"{how} in all texts of a summary: {verb}, no element more or less",
                   *[f"{name}: {counts[0].get(name)}, then {counts[1].get(name)}" for name in strange])


def main():
    tap = Tap()
    if BROWSER is None:
        tap.skip("harmful texts in the page", "no chromium")
        tap.done()
    with Scratch() as folder, Browser(folder, paints=False) as browser, browser.open_page() as page:
        inputs = Inputs(tap, page, folder)
        check_look(tap, page, folder)
        check_fields(inputs)
        tap.ok(inputs.shown >= FIELDS_SHOWN or SANITIZED, "many of the fields are on the page", inputs.shown)
        check_long(tap, inputs)
        check_outside(tap, inputs)
        check_studies(tap, page, folder)
        check_summaries(tap, page, folder)
    tap.done()


if __name__ == "__main__":
    main()
