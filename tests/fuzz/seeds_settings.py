# SPDX-License-Identifier: Apache-2.0
"""Seeds of fuzz_settings: a byte that tells which reader, then what it reads."""

import json
from pathlib import Path

CONFIG, THRESHOLDS, FILTER, PATTERN, SIZE, TIME, RANGE, OPERAND, KEYS = range(9)
SCHEMAS = Path(__file__).resolve().parents[2] / "schemas"


def configs():
    yield {"memory": "512M", "rows": 20, "verbose": 1, "color": "never", "strict": True}
    yield {"format": "html,pdf", "title": "a\u00e9\n", "gap_min": "10us", "filter": ["device=gpu", "step=3:7"], "fail_on": ["steps.median_ps>+5%"]}
    yield {"memory": 5, "steps": "all", "skip_steps": "2", "window": "1s:2s", "unknown": {}, "paper": "letter"}


def thresholds():
    whole = json.loads((SCHEMAS / "thresholds.json").read_text())
    yield whole
    yield {key: (rows[:2] if isinstance(rows, list) else dict(list(rows.items())[:2]) if isinstance(rows, dict) else rows)
           for key, rows in whole.items()}


EXPRESSIONS = {
    FILTER: ("time=1.5s:2s", "device=host/gpu:0", "step=3:7", "name=[a-z]*", "name!=x?", "min=10us", "class=kernel", "track=*", "class=x"),
    PATTERN: ("*a*b?\nxxaxxbz", "[!a-c]\\*\nxd*", "a**b\na", "?\n\u00e9", "[]a-]\n]", "\\\\\n\\"),
    SIZE: ("512M", "1GiB", "18446744073709551615", "9223372036854775807", "8k", "0", "8589934592G"),
    TIME: ("10us", "1.000000000001s", "0", "9223372.036854775807s", "1.5 s", "3\u00b5s", "00.10ns", "9223372.036854775808s"),
    RANGE: ("3:7", ":", "3:", ":7", "18446744073709551615:18446744073709551616"),
    OPERAND: ("a=b", "=x", "a/b=c", "x", "label=", "\u00e9\n=path=2"),
    KEYS: ("{job}/{night}/{}\nnight=2026-01-02\nllama/2026-11-01/run", "\n\nexp3/2026_11_21_03_04_05/ckpt_20/3f2a91c",
           "{job}-{step}/{label}x{revision}\njob=a\na-10/bx1234567", "\nwarm\n2026/11/01/x", "*{job}\nstep=5\n\u00e9"),
}


def seeds():
    out = {f"config-{i}": bytes([CONFIG]) + json.dumps(c).encode() for i, c in enumerate(configs())}
    out.update({f"thresholds-{i}": bytes([THRESHOLDS]) + json.dumps(t).encode() for i, t in enumerate(thresholds())})
    for which, texts in EXPRESSIONS.items():
        out.update({f"expression-{which}-{i}": bytes([which]) + text.encode() for i, text in enumerate(texts)})
    return out
