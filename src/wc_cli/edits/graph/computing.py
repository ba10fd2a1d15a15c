"""Computes the graph of a worktree, and stores it."""

from __future__ import annotations

import os
import time

from wc_cli.ledger.branch.git import Git, GitError
from wc_cli.ledger.store.localfiles import LocalFiles
from wc_core.base import extras
from wc_core.base.errors import NotFoundError, StorageError, WcError
from wc_core.base.files import read_plain
from wc_core.base.lean import contextlib, hashlib, json
from wc_core.base.values import NamedTuple
from wc_core.edits.graph import kept, parsing, resolving
from wc_core.edits.graph.facts import VERSION, FileFacts, facts_of, kind_of
from wc_core.edits.graph.model import Graph
from wc_core.edits.graph.parsing import MAX_BYTES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from typing import Any

    from wc_core.base.layout import Layout
    from wc_core.ledger.git.repository import Repository

# Facts about other worktrees and branches are kept, up to this many times those in use.
_SPARE = 3
_SPARE_LEAST = 1000
_MAX_CACHE_BYTES = 1 << 28
# An unchanged graph is not written again for this long.
_FRESH_MS = 60_000
_LIST = ("ls-files", "-z", "-t", "-s", "-m", "-o", "--exclude-standard")
_FILE_MODES = frozenset({b"100644", b"100755"})
# More new files than this aren't someone's work but a folder that should be ignored.
_MAX_NEW = 2000
_SHA256_DIGITS = 64


def _now_ms() -> int:
    return time.time_ns() // 1_000_000


class GraphSource:
    """The worktree of a repository, and the store that keeps its graph, if there is
    one."""

    def __init__(
        self, repository: Repository, layout: Layout | None, env: Mapping[str, str]
    ) -> None:
        self.repository = repository
        self.layout = layout
        self.reader = SourceReader(repository, env)

    def graph(self) -> Graph:
        """The current graph of the worktree. Unchanged parts are not computed again.
        Raises NotFoundError without the parsers, and StorageError."""
        try:
            return self._current()
        except GitError as error:
            raise StorageError(
                f"The files of the worktree cannot be read: {error}.",
                "Check that git works here: git status",
            ) from error

    def _current(self) -> Graph:
        files = self.reader.files()
        head, key = self.repository.commit, _key(files)
        graph = self._kept()
        if graph is None or graph.key != key:
            uses = resolving.uses(self._facts(files))
            graph = Graph(uses, _now_ms(), head, key)
            self._keep(graph)
            return graph
        if graph.head != head or _now_ms() - graph.at_ms > _FRESH_MS:
            graph = graph._replace(head=head, at_ms=_now_ms())
            self._keep(graph)
        return graph

    def _kept(self) -> Graph | None:
        if self.layout is None:
            return None
        return kept.load(self.layout, self.repository.worktree_id)

    def _keep(self, graph: Graph) -> None:
        if self.layout is not None:
            path = self.layout.graph(self.repository.worktree_id)
            self._write(path, kept.encode(graph))

    def _facts(self, files: Mapping[str, SourceFile]) -> dict[str, FileFacts]:
        """The facts about all files; files not seen before are parsed. Raises
        NotFoundError without the parsers."""
        if parsing.missing_modules():
            raise NotFoundError(
                f"Files cannot be parsed: {parsing.EXTRA} is not installed.",
                f"Install it: {extras.adding('graph')}",
            )
        cached = self._cached_facts()
        missing = {
            path: file for path, file in files.items() if _name(file) not in cached
        }
        parsed = {}
        for path, content in self.reader.contents(missing):
            parsed[_name(files[path])] = facts_of(path, content).to_row()
        cached |= parsed
        if parsed and self.layout is not None:
            self._write(self.layout.graph_facts, _facts_bytes(cached, files))
        return {
            path: FileFacts.from_row(cached[_name(file)])
            for path, file in files.items()
            if _name(file) in cached
        }

    def _cached_facts(self) -> dict[str, list[Any]]:
        if self.layout is None:
            return {}
        try:
            path, root = self.layout.graph_facts, self.layout.root
            data = read_plain(path, root, _MAX_CACHE_BYTES)
            fields = json.loads(data or b"{}")
            return dict(fields["facts"]) if fields["v"] == VERSION else {}
        except kept.UNREADABLE:
            return {}

    def _write(self, path: str, data: bytes) -> None:
        """Write a file below ``.local``. Never raises: reading must not fail in a
        read-only store."""
        if self.layout is not None:
            name = os.path.relpath(path, self.layout.local)
            with contextlib.suppress(WcError, OSError):
                LocalFiles(self.layout).write(name, data)


def _name(file: SourceFile) -> str:
    """The cache key of a file's facts: equal files in two languages differ."""
    return f"{file.oid} {file.kind}"


def _key(files: Mapping[str, SourceFile]) -> str:
    """A key that differs if any file does."""
    lines = (f"{path}\0{file.oid}\0" for path, file in files.items())
    text = f"{VERSION}\0{''.join(lines)}"
    data = text.encode(errors="surrogateescape")
    return hashlib.new("sha256", data, usedforsecurity=False).hexdigest()


def _facts_bytes(
    cached: Mapping[str, list[Any]], files: Mapping[str, SourceFile]
) -> bytes:
    """The bytes of the cache file. Drops facts about other files once there are
    many."""
    names = {_name(file) for file in files.values()}
    if len(cached) > _SPARE * len(names) + _SPARE_LEAST:
        cached = {name: row for name, row in cached.items() if name in names}
    fields = {"v": VERSION, "facts": cached}
    return json.dumps(fields, separators=(",", ":")).encode()


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
