"""What two commits change both, and whether git can merge it."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, TypeAlias

from wc_cli.branch.git import GitError
from wc_core.radar.report import Overlap
from wc_core.text import one_line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from wc_cli.branch.git import Git

    # First line and end in the common version, and the heading.
    Hunk: TypeAlias = tuple[int, int, str]

_OID = re.compile(rb"[0-9a-f]{40,64}")
_HUNK = re.compile(r"^@@ -(\d+)(?:,(\d+))? \+\S+ @@ ?(.*)$", re.MULTILINE)
_MAX_SYMBOLS = 5
_MAX_HEADING = 80


class Comparer:
    """Compares commits of one repository. What was asked is remembered."""

    def __init__(self, git: Git) -> None:
        self.git = git
        self._bases: dict[tuple[str, str], str] = {}
        self._changed: dict[tuple[str, str], frozenset[str]] = {}

    def base(self, first: str, second: str) -> str:
        """The merge base of two commits; empty if they have none."""
        pair = (min(first, second), max(first, second))
        if pair not in self._bases:
            try:
                self._bases[pair] = self.git.line("merge-base", *pair)
            except GitError:
                self._bases[pair] = ""
        return self._bases[pair]

    def changed(self, base: str, commit: str) -> frozenset[str]:
        """The files that differ between two commits. Raises GitError."""
        if base == commit:
            return frozenset()
        if (base, commit) not in self._changed:
            words = ("diff", "--name-only", "-z", "--no-renames", "--no-ext-diff")
            names = os.fsdecode(self.git.run(*words, base, commit, "--")).split("\0")
            self._changed[base, commit] = frozenset(filter(None, names))
        return self._changed[base, commit]

    def overlaps(self, first: str, second: str) -> tuple[Overlap, ...]:
        """The files that both commits change, those that conflict first. Raises
        GitError."""
        base = self.base(first, second)
        if not base or base in (first, second):
            return ()
        shared = self.changed(base, first) & self.changed(base, second)
        if not shared:
            return ()
        hot = self._conflicts(first, second)
        # A file in the place of a folder conflicts under a name of git's own.
        overlaps = [
            Overlap(path, True, self._symbols(base, first, second, path))
            for path in sorted(hot)
        ]
        overlaps += [Overlap(path) for path in sorted(shared - hot)]
        return tuple(overlaps)

    def _conflicts(self, first: str, second: str) -> set[str]:
        """The files in which a trial merge has conflicts. Raises GitError."""
        words = ("merge-tree", "--write-tree", "-z", "--name-only", "--no-messages")
        try:
            output = self.git.run(*words, first, second)
        except GitError as error:
            output = error.out
            # It also fails for an unknown commit: then it prints no tree.
            if not _OID.fullmatch(output.partition(b"\0")[0]):
                raise
        return {os.fsdecode(name) for name in output.split(b"\0")[1:] if name}

    def _symbols(
        self, base: str, first: str, second: str, path: str
    ) -> tuple[str, ...]:
        """The headings of the places in a file that both sides change."""
        their_hunks = [hunk[:2] for hunk in self._hunks(base, second, path)]
        headings = dict.fromkeys(
            heading
            for start, end, heading in self._hunks(base, first, path)
            if heading
            and any(
                start <= last_line and first_line <= end
                for first_line, last_line in their_hunks
            )
        )
        return tuple(headings)[:_MAX_SYMBOLS]

    def _hunks(self, base: str, commit: str, path: str) -> Iterator[Hunk]:
        words = ("--unified=0", "--no-renames", "--no-ext-diff", "--no-textconv")
        literal = f":(literal,top){path}"
        output = self.git.run("diff", *words, base, commit, "--", literal)
        for match in _HUNK.finditer(output.decode(errors="replace")):
            start, count = int(match[1]), int(match[2] or 1)
            # Lines that touch conflict, too.
            yield start, start + count, one_line(match[3], _MAX_HEADING)
