"""A report of the radar, and the file in which the last one is kept.

``.local/radar.json`` of the store. It can be deleted: the next report writes it again.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from wc_core.files import read_plain
from wc_core.radar import registries
from wc_core.values import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

    from wc_core.layout import Layout

VERSION = 1
HOT, SOFT = "hot", "soft"


class Tree(NamedTuple):
    """A worktree with its uncommitted changes, or a branch that was fetched.

    ``path`` is the root of the worktree, empty for a branch. ``commit`` is a snapshot:
    ``head``, or a commit on it with what is not committed. ``key`` changes with the
    state that the snapshot was made of. ``files`` differ from ``base``, the merge base
    with HEAD of the first worktree. ``left_out`` are files that are not in the
    snapshot: they look like secrets, or are too large.
    """

    name: str
    path: str
    branch: str
    head: str
    commit: str
    key: str
    base: str = ""
    files: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """The tree as answers show it."""
        fields = {
            "name": self.name,
            "branch": self.branch or None,
            "files": list(self.files),
        }
        return fields | ({"left_out": list(self.left_out)} if self.left_out else {})


class Overlap(NamedTuple):
    """A file that both trees of a pair change. ``conflicts`` says whether they do not
    merge; ``symbols`` are then the headings of the places, as git shows them."""

    path: str
    conflicts: bool = False
    symbols: tuple[str, ...] = ()

    @property
    def kind(self) -> str:
        """`HOT` if the changes do not merge, else `SOFT`."""
        return HOT if self.conflicts else SOFT

    @property
    def hint(self) -> str:
        """How a conflict in a registry is resolved; empty for every other file."""
        return registries.hint(self.path)

    def to_json(self) -> dict[str, Any]:
        """The file as answers show it."""
        return {
            "path": self.path,
            "kind": self.kind,
            **({"symbols": list(self.symbols)} if self.symbols else {}),
            **({"registry": self.hint} if self.hint else {}),
        }


class Pair(NamedTuple):
    """Two trees, by name and snapshot, and the files that both change, those that
    conflict first."""

    first: str
    second: str
    commits: tuple[str, str]
    overlaps: tuple[Overlap, ...]

    @property
    def hot(self) -> tuple[Overlap, ...]:
        """The files that conflict."""
        return tuple(overlap for overlap in self.overlaps if overlap.conflicts)

    def other(self, name: str) -> str:
        """The other tree of the pair."""
        return self.second if name == self.first else self.first

    def to_json(self) -> dict[str, Any]:
        """The pair as answers show it."""
        return {
            "trees": [self.first, self.second],
            "hot": bool(self.hot),
            "files": [overlap.to_json() for overlap in self.overlaps],
        }


class Report(NamedTuple):
    """What the radar saw at ``at_ms``, milliseconds since 1970. ``problems`` says which
    trees could not be read, and why."""

    at_ms: int = 0
    trees: tuple[Tree, ...] = ()
    pairs: tuple[Pair, ...] = ()
    problems: tuple[str, ...] = ()

    def pairs_of(self, name: str) -> tuple[Pair, ...]:
        """The pairs that a tree is in, those that conflict first."""
        pairs = [pair for pair in self.pairs if name in (pair.first, pair.second)]
        return tuple(sorted(pairs, key=lambda pair: not pair.hot))

    def tree_at(self, path: str) -> Tree | None:
        """The tree of the worktree with this root."""
        return next((tree for tree in self.trees if path and tree.path == path), None)


EMPTY = Report()


def render(report: Report) -> bytes:
    """The file of a report."""
    fields = {
        "version": VERSION,
        "at_ms": report.at_ms,
        "trees": [list(tree) for tree in report.trees],
        "pairs": [
            [pair.first, pair.second, pair.commits, [list(item) for item in pair[3]]]
            for pair in report.pairs
        ],
        "problems": report.problems,
    }
    text = json.dumps(fields, ensure_ascii=False, separators=(",", ":"))
    return f"{text}\n".encode(errors="surrogateescape")


def load(layout: Layout) -> Report:
    """The report that was kept last; an empty one if there is no valid one."""
    try:
        data = read_plain(layout.radar, layout.root) or b"null"
        fields = json.loads(data.decode(errors="surrogateescape"))
        if fields["version"] != VERSION:
            return EMPTY
        return Report(
            int(fields["at_ms"]),
            tuple(_tree(row) for row in fields["trees"]),
            tuple(_pair(*row) for row in fields["pairs"]),
            _texts(fields["problems"]),
        )
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        return EMPTY


def _tree(row: list[Any]) -> Tree:
    *texts, files, left_out = row
    name, path, branch, head, commit, key, base = _texts(texts)
    lists = _texts(files), _texts(left_out)
    return Tree(name, path, branch, head, commit, key, base, *lists)


def _pair(first: str, second: str, commits: list[str], rows: list[Any]) -> Pair:
    overlaps = (
        Overlap(str(path), bool(conflicts), _texts(symbols))
        for path, conflicts, symbols in rows
    )
    one, two = _texts(commits)
    return Pair(str(first), str(second), (one, two), tuple(overlaps))


def _texts(values: Iterable[Any]) -> tuple[str, ...]:
    return tuple(map(str, values))
