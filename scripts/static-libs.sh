#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds the libraries of the static program that Debian ships as shared objects only, from the sources of the
# installed -dev packages: cJSON, libharu, ISA-L, and xxHash's run-time dispatch.  SQLite, zstd and jemalloc are built as
# well, for their size: Debian's archives bring full-text search, R-trees and dlopen(), decoders of formats before zstd 0.8,
# and malloc functions that cannot be left out.
#
#   CC=gcc AR=ar OBJCOPY=objcopy scripts/static-libs.sh OUT [MACHINE]        MACHINE: x86_64 (default: this one) or aarch64
#
# OUT/libstatic.a, OUT/versions (a line 'PACKAGE VERSION' for each), OUT/debian with the archives of Debian, and OUT/compiler with those of
# the compiler are written.
set -euo pipefail

out=$(mkdir -p "${1:?OUT}" && cd "$1" && pwd)
machine=${2:-$(uname -m)}
: "${CC:=gcc}" "${AR:=ar}" "${OBJCOPY:=objcopy}"
say() { echo "static-libs: $*" >&2; }
# The jobs of a calling make are not ours to share: it closes their pipe.
unset MAKEFLAGS MFLAGS
jobs=-j$(getconf _NPROCESSORS_ONLN)

if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
    say 'the sources come from apt, and there is no apt here'
    say 'hint: build in a container of Debian 12, or install a released static program'
    exit 1
fi

# The same mirrors as for binary packages, with their sources, in lists of our own.
mkdir -p "$out/apt/lists/partial" "$out/apt/parts" "$out/src" "$out/obj"
chmod 755 "$out/apt" "$out/src"
for list in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
    [ -f "$list" ] && sed -n 's/^deb /deb-src /p' "$list"
done >"$out/apt/parts/src.list"
for list in /etc/apt/sources.list.d/*.sources; do
    [ -f "$list" ] && sed 's/^Types:.*/Types: deb-src/' "$list" >"$out/apt/parts/src-$(basename "$list")"
done
apt=(apt-get -qq -o Dir::Etc::sourcelist=/dev/null -o Dir::Etc::sourceparts="$out/apt/parts"
    -o Dir::State::lists="$out/apt/lists" -o APT::Sandbox::User=root -o Acquire::Retries=3
    -o APT::Update::Post-Invoke-Success::= -o DPkg::Lock::Timeout=600)
"${apt[@]}" update >&2

