#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Includes point one way:
#   pipeline                 only pipeline
#   stages                   pipeline and stages
#   reports                  pipeline and reports
#     format                 only format
#     findings, chart        format, and each its own
#     statistics             only statistics
#     compare                format, findings, statistics
#     scaling, gates, history    these and compare
#     content                these, and its own
#     html, pdf, text ...    all of them but another medium
#     show                   these, and gates: figures and limits as people write them
#     query                  show: its tables
#   main.c, engine, nightly, commands  all three: they join the parts
#   tests                    everything; nobody includes tests
# and each outside library, and each header that only Linux has, is used by one family of files, so that the rest builds
# without it.
set -euo pipefail -f  # no names from patterns: they are compared, never expanded
cd "$(dirname "$0")/.."

# header (a pattern) | files that may include it (patterns)
libraries='
zlib.h*                | pipeline/deflate.c stages/input/bytes/inflate* stages/output/file/out_file.c pipeline/commands/version.c
isa-l*                 | pipeline/deflate.c stages/input/bytes/inflate* pipeline/commands/version.c
zstd*.h                | pipeline/deflate.c stages/input/bytes/unzstd* stages/output/parquet/* pipeline/commands/version.c
archive*.h             | stages/input/bytes/archive* pipeline/commands/version.c
protobuf-c/*           | *_pb.c stages/input/xspace/* pipeline/commands/version.c
hpdf*                  | reports/pdf/* pipeline/commands/version.c
cjson/*                | pipeline/commands/mcp.c pipeline/doc/doc_json.c pipeline/settings.c reports/findings/thresholds.c pipeline/commands/version.c
jemalloc/*             | pipeline/store/budget* pipeline/process* pipeline/commands/version.c
getopt.h               | pipeline/options* pipeline/settings.c
xxh*.h                 | pipeline/* stages/*
linux/*                | pipeline/platform.h
sys/prctl.h            | pipeline/platform.h
sys/statfs.h           | pipeline/platform.h
sys/syscall.h          | pipeline/platform.h
sys/epoll.h            | pipeline/platform.h
sqlite3.h              | reports/history/* reports/query/* stages/output/sqlite/* pipeline/database.c pipeline/engine/run_database.c pipeline/commands/query.c pipeline/commands/version.c
'

wrong=0
complain() {
    echo "$1:$2: $3" >&2
    wrong=1
}

fits() { # text, patterns
    local pattern
    for pattern in $2; do
        # shellcheck disable=SC2053  # a pattern is meant
        [[ $1 == $pattern ]] && return 0
    done
    return 1
}

below() { # a file in reports/
    local folder=${1%%/*}
    case $folder in
        format) echo 'reports/format/*' ;;
        findings | chart) echo "reports/format/* reports/$folder/*" ;;
        statistics) echo 'reports/statistics/*' ;;
        compare | scaling | gates | history)
            echo "reports/format/* reports/findings/* reports/statistics/* reports/compare/* reports/$folder/*"
            ;;
        show) echo 'reports/format/* reports/content/* reports/gates/* reports/media.h reports/show/*' ;;
        query) echo 'reports/format/* reports/content/* reports/gates/* reports/media.h reports/show/* reports/query/*' ;;
        content) echo 'reports/format/* reports/findings/* reports/chart/* reports/content/*' ;;
        *) echo "reports/format/* reports/chart/* reports/content/* reports/media.h reports/$folder/*" ;;
    esac
}

check_own() { # file, line, header
    local file=$1 header=$3 allowed
    case $file in
        tests/*) return ;;
        pipeline/main.c | pipeline/commands/* | pipeline/engine/* | pipeline/nightly/*) allowed='pipeline/* stages/* reports/* *.pb-c.h' ;;
        pipeline/*) allowed='pipeline/*' ;;
        stages/*) allowed='pipeline/* stages/* *.pb-c.h' ;;
        reports/*) allowed="pipeline/* $(below "${file#reports/}")" ;;
        *) return ;;
    esac
    fits "$header" "$allowed" || complain "$file" "$2" "'$header' is on the other side (see scripts/check-includes.sh)"
}

check_library() { # file, line, header
    local pattern files
    while IFS='|' read -r pattern files; do
        pattern=${pattern// /}
        if [ -n "$pattern" ] && fits "$3" "$pattern" && ! fits "$1" "$files"; then
            complain "$1" "$2" "<$3> is for$files only"
        fi
    done <<<"$libraries"
}

count=0
while IFS=: read -r file line text; do
    count=$((count + 1))
    if [[ $text =~ \#[[:space:]]*include[[:space:]]*\"([^\"]+)\" ]]; then
        check_own "$file" "$line" "${BASH_REMATCH[1]}"
    elif [[ $text =~ \#[[:space:]]*include[[:space:]]*\<([^\>]+)\> ]] && [[ $file != tests/* ]]; then
        check_library "$file" "$line" "${BASH_REMATCH[1]}"
    fi
done < <(grep -rnE '^[[:space:]]*#[[:space:]]*include' --include='*.[ch]' pipeline stages reports tests)
if [ "$count" -eq 0 ]; then
    echo "check-includes: no includes found" >&2
    exit 1
fi
[ $wrong -eq 0 ] && echo "check-includes: $count includes, all point the right way"
exit $wrong
