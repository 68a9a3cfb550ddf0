#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""embed_fonts.py REGULAR.ttf BOLD.ttf MONO.ttf: print a C file with the fonts (reports/pdf/pdf_page.h).

Tables that no PDF needs, a fifth of each file, are left out: those for kerning, ligatures, and names.  Strings of octal
escapes: a compiler reads them much quicker than a list of numbers.
"""

import struct
import sys
from pathlib import Path

# What pdf_font.c reads, and what a part of a font has to have.
TABLES = (b"cmap", b"cvt ", b"fpgm", b"glyf", b"head", b"hhea", b"hmtx", b"loca", b"maxp", b"prep")
HEAD, ENTRY = 12, 16


def needed(font):
    """The font with these tables alone."""
    count = struct.unpack_from(">H", font, 4)[0]
    found = [struct.unpack_from(">4sIII", font, HEAD + ENTRY * i) for i in range(count)]
    kept = [entry for entry in found if entry[0] in TABLES]
    power = 1 << len(kept).bit_length() - 1
    directory = struct.pack(">4sHHHH", font[:4], len(kept), power * ENTRY, power.bit_length() - 1, (len(kept) - power) * ENTRY)
    data, at = b"", HEAD + ENTRY * len(kept)
    for tag, checksum, offset, length in kept:
        directory += struct.pack(">4sIII", tag, checksum, at + len(data), length)
        data += font[offset:offset + length] + bytes(-length % 4)
    return directory + data


def main():
    if len(sys.argv) != 4:
        sys.exit("usage: embed_fonts.py REGULAR.ttf BOLD.ttf MONO.ttf")
    names = ("regular", "bold", "mono")
    print("/* Made by reports/pdf/embed_fonts.py: do not edit. */")
    print('#include "reports/pdf/pdf_page.h"')
    for name, path in zip(names, sys.argv[1:]):
        font = needed(Path(path).read_bytes())
        print(f"static const char {name}_bytes[] =")
        for at in range(0, len(font), 48):
            print('"' + "".join(f"\\{byte:03o}" for byte in font[at:at + 48]) + '"')
        print(";")
    print("const struct tm_pdf_asset tm_pdf_assets[TM_PDF_FACES] = {")
    for name in names:
        print(f"    {{ {name}_bytes, sizeof({name}_bytes) - 1 }},")
    print("};")


main()
