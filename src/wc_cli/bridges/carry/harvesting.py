"""Takes the entries that travel with the branches of agents, and adds them to their
threads.

Only remote-tracking branches that match the patterns in the settings are examined,
each commit once; never forks' pull requests. For its outboxes, the remote's default
branch is examined too, because a merged pull request brings them there. What cannot be
an entry is refused line by line, and kept for ``wc doctor``.

Of the branches that have something new, the latest come first. What exceeds the limits
of one harvest is left to the next one, and counted.
"""

from __future__ import annotations

import os

from wc_cli.bridges.carry import roads
from wc_cli.bridges.carry.reading import (
    MAX_REFUSED,
    CarrierReader,
    ExaminedBranch,
    Refusals,
)
from wc_cli.ledger.branch.git import Git
from wc_cli.ledger.store import durable, locks
from wc_cli.ledger.store.upkeep import Upkeep
from wc_core.base.errors import ConflictError, CorruptError, NotFoundError
from wc_core.base.files import read_plain
from wc_core.base.layout import BRANCH, Layout
from wc_core.base.lean import contextlib
from wc_core.base.names import parse
from wc_core.base.phrases import bounded, counted, listed
from wc_core.base.values import NamedTuple
from wc_core.ledger.carry import carriers, modes, records
from wc_core.ledger.carry.records import Harvested, Refused
from wc_core.ledger.git import remotes
from wc_core.ledger.git.private import private_layout
from wc_core.ledger.threads import codec, settings
from wc_core.ledger.threads.jsontext import dumps
from wc_core.ledger.threads.model import Entry
from wc_core.ledger.threads.reader import StoreReader

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from wc_core.ledger.carry.carriers import Line
    from wc_core.ledger.git.repository import Repository
    from wc_core.ledger.threads.settings import Settings

_HOLDER = "wc sync"
# Of the branches that have something new, in one harvest.
MAX_BRANCHES = 500
_LOCK_SECONDS = 2.0
# What is named in one line, and the lines for the user; the rest is counted.
_MAX_NAMED = 8
_MAX_LINES = 20


class Harvest(NamedTuple):
    """What was found: the number of new entries, and what was ``refused``, by the names
    of branches. ``remaining`` is the number of branches that the next harvest
    examines."""

    branches: Mapping[str, int]
    refused: Mapping[str, tuple[Refused, ...]]
    remaining: int = 0

    @property
    def notes(self) -> list[str]:
        """Notes for the user about what was refused, and what is left."""
        rows = [
            f"{branch}: {row.place}: {row.reason} (see: wc doctor)"
            for branch, rows in self.refused.items()
            for row in rows
        ]
        notes = bounded(rows, _MAX_LINES, "see: wc doctor")
        if self.remaining:
            notes.append(remaining_text(self.remaining))
        return notes


def remaining_text(count: int) -> str:
    """A sentence about branches that were not examined yet, and the command for it."""
    branches = counted(count, "branch of agents is", "branches of agents are")
    return f"{branches} still to be examined: wc sync"


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
    root: str, env: Mapping[str, str], code: Repository, remote: str
) -> Harvest:
    """Add to the store at ``root`` what travels with the branches of agents that were
    fetched from ``remote``.

    The entries are on disk afterwards, like those that are written. Raises GitError,
    and LockTimeoutError.
    """
    layout = Layout(root)
    with locks.locked(layout.harvest_lock, _HOLDER, _LOCK_SECONDS, root):
        return _Harvesting(root, env, code).run(remote)


def unexamined(root: str, env: Mapping[str, str], code: Repository) -> int:
    """The number of branches that were fetched and that a harvest of the store at
    ``root`` would still examine; 0 if that is not wanted. Raises GitError."""
    rules = settings.load(root, env)
    remote = code_remote(code, env)
    if not (modes.harvests(rules) and remote):
        return 0
    prefix = f"refs/remotes/{remote}/"
    examined = records.harvests(Layout(root))
    return sum(
        commit != examined.get(ref, Harvested()).commit
        for ref, commit in _refs(Git(code.common, env, bare=True), remote).items()
        if modes.is_agents(ref.removeprefix(prefix), rules.agents_branches)
    )


