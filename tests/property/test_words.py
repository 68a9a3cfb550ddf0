#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Outputs, help, documents and the comments of headers and sources are free of the phrases in tests/support/words.txt.

Outputs are the expected files of tests/golden, which another test compares with the output of the program.  The last
cases plant a phrase and check that it is found."""

import re
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(HERE.parent / "support"))
from tap import Tap  # noqa: E402
from tracemill import BINARY  # noqa: E402

LIST = HERE.parent / "support" / "words.txt"
TEXTS = (".txt", ".md", ".html", ".json", ".xml", ".prom", ".stderr")
COMMENT = re.compile(r'"(?:[^"\\\n]|\\.)*"|(/\*.*?\*/)', re.S)


def phrases():
    found = []
    for line in LIST.read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            phrase, better = (part.strip() for part in line.split("|"))
            case = 0 if re.search("[A-Z]", phrase) else re.IGNORECASE
            words = " ".join(phrase.split())
            found.append((words, better, re.compile(rf"(?<![A-Za-z_]){re.escape(words)}(?![a-z])", case)))
    return found


def said(text, listed):
    """The listed phrases that a text has, each with some of what is around it."""
    plain = re.sub(r"\s+", " ", text)
    lower = plain.lower()
    return [f"'{phrase}' (better: {better}): ...{plain[max(0, hit.start() - 40):hit.end() + 40]}..."
            for phrase, better, pattern in listed if phrase.lower() in lower for hit in [pattern.search(plain)] if hit]


def comments(path):
    text = path.read_text(encoding="utf-8")
    return re.sub(r"\n\s*\*", "\n", "\n".join(hit.group(1) for hit in COMMENT.finditer(text) if hit.group(1)))


def help_texts():
    def run(*words):
        return subprocess.run([BINARY, *words], capture_output=True, text=True, check=True).stdout

    texts = {"help": run("help"), "man": run("man")}
    verbs = re.findall(r"^  ([a-z]+(?: [a-z]+)?)  ", texts["help"].split("\nexit status:")[0], re.M)
    for verb in verbs:
        texts[f"help {verb}"] = run("help", *verb.split())
    return texts


def main():
    listed = phrases()
    golden = sorted(path for path in (ROOT / "tests/golden").rglob("*")
                    if path.is_file() and (path.suffix in TEXTS or path.name in ("stdout", "stderr")) and "in" not in path.parts)
    documents = sorted([*ROOT.glob("*.md"), ROOT / "NOTICE", *(ROOT / "docs").glob("*.md"), *(ROOT / "schemas").glob("*.md"),
                        *(ROOT / "schemas").glob("*.json"), ROOT / "tests/README.md"])
    headers, sources = (sorted(path for folder in ("pipeline", "stages", "reports") for path in (ROOT / folder).rglob(f"*.{ending}"))
                        for ending in "hc")
    texts = help_texts()
    tap = Tap()
    tap.ok(len(listed) >= 120 and len(golden) > 80 and len(documents) > 30 and len(headers) > 80 and len(sources) > 200 and
           len(texts) > 15, "there are phrases, and texts to check",
           (len(listed), len(golden), len(documents), len(headers), len(sources), len(texts)))
    for title, read in (("outputs", {str(p.relative_to(ROOT)): p.read_text(encoding="utf-8", errors="replace") for p in golden}),
                        ("help and the manual page", texts),
                        ("documents and schemas", {str(p.relative_to(ROOT)): p.read_text(encoding="utf-8") for p in documents}),
                        ("comments of headers", {str(p.relative_to(ROOT)): comments(p) for p in headers}),
                        ("comments of sources", {str(p.relative_to(ROOT)): comments(p) for p in sources})):
        wrong = [f"{name}: {what}" for name, text in read.items() for what in said(text, listed)]
        tap.ok(not wrong, f"no listed phrase in {title}", "\n".join(wrong[:40]))
    missed = [phrase for phrase, _, _ in listed if not said(f"It has\n{phrase}.", listed)]
    tap.ok(not missed, "each phrase is found where it returns, across line ends too", missed)
    readme = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()
    tap.ok(len(readme) <= 200, "README.md has at most 200 lines", len(readme))
    return tap.done()


if __name__ == "__main__":
    sys.exit(main())
