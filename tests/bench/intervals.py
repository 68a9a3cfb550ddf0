# SPDX-License-Identifier: Apache-2.0
"""Shares with their 95 % intervals."""

import math

Z = 1.959963984540054  # of the normal distribution, 95 % on both sides


def wilson(hits, of):
    """The interval of Wilson (1927) for a share.  out: (low, high), in percent"""
    if not of:
        return math.nan, math.nan
    share, square = hits / of, Z * Z
    middle = (share + square / (2 * of)) / (1 + square / of)
    half = Z / (1 + square / of) * math.sqrt(share * (1 - share) / of + square / (4 * of * of))
    return 100 * max(0.0, middle - half), 100 * min(1.0, middle + half)


def told(hits, of):
    """As a cell of a table: '3 of 1,000: 0.3 % (0.1 to 0.9 %)'"""
    if not of:
        return "none"
    low, high = wilson(hits, of)
    return f"{hits:,} of {of:,}: {100 * hits / of:.1f}% ({low:.1f} to {high:.1f}%)"
