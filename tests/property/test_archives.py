#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A log directory in an archive gives the same as the directory itself, but for the paths; what is hostile or damaged
in an archive does no harm and is said."""

import difflib
import gzip
import io
import json
import os
import shutil
import struct
import subprocess
import sys
import tarfile
import warnings
import zipfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "fuzz"))
import make_profile  # noqa: E402
from seeds_archive import streamed_zip  # noqa: E402
from tap import Tap  # noqa: E402
from tracemill import DEMO, Scratch, run, summary_of  # noqa: E402

PROFILE = next(DEMO.rglob("*.xplane.pb"))


def files_below(folder):
    return [(str(p.relative_to(folder.parent)), p.read_bytes()) for p in sorted(folder.rglob("*")) if p.is_file()]


def tar_of(members, mode="w", **options):
    """members: (name, bytes) or tarfile.TarInfo.  out: the bytes of the archive"""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode=mode, **options) as tar:
        for member in members:
            if isinstance(member, tarfile.TarInfo):
                tar.addfile(member)
                continue
            info = tarfile.TarInfo(member[0])
            info.size, info.mtime = len(member[1]), 1_790_000_000
            tar.addfile(info, io.BytesIO(member[1]))
    return out.getvalue()


def zip_of(members, compression=zipfile.ZIP_DEFLATED):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", compression) as archive:
        for name, data in members:
            with warnings.catch_warnings():  # of a name that was there before
                warnings.simplefilter("ignore")
                archive.writestr(name, data)
    return out.getvalue()


def zst_of(data):
    if not shutil.which("zstd"):
        return None
    return subprocess.run(["zstd", "-q", "-c"], input=data, capture_output=True, check=True).stdout


def archives_of(members):
    plain = tar_of(members)
    packed = [(f"{name}.gz", gzip.compress(data, mtime=0)) for name, data in members]
    return {
        "logs.tar": plain,
        "gnu.tar": tar_of(members, format=tarfile.GNU_FORMAT),
        "dotted.tar": tar_of([(f"./{name}", data) for name, data in members]),
        "logs.tar.gz": gzip.compress(plain, mtime=0),
        "members.tgz": gzip.compress(plain[:5000], mtime=0) + gzip.compress(plain[5000:], mtime=0),
        "logs.tar.zst": zst_of(plain),
        "logs.zip": zip_of(members),
        "stored.zip": zip_of(members, zipfile.ZIP_STORED),
        "packed.tar.gz": gzip.compress(tar_of(packed), mtime=0),  # each file a gzip, too
        "misnamed.txt": plain,
    }


def without_paths(summary):
    files = summary["input"].pop("files")
    kept = ("kind", "host", "events", "partial", "problems")
    return summary, [{key: file[key] for key in kept} for file in files], [file["path"] for file in files]


def lines_without_paths(text):
    """Nor sizes.  The table of files is as wide as its paths; a member of an archive is no path for a command."""
    lines = [" ".join(line.split()) for line in text.splitlines()]
    of_files = ("Input 1 file, ", "Reproduce: tracemill report", "INPUT: the files listed", "-----")
    return [line for line in lines if line and ".xplane.pb" not in line and not line.startswith(of_files)]


def same_as_the_folder(tap):
    with Scratch() as folder:
        log = folder / "log"
        shutil.copytree(DEMO, log)
        result, summary = summary_of("log", folder / "usual", "--format", "json,text", cwd=folder)
        usual, usual_files, _ = without_paths(summary)
        text = (folder / "usual" / "report.txt").read_text(encoding="utf-8")
        for name, data in archives_of(files_below(log)).items():
            if data is None:
                tap.skip(f"{name}: as the folder", "there is no zstd")
                continue
            path = folder / name
            path.write_bytes(data)
            out = folder / f"{name}.out"
            result, summary = summary_of(name, out, "--format", "json,text", cwd=folder)
            if result.status != 0 or summary is None:
                tap.ok(False, f"{name}: as the folder", result)
                continue
            figures, files, paths = without_paths(summary)
            where = str(PROFILE.relative_to(DEMO)) + (".gz" if name.startswith("packed") else "")
            tap.ok(figures == usual and files == usual_files, f"{name}: the figures of the folder")
            tap.ok(paths == [f"{name}/log/{where}"], f"{name}: the path of the member", paths)
            mine = (out / "report.txt").read_text(encoding="utf-8")
            tap.ok(lines_without_paths(mine) == lines_without_paths(text), f"{name}: the text of the folder",
                   *difflib.unified_diff(text.splitlines(), mine.splitlines(), lineterm=""))
            left = sorted(p.name for p in folder.iterdir())
            tap.ok("plugins" not in left, f"{name}: nothing is unpacked", left)
            os.unlink(path)


def several_hosts(tap):
    """All hosts of a run, read from any place of the archive."""
    profiles = {f"run/host{i}.xplane.pb": make_profile.gpu(seed=i + 1).encode() for i in range(3)}
    with Scratch() as folder:
        for name, data in profiles.items():
            (folder / name).parent.mkdir(exist_ok=True)
            (folder / name).write_bytes(data)
        _, usual = summary_of(folder / "run", folder / "usual")
        usual.pop("input")
        for name, data in archives_of(list(reversed(profiles.items()))).items():
            if data is None:
                continue
            (folder / name).write_bytes(data)
            result, summary = summary_of(folder / name, folder / f"{name}.out", "--memory", "32M")
            hosts = summary["input"].pop("hosts") if summary else None
            if summary:
                summary.pop("input")
            tap.ok(result.status == 0 and hosts == ["host0", "host1", "host2"] and summary == usual,
                   f"{name}: three hosts", result)


def hostile(tap):
    data = PROFILE.read_bytes()
    link = tarfile.TarInfo("run/linked.xplane.pb")
    link.type, link.linkname = tarfile.SYMTYPE, str(PROFILE)
    hard = tarfile.TarInfo("run/hard.xplane.pb")
    hard.type, hard.linkname = tarfile.LNKTYPE, "../../../etc/passwd"
    device = tarfile.TarInfo("run/device.xplane.pb")
    device.type = tarfile.CHRTYPE
    for label, members in {
        "names that climb": [("../../etc/passwd", b"x"), ("../../../run/vm.xplane.pb", data)],
        "absolute names": [("/etc/passwd", b"x"), ("/run/vm.xplane.pb", data)],
        "links and devices": [link, hard, device, ("run/vm.xplane.pb", data)],
        "an older one of the same name": [("run/vm.xplane.pb", b"old"), ("run/vm.xplane.pb", data)],
        "control characters": [("run/\x1b[31mvm.xplane.pb", data)],
    }.items():
        with Scratch() as folder:
            (folder / "x.tar").write_bytes(tar_of(members))
            result, summary = summary_of(folder / "x.tar", folder / "out")
            ok = result.status == 0 and summary and len(summary["input"]["files"]) == 1
            tap.ok(ok, f"{label}: the profile is read", result)
            result = run("extract", folder / "x.tar", "-o", folder / "copies")
            copies = sorted(p for p in folder.rglob("*.xplane.pb"))
            ok = result.status == 0 and len(copies) == 1 and copies[0].parent == folder / "copies" and \
                copies[0].read_bytes() == data and "\x1b" not in result.out
            tap.ok(ok, f"{label}: the copy is the profile, in its folder", result, copies)


def runs_of(path):
    """{run: (its files, its kind)} of `list`, and what else it says."""
    result = run("list", path, "--json", "-q")
    told = json.loads(result.out) if result.status == 0 else {"runs": []}
    return {Path(r["folder"]).name: (r["files"], r["bytes"], r["kind"]) for r in told.pop("runs")}, told


def snapshots(folder):
    """Nightly copies as `cp -al` and `rsync --link-dest` make them, and links by name as people make them."""
    for i in range(2):
        place = folder / "night1" / f"run{i}"
        place.mkdir(parents=True)
        (place / "vm.xplane.pb").write_bytes(make_profile.gpu(seed=i + 1).encode())
        (folder / "night2" / f"again{i}").mkdir(parents=True)
        os.link(place / "vm.xplane.pb", folder / "night2" / f"again{i}" / "vm.xplane.pb")
    (folder / "night3" / "soft").mkdir(parents=True)
    (folder / "night3" / "soft" / "vm.xplane.pb").symlink_to("../../night1/run0/vm.xplane.pb")
    (folder / "night3" / "hop").mkdir()
    (folder / "night3" / "hop" / "vm.xplane.pb").symlink_to("../soft/vm.xplane.pb")
    (folder / "blobs").mkdir()
    (folder / "blobs" / "77").write_bytes(make_profile.gpu(seed=9).encode())
    (folder / "store").symlink_to("blobs")
    for i in range(2):  # of a plain name: the content of what they lead to decides
        (folder / "night3" / f"plain{i}").mkdir()
        os.link(folder / "blobs" / "77", folder / "night3" / f"plain{i}" / "rank0.pb")
    (folder / "night3" / "blob").mkdir()
    (folder / "night3" / "blob" / "vm.xplane.pb").symlink_to("../../store/77")


def linked_zip(folder):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(folder.rglob("*")):
            info = zipfile.ZipInfo(str(path.relative_to(folder.parent)))
            info.create_system = 3
            info.external_attr = path.lstat().st_mode << 16
            if path.is_symlink():
                archive.writestr(info, os.readlink(path))
            elif path.is_file():
                archive.writestr(info, path.read_bytes())
    return out.getvalue()


def links_are_read(tap):
    """Hard and symbolic links of an archive are the members that they lead to: no run is lost."""
    with Scratch() as folder:
        snapshots(folder / "log")
        plain = io.BytesIO()
        with tarfile.open(fileobj=plain, mode="w") as tar:  # puts a file in once, and then links to it
            tar.add(folder / "log", "log")
        usual, _ = runs_of(folder / "log")
        _, wanted = summary_of(folder / "log" / "night3" / "blob", folder / "usual", "--follow-links")
        archives = {"log.tar": plain.getvalue(), "log.tgz": gzip.compress(plain.getvalue(), mtime=0),
                    "log.zip": linked_zip(folder / "log")}
        for name, data in archives.items():
            (folder / name).write_bytes(data)
            mine, told = runs_of(folder / name)
            tap.ok(len(usual) == 9 and mine == usual and told["links_skipped"] == 0, f"{name}: the runs of the folder", mine,
                   usual)
            for which, source in (("again1", "night1/run1"), ("soft", "night1/run0"), ("hop", "night1/run0"),
                                  ("blob", "blobs/77")):
                out = folder / f"{name}.{which}"
                result = run("extract", folder / name, "--run", which, "-o", out)
                original = folder / "log" / source
                original = original / "vm.xplane.pb" if original.is_dir() else original
                copy = out / "vm.xplane.pb"
                tap.ok(result.status == 0 and copy.is_file() and copy.read_bytes() == original.read_bytes(),
                       f"{name}: {which} is extracted as what it leads to", result)
            result, summary = summary_of(folder / name, folder / f"{name}.out", "--run", "blob")
            tap.ok(summary and without_paths(summary)[0]["kernels"] == wanted["kernels"] and
                   result.status == 0, f"{name}: a link is reported as what it leads to", result)
            result = run("batch", folder / name, "-o", folder / f"{name}.batch", "--format", "json", "-q")
            done = list((folder / f"{name}.batch").rglob("result.json"))
            tap.ok(result.status == 0 and len(done) == 9, f"{name}: a batch works all of them", result, len(done))


def links_that_lead_elsewhere(tap):
    """They are counted by each verb, and nothing of this machine is read for them."""
    data = PROFILE.read_bytes()
    links = []
    for i, (kind, to) in enumerate((("s", str(PROFILE)), ("s", "../../" + str(PROFILE)), ("h", "gone.xplane.pb"),
                                    ("s", f"{{}}.xplane.pb"), ("h", "../../etc/passwd"))):
        link = tarfile.TarInfo(f"run{i}/link.xplane.pb")
        link.type = tarfile.SYMTYPE if kind == "s" else tarfile.LNKTYPE
        link.linkname = to.format("link")
        links.append(link)
    device, folder_link = tarfile.TarInfo("run/null"), tarfile.TarInfo("more")
    device.type, folder_link.type, folder_link.linkname = tarfile.CHRTYPE, tarfile.SYMTYPE, "/data/more"
    with Scratch() as folder:
        path = folder / "x.tar"
        path.write_bytes(tar_of([*links, device, folder_link, ("run/vm.xplane.pb", data)]))
        runs, told = runs_of(path)
        tap.ok(list(runs) == ["run"] and told["links_skipped"] == 6 and told["special_skipped"] == 1, "links elsewhere: counted",
               runs, told)
        for verb in (["list", path], ["report", path, "-o", folder / "r", "--format", "json"],
                     ["extract", path, "-o", folder / "e"], ["batch", path, "-o", folder / "b", "--format", "json"]):
            result = run(*verb)
            tap.ok(result.status == 0 and "6 links in archives are skipped" in result.err and "1 device" in result.err,
                   f"links elsewhere: {verb[0]} says so", result)
            tap.ok(result.err.count("links in archives") == 1, f"links elsewhere: {verb[0]} says so once", result)
            quiet = run(*verb, "-q")
            tap.ok("6 links" in quiet.err, f"links elsewhere: -q leaves {verb[0]} its warnings", quiet)
        result = run("batch", "scan", path, "--strict")
        tap.ok(result.status == 3 and "links" in result.err, "links elsewhere: no batch under --strict", result)
        path.write_bytes(tar_of(links))
        result = run("report", path, "-o", folder / "none")
        tap.ok(result.status == 3 and "5 links" in result.err, "links elsewhere: an archive of nothing else", result)


def plain_names(tap):
    """Traces of any name are found by their first bytes, in folders as in archives; what is no trace is counted."""
    trace = json.dumps({"schemaVersion": 1, "traceEvents": [
        {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": i, "dur": 1} for i in range(9)]}).encode()
    names = {**{f"job/rank{i}.json": trace for i in range(3)}, "job/rank3.json.gz": gzip.compress(trace, mtime=0),
             "job/config.json": b'{"batch": 8}', "job/empty.json": b"", "job/nodes.json": b'{"schema": "1.0", "pid": 1, "nodes": []}',
             "job/big.json": b'{"vocabulary": [' + b"1," * 60000 + b"2]}", "tpu/space.pb": PROFILE.read_bytes(),
             "tpu/saved_model.pb": b"\x08\x01\x12\x04\x0a\x02\x08\x01", "tpu/notes.txt": trace}
    with Scratch() as folder:
        for name, data in names.items():
            (folder / "log" / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / "log" / name).write_bytes(data)
        members = [(f"log/{name}", data) for name, data in names.items()]
        archives = archives_of(members)
        for name in ("folder", "logs.tar", "logs.tar.gz", "logs.zip", "stored.zip"):
            path = folder / "log"
            if name != "folder":
                path = folder / name
                path.write_bytes(archives[name])
            runs, told = runs_of(path)
            tap.ok({k: (v[0], v[2]) for k, v in runs.items()} == {"job": (4, "trace-json"), "tpu": (1, "xplane")} and
                   told["not_traces"] == 5, f"plain names: {name}", runs, told)
            result, summary = summary_of(path, folder / f"{name}.out", "--run", "job")
            tap.ok(summary and summary["input"]["hosts"] == [f"rank{i}" for i in range(4)], f"plain names: {name}: reported",
                   result)
        result = run("convert", folder / "log" / "tpu" / "space.pb", "-o", folder / "log" / "made.json", "-q")
        runs, told = runs_of(folder / "log")
        tap.ok(result.status == 0 and len(runs) == 2 and told["not_traces"] == 6, "plain names: what convert wrote is no run",
               result, runs)
        (folder / "log" / "made.json").unlink()
        result = run("list", folder / "log")
        tap.ok("5 other .json or .pb files are not traces" in result.err, "plain names: the list says what is none", result)
        (folder / "log" / "job" / "config.json").rename(folder / "config.json")
        (folder / "none").mkdir()
        (folder / "config.json").rename(folder / "none" / "config.json")
        result = run("report", folder / "none", "-o", folder / "o")
        tap.ok(result.status == 3 and "1 other .json or .pb file is not a trace" in result.err, "plain names: nothing else", result)


def long_names(tap):
    """Copies of names that are longer than a name may be, as they are or with what a terminal obeys spelled out."""
    data = PROFILE.read_bytes()
    names = [f"{c * n}{end}.xplane.pb" for c, n in (("\x1b", 200), ("a", 400), ("\u20ac", 150)) for end in ("1", "2")]
    with Scratch() as folder:
        (folder / "x.tar").write_bytes(tar_of([(f"run/{name}", data) for name in names]))
        result = run("extract", folder / "x.tar", "-o", folder / "copies")
        copies = sorted((folder / "copies").iterdir()) if result.status == 0 else []
        tap.ok(len(copies) == len(names) and all(p.name.endswith(".xplane.pb") and p.read_bytes() == data for p in copies),
               "long names: each has its copy, with its ending", result, [p.name[-40:] for p in copies])
        tap.ok("\x1b" not in result.out and len({p.name for p in copies}) == len(names), "long names: no two are one", result)


def damaged(tap):
    data = make_profile.gpu(seed=1).encode()
    members = [("run/a.xplane.pb", data), ("run/b.xplane.pb", data), ("run/c.xplane.pb", data)]
    plain = tar_of(members)
    second = 2 * (512 + (len(data) + 511) // 512 * 512)
    cases = {
        "cut between members.tar": (plain[:second + 100], ["a", "b"]),
        "cut inside a member.tar": (plain[:second + 512 + len(data) // 2], ["a", "b", "c"]),
        "cut gzip.tar.gz": (gzip.compress(plain, mtime=0)[:-2000], None),
        "no directory.zip": (zip_of(members, zipfile.ZIP_STORED)[:-60], ["a", "b", "c"]),
    }
    for name, (cut, hosts) in cases.items():
        with Scratch() as folder:
            (folder / name).write_bytes(cut)
            result, summary = summary_of(folder / name, folder / "out")
            ok = result.status == 4 and summary["input"]["partial"] and \
                any("archive is damaged" in p for f in summary["input"]["files"] for p in f["problems"])
            tap.ok(ok and hosts in (None, summary["input"]["hosts"]), f"{name}: what is left, and it is said", result)
            strict, summary = summary_of(folder / name, folder / "strict", "--strict")
            tap.ok(strict.status == 3 and summary is None, f"{name}: refused under --strict", strict)
            listed = run("list", folder / name)
            tap.ok(listed.status == 0 and "damaged" in listed.err, f"{name}: the list warns", listed)


def entries_of(data):
    """Where the entries of the directory begin, and where it begins and ends."""
    end = data.rindex(b"PK\5\6")
    size, begin = struct.unpack("<II", data[end + 12:end + 20])
    entries, at = [], begin
    while at < begin + size:
        entries.append(at)
        at += 46 + sum(struct.unpack("<HHH", data[at + 28:at + 34]))
    return entries, begin, end


def changed(data, at, form, value):
    return data[:at] + struct.pack(form, value) + data[at + struct.calcsize(form):]


def reordered(data):
    entries, begin, end = entries_of(data)
    parts = [data[a:b] for a, b in zip(entries, [*entries[1:], end])]
    return data[:begin] + b"".join(reversed(parts)) + data[end:]


def zips_in_two_minds(tap):
    """A zip whose directory and headers differ is damaged, each way; zips of any honest writer are not."""
    data = make_profile.gpu(seed=1).encode()
    members = [(f"run/h{i}.xplane.pb", data) for i in range(3)]
    packed, stored = zip_of(members), zip_of(members, zipfile.ZIP_STORED)
    entries, begin, end = entries_of(stored)
    header = struct.unpack("<I", stored[entries[1] + 42:entries[1] + 46])[0]
    prefixed = b"PK\3\4 is how it began" + stored
    fine = {"deflated": packed, "stored": stored, "streamed": streamed_zip(members, wide=False), "zip64": streamed_zip(members),
            "directory in another order": reordered(packed), "comment": stored[:-2] + struct.pack("<H", 3) + b"abc",
            "bytes behind the end": stored + bytes(7), "bytes before its begin": prefixed,
            "twice the same name": zip_of([*members, members[0]])}
    cases = {
        "the CRC of the directory": changed(packed, entries_of(packed)[0][1] + 16, "<I", 7),
        "the name of the directory": changed(stored, entries[1] + 46, "<B", ord("R")),
        "the name of a header": changed(stored, header + 34, "<B", ord("g")),
        "the size of a header": changed(stored, header + 22, "<I", len(data) - 1),
        "the packed size of the directory": changed(stored, entries[1] + 20, "<I", len(data) - 1),
        "the way of packing": changed(packed, entries_of(packed)[0][2] + 10, "<H", 0),
        "two members in one place": changed(stored, entries[2] + 42, "<I", header),
        "data that reach into the next member": changed(changed(stored, entries[0] + 20, "<I", len(data) + 30), 18, "<I",
                                                        len(data) + 30),
        "data that reach into the directory": changed(changed(stored, entries[2] + 20, "<I", len(data) + 30),
                                                      struct.unpack("<I", stored[entries[2] + 42:entries[2] + 46])[0] + 18,
                                                      "<I", len(data) + 30),
        "an end that tells of fewer members": changed(changed(stored, end + 8, "<H", 2), end + 10, "<H", 2),
        "members that overlap, in another order": changed(reordered(stored), entries_of(reordered(stored))[0][2] + 42, "<I",
                                                          header),
    }
    with Scratch() as folder:
        for name, content in {**fine, **cases}.items():
            path = folder / "x.zip"
            path.write_bytes(content)
            result, summary = summary_of(path, folder / "out" / name.replace(" ", "-"))
            problems = [p for f in summary["input"]["files"] for p in f["problems"]] if summary else []
            listed = run("list", path)
            if name in fine:
                tap.ok(result.status == 0 and not problems and "damaged" not in listed.err, f"a zip, {name}: fine", result)
                continue
            tap.ok(result.status in (3, 4) and (result.status == 3 or any("archive is damaged" in p for p in problems)),
                   f"a zip, {name}: damaged", result, problems)
            tap.ok(listed.status == 3 or "damaged" in listed.err, f"a zip, {name}: the list says so", listed)
            copied = run("extract", path, "-o", folder / "copies" / name.replace(" ", "-"))
            tap.ok(copied.status in (3, 4) and "damaged" in copied.err, f"a zip, {name}: extract says so", copied)
            strict = run("extract", path, "-o", folder / "strict", "--strict")
            tap.ok(strict.status == 3 and not (folder / "strict").exists(), f"a zip, {name}: nothing under --strict", strict)


def refused(tap):
    encrypted = bytearray(zip_of([("run/a.xplane.pb", PROFILE.read_bytes())]))
    encrypted[6] |= 1  # the flag of the member, and that in the directory
    encrypted[encrypted.index(b"PK\x01\x02") + 8] |= 1
    cases = {
        "no profile.zip": (zip_of([("a.txt", b"a"), ("b.txt", b"b")]), "no profile in"),
        "empty.zip": (zip_of([]), "no profile in"),
        "encrypted.zip": (bytes(encrypted), "is encrypted"),
        "only a table of contents.tar": (tar_of([("run/a.xplane.pb", b"")]), "is empty"),
        "several.zip": (zip_of([(f"{r}/a.xplane.pb", PROFILE.read_bytes()) for r in ("one", "two")]), "2 runs found"),
    }
    for name, (data, words) in cases.items():
        with Scratch() as folder:
            (folder / name).write_bytes(data)
            result, summary = summary_of(folder / name, folder / "out")
            status = 2 if name == "several.zip" else 3
            tap.ok(result.status == status and summary is None and words in result.err and "hint:" in result.err, name,
                   result)
    with Scratch() as folder:
        (folder / "several.zip").write_bytes(cases["several.zip"][0])
        for option in (["--run", "one"], ["--latest"]):
            result, summary = summary_of(folder / "several.zip", folder / option[0], *option)
            tap.ok(result.status == 0 and summary, f"several runs and {option[0]}", result)
        listed = run("list", folder / "several.zip", "--json")
        runs = [r["run"] for r in json.loads(listed.out)["runs"]] if listed.status == 0 else []
        tap.ok(sorted(runs) == ["one", "two"], "several runs are listed", listed)


def one_file(tap):
    with Scratch() as folder:
        (folder / "x.tar.gz").write_bytes(gzip.compress(tar_of([("out/trace", PROFILE.read_bytes())]), mtime=0))
        result, summary = summary_of(folder / "x.tar.gz", folder / "out")
        tap.ok(result.status == 0 and summary["input"]["hosts"] == ["trace"], "an archive of one file", result)
        result = run("report", folder / "x.tar.gz", "--format", "json", cwd=folder)
        tap.ok(result.status == 0 and (folder / "x.report").is_dir(), "the report is called after the archive", result)


def main():
    tap = Tap()
    same_as_the_folder(tap)
    several_hosts(tap)
    hostile(tap)
    links_are_read(tap)
    links_that_lead_elsewhere(tap)
    plain_names(tap)
    long_names(tap)
    damaged(tap)
    zips_in_two_minds(tap)
    refused(tap)
    one_file(tap)
    tap.done()


if __name__ == "__main__":
    main()
