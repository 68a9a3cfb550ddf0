#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Partials merge exactly: the summary made from them is, byte for byte, that of the profiles read in one process."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import make_profile  # noqa: E402
import make_pytorch  # noqa: E402
from made import GENERATOR, run_generator  # noqa: E402
from tap import Tap  # noqa: E402
from tracemill import Scratch, run  # noqa: E402

GENERATED = {
    "gpu, more names than are looked up": ["--unique-names", "0.9", "--devices", "2", "--events", "60000"],
    "gpu, damaged": ["--dirty", "--bad-utf8"],
    "gpu, allocations": ["--scenario", "memory"],
    "gpu, compilations": ["--scenario", "recompile"],
    "gpu, copies": ["--scenario", "transfers", "--async", "0.7"],
    "tpu": ["--platform", "tpu", "--devices", "2", "--unused", "1"],
    "cpu": ["--platform", "cpu"],
}


class Maker:
    """Reports into folders of their own, below one scratch folder."""

    def __init__(self, tap, folder, name):
        self.tap, self.folder, self.name, self.count = tap, folder, name, 0

    def report(self, inputs, form, *options):
        """The named output of a report, and the run's result; None where it failed."""
        self.count += 1
        out = self.folder / f"out-{self.count}"
        result = run("report", *inputs, "-o", out, "--format", form, *options)
        path = out / {"json": "summary.json", "partial": "run.partial"}[form]
        if result.status not in (0, 4) or not path.exists():
            self.tap.ok(False, f"{self.name}: {form} of {' '.join(p.name for p in inputs)}", result)
            return None, result
        return path, result

    def same(self, label, whole, inputs, *options):
        """The summary of `inputs` has the bytes of `whole`, and the same status."""
        path, result = self.report(inputs, "json", *options)
        if path:
            self.tap.ok(path.read_bytes() == whole[0].read_bytes() and result.status == whole[1].status,
                        f"{self.name}: {label}", result, f"see {path} and {whole[0]}")


def check(tap, folder, name, profiles, *options):
    """All the ways from two hosts to one summary."""
    maker = Maker(tap, folder, name)
    first, second = profiles
    whole = maker.report(profiles, "json", "--jobs", "1", *options)
    alone = maker.report([first], "json", *options)
    partials = [maker.report([p], "partial", *options)[0] for p in profiles]
    both = maker.report(profiles, "partial", *options)[0]
    if not whole[0] or not alone[0] or not both or not all(partials):
        return
    maker.same("a process for each host", whole, profiles, "--jobs", "2", *options)
    maker.same("one host", alone, partials[:1], *options)
    maker.same("two partials", whole, partials, *options)
    maker.same("a partial and a profile", whole, [partials[0], second], *options)
    maker.same("a profile and a partial", whole, [first, partials[1]], *options)
    maker.same("a partial of both", whole, [both], *options)
    maker.same("two partials with 32M", whole, partials, "--memory", "32M", *options)
    small = maker.report([first], "partial", "--memory", "32M", *options)[0]
    if small:
        tap.ok(small.read_bytes() == partials[0].read_bytes(), f"{name}: the partial has the same bytes with 32M")
        maker.same("a partial made with 32M", whole, [small, second], *options)
    merged = maker.report(partials, "partial", *options)[0]
    if merged:
        tap.ok(merged.read_bytes() == both.read_bytes(), f"{name}: partials make the partial that profiles make")


def made(tap, folder):
    for kind, make in make_profile.MAKERS.items():
        for label, hosts in (("two hosts", ("a", "b")), ("hosts of one name", ("same", "same"))):
            paths = []
            for seed, host in enumerate(hosts, 1):
                path = folder / f"{kind}-{label}-{seed}".replace(" ", "-") / f"{host}.xplane.pb"
                path.parent.mkdir()
                path.write_bytes(make(seed=seed, steps=8).encode())
                paths.append(path)
            place = folder / f"{kind}-{label}".replace(" ", "-")
            place.mkdir()
            check(tap, place, f"{kind}, {label}", paths)
    check(tap, folder, "all steps of the session", paths, "--steps", "all", "--window", "session", "--gap-min", "1us")


