#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The document of a night, from made histories: it keeps to its schema, and judges each figure by the runs that count; the same bytes for the
same rows; bounded for many jobs and nights; nothing that a row says becomes a link."""

import json
import random
import re
import statistics
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import hostile_texts as texts  # noqa: E402
import make_history  # noqa: E402
from nights import FILES, NIGHT, tell  # noqa: E402
from schemas import problems, validator_of  # noqa: E402
from tap import Tap  # noqa: E402
from tracemill import Scratch, run  # noqa: E402

MIB = 1 << 20


# --- which runs are watched ---

LEAST = {"step_time_ps": 2, "compute_ps": 2, "exposed_collective_ps": 5, "idle_ps": 5, "compile_time_ps": 10, "peak_memory_bytes": 1}
SHARES = {"device_utilization_pct": 1, "mfu_pct": 1}
PARTS = ("compute_ps", "exposed_collective_ps", "idle_ps")


def groups_of(rows, figure):
    """The values of a job that count, in time order: of good runs on the hardware of the newest one; those of a night and
    revision together, checkpoints of a training run alone.  [(value, [row])]"""
    good = [row for row in sorted(rows, key=lambda r: (r["when_ns"], r["id"])) if row["status"] == "done"]
    like = [row for row in good if all(row.get(k) == good[-1].get(k) for k in ("model", "hosts", "devices"))]
    groups = {}
    for row in like:
        groups.setdefault((row["night"], row.get("revision"), row.get("step")), []).append(row)
    values = [([row[figure] for row in group if figure in row], group) for group in groups.values()]
    return [(statistics.median(of), group) for of, group in values if of]


def amount_of(rows, figure):
    return 0.01 * statistics.median(value for value, _ in groups_of(rows, "step_time_ps")) if figure in PARTS else SHARES.get(figure, 0)


def text_of(groups):
    return " ".join(repr(float(value)) for value, _ in groups)


def noise_of(rows, figure):
    """Lines of the series of all jobs, of which the noise of each is estimated."""
    jobs = {}
    for row in rows:
        jobs.setdefault(row["job"], []).append(row)
    return "".join(f"~{amount_of(own, figure)!r} {text_of(groups)}\n" for own in jobs.values() if (groups := groups_of(own, figure)))


def watch(rows, figure, noise):
    """(regressions, level, band) by the program that test_watch.py measures."""
    groups = groups_of(rows, figure)
    if not groups:
        return [], None, None
    words = [str(LEAST.get(figure, 0)), repr(amount_of(rows, figure)), "higher" if figure in SHARES else "lower", "together"]
    # The series itself comes last, so it is judged once and counts once.
    mine = f"~{amount_of(rows, figure)!r} {text_of(groups)}\n"
    lines = noise.replace(mine, "", 1) + text_of(groups) + "\n"
    *found, base = subprocess.run([NIGHT.parent / "watch_series", *words], input=lines, capture_output=True, text=True, check=True).stdout.split()
    level, band = map(float, base.split(",")[:2])
    return [(groups[int(start)][1][0]["id"], end) for _, start, _, _, end in (one.split(",") for one in found)], level, band


def check_judgements(tap, name, rows, document):
    wrong = []
    open_ones = {(r["job"], r["figure"]): r for r in document["regressions"]}
    noise = {figure: noise_of(rows, figure) for figure in (*LEAST, *SHARES)}
    for job in document["jobs"]:
        own = [r for r in rows if r["job"] == job["job"]]
        if job["state"] in ("failed", "absent", "partial"):
            continue
        for figure, has in job["figures"].items():
            found, level, band = watch(own, figure, noise[figure])
            is_open = bool(found) and found[-1][1] == "open"
            record = open_ones.get((job["job"], figure))
            if is_open != (record is not None) or (is_open and record["id"] != found[-1][0]) or is_open != (has["state"] == "worse"):
                wrong.append(f"{job['job']} {figure}: {record}, wants {found}")
            elif level is None or level != level or has["value"] is None:
                if has["state"] != "not_judged" or has["before"] is not None:
                    wrong.append(f"{job['job']} {figure}: {has}")
            elif abs(has["band"] - band) > 1e-9 * band or (has["state"] == "same" and abs(has["before"] - level) > 1e-9 * abs(level)):
                wrong.append(f"{job['job']} {figure}: {has}, wants {level} {band}")
    tap.ok(not wrong, f"{name}: each figure is judged by the runs that count", *wrong[:5])


# --- histories ---

def check_story(tap, folder, validator):
    rows = make_history.story()
    document, _ = tell(folder / "story", rows)
    tap.ok(not problems(validator, document), "the story keeps to the schema", *problems(validator, document))
    check_judgements(tap, "the story", rows, document)
    states = {job["job"]: job["state"] for job in document["jobs"]}
    wants = {"t5-xxl/finetune": "failed", "whisper-v3/decode": "failed", "llama-70b/pretrain": "worse", "gemma-2b/sft": "worse",
             "diffusion/sdxl": "absent", "clip-b32/train": "partial", "bert-large/phase2": "better", "moe-8x7b/pretrain": "new",
             "mamba-3b/pretrain": "not_judged", "gpt-3b/periodic": "worse", "resnet50/imagenet": "worse", "vit-h14/linear-probe": "same"}
    tap.ok(states == wants, "the story: each job stands as it was made", states)
    tap.ok(list(states)[:3] == ["t5-xxl/finetune", "whisper-v3/decode", "llama-70b/pretrain"], "what matters most comes first", list(states))
    counts = {word: sum(row["status"] == word and row["night"] == "2026-11-21" for row in rows) for word in ("done", "failed", "refused", "partial")}
    tap.ok(all(document["counts"][word] == count for word, count in counts.items()), "runs are counted", counts, document["counts"])
    tap.ok(document["counts"]["runs"] == len(document["runs"]) == sum(counts.values()), "all runs of the night are listed")
    tap.ok([f["id"] for f in document["findings"]] == ["night_failed", *["night_worse"] * 4, "night_absent"], "findings are in order")
    figures = [r["figure"] for r in document["regressions"] if r["job"] == "llama-70b/pretrain"]
    tap.ok(figures[:2] == ["step_time_ps", "compute_ps"], "of a job, its step time comes before other figures", *figures)
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
    tap.ok(states == {"stays": "worse", "tonight": "worse", "drifts": "worse", "is back": "same", "varies": "same", "improves": "same",
                      "on other devices": "same"}, "and decide the states of jobs", states)
    steps = [make_history.run_of("checkpoints", 0, 106 if step > 8 else 100, random.Random(step), step=1000 * step, training="run", id=f"step-{step}",
                                 when_ns=make_history.when_of(0, 600 * step), report=f"runs/step-{step}") for step in range(1, 17)]
    training, _ = tell(folder / "training", steps)
    tap.ok([(r["id"], r["good_id"]) for r in training["regressions"] if r["figure"] == "step_time_ps"] == [("step-9", "step-8")],
           "the checkpoints of one training run are a series", *training["regressions"])
    late = [row for row in rows if row["night"] != make_history.night_of(4)] + [row for row in rows if row["night"] == make_history.night_of(4)]
    again, _ = tell(folder / "late", late)
    tap.ok(again["regressions"] == document["regressions"], "a late night changes nothing of it")


def check_machines(tap, folder, validator):
    """A machine that is slow each time is a finding of its own; a job that varies much is listed with what helps."""
    rows = []
    for ago in range(29, -1, -1):
        slow = ago % 5 == 0
        for job in ("a", "b"):
            rows.append(make_history.run_of(job, ago, 125 if slow else 100, random.Random(f"{job} {ago}"), host="node-7" if slow else f"node-{ago % 3}"))
        rows.append(make_history.run_of("noisy", ago, 100 * (1 + 0.12 * random.Random(f"noise {ago}").gauss(0, 1)), host="node-1"))
        host = random.Random(f"host {ago}").randrange(3)
        rows.append(make_history.run_of("by host", ago, 100 + 12 * (host > 0), host=f"m-{host}"))
    document, _ = tell(folder / "machines", rows)
    tap.ok(not problems(validator, document), "slow hosts and unstable jobs keep to the schema", *problems(validator, document))
    tap.ok([(m["host"], m["jobs"], m["runs"], round(m["slower_pct"])) for m in document["machines"] if m["host"] == "node-7"] == [("node-7", 2, 12, 25)],
           "a host that is slow every fifth night is found", document["machines"])
    tap.ok([f for f in document["findings"] if f["id"] == "night_machine" and "node-7" in f["title"]], "and a finding", document["findings"])
    tap.ok(not [r for r in document["regressions"] if r["job"] in "ab"] and {j["job"]: j["state"] for j in document["jobs"]}["a"] == "same",
           "and no regression of the jobs", document["regressions"])
    unstable = {u["job"]: u for u in document["unstable"]}
    tap.ok("a" not in unstable and 5 < unstable["noisy"]["spread_pct"] < 20 and "runs a night" in unstable["noisy"]["remedy"],
           "a noisy job is unstable, and more runs would help", document["unstable"])
    tap.ok("by host" not in unstable or "--series-by host" in unstable["by host"]["remedy"], "of one that differs by host, the host", document["unstable"])


def check_many(tap, folder, validator):
    rows = []
    for j in range(300):
        for ago in range(150):
            rng = random.Random(1000 * j + ago)
            level = 100 * (1.1 if j % 3 == 0 and ago < 90 else 1) * (1.2 if j % 7 == 0 and ago == 0 else 1)
            row = make_history.run_of(f"team-{j % 9}/job-{j:03}", ago, level, rng)
            rows.append(row if rng.random() > 0.01 else make_history.failed(row, "out of time"))
    document, peak = tell(folder / "many", rows)
    sizes = {name: (folder / "many" / name).stat().st_size for name in FILES}
    tap.ok(not problems(validator, document), "300 jobs of 150 nights keep to the schema", *problems(validator, document))
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
        check_machines(tap, folder, validator)
        check_many(tap, folder, validator)
        check_hostile(tap, folder, validator)
        check_merge(tap, folder)
    tap.done()


if __name__ == "__main__":
    main()
