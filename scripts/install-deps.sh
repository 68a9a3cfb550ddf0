#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs the Debian packages that a group of verbs needs, if any is missing.
#
#   scripts/install-deps.sh [--check] GROUP...      groups: build static deb test slurm lint format fuzz
#                                                                  valgrind bench
#
# Where everything is there it does nothing and needs no network.  --check installs nothing: it names what
# is missing and fails.
set -euo pipefail

packages_of() {
    case "$1" in
        build) echo build-essential pkg-config python3 zlib1g-dev libisal-dev libprotobuf-c-dev protobuf-c-compiler \
            libcjson-dev libhpdf-dev fonts-dejavu-core libjemalloc-dev libxxhash-dev libzstd-dev libarchive-dev \
            libsqlite3-dev ;;
        static) echo dpkg-dev nasm tcl libbz2-dev liblzma-dev nettle-dev ;;
        deb) echo debhelper dpkg-dev fakeroot lintian ;;
        test) echo libcmocka-dev python3-venv zstd qpdf poppler-utils chromium fonts-dejavu-core nodejs cmark-gfm strace bubblewrap ;;
        slurm) echo slurm-wlm slurm-wlm-basic-plugins munge parallel ;;
        lint) echo cppcheck clang-tidy-14 clang-format-14 shellcheck codespell pmccabe ;;
        format) echo clang-format-14 ;;
        fuzz) echo clang-14 libclang-rt-14-dev llvm-14 zstd ;;
        valgrind) echo valgrind libc6-dbg ;;
        bench) echo isal zstd ;;
        *)
            echo "install-deps: no group '$1' (build static deb test slurm lint format fuzz valgrind bench)" >&2
            return 2
            ;;
    esac
}

is_installed() {
    [ "$(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

check_only=no
wanted=()
for word in "$@"; do
    if [ "$word" = --check ]; then
        check_only=yes
    else
        list=$(packages_of "$word")
        read -r -a more <<<"$list"
        wanted+=("${more[@]}")
    fi
done
if [ ${#wanted[@]} -eq 0 ]; then
    echo "usage: scripts/install-deps.sh [--check] GROUP..." >&2
    exit 2
fi

if ! command -v dpkg-query >/dev/null; then
    # Not Debian: the packages have other names there.  The build says itself what it does not find.
    if [ $check_only = no ]; then
        echo "install-deps: this is no Debian system; needed are the equivalents of: ${wanted[*]}" >&2
    fi
    exit 0
fi

missing=()
for package in "${wanted[@]}"; do
    is_installed "$package" || missing+=("$package")
done
[ ${#missing[@]} -eq 0 ] && exit 0

if [ $check_only = yes ]; then
    echo "tracemill: packages are missing: ${missing[*]}" >&2
    echo "hint: 'make demo' and 'make test' install them, or run: sudo apt-get install ${missing[*]}" >&2
    exit 1
fi

as_root=()
if [ "$(id -u)" -ne 0 ]; then
    if ! command -v sudo >/dev/null; then
        echo "install-deps: packages are missing and neither root nor sudo is at hand: ${missing[*]}" >&2
        exit 1
    fi
    as_root=(sudo)
fi
echo "install-deps: installing ${#missing[@]} packages with apt-get: ${missing[*]}"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
apt() {
    if ! "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -o Acquire::Retries=3 -o DPkg::Lock::Timeout=600 "$@" \
        </dev/null >"$log" 2>&1; then
        tail -n 30 "$log" >&2
        echo "install-deps: 'apt-get $1' failed" >&2
        exit 1
    fi
}
apt update
apt install -y --no-install-recommends "${missing[@]}"
echo "install-deps: done"
