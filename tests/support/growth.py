# SPDX-License-Identifier: Apache-2.0
"""Whether a series of measurements grows: what a long run holds, one number after each piece of work."""


def slope(values):
    """What a straight line through them rises by from one to the next."""
    count = len(values)
    middle = (count - 1) / 2
    spread = sum((i - middle) ** 2 for i in range(count))
    return sum((i - middle) * value for i, value in enumerate(values)) / spread if spread else 0.0


def tail(values, warm_up):
    return values[min(warm_up, len(values) // 2):]


def growth(values, warm_up):
    """After the warm-up: (rise from one to the next, how far the most lies above the most of the warm-up)."""
    rest = tail(values, warm_up)
    return slope(rest), max(rest) - max(values[:len(values) - len(rest)] or rest)
