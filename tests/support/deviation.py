# SPDX-License-Identifier: Apache-2.0
"""Standard deviations in whole numbers."""

from math import isqrt


def stddev_ps(count, total, squares):
    """With n - 1, rounded; None of fewer than two.  squares: the sum of the squares"""
    if count < 2:
        return None
    return (isqrt(4 * (count * squares - total * total) // (count * (count - 1))) + 1) // 2


def stddev_of(lengths):
    return stddev_ps(len(lengths), sum(lengths), sum(v * v for v in lengths))
