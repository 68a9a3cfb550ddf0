# SPDX-License-Identifier: Apache-2.0
"""Reports and comparisons: what the program wrote, as Python objects."""

from __future__ import annotations

import atexit
import html
import os
import re
import shutil
import subprocess
import tempfile
import webbrowser
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Dict, Iterator, List, Mapping, Optional, Sequence, Union

from ._program import Path_, TracemillError, arguments_of, failure, program, run, run_json

FORMATS = {".html": ("html", "report.html"), ".pdf": ("pdf", "report.pdf"), ".txt": ("text", "report.txt"),
           ".md": ("markdown", "report.md"), ".json": ("json", "summary.json"), ".pftrace": ("perfetto", "trace.pftrace")}
COMPARED = {".html": ("html", "compare.html"), ".pdf": ("pdf", "compare.pdf"), ".txt": ("text", "compare.txt"),
            ".md": ("markdown", "compare.md"), ".json": ("json", "compare.json")}
SHOWN_ROWS = 50


class Table(List[Dict[str, Any]]):
    """The rows of a table, as dictionaries.  Times are integers in picoseconds (`*_ps`); None: not recorded, and the row's
    `why` has the reason.  `left_out` counts the rows that are not here, `fields` describes the columns."""

    def __init__(self, document: Mapping[str, Any]) -> None:
        super().__init__(document["rows"])
        self.name: str = document["table"]
        self.fields: Dict[str, Dict[str, Any]] = document["fields"]
        self.left_out: Dict[str, Any] = document["left_out"]
        self.not_recorded: Optional[str] = document["not_recorded"]

    def _repr_html_(self) -> str:
        """The first rows in a notebook, without columns that have no values.  All values are those of the rows."""
        names = [name for name in self.fields if any(row.get(name) is not None for row in self)]
        head = "".join(f'<th title="{html.escape(self.fields[name]["help"] or "", quote=True)}">{html.escape(name)}</th>' for name in names)
        rows = "".join("<tr>" + "".join(f"<td>{html.escape('' if row.get(name) is None else str(row[name]))}</td>" for name in names) + "</tr>"
                       for row in self[:SHOWN_ROWS])
        more = f"<p>{len(self) - SHOWN_ROWS} more rows</p>" if len(self) > SHOWN_ROWS else ""
        return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>{more}" if names else f"<p>{html.escape(self.not_recorded or 'no rows')}</p>"

    def _columns(self) -> Dict[str, List[Any]]:
        return {name: [row.get(name) for row in self] for name in self.fields}

    def to_pandas(self) -> Any:
        """A pandas.DataFrame; pandas has to be installed."""
        import pandas  # type: ignore[import-untyped,import-not-found,unused-ignore]
        return pandas.DataFrame(self._columns())

    def to_polars(self) -> Any:
        """A polars.DataFrame; polars has to be installed."""
        import polars  # type: ignore[import-not-found,unused-ignore]
        return polars.DataFrame(self._columns(), strict=False)

    def to_arrow(self) -> Any:
        """A pyarrow.Table; pyarrow has to be installed."""
        import pyarrow  # type: ignore[import-untyped,import-not-found,unused-ignore]
        return pyarrow.table(self._columns())


@dataclass(frozen=True)
class Figure:
    """One figure.  value None: not recorded."""
    path: str
    value: Any
    unit: Optional[str]
    title: Optional[str]


class Figures(Mapping[str, Figure]):
    """The figures by path ("steps.median_ps") and the key figures by id ("step_time")."""

    def __init__(self, rows: Sequence[Mapping[str, Any]], key_figures: Sequence[Mapping[str, Any]]) -> None:
        self._figures = {row["path"]: Figure(row["path"], row["value"], row["unit"], row["title"]) for row in rows}
        for row in key_figures:
            self._figures[row["id"]] = Figure(row["id"], row["value"], row["unit"], row["title"])

    def __getitem__(self, name: str) -> Figure:
        return self._figures[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._figures)

    def __len__(self) -> int:
        return len(self._figures)


class Verdict(str):
    """What is wrong, in a sentence; `severity` is good, info, warning or critical.  Of a comparison `outcome` is regression,
    improvement, no_change or inconclusive."""
    severity: str
    outcome: Optional[str]

    def __new__(cls, document: Mapping[str, Any]) -> "Verdict":
        made = super().__new__(cls, document["text"])
        made.severity, made.outcome = document["severity"], document.get("verdict")
        return made


