#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Gates of a night through `batch merge`: quiet nights are quiet, a planted change is found, statuses, JUnit and Markdown of
texts that mean harm, metrics in the parsers of OpenMetrics and of Prometheus' older format, the same bytes again."""

import json
import random
import re
import shutil
import sys
import uuid
import xml.etree.ElementTree as ElementTree
from datetime import datetime
from pathlib import Path

import feedparser
from prometheus_client import parser as older
from prometheus_client.openmetrics import parser as openmetrics

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import hostile_texts  # noqa: E402
import made_batch  # noqa: E402
import schemas  # noqa: E402
from tap import Tap  # noqa: E402
from tracemill import Scratch, run  # noqa: E402

FIVE_PCT = [{"figure": "step_time", "max_increase_pct": 5}]
STEP_PS = 10**11


def write_run(out, line, result, summary, step_ps, mark, noise):
    """The summary of a run whose steps are around step_ps, and its result."""
    folder = out / "runs" / line["id"]
    steps = sorted(round(step_ps * noise.gauss(1, 0.02)) + at for at in range(24))
    summary["steps"].update(samples_ps=steps, median_ps=(steps[11] + steps[12]) // 2, mean_ps=sum(steps) // 24)
    summary["input"]["files"][0]["xxh3"] = f"{mark:016x}"
    data = json.dumps(summary).encode()
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "summary.json").write_bytes(data)
    for file in result["files"]:
        if file["name"] == "summary.json":
            file["bytes"] = len(data)
    (folder / "result.json").write_text(json.dumps(result), encoding="utf-8")


