"""Takes the entries that travel with the branches of agents, and adds them to their
threads.

Only remote-tracking branches that match the patterns in the settings are examined,
each commit once; never forks' pull requests. For its outboxes, the remote's default
branch is examined too, because a merged pull request brings them there. What cannot be
an entry is refused line by line, and kept for ``wc problems``.
"""

from __future__ import annotations

from itertools import islice

from wc_cli.branch.git import Git
from wc_cli.carry import roads
from wc_cli.exchange import importing
from wc_cli.store import durable, locks
from wc_cli.store.upkeep import Upkeep
from wc_core.carry import carriers, checking, records
from wc_core.carry.checking import RefusedLineError
from wc_core.carry.records import Harvested, Refused
from wc_core.configuration import keys
from wc_core.errors import (
    ConflictError,
    CorruptError,
    InvalidInputError,
    NotFoundError,
)
from wc_core.exchange.imports import ImportedThread
from wc_core.git import remotes
from wc_core.layout import BRANCH, Layout
from wc_core.lean import os
from wc_core.phrases import counted
from wc_core.text import one_line
from wc_core.threads import codec
from wc_core.threads.jsontext import dumps
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
_MAX_REFUSED = 20
# Of the branches of a remote that match.
_MAX_BRANCHES = 500
_BLOB = "blob"
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
    """A commit or an outbox with lines: the ``object`` that has them, and what people
    call it."""

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
    def __init__(self, root: str, env: Mapping[str, str], code: Repository) -> None:
        self.layout = Layout(root)
        self.code = code
        self.reader = StoreReader(root)
        self.upkeep = Upkeep(self.reader, env)
        self.rules = self.upkeep.rules
        self.git = Git(code.common, env, bare=True)
        self.harvested = dict(records.harvests(self.layout))

    def run(self, remote: str, branches: Sequence[str], *, dry_run: bool) -> Harvest:
        counts: dict[str, Mapping[str, int]] = {}
        refused: dict[str, tuple[Refused, ...]] = {}
        refs = self._refs(remote)
        trunk = roads.default_branch(self.code, remote)
        for source in self._sources(refs, remote, branches, trunk):
            lines, rows = self._read(source, trunk, remote)
            counts[source.name], conflicting = self._add(
                source.name, lines, dry_run=dry_run
            )
            refused[source.name] = (*rows, *conflicting)
            if not dry_run:
                self._record(source, refused[source.name], refs)
        return Harvest(
            {name: topics for name, topics in counts.items() if topics},
            {name: rows for name, rows in refused.items() if rows},
        )

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
            is_agents = roads.is_agents(name, self.rules.agents_branches)
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

    def _read(
        self, source: _Source, trunk: str, remote: str
    ) -> tuple[list[Line], tuple[Refused, ...]]:
        """The entries on a branch that was not examined yet, and what was refused."""
        lines: dict[str, Line] = {}
        refused: list[Refused] = []
        base = f"refs/remotes/{remote}/{trunk}" if trunk else ""
        carriers_found = list(self._outboxes(source))
        if not source.trunk:
            carriers_found += self._commits(source, base)
        for carrier, data in self._contents(carriers_found, refused):
            if carrier.kind != _BLOB and not carriers.is_carrier(data):
                continue
            rows = list(islice(carriers.lines_of(data), carriers.MAX_LINES + 1))
            if len(rows) > carriers.MAX_LINES:
                reason = f"has more than {carriers.MAX_LINES} lines"
                refused.append(Refused(carrier.place, reason))
                continue
            for number, line in enumerate(rows, 1):
                try:
                    entry = checking.checked(line, self.rules.directory)
                except RefusedLineError as error:
                    refused.append(Refused(carrier.place, f"line {number}: {error}"))
                    continue
                earlier = lines.setdefault(entry.id, entry)
                if earlier != entry:
                    reason = f"line {number}: entry {entry.id} differs from another"
                    refused.append(Refused(carrier.place, reason))
        return list(lines.values()), tuple(refused[:_MAX_REFUSED])

    def _commits(self, source: _Source, base: str) -> Iterator[_Carrier]:
        """Yield the commits of a branch that were not examined, the oldest first."""
        excluded = [base] if base else []
        if source.examined and self._exists(source.examined):
            excluded.append(source.examined)
        words = ("--reverse", f"--max-count={_MAX_COMMITS}", source.commit)
        out = self.git.run("rev-list", *words, "--not", *excluded, "--")
        commits = out.decode().split()
        sizes = self._sizes(commits)
        for commit in commits:
            yield _Carrier(commit, "commit", sizes.get(commit, 0), commit[:10])

    def _exists(self, commit: str) -> bool:
        return commit in self._sizes([commit])

    def _sizes(self, objects: Sequence[str]) -> dict[str, int]:
        """The sizes of those objects that exist, without fetching any."""
        if not objects:
            return {}
        feed = "".join(f"{name}\n" for name in objects).encode()
        env = {"GIT_NO_LAZY_FETCH": "1"}
        out = self.git.run("cat-file", "--batch-check", feed=feed, env=env)
        rows = (line.split() for line in out.decode().splitlines())
        return {row[0]: int(row[2]) for row in rows if len(row) == len("abc")}

    def _outboxes(self, source: _Source) -> Iterator[_Carrier]:
        """Yield the outboxes in a branch's last commit."""
        words = ("--full-tree", "-z", "-l", source.commit, "--", f"{carriers.OUTBOX}/")
        for record in self.git.run("ls-tree", *words).split(b"\0"):
            info, _, path = record.partition(b"\t")
            if not path.endswith(b".jsonl"):
                continue
            _, kind, blob, size = info.decode().split()
            if kind == _BLOB and size.isdigit():
                place = f"{source.commit[:10]}:{one_line(os.fsdecode(path))}"
                yield _Carrier(blob, _BLOB, int(size), place)

    def _contents(
        self, candidates: Iterable[_Carrier], refused: list[Refused]
    ) -> Iterator[tuple[_Carrier, bytes]]:
        """Yield the content of carriers that are not too large."""
        chosen: list[_Carrier] = []
        left_bytes = _MAX_BYTES
        for carrier in candidates:
            if carrier.size > min(carriers.MAX_CARRIER_BYTES, left_bytes):
                reason = f"has {carrier.size} bytes, more than is read"
                refused.append(Refused(carrier.place, reason))
            else:
                left_bytes -= carrier.size
                chosen.append(carrier)
        contents = _objects(self.git, [carrier.object for carrier in chosen])
        for carrier in chosen:
            data = contents.get(carrier.object, b"")
            if carrier.kind != _BLOB:
                _, _, data = data.partition(b"\n\n")
            yield carrier, data

    def _add(
        self, branch: str, lines: Sequence[Line], *, dry_run: bool
    ) -> tuple[dict[str, int], tuple[Refused, ...]]:
        """Add entries to their threads. Returns the numbers of new ones, by thread, and
        what was refused because another entry has its id, or its thread cannot be
        written."""
        counts: dict[str, int] = {}
        refused: list[Refused] = []
        by_topic: dict[str, list[Line]] = {}
        for line in lines:
            by_topic.setdefault(line.topic, []).append(line)
        for topic, group in by_topic.items():
            try:
                new = self._new_lines(topic, group, refused)
                if new and not dry_run:
                    self._note_way(branch, new)
                    data = carriers.outbox(new)
                    importing.add(self.upkeep, ImportedThread(topic, data), _HOLDER)
                if new:
                    counts[topic] = len(new)
            except (ConflictError, CorruptError) as error:
                refused.append(Refused(topic, error.message))
        return counts, tuple(refused)

    def _new_lines(
        self, topic: str, lines: Sequence[Line], refused: list[Refused]
    ) -> list[Line]:
        """Those lines whose entries the thread lacks."""
        try:
            data = self.reader.thread(topic).data
        except NotFoundError:
            data = b""
        log = codec.read_log(topic, data)
        present = {entry.id for entry in log.entries}
        present_lines = {line.strip() for line in data.splitlines()}
        new = []
        for line in lines:
            if line.id not in present:
                new.append(line)
            elif line.data not in present_lines:
                reason = f"entry {line.id} differs from the one that is here"
                refused.append(Refused(topic, reason))
        return new

    def _note_way(self, branch: str, lines: Iterable[Line]) -> None:
        path = self.layout.harvested
        for line in lines:
            row = dumps({"entry": line.id, "via": branch})
            durable.ensure_line(path, row, self.layout.root)

    def _record(
        self, source: _Source, refused: tuple[Refused, ...], refs: Mapping[str, str]
    ) -> None:
        """Record that a branch was examined. Branches that are gone are forgotten."""
        before = self.harvested.get(source.ref, Harvested()).refused
        rows = tuple(dict.fromkeys((*before, *refused)))[-_MAX_REFUSED:]
        self.harvested[source.ref] = Harvested(source.commit, rows)
        prefix = source.ref.removesuffix(source.name)
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
        if len(head) == len("abc"):
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
