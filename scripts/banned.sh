#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Functions that have no place in this code, each with what to use instead; and memory that no account knows of.
# Comments and strings are looked past.
set -euo pipefail
cd "$(dirname "$0")/.."

# function | files where it is right, or - | instead
table='
malloc      | pipeline/store/budget.c pipeline/doc/doc_json.c stages/input/xspace/xspace_reader.c | tm_take: memory belongs to a named account
calloc      | pipeline/store/budget.c    | tm_take
realloc     | pipeline/store/budget.c    | tm_retake
free        | pipeline/store/budget.c stages/input/xspace/xspace_reader.c | tm_give
strdup      | -                    | a copy in an account
strndup     | -                    | a copy in an account
asprintf    | -                    | snprintf
vasprintf   | -                    | vsnprintf
getline     | -                    | a buffer of known size
alloca      | -                    | an array of known size
strcpy      | -                    | memcpy with a length
strcat      | -                    | memcpy with a length
strncpy     | -                    | memcpy with a length
strncat     | -                    | memcpy with a length
sprintf     | -                    | snprintf
vsprintf    | -                    | vsnprintf
gets        | -                    | fgets
scanf       | -                    | strtoll and its kin
sscanf      | -                    | strtoll and its kin
fscanf      | -                    | strtoll and its kin
atoi        | -                    | strtoll, which tells of an overflow
atol        | -                    | strtoll
atoll       | -                    | strtoll
atof        | -                    | strtod
strtok      | -                    | memchr
mktemp      | -                    | O_TMPFILE, or mkostemp
tmpnam      | -                    | O_TMPFILE, or mkostemp
tmpfile     | -                    | the spill files
system      | -                    | nothing: the program starts no other
popen       | -                    | nothing: the program starts no other
rand        | -                    | a hash: the output is the same each time
localtime   | -                    | gmtime_r: the output is the same everywhere
gmtime      | -                    | gmtime_r
asctime     | -                    | strftime
ctime       | -                    | strftime
setlocale   | -                    | nothing: numbers look the same everywhere
'

# The code without comments and texts: one line stays one line.
code_of() {
    awk '{
        out = ""; i = 1; n = length($0)
        while (i <= n) {
            two = substr($0, i, 2); one = substr($0, i, 1)
            if (in_comment) {
                if (two == "*/") { in_comment = 0; i += 2 } else i++
            } else if (two == "/*") { in_comment = 1; i += 2
            } else if (two == "//") { break
            } else if (one == "\"" || one == "\047") {
                quote = one; i++
                while (i <= n && substr($0, i, 1) != quote) i += (substr($0, i, 1) == "\\") ? 2 : 1
                i++; out = out quote quote
            } else { out = out one; i++ }
        }
        print FNR ":" out
    }' "$1"
}

names=$(sed -n 's/^\([a-z]*\) .*|.*/\1/p' <<<"$table" | paste -sd '|')
pattern="(^|[^A-Za-z0-9_.>])($names)[[:space:]]*\\("

row_of() { # function, column
    awk -F'|' -v name="$1" -v column="$2" '{ key = $1; gsub(/ /, "", key); if (key == name) print $column }' <<<"$table"
}

wrong=0
count=0
while read -r file; do
    count=$((count + 1))
    while IFS=: read -r line text; do
        while read -r name; do
            case " $(row_of "$name" 2) " in
                *" $file "*) ;;
                *)
                    echo "$file:$line: $name is banned:$(row_of "$name" 3)" >&2
                    wrong=1
                    ;;
            esac
        done < <(grep -oE "$pattern" <<<"$text" | grep -oE '[a-z]+')
    done < <(code_of "$file" | grep -E "$pattern" || true)
done < <(find pipeline stages reports -name '*.[ch]' | sort)
if [ "$count" -eq 0 ]; then
    echo "banned: no files found" >&2
    exit 1
fi
[ $wrong -eq 0 ] && echo "banned: $count files, no banned function"
exit $wrong