def put_nights(template, out, jobs, nights, change=lambda job, night, line, result: 1.0):
    """A batch of so many jobs in so many nights, which differ by 1 %."""
    noise, summary, lines = random.Random(7), json.loads(template.summary), []
    for number in range(jobs * nights):
        line, result = template.run_of(number, jobs)
        factor = change(number % jobs, number // jobs, line, result)
        lines.append(line)
        if factor:
            write_run(out, line, result, summary, STEP_PS * factor * noise.gauss(1, 0.01), number + 1, noise)
        else:
            (out / "runs" / line["id"]).mkdir(parents=True, exist_ok=True)
            (out / "runs" / line["id"] / "result.json").write_text(json.dumps(result), encoding="utf-8")
    lines.sort(key=lambda line: line["path"])
    header = {**template.header, "runs": len(lines), "files": len(lines),
              "bytes": sum(file["bytes"] for line in lines for file in line["files"])}
    (out / "manifest.jsonl").write_text("".join(json.dumps(line) + "\n" for line in [header, *lines]), encoding="utf-8")


class Night:
    def __init__(self, folder, template):
        self.folder, self.template, self.out = folder, template, folder / "out"
        folder.mkdir(parents=True)
        self.out.mkdir()

    def merge(self, gates, *options):
        (self.folder / "gates.json").write_text(json.dumps({"gates": gates}), encoding="utf-8")
        return run("batch", "merge", self.out, *self.template.options, "-q", *(["--gate", self.folder / "gates.json"] if gates else []),
                   "--junit", self.folder / "night.xml", "--markdown", self.folder / "night.md",
                   "--openmetrics", self.folder / "metrics.txt", *options)

    def suites(self):
        return ElementTree.parse(self.folder / "night.xml").getroot()

    def text(self, name):
        return (self.folder / name).read_text(encoding="utf-8")


def check_nights(tap, folder, template):
    """20 quiet nights as they come, then one with a change of 10 % in one job of three."""
    night, wrong = Night(folder, template), []
    for count in range(2, 22):
        put_nights(template, night.out, 3, count)
        result = night.merge(FIVE_PCT)
        if result.status != 0:
            wrong.append(f"night {count}: {result.status} {result.err}")
    tap.ok(not wrong, "20 quiet nights: no gate fails", *wrong)
    put_nights(template, night.out, 3, 22, lambda job, at, *_: 1.1 if (job, at) == (1, 21) else 1.0)
    result = night.merge(FIVE_PCT)
    failed = [suite.get("name") for suite in night.suites() if suite.get("failures") != "0"]
    tap.ok(result.status == 1 and failed == ["job-0001"], "and the change of the night after fails", result, failed)
    names = [line.split("`")[1] for line in night.text("night.md").splitlines() if "**failed**" in line]
    tap.ok(names == ["job-0001"], "and stands in the Markdown", night.text("night.md")[:500])
    before = [night.text(name) for name in ("night.xml", "night.md", "metrics.txt")], (night.out / "history.db").read_bytes()
    result = night.merge(FIVE_PCT)
    after = [night.text(name) for name in ("night.xml", "night.md", "metrics.txt")], (night.out / "history.db").read_bytes()
    tap.ok(result.status == 1 and before == after, "again: the same bytes")


ATOM = "{http://www.w3.org/2005/Atom}"


def atom_wrong(data):
    """What RFC 4287 does not allow, of a feed without content elements; its entries by id."""
    feed, read = ElementTree.fromstring(data), feedparser.parse(data)
    wrong = [str(read.get("bozo_exception"))] if read.bozo or read.version != "atom10" else []
    entries = {}
    for part in (feed, *feed.findall(ATOM + "entry")):
        for name in ("id", "title", "updated"):
            found = part.findall(ATOM + name)
            wrong += [f"{len(found)} {name}"] if len(found) != 1 or not found[0].text.strip() else []
        wrong += [] if re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", part.findtext(ATOM + "updated")) else ["a time"]
        number = part.findtext(ATOM + "id")
        wrong += [f"{number} twice"] if number in entries or not number.startswith("urn:uuid:") else []
        wrong += [] if uuid.UUID(number).variant == uuid.RFC_4122 else [f"{number}: no UUID"]
        links = [link.get("href") for link in part.findall(ATOM + "link") if link.get("rel") == "alternate"]
        wrong += [] if len(links) == 1 and re.fullmatch(r"[\w./#-]+", links[0]) and links[0][0] != "/" else [f"links {links}"]
        entries[number] = part
    wrong += [] if feed.find(f"{ATOM}author/{ATOM}name") is not None and len(read.entries) == len(entries) - 1 else ["no author, or entries lost"]
    return wrong, {number: part for number, part in entries.items() if part is not feed}


def check_beside(tap, night, name, opened):
    """feed.atom and status.svg, and that a repeated merge gives the same bytes."""
    night.merge([], "--format", "html,json")
    data = [(night.out / part).read_bytes() for part in ("feed.atom", "status.svg")]
    wrong, entries = atom_wrong(data[0])
    told = [part for part in entries.values() if part.find(ATOM + "category").get("term") != "night"]
    tap.ok(not wrong and len(told) == opened and all("job-0001" in part.findtext(ATOM + "title") for part in told), f"{name}: the feed",
           *wrong, data[0].decode()[:2000])
    badge = ElementTree.fromstring(data[1])
    words = badge.findtext("{http://www.w3.org/2000/svg}title")
    tap.ok(badge.get("role") == "img" and words == badge.get("aria-label") and
           words.endswith(": 1 regression open" if opened else ": ok"), f"{name}: the badge", words)
    other = Path(shutil.copytree(night.out, night.out.parent / f"elsewhere {name}"))
    for path in (other / "manifest.jsonl", *(other / "runs").glob("*/result.json")):  # the runs of another root
        path.write_text(re.sub(r'("id": ?")', r"\1o-", path.read_text("utf-8")), encoding="utf-8")
    for path in list((other / "runs").iterdir()):
        path.rename(path.with_name(f"o-{path.name}"))
    (other / "history.db").unlink()
    result = run("batch", "merge", other, "-q", "--format", "html,json", cwd=night.out.parent)
    tap.ok(not set(entries) & set(atom_wrong((other / "feed.atom").read_bytes())[1]) and
           ElementTree.fromstring(data[0]).findtext(ATOM + "id") != ElementTree.parse(other / "feed.atom").findtext(ATOM + "id"),
           f"{name}: another batch without a title has other ids", result)
    night.merge([], "--format", "html,json")
    tap.ok(data == [(night.out / part).read_bytes() for part in ("feed.atom", "status.svg")], f"{name}: both again")


def check_regressions(tap, folder, template):
    """Without a gate file: exit status 1, a metric and a JUnit case as long as a regression is open."""
    night = Night(folder, template)

    def longer(job, at, _, result):
        level = 1.1 if (job, at >= 20) == (1, True) else 1
        result["figures"]["step_time_ps"] = STEP_PS * level * (1 + 0.003 * (at * 7 % 5 - 2))
        return level

    for count, wants, opened in ((20, 0, 0), (21, 1, 1), (22, 1, 0)):
        put_nights(template, night.out, 2, count, longer)
        result = night.merge([])
        told = json.loads((night.out / "index.json").read_text("utf-8"))["counts"]
        tap.ok(result.status == wants and told["regressions_opened"] == opened and told["regressions_open"] == (count > 20),
               f"{count} nights: the status says whether a regression is open", result, told)
        metrics = [sample for family in openmetrics.text_string_to_metric_families(night.text("metrics.txt"))
                   for sample in family.samples if sample.name == "tracemill_regression_open"]
        tap.ok([sample.labels["job"] for sample in metrics] == ["job-0001"] * (count > 20) and
               all(0.08 < sample.value < 0.12 for sample in metrics), f"{count} nights: so do the metrics", metrics)
        if wants:
            tap.ok("regression: job-0001" in result.err, "it is told on stderr", result.err)
            row = json.loads((night.out / "index.json").read_text("utf-8"))["regressions"][0]
            tap.ok(row["cause"] and row["report"].startswith(f"runs/{row['id']}") and row["good_report"], "its first run is compared with the last good one", row)
            lines = night.text("night.md").splitlines()
            tap.ok([line.split(" | ")[2] for line in lines if "r-" in line] == ["median step time"] and "not assessed" not in night.text("night.md"),
                   "Markdown has it, and no list of runs without gates", *lines)
            failure = night.suites().find("testsuite[@name='regressions']/testcase/failure").get("message")
            tap.ok(row["cause"] in failure, "JUnit says why in the message", failure)
            evidence = [f["evidence"] for f in json.loads((night.out / "index.json").read_text("utf-8"))["findings"] if f["id"] == "night_worse"][0]
            tap.ok(f"Cause: {row['cause']}" in evidence, "and the finding in its evidence", *evidence)
            tap.ok(row["cause"].split(";")[0] in night.text("night.md") and row["cause"].split(";")[0] in night.text("night.xml"), "the cause is in Markdown and JUnit", night.text("night.md"))
            tap.ok(night.merge([]).status == 1, "again: the same status")
            tap.ok(night.merge([], "--fail-on-regression", "no").status == 0, "--fail-on-regression no: status 0")
            check_beside(tap, night, f"{count} nights", 1)
        else:
            check_beside(tap, night, f"{count} nights", 0)
    result = night.merge([{"figure": "step_time", "max_increase_pct": 5}], "--baseline", "last-good")
    last = night.suites().findall("testsuite[@name='job-0001']/properties/property[@name='baseline']")
    ids = {json.loads(line)["id"]: json.loads(line)["keys"]["when_ns"] for line in (night.out / "manifest.jsonl").read_text("utf-8").splitlines()[1:]}
    tap.ok([ids[p.get("value")] for p in last] == [made_batch.START_NS + 19 * made_batch.DAY_NS],
           "the last good run of gates is the one before the regression", [p.get("value") for p in last], result)


def refuse_second(job, at, line, result):
    """The second job has no report in the second night."""
    if (job, at) != (1, 1):
        return 1.0
    result.update(status="refused", exit_status=3, message=hostile_texts.MARKUP.decode(), hint=None, files=[], figures=None,
                  facts=None, verdict=None)
    return None


def check_statuses(tap, folder, template):
    night = Night(folder, template)
    put_nights(template, night.out, 2, 2)
    tap.ok(night.merge([]).status == 0, "without gates: 0")
    tap.ok(night.merge([{"figure": "step_time", "max": "1s"}]).status == 0, "gates that hold: 0")
    tap.ok(night.merge([{"figure": "step_time", "max": "1ms"}]).status == 1, "a gate that fails: 1")
    tap.ok(night.merge([{"figure": "ops.rows[nothing].self_ps", "max": "1s"}]).status == 4, "one that is not known: 4")
    tap.ok(night.merge([{"figure": "step_tme", "max": "1s"}]).status == 2, "one of no figure: 2")
    tap.ok(night.merge(FIVE_PCT, "--baseline", "median:0").status == 2, "a baseline that is none: 2")
    some = Night(folder / "some", template)
    put_nights(template, some.out, 2, 2, refuse_second)
    result = some.merge([{"figure": "step_time", "max": "1s"}])
    errors = [error.get("type") for error in some.suites().iter("error")]
    tap.ok(result.status == 4 and errors == ["refused"], "a trace that was refused: 4, and an error", result, errors)
    result = some.merge([{"figure": "step_time", "max": "1ms"}])
    tap.ok(result.status == 1, "beside a gate that fails: 1", result)


def check_texts(tap, folder, template):
    """Jobs, labels and revisions that mean harm."""
    texts = [hostile_texts.MARKUP.decode()[:200], hostile_texts.ADDRESS.decode(), "<b>&\"'", "a|b`c", "]]>", "x{y=\"z\"} 1\\", "# EOF", "@all #12 ![x](y)"]

    def change(job, _at, line, _result):
        line["keys"].update(job=texts[job], label=texts[job], revision=texts[job])
        return 1.0

    night = Night(folder, template)
    put_nights(template, night.out, len(texts), 2, change)
    result = night.merge([{"figure": "step_time", "max": "1ms"}])
    tap.ok(result.status == 1, "names that mean harm: merged", result)
    suites = night.suites()
    tap.ok({suite.get("name") for suite in suites} == {text + more for text in texts for more in ("", " of 2026-09-21")}, "names that mean harm: the suites", [s.get("name") for s in suites])
    counts = [sum(int(suite.get(key)) for suite in suites) for key in ("tests", "failures", "errors")]
    tap.ok([str(n) for n in counts] == [suites.get(key) for key in ("tests", "failures", "errors")]
           and counts[0] == sum(1 for _ in suites.iter("testcase")), "names that mean harm: counts add up", counts)
    for parser, name in ((openmetrics, "OpenMetrics"), (older, "Prometheus' older format")):
        families = list(parser.text_string_to_metric_families(night.text("metrics.txt")))
        jobs = {sample.labels["job"] for family in families for sample in family.samples if "job" in sample.labels}
        tap.ok(jobs == set(texts) and len(families) > 30, f"names that mean harm: {name}", sorted(jobs))
    units = [f for f in openmetrics.text_string_to_metric_families(night.text("metrics.txt")) if f.unit]
    tap.ok({f.unit for f in units} == {"seconds", "bytes", "ratio"} and all(f.name.endswith(f.unit) for f in units), "units are base units")


def put_runs(template, out, runs):
    """A batch of runs {number: (night, factor)} of one job each."""
    noise, summary, lines = random.Random(11), json.loads(template.summary), []
    for number, (night, factor) in runs.items():
        line, result = template.run_of(number, 1)
        day = datetime.fromisoformat(night + "T03:00:00+00:00")
        line["keys"].update(job="job", night=night, when_ns=int(day.timestamp()) * 10**9 + number)
        write_run(out, line, result, summary, STEP_PS * factor, number + 1, noise)
        lines.append(line)
    lines.sort(key=lambda line: line["path"])
    header = {**template.header, "runs": len(lines), "files": len(lines), "bytes": sum(f["bytes"] for l in lines for f in l["files"])}
    (out / "manifest.jsonl").write_text("".join(json.dumps(line) + "\n" for line in [header, *lines]), encoding="utf-8")


def check_judged(tap, folder, template):
    """Every run that came is judged, whatever its date; a date that lies ahead hides nothing, and is not followed."""
    limit, validator = [{"figure": "step_time", "max": "110ms"}], schemas.validator_of(tap, "night")

    def merge(name, runs, *more):
        night = Night(folder / name, template)
        for at, part in enumerate((runs, *more)):
            put_runs(template, night.out, dict(list(runs.items()) + list(part.items())) if at else part)
            result = night.merge(limit)
        document = json.loads((night.out / "index.json").read_text(encoding="utf-8"))
        tap.ok(not list(schemas.problems(validator, document)), f"{name}: the document fits its schema", *schemas.problems(validator, document))
        return night, result, document

    quiet = {0: ("2026-11-18", 1.0), 1: ("2026-11-19", 1.0), 2: ("2026-11-20", 1.0)}
    night, result, document = merge("before", quiet, {3: ("2026-11-19", 1.5)})
    tap.ok(result.status == 1 and "job" in result.err, "a run of the evening before that fails its gate: 1", result)
    names = [suite.get("name") for suite in night.suites()]
    tap.ok(document["night"] == "2026-11-20" and len(document["runs"]) == document["counts"]["runs"] == 4 and
           "job of 2026-11-19 #2" in names and "job" in names, "and is told with its night", names)
    before = [(night.out / name).read_bytes() for name in ("history.db", "index.json")] + [night.text("night.xml")]
    again = night.merge(limit)
    after = [(night.out / name).read_bytes() for name in ("history.db", "index.json")] + [night.text("night.xml")]
    tap.ok(again.status == 1 and before == after, "merged again: the same", again)
    put_runs(template, night.out, {**quiet, 3: ("2026-11-19", 1.5), 4: ("2026-11-21", 1.0)})
    later = night.merge(limit)
    tap.ok(later.status == 0 and len(night.suites()) == 1, "the next night has a page of its own", later)

    ahead = {**quiet, 5: ("2099-01-01", 1.0)}
    night, result, document = merge("ahead", ahead)
    tap.ok(result.status == 4 and "1 run is dated more than a day ahead of this machine's clock" in result.err and
           "2099-01-01" in result.err, "a run dated ahead: 4, and a warning", result)
    tap.ok(document["night"] == "2026-11-20" and [row["night"] for row in document["dated_ahead"]] == ["2099-01-01"] and
           document["counts"]["dated_ahead"] == 1 and "night_ahead" in [f["id"] for f in document["findings"]] and
           len(night.suites()) == 3, "it is told, and on no page", document["verdict"])
    tap.ok("2099" not in night.text("metrics.txt") and "tracemill_runs_dated_ahead 1\n" in night.text("metrics.txt"),
           "the metrics are of the newest run of a known day")
    night.merge(limit, "--format", "json,text,html,markdown")
    shown = [(night.out / f"index.{ending}").read_text(encoding="utf-8") for ending in ("txt", "html", "md")]
    tap.ok(all("1 run dated more than a day ahead of the clock is not assessed" in text and "2099-01-01" in text for text in shown),
           "and the page lists it")
    night, result, _ = merge("switch", ahead, {6: ("2026-11-20", 1.5)})
    tap.ok(result.status == 1, "a later run that fails its gate is judged all the same: 1", result)
    night, result, document = merge("never", {7: ("2099-01-01", 1.0), 8: ("2099-01-02", 1.5)})
    tap.ok(result.status == 4 and document["night"] is None and document["verdict"]["severity"] == "warning" and
           len(document["dated_ahead"]) == 2, "all of them dated ahead: 4", result, document["verdict"])

    night, result, document = merge("undated", quiet, {9: ("2026-11-20", 1.5), 10: ("2026-11-25", 1.0)})
    tap.ok(result.status == 1 and document["night"] == "2026-11-25", "a newer date takes no other run off the page", result)
    pruned = run("batch", "prune", night.out, "--keep", 1)
    result = night.merge(limit)
    tap.ok(pruned.status == 0 and result.status == 0, "what was pruned is not assessed again", pruned, result)
    dates = {number: (f"2099-01-{number:02}", 1.0) for number in range(11, 29)}
    night, result, _ = merge("pruned", {**quiet, **dates})
    pruned = run("batch", "prune", night.out, "--keep", 3)
    tap.ok(pruned.status == 0 and len(list((night.out / "runs").rglob("summary.json"))) == 21, "dates ahead push out no night", pruned)


def main():
    tap = Tap()
    with Scratch() as scratch:
        (scratch / "template").mkdir()
        template = made_batch.Template(scratch / "template")
        check_statuses(tap, scratch / "statuses", template)
        check_texts(tap, scratch / "texts", template)
        check_judged(tap, scratch / "judged", template)
        check_nights(tap, scratch / "nights", template)
        check_regressions(tap, scratch / "regressions", template)
        shutil.rmtree(scratch / "nights")
    tap.done()


if __name__ == "__main__":
    main()
