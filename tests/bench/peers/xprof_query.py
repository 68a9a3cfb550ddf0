# SPDX-License-Identifier: Apache-2.0
"""SQL over the events of an XSpace with xprof:  xprof_query.py SQL FILE.xplane.pb

It keeps a database of each file, so it gets a folder of its own for it."""

import json
import sys
import tempfile
from pathlib import Path

from xprof.cli.tools.oss import events_db_tool


def main():
    query, path = sys.argv[1], Path(sys.argv[2]).resolve()
    with tempfile.TemporaryDirectory() as folder:
        tempfile.tempdir = folder
        link = Path(folder) / "host.xplane.pb"
        link.symlink_to(path)
        answer = json.loads(events_db_tool.query_events_db(str(link), query))
        rows = json.loads(Path(answer["path"]).read_text())
        if not rows:
            sys.exit("no rows")
        print(len(rows), rows[0])


if __name__ == "__main__":
    main()