def _refs(git: Git, remote: str) -> dict[str, str]:
    """The remote-tracking branches of a remote, with their commits, the latest
    first."""
    prefix = f"refs/remotes/{remote}/"
    words = ("--sort=refname", "--sort=-committerdate")
    out = git.run("for-each-ref", *words, "--format=%(objectname) %(refname)", prefix)
    pairs = (line.partition(" ") for line in os.fsdecode(out).splitlines())
    return {
        ref: commit
        for commit, _, ref in pairs
        if ref not in {f"{prefix}HEAD", f"{prefix}{BRANCH}"}
    }


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
        self.refusals = Refusals()
        self.carriers = CarrierReader(self.git, self.rules.directory, self.refusals)
        # Branches that have something new, beyond what is examined at once.
        self.remaining = 0
        # The entries of each thread, by id, with their lines.
        self._present: dict[str, dict[str, set[bytes]]] = {}

    def run(self, remote: str) -> Harvest:
        trunk = roads.default_branch(self.code, remote)
        refs = _refs(self.git, remote)
        sources = list(self._sources(refs, remote, trunk))
        base = f"refs/remotes/{remote}/{trunk}" if trunk else ""
        new = self._new_lines(self.carriers.lines(sources, base))
        if new:
            self._add(new)
        if sources:
            self._record(sources, refs, f"refs/remotes/{remote}/")
        return self._harvest(new)

    def _harvest(self, new: Mapping[str, tuple[str, Line]]) -> Harvest:
        """Return what was found, if these are the entries that came."""
        counts: dict[str, int] = {}
        for name, _ in new.values():
            counts[name] = counts.get(name, 0) + 1
        refused = {name: self.refusals.of(name) for name in self.refusals.rows}
        remaining = self.remaining + len(self.carriers.postponed)
        return Harvest(counts, refused, remaining)

    def _sources(
        self, refs: Mapping[str, str], remote: str, trunk: str
    ) -> Iterator[ExaminedBranch]:
        """Yield the branches that have something new, as many as one harvest takes."""
        prefix = f"refs/remotes/{remote}/"
        count = 0
        for ref, commit in refs.items():
            name = ref.removeprefix(prefix)
            is_agents = modes.is_agents(name, self.rules.agents_branches)
            examined = self.harvested.get(ref, Harvested()).commit
            if commit == examined or not (is_agents or name == trunk):
                continue
            count += is_agents
            if is_agents and count > MAX_BRANCHES:
                self.remaining += 1
            else:
                yield ExaminedBranch(ref, name, commit, examined, trunk=not is_agents)

    def _new_lines(
        self, lines: Iterable[tuple[str, Line]]
    ) -> dict[str, tuple[str, Line]]:
        """The entries that the store lacks, by id, with the name of a branch that has
        them. Another version of an entry than the one that is here is refused."""
        candidates: dict[str, dict[Line, set[str]]] = {}
        for name, line in lines:
            try:
                present = self._lines_in_store(line.topic).get(line.id)
            except CorruptError as error:
                self.refusals.add(name, line.topic, error.message)
                continue
            if present is None:
                versions = candidates.setdefault(line.id, {})
                versions.setdefault(line, set()).add(name)
            elif line.data not in present:
                reason = f"entry {line.id} differs from the one that is here"
                self.refusals.add(name, line.topic, reason)
        chosen = {id_: self._choose(rows) for id_, rows in candidates.items()}
        return {id_: pair for id_, pair in chosen.items() if pair is not None}

    def _choose(self, versions: Mapping[Line, set[str]]) -> tuple[str, Line] | None:
        """Choose among the versions of an entry the one on the branch that it names;
        ``None`` if that is not clear. The others are refused."""
        own = {line: _own_branches(line, names) for line, names in versions.items()}
        named = [line for line in versions if own[line]]
        chosen = next(iter(versions)) if len(versions) == 1 else None
        if chosen is None and len(named) == 1:
            chosen = named[0]
        for line, names in versions.items():
            other_names = set[str]().union(*versions.values()) - names or names
            if line != chosen:
                result = "the other was taken" if chosen else "neither was taken"
                reason = (
                    f"entry {line.id} differs from another on "
                    f"{listed(sorted(other_names), _MAX_NAMED)}; {result}"
                )
                for name in sorted(names):
                    self.refusals.add(name, line.topic, reason)
        if chosen is None:
            return None
        return min(own[chosen] or versions[chosen]), chosen

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
        from wc_cli.bridges.exchange import importing  # 6 ms, only if something came

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
                    self.refusals.add(name, topic, error.message)
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
        self, sources: Iterable[ExaminedBranch], refs: Mapping[str, str], prefix: str
    ) -> None:
        """Record which branches were examined. Branches that are gone are
        forgotten."""
        for source in sources:
            if source.name in self.carriers.postponed:
                continue
            before = self.harvested.get(source.ref, Harvested()).refused
            rows = dict.fromkeys((*before, *self.refusals.of(source.name)))
            refused = tuple(rows)[-MAX_REFUSED:]
            self.harvested[source.ref] = Harvested(source.commit, refused)
        kept = {
            ref: row
            for ref, row in self.harvested.items()
            if ref in refs or not ref.startswith(prefix)
        }
        _save(self.layout, kept)


def _save(layout: Layout, harvested: Mapping[str, Harvested]) -> None:
    """Record what was examined."""
    private = private_layout(layout)
    durable.make_private_folder(private.root)
    data = f"{dumps(records.harvest_fields(harvested))}\n".encode()
    durable.replace(private.harvest, data, private.root)


def _own_branches(line: Line, names: Iterable[str]) -> set[str]:
    """Those among the branches ``names`` that an entry names as its own: by the seat of
    its author, or as the branch of the code."""
    entry = codec.read_line(line.topic, line.data)
    if not isinstance(entry, Entry):
        return set()
    return {parse(entry.agent).seat, entry.code_branch} & {*names}


def forget_refused(root: str, *, dry_run: bool) -> list[tuple[str, str]]:
    """Forget what was refused in the store at ``root``. Returns the branches, and what
    is forgotten of each. Raises LockTimeoutError."""
    layout = Layout(root)
    if not any(row.refused for row in records.harvests(layout).values()):
        return []
    with locks.locked(layout.harvest_lock, _HOLDER, _LOCK_SECONDS, root):
        harvested = records.harvests(layout)
        if not dry_run:
            rows = {ref: row._replace(refused=()) for ref, row in harvested.items()}
            _save(layout, rows)
    return [
        (
            ref.removeprefix("refs/remotes/"),
            f"forget {refused.place}, which was refused",
        )
        for ref, row in harvested.items()
        for refused in row.refused
    ]


def code_remote(code: Repository, env: Mapping[str, str]) -> str:
    """The remote with the branches of agents: ``origin``, or the only one; empty if it
    is not clear."""
    names = remotes.names(code, env)
    if "origin" in names:
        return "origin"
    return names[0] if len(names) == 1 else ""
