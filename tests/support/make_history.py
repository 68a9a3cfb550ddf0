# SPDX-License-Identifier: Apache-2.0
"""Histories of made batches, as the lines that `batch export` prints: the same ones from the same seed."""

import datetime
import json
import random

MS = 10**9  # picoseconds
DAY_NS = 86400 * 10**9
LAST = datetime.date(2026, 11, 21)


def night_of(ago):
    return (LAST - datetime.timedelta(days=ago)).isoformat()


def when_of(ago, second=7200):
    midnight = datetime.datetime(LAST.year, LAST.month, LAST.day, tzinfo=datetime.timezone.utc)
    return int(midnight.timestamp()) * 10**9 - ago * DAY_NS + second * 10**9


def run_of(job, ago, step_ms=100.0, rng=None, **more):
    """One run: its figures follow from the step time."""
    rng = rng or random.Random(f"{job} {ago}")
    noisy = lambda value, share=0.006: value * (1 + share * rng.gauss(0, 1))  # noqa: E731
    safe = "".join(c if c.isascii() and (c.isalnum() or c in "._-") else "-" for c in job)[:40]
    name = f"{safe}-{night_of(ago)}-{rng.getrandbits(64):016x}"
    step = noisy(step_ms)
    row = {
        "id": name, "name": f"run of {night_of(ago)}", "path": f"{safe}/{night_of(ago)}", "job": job, "night": night_of(ago),
        "when_ns": when_of(ago), "revision": f"{(400 - ago) // 3 * 2654435761 % 2**28:07x}", "status": "done",
        "report": f"runs/{name}", "platform": "gpu", "model": "NVIDIA H100", "hosts": 1, "devices": 8,
        "verdict": "The device computes most of the time.", "severity": "good", "finding": "Exposed collectives take 8% of the window",
        "fingerprint": "0" * 16, "options": "0" * 16, "version": "0.1.0", "definitions": 2,
        "step_time_ps": round(step * MS), "step_p95_ps": round(noisy(step * 1.08) * MS), "device_utilization_pct": noisy(86, 0.004),
        "mfu_pct": noisy(30 + 1000 / step_ms, 0.004), "compute_ps": round(noisy(step * 0.74) * MS),
        "exposed_collective_ps": round(noisy(step * 0.12, 0.02) * MS), "exposed_copy_ps": round(noisy(step * 0.02, 0.05) * MS),
        "idle_ps": round(noisy(step * 0.12, 0.03) * MS), "idle_launch_ps": round(noisy(step * 0.05, 0.05) * MS),
        "compile_time_ps": round(noisy(21000, 0.03) * MS), "peak_memory_bytes": round(61 * 2**30 + step_ms * 2**20),
        "kernels_per_step": 1843, "launches_per_step": 1890, "steps": 20, "events_read": 412345,
    }
    row.update(more)
    return {key: value for key, value in row.items() if value is not None}


def failed(row, message, status="failed"):
    kept = ("id", "name", "path", "job", "night", "when_ns", "revision", "fingerprint", "options", "version", "definitions", "training", "step")
    return {key: row[key] for key in kept if key in row} | {"status": status, "message": message}


def story(nights=60):
    """A batch of which something is to be told: jobs that got worse and better, failed, are new, missing, young, periodic."""
    rows = []
    for ago in range(nights - 1, -1, -1):
        rng = random.Random(ago)
        rows.append(run_of("llama-70b/pretrain", ago, 152 if ago else 171, rng, finding="Idle for launches takes 9% of the window"))
        rows.append(run_of("resnet50/imagenet", ago, 81 if ago > 25 else 70 if ago > 9 else 76, rng))
        rows.append(run_of("bert-large/phase2", ago, 44.5 if ago else 39, rng))
        t5 = run_of("t5-xxl/finetune", ago, 210, rng)
        rows.append(failed(t5, "the worker was killed by signal 9 (out of memory?)") if ago in (0, 12, 13) else t5)
        if ago:
            rows.append(run_of("diffusion/sdxl", ago, 333, rng))
        gemma = run_of("gemma-2b/sft", ago, 28, rng)
        if ago == 0:
            gemma["peak_memory_bytes"] = round(gemma["peak_memory_bytes"] * 1.13)
        rows.append(gemma)
        rows.append(run_of("vit-h14/linear-probe", ago, 12.4, rng))
        if ago < 2:
            rows.append(run_of("mamba-3b/pretrain", ago, 64, rng))
    rows.append(run_of("moe-8x7b/pretrain", 0, 97))
    rows.append(failed(run_of("whisper-v3/decode", 0), "'whisper.xplane.pb' is empty (0 bytes)", "refused"))
    rows.append(run_of("clip-b32/train", 0, 18, status="partial", message="2 of 8 files are cut short"))
    for step in range(1, 31):
        rows.append(run_of("gpt-3b/periodic", 0, 55 if step < 19 else 59, random.Random(step), step=1000 * step,
                           training="gpt-3b/2026-11-20", when_ns=when_of(0, 600 * step), id=f"gpt-3b-step-{step}",
                           name=f"step_{1000 * step}", report=f"runs/gpt-3b-step-{step}"))
    return rows


def write(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
