# SPDX-License-Identifier: Apache-2.0
"""What a command took: time of the processor and memory of it alone, its exit status, what it said on stderr."""

import os
import subprocess


class Cost:
    def __init__(self, command, seconds=120):
        with open(os.devnull, "wb") as nothing:
            process = subprocess.Popen(["timeout", str(seconds), *map(str, command)], stdin=subprocess.DEVNULL,
                                       stdout=nothing, stderr=subprocess.PIPE)
            self.said = process.stderr.read().decode("utf-8", "replace")
            _, status, usage = os.wait4(process.pid, 0)
        process.returncode = self.status = os.waitstatus_to_exitcode(status)
        self.seconds, self.mib = usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024
