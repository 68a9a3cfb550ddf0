# SPDX-License-Identifier: Apache-2.0
"""The script that everybody writes first: how often each name occurs in a trace.json.gz."""

import gzip
import json
import sys
from collections import Counter

with gzip.open(sys.argv[1]) as file:
    document = json.loads(file.read())
names = Counter(event.get("name") for event in document["traceEvents"])
print(len(names), names.most_common(10))
