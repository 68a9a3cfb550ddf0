#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes what the static program is made of, as SPDX 2.3, and the licences of it.

    sbom.py --map MAP --versions FILE --program FILE --release VERSION -o FOLDER

    sbom.py --built-using SBOM       the same libraries, as Debian's field of this name wants them

Rests on the linker's map: what it says was linked is in the document, and an archive that nobody knows the licence of is
an error.  FOLDER gets tracemill.spdx.json and licenses/NAME.txt.
"""

import argparse
import datetime
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

# Debian's package -> name, licence of what is linked, copyright.  NOTICE has the same rows for people.
KNOWN = {
    "fonts-dejavu-core": ("DejaVu fonts", "Bitstream-Vera", "Bitstream, Inc.; Tavmjong Bah"),
    "libarchive-dev": ("libarchive", "BSD-2-Clause", "Tim Kientzle and contributors"),
    "libbz2-dev": ("bzip2", "bzip2-1.0.6", "Julian Seward"),
    "libc6-dev": ("glibc", "LGPL-2.1-or-later", "Free Software Foundation, Inc."),
    "libcjson-dev": ("cJSON", "MIT", "Dave Gamble and cJSON contributors"),
    "libgcc-dev": ("libgcc", "GPL-3.0-or-later WITH GCC-exception-3.1", "Free Software Foundation, Inc."),
    "libhpdf-dev": ("libharu", "Zlib", "Takeshi Kanno; Antony Dovgal"),
    "libisal-dev": ("ISA-L", "BSD-3-Clause", "Intel Corporation"),
    "libjemalloc-dev": ("jemalloc", "BSD-2-Clause", "Jason Evans; Mozilla Foundation; Facebook, Inc."),
    "liblzma-dev": ("liblzma", "LicenseRef-public-domain", "none: Lasse Collin and others put it into the public domain"),
    "libprotobuf-c-dev": ("protobuf-c", "BSD-2-Clause", "Dave Benson and the protobuf-c authors"),
    "libsqlite3-dev": ("SQLite", "blessing", "none: D. Richard Hipp and others put it into the public domain"),
    "libxxhash-dev": ("xxHash", "BSD-2-Clause", "Yann Collet"),
    "libzstd-dev": ("zstd", "BSD-3-Clause", "Meta Platforms, Inc. and affiliates"),
    "nettle-dev": ("nettle", "LGPL-3.0-or-later OR GPL-2.0-or-later", "Niels Möller and contributors"),
    "zlib1g-dev": ("zlib", "Zlib", "Jean-loup Gailly and Mark Adler"),
}
BUILT = {"cJSON.o": "libcjson-dev", "sqlite3.o": "libsqlite3-dev", "xxh_x86dispatch.o": "libxxhash-dev"}
STARTS = {"hpdf_": "libhpdf-dev", "jemalloc_": "libjemalloc-dev", "zstd_": "libzstd-dev"}


def linked(path):
    """(archive, member) of everything that the linker took out of an archive."""
    text = path.read_text(encoding="utf-8", errors="replace")
    table = text[:text.index("\nMemory Configuration")]
    return sorted(set(re.findall(r"^(\S+\.a)\(([^)]+)\)", table, re.MULTILINE)))


def package_of(archive):
    """The Debian package that an archive belongs to."""
    path = os.path.realpath(archive)
    folder, name = os.path.split(path)  # of a copy, which static-libs.sh made
    if folder.endswith("/lib/debian"):
        path = f"*/{name}"
    elif folder.endswith("/lib/compiler"):
        path = dict(line.split() for line in (Path(folder) / "origins").read_text().splitlines())[name]
    done = subprocess.run(["dpkg", "-S", path], capture_output=True, text=True, check=False)
    if done.returncode != 0 and path.startswith("/usr/lib/"):
        done = subprocess.run(["dpkg", "-S", path[len("/usr"):]], capture_output=True, text=True, check=False)
    if done.returncode != 0 or len(done.stdout.splitlines()) != 1:
        sys.exit(f"sbom: no package owns '{archive}', which is linked")
    return done.stdout.split(":")[0]


def version_of(package):
    return subprocess.run(["dpkg-query", "-W", "-f=${source:Version}", package], capture_output=True, text=True,
                          check=True).stdout


def components(options):
    """known package -> (version, Debian package whose copyright file is the licence)."""
    built = dict(line.split() for line in options.versions.read_text().splitlines())
    owners, found = {}, {"fonts-dejavu-core": (version_of("fonts-dejavu-core"), "fonts-dejavu-core")}
    for archive, member in linked(options.map):
        if archive.endswith("/program.a"):
            continue
        if archive.endswith("/libstatic.a"):
            package = BUILT.get(member) or next((p for start, p in STARTS.items() if member.startswith(start)), "libisal-dev")
            found[package] = (built[package], package)
            continue
        if archive not in owners:
            owners[archive] = package_of(archive)
        package = owners[archive]
        known = re.sub(r"^libc6-dev-.*-cross$", "libc6-dev", re.sub(r"^libgcc-\d+-dev.*$", "libgcc-dev", package))
        if known not in KNOWN:
            sys.exit(f"sbom: '{archive}' is linked, and scripts/packaging/sbom.py has no licence of '{package}'")
        found[known] = (built.get(package) or version_of(package), package)
    return found


def built_using(path):
    """Source packages with their exact versions, of what has to come with its sources."""
    document = json.loads(path.read_text(encoding="utf-8"))
    rows = []
    for package in document["packages"]:
        if "GPL" in package["licenseDeclared"]:
            binary = package["externalRefs"][0]["referenceLocator"].split("/")[-1].split("@")[0]
            source = subprocess.run(["dpkg-query", "-W", "-f=${source:Package}", binary], capture_output=True, text=True, check=True).stdout
            rows.append(f"{source} (= {package['versionInfo']})")
    return ", ".join(sorted(rows))


def main():
    if sys.argv[1:2] == ["--built-using"]:
        print(built_using(Path(sys.argv[2])))
        return
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name in ("map", "versions", "program"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    parser.add_argument("--release", required=True)
    parser.add_argument("-o", dest="out", type=Path, required=True)
    options = parser.parse_args()

    found = components(options)
    digest = hashlib.sha256(options.program.read_bytes()).hexdigest()
    epoch = int(os.environ.get("SOURCE_DATE_EPOCH", "0"))
    when = datetime.datetime.fromtimestamp(epoch, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    shutil.rmtree(options.out / "licenses", ignore_errors=True)
    (options.out / "licenses").mkdir(parents=True)
    packages = [{
        "SPDXID": "SPDXRef-tracemill", "name": "tracemill", "versionInfo": options.release,
        "downloadLocation": "NOASSERTION", "filesAnalyzed": False, "primaryPackagePurpose": "APPLICATION",
        "licenseConcluded": "Apache-2.0", "licenseDeclared": "Apache-2.0", "copyrightText": "The tracemill authors",
        "checksums": [{"algorithm": "SHA256", "checksumValue": digest}],
    }]
    relations = [{"spdxElementId": "SPDXRef-DOCUMENT", "relationshipType": "DESCRIBES",
                  "relatedSpdxElement": "SPDXRef-tracemill"}]
    for package, (version, source) in sorted(found.items(), key=lambda item: KNOWN[item[0]][0].lower()):
        name, licence, copyright_text = KNOWN[package]
        identifier = "SPDXRef-" + re.sub(r"[^A-Za-z0-9.-]", "-", name)
        packages.append({
            "SPDXID": identifier, "name": name, "versionInfo": version, "supplier": "Organization: Debian",
            "downloadLocation": "NOASSERTION", "filesAnalyzed": False, "primaryPackagePurpose": "LIBRARY",
            "licenseConcluded": licence, "licenseDeclared": licence, "copyrightText": copyright_text,
            "externalRefs": [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl",
                              "referenceLocator": f"pkg:deb/debian/{source}@{version.replace('+', '%2B')}"}],
        })
        relations.append({"spdxElementId": "SPDXRef-tracemill", "relationshipType": "STATIC_LINK",
                          "relatedSpdxElement": identifier})
        shutil.copyfile(f"/usr/share/doc/{source}/copyright",
                        options.out / "licenses" / (name.replace(" ", "-") + ".txt"))
    document = {
        "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT",
        "name": f"tracemill-{options.release}", "documentNamespace": f"urn:tracemill:{options.release}:{digest}",
        "creationInfo": {"created": when, "creators": ["Tool: tracemill-sbom"]},
        "packages": packages, "relationships": relations,
        "hasExtractedLicensingInfos": [{
            "licenseId": "LicenseRef-public-domain", "name": "Public domain",
            "extractedText": "The authors put this code into the public domain."}],
    }
    (options.out / "tracemill.spdx.json").write_text(json.dumps(document, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
