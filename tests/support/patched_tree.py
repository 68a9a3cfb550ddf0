# SPDX-License-Identifier: Apache-2.0
"""A copy of the tree in which a patch is built: how many places it takes to add something."""

import os
import re
import shutil
import subprocess

from tap import Tap
from tracemill import BUILD, ROOT, SANITIZED, Scratch

NEEDED = ("Makefile", "pipeline", "stages", "reports", "schemas", "scripts", "docs", "tests/programs", "tests/property", "tests/support")
OBJECTS = ("obj", "gen", "flags", ".deps-checked")


def copy_tree(to):
    to.mkdir(exist_ok=True)
    for name in NEEDED:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, to / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy2(ROOT / name, to / name)
    for name in OBJECTS:
        if (BUILD / name).is_dir():
            shutil.copytree(BUILD / name, to / "build" / name)
        else:
            shutil.copy2(BUILD / name, to / "build" / name)


def tool(folder, *command):
    environment = {k: v for k, v in os.environ.items() if k not in ("BUILD", "MAKEFLAGS", "MFLAGS", "MAKELEVEL")}
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, env=environment)


def changed_files(patch):
    return re.findall(r"^\+\+\+ b/(\S+)", patch.read_text(encoding="utf-8"), re.M)


def build_with(tap, folder, patch, *goals):
    """The tree with the patch, built with warnings as errors.  out: whether it was, the objects that were made anew
    in: goals  of make, beside the program"""
    copy_tree(folder)
    tool(folder, "make", "-j2", "build/tracemill")
    applied = tool(folder, "patch", "-p1", "-i", str(patch))
    if not tap.ok(applied.returncode == 0, "the patch applies", applied.stdout):
        return False, []
    built = tool(folder, "make", "-j2", "WERROR=1", "build/tracemill", *goals)
    is_built = tap.ok(built.returncode == 0, "it builds", built.stdout[-2000:], built.stderr[-2000:])
    return is_built, sorted(re.findall(r"^ *cc +(\S+)", built.stdout, re.M))


def test_addition(what, patch, most, check, *goals):
    """Test that a patch of at most so many files adds something, where it is built.
    in: check  called with tap, a folder in which `tree` is the built one, the changed files, the objects that were made"""
    tap = Tap()
    if SANITIZED or BUILD != ROOT / "build":
        tap.skip(f"{what} is added", "objects of another build")
        tap.done()
    files = changed_files(patch)
    tap.ok(len(files) <= most, f"at most {most} files change by hand", files)
    with Scratch() as folder:
        is_built, objects = build_with(tap, folder / "tree", patch, *goals)
        if is_built:
            check(tap, folder, files, objects)
    tap.done()
