#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The document of a night, from made histories: it keeps to its schema, and tells what a slow calculation tells; the same bytes for the
same rows; bounded for many jobs and nights; nothing that a row says becomes a link."""

import json
import random
import re
import statistics
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import hostile_texts as texts  # noqa: E402
import make_history  # noqa: E402
from nights import FILES, tell  # noqa: E402
from schemas import problems, validator_of  # noqa: E402
from tap import Tap  # noqa: E402
from tracemill import Scratch, run  # noqa: E402

MIB = 1 << 20


# --- the slow calculation ---

LEAST = {"step_time_ps": 2, "compute_ps": 2, "exposed_collective_ps": 5, "idle_ps": 5, "compile_time_ps": 10, "peak_memory_bytes": 1}
SHARES = {"device_utilization_pct": 1, "mfu_pct": 1}
PARTS = ("compute_ps", "exposed_collective_ps", "idle_ps")


def judge(rows, figure, step_before=None):
    """(before, band, state) of the last row of a job."""
    before = [row[figure] for row in rows[:-1] if row["status"] == "done" and figure in row]
    if len(before) < 3 or rows[-1]["status"] != "done" or figure not in rows[-1]:
        return None
    recent, longer = before[-7:], before[-20:]
    level = statistics.median(recent)
    spread = 1.4826 * statistics.median(abs(v - level) for v in recent)
    steps = 1.4826 * statistics.median(abs(b - a) for a, b in zip(longer, longer[1:])) / 2**0.5
    band = max(SHARES[figure] if figure in SHARES else LEAST[figure] / 100 * abs(level), 3 * spread, 3 * steps)
    if figure in PARTS:
        band = max(band, 0.01 * step_before)
    change = rows[-1][figure] - level
    worse = (change > 0) == (figure not in SHARES)
    return level, band, "same" if abs(change) <= band else "worse" if worse else "better"


def check_judgements(tap, name, rows, document):
    wrong = []
    for job in document["jobs"]:
        own = sorted((r for r in rows if r["job"] == job["job"]), key=lambda r: (r["when_ns"], r["id"]))
        if own[-1]["night"] != document["night"]:
            if job["state"] != "absent":
                wrong.append(f"{job['job']}: {job['state']}")
            continue
        step = judge(own, "step_time_ps")
        for figure, has in job["figures"].items():
            wants = judge(own, figure, step and step[0])
            if wants is None:
                if has["state"] != "not_judged" or has["before"] is not None:
                    wrong.append(f"{job['job']} {figure}: {has}")
            elif abs(has["before"] - wants[0]) > 1e-9 * abs(wants[0]) or abs(has["band"] - wants[1]) > 1e-9 * wants[1] or \
                    has["state"] != wants[2]:
                wrong.append(f"{job['job']} {figure}: {has}, wants {wants}")
    tap.ok(not wrong, f"{name}: each figure is judged as by a slow calculation", *wrong[:5])


# --- histories ---

def check_story(tap, folder, validator):
    rows = make_history.story()
    document, _ = tell(folder / "story", rows)
    tap.ok(not problems(validator, document), "the story keeps to the schema", *problems(validator, document))
    check_judgements(tap, "the story", rows, document)
    states = {job["job"]: job["state"] for job in document["jobs"]}
    wants = {"t5-xxl/finetune": "failed", "whisper-v3/decode": "failed", "llama-70b/pretrain": "worse", "gemma-2b/sft": "worse",
             "diffusion/sdxl": "absent", "clip-b32/train": "partial", "bert-large/phase2": "better", "moe-8x7b/pretrain": "new",
             "mamba-3b/pretrain": "not_judged", "gpt-3b/periodic": "same", "resnet50/imagenet": "same", "vit-h14/linear-probe": "same"}
    tap.ok(states == wants, "the story: each job stands as it was made", states)
    tap.ok(list(states)[:3] == ["t5-xxl/finetune", "whisper-v3/decode", "llama-70b/pretrain"], "what matters most comes first", list(states))
    counts = {word: sum(row["status"] == word and row["night"] == "2026-11-21" for row in rows) for word in ("done", "failed", "refused", "partial")}
    tap.ok(all(document["counts"][word] == count for word, count in counts.items()), "runs are counted", counts, document["counts"])
    tap.ok(document["counts"]["runs"] == len(document["runs"]) == sum(counts.values()), "all runs of the night are listed")
    tap.ok([f["id"] for f in document["findings"]] == ["night_failed", "night_worse", "night_worse", "night_absent"], "findings are in order")
    messages = {row["message"] for row in rows if row["night"] == "2026-11-21" and row["status"] in ("failed", "refused")}
    tap.ok(all(any(m in e for e in document["findings"][0]["evidence"]) for m in messages), "failures are told with their reasons")
    level = {(c["night"], c["state"]) for c in document["change_points"] if c["job"] == "resnet50/imagenet" and c["figure"] == "step_time_ps"}
    tap.ok(level == {("2026-10-27", "better"), ("2026-11-12", "worse")}, "changes of the level are told", level)
    steps = [c["step"] for c in document["change_points"] if c["job"] == "gpt-3b/periodic" and c["figure"] == "step_time_ps"]
    tap.ok(steps == [19000], "so they are over the steps of a training run", steps)
    links = re.findall(r'href="([^"#]+)"', (folder / "story" / "index.html").read_text("utf-8"))
    wants = {f"{row['report']}/report.html" for row in rows if "report" in row}
    tap.ok(links and set(links) <= wants, "links lead to reports", sorted(set(links) - wants)[:5])
    return rows


def check_same_bytes(tap, folder, rows):
    tell(folder / "a", rows)
    random.Random(1).shuffle(rows)
    tell(folder / "b", rows)
    differing = [name for name in FILES if (folder / "a" / name).read_bytes() != (folder / "b" / name).read_bytes()]
    tap.ok(not differing, "the same bytes for the same rows in another order", *differing)


def check_small(tap, folder, validator):
    one = make_history.run_of("job", 0)
    for name, rows in {"no run": [], "one run": [one], "a failed run": [make_history.failed(one, "it was killed")],
                       "two runs": [make_history.run_of("job", 1), one],
                       "no figures": [{k: v for k, v in one.items() if not k.endswith(("_ps", "_pct", "_bytes"))}],
                       "the same again": [make_history.run_of("job", i, step_time_ps=10**11, when_ns=7, id=f"r{i}", report=f"runs/r{i}") for i in range(30)],
                       "nothing before": [make_history.run_of("job", i, idle_ps=0 if i else 10**9) for i in range(9)]}.items():
        document, _ = tell(folder / "small", rows)
        tap.ok(not problems(validator, document), f"{name}: it keeps to the schema", *problems(validator, document))


def check_noise(tap, folder):
    """Of jobs that did not change hardly one is told to have got worse (docs/night.md)."""
    rows = [make_history.run_of(f"job {j:03}", ago, 100 + j, random.Random(f"{j} {ago}")) for j in range(200) for ago in range(24)]
    document, _ = tell(folder / "noise", rows)
    tap.ok(document["counts"]["worse"] <= 10, "of 200 jobs without a change at most one in twenty is told to be worse", document["counts"])
    worse = [make_history.run_of(f"job {j:03}", ago, (100 + j) * (1.06 if ago == 0 else 1), random.Random(f"{j} {ago}"))
             for j in range(200) for ago in range(24)]
    document, _ = tell(folder / "noise", worse)
    tap.ok(document["counts"]["worse"] >= 190, "of 200 jobs with steps 6% longer at least 190 are told", document["counts"])


def check_regressions(tap, folder, validator):
    """A regression stays on the page until the figure is back; another device starts its own series."""
    levels = {"stays": lambda ago: 106 if ago < 9 else 100, "is back": lambda ago: 106 if 5 <= ago < 12 else 100, "tonight": lambda ago: 120 if ago == 0 else 100,
              "drifts": lambda ago: 100 * 1.004 ** (30 - ago), "varies": lambda ago: 100, "improves": lambda ago: 94 if ago < 9 else 100,
              "on other devices": lambda ago: 120 if ago < 5 else 100}
    rows = [make_history.run_of(job, ago, level(ago), random.Random(f"{job} {ago}"), **({"model": "NVIDIA A100"} if job == "on other devices" and ago < 5 else {}))
            for job, level in levels.items() for ago in range(30, -1, -1)]
    document, _ = tell(folder / "regressions", rows)
    tap.ok(not problems(validator, document), "open regressions keep to the schema", *problems(validator, document))
    steps = {r["job"]: r for r in document["regressions"] if r["figure"] == "step_time_ps"}
    tap.ok(set(steps) == {"stays", "tonight", "drifts"}, "those that are not back are open", *steps)
    tap.ok(steps["stays"]["since"] == make_history.night_of(8) and 5 < steps["stays"]["change"] < 7 and steps["stays"]["runs"] == 9,
           "since the night that it happened, by as much", steps["stays"])
    good = [r for r in rows if r["job"] == "stays" and r["night"] == make_history.night_of(9)]
    tap.ok(steps["stays"]["good_id"] == good[0]["id"], "after the last good run", steps["stays"]["good_id"])
    tap.ok(steps["drifts"]["kind"] == "drift" and steps["stays"]["kind"] == "step", "a drift is told from a step")
    tap.ok(steps["tonight"]["state"] == "opened" and steps["stays"]["state"] == "open" and document["regressions"][0]["state"] == "opened",
           "what this night opened comes first", *[r["state"] for r in document["regressions"]])
    counts = document["counts"]
    tap.ok(counts["regressions_open"] == len(document["regressions"]) and
           counts["regressions_opened"] == sum(r["state"] == "opened" for r in document["regressions"]), "they are counted", counts)
    states = {job["job"]: job["state"] for job in document["jobs"]}
    tap.ok(states["stays"] == "same", "although the comparison with the last runs has forgotten it", states["stays"])
    steps = [make_history.run_of("checkpoints", 0, 106 if step > 8 else 100, random.Random(step), step=1000 * step, training="run", id=f"step-{step}",
                                 when_ns=make_history.when_of(0, 600 * step), report=f"runs/step-{step}") for step in range(1, 17)]
    training, _ = tell(folder / "training", steps)
    tap.ok([(r["id"], r["good_id"]) for r in training["regressions"] if r["figure"] == "step_time_ps"] == [("step-9", "step-8")],
           "the checkpoints of one training run are a series", *training["regressions"])
    late = [row for row in rows if row["night"] != make_history.night_of(4)] + [row for row in rows if row["night"] == make_history.night_of(4)]
    again, _ = tell(folder / "late", late)
    tap.ok(again["regressions"] == document["regressions"], "a late night changes nothing of it")


def check_many(tap, folder, validator):
    rows = []
    for j in range(300):
        for ago in range(400):
            rng = random.Random(1000 * j + ago)
            level = 100 * (1.1 if j % 3 == 0 and ago < 90 else 1) * (1.2 if j % 7 == 0 and ago == 0 else 1)
            row = make_history.run_of(f"team-{j % 9}/job-{j:03}", ago, level, rng)
            rows.append(row if rng.random() > 0.01 else make_history.failed(row, "out of time"))
    document, peak = tell(folder / "many", rows)
    sizes = {name: (folder / "many" / name).stat().st_size for name in FILES}
    tap.ok(not problems(validator, document), "300 jobs of 400 nights keep to the schema", *problems(validator, document))
    tap.ok(peak < 32 * MIB, "in bounded memory", peak)
    tap.ok(sizes["index.html"] < 4 * MIB and sizes["index.json"] < 12 * MIB and sizes["index.pdf"] < 4 * MIB and sizes["index.md"] < 64 << 10,
           "into files that open", sizes)
    tap.ok(len(document["jobs"]) == 300 and len({t["job"] for t in document["trends"]}) <= 24 and len(document["trends"]) <= 48,
           "with charts of those that matter most", len(document["trends"]))
    tap.ok(document["left_out"]["jobs_without_trend"] == 300 - len({t["job"] for t in document["trends"]}), "and the others are counted")
    capped, _ = tell(folder / "many", rows, 20)
    tap.ok(len(capped["jobs"]) == 20 and capped["left_out"]["jobs"] == 280 and len(capped["runs"]) == 20 and capped["left_out"]["runs"] == 280,
           "--rows caps the lists, and what is left out is counted", capped["left_out"])
    tap.ok(capped["counts"] == document["counts"] and capped["verdict"] == document["verdict"], "and no figure")


def check_hostile(tap, folder, validator):
    """Texts that mean harm in every field of a row."""
    bad = {"markup": texts.MARKUP, "controls": texts.CONTROLS.replace(b"\0", b""), "address": texts.ADDRESS, "long": b"W\xe2\x80\xae\"" * 1700,
           "script": b"javascript:alert(1)", "path": b"../../../etc/passwd", "host": b"//evil.example/x"}
    fields = ("name", "path", "revision", "label", "message", "platform", "model", "verdict", "severity", "finding", "gates")
    for how, raw in bad.items():
        text = raw.decode("utf-8", "replace")
        rows = [make_history.run_of("job", ago, 100 if ago else 130, **{f: text for f in fields}) | {"job": text[:80]}
                for ago in range(30)]
        rows.append(make_history.failed(make_history.run_of("other", 0), text) | {"label": text})
        document, _ = tell(folder / "hostile", rows)
        tap.ok(not problems(validator, document), f"{how}: it keeps to the schema", *problems(validator, document))
        page = (folder / "hostile" / "index.html").read_text("utf-8")
        links = re.findall(r'(?:href|src)="([^"#]*)"', page) + re.findall(r"\]\(([^)]*)\)", (folder / "hostile" / "index.md").read_text("utf-8"))
        tap.ok(not [link for link in links if link and not re.fullmatch(r"[A-Za-z0-9._/-]+", link)], f"{how}: no link of it", *links[:5])
        reports = {f"{row['report']}/report.html" for row in rows if "report" in row}
        tap.ok(set(links) - {""} <= reports, f"{how}: links lead to reports alone", *sorted(set(links) - reports)[:5])


def check_merge(tap, folder):
    """The verb itself writes them."""
    import make_profile  # noqa: PLC0415
    for night in (19, 20, 21):
        place = folder / "in" / "train" / f"2026-11-{night}"
        place.mkdir(parents=True)
        (place / "host.xplane.pb").write_bytes(make_profile.gpu(seed=night, steps=8).encode())
    result = run("batch", folder / "in", "-o", folder / "out", "-q", "--format", "html,pdf,json,text,markdown,csv", cwd=folder)
    tap.ok(result.status == 0, "batch", result)
    document = json.loads((folder / "out" / "index.json").read_text("utf-8"))
    tap.ok(document["night"] == "2026-11-21" and document["counts"]["history_runs"] == 3,
           "batch writes the night", document["night"], document["counts"])
    reports = [job["report"] for job in document["jobs"]]
    tap.ok(reports and all((folder / "out" / path).exists() for path in reports), "its links lead to files that are there", *reports)
    absent = [name for name in (*FILES, "csv/index.csv") if not (folder / "out" / name).exists()]
    tap.ok(not absent, "in all formats", *absent)


def main():
    tap = Tap()
    validator = validator_of(tap, "night")
    tap.ok(not validator.is_valid({}), "the schema refuses an empty object")
    with Scratch() as folder:
        rows = check_story(tap, folder, validator)
        check_same_bytes(tap, folder, rows)
        check_small(tap, folder, validator)
        check_noise(tap, folder)
        check_regressions(tap, folder, validator)
        check_many(tap, folder, validator)
        check_hostile(tap, folder, validator)
        check_merge(tap, folder)
    tap.done()


if __name__ == "__main__":
    main()
