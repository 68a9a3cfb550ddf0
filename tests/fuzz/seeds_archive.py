# SPDX-License-Identifier: Apache-2.0
"""Seeds of fuzz_archive: tar files of each sort, zip files with and without their directory, gzip and zstd around them
and inside, and files that are no archive."""

import gzip
import io
import struct
import subprocess
import tarfile
import zipfile

import seeds_unwrap

RUN = "logs/plugins/profile/2026_01_02_03_04_05/"
JSON = b'{"traceEvents":[{"ph":"X","pid":1,"tid":1,"ts":1,"dur":2,"name":"a"}]}'


def tar_of(members, form=tarfile.GNU_FORMAT, headers=None):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=form, pax_headers=headers) as tar:
        for name, data, kind in members:
            info = tarfile.TarInfo(name)
            info.type, info.mtime = kind, 1700000000
            if kind == tarfile.REGTYPE:
                info.size = len(data)
            else:
                info.linkname = data.decode()
            tar.addfile(info, io.BytesIO(data) if kind == tarfile.REGTYPE else None)
    # Without the zeros that fill the last record, but for two.
    return out.getvalue().rstrip(b"\0") + bytes(1024)


def tar_files():
    plain = [(RUN + "h.trace.json", JSON, tarfile.REGTYPE), (RUN + "h.xplane.pb", b"\n\2\x12\0", tarfile.REGTYPE)]
    odd = [("dir", b"", tarfile.DIRTYPE), ("a/link", b"../../etc/passwd", tarfile.SYMTYPE),
           ("a/hard", b"a/h.trace.json", tarfile.LNKTYPE), ("../out.trace.json", JSON, tarfile.REGTYPE),
           ("/abs.trace.json", JSON, tarfile.REGTYPE), ("a/fifo", b"", tarfile.FIFOTYPE)]
    long = [("x/" * 90 + "h.trace.json", JSON, tarfile.REGTYPE), ("\u00e9" * 60 + ".trace.json.gz",
            gzip.compress(JSON, mtime=0), tarfile.REGTYPE)]
    links = [(RUN + "h.trace.json", JSON, tarfile.REGTYPE), ("b/h.trace.json", (RUN + "h.trace.json").encode(), tarfile.LNKTYPE),
             ("c/h.trace.json", b"../b/h.trace.json", tarfile.SYMTYPE), ("d", b"logs", tarfile.SYMTYPE),
             ("e/rank0.json", b"../d/plugins/profile/2026_01_02_03_04_05/h.trace.json", tarfile.SYMTYPE),
             ("f/h.xplane.pb", b"blobs/1", tarfile.LNKTYPE), ("blobs/1", JSON, tarfile.REGTYPE)]
    lost = [("a/h.trace.json", b"../b/h.trace.json", tarfile.SYMTYPE), ("b/h.trace.json", b"../a/h.trace.json", tarfile.SYMTYPE),
            ("c/h.trace.json", b"c/h.trace.json", tarfile.LNKTYPE), ("d/h.trace.json", b"/etc/passwd", tarfile.SYMTYPE),
            ("e/h.trace.json", b"../../x", tarfile.SYMTYPE), ("x", b".", tarfile.SYMTYPE), ("n", b"", tarfile.CHRTYPE),
            ("f/h.trace.json", b"../x/x/x/f", tarfile.SYMTYPE), ("rank1.json", JSON, tarfile.REGTYPE)]
    names = [("a/rank0.json", JSON, tarfile.REGTYPE), ("a/rank1.json.gz", gzip.compress(JSON, mtime=0), tarfile.REGTYPE),
             ("a/config.json", b"{}", tarfile.REGTYPE), ("b/t.pb", b"\n\x0f\x12\x0d/device:GPU:0", tarfile.REGTYPE)]
    twice = [("h.trace.json", b"[]", tarfile.REGTYPE), ("./h.trace.json", JSON, tarfile.REGTYPE),
             ("h.trace.json", JSON, tarfile.REGTYPE)]
    out = {"plain": tar_of(plain), "odd": tar_of(odd), "twice": tar_of(twice), "links": tar_of(links), "lost": tar_of(lost),
           "names": tar_of(names), "gnu-long": tar_of(long),
           "ustar": tar_of(plain, tarfile.USTAR_FORMAT), "pax": tar_of(long, tarfile.PAX_FORMAT, {"comment": "c"}),
           "pax-numbers": tar_of(plain, tarfile.PAX_FORMAT, {"mtime": "1700000000.123456789", "path": "renamed.trace.json"}),
           "sparse": tar_of([("GNUSparseFile.0/s", b"1\n600\n5\n" + bytes(504) + b"hello", tarfile.REGTYPE)],
                            tarfile.PAX_FORMAT, {"GNU.sparse.major": "1", "GNU.sparse.minor": "0",
                                                 "GNU.sparse.name": "s.trace.json", "GNU.sparse.realsize": "5000"})}
    out["cut"] = out["plain"][:700]
    out["check"] = out["plain"][:148] + b"7" + out["plain"][149:]
    return out


