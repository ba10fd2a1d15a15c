"""Takes the entries that travel with the branches of agents, and adds them to their
threads.

Only remote-tracking branches that match the patterns in the settings are examined,
each commit once; never forks' pull requests. For its outboxes, the remote's default
branch is examined too, because a merged pull request brings them there. What cannot be
an entry is refused line by line, and kept for ``wc problems``.
"""

from __future__ import annotations

import os
from itertools import islice

from wc_cli.branch.git import Git
from wc_cli.carry import roads
from wc_cli.store import durable, locks
from wc_cli.store.upkeep import Upkeep
from wc_core.carry import carriers, checking, modes, records
from wc_core.carry.checking import RefusedLineError
from wc_core.carry.records import Harvested, Refused
from wc_core.configuration import keys
from wc_core.errors import (
    ConflictError,
    CorruptError,
    InvalidInputError,
    NotFoundError,
)
from wc_core.files import read_plain
from wc_core.git import remotes
from wc_core.layout import BRANCH, Layout
from wc_core.lean import contextlib
from wc_core.phrases import counted
from wc_core.text import one_line
from wc_core.threads import codec
from wc_core.threads.jsontext import dumps
from wc_core.threads.model import Entry
from wc_core.threads.reader import StoreReader
from wc_core.values import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from wc_core.carry.carriers import Line
    from wc_core.git.repository import Repository
    from wc_core.threads.settings import Settings

_HOLDER = "wc harvest"
# The commits of a branch that are examined, and the bytes that are read of its
# carriers.
_MAX_COMMITS = 500
_MAX_BYTES = 16 * 1024 * 1024
# What is in memory at a time; the rest is left to the next harvest.
_MAX_BYTES_OF_ALL = 64 * 1024 * 1024
_MAX_REFUSED = 20
# Of the branches of a remote that match.
_MAX_BRANCHES = 500
_BLOB = "blob"
# The mode of a symbolic link.
_LINK = "120000"
# The words of git-cat-file(1) about an object that exists.
_FOUND = 3
_LOCK_SECONDS = 2.0


class Harvest(NamedTuple):
    """What was found: the number of new entries, by the names of branches and of
    threads, and what was ``refused``, by the names of branches."""

    branches: Mapping[str, Mapping[str, int]]
    refused: Mapping[str, tuple[Refused, ...]]

    def lines(self, *, dry_run: bool = False) -> list[str]:
        """Lines for the user about what came, one for each branch."""
        verb = "would come" if dry_run else "came"
        return [
            f"{branch}: {counted(sum(topics.values()), 'entry', 'entries')} {verb} "
            f"({', '.join(topics)})"
            for branch, topics in self.branches.items()
        ]

    @property
    def notes(self) -> list[str]:
        """Notes for the user about what was refused."""
        return [
            f"{branch}: {row.place}: {row.reason} (see: wc problems)"
            for branch, rows in self.refused.items()
            for row in rows
        ]


class _Source(NamedTuple):
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


def is_wanted(rules: Settings) -> bool:
    """Whether entries are taken without anyone's word."""
    return rules.harvest == keys.AUTO and bool(rules.agents_branches)


def refspecs(rules: Settings, remote: str) -> list[str]:
    """What to fetch of a remote: the branches of agents, as git's usual configuration
    would. A branch that is missing there is no error: its name becomes a pattern."""
    patterns = [
        pattern if "*" in pattern else f"{pattern}*"
        for pattern in rules.agents_branches
        if pattern.count("*") <= 1
    ]
    return [f"+refs/heads/{name}:refs/remotes/{remote}/{name}" for name in patterns]


def harvest(
    root: str,
    env: Mapping[str, str],
    code: Repository,
    remote: str,
    *,
    branches: Sequence[str] = (),
    dry_run: bool = False,
) -> Harvest:
    """Add to the store at ``root`` what travels with the branches of agents that were
    fetched from ``remote``; of these ``branches``, whatever they are called, if there
    are any.

    The entries are on disk afterwards, like those that are written. Raises
    InvalidInputError for a branch that was not fetched, GitError, LockTimeoutError.
    """
    layout = Layout(root)
    with locks.locked(layout.harvest_lock, _HOLDER, _LOCK_SECONDS, root):
        run = _Harvesting(root, env, code)
        return run.run(remote, branches, dry_run=dry_run)


