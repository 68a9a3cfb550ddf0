#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# embed_fonts.sh REGULAR.ttf BOLD.ttf MONO.ttf: print a C file with the bytes of the fonts (reports/pdf/pdf_page.h).
# Strings of octal escapes: a compiler reads them much quicker than a list of numbers.
set -euo pipefail
export LC_ALL=C

c_string() { # name, file
    printf 'static const char %s_bytes[] =\n' "$1"
    od -An -v -to1 -w48 "$2" | sed 's, ,\\,g; s,.*,"&",'
    printf ';\n'
}

[ $# -eq 3 ] || { echo 'usage: embed_fonts.sh REGULAR.ttf BOLD.ttf MONO.ttf' >&2; exit 2; }
echo '/* Made by reports/pdf/embed_fonts.sh: do not edit. */'
echo '#include "reports/pdf/pdf_page.h"'
c_string regular "$1"
c_string bold "$2"
c_string mono "$3"
echo 'const struct tm_pdf_asset tm_pdf_assets[TM_PDF_FACES] = {'
for name in regular bold mono; do
    printf '    { %s_bytes, sizeof(%s_bytes) - 1 },\n' $name $name
done
echo '};'
