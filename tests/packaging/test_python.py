#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The Python package: what it gives is what the program prints; its errors are the program's words.

`make test-packaging` installs the wheel in fresh environments, records with the real JAX, and runs a notebook.
"""

import json
import os
import platform
import subprocess
import sys
import textwrap
import urllib.request
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import make_profile  # noqa: E402
import make_pytorch  # noqa: E402
from tap import Tap  # noqa: E402
from tracemill import BINARY, BUILD, DEMO, ROOT, Scratch, run  # noqa: E402

sys.modules.pop("tracemill")  # the tests' own module has the name of the package
sys.path.insert(0, str(ROOT / "scripts" / "python"))
sys.dont_write_bytecode = True
os.environ["TRACEMILL_PROGRAM"] = str(BINARY)
import tracemill  # noqa: E402
from tracemill import _program  # noqa: E402

PYTHON = BUILD / "packaging" / "bin" / "python"


def printed(*words):
    return json.loads(run(*words, "--json", "-q").out)


def refused(tap, name, call, check):
    try:
        result = call()
    except tracemill.TracemillError as error:
        tap.ok(check(error), name, repr(error.message), error.hint, error.status)
    else:
        tap.ok(False, name, f"no exception, but {result!r}")


def script(folder, name, text):
    path = folder / name
    path.write_text("#!/bin/sh\n" + text)
    path.chmod(0o755)
    return str(path)


def check_report(tap, folder):
    made = tracemill.report(DEMO)
    brief, findings = printed("brief", DEMO), printed("show", DEMO, "findings")["rows"]
    tap.ok(made.verdict == brief["verdict"]["text"] and made.verdict.severity == brief["verdict"]["severity"], "verdict", repr(made))
    tap.ok([f.row for f in made.findings] == findings and made.findings[0].title == findings[0]["title"] and made.findings[0].fix,
           "findings: those of the program, with their fixes", made.findings)
    figures = printed("show", DEMO, "figures")["rows"]
    tap.ok(all(made.figures[row["path"]].value == row["value"] for row in figures), "figures: each by its path")
    step = next(row for row in brief["key_figures"] if row["id"] == "step_time")
    tap.ok(made.figures["step_time"].value == step["value"] and made.figures["step_time"].unit == "ps", "figures: key figures by id", step)
    want = printed("show", DEMO, "kernels", "--where", "count > 1", "--sort", "-max_ps", "--top", "3", "--fields", "name,max_ps")
    got = made.table("kernels", where="count > 1", sort="-max_ps", top=3, fields=["name", "max_ps"])
    tap.ok(list(got) == want["rows"] and got.left_out == want["left_out"] and len(got) == 3, "table: rows, and what was left out", got)
    tap.ok("kernels" in made.tables(), "tables: names them")
    rows = made.table("kernels", top=60)
    shown = rows._repr_html_()
    rows[0] = dict(rows[0], name="<script>")
    tap.ok(len(rows) > 50 and shown.count("<tr>") == 51 and f"<p>{len(rows) - 50} more rows</p>" in shown and "<th title=" in shown and ">grid</th>" not in shown
           and f"<td>{rows[1]['total_ps']}</td>" in shown and "<script>" not in rows._repr_html_() and "&lt;script&gt;" in rows._repr_html_(),
           "in a notebook: a table has its first rows, and no column without values", shown[:300])
    empty = made.table("kernels", where="count > 1000000000")
    tap.ok(not empty and empty._repr_html_().startswith("<p>"), "in a notebook: no rows are said to be none", empty._repr_html_())
    sql = "select name, count(*) as n from events group by name order by n desc, name limit 3"
    tap.ok(made.query(sql) == printed("query", DEMO, sql)["rows"] and len(made.query(sql)) == 3, "query: the rows of a SELECT over the events")
    run("report", DEMO, "-o", folder / "whole", "--format", "html,text,markdown", "-q")
    for suffix, name in ((".txt", "report.txt"), (".md", "report.md"), (".html", "report.html")):
        saved = made.save(folder / f"saved{suffix}").read_text(encoding="utf-8")
        lines = [line for line in (folder / "whole" / name).read_text(encoding="utf-8").splitlines() if line not in saved.splitlines()]
        # The command that makes the report again names the input that was read: the partial.
        tap.ok(len(lines) <= 8 and all(word not in "".join(lines) for word in ("<svg", "| Median step time")), f"save: {name} of the program", *lines)
    tap.ok(made.save(folder / "x.pdf").read_bytes().startswith(b"%PDF"), "save: a PDF")
    refused(tap, "save: an unknown ending", lambda: made.save(folder / "x.docx"), lambda e: ".html" in e.hint)
    page = made._repr_html_()
    tap.ok(page.startswith("<iframe sandbox") and "&lt;svg" in page and brief["findings"][0]["title"] in page
           and "srcdoc" in page and "<script" not in page and len(page) < 200_000, "in a notebook: verdict, findings and a chart", page[:300])
    with made.open(browser=False) as served:
        with urllib.request.urlopen(served.url) as page:
            told = page.read().decode("utf-8")
        tap.ok(served.url.startswith("http://127.0.0.1:") and "nothing is uploaded" in told.lower() and repr(served.url)[1:-1] in repr(served),
               "open: serves the report", served, told[:300])
    try:
        urllib.request.urlopen(served.url)
        ended = False
    except OSError:
        ended = True
    tap.ok(ended, "open: close ends the server", served)
    run("report", DEMO, "-o", folder / "kept", "--format", "json", "-q")
    again = tracemill.report(folder / "kept")
    tap.ok(again.verdict == made.verdict, "a report's folder is read as it is", again)
    refused(tap, "open: a summary alone", again.open, lambda e: e.status in (2, 3) and e.message)
    refused(tap, "a page of a summary alone", lambda: again.save(folder / "y.html"), lambda e: "summary" in e.message and e.hint)


def check_compare(tap, folder):
    for name, seed in (("one", 2), ("two", 3)):
        (folder / f"{name}.xplane.pb").write_bytes(make_profile.gpu(seed=seed, steps=9).encode())
    made = tracemill.compare(folder / "one.xplane.pb", tracemill.report(folder / "two.xplane.pb"))
    run("compare", folder / "one.xplane.pb", folder / "two.xplane.pb", "-o", folder / "compared", "--format", "json", "-q")
    brief = printed("brief", folder / "compared")
    tap.ok(made.verdict.outcome == brief["verdict"]["verdict"] in ("regression", "improvement", "no_change", "inconclusive"), "compare: the verdict", made)
    tap.ok(made.figures[0]["values"] == printed("show", folder / "compared", "figures")["rows"][0]["values"], "compare: the figures", made.figures[0])
    tap.ok("<svg" in made.save(folder / "c.html").read_text(encoding="utf-8") and "&lt;svg" in made._repr_html_(), "compare: the page")


def check_errors(tap, folder):
    refused(tap, "a missing file: message, hint and status of the program", lambda: tracemill.report(folder / "nosuch"),
            lambda e: e.status == 3 and "No such file" in e.message and "tracemill list" in e.hint and not e.message.startswith("tracemill:"))
    refused(tap, "an unknown option", lambda: tracemill.report(DEMO, nonsense=1), lambda e: e.status == 2 and "nonsense" in e.message)
    refused(tap, "an unknown table", lambda: tracemill.report(DEMO).table("kernelz"), lambda e: "kernelz" in e.message)
    try:
        os.environ["TRACEMILL_PROGRAM"] = script(folder, "killed", "kill -KILL $$\n")
        refused(tap, "a killed program", lambda: tracemill.report(DEMO), lambda e: e.status == 137 and "SIGKILL" in e.message and e.hint)
        os.environ["TRACEMILL_PROGRAM"] = script(folder, "silent", "exit 0\n")
        refused(tap, "a program that prints nothing", lambda: tracemill.report(DEMO), lambda e: "no JSON" in e.message)
        os.environ["TRACEMILL_PROGRAM"] = str(folder / "absent")
        refused(tap, "a program that is not there", lambda: tracemill.report(DEMO), lambda e: e.status == 127 and "absent" in e.message)
        del os.environ["TRACEMILL_PROGRAM"]
        path, os.environ["PATH"] = os.environ["PATH"], str(folder)
        kept, _program.sysconfig.get_path = _program.sysconfig.get_path, lambda *a, **k: str(folder)
        refused(tap, "a platform without a program: says which there are", lambda: tracemill.report(DEMO),
                lambda e: "Linux x86_64" in e.message and "no program" in e.message)
        os.environ["PATH"], _program.sysconfig.get_path = path, kept
    finally:
        os.environ["TRACEMILL_PROGRAM"] = str(BINARY)
    cut = folder / "cut.xplane.pb"
    cut.write_bytes(next(DEMO.rglob("*.xplane.pb")).read_bytes()[:-1000])
    tap.ok(tracemill.report(cut).partial, "a cut file: a report that says it is partial")


PROFILER = """
import contextlib, os, shutil
steps = []
class profile:
    def __init__(self, on_trace_ready): self.ready = on_trace_ready
    def __enter__(self): return self
    def __exit__(self, *_): self.ready(self)