@dataclass(frozen=True)
class Finding:
    """A finding: what is wrong, how that was measured, and what to do."""
    id: str
    severity: str
    title: str
    evidence: List[str]
    cause: Optional[str]
    fix: List[str]
    at_stake_ps: Optional[int]
    share_pct: Optional[float]
    row: Dict[str, Any]


class _Result:
    _document: str  # the path that the program reads
    _formats: Mapping[str, Any]

    def __init__(self, document: Path_, folder: Optional["tempfile.TemporaryDirectory[str]"] = None) -> None:
        self._document, self._folder = os.fspath(document), folder
        self._brief = run_json("brief", self._document)

    @property
    def path(self) -> str:
        """What the program was given: a document or a folder that its other verbs read, too."""
        return self._document

    @property
    def partial(self) -> bool:
        """The input was damaged or is not complete."""
        return bool(self._brief["partial"])

    @property
    def verdict(self) -> Verdict:
        return Verdict(self._brief["verdict"])

    @property
    def findings(self) -> List[Finding]:
        return [Finding(row["id"], row["severity"], row["title"], list(row.get("evidence") or []), row.get("cause"),
                        list(row.get("fix") or []), row.get("at_stake_ps"), row.get("share_pct"), row) for row in self.table("findings")]

    def tables(self) -> List[str]:
        """The names of the tables."""
        return [row["name"] for row in run_json("show", self._document)["rows"]]

    def table(self, name: str, where: Optional[str] = None, sort: Optional[str] = None, top: Optional[int] = None,
              fields: Union[str, Sequence[str], None] = None) -> Table:
        """A table by its name, as `tracemill show` prints it: where="self_share_pct > 5", sort="-total_ps", top=10."""
        chosen = ",".join(fields) if fields is not None and not isinstance(fields, str) else fields
        return Table(run_json("show", self._document, name, *arguments_of({"where": where, "sort": sort, "top": top, "fields": chosen})))

    def _write(self, kind: str, folder: str) -> None:
        raise NotImplementedError

    def save(self, path: Path_) -> Path:
        """Writes the report to `path`; its ending chooses the format."""
        out = Path(path)
        if out.suffix not in self._formats:
            raise TracemillError(f"cannot save '{out}': no format ends with '{out.suffix}'", 2, f"use {', '.join(self._formats)}")
        kind, name = self._formats[out.suffix]
        with tempfile.TemporaryDirectory(prefix="tracemill.") as folder:
            self._write(kind, folder)
            shutil.copyfile(os.path.join(folder, name), out)
        return out

    def _page(self) -> str:
        with tempfile.TemporaryDirectory(prefix="tracemill.") as folder:
            self._write("html", folder)
            return Path(folder, self._formats[".html"][1]).read_text(encoding="utf-8")

    def _repr_html_(self) -> str:
        """Verdict, findings and the first chart of the page, in a frame of their own."""
        page = self._page()
        style = "".join(re.findall(r"<style>.*?</style>", page, re.DOTALL))
        chart = re.search(r'<figure class="drawing".*?</figure>', page, re.DOTALL)
        rows = "".join(f"<li><b>{html.escape(f.severity)}</b>: {html.escape(f.title)}. {html.escape(' '.join(f.evidence[:1]))}</li>"
                       for f in self.findings[:5])
        body = (f"<!DOCTYPE html><meta charset='utf-8'>{style}<body><p><b>{html.escape(self.verdict)}</b></p><ol>{rows}</ol>"
                f"{chart.group(0) if chart else ''}</body>")
        # A finding takes two lines or fewer.
        height = 80 + 44 * len(self.findings[:5]) + (270 if chart else 0)
        return (f'<iframe sandbox="" title="tracemill" style="width:100%;height:{height}px;border:0" '
                f'srcdoc="{html.escape(body, quote=True)}"></iframe>')


class Served:
    """A report that `tracemill open` serves at `.url`."""

    def __init__(self, words: Sequence[str], browser: bool) -> None:
        self._command = [program(), *words]
        self._messages = tempfile.TemporaryFile(mode="w+", encoding="utf-8", errors="replace")
        self._process = subprocess.Popen(self._command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=self._messages,
                                         encoding="utf-8", errors="replace")
        atexit.register(self.close)
        assert self._process.stdout
        self.url = self._process.stdout.readline().strip()
        if not self.url:
            status = self._process.wait()
            self._messages.seek(0)
            said = self._messages.read()
            self.close()
            raise failure(self._command, status, said)
        if browser:
            webbrowser.open(self.url)

    def close(self) -> None:
        """Ends the server, and waits for it."""
        atexit.unregister(self.close)
        if self._process.poll() is None:
            self._process.terminate()
            try:
                self._process.wait(10)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
        if self._process.stdout:
            self._process.stdout.close()
        self._messages.close()

    def __enter__(self) -> Served:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<tracemill.Served {self.url}>"


