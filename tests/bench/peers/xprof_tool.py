# SPDX-License-Identifier: Apache-2.0
"""One page of xprof from an XSpace:  xprof_tool.py TOOL FILE.xplane.pb

It leaves caches beside the file that it reads, so it gets a link to it in a folder of its own."""

import sys
import tempfile
from pathlib import Path

from xprof.convert import raw_to_tool_data

OPTIONS = {"trace_viewer@": {"trace_viewer_options": {"resolution": "8000", "full_dma": True}}}


def main():
    tool, path = sys.argv[1], Path(sys.argv[2]).resolve()
    with tempfile.TemporaryDirectory() as folder:
        link = Path(folder) / "host.xplane.pb"
        link.symlink_to(path)
        parameters = {"host": "host", "hosts": ["host"], "use_saved_result": False, **OPTIONS.get(tool, {})}
        data, _ = raw_to_tool_data.xspace_to_tool_data([str(link)], tool, parameters)
        if not data:
            sys.exit(f"no {tool}")


if __name__ == "__main__":
    main()