class _Harvesting:
    """One harvest. The carriers of all branches are read by a few git processes, and
    each thread is written once."""

    def __init__(self, root: str, env: Mapping[str, str], code: Repository) -> None:
        self.layout = Layout(root)
        self.code = code
        self.reader = StoreReader(root)
        self.upkeep = Upkeep(self.reader, env)
        self.rules = self.upkeep.rules
        self.git = Git(code.common, env, bare=True)
        self.harvested = dict(records.harvests(self.layout))
        self.refused: dict[str, list[Refused]] = {}
        # The branches of which not everything was read.
        self.postponed: set[str] = set()
        # The entries of each thread, by id, with their lines.
        self._present: dict[str, dict[str, set[bytes]]] = {}

    def run(self, remote: str, branches: Sequence[str], *, dry_run: bool) -> Harvest:
        trunk = roads.default_branch(self.code, remote)
        refs = self._refs(remote)
        sources = list(self._sources(refs, remote, branches, trunk))
        base = f"refs/remotes/{remote}/{trunk}" if trunk else ""
        new = self._new_lines(self._lines(sources, base))
        if new and not dry_run:
            self._add(new)
        if sources and not dry_run:
            self._record(sources, refs, f"refs/remotes/{remote}/")
        counts: dict[str, dict[str, int]] = {}
        for name, line in new.values():
            topics = counts.setdefault(name, {})
            topics[line.topic] = topics.get(line.topic, 0) + 1
        refused = {name: tuple(rows) for name, rows in self.refused.items()}
        return Harvest(counts, refused)

    def _refuse(self, name: str, place: str, reason: str) -> None:
        rows = self.refused.setdefault(name, [])
        if len(rows) < _MAX_REFUSED:
            rows.append(Refused(place, reason))

    def _refs(self, remote: str) -> dict[str, str]:
        """The remote-tracking branches of a remote, with their commits."""
        prefix = f"refs/remotes/{remote}/"
        out = self.git.run("for-each-ref", "--format=%(objectname) %(refname)", prefix)
        pairs = (line.partition(" ") for line in os.fsdecode(out).splitlines())
        return {
            ref: commit
            for commit, _, ref in pairs
            if ref not in {f"{prefix}HEAD", f"{prefix}{BRANCH}"}
        }

    def _sources(
        self,
        refs: Mapping[str, str],
        remote: str,
        branches: Sequence[str],
        trunk: str,
    ) -> Iterator[_Source]:
        """Yield the branches that have something new."""
        prefix = f"refs/remotes/{remote}/"
        for branch in branches:
            if f"{prefix}{branch}" not in refs:
                raise InvalidInputError(
                    f"{remote} has no branch {one_line(branch)!r} here.",
                    f"Fetch it: git fetch {remote} {one_line(branch)}",
                )
        matching = 0
        for ref, commit in refs.items():
            name = ref.removeprefix(prefix)
            is_agents = modes.is_agents(name, self.rules.agents_branches)
            examined = self.harvested.get(ref, Harvested()).commit
            if branches:
                if name in branches:
                    yield _Source(ref, name, commit, "", trunk=False)
                continue
            if not is_agents and name != trunk:
                continue
            matching += 1
            if commit != examined and matching <= _MAX_BRANCHES:
                yield _Source(ref, name, commit, examined, trunk=not is_agents)

    def _lines(
        self, sources: Sequence[_Source], base: str
    ) -> Iterator[tuple[str, Line]]:
        """Yield the entries that the branches carry, each with the branch's name."""
        candidates = [*self._outboxes(sources), *self._commits(sources, base)]
        for carrier, data in self._contents(candidates):
            if carrier.kind != _BLOB and not carriers.is_carrier(data):
                continue
            rows = list(islice(carriers.lines_of(data), carriers.MAX_LINES + 1))
            if len(rows) > carriers.MAX_LINES:
                reason = f"has more than {carriers.MAX_LINES} lines"
                self._refuse(carrier.name, carrier.place, reason)
                continue
            for number, row in enumerate(rows, 1):
                try:
                    yield carrier.name, checking.checked(row, self.rules.directory)
                except RefusedLineError as error:
                    reason = f"line {number}: {error}"
                    self._refuse(carrier.name, carrier.place, reason)

    def _commits(self, sources: Sequence[_Source], base: str) -> Iterator[_Carrier]:
        """Yield the commits of branches that were not examined, the oldest first."""
        earlier = [source.examined for source in sources if source.examined]
        existing = self._sizes(earlier)
        commits: list[tuple[str, str]] = []
        for source in sources:
            if source.trunk:
                continue
            excluded = [base] if base else []
            excluded += [source.examined] if source.examined in existing else []
            words = ("--reverse", f"--max-count={_MAX_COMMITS}", source.commit)
            out = self.git.run("rev-list", *words, "--not", *excluded, "--")
            commits += [(source.name, commit) for commit in out.decode().split()]
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

    def _outboxes(self, sources: Sequence[_Source]) -> Iterator[_Carrier]:
        """Yield the outboxes in the last commits of branches."""
        feed = "".join(f"{item.commit}:{carriers.OUTBOX}\n" for item in sources)
        out = self.git.run("cat-file", "--batch-check", feed=feed.encode())
        rows = [line.split() for line in out.decode(errors="replace").splitlines()]
        for source, row in zip(sources, rows, strict=True):
            if len(row) == _FOUND and row[1] == "tree":
                yield from self._outboxes_of(source)

    def _outboxes_of(self, source: _Source) -> Iterator[_Carrier]:
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
                self._refuse(carrier.name, carrier.place, reason)
            else:
                sizes[carrier.name] = size
                chosen.append(carrier)
        contents = _objects(self.git, [carrier.object for carrier in chosen])
        for carrier in chosen:
            data = contents.get(carrier.object, b"")
            if carrier.kind != _BLOB:
                _, _, data = data.partition(b"\n\n")
            yield carrier, data

    def _new_lines(
        self, lines: Iterable[tuple[str, Line]]
    ) -> dict[str, tuple[str, Line]]:
        """The entries that the store lacks, by id, with the name of the first branch
        that has them. Another version of an entry is refused."""
        new: dict[str, tuple[str, Line]] = {}
        for name, line in lines:
            try:
                present = self._lines_in_store(line.topic).get(line.id)
            except CorruptError as error:
                self._refuse(name, line.topic, error.message)
                continue
            if present is not None and line.data not in present:
                reason = f"entry {line.id} differs from the one that is here"
                self._refuse(name, line.topic, reason)
            elif present is None and new.setdefault(line.id, (name, line))[1] != line:
                reason = f"entry {line.id} differs from another"
                self._refuse(name, line.topic, reason)
        return new

    def _lines_in_store(self, topic: str) -> dict[str, set[bytes]]:
        """The lines of the entries that a thread has, by their ids."""
        if topic not in self._present:
            lines: dict[str, set[bytes]] = {}
            with contextlib.suppress(NotFoundError):
                for data in self.reader.thread(topic).data.splitlines():
                    entry = codec.read_line(topic, data) if data.strip() else None
                    if isinstance(entry, Entry):
                        lines.setdefault(entry.id, set()).add(data.strip())
            self._present[topic] = lines
        return self._present[topic]

    def _add(self, new: dict[str, tuple[str, Line]]) -> None:
        """Add entries to their threads. Those of a thread that cannot be written are
        refused, and removed from ``new``."""
        from wc_cli.exchange import importing  # 6 ms, only if something came

        self._note_ways(new)
        by_topic: dict[str, list[tuple[str, Line]]] = {}
        for name, line in new.values():
            by_topic.setdefault(line.topic, []).append((name, line))
        for topic, rows in by_topic.items():
            data = carriers.outbox(line for _, line in rows)
            try:
                importing.add_lines(self.upkeep, topic, data, _HOLDER)
            except (ConflictError, CorruptError) as error:
                for name, line in rows:
                    self._refuse(name, topic, error.message)
                    del new[line.id]

    def _note_ways(self, new: Mapping[str, tuple[str, Line]]) -> None:
        """Record with which branches entries came, before they do."""
        path, root = self.layout.harvested, self.layout.root
        data = read_plain(path, root) or b""
        known_rows = set(data.splitlines())
        rows = [
            dumps({"entry": line.id, "via": name}).encode()
            for name, line in new.values()
        ]
        missing = [row + b"\n" for row in rows if row not in known_rows]
        if data and not data.endswith(b"\n"):
            missing.insert(0, b"\n")
        durable.create(path, data + b"".join(missing), root)

    def _record(
        self, sources: Iterable[_Source], refs: Mapping[str, str], prefix: str
    ) -> None:
        """Record which branches were examined. Branches that are gone are
        forgotten."""
        for source in sources:
            if source.name in self.postponed:
                continue
            before = self.harvested.get(source.ref, Harvested()).refused
            rows = dict.fromkeys((*before, *self.refused.get(source.name, ())))
            refused = tuple(rows)[-_MAX_REFUSED:]
            self.harvested[source.ref] = Harvested(source.commit, refused)
        kept = {
            ref: row
            for ref, row in self.harvested.items()
            if ref in refs or not ref.startswith(prefix)
        }
        data = f"{dumps(records.harvest_fields(kept))}\n".encode()
        durable.replace(self.layout.harvest, data, self.layout.root)


def forget_refused(root: str) -> int:
    """Forget what was refused in the store at ``root``. Returns the number of
    problems."""
    layout = Layout(root)
    if not os.path.lexists(layout.harvest):
        return 0
    with locks.locked(layout.harvest_lock, _HOLDER, _LOCK_SECONDS, root):
        harvested = records.harvests(layout)
        rows = {ref: row._replace(refused=()) for ref, row in harvested.items()}
        data = f"{dumps(records.harvest_fields(rows))}\n".encode()
        durable.replace(layout.harvest, data, root)
    return sum(len(row.refused) for row in harvested.values())


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


def code_remote(code: Repository, env: Mapping[str, str]) -> str:
    """The remote with the branches of agents: ``origin``, or the only one; empty if it
    is not clear."""
    names = remotes.names(code, env)
    if "origin" in names:
        return "origin"
    return names[0] if len(names) == 1 else ""
