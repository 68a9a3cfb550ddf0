#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Man page and completions, printed by the program itself from its table of options.
#
#   PREFIX=DIR scripts/install-extras.sh PROGRAM | --remove
#
# RUNNABLE=FILE: a program of the same version that runs here, where PROGRAM was built for another machine.
set -euo pipefail

share=${PREFIX:?}/share
declare -A places=(
    [man]=$share/man/man1/tracemill.1
    [bash]=$share/bash-completion/completions/tracemill
    [zsh]=$share/zsh/site-functions/_tracemill
    [fish]=$share/fish/vendor_completions.d/tracemill.fish
)

if [ "${1:?}" = --remove ]; then
    rm -f "${places[@]}"
    exit 0
fi
program=${RUNNABLE:-$1}
for what in "${!places[@]}"; do
    path=${places[$what]}
    mkdir -p "$(dirname "$path")"
    if [ "$what" = man ]; then
        "$program" man >"$path"
    else
        "$program" completions "$what" >"$path"
    fi
    chmod 644 "$path"
    echo "install $path"
done
