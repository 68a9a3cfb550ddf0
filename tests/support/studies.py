# SPDX-License-Identifier: Apache-2.0
"""Comparisons and scaling studies of made profiles, for tests that look at what is written of them."""

import make_profile
from tracemill import run

STUDIES = {  # of the profiles that make() leaves; NAME.xplane.pb each
    "comparison": ("compare", "before=two", "after=again"),
    "comparison of three": ("compare", "one", "two", "four"),
    "comparison of groups": ("compare", "two", "again", "--", "third", "last"),
    "comparison with another platform": ("compare", "two", "tpu"),
    "scaling": ("scaling", "one", "two", "four", "eight"),
    "scaling of two": ("scaling", "one", "two", "again"),
}


def make(folder, steps=9):
    """The profiles, in `folder`."""
    for name, seed, devices in (("one", 1, 1), ("two", 2, 2), ("again", 3, 2), ("third", 4, 2), ("last", 5, 2), ("four", 6, 4),
                                ("eight", 7, 8)):
        (folder / f"{name}.xplane.pb").write_bytes(make_profile.gpu(seed=seed, steps=steps, devices=devices).encode())
    (folder / "tpu.xplane.pb").write_bytes(make_profile.tpu(seed=8, steps=steps).encode())


def study(folder, name, formats, *options):
    """Run one of STUDIES in `folder`.  out: (Result, folder of its files, their stem)"""
    verb, *words = STUDIES[name]
    out = folder / name.replace(" ", "-")
    operands = [word if word == "--" else f"{word}.xplane.pb" for word in words]
    return run(verb, *operands, "-o", out, "--format", formats, "-q", *options, cwd=folder), out, verb
