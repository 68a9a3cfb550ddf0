# SPDX-License-Identifier: Apache-2.0
"""Documents changed by their values and fields, as the fuzz targets change them."""

import subprocess

from tracemill import BUILD

PROGRAM = BUILD / "tests" / "mutate"
PART = 1000  # of one call: documents lie in memory and on disk meanwhile


def mutants(kind, seed, count, documents, folder):
    """`count` mutants of the documents, a few at a time; kind: json, message."""
    originals = folder / "originals"
    originals.mkdir(exist_ok=True)
    paths = []
    for i, data in enumerate(documents):
        paths.append(originals / str(i))
        paths[-1].write_bytes(data)
    made = folder / "mutants"
    made.mkdir(exist_ok=True)
    for begin in range(0, count, PART):
        part = min(PART, count - begin)
        subprocess.run([PROGRAM, kind, str(seed + begin), str(part), made, *paths], check=True)
        yield [(made / str(i)).read_bytes() for i in range(part)]
