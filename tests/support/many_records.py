# SPDX-License-Identifier: Apache-2.0
"""Millions of records that differ by a number, made column by column: seconds in place of minutes."""


def column(values, each, count):
    """A byte for each of `count` records: those of `values` in turn, every one `each` times, again and again."""
    period = b"".join(bytes([value]) * min(each, count) for value in values[:-(-count // each)])
    return (period * (-(-count // len(period))))[:count]


def put_columns(records, length, at, columns):
    for place, values in enumerate(columns):
        records[at + place::length] = values


def with_varints(record, at, count, numbers=4):
    """`count` times `record`, in which the `numbers` bytes at each place of `at` become the varint of 0, 1, 2..., padded to that
    length."""
    records = bytearray(record * count)
    low, last = bytes(range(0x80, 0x100)), bytes(range(0x80))
    columns = [column(last if i == numbers - 1 else low, 128 ** i, count) for i in range(numbers)]
    for place in at:
        put_columns(records, len(record), place, columns)
    return records


def put_digits(records, length, at, count, digits):
    """The `digits` bytes at `at` of each record become its number."""
    put_columns(records, length, at, [column(b"0123456789", 10 ** i, count) for i in reversed(range(digits))])
    return records
