# SPDX-License-Identifier: Apache-2.0
"""Reports on JAX, PyTorch and TPU profiles: a thin layer over the tracemill program.

    import tracemill
    run = tracemill.report("logs/", latest=True)
    run.verdict                            # what slows the run down, in a sentence
    run.findings                           # the findings, by potential savings
    run.figures["step_time"].value
    run.table("kernels", top=10, sort="-total_ps").to_pandas()
    run.save("report.html")                # or .pdf, .txt, .md, .json, .pftrace
    run.open()                             # in the browser, with links into the trace in Perfetto
    tracemill.compare("before/", run).verdict

No figure is computed here: all of them are the program's.
"""

from ._profile import Profile, profile
from ._program import TracemillError, program
from ._results import Comparison, Figure, Finding, Report, Served, Table, Verdict, compare, report

__all__ = ["Comparison", "Figure", "Finding", "Profile", "Report", "Served", "Table", "TracemillError", "Verdict", "compare", "profile",
           "program", "report", "version"]


def version() -> str:
    """The version of the program."""
    from ._program import run_json
    return str(run_json("version")["version"])
