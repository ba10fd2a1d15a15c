"""Reads the lines that travel with branches: those of the messages of carriers, and of
outboxes.

A few git processes read those of all branches. What cannot be an entry is refused line
by line.
"""

from __future__ import annotations

import os
from itertools import islice

from wc_core.base.text import one_line
from wc_core.base.values import NamedTuple
from wc_core.ledger.carry import carriers
from wc_core.ledger.carry.carriers import RefusedLineError
from wc_core.ledger.carry.records import Refused

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from wc_cli.ledger.branch.git import Git
    from wc_core.base.names import Directory
    from wc_core.ledger.carry.carriers import Line

# The commits of a branch that are examined, and the bytes that are read of its
# carriers.
_MAX_COMMITS = 500
_MAX_BYTES = 16 * 1024 * 1024
# What is in memory at a time; the rest is left to the next harvest.
_MAX_BYTES_OF_ALL = 64 * 1024 * 1024
MAX_REFUSED = 20
_BLOB = "blob"
# The mode of a symbolic link.
_LINK = "120000"
# The words of git-cat-file(1) about an object that exists.
_FOUND = 3


class ExaminedBranch(NamedTuple):
    """A branch to examine: its ref, its ``name`` at the remote, its commit, and the one
    that was examined before. Only the outboxes of a ``trunk`` count."""

    ref: str
    name: str
    commit: str
    examined: str
    trunk: bool


class _Carrier(NamedTuple):
    """A commit or an outbox with lines: the ``name`` of its branch, the ``object`` that
    has them, and what people call it."""

    name: str
    object: str
    kind: str
    size: int
    place: str


class Refusals:
    """What was refused, by the names of branches."""

    def __init__(self) -> None:
        self.rows: dict[str, list[Refused]] = {}

    def add(self, branch: str, place: str, reason: str) -> None:
        """Add a row, unless the branch has enough of them."""
        rows = self.rows.setdefault(branch, [])
        if len(rows) < MAX_REFUSED:
            rows.append(Refused(place, reason))

    def of(self, branch: str) -> tuple[Refused, ...]:
        """Return what was refused of a branch."""
        return tuple(self.rows.get(branch, ()))


