"""The current source files of a worktree, from git's index and from changed and new
files."""

from __future__ import annotations

import os

from wc_cli.ledger.branch.git import Git
from wc_core.base.files import read_plain
from wc_core.base.lean import hashlib
from wc_core.base.values import NamedTuple
from wc_core.edits.graph.facts import kind_of
from wc_core.edits.graph.parsing import MAX_BYTES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from wc_core.ledger.git.repository import Repository

_LIST = ("ls-files", "-z", "-t", "-s", "-m", "-o", "--exclude-standard")
_FILE_MODES = frozenset({b"100644", b"100755"})
# More new files than this aren't someone's work but a folder that should be ignored.
_MAX_NEW = 2000
_SHA256_DIGITS = 64


class SourceFile(NamedTuple):
    """A source file: the id that git gives its content, its language, and its content
    if git doesn't have it."""

    oid: str
    kind: str
    content: bytes | None = None


class SourceReader:
    """Reads the source files of the worktree of a repository."""

    def __init__(self, repository: Repository, env: Mapping[str, str]) -> None:
        self.top = repository.top
        # A partial clone's missing objects are not fetched: nothing here waits for the
        # network.
        self.git = Git(self.top, {**env, "GIT_NO_LAZY_FETCH": "1"})

    def files(self) -> dict[str, SourceFile]:
        """The source files by path, sorted. Raises GitError."""
        indexed: dict[str, SourceFile] = {}
        changed: dict[str, str] = {}
        new: list[str] = []
        for tag, fields, path in _entries(self.git.run(*_LIST)):
            kind = kind_of(path)
            if not kind:
                continue
            if tag == b"?":
                new.append(path)
            elif fields[0] in _FILE_MODES:
                indexed[path] = SourceFile(fields[1].decode(), kind)
                if tag == b"C":
                    changed[path] = kind
        changed |= {path: kind_of(path) for path in new[:_MAX_NEW]}
        algorithm = _algorithm(indexed.values())
        for path, kind in changed.items():
            content = self._content(path)
            if content is None:
                indexed.pop(path, None)
            else:
                oid = _oid(content, algorithm)
                indexed[path] = SourceFile(oid, kind, content)
        return dict(sorted(indexed.items()))

    def _content(self, path: str) -> bytes | None:
        """The content of a file in the worktree; ``None`` if it is gone, not a regular
        file, or very large."""
        try:
            return read_plain(os.path.join(self.top, path), self.top, MAX_BYTES)
        except OSError:
            return None

    def contents(self, files: Mapping[str, SourceFile]) -> Iterator[tuple[str, bytes]]:
        """Yield the path and the content of files; of equal files, only the first.
        Leaves out what git does not have. Raises GitError."""
        blobs: dict[str, str] = {}
        for path, file in files.items():
            if file.content is None:
                blobs.setdefault(file.oid, path)
            else:
                yield path, file.content
        if not blobs:
            return
        feed = "".join(f"{oid}\n" for oid in blobs).encode()
        output = memoryview(self.git.run("cat-file", "--batch", feed=feed))
        place = 0
        for path in blobs.values():
            end = place + bytes(output[place : place + 100]).index(b"\n")
            words = bytes(output[place:end]).split(b" ")
            place = end + 1
            if len(words) == 3:  # noqa: PLR2004 - id, kind, size; else it is missing
                size = int(words[2])
                yield path, bytes(output[place : place + size])
                place += size + 1


def _entries(output: bytes) -> Iterator[tuple[bytes, list[bytes], str]]:
    """Yield the tag, the mode, the id and the stage, and the path of each entry that
    ``ls-files`` lists. A new file has only a tag."""
    for entry in output.split(b"\0"):
        tag, _, fields_and_path = entry.partition(b" ")
        if tag == b"?":
            yield tag, [], os.fsdecode(fields_and_path)
        elif tag:
            fields, _, path = fields_and_path.partition(b"\t")
            yield tag, fields.split(b" "), os.fsdecode(path)


def _algorithm(files: Iterable[SourceFile]) -> str:
    """The hash algorithm of a repository's ids."""
    oid = next((file.oid for file in files), "")
    return "sha256" if len(oid) == _SHA256_DIGITS else "sha1"


def _oid(content: bytes, algorithm: str) -> str:
    head = b"blob %d\0" % len(content)
    return hashlib.new(algorithm, head + content, usedforsecurity=False).hexdigest()