def zip_of(members, how=zipfile.ZIP_DEFLATED, comment=b""):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", how) as archive:
        for name, data in members:
            archive.writestr(zipfile.ZipInfo(name), data, how)
        archive.comment = comment
    return out.getvalue()


class Stream(io.RawIOBase):
    """What cannot be wound back: lengths follow the members."""

    def __init__(self):
        self.bytes = b""

    def writable(self):
        return True

    def write(self, data):
        self.bytes += bytes(data)
        return len(data)


def streamed_zip(members, wide=True):
    out = Stream()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members:
            with archive.open(zipfile.ZipInfo(name), "w", force_zip64=wide) as member:
                member.write(data)
    return out.bytes


def linked_zip():
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr(zipfile.ZipInfo("a/h.trace.json"), JSON)
        for name, target in (("b/h.trace.json", "../a/h.trace.json"), ("c", "a"), ("d/rank0.json", "../c/h.trace.json")):
            info = zipfile.ZipInfo(name)
            info.create_system, info.external_attr = 3, 0o120777 << 16
            archive.writestr(info, target)
    return out.getvalue()


def zip_files():
    members = [(RUN + "h.trace.json", JSON * 3), (RUN + "h.xplane.pb", b"\n\2\x12\0"), ("d/", b"")]
    out = {"zip": zip_of(members), "zip-stored": zip_of(members, zipfile.ZIP_STORED, b"comment"),
           "zip-streamed": streamed_zip(members), "zip-bomb": zip_of([("b.trace.json", bytes(300000))]),
           "zip-bzip2": zip_of(members, zipfile.ZIP_BZIP2), "zip-lzma": zip_of(members, zipfile.ZIP_LZMA)}
    whole = out["zip"]
    directory = struct.unpack("<I", whole[-6:-2])[0]
    out["zip-no-directory"] = whole[:directory]
    out["zip-damaged"] = whole[:60] + b"\xff\xff" + whole[62:]
    encrypted = bytearray(whole)
    encrypted[6] |= 1
    encrypted[directory + 8] |= 1
    out["zip-encrypted"] = bytes(encrypted)
    out["zip-links"] = linked_zip()
    out["zip-other-crc"] = whole[:directory + 16] + b"\0" + whole[directory + 17:]
    out["zip-other-name"] = whole[:30] + b"L" + whole[31:]
    return out


def zstd_of(data):
    """Packed where there is a zstd; else nothing."""
    try:
        return subprocess.run(["zstd", "-q", "-c"], input=data, capture_output=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return b""


def seeds():
    """Two bytes behind each file choose how it is read: hold, engine, whether short reads, and the steps; as an input, as an
    archive, as both."""
    tars = tar_files()
    out = {**tars, **zip_files(), **seeds_unwrap.files(), "json": JSON, "nothing": b"", "gz": gzip.compress(JSON, mtime=0)}
    for name in ("plain", "twice", "gnu-long"):
        out[f"{name}.gz"] = gzip.compress(tars[name], mtime=0)
        out[f"{name}.zst"] = zstd_of(tars[name])
    out["inside.gz"] = gzip.compress(gzip.compress(tars["plain"], mtime=0), mtime=0)
    out["nested"] = tar_of([("t.tar", tars["plain"], tarfile.REGTYPE), ("t.tar.gz", out["plain.gz"], tarfile.REGTYPE)])
    how = (b"\0\0", b"\x80\1", b"\x41\x81", b"\xc3\5", b"\x24\x86", b"\xe2\3")
    return {name: data + how[i % len(how)] for i, (name, data) in enumerate(out.items())}
