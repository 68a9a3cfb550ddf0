#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Everything that reads the code without running it.  `make lint` calls this; it wants BUILD and CPPFLAGS from
# there.  Silent about a clean tree but for one line per check.
# shellcheck disable=SC2317  # the functions are called through check
set -uo pipefail
cd "$(dirname "$0")/.." || exit 2
build=${BUILD:-build}
read -r -a flags <<<"${CPPFLAGS:--D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 -I. -I$build/gen}"
mapfile -t sources < <(find pipeline stages reports tests/bench tests/fuzz tests/programs -name '*.c' | sort)
mapfile -t headers < <(find pipeline stages reports -name '*.h' | sort)
mapfile -t scripts < <(find scripts .ci reports schemas tests -type f \( -name '*.sh' -o -path '.ci/run' \) | sort)
jobs=$(nproc)
failed=0

check() { # name, command...
    local name=$1 output
    shift
    if output=$("$@" 2>&1); then
        echo "lint: $name: clean"
    else
        printf '%s\n' "$output" | head -n 200
        echo "lint: $name: FAILED"
        failed=$((failed + 1))
    fi
}

headers_alone() {
    printf '%s\n' "${headers[@]}" | xargs -P "$jobs" -I{} \
        gcc "${flags[@]}" -std=c11 -Wall -Wextra -fsyntax-only -include {} -x c /dev/null
}

# What the analyzer's path-sensitive checks find is a place to look at: it does not know the project's rule that a
# NULL from a table comes with a status in run->error, and takes such a path on with TM_OK.  Everything else is an
# error.  Run clang-tidy-14 on the one file to see the path.
ADVISORY='clang-analyzer-core\.(NullDereference|NonNullParamChecker|uninitialized|CallAndMessage|UndefinedBinary)'
found=$(mktemp)
trap 'rm -f "$found"' EXIT
tidy() {
    printf '%s\n' "${sources[@]}" | xargs -P "$jobs" -n 4 sh -c \
        'clang-tidy-14 --quiet "$@" -- -std=c11 '"${flags[*]}"' 2>/dev/null' sh |
        grep -E '(warning|error): ' | sed "s|^$PWD/||" | sort -u >"$found"
    ! grep -vE "$ADVISORY" "$found"
}

# The suppressed ones do not see that a value comes through a pointer, that an enumerator is unsigned, that a length
# is never negative, what a designated initialiser sets; the compiler and clang-tidy judge the same things and do.
check_c() {
    cppcheck --quiet --std=c11 --enable=warning,performance,portability --inline-suppr --error-exitcode=1 \
        --suppress=missingIncludeSystem --suppress='preprocessorErrorDirective:*.pb-c.h' \
        --suppress=legacyUninitvar --suppress=uninitStructMember --suppress=integerOverflow \
        --suppress=AssignmentIntegerToAddress --suppress=shiftTooManyBitsSigned \
        -j "$jobs" "${flags[@]}" "${sources[@]}"
}

python_compiles() {
    find scripts tests -name '*.py' -print0 |
        xargs -0 python3 -c 'import ast, sys; [ast.parse(open(p, encoding="utf-8").read(), p) for p in sys.argv[1:]]'
}

spelling() {
    codespell --skip='tests/golden,tests/data,*.css,LICENSE' --ignore-words-list='reprot,lits,te,nd,nin,hsa,ecret,cann,titel,unx' \
        Makefile README.md CONTRIBUTING.md CHANGES.md docs pipeline stages reports schemas scripts tests
}

# Where a function is long, or has many branches: places to look at, no failure.
limits() {
    pmccabe "${sources[@]}" | awk -F'\t' '
        $1 > 20 || $5 > 100 { printf "lint: look at %s: %d branches, %d lines\n", $6, $1, $5 }' | sort | head -n 40
}

check "includes" scripts/check-includes.sh
check "banned functions" scripts/banned.sh
check "names" env BUILD="$build" scripts/check-names.sh
check "format" make --no-print-directory check-format
check "headers compile alone" headers_alone
check "shellcheck" shellcheck "${scripts[@]}"
check "python" python_compiles
check "codespell" spelling
check "cppcheck $(cppcheck --version | cut -d' ' -f2)" check_c
check "clang-tidy $(clang-tidy-14 --version | sed -n 's/.*version \([0-9.]*\).*/\1/p')" tidy
limits
grep -E "$ADVISORY" "$found" | sed -E 's/: error: /: /; s/,-warnings-as-errors//; s/^/lint: look at /'
[ $failed -eq 0 ] || echo "lint: $failed checks failed"
exit $((failed > 0))
