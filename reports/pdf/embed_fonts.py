#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""embed_fonts.py REGULAR.ttf BOLD.ttf MONO.ttf: print a C file with the fonts (reports/pdf/pdf_page.h).

Left out is what a PDF does not need: the tables for kerning, ligatures, and names, a fifth of each file, and hinting, the
programs that fit outlines to the pixels of a screen, a tenth of the rest.  The format:
https://learn.microsoft.com/en-us/typography/opentype/spec/glyf.  Strings of octal escapes: a compiler reads them much
quicker than a list of numbers.
"""

import struct
import sys
from pathlib import Path

# What pdf_font.c reads, and what a part of a font has to have.
TABLES = (b"cmap", b"glyf", b"head", b"hhea", b"hmtx", b"loca", b"maxp")
HEAD, ENTRY = 12, 16
# Flags of a part of a composite glyph, and of the whole.
WIDE_ARGUMENTS, SCALE, MORE_PARTS, TWO_SCALES, MATRIX, INSTRUCTIONS = 1, 8, 0x20, 0x40, 0x80, 0x100


def unhinted(glyph):
    """The bytes of one glyph without its instructions."""
    if not glyph:
        return glyph
    contours = struct.unpack_from(">h", glyph)[0]
    if contours >= 0:
        at = 10 + 2 * contours
        length = struct.unpack_from(">H", glyph, at)[0]
        glyph = glyph[:at] + b"\0\0" + glyph[at + 2 + length:]
    else:
        at, flags, glyph = 10, MORE_PARTS, bytearray(glyph)
        while flags & MORE_PARTS:
            flags = struct.unpack_from(">H", glyph, at)[0]
            struct.pack_into(">H", glyph, at, flags & ~INSTRUCTIONS)
            at += 8 if flags & WIDE_ARGUMENTS else 6
            at += 2 if flags & SCALE else 4 if flags & TWO_SCALES else 8 if flags & MATRIX else 0
        glyph = bytes(glyph[:at])
    return glyph + bytes(-len(glyph) % 4)


def needed(font):
    """The font with these tables alone, and no instructions in its glyphs."""
    count = struct.unpack_from(">H", font, 4)[0]
    found = [struct.unpack_from(">4sIII", font, HEAD + ENTRY * i) for i in range(count)]
    tables = {tag: font[at:at + length] for tag, _, at, length in found if tag in TABLES}
    glyphs = struct.unpack_from(">H", tables[b"maxp"], 4)[0]
    wide = struct.unpack_from(">h", tables[b"head"], 50)[0]
    places = struct.unpack_from(f">{glyphs + 1}{'I' if wide else 'H'}", tables[b"loca"])
    places = [at if wide else 2 * at for at in places]
    outlines = [unhinted(tables[b"glyf"][at:end]) for at, end in zip(places, places[1:])]
    ends = [0]
    for outline in outlines:
        ends.append(ends[-1] + len(outline))
    tables[b"glyf"] = b"".join(outlines)
    tables[b"loca"] = struct.pack(f">{glyphs + 1}{'I' if wide else 'H'}", *(at if wide else at // 2 for at in ends))
    power = 1 << len(tables).bit_length() - 1
    directory = struct.pack(">4sHHHH", font[:4], len(tables), power * ENTRY, power.bit_length() - 1,
                            (len(tables) - power) * ENTRY)
    data, at = b"", HEAD + ENTRY * len(tables)
    for tag, table in sorted(tables.items()):
        table += bytes(-len(table) % 4)
        checksum = sum(struct.unpack(f">{len(table) // 4}I", table)) & 0xffffffff
        directory += struct.pack(">4sIII", tag, checksum, at + len(data), len(table))
        data += table
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
