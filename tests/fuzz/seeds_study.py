# SPDX-License-Identifier: Apache-2.0
"""Seeds of fuzz_study: a medium, two kinds of summary, where the second one's changes begin, then the changes of both."""


def seeds(changes=16):
    out = {}
    for medium in range(0, 5):
        for kinds in (0x00, 0x10, 0x11, 0x54, 0xa5):
            out[f"whole-{medium}-{kinds}"] = bytes((medium, kinds, 128)) + bytes((0, 0, 0xff, 0xff, 0xff) * 2)
    for change in range(changes):
        # Every seventh value of the first, every fiftieth of the second; the bytes of a change are a text and a number, too.
        one, two = bytes((change, 7, 3, 0x3c, 0xff, 0x2f)), bytes((change, 50, 0x3c, 0x11))
        out[f"changed-{change}"] = bytes((change, 16 * (change % 16), 128)) + b"\5" + 30 * one + b"\5" + 45 * two
    return out
