#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# embed.sh FOLDER PALETTE.C {NAME FILE.js...}...: print a C file with the style sheet (FOLDER/{style,tools}.css and the
# colours of the palette) and each script (its files, in that order, as one function) as tm_asset_NAME, with its hash for
# the page's content security policy.
# Needs only what every build machine has: sed, awk, od, sha256sum, base64.
set -euo pipefail
export LC_ALL=C

folder=$1
palette=$2
shift 2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Rows like:  [TM_ROLE_X] = { "x", 0x0067a8, 0x4aa3dc, "label" },
colours() {
    sed -nE 's/^ *\[TM_ROLE_[A-Z0-9_]+\] = \{ "([a-z0-9-]+)", 0x([0-9a-f]{6}), 0x([0-9a-f]{6}), .*$/\1 \2 \3/p' \
        "$palette"
}

variables() { # column
    colours | awk -v column="$1" '{ printf "--c-%s:#%s;", $1, $column }'
}

# Comments and indentation are for the reader of the source.
shorten() { # file...
    sed -sE 's,^[[:space:]]+,,; /^\/\*.*\*\/$/d; /^\/\//d; /^$/d' "$@"
}

style() {
    printf ':root{%s}\n' "$(variables 2)"
    printf '@media screen and (prefers-color-scheme:dark){:root:not([data-theme="light"]){%s}}\n' "$(variables 3)"
    printf '@media screen{:root[data-theme="dark"]{%s}}\n' "$(variables 3)"
    colours | awk '{ printf ".f-%s{fill:var(--c-%s)}.s-%s{stroke:var(--c-%s)}\n", $1, $1, $1, $1 }'
    shorten "$folder/style.css" "$folder/tools.css"
}

script() { # file...
    printf "(() => {\n'use strict';\n"
    shorten "$@"
    printf '})();\n'
}

hash_of() { # file
    # shellcheck disable=SC2059  # the escapes are the text
    printf "$(sha256sum "$1" | cut -c1-64 | sed 's/../\\x&/g')" | base64
}

c_array() { # name, file
    printf 'static const char %s_bytes[] = {\n' "$1"
    od -An -v -tx1 "$2" | sed -E 's/ ([0-9a-f]{2})/0x\1,/g'
    printf '0x00,\n};\n'
    printf 'const struct tm_asset tm_asset_%s = { %s_bytes, sizeof(%s_bytes) - 1, "sha256-%s" };\n' \
        "$1" "$1" "$1" "$(hash_of "$2")"
}

[ "$(colours | wc -l)" -ge 20 ] || { echo "embed.sh: the rows of $palette are not in their form" >&2; exit 1; }
style >"$work/style"
names=(style)
while [ $# -gt 0 ]; do
    name=$1
    files=()
    shift
    while [ $# -gt 0 ] && [[ $1 = *.js ]]; do
        files+=("$1")
        shift
    done
    script "${files[@]}" >"$work/$name"
    names+=("$name")
done
if grep -qi '</\(style\|script\)' "$work"/*; then
    echo 'embed.sh: an end tag inside an asset' >&2
    exit 1
fi
echo '/* Made by reports/html/embed.sh: do not edit. */'
echo '#include "reports/html/html_page.h"'
for name in "${names[@]}"; do
    c_array "$name" "$work/$name"
done
