# SPDX-License-Identifier: Apache-2.0
"""A pytest plugin: limits of performance as tests.

    def test_step(tracemill_gate, tmp_path):
        with tracemill.profile(tmp_path) as p:
            ...
        tracemill_gate(p, {"figure": "step_time", "max": "20ms"})

Without gates in the call, those of the file that --tracemill-gate or the setting tracemill_gate names are judged.
"""

from __future__ import annotations

import json
import os
import tempfile
from typing import Any, Dict, Mapping, Optional, Union

import pytest

from ._profile import Profile
from ._program import Path_, run_json
from ._results import Report


class Gate:
    """The fixture.  Fails the test where a limit is passed, and where one cannot be evaluated."""

    def __init__(self, file: Optional[str], baseline: Optional[str]) -> None:
        self.file, self.baseline = file, baseline

    def __call__(self, run: Union[Path_, Profile, Report], *gates: Mapping[str, Any], baseline: Union[Path_, Report, None] = None) -> Dict[str, Any]:
        """Judges a run: a recording, a report or a path.  out: the result, as schemas/CHECK.md describes it"""
        judged = run.report() if isinstance(run, Profile) else run
        path = judged.path if isinstance(judged, Report) else os.fspath(judged)
        against = baseline.path if isinstance(baseline, Report) else baseline or self.baseline
        words = ["--baseline", os.fspath(against)] if against else []
        if gates:
            with tempfile.TemporaryDirectory(prefix="tracemill.") as folder:
                file = os.path.join(folder, "gates.json")
                with open(file, "w", encoding="utf-8") as out:
                    json.dump({"gates": list(gates)}, out)
                result = run_json("check", path, "--gate", file, *words, accept=(0, 1, 4))
        elif self.file:
            result = run_json("check", path, "--gate", self.file, *words, accept=(0, 1, 4))
        else:
            raise pytest.UsageError("tracemill_gate: no gates: pass them, or name a file with --tracemill-gate FILE")
        wrong = [g for g in result["gates"] if g["status"] in ("failed", "unknown")]
        if wrong or result["counts"]["failed"] or result["counts"]["unknown"]:
            pytest.fail("\n".join([result["verdict"]["text"], *map(_line, wrong)]), pytrace=False)
        return result


def _line(gate: Mapping[str, Any]) -> str:
    if gate["status"] == "unknown":
        return f"  {gate['title'] or gate['figure']}: cannot be evaluated: {gate['why']}"
    against = f", baseline {gate['baseline_text']}" if gate["baseline_text"] else ""
    return f"  {gate['title'] or gate['figure']}: {gate['value_text']}, {gate['rule']} {gate['limit_text']}{against}"


def pytest_addoption(parser: Any) -> None:
    group = parser.getgroup("tracemill", "limits of performance")
    group.addoption("--tracemill-gate", metavar="FILE", help="gate file of the fixture tracemill_gate")
    group.addoption("--tracemill-baseline", metavar="PATH", help="summary, report or profile that gates compare with")
    parser.addini("tracemill_gate", "gate file of the fixture tracemill_gate")
    parser.addini("tracemill_baseline", "summary, report or profile that gates compare with")


@pytest.fixture
def tracemill_gate(request: Any) -> Gate:
    """Judges runs by limits: see tracemill.pytest_plugin."""
    config = request.config

    def chosen(name: str) -> Optional[str]:
        value = config.getoption(f"--{name.replace('_', '-')}") or config.getini(name)
        return os.path.join(str(config.rootpath), value) if value else None
    return Gate(chosen("tracemill_gate"), chosen("tracemill_baseline"))
