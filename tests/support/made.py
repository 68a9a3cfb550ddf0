# SPDX-License-Identifier: Apache-2.0
"""Generated profiles with their exact truth: one run of the generator ($TM_SHARED/tools/make_trace.py, needs numpy),
in as many formats as are asked for."""

import functools
import importlib.util
import json
import multiprocessing
import os
import subprocess
import sys
import tempfile

from tracemill import SHARED

GENERATOR = SHARED / "tools" / "make_trace.py"
SCENARIOS = ("mixed", "steady", "unfused", "stalled", "transfers", "dominated", "recompile", "lowocc", "imbalance",
             "comm", "memory")
HOST = "host0"  # of a single host: the file's name is the host's
ENDINGS = {"xplane": "xplane.pb", "json": "trace.json.gz", "perfetto": "perfetto_trace.json.gz"}
ASIDE = ".aside"  # on a file that no report is to read


@functools.cache
def _generator():
    spec = importlib.util.spec_from_file_location("make_trace", GENERATOR)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _main(arguments, output):
    for number in (1, 2):
        os.dup2(output, number)
    sys.argv = [str(GENERATOR), *arguments]
    sys.exit(_generator().main())


def run_generator(*arguments):
    """The generator in a fork of this process, which imports it and numpy once: they take longer than what is made of most
    tests.  out: subprocess.CompletedProcess, whose stderr is all that it printed, as text"""
    arguments = list(map(str, arguments))
    try:
        _generator()
    except ImportError as error:
        return subprocess.CompletedProcess(arguments, 1, stderr=f"{type(error).__name__}: {error}")
    with tempfile.TemporaryFile() as output:
        process = multiprocessing.get_context("fork").Process(target=_main, args=(arguments, output.fileno()))
        process.start()
        process.join()
        output.seek(0)
        return subprocess.CompletedProcess(arguments, process.exitcode, stderr=output.read().decode("utf-8", "replace"))


class Made:
    """What to generate.  After `generate`: `truth` is the truth file, `folder` holds the files."""

    def __init__(self, name, *options, seed=1, events=16000, forms=("xplane", "json")):
        self.name, self.options, self.seed, self.events, self.forms = name, list(options), seed, events, forms
        self.folder = self.truth = None

    @property
    def platform(self):
        return self.options[self.options.index("--platform") + 1] if "--platform" in self.options else "gpu"

    @property
    def is_logdir(self):
        return "--logdir" in self.options

    @property
    def is_dirty(self):
        return "--dirty" in self.options

    def generate(self, folder, events=None):
        """out: what the generator said where it failed, else None"""
        done = run_generator(folder / HOST, "--events", events or self.events, "--seed", self.seed, "--format",
                             ",".join(self.forms), "--quiet", *self.options)
        if done.returncode != 0:
            return done.stderr[-1000:] or f"exit status {done.returncode}"
        self.folder = folder
        truth = folder / HOST / "truth.json" if self.is_logdir else folder / f"{HOST}.truth.json"
        self.truth = json.loads(truth.read_text())
        return None

    def files(self, form):
        """The files of one format, those of each host."""
        found = sorted(self.folder.rglob(f"*.{ENDINGS[form]}"))
        if form == "json":
            found = [path for path in found if not path.name.endswith(ENDINGS["perfetto"])]
        return found

    def source(self, form):
        """What a report is made on.  A folder that holds a run's profile and its JSON is read from the profile
        alone, so the other formats are put out of the way."""
        if self.is_logdir:
            for path in sorted(self.folder.rglob(f"*{ASIDE}")):
                path.rename(path.with_name(path.name.removesuffix(ASIDE)))
            for other in self.forms:
                for path in self.files(other) if other != form else ():
                    path.rename(path.with_name(path.name + ASIDE))
            return self.folder / HOST
        path = self.folder / f"{HOST}.{ENDINGS[form]}"
        if form == "perfetto":  # the real one bears no host's name
            (self.folder / HOST).mkdir()
            return path.rename(self.folder / HOST / f"{HOST}.{ENDINGS['json']}")
        return path
