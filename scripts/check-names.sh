#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What is global has the prefix tm_, no two files have one name, and no tag of a struct, union or enum means two things.
# Reads the objects of a build: BUILD.
set -euo pipefail
cd "$(dirname "$0")/.."
build=${BUILD:-build}

wrong=0
complain() { # what, names
    [ -z "$2" ] && return
    echo "check-names: $1:" "$2" >&2
    wrong=1
}

mapfile -t objects < <(find pipeline stages reports -name '*.c' -printf "$build/obj/%p\n" | sed 's/c$/o/' | sort)
if ! ls "${objects[@]}" >/dev/null; then
    echo "check-names: run make first" >&2
    exit 1
fi
# malloc_conf is jemalloc's.
complain "global without the prefix tm_" "$(nm --defined-only --extern-only --format=posix "${objects[@]}" |
    awk 'NF >= 3 && $1 !~ /^(tm_.*|main|malloc_conf)$/ { print $1 }' | sort -u)"
mapfile -t files < <(find pipeline stages reports tests -name '*.[ch]' | sort)
complain "two files of one name" "$(printf '%s\n' "${files[@]##*/}" | sort | uniq -d)"
complain "a tag with two meanings" "$(find pipeline stages reports -name '*.[ch]' -exec \
    grep -ohE '^[[:space:]]*(struct|union|enum) tm_[a-z0-9_]+ \{' {} + | awk '{ print $2 }' | sort | uniq -d)"
[ $wrong -eq 0 ] && echo "check-names: ${#objects[@]} objects, ${#files[@]} files: every name is one thing"
exit $wrong
