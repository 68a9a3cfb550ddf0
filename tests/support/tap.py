# SPDX-License-Identifier: Apache-2.0
"""One line per case, in the Test Anything Protocol; tests/run.py counts them."""

import gc
import sys

# A test builds trees of millions of lists from a trace, and next to no garbage that points to itself: looking for it
# again and again takes up to half of the time.
gc.disable()


def _one_line(text):
    return " ".join(str(text).split()).replace("#", "\\#")


class Tap:
    """Counts cases and prints each as it ends."""

    def __init__(self):
        self.number = 0
        self.failed = 0

    def _print(self, word, name, tail=""):
        self.number += 1
        print(f"{word} {self.number} - {_one_line(name)}{tail}", flush=True)

    def ok(self, passed, name, *why):
        """A case; the lines of `why` are shown where it failed."""
        if passed:
            self._print("ok", name)
        else:
            self.failed += 1
            self._print("not ok", name)
            for text in why:
                for line in str(text).splitlines():
                    print(f"# {line}", flush=True)
        return bool(passed)

    def skip(self, name, reason):
        self._print("ok", name, f" # SKIP {_one_line(reason)}")

    def done(self):
        """Ends the program: the plan, then 0, or 1 where a case failed or there was none."""
        print(f"1..{self.number}", flush=True)
        sys.exit(1 if self.failed or self.number == 0 else 0)