def tensorboard_trace_handler(folder):
    def write(_):
        os.makedirs(folder, exist_ok=True)
        shutil.copy(os.environ["TRACE"], os.path.join(folder, "host_1.2.pt.trace.json"))
    return write
@contextlib.contextmanager
def record_function(name):
    steps.append(name)
    yield
"""


def check_profile(tap, folder):
    """Which profiler is called, and which files are read, with one that copies a trace: PyTorch is a gigabyte."""
    (folder / "torch").mkdir()
    (folder / "torch/__init__.py").write_text("from . import profiler\n")
    (folder / "torch/profiler.py").write_text(PROFILER)
    (folder / "trace.json").write_bytes(make_pytorch.rank_of(0, 1))
    (folder / "logs").mkdir()
    (folder / "logs/older.pt.trace.json").write_text("{}")
    done = subprocess.run([sys.executable, "-c", textwrap.dedent("""
        import torch, tracemill
        with tracemill.profile("logs") as p:
            for _ in range(2):
                with p.step(): pass
        assert torch.profiler.steps == ["ProfilerStep#0", "ProfilerStep#1"], torch.profiler.steps
        print([path.name for path in p.traces], p.report().figures["steps.count"].value)
        q = tracemill.profile("empty", framework="torch")
        try:
            q.report()
        except tracemill.TracemillError as error:
            print(error.status, error.hint)
        """)], cwd=folder, capture_output=True, text=True, check=False,
        env=dict(os.environ, PYTHONPATH=f"{folder}:{ROOT / 'scripts/python'}", TRACE=str(folder / "trace.json"), PYTHONDONTWRITEBYTECODE="1"))
    lines = done.stdout.splitlines()
    tap.ok(done.returncode == 0 and lines[:1] == ["['host_1.2.pt.trace.json'] 5"] and lines[1].startswith("3 the profiler wrote none"),
           "profile: PyTorch's profiler, its steps, and only what this recording wrote", done.stdout, done.stderr)


def check_build(tap, folder):
    """The backend without the network: a platform without make, and the version."""
    sys.path.insert(0, str(ROOT / "scripts" / "python"))
    import tracemill_build
    tap.ok(f"tracemill {tracemill_build.version()}\n" in run("--version").out[:40], "the package has the program's version", tracemill_build.version())
    done = subprocess.run([sys.executable, "-c", "import tracemill_build; tracemill_build.build_wheel('.')"], cwd=folder, capture_output=True,
                          text=True, check=False, env={"PATH": str(folder), "PYTHONPATH": str(ROOT / "scripts/python"), "PYTHONDONTWRITEBYTECODE": "1"})
    tap.ok(done.returncode != 0 and "Linux x86_64" in done.stderr and "no wheel for this platform" in done.stderr,
           "an sdist that cannot be built says which wheels there are", done)
    tracemill_build.write_wheel(folder, BINARY, "x86_64")
    import zipfile
    with zipfile.ZipFile(next(folder.glob("*.whl"))) as wheel:
        names = wheel.namelist()
        mode = wheel.getinfo(next(n for n in names if n.endswith("scripts/tracemill"))).external_attr >> 16
    tap.ok("tracemill/py.typed" in names and mode & 0o111 and not any("Requires-Dist" in line for line in tracemill_build.metadata().splitlines()),
           "the wheel is typed, has the program as a command and needs no package", names)


# --- with the wheel ------------------------------------------------------------------------------------------
def environments():
    """name -> an interpreter: every Python from 3.9 on that is here."""
    found = {}
    for minor in range(9, 15):
        for path in [*sorted(Path.home().glob(f".pyenv/versions/3.{minor}.*/bin/python3.{minor}")), Path(f"/usr/bin/python3.{minor}")]:
            if path.exists() and f"3.{minor}" not in found:
                found[f"3.{minor}"] = path
    return found


def clean():
    return {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "TRACEMILL_PROGRAM")}


def call(*words, **options):
    return subprocess.run([str(w) for w in words], capture_output=True, text=True, check=False, env=clean(), **options)


def check_wheel(tap, folder):
    wheels = sorted((BUILD / "dist").glob("*.whl"))
    machines = [next((m for m in ("aarch64", "x86_64") if f"manylinux_2_17_{m}" in w.name), None) for w in wheels]
    tap.ok(machines == ["aarch64", "x86_64"] and all(w.stat().st_size < 5_000_000 for w in wheels),
           "make release: a wheel for each machine, under 5 MB", wheels)
    for words in (("twine", "check", "--strict", *wheels, BUILD / "dist" / f"tracemill-{tracemill.version()}.tar.gz"), ("check-wheel-contents", *wheels)):
        done = call(PYTHON.parent / words[0], *words[1:])
        tap.ok(done.returncode == 0, f"{words[0]} finds nothing", done.stdout, done.stderr)
    for machine, wheel in zip(machines, wheels):
        shown = call(PYTHON.parent / "auditwheel", "show", wheel)
        tap.ok("requires no external shared libraries" in shown.stdout, f"auditwheel: needs no library of the system: {machine}",
               shown.stdout, shown.stderr)
    wheels = [w for w in wheels if platform.machine() in w.name]
    for name, python in environments().items():
        home = folder / name
        call(python, "-m", "venv", home)
        installed = call(home / "bin/pip", "install", "--no-index", "--disable-pip-version-check", wheels[0])
        told = call(home / "bin/tracemill", "report", DEMO, "-o", home / "out", "-q")
        done = call(home / "bin/python", "-c", f"import tracemill; print(tracemill.report({str(DEMO)!r}).verdict)", cwd=folder)
        same = call(home / "bin/python", "-m", "tracemill", "--version", cwd=folder)
        tap.ok(installed.returncode == 0 and told.returncode == 0 and (home / "out/report.html").exists() and done.stdout.startswith("The CPU")
               and same.stdout == call(home / "bin/tracemill", "--version").stdout,
               f"Python {name}: installed without the network, the command and the package work", installed.stderr, told.stderr, done.stderr)
        last = home
    for under in ("env", BUILD / "tests/old_kernel"):
        place = folder / Path(under).name
        place.mkdir()
        call("env", "SOURCE_DATE_EPOCH=4000000000", under, last / "bin/tracemill", "report", DEMO, "-o", "report", "-q", cwd=place)
    made = [{p.name: p.read_bytes() for p in (folder / name / "report").glob("*")} for name in ("env", "old_kernel")]
    tap.ok(len(made[0]) == 4 and made[0] == made[1] and (last / "bin/tracemill").read_bytes() == (BUILD / "static/tracemill").read_bytes(),
           "the wheel's program is the static one, and writes the same report on Linux 4.18", sorted(made[0]), sorted(made[1]))
    call(PYTHON, "-m", "pip", "install", "--no-index", "--force-reinstall", "--disable-pip-version-check", wheels[0])


def check_sdist(tap, folder):
    """The source archive, built by pip: make builds the program, here quickly and without optimization, and the wheel has it."""
    built = subprocess.run([PYTHON, "-m", "pip", "wheel", "--quiet", "--no-index", "--no-deps", "-w", folder, BUILD / "dist" / f"tracemill-{tracemill.version()}.tar.gz"],
                           capture_output=True, text=True, check=False, env=dict(clean(), OPT="-O0"))
    wheels = sorted(folder.glob("*.whl"))
    call(PYTHON, "-m", "venv", folder / "venv")
    done = [call(folder / "venv/bin/pip", "install", "--no-index", "--disable-pip-version-check", *wheels), call(folder / "venv/bin/tracemill", "--version"),
            call(folder / "venv/bin/python", "-c", f"import tracemill; print(tracemill.report({str(DEMO)!r}).verdict)", cwd=folder)]
    tap.ok(built.returncode == 0 and len(wheels) == 1 and "manylinux" not in wheels[0].name and all(d.returncode == 0 for d in done) and tracemill.version() in done[1].stdout
           and done[2].stdout.startswith("The CPU"), "sdist: pip builds it with make, and what it built works", built.stderr[-2000:], *done)


def check_uvx(tap, folder):
    """`uvx tracemill report LOGDIR`, the first command of the README, with the release as the only index."""
    done = subprocess.run([PYTHON.parent / "uvx", "--offline", "--no-index", "--find-links", BUILD / "dist", "--no-build", "tracemill", "report", DEMO, "-o", "report"],
                          cwd=folder, capture_output=True, text=True, check=False, env=dict(clean(), UV_CACHE_DIR=str(folder / "cache"), UV_PYTHON=sys.executable))
    tap.ok(done.returncode == 0 and (folder / "report/report.html").exists(), "uvx tracemill report", done.stdout, done.stderr)


def check_tools(tap, folder):
    typed = call(PYTHON, "-m", "mypy", "--strict", "--cache-dir", folder / "mypy", "-p", "tracemill", cwd=folder)
    tap.ok(typed.returncode == 0, "mypy --strict: the package is typed", typed.stdout, typed.stderr)
    done = call(PYTHON, "-c", textwrap.dedent(f"""
        import tracemill
        table = tracemill.report({str(DEMO)!r}).table("kernels")
        total = sum(row["total_ps"] for row in table)
        assert int(table.to_pandas()["total_ps"].sum()) == total
        assert int(table.to_polars()["total_ps"].sum()) == total
        assert sum(table.to_arrow()["total_ps"].to_pylist()) == total
        """), cwd=folder)
    tap.ok(done.returncode == 0, "tables: pandas, polars and arrow have the same sums", done.stderr)


TRAINING = """
import jax, jax.numpy as jnp, tracemill
step = jax.jit(lambda x: jnp.tanh(x @ x))
x = jnp.ones((300, 300)); step(x).block_until_ready()
with tracemill.profile({logdir!r}) as p:
    for _ in range(8):
        with p.step():
            x = step(x); x.block_until_ready()
