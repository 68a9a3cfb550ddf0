# SPDX-License-Identifier: Apache-2.0
"""Profiling with the profiler of the framework that the program uses."""

from __future__ import annotations

import contextlib
import os
import sys
from pathlib import Path
from types import TracebackType
from typing import Any, ContextManager, Optional, Set, Type

from ._program import Path_, TracemillError
from ._results import Report, report

ENDINGS = (".xplane.pb", ".json", ".json.gz")


class Profile:
    """What `profile()` gives: a recording, then its report."""

    def __init__(self, logdir: Path_, framework: Optional[str] = None) -> None:
        self.logdir = os.fspath(logdir)
        # The framework that the program has imported; both: the one that is named.
        loaded = [name for name in ("jax", "torch") if name in sys.modules]
        self.framework = framework or (loaded[0] if loaded else "jax")
        if self.framework not in ("jax", "torch"):
            raise ValueError(f"framework is 'jax' or 'torch', not {framework!r}")
        self._recording: Any = None
        self._before: Set[Path] = set()
        self._step = 0

    def _traces(self) -> Set[Path]:
        return {path for path in Path(self.logdir).rglob("*") if path.name.endswith(ENDINGS)}

    def __enter__(self) -> "Profile":
        self._before = self._traces()
        if self.framework == "jax":
            import jax  # type: ignore[import-not-found,unused-ignore]
            jax.profiler.start_trace(self.logdir)
        else:
            import torch.profiler  # type: ignore[import-not-found,unused-ignore]
            self._recording = torch.profiler.profile(on_trace_ready=torch.profiler.tensorboard_trace_handler(self.logdir))
            self._recording.__enter__()
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]) -> None:
        if self.framework == "jax":
            import jax
            jax.profiler.stop_trace()  # type: ignore[no-untyped-call,unused-ignore]
        else:
            self._recording.__exit__(kind, error, trace)

    def step(self) -> ContextManager[Any]:
        """Marks a training step: `with p.step(): train()`."""
        number, self._step = self._step, self._step + 1
        if self.framework == "jax":
            import jax
            marked: ContextManager[Any] = jax.profiler.StepTraceAnnotation("train", step_num=number)
            return marked
        import torch.profiler
        stack = contextlib.ExitStack()
        stack.enter_context(torch.profiler.record_function(f"ProfilerStep#{number}"))
        return stack

    @property
    def traces(self) -> Set[Path]:
        """The files that this recording wrote."""
        return self._traces() - self._before

    def report(self, **options: Any) -> Report:
        """The report of what was recorded."""
        found = self.traces
        if not found:
            raise TracemillError(f"there is no trace in '{self.logdir}'", 3, "the profiler wrote none: call report() after the with block")
        # An xplane.pb has all that the JSON beside it has, and more.
        best = [path for path in found if path.name.endswith(".xplane.pb")] or [p for p in found if p.name != "perfetto_trace.json.gz"] or list(found)
        return report(*sorted(best), **options)


def profile(logdir: Path_, framework: Optional[str] = None) -> Profile:
    """Records what happens in the block with jax.profiler or torch.profiler:

        with tracemill.profile("logs") as p:
            for batch in data:
                with p.step():
                    state = train_step(state, batch)
            jax.block_until_ready(state)
        p.report().save("report.html")
    """
    return Profile(logdir, framework)
