# SPDX-License-Identifier: Apache-2.0
"""The traces that are measured: made once, kept under build/bench/data by name."""

import shutil
import subprocess
import sys
import zlib
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
OWN_JSON = HERE / "make_json.py"
OWN_PROFILE = HERE.parent / "support" / "make_profile.py"
SHARED_KINDS = {"gpu": ["--devices", "4"], "gpu, no order": ["--devices", "4", "--shuffle"],
                "gpu, own names": ["--devices", "4", "--unique-names", "0.5"], "tpu": ["--platform", "tpu"],
                "cpu": ["--platform", "cpu"]}
PAGE_KIND = ["--devices", "8", "--unique-names", "0.5", "--scenario", "mixed", "--hlo"]
# The small generator of the tests is slow: what it makes in reasonable time, whatever number of events is asked for.
OWN_KINDS = {"gpu": ["--steps", "50", "--per-step", "500"], "tpu": ["--steps", "50", "--per-step", "500"],
             "cpu": ["--steps", "250", "--per-step", "100"]}


@dataclass
class Trace:
    title: str
    plain: Path          # the content as it is
    bytes: int           # of the content
    events: int          # 0 = only a report can tell
    gz: Path = None
    zst: Path = None     # None where there is no zstd

    def describe(self):
        packed = "".join(f", {path.stat().st_size / 1e6:.1f} MB as {path.suffix}"
                         for path in (self.gz, self.zst) if path)
        events = f", {self.events:,} events" if self.events else ""
        return f"{self.title}{events}, {self.bytes / 1e6:.1f} MB{packed}"


class Store:
    """Traces in a folder.  shared: the generator of $TM_SHARED, None where it is not to be used."""

    def __init__(self, folder, shared):
        self.folder, self.shared = folder, shared
        folder.mkdir(parents=True, exist_ok=True)

    def made(self, stem, suffix, source, make):
        """The file of that name, made by make(path) if it is not there.  A source that has changed makes another."""
        path = self.folder / f"{stem}-{zlib.crc32(source):08x}{suffix}"
        if not path.exists():
            print(f"bench: making {path.name}", file=sys.stderr)
            part = path.with_name(f"part.{path.name}")
            make(part)
            part.rename(path)
        return path

    def chrome(self, events):
        """JSON like that of JAX: gzip -6, plain, and zstd -3 where there is a zstd."""
        generator = self.shared or OWN_JSON
        stem, source = f"chrome-{'shared' if self.shared else 'own'}-{events}", generator.read_bytes()
        gz = self.made(stem, ".trace.json.gz", source, lambda path: self.make_chrome(path, events))
        plain = self.made(stem, ".trace.json", source, lambda path: pipe(["gzip", "-dc", gz], path))
        zst = None
        if shutil.which("zstd"):
            zst = self.made(stem, ".trace.json.zst", source, lambda path: pipe(["zstd", "-3", "-q", "-c", plain], path))
        count = self.made(stem, ".events", source, lambda path: path.write_text(f"{count_events(plain)}\n"))
        return Trace(f"Chrome JSON ({generator.name})", plain, plain.stat().st_size, int(count.read_text()), gz, zst)

    def make_chrome(self, path, events):
        if not self.shared:
            script(OWN_JSON, path, "--events", events)
            return
        self.make_shared(path, ".trace.json.gz", "--format", "json", "--gzip-level", 6, "--devices", 4,
                         "--events", events)

    def profiles(self, events):
        """XSpace of every kind that the generator makes."""
        kinds = SHARED_KINDS if self.shared else OWN_KINDS
        return [self.profile(kind, more, events) for kind, more in kinds.items()]

    def page(self, events):
        """A GPU profile with many names, for the page of its report."""
        if not self.shared:
            return self.profile("gpu", OWN_KINDS["gpu"], events)
        return self.profile("gpu, page", PAGE_KIND, events)

    def grown(self, kind, more, events):
        """A profile of the generator of $TM_SHARED, of any size."""
        source = self.shared.read_bytes() + " ".join(more).encode("utf-8")
        suffix = ".trace.json.gz" if "json" in more else ".xplane.pb"
        stem = "grown-" + "".join(c if c.isalnum() else "-" for c in kind) + f"-{events}"
        path = self.made(stem, suffix, source,
                         lambda path: self.make_shared(path, suffix, "--events", events, *more))
        return Trace(f"{kind}, {events:,} events", path, path.stat().st_size, events)

    def both(self, events):
        """A GPU run as XSpace and as the JSON that lies beside it."""
        more = ["--devices", "4"]
        xspace = self.grown("gpu", [*more, "--format", "xplane"], events)
        gz = self.grown("gpu, JSON", [*more, "--format", "json"], events).plain
        plain = self.made(f"grown-gpu-plain-{events}", ".trace.json", gz.name.encode(),
                          lambda path: pipe(["gzip", "-dc", gz], path))
        return xspace, Trace(f"gpu, JSON, {events:,} events of the XSpace", plain, plain.stat().st_size, events, gz)

    def hosts(self, count, events):
        """A run of several hosts, each with this many events, as its folder."""
        more = ["--devices", 8, "--hosts", count, "--events", count * events, "--format", "xplane", "--logdir"]
        source = self.shared.read_bytes() + repr(more).encode("utf-8")
        path = self.made(f"hosts-{count}-{events}", "", source, lambda path: script(self.shared, path, "--quiet", *more))
        profiles = list(path.rglob("*.xplane.pb"))
        return Trace(f"{count} hosts", path, sum(p.stat().st_size for p in profiles), count * events)

    def recorded(self, gz):
        """A recorded profile in JSON, which stays where it is."""
        plain = self.made(f"recorded-{gz.name.removesuffix('.json.gz')}", ".json", gz.read_bytes(),
                          lambda path: pipe(["gzip", "-dc", gz], path))
        return Trace(f"recorded, {gz.name.removesuffix('.gz')}", plain, plain.stat().st_size, 0, gz)

    def profile(self, kind, more, events):
        generator = self.shared or OWN_PROFILE
        stem = f"xspace-{f'shared-{events}' if self.shared else 'own'}-{kind.replace(', ', '-').replace(' ', '-')}"
        source = generator.read_bytes() + " ".join(more).encode("utf-8")
        path = self.made(stem, ".xplane.pb", source, lambda path: self.make_profile(path, kind, more, events))
        return Trace(f"XSpace, {kind} ({generator.name})", path, path.stat().st_size, 0)

    def make_profile(self, path, kind, more, events):
        if not self.shared:
            script(OWN_PROFILE, kind, path, *more)
            return
        self.make_shared(path, ".xplane.pb", "--format", "xplane", "--events", events, *more)

    def make_shared(self, path, suffix, *more):
        """That generator adds suffixes of its own to a prefix, and files beside."""
        folder = path.with_name(f"{path.name}.making")
        folder.mkdir(exist_ok=True)
        script(self.shared, folder / "t", "--quiet", *more)
        (folder / f"t{suffix}").rename(path)
        shutil.rmtree(folder)


def script(path, *arguments):
    subprocess.run([sys.executable, str(path), *map(str, arguments)], check=True)


def pipe(command, to):
    with open(to, "wb") as file:
        subprocess.run(list(map(str, command)), check=True, stdout=file)


def count_events(path):
    """Objects of the list of events: each begins with its phase, in what both generators write."""
    needle, count, tail = b'{"ph":"', 0, b""
    with open(path, "rb") as file:
        while block := file.read(1 << 24):
            block = tail + block
            count += block.count(needle)
            tail = block[-(len(needle) - 1):]
    return count