def ranks(tap, folder):
    """JSONs, whose devices, steps and allocators are told in another way."""
    for label, old in (("two ranks", False), ("two ranks, old", True)):
        place = folder / label.replace(", ", "-").replace(" ", "-")
        place.mkdir()
        paths = [place / f"rank{rank}.pt.trace.json" for rank in range(2)]
        for rank, path in enumerate(paths):
            path.write_bytes(make_pytorch.rank_of(rank=rank, steps=8, old=old))
        check(tap, place, f"PyTorch, {label}", paths)
    paths = [folder / "a.trace.json", folder / "b.xplane.pb"]
    paths[0].write_bytes(make_profile.chrome_json(make_profile.tpu(seed=1, steps=8, host="a")))
    paths[1].write_bytes(make_profile.tpu(seed=2, steps=8, host="b").encode())
    check(tap, folder, "JAX, a JSON and a profile", paths)


def three_of_one_name(tap, folder):
    """The names that hosts get do not depend on which of them came as a partial."""
    paths = []
    for seed in range(1, 4):
        path = folder / f"same-{seed}" / "same.xplane.pb"
        path.parent.mkdir()
        path.write_bytes(make_profile.gpu(seed=seed, steps=5).encode())
        paths.append(path)
    maker = Maker(tap, folder / "same-1", "three hosts of one name")
    whole = maker.report(paths, "json")
    last = maker.report(paths[1:], "partial")[0]
    if whole[0] and last:
        maker.same("a profile and a partial of two", whole, [paths[0], last])


def generated(tap, folder):
    for name, options in GENERATED.items():
        if not GENERATOR.exists():
            tap.skip(f"generated: {name}", "no generator: TM_SHARED names its folder")
            continue
        place = folder / name.replace(", ", "-").replace(" ", "-")
        place.mkdir()
        done = run_generator("--quiet", "--events", 20000, *options, "--hosts", 2, "--format", "xplane", "--logdir", place / "log")
        profiles = sorted(place.glob("log/**/*.xplane.pb"))
        if done.returncode != 0 or len(profiles) != 2:
            tap.ok(False, f"generated: {name}: the generator made two hosts", done.stderr)
            continue
        check(tap, place, f"generated: {name}", profiles)


def refused(tap, folder):
    """What does not fit is refused, and nothing is written."""
    profile = folder / "host.xplane.pb"
    profile.write_bytes(make_profile.gpu(seed=1, steps=6).encode())
    partial = Maker(tap, folder, "refused").report([profile], "partial")[0]
    if not partial:
        return
    for options in (["--steps", "all"], ["--steps", "1:3"], ["--skip-steps", "2"], ["--window", "session"],
                    ["--gap-min", "5us"]):
        result = run("report", partial, "-o", folder / "no", *options)
        tap.ok(result.status == 2 and options[0] in result.err and not (folder / "no").exists(),
               f"another choice is refused: {' '.join(options)}", result)
    data = partial.read_bytes()
    for name, bad in (("cut", data[:-1]), ("longer", data + b"\0"), ("of an older version", data[:18] + b"8" + data[19:]),
                      ("of a newer version", data[:18] + b":" + data[19:]),
                      ("changed", data[:999] + bytes([data[999] ^ 1]) + data[1000:])):
        path = folder / f"{name}.partial"
        path.write_bytes(bad)
        result = run("report", path, "-o", folder / "no")
        tap.ok(result.status == 3 and "hint:" in result.err and not (folder / "no").exists(),
               f"a partial that is {name} is refused", result)
    result = run("report", "-", "-o", folder / "no", stdin=data)
    tap.ok(result.status == 3 and "a tracemill partial" in result.err, "a partial from a pipe is refused", result)


def main():
    tap = Tap()
    for part in (made, ranks, three_of_one_name, generated, refused):
        with Scratch() as folder:
            part(tap, folder)
    tap.done()


if __name__ == "__main__":
    main()