class Report(_Result):
    """A run: `report()` makes it."""
    _formats = FORMATS

    def __init__(self, document: Path_, folder: Optional["tempfile.TemporaryDirectory[str]"] = None,
                 source: Optional[Sequence[str]] = None, inputs: Optional[Sequence[str]] = None) -> None:
        super().__init__(document, folder)
        # What formats are made from, and the inputs with the options that chose them.
        self._source, self._inputs = source, inputs or [self._document]

    def query(self, sql: str, **options: Any) -> List[Dict[str, Any]]:
        """The rows of an SQL SELECT over the events and tables of the run: `tracemill schema` lists them.  Reads the profile again."""
        document = run_json("query", *self._inputs, sql, *arguments_of(options))
        return list(document["rows"])

    def open(self, browser: bool = True) -> Served:
        """Serves the report with links into its trace in Perfetto, on this machine only, and shows it in the browser.  Reads the
        profile again.  The server ends when the page is closed, with .close(), or with Python."""
        return Served(["open", *self._inputs, "--no-browser", "--quiet"], browser)

    @property
    def figures(self) -> Figures:
        return Figures(self.table("figures"), self._brief.get("key_figures", []))

    def __repr__(self) -> str:
        return f"<tracemill.Report {self._brief['run']}: {self.verdict}>"

    def _write(self, kind: str, folder: str) -> None:
        if self._source is None:
            raise TracemillError(f"cannot write {kind} of '{self._document}': it is a summary", 2, "make the report from the profile")
        run("report", *self._source, "-o", folder, "--format", kind, "--quiet")


class Comparison(_Result):
    """A comparison: `compare()` makes it."""
    _formats = COMPARED

    def __init__(self, document: Path_, folder: "tempfile.TemporaryDirectory[str]", words: Sequence[str], runs: Sequence[Any]) -> None:
        super().__init__(document, folder)
        self._words, self._runs = words, runs  # reports that are compared keep their folders

    @property
    def figures(self) -> Table:
        """The figures side by side: a row for each, with its values and changes."""
        return self.table("figures")

    def __repr__(self) -> str:
        return f"<tracemill.Comparison {self.verdict}>"

    def _write(self, kind: str, folder: str) -> None:
        run("compare", *self._words, "-o", folder, "--format", kind, "--quiet")


def is_summary(path: Path_) -> bool:
    """A summary.json, or a folder with one."""
    return os.path.basename(os.fspath(path)) == "summary.json" or os.path.isfile(os.path.join(os.fspath(path), "summary.json"))


def report(*inputs: Path_, **options: Any) -> Report:
    """Diagnoses a run: a profile, a log directory, several hosts or ranks of one run, or the folder of a report.

    Options are those of `tracemill report`: latest=True, steps="2:12", memory="64M", redact=True, title="...".
    """
    words = [os.fspath(path) for path in inputs]
    if len(words) == 1 and is_summary(words[0]) and not options:
        return Report(words[0])
    folder = tempfile.TemporaryDirectory(prefix="tracemill.")
    run("report", *words, "-o", folder.name, "--format", "json,partial", "--quiet", *arguments_of(options))
    # A partial holds the run, without the trace: other formats are made of it with the same title and names.
    kept = {name: value for name, value in options.items() if name in ("title", "note")}
    source = [*words, *arguments_of(options)] if options.get("redact") else [os.path.join(folder.name, "run.partial"), *arguments_of(kept)]
    chosen = {name: value for name, value in options.items() if name in ("latest", "run", "steps", "skip_steps", "window", "memory", "tmp", "redact")}
    return Report(os.path.join(folder.name, "summary.json"), folder, source, [*words, *arguments_of(chosen)])


def compare(base: Union[Path_, Report], new: Union[Path_, Report], *more: Union[Path_, Report], **options: Any) -> Comparison:
    """Compares runs: profiles, reports, or what `report()` returned."""
    runs = (base, new, *more)
    words = [*(one.path if isinstance(one, Report) else os.fspath(one) for one in runs), *arguments_of(options)]
    folder = tempfile.TemporaryDirectory(prefix="tracemill.")
    run("compare", *words, "-o", folder.name, "--format", "json", "--quiet", accept=(0, 1, 4))
    return Comparison(os.path.join(folder.name, "compare.json"), folder, words, runs)
