# SPDX-License-Identifier: Apache-2.0
"""Builds the wheel and the sdist (PEP 517), with nothing but Python's own modules.

`make wheel` puts the static program into the wheel, which then runs on every Linux of its machine.  Any other way of building
(`pip install .`, an sdist) runs make and makes a wheel for this machine alone.

    python scripts/python/tracemill_build.py wheel|sdist FOLDER [PROGRAM [MACHINE]]
"""

import base64
import gzip
import hashlib
import io
import os
import platform
import re
import subprocess
import sys
import tarfile
import time
import zipfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(HERE))
from tracemill._program import PLATFORMS  # noqa: E402

METADATA = """Metadata-Version: 2.4
Name: tracemill
Version: {version}
Summary: Diagnose slow training and inference runs from JAX, PyTorch and TPU profiles
License-Expression: Apache-2.0
License-File: LICENSE
License-File: NOTICE
Keywords: jax,pytorch,profiler,performance,xplane,perfetto
Classifier: Environment :: Console
Classifier: Framework :: Pytest
Classifier: Intended Audience :: Developers
Classifier: Operating System :: POSIX :: Linux
Classifier: Programming Language :: C
Classifier: Programming Language :: Python :: 3
Classifier: Topic :: Software Development
Classifier: Typing :: Typed
Requires-Python: >=3.9
Description-Content-Type: text/markdown

{readme}"""


def version():
    """TM_VERSION, the one place."""
    for header in sorted((ROOT / "pipeline").glob("*.h")):
        found = re.search(r'^#define TM_VERSION "(.*)"', header.read_text(encoding="utf-8"), re.MULTILINE)
        if found:
            return found.group(1)
    raise SystemExit("tracemill_build: no TM_VERSION in pipeline/*.h")


def epoch():
    return int(os.environ.get("SOURCE_DATE_EPOCH") or 315532800)  # 1980, the first date that a zip can have


def metadata():
    return METADATA.format(version=version(), readme=(HERE / "README.md").read_text(encoding="utf-8"))


def built_program():
    """Builds the program for this machine."""
    try:
        done = subprocess.run(["make", "-j", str(os.cpu_count() or 1), "all", "BUILD=build"], cwd=ROOT, check=False)
        status = f"make ended with status {done.returncode}"
    except OSError as error:
        done, status = None, f"make cannot be run: {error.strerror}"
    program = ROOT / "build" / "tracemill"
    if done is None or done.returncode != 0 or not program.exists():
        raise SystemExit(f"tracemill: {status}, and there is no wheel for this platform ({platform.system()} {platform.machine()})\n"
                         f"hint: wheels are there for {', '.join(PLATFORMS)}; docs/install.md says what a build needs")
    return program


def tags(machine, portable):
    """A static program runs with any libc.  Kernels from 3.2 on run it; the oldest tag that installers know says 2.17."""
    if portable:
        return [f"manylinux_2_17_{machine}", f"manylinux2014_{machine}", f"musllinux_1_1_{machine}"]
    return [re.sub(r"[^A-Za-z0-9]", "_", f"{platform.system().lower()}_{machine}")]


class Wheel:
    """A zip whose files all have one date, and its RECORD."""

    def __init__(self, path):
        self.zip, self.record = zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9), []
        self.date = time.gmtime(max(epoch(), 315532800))[:6]

    def add(self, name, data, mode=0o644):
        info = zipfile.ZipInfo(name, self.date)
        info.external_attr, info.compress_type, info.create_system = (0o100000 | mode) << 16, zipfile.ZIP_DEFLATED, 3
        self.zip.writestr(info, data)
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        self.record.append(f"{name},sha256={digest},{len(data)}")

    def close(self, info):
        self.record.append(f"{info}/RECORD,,")
        self.add(f"{info}/RECORD", ("\n".join(self.record) + "\n").encode())
        self.zip.close()


def write_wheel(folder, program, machine=None, portable=False):
    named = f"tracemill-{version()}"
    platforms = tags(machine or platform.machine(), portable)
    path = Path(folder) / f"{named}-py3-none-{'.'.join(platforms)}.whl"
    wheel, info = Wheel(path), f"{named}.dist-info"
    for source in sorted((HERE / "tracemill").iterdir()):
        if source.is_file():
            wheel.add(f"tracemill/{source.name}", source.read_bytes())
    wheel.add(f"{named}.data/scripts/tracemill", Path(program).read_bytes(), 0o755)
    wheel.add(f"{info}/METADATA", metadata().encode())
    wheel.add(f"{info}/WHEEL", ("Wheel-Version: 1.0\nGenerator: tracemill\nRoot-Is-Purelib: false\n"
                                + "".join(f"Tag: py3-none-{tag}\n" for tag in platforms)).encode())
    wheel.add(f"{info}/entry_points.txt", b"[pytest11]\ntracemill = tracemill.pytest_plugin\n")
    wheel.add(f"{info}/licenses/LICENSE", (ROOT / "LICENSE").read_bytes())
    wheel.add(f"{info}/licenses/NOTICE", (ROOT / "NOTICE").read_bytes())
    beside = Path(program).parent
    if portable:  # what the static program is made of
        for text in sorted((beside / "licenses").glob("*.txt")):
            wheel.add(f"{info}/licenses/libraries/{text.name}", text.read_bytes())
        wheel.add(f"{info}/sboms/tracemill.spdx.json", (beside / "tracemill.spdx.json").read_bytes())
    wheel.close(info)
    return path.name


def sources():
    """The files of the source tree: those of git, or of an sdist all."""
    done = subprocess.run(["git", "-C", str(ROOT), "ls-files", "-z"], capture_output=True, check=False) if (ROOT / ".git").exists() else None
    if done and done.returncode == 0:
        return sorted(name for name in done.stdout.decode().split("\0") if name and (ROOT / name).is_file())
    return sorted(str(p.relative_to(ROOT)) for p in ROOT.rglob("*")
                  if p.is_file() and p.relative_to(ROOT).parts[0] != "build" and "__pycache__" not in p.parts and p.name != "PKG-INFO")


def write_sdist(folder):
    named = f"tracemill-{version()}"
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w", format=tarfile.PAX_FORMAT) as archive:
        def add(name, data, mode):
            entry = tarfile.TarInfo(f"{named}/{name}")
            entry.size, entry.mode, entry.mtime = len(data), mode, epoch()
            archive.addfile(entry, io.BytesIO(data))
        add("PKG-INFO", metadata().encode(), 0o644)
        for name in sources():
            add(name, (ROOT / name).read_bytes(), 0o755 if os.access(ROOT / name, os.X_OK) else 0o644)
    path = Path(folder) / f"{named}.tar.gz"
    with open(path, "wb") as out, gzip.GzipFile("", "wb", 9, out, mtime=0) as packed:
        packed.write(raw.getvalue())
    return path.name


# --- PEP 517 --------------------------------------------------------------------------------------------------
def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    return write_wheel(wheel_directory, built_program())


def build_sdist(sdist_directory, config_settings=None):
    return write_sdist(sdist_directory)


if __name__ == "__main__":
    if sys.argv[1] == "sdist":
        print(write_sdist(sys.argv[2]))
    else:
        print(write_wheel(sys.argv[2], sys.argv[3], *sys.argv[4:5], portable=True))