class CarrierReader:
    """Reads the carriers and outboxes of branches. ``directory`` has the names of
    participants. ``postponed`` are the branches of which not everything was read."""

    def __init__(self, git: Git, directory: Directory, refusals: Refusals) -> None:
        self.git = git
        self.directory = directory
        self.refusals = refusals
        self.postponed: set[str] = set()

    def lines(
        self, sources: Sequence[ExaminedBranch], base: str
    ) -> Iterator[tuple[str, Line]]:
        """Yield the entries that the branches carry, each with the branch's name."""
        candidates = [*self._outboxes(sources), *self._commits(sources, base)]
        for carrier, data in self._contents(candidates):
            if carrier.kind != _BLOB and not carriers.is_carrier(data):
                continue
            rows = list(islice(carriers.lines_of(data), carriers.MAX_LINES + 1))
            if len(rows) > carriers.MAX_LINES:
                reason = f"has more than {carriers.MAX_LINES} lines"
                self.refusals.add(carrier.name, carrier.place, reason)
                continue
            for number, row in enumerate(rows, 1):
                try:
                    yield carrier.name, carriers.checked(row, self.directory)
                except RefusedLineError as error:
                    reason = f"line {number}: {error}"
                    self.refusals.add(carrier.name, carrier.place, reason)

    def _commits(
        self, sources: Sequence[ExaminedBranch], base: str
    ) -> Iterator[_Carrier]:
        """Yield the commits of branches that were not examined, the oldest first."""
        earlier = [source.examined for source in sources if source.examined]
        existing = self._sizes(earlier)
        commits: list[tuple[str, str]] = []
        for source in sources:
            if source.trunk:
                continue
            excluded = [base] if base else []
            excluded += [source.examined] if source.examined in existing else []
            words = ("--reverse", f"--max-count={_MAX_COMMITS + 1}", source.commit)
            out = self.git.run("rev-list", *words, "--not", *excluded, "--")
            new = out.decode().split()
            # Without a default branch, they may be the whole history.
            if excluded and len(new) > _MAX_COMMITS:
                reason = f"only the last {_MAX_COMMITS} new commits were examined"
                self.refusals.add(source.name, source.commit[:10], reason)
            commits += [(source.name, commit) for commit in new[-_MAX_COMMITS:]]
        sizes = self._sizes([commit for _, commit in commits])
        for name, commit in commits:
            yield _Carrier(name, commit, "commit", sizes.get(commit, 0), commit[:10])

    def _sizes(self, objects: Sequence[str]) -> dict[str, int]:
        """The sizes of those objects that exist, without fetching any."""
        if not objects:
            return {}
        feed = "".join(f"{name}\n" for name in objects).encode()
        env = {"GIT_NO_LAZY_FETCH": "1"}
        out = self.git.run("cat-file", "--batch-check", feed=feed, env=env)
        rows = (line.split() for line in out.decode().splitlines())
        return {row[0]: int(row[2]) for row in rows if len(row) == _FOUND}

    def _outboxes(self, sources: Sequence[ExaminedBranch]) -> Iterator[_Carrier]:
        """Yield the outboxes in the last commits of branches."""
        feed = "".join(f"{item.commit}:{carriers.OUTBOX}\n" for item in sources)
        out = self.git.run("cat-file", "--batch-check", feed=feed.encode())
        rows = [line.split() for line in out.decode(errors="replace").splitlines()]
        for source, row in zip(sources, rows, strict=True):
            if len(row) == _FOUND and row[1] == "tree":
                yield from self._outboxes_of(source)

    def _outboxes_of(self, source: ExaminedBranch) -> Iterator[_Carrier]:
        words = ("--full-tree", "-z", "-l", source.commit, "--", f"{carriers.OUTBOX}/")
        for record in self.git.run("ls-tree", *words).split(b"\0"):
            info, _, path = record.partition(b"\t")
            if not path.endswith(b".jsonl"):
                continue
            mode, kind, blob, size = info.decode().split()
            if kind == _BLOB and mode != _LINK and size.isdigit():
                place = f"{source.commit[:10]}:{one_line(os.fsdecode(path))}"
                yield _Carrier(source.name, blob, _BLOB, int(size), place)

    def _contents(
        self, candidates: Iterable[_Carrier]
    ) -> Iterator[tuple[_Carrier, bytes]]:
        """Yield the content of carriers that are not too large."""
        chosen: list[_Carrier] = []
        sizes: dict[str, int] = {}
        for carrier in candidates:
            size = sizes.get(carrier.name, 0) + carrier.size
            if sum(sizes.values()) + carrier.size > _MAX_BYTES_OF_ALL:
                self.postponed.add(carrier.name)
            elif carrier.size > carriers.MAX_CARRIER_BYTES or size > _MAX_BYTES:
                reason = f"has {carrier.size} bytes, more than is read"
                self.refusals.add(carrier.name, carrier.place, reason)
            else:
                sizes[carrier.name] = size
                chosen.append(carrier)
        contents = _objects(self.git, [carrier.object for carrier in chosen])
        for carrier in chosen:
            data = contents.get(carrier.object, b"")
            if carrier.kind != _BLOB:
                _, _, data = data.partition(b"\n\n")
            yield carrier, data


def _objects(git: Git, names: Sequence[str]) -> dict[str, bytes]:
    """The bytes of objects, by id, read by a single git process."""
    if not names:
        return {}
    out = git.run("cat-file", "--batch", feed="".join(f"{n}\n" for n in names).encode())
    result: dict[str, bytes] = {}
    position = 0
    while position < len(out):
        end = out.index(b"\n", position)
        head = out[position:end].decode().split()
        position = end + 1
        if len(head) == _FOUND:
            size = int(head[2])
            result[head[0]] = out[position : position + size]
            position += size + 1
    return result