: >"$out/versions.part"
# For another machine: Debian's archives for it; headers are the same.  They are unpacked, not installed: no foreign architecture is
# added to this system.
root=
if [ "$machine" != "$(uname -m)" ]; then
    root=$out/root
    case $machine in
        aarch64) foreign=arm64 ;;
        x86_64) foreign=amd64 ;;
        *)
            say "no Debian architecture is known for '$machine'"
            exit 2
            ;;
    esac
    rm -rf "$out/foreign" "$root"
    mkdir -p "$out/foreign/lists/partial" "$out/foreign/parts" "$root"
    chmod 755 "$out/foreign"
    for list in /etc/apt/sources.list /etc/apt/sources.list.d/*; do
        [ -f "$list" ] && cp "$list" "$out/foreign/parts/$(basename "$list" | sed 's/^sources.list$/main.list/')"
    done
    : >"$out/foreign/status"
    foreign_apt=(apt-get -qq -o Dir::Etc::sourcelist=/dev/null -o Dir::Etc::sourceparts="$out/foreign/parts"
        -o Dir::State::lists="$out/foreign/lists" -o Dir::State::status="$out/foreign/status" -o APT::Architecture="$foreign"
        -o APT::Architectures::="$foreign" -o APT::Sandbox::User=root -o Acquire::Retries=3
        -o APT::Update::Post-Invoke-Success::= -o DPkg::Lock::Timeout=600)
    "${foreign_apt[@]}" update >&2
    # cmocka is for the unit tests of that machine.
    for package in zlib1g-dev libprotobuf-c-dev libxxhash-dev libarchive-dev libbz2-dev liblzma-dev nettle-dev libcmocka-dev libcmocka0; do
        (cd "$out/foreign" && "${foreign_apt[@]}" download "$package:$foreign")
    done
    for package in "$out"/foreign/*.deb; do
        dpkg-deb -x "$package" "$root"
        dpkg-deb --show --showformat='${Package} ${source:Version}\n' "$package" >>"$out/versions.part"
    done
fi

# fetch SOURCE DEV-PACKAGE [--tar-only]: the sources of the version that is installed, in OUT/src/SOURCE.
fetch() {
    local version
    version=$(dpkg-query -W -f='${source:Version}' "$2")
    echo "$2 $version" >>"$out/versions.part"
    [ -d "$out/src/$1" ] && return
    say "getting the sources of $1 $version"
    rm -rf "$out/src/$1.part"
    mkdir "$out/src/$1.part"
    (
        cd "$out/src/$1.part"
        if ! "${apt[@]}" source --download-only ${3:+"$3"} "$1=$version" >log 2>&1; then
            cat log >&2
            say "cannot get the sources of $1 $version"
            exit 1
        fi
        mkdir tree
        if [ -n "${3:-}" ]; then
            tar -xf ./*.orig.tar.* -C tree --strip-components=1
        else
            dpkg-source --no-check -x ./*.dsc unpacked >log 2>&1 || { cat log >&2; exit 1; }
            rmdir tree
            mv unpacked tree
        fi
    )
    mv "$out/src/$1.part" "$out/src/$1"
}
fetch cjson libcjson-dev
fetch libharu libhpdf-dev --tar-only # Debian's patches set the version and the build, and the headers have both
fetch jemalloc libjemalloc-dev
fetch libisal libisal-dev
fetch sqlite3 libsqlite3-dev
fetch xxhash libxxhash-dev
fetch libzstd libzstd-dev

# Nothing unwinds the stack of C, and paths are no part of a program.
has() { if "$CC" -Werror "$@" -x c -c /dev/null -o /dev/null 2>/dev/null; then echo "$@"; fi; }
read -r -a hardening <<<"$(has -fstack-clash-protection) $(has -fcf-protection=full) $(has -mbranch-protection=standard)"
flags=(-g0 -w -fPIE -ffunction-sections -fdata-sections -fno-asynchronous-unwind-tables -fstack-protector-strong
    -D_FORTIFY_SOURCE=2 -D_FILE_OFFSET_BITS=64 "-ffile-prefix-map=$out=." "${hardening[@]}")
compile() { "$CC" "${flags[@]}" "$@"; }

rm -f "$out"/obj/*.o
compile -O2 -c "$out/src/cjson/tree/cJSON.c" -o "$out/obj/cJSON.o"
for source in "$out"/src/libharu/tree/src/hpdf_*.c; do
    case $source in
        *png*) ;; # images are not used, and bring libpng
        *) compile -O2 -c "$source" -o "$out/obj/$(basename "$source" .c).o" ;;
    esac
done
if [ "$machine" = x86_64 ]; then
    compile -O2 -c "$out/src/xxhash/tree/xxh_x86dispatch.c" -o "$out/obj/xxh_x86dispatch.o"
fi
# Level 3, the only one that is used, takes no lazy and no optimal parser: these are built for size.
for source in "$out"/src/libzstd/tree/lib/{common,compress,decompress}/*.[cS]; do
    name=$(basename "${source%.*}")
    case $name in
        pool | threading | zstdmt_*) continue ;;
        zstd_lazy | zstd_opt | zstd_ldm | zstd_compress_superblock) level=-Os ;;
        *) level=-O3 ;;
    esac
    compile "$level" -DZSTD_LEGACY_SUPPORT=0 -DXXH_NAMESPACE=ZSTD_ -c "$source" -o "$out/obj/zstd_$name.o"
done
# What a history needs; the file is generated by programs of this machine.  SECURE_DELETE as Debian has it: files are the same, byte for byte.
tree=$out/src/sqlite3/tree
if [ ! -f "$tree/sqlite3.c" ]; then
    (cd "$tree" && { CC=cc ./configure --disable-tcl --disable-readline && make "$jobs" CC=cc sqlite3.c; } >"$out/sqlite3.log" 2>&1) ||
        { tail -n 20 "$out/sqlite3.log" >&2; exit 1; }
fi
(cd "$tree" && compile -O2 -D_GNU_SOURCE -DSQLITE_SECURE_DELETE -DSQLITE_OMIT_LOOKASIDE=1 -DSQLITE_OMIT_LOAD_EXTENSION \
    -DSQLITE_THREADSAFE=1 -DSQLITE_ENABLE_MATH_FUNCTIONS -DSQLITE_LIKE_DOESNT_MATCH_BLOBS -DSQLITE_MAX_VARIABLE_NUMBER=250000 \
    -c sqlite3.c -o "$out/obj/sqlite3.o")

(
    cd "$out/src/libisal/tree"
    isal=(-s -f Makefile.unx "units=igzip crc" "host_cpu=$machine")
    [ "$machine" != aarch64 ] || isal+=(arch=aarch64)
    rm -rf bin
    make "$jobs" "${isal[@]}" "CC=$CC ${flags[*]}" "AR=$AR" STRIP_gcc=: lib >"$out/isal.log" 2>&1 || { tail -n 20 "$out/isal.log" >&2; exit 1; }
)
cp "$out"/src/libisal/tree/bin/*.o "$out/obj/"
# The malloc of Debian's package, less operator new and profiling.  Pages of 64 KiB are met on arm64 alone.
(
    cd "$out/src/jemalloc/tree"
    page=() host=()
    if [ "$machine" != "$(uname -m)" ]; then host=("--host=$("$CC" -dumpmachine)"); fi
    if [ "$machine" = aarch64 ]; then page=(--with-lg-page=16); fi
    {
        rm -f src/*.o
        [ -f Makefile ] || CC=$CC ./configure --disable-cxx --disable-libdl --disable-shared --disable-doc "${host[@]}" "${page[@]}"
        make "$jobs" "CC=$CC" "AR=$AR" "EXTRA_CFLAGS=${flags[*]} -O2 -fno-unroll-loops" build_lib_static
        # A third of its code reads settings and prints statistics, which no report does.
        rm src/{ctl,stats,prof,prof_data,prof_log,prof_stats}.pic.o
        make "$jobs" "CC=$CC" "AR=$AR" "EXTRA_CFLAGS=${flags[*]} -Os -fno-unroll-loops" build_lib_static
    } >"$out/jemalloc.log" 2>&1 || { tail -n 20 "$out/jemalloc.log" >&2; exit 1; }
)
for object in "$out"/src/jemalloc/tree/src/*.pic.o; do
    cp "$object" "$out/obj/jemalloc_$(basename "$object" .pic.o).o"
done
rm -f "$out/libstatic.a"
(cd "$out/obj" && LC_ALL=C "$AR" rcsD ../libstatic.a ./*.o)

# Debian's archives, and those of the compiler and its C library, without the tables for unwinding: nothing calls pthread_exit() or
# pthread_cancel(), which need them.  OUT/compiler/origins says where the latter come from.
rm -rf "$out/debian" "$out/compiler"
mkdir "$out/debian" "$out/compiler"
without_tables() { "$OBJCOPY" -D -R .eh_frame -R .rela.eh_frame "$1" "$2"; }
for name in archive protobuf-c xxhash bz2 lzma nettle z; do
    archive=$("$CC" ${root:+-B"$root/usr/lib/$("$CC" -print-multiarch)"} -print-file-name="lib$name.a")
    without_tables "$archive" "$out/debian/lib$name.a"
done
for name in c m gcc gcc_eh; do
    archive=$("$CC" -print-file-name="lib$name.a")
    # A linker script names the archive with the functions, and one with vector functions, which no code calls.
    if [ "$(head -c 7 "$archive")" != '!<arch>' ]; then archive=$(grep -o "/[^ ]*/lib$name-[^ ]*[.]a" "$archive"); fi
    without_tables "$archive" "$out/compiler/lib$name.a"
    echo "lib$name.a $(realpath "$archive")" >>"$out/compiler/origins"
done
if [ -n "$root" ]; then
    mkdir -p "$out/cmocka"
    cp -P "$root/usr/lib/$("$CC" -print-multiarch)"/libcmocka.so* "$out/cmocka/"
fi
mv "$out/versions.part" "$out/versions"
say "$(wc -c <"$out/libstatic.a") bytes: $out/libstatic.a"
