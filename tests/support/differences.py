# SPDX-License-Identifier: Apache-2.0
"""Compares figures one by one and remembers which were right, wrong or known to differ."""

from fnmatch import fnmatchcase

MISSING = "missing"


class Differences:
    """known: rows (case pattern, figure pattern, reason): differences that were looked into and are right.
    A row that matches nothing in a whole run is itself an error, see tell_unused."""

    def __init__(self, case, known=()):
        self.case, self.known = case, known
        self.compared = 0
        self.wrong = []
        self.excused = []

    def equal(self, figure, want, got):
        """One figure; exact, no tolerance.  True where it is equal."""
        self.compared += 1
        if type(want) is type(got) and want == got:
            return True
        if isinstance(want, (int, float)) and isinstance(got, (int, float)) and not isinstance(got, bool) and want == got:
            return True
        for row in self.known:
            if fnmatchcase(self.case, row[0]) and fnmatchcase(figure, row[1]):
                self.excused.append((row, figure))
                return False
        self.wrong.append((figure, want, got))
        return False

    def lists(self, figure, want, got):
        """Two lists, element by element; tells the first difference and how many there are."""
        if not isinstance(got, list):
            return self.equal(figure, want, got)
        if want == got:
            self.compared += max(1, len(want))
            return True
        self.equal(f"{figure}.length", len(want), len(got))
        bad = [i for i in range(min(len(want), len(got))) if want[i] != got[i]]
        for i in bad[:3]:
            self.equal(f"{figure}[{i}]", want[i], got[i])
        if len(bad) > 3:
            self.equal(f"{figure}[...]", f"{len(want)} equal elements", f"{len(bad)} different ones")
        return False

    def worked_out(self, summary, path):
        """The figure or section at `path`; None where it is null, which is a difference: the truth has it."""
        value = at(summary, path)
        if value is not None and value is not MISSING:
            return value
        parent, _, key = path.rpartition(".")
        self.equal(path, "a figure", MISSING if value is MISSING else
                   f"null: {at(at(summary, parent) if parent else summary, f'why.{key}')}")
        return None

    def near(self, figure, want, got):
        """A quotient: equal but for the last digits of a double."""
        is_number = isinstance(got, (int, float)) and not isinstance(got, bool)
        if want is None or not is_number:
            return self.equal(figure, want, got)
        return self.equal(figure, want, want if abs(got - want) <= 1e-9 * max(1.0, abs(want)) else got)

    def part(self, compare, *arguments):
        """Run one part of a comparison; a section that the summary lacks is a difference, not an end."""
        try:
            compare(self, *arguments)
        except (KeyError, TypeError, AttributeError, IndexError) as missing:
            self.equal(f"{compare.__name__}: shape of the summary", "complete", f"{type(missing).__name__}: {missing}")

    def report(self, most=40):
        lines = []
        for figure, want, got in self.wrong[:most]:
            tail = ""
            if isinstance(want, int) and isinstance(got, int):
                tail = f"  ({got - want:+})"
            lines.append(f"{figure}: expected {want!r}, got {got!r}{tail}")
        if len(self.wrong) > most:
            lines.append(f"... and {len(self.wrong) - most} more figures")
        return "\n".join(lines)

    def tell(self, tap, name, used=None):
        """The case that all figures agree.  used: takes the rows of known differences that were met."""
        tap.ok(not self.wrong, name, f"{len(self.wrong)} of {self.compared} figures differ", self.report())
        for row, figure in self.excused:
            if used is not None:
                used.add(row)
            print(f"# known: {figure}: {row[2]}")


def tell_unused(tap, known, used, cases):
    """Fails for each row of known differences whose case was among those that ran, `cases` a pattern, and was not met."""
    for row in known:
        if fnmatchcase(row[0], cases) and row not in used:
            tap.ok(False, f"known difference {row[0]} {row[1]}", "it is there no longer: take the row out")


def at(tree, path):
    """The value at 'a.b.0.c', MISSING where there is none."""
    for key in path.split("."):
        if isinstance(tree, dict) and key in tree:
            tree = tree[key]
        elif isinstance(tree, list) and key.isdigit() and int(key) < len(tree):
            tree = tree[int(key)]
        else:
            return MISSING
    return tree
