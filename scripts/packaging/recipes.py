#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fills the recipes of package managers and images with the version and the hashes of a release.

    recipes.py --release VERSION --dist FOLDER [--homepage URL] -o OUT
"""

import argparse
import hashlib
import re
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
RECIPES = ("homebrew/tracemill.rb", "conda/recipe.yaml", "image/Dockerfile", "image/tracemill.def")
MACHINES = ("x86_64", "aarch64")
HOMEPAGE = "https://github.com/tracemill/tracemill"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--release", required=True)
    parser.add_argument("--dist", type=Path, required=True, help="the folder with the archives of the static programs")
    parser.add_argument("--homepage", default=HOMEPAGE)
    parser.add_argument("-o", dest="out", type=Path, required=True)
    options = parser.parse_args()
    values = {"VERSION": options.release, "HOMEPAGE": options.homepage}
    for machine in MACHINES:
        static = options.dist / f"tracemill-{options.release}-linux-{machine}.tar.gz"
        if not static.exists():
            sys.exit(f"recipes: there is no '{static}': 'make release' makes it")
        values[f"SHA256_{machine.upper()}"] = hashlib.sha256(static.read_bytes()).hexdigest()
    options.out.mkdir(parents=True, exist_ok=True)
    for name in RECIPES:
        text = re.sub("@([A-Z0-9_]+)@", lambda match: values[match.group(1)], (HERE / name).read_text(encoding="utf-8"))
        (options.out / Path(name).name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
