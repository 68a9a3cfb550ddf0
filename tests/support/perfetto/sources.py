# SPDX-License-Identifier: Apache-2.0
"""What is converted in tests: profiles that the tests make, generated ones, real ones."""

import functools
from fnmatch import fnmatchcase

import make_profile
import make_pytorch
import tally_chrome
import tally_xspace
import trace_tally
from chrome_json import content_of, document_of, is_json
from perfetto import hostile
from perfetto.compare import arguments_of
from made import GENERATOR, Made
from tracemill import SHARED

TRACES = SHARED / "traces"
FOLDERS = ("jax-json", "xspace", "logdir", "kineto", "chrome")
NOT_READ = ("xspace/corrupt-*", "chrome/perfetto--*", "chrome/*rocprof-908*")  # refused with what they are
EVENTS = 4000  # of a generated profile


class Source:
    """A file to convert and what it holds.  missing: why it is not there, or None."""

    def __init__(self, name, path, make=None, missing=None):
        self.name, self._path, self.make, self.missing = name, path, make, missing

    @property
    def path(self):
        if self.make and not self._path.exists():
            self.make(self._path)
        return self._path

    @property
    def file_name(self):
        return "".join(c if c.isalnum() else "-" for c in self.name)

    @functools.cached_property
    def is_xspace(self):
        return not is_json(content_of(self.path))

    @functools.cached_property
    def recording(self):
        content = content_of(self.path)
        if is_json(content):
            recording = tally_chrome.recording_of(*document_of(content))
        else:
            recording = tally_xspace.recording_of(self.path)
        for row in recording.rows:
            trace_tally.place_on_lanes(row)
        return recording

    @functools.cache
    def arguments(self, in_json):
        """Of each slice, in a JSON or in Perfetto's own format: see compare.arguments_of."""
        values_of = tally_chrome.arguments_of if is_json(content_of(self.path)[:64]) else tally_xspace.arguments_of
        return arguments_of(self.recording, values_of, in_json)


def write_profile(kind, is_json_copy):
    def write(path):
        space = make_profile.ALL_MAKERS[kind](seed=3)
        path.write_bytes(make_profile.chrome_json(space) if is_json_copy else space.encode())
    return write


def own_sources(folder):
    """Made here, without anything from elsewhere."""
    for kind in make_profile.ALL_MAKERS:
        yield Source(f"made/{kind}-xspace", folder / f"{kind}.xplane.pb", make=write_profile(kind, False))
        yield Source(f"made/{kind}-json", folder / f"{kind}.trace.json", make=write_profile(kind, True))
    yield Source("made/pytorch", folder / "rank0.json",
                 make=lambda path: path.write_bytes(make_pytorch.rank_of()))
    yield Source("made/odd", folder / "odd.json", make=lambda path: path.write_bytes(hostile.document()))


GENERATED = {"gpu": [], "tpu": ["--platform", "tpu"], "cpu": ["--platform", "cpu"], "async": ["--async"],
             "graphs": ["--graphs", "expanded"]}


def generated_sources(folder):
    missing = None if GENERATOR.exists() else f"no {GENERATOR}"
    for name, options in GENERATED.items():
        made = Made(name, *options, "--dirty", "--shuffle", events=EVENTS)
        for form in made.forms:
            place = folder / f"generated-{name}"

            def make(path, made=made, place=place):
                place.mkdir(exist_ok=True)
                if not path.exists():
                    problem = made.generate(place)
                    if problem:
                        raise RuntimeError(problem)
            path = place / ("host0.xplane.pb" if form == "xplane" else "host0.trace.json.gz")
            yield Source(f"generated/{name}-{form}", path, make=make, missing=missing)


def real_sources():
    if not TRACES.is_dir():
        yield Source("real files", None, missing=f"no files at {TRACES}")
        return
    for folder in FOLDERS:
        for path in sorted(p for p in (TRACES / folder).rglob("*") if p.is_file()):
            name = str(path.relative_to(TRACES))
            if not any(fnmatchcase(name, pattern) for pattern in NOT_READ):
                yield Source(name, path)


def all_sources(folder):
    yield from own_sources(folder)
    yield from generated_sources(folder)
    yield from real_sources()