run = p.report()
"""


def check_jax(tap, folder):
    done = call(PYTHON, "-c", TRAINING.format(logdir=str(folder / "logs")) + textwrap.dedent("""
        assert run.figures["steps.count"].value == 8, run.figures["steps.count"]
        assert run.figures["step_time"].value > 0 and run.verdict and run.table("kernels")
        """), cwd=folder)
    tap.ok(done.returncode == 0, "JAX: eight recorded steps are eight steps in the report", done.stderr[-2000:])
    test = folder / "test_speed.py"
    test.write_text("import tracemill\nlogs = %r\ndef test_fast(tracemill_gate):\n    tracemill_gate(tracemill.report(logs, latest=True), {'figure': 'step_time', 'max': '100s'})\n"
                    "def test_slow(tracemill_gate):\n    tracemill_gate(logs, {'figure': 'step_time', 'max': '1ps'})\n"
                    "def test_file(tracemill_gate):\n    tracemill_gate(logs)\n" % str(folder / "logs"))
    (folder / "gates.json").write_text('{"gates": [{"figure": "step_time", "max": "1ps"}]}')
    done = call(PYTHON, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--tracemill-gate", "gates.json", test, cwd=folder)
    tap.ok(done.returncode == 1 and "2 failed, 1 passed" in done.stdout and "Median step time: " in done.stdout and "max 1ps" in done.stdout,
           "pytest: a limit that is passed fails the test, and says which", done.stdout, done.stderr)
    done = call(PYTHON, "-m", "pytest", "-q", "-p", "no:cacheprovider", test, cwd=folder)
    tap.ok("no gates" in done.stdout and "1 passed" in done.stdout, "pytest: no gates at all is an error", done.stdout)


def check_notebook(tap, folder):
    done = call(PYTHON, "-c", textwrap.dedent(f"""
        import json, nbformat
        from nbclient import NotebookClient
        cells = [{TRAINING.format(logdir=str(folder / "nb"))!r}, "run", "tracemill.report({str(folder / 'nosuch')!r})", "run.table('kernels')"]
        book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(c) for c in cells])
        NotebookClient(book, kernel_name="python3", timeout=300, allow_errors=True).execute()
        print(json.dumps([c["outputs"] for c in book.cells]))
        """), cwd=folder)
    try:
        outputs = json.loads(done.stdout.splitlines()[-1])
        shown = outputs[1][0]["data"]
        tap.ok("srcdoc" in shown["text/html"] and "&lt;svg" in shown["text/html"] and shown["text/plain"].startswith("<tracemill.Report"),
               "a notebook shows verdict, findings and chart", shown["text/plain"])
        tap.ok("<table>" in outputs[3][0]["data"]["text/html"], "a notebook shows a table", outputs[3][0])
        tap.ok(outputs[2][0]["ename"] == "TracemillError", "a notebook shows the program's error", outputs[2][0].get("ename"))
    except (ValueError, IndexError, KeyError) as error:
        tap.ok(False, "a notebook runs", repr(error), done.stdout[-800:], done.stderr[-2000:])


def main():
    tap = Tap()
    for check in (check_report, check_compare, check_errors, check_profile, check_build):
        with Scratch() as folder:
            check(tap, folder)
    if os.environ.get("TM_PACKAGING"):
        for check in (check_wheel, check_sdist, check_uvx, check_tools, check_jax, check_notebook):
            with Scratch() as folder:
                check(tap, folder)
    else:
        tap.skip("the wheel, JAX and a notebook", "make test-packaging installs them")
    tap.done()


if __name__ == "__main__":
    main()
