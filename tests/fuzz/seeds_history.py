# SPDX-License-Identifier: Apache-2.0
"""Seeds of fuzz_history: what is no history.  Real ones the target makes itself."""

import sqlite3


def seeds():
    other = sqlite3.connect(":memory:")
    other.execute("create table runs(id text primary key, name blob)")
    other.execute("insert into runs values('a', x'ff00')")
    other.execute("pragma user_version = 1")
    return {"empty": b"", "text": b"SQLite format 3\0", "other": other.serialize() if hasattr(other, "serialize") else b"x"}
