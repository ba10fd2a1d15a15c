"""The result of merging two commits, from ``git merge-tree``, and the functions or
classes that contain conflicts.

One process merges all pairs (git 2.39 and newer). If that fails, for example because
two commits share no history, each pair gets its own process. git exits with 1 both for
a conflict and for an unknown revision, so an answer counts only if it begins with a
tree.

git marks the conflicts of a file in the merged text. With the lines of only one side,
the text is a source file again and can be parsed. Otherwise, git's heading of the hunk
stands for the definition.
"""

from __future__ import annotations

import os

from wc_cli.ledger.branch.git import GitError, GitTimeoutError
from wc_core.base.lean import re
from wc_core.base.text import one_line
from wc_core.base.values import NamedTuple
from wc_core.edits.graph.symbols import definitions, enclosing

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from typing import Protocol

    from wc_cli.ledger.branch.git import Git

    class MergeObjects(Protocol):
        """Where git finds the commits, and writes merges: variables that say so."""

        @property
        def merge_env(self) -> Mapping[str, str]:
            """The variables."""


_WORDS = ("merge-tree", "--write-tree", "-z", "--messages")
_OID = re.compile(rb"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_MERGED = "Auto-merging"
_CONFLICT = re.compile(r"CONFLICT \((.*)\)")
_OURS, _THEIRS = b"2", b"3"
MAX_SYMBOLS = 8
_MAX_WIDTH = 80
_LEFT, _BASE, _RIGHT, _END = b"<<<<<<< ", b"||||||| ", b"=======", b">>>>>>> "
# Lines that git uses as headings, and indented definitions.
_HEADING = re.compile(
    rb"[A-Za-z_$]|\s+(?:(?:export|default|async|static|public|private|protected|pub"
    rb"(?:\(\w+\))?|final|abstract|override|unsafe)\s+)*"
    rb"(?:def|class|function|func|fn|interface|struct|enum|trait|impl|type|module)\s"
)


class MergeResult(NamedTuple):
    """The result of merging two commits.

    - ``tree``: the merged files; conflicts are marked in them
    - ``conflicts``: what git calls the conflict in each path, such as "contents"
    - ``marked``: the paths that both sides have, so that conflicts are marked in them
    - ``merged``: the paths that both sides changed and that merge cleanly
    - ``problem``: why they were not merged; empty if they were
    """

    tree: str = ""
    conflicts: tuple[tuple[str, str], ...] = ()
    marked: frozenset[str] = frozenset()
    merged: tuple[str, ...] = ()
    problem: str = ""


def merge_all(
    git: Git, objects: MergeObjects, pairs: Sequence[tuple[str, str]]
) -> list[MergeResult]:
    """Merge each pair of commits. Raises GitTimeoutError."""
    if not pairs:
        return []
    feed = "".join(f"{first} {second}\n" for first, second in pairs).encode()
    try:
        output = git.run(*_WORDS, "--stdin", feed=feed, env=objects.merge_env)
    except GitTimeoutError:
        raise
    except GitError:
        return [_merge(git, objects, *pair) for pair in pairs]
    merges = list(parse_batch(output))
    if len(merges) != len(pairs):
        return [_merge(git, objects, *pair) for pair in pairs]
    return merges


def _merge(git: Git, objects: MergeObjects, first: str, second: str) -> MergeResult:
    try:
        output = git.run(*_WORDS, first, second, env=objects.merge_env)
    except GitTimeoutError:
        raise
    except GitError as error:
        if not _OID.fullmatch(error.out.partition(b"\0")[0]):
            return MergeResult(problem=str(error))
        output = error.out
    # Without --stdin, nothing ends the last record.
    return next(_parse_records(iter([*output.split(b"\0"), b""])))


def parse_batch(output: bytes) -> Iterator[MergeResult]:
    """The merges in the output of ``merge-tree --stdin -z``. The status before each is
    redundant."""
    tokens = iter(output.split(b"\0"))
    while next(tokens, b""):
        yield from _parse_records(tokens)


def _parse_records(tokens: Iterator[bytes]) -> Iterator[MergeResult]:
    """The next merge: a tree, the entries in conflict, then messages, and an empty
    token after each of the two."""
    tree = next(tokens, b"")
    if not _OID.fullmatch(tree):
        return
    stages: dict[str, set[bytes]] = {}
    for entry in iter(lambda: next(tokens, b""), b""):
        fields, _, path = entry.partition(b"\t")
        stages.setdefault(os.fsdecode(path), set()).add(fields.rpartition(b" ")[2])
    kinds = dict.fromkeys(stages, "")
    merged: dict[str, None] = {}
    for kind, paths in _messages(tokens):
        conflict = _CONFLICT.fullmatch(kind)
        if conflict is not None:
            # The first path may lack an entry. The first kind is the most informative.
            for name in (paths[0], *filter(stages.__contains__, paths[1:])):
                kinds[name] = kinds.get(name) or conflict[1]
        elif kind == _MERGED:
            merged[paths[0]] = None
    yield MergeResult(
        tree.decode(),
        tuple(sorted(kinds.items())),
        frozenset(
            path for path, numbers in stages.items() if {_OURS, _THEIRS} <= numbers
        ),
        tuple(sorted(merged.keys() - kinds.keys())),
    )


def _messages(tokens: Iterator[bytes]) -> Iterator[tuple[str, list[str]]]:
    """The kind of each message, and its paths."""
    # After a conflict in a submodule, git prints advice before the empty token.
    while (count := next(tokens, b"")).isdigit():
        paths = [os.fsdecode(next(tokens, b"")) for _ in range(int(count))]
        yield os.fsdecode(next(tokens, b"")), paths
        next(tokens, b"")  # the message itself, which is for people


def marked_files(
    git: Git, objects: MergeObjects, requested: Iterable[tuple[str, str]]
) -> dict[tuple[str, str], bytes]:
    """The content of files, each named by tree and path. Files that git does not have
    are first out. Raises GitError."""
    # git reads a name to the end of the line.
    names = [
        (tree, path) for tree, path in dict.fromkeys(requested) if "\n" not in path
    ]
    if not names:
        return {}
    feed = b"".join(f"{tree}:".encode() + os.fsencode(f"{p}\n") for tree, p in names)
    output = git.run("cat-file", "--batch", feed=feed, env=objects.merge_env)
    contents = {}
    for name in names:
        head, _, output = output.partition(b"\n")
        words = head.split(b" ")
        if len(words) == 3 and words[1] == b"blob":  # noqa: PLR2004 - id, kind, size
            length = int(words[2])
            contents[name], output = output[:length], output[length + 1 :]
    return contents


class OneSide(NamedTuple):
    """The text with the lines of one side, and its conflicting lines: first and last,
    counted from 1. If this side has none, the last is before the first."""

    text: bytes
    hunks: tuple[tuple[int, int], ...]


def conflict_symbols(
    path: str, marked: bytes, first: str, second: str
) -> tuple[str, ...]:
    """The definitions that contain the conflicts in a merged file, in file order.
    ``first`` and ``second`` are the merged commits."""
    sides = split_sides(marked, first, second)
    names = dict.fromkeys(name for side in sides for name in _symbols(path, side))
    return tuple(names)[:MAX_SYMBOLS]


def _symbols(path: str, side: OneSide) -> Iterator[str]:
    """The definitions that contain the hunks of one side."""
    defined = definitions(path, side.text)
    if defined is None:
        yield from _headings(side)
        return
    for hunk in side.hunks:
        yield from (item.name for item in enclosing(defined, *hunk))


def split_sides(marked: bytes, first: str, second: str) -> tuple[OneSide, OneSide]:
    """The two sides of a text in which git marked the conflicts."""
    begin, end = _LEFT + first.encode(), _END + second.encode()
    lines: tuple[list[bytes], list[bytes]] = ([], [])
    hunks: tuple[list[tuple[int, int]], list[tuple[int, int]]] = ([], [])
    starts = (0, 0)
    current: tuple[int, ...] = (0, 1)
    inside = False
    for line in marked.splitlines(keepends=True):
        if not inside and line.startswith(begin):
            inside, current = True, (0,)
            starts = (len(lines[0]) + 1, len(lines[1]) + 1)
        elif inside and current == (0,) and line.startswith(_BASE):
            current = ()
        elif inside and current != (1,) and line.rstrip(b"\r\n") == _RIGHT:
            current = (1,)
        elif inside and line.startswith(end):
            inside, current = False, (0, 1)
            for side in (0, 1):
                hunks[side].append((starts[side], len(lines[side])))
        else:
            for side in current:
                lines[side].append(line)
    return (
        OneSide(b"".join(lines[0]), tuple(hunks[0])),
        OneSide(b"".join(lines[1]), tuple(hunks[1])),
    )


def _headings(side: OneSide) -> Iterator[str]:
    """The headings of one side's hunks, as in git's diffs: the last one before a hunk,
    unless it begins with one, and those inside it."""
    lines = side.text.splitlines()
    for start, end in side.hunks:
        within = [line for line in lines[start - 1 : end] if line.strip()]
        if not (within and _HEADING.match(within[0])):
            before = reversed(lines[: start - 1])
            heading = next((line for line in before if _HEADING.match(line)), b"")
            if heading:
                yield _heading_text(heading)
        yield from (_heading_text(line) for line in within if _HEADING.match(line))


def _heading_text(line: bytes) -> str:
    return one_line(line.decode(errors="replace"), _MAX_WIDTH).rstrip("{: ")
