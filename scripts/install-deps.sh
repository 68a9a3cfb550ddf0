#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs the Debian packages that a group of verbs needs, if any is missing.
#
#   scripts/install-deps.sh [--check] GROUP...      groups: build static arm64 deb packaging test slurm
#                                                                  lint format fuzz valgrind bench
#
# Where everything is there it does nothing and needs no network.  --check installs nothing: it names what
# is missing and fails.
set -euo pipefail

packages_of() {
    case "$1" in
        build) echo build-essential pkg-config python3 zlib1g-dev libisal-dev libprotobuf-c-dev protobuf-c-compiler \
            libcjson-dev libhpdf-dev fonts-dejavu-core libjemalloc-dev libxxhash-dev libzstd-dev libarchive-dev \
            libbz2-dev liblzma-dev nettle-dev libsqlite3-dev ;;
        static) echo dpkg-dev nasm tcl ;;
        arm64) echo gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user-static ;;
        deb) echo debhelper dpkg-dev fakeroot lintian ;;
        packaging) echo ruby buildah ;;
        test) echo libcmocka-dev python3-venv zstd qpdf poppler-utils chromium-headless-shell fonts-dejavu-core nodejs cmark-gfm strace bubblewrap ;;
        slurm) echo slurm-wlm slurm-wlm-basic-plugins munge parallel ;;
        lint) echo cppcheck clang-tidy-14 clang-format-14 shellcheck codespell pmccabe ;;
        format) echo clang-format-14 ;;
        fuzz) echo clang-14 libclang-rt-14-dev llvm-14 zstd ;;
        valgrind) echo valgrind libc6-dbg ;;
        bench) echo isal zstd ;;
        *)
            echo "install-deps: no group '$1' (build static arm64 deb packaging test slurm lint format fuzz valgrind bench)" >&2
            return 2
            ;;
    esac
}

# ID and ID_LIKE of os-release(5).
system=unknown like=
if [ -r "${OS_RELEASE:-/etc/os-release}" ]; then
    # shellcheck disable=SC1090,SC1091
    { read -r system; read -r like; } < <(. "${OS_RELEASE:-/etc/os-release}" && printf '%s\n%s\n' "${ID:-unknown}" "${ID_LIKE:-}")
elif [ "$(uname -s 2>/dev/null)" = Darwin ]; then
    system=macos
fi

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
        # Ubuntu uses the names of Debian, except for the browser.
        [ "$system" != ubuntu ] || list=${list/ chromium-headless-shell / chromium-browser }
        read -r -a more <<<"$list"
        wanted+=("${more[@]}")
    fi
done
if [ ${#wanted[@]} -eq 0 ]; then
    echo "usage: scripts/install-deps.sh [--check] GROUP..." >&2
    exit 2
fi

# Other systems use other names: print the packages that a build needs, and install nothing.
build_elsewhere() {
    case "$1" in
        fedora) echo 'dnf install gcc make pkgconf-pkg-config python3 zlib-devel isa-l-devel protobuf-c-devel protobuf-c-compiler' \
            'cjson-devel libharu-devel dejavu-sans-fonts dejavu-sans-mono-fonts jemalloc-devel xxhash-devel libzstd-devel' \
            'libarchive-devel sqlite-devel' ;;
        alpine) echo 'apk add bash build-base pkgconf python3 zlib-dev isa-l-dev protobuf-c-dev protobuf-c-compiler cjson-dev' \
            'libharu-dev font-dejavu jemalloc-dev xxhash-dev zstd-dev libarchive-dev sqlite-dev' ;;
        macos) echo 'brew install make pkgconf isa-l protobuf-c cjson libharu jemalloc xxhash zstd libarchive sqlite;' \
            'brew install --cask font-dejavu; see docs/install.md' ;;
        *) return 1 ;;
    esac
}
if ! command -v dpkg-query >/dev/null; then
    if [ $check_only = yes ] && command -v protoc-c >/dev/null &&
        pkg-config --exists zlib libzstd libarchive libprotobuf-c libcjson libxxhash sqlite3 2>/dev/null; then
        exit 0
    fi
    for one in $system $like; do
        if command=$(build_elsewhere "$one"); then
            echo "install-deps: this is $system; a build needs: $command" >&2
            exit 0
        fi
    done
    echo "install-deps: this is no Debian system ($system); needed are the equivalents of: ${wanted[*]}" >&2
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
# DPkg::Lock::Timeout waits for the lock of installing, and not for that of the lists.
give_up=$((SECONDS + 600))
apt() {
    local waiting=no
    until "${as_root[@]}" env LC_ALL=C DEBIAN_FRONTEND=noninteractive apt-get -q -o Acquire::Retries=3 -o DPkg::Lock::Timeout=600 "$@" \
        </dev/null >"$log" 2>&1; do
        if ! grep -q 'Could not get lock' "$log" || [ $SECONDS -ge $give_up ]; then
            tail -n 30 "$log" >&2
            echo "install-deps: 'apt-get $1' failed" >&2
            exit 1
        fi
        [ $waiting = yes ] || echo "install-deps: waiting for another package manager" >&2
        waiting=yes
        sleep 3
    done
}
apt update
apt install -y --no-install-recommends "${missing[@]}"
echo "install-deps: done"
