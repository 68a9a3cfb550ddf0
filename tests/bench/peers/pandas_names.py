# SPDX-License-Identifier: Apache-2.0
"""Time by name of a Chrome trace, with Python's json and pandas:  pandas_names.py FILE.json.gz"""

import gzip
import json
import sys

import pandas

with gzip.open(sys.argv[1]) as file:
    frame = pandas.DataFrame(json.load(file)["traceEvents"])
spans = frame[frame["ph"] == "X"]
print(spans.groupby("name")["dur"].agg(["count", "sum", "min", "max"]).sort_values("sum", ascending=False).head(20))
