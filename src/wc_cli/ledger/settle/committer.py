"""Commits rendered threads: compares them with the branch, and makes the missing
commits, each with the entries of one author."""

from __future__ import annotations

import os
from itertools import groupby
from types import MappingProxyType

from wc_cli.ledger.branch import commits, messages
from wc_cli.ledger.branch.commits import CommitChange
from wc_cli.ledger.branch.compare import Compared, TooLargeError, compare_log
from wc_cli.ledger.branch.git import GitError, GitKilledError
from wc_cli.ledger.store import authors
from wc_core.base.errors import WcError
from wc_core.base.files import NotPlainError, names_in, read_plain
from wc_core.base.layout import (
    GUIDANCE,
    GUIDANCE_FOLDER,
    HARVESTED,
    OLDER_LOCKS,
    is_older_lock,
)
from wc_core.base.phrases import counted
from wc_core.base.values import NamedTuple
from wc_core.ledger.guidance import is_file_name
from wc_core.ledger.threads import codec

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from typing import Any, TypeAlias

    from wc_cli.ledger.branch.commits import Committed
    from wc_cli.ledger.settle.follower import Follower
    from wc_cli.ledger.store.upkeep import Upkeep
    from wc_core.ledger.git.authorship import Authorship
    from wc_core.ledger.threads.model import Entry

    OnCommit: TypeAlias = Callable[[str], None]

# The files that all threads share.
_SHARED = (
    *(".gitattributes", ".gitignore", "config.toml", GUIDANCE),
    "allowed_signers",  # of versions that signed claims
    HARVESTED,
)
# The owner of files that belong to no thread.
_NO_THREAD = ""


class Committer:
    """Makes commits on the branch of one store. The caller holds the git lock.

    ``problems`` has the reason why something could not be committed, by thread, "" for
    the store itself; ``unread`` are the threads whose log on the branch is too large.
    ``on_commit`` is called with the last commit made.
    """

    def __init__(
        self,
        follower: Follower,
        upkeep: Upkeep,
        env: Mapping[str, str],
        on_commit: OnCommit | None = None,
    ) -> None:
        self.follower = follower
        self.upkeep = upkeep
        self.layout = upkeep.layout
        self.env = env
        self.on_commit = on_commit
        self.problems: dict[str, str] = {}
        self.unread: set[str] = set()

    def commit(self, threads: list[RenderedThread]) -> None:
        """Commit everything that the branch does not have yet. Raises GitError if
        nothing else may be tried either."""
        follower = self.follower
        parent = follower.tip()
        if parent != follower.at:
            raise GitError("another process just moved the branch")
        plan = self._plan(parent, threads)
        self.problems |= plan.problems
        if not plan.changes and not plan.topics:
            return
        tip = parent
        for group in self._groups(plan, threads):
            tip = self._commit_group(tip, group)
        if self.on_commit is not None and tip != parent:
            self.on_commit(tip)
        is_failed = plan.changes and tip == parent
        if not is_failed and (problem := follower.finish_commit(parent, tip)):
            self.problems[""] = problem

    def _groups(
        self, plan: CommitPlan, threads: list[RenderedThread]
    ) -> list[list[AuthoredPlan]]:
        """The commits to make, by author."""
        by_id: dict[str, Authorship] = {}
        for topic in {topic for topic, _ in plan.entries}:
            by_id |= authors.recorded(self.layout, topic)
        return split_by_author(plan, threads, Authors(by_id, self.follower.authorship))

    def _commit_group(self, tip: str, group: list[AuthoredPlan]) -> str:
        """Make the commits of a group, each on the one before. Returns the last one.

        If one fails, other groups may succeed: a signing key that is missing here
        affects only the entries of one author.
        """
        for authored in group:
            try:
                tip = self._make_commit(tip, authored)
            except GitKilledError:
                raise
            except GitError as error:
                topics = authored.plan.topics or ("",)
                self.problems |= dict.fromkeys(topics, f"not committed: {error}")
                break
        return tip

    def _make_commit(self, tip: str, authored: AuthoredPlan) -> str:
        """Put a commit on the branch. Returns its id."""
        follower, plan = self.follower, authored.plan
        code_repo = messages.code_repo(follower.checkout, self.env)
        message = messages.message_for(list(plan.entries), list(plan.topics), code_repo)
        parents = (tip,) if tip else ()
        with follower.guarded():
            options = follower.commit_options(authored.authorship)
            return commits.commit(follower.git, plan.changes, message, parents, options)

    def _plan(self, parent: str, threads: list[RenderedThread]) -> CommitPlan:
        """Read these threads on the branch, and decide what to commit."""
        follower = self.follower
        # Changes that are not applied yet would be undone by the files still on disk.
        shared = self._shared_files() if follower.in_step else []
        files = [*shared, *(file for thread in threads for file in thread.files)]
        paths = [file.path for file in files]
        committed = commits.committed_files(
            follower.git, parent, paths, below=(GUIDANCE_FOLDER, OLDER_LOCKS)
        )
        if follower.in_step:
            shared += self._guidance_files(committed)
            # In another clone they would block the older tool.
            shared += [CommitChange(path) for path in committed if is_older_lock(path)]
        # What is in the place of a file stays on the branch: doctor names it.
        links = {path for path, file in committed.items() if not file.is_file}
        shared = [change for change in shared if change.path not in links]
        comparisons = {}
        for thread in threads:
            for log in thread.files[:1]:
                try:
                    have = committed.get(log.path)
                    comparisons[thread.topic] = self._compared(thread, log, have)
                except TooLargeError as error:
                    self.unread.add(thread.topic)
                    self.problems[thread.topic] = f"not committed: {error}"
        readable = [thread for thread in threads if thread.topic not in self.unread]
        return plan_commit(shared, readable, committed, comparisons)

    def _compared(
        self, thread: RenderedThread, log: CommitChange, have: Committed | None
    ) -> Compared:
        """Compare the log of a thread with the branch. Raises TooLargeError."""
        if have is not None and log.blob == have.blob:
            return Compared(())
        return compare_log(self.follower.git, thread.topic, thread.log, have)

    def _shared_files(self) -> list[CommitChange]:
        """The files that all threads share. Invalid settings are not committed: they
        would stop everyone else from writing."""
        names: tuple[str, ...] = _SHARED
        damage = self.upkeep.rules.damage
        if damage is not None and damage.file in _SHARED:
            self.problems[""] = f"not committed: {damage.file}: {damage.message}"
            names = tuple(name for name in _SHARED if name != damage.file)
        root = self.layout.root
        return [
            CommitChange(name, read_plain(f"{root}/{name}", root) or b"")
            for name in names
        ]

    def _guidance_files(self, committed: Iterable[str]) -> list[CommitChange]:
        """The files with guidance for an occasion, and those among ``committed`` that
        were removed."""
        root, folder = self.layout.root, self.layout.guidance_folder
        try:
            names = list(filter(is_file_name, names_in(folder, root)))
        except WcError as error:
            self.problems[""] = f"not committed: {error.message}"
            return []
        prefix = f"{GUIDANCE_FOLDER}/"
        changes = [
            CommitChange(path)
            for path in committed
            if path.startswith(prefix) and not os.path.lexists(f"{root}/{path}")
        ]
        for name in names:
            path = f"{prefix}{name}"
            try:
                data = read_plain(f"{root}/{path}", root)
            except NotPlainError as error:
                self.problems[""] = f"not committed: {path} {error.strerror}"
            else:
                changes.append(CommitChange(path, data or b""))
        return changes


class Authors(NamedTuple):
    """The authorship of entries, ``by_id``; all others get ``unrecorded``, the
    committing process."""

    by_id: Mapping[str, Authorship]
    unrecorded: Authorship

    def of(self, entry: Entry) -> Authorship:
        """The authorship of the commit that adds an entry."""
        return self.by_id.get(entry.id, self.unrecorded)


class AuthoredPlan(NamedTuple):
    """The content of one commit, and its authorship."""

    plan: CommitPlan
    authorship: Authorship


def split_by_author(
    plan: CommitPlan, threads: Iterable[RenderedThread], authors: Authors
) -> list[list[AuthoredPlan]]:
    """The commits to make of a plan, in groups that do not depend on each other.
    Entries of several writers may await settling together.

    All threads whose new entries have the same single author go into one commit. A
    thread with new entries by several authors is a separate group, with a commit for
    each run of entries by one author. Files that belong to no thread, and threads
    without new entries, are in the first commit.
    """
    by_topic: dict[str, list[Entry]] = {topic: [] for topic in plan.topics}
    for topic, entry in plan.entries:
        by_topic[topic].append(entry)
    changes = _by_owner(plan, threads)
    shared = [topic for topic in changes if not by_topic.get(topic)]
    whole: dict[Authorship, list[str]] = {}
    groups = []
    for topic, entries in by_topic.items():
        persons = list(dict.fromkeys(map(authors.of, entries)))
        # A log that was stored in pieces is committed as a whole.
        is_stored = any(change.blob for change in changes.get(topic, ()))
        if len(persons) == 1 or (persons and is_stored):
            whole.setdefault(persons[0], []).append(topic)
        elif persons:
            part = _part(plan, [topic], changes)
            groups.append(list(_split_thread(topic, part, authors)))
    if shared:
        whole.setdefault(next(iter(whole), authors.unrecorded), []).extend(shared)
    first = [
        [AuthoredPlan(_part(plan, topics, changes), authorship)]
        for authorship, topics in whole.items()
    ]
    return [*first, *groups]


def _by_owner(
    plan: CommitPlan, threads: Iterable[RenderedThread]
) -> dict[str, list[CommitChange]]:
    """The changes of a plan, by the thread whose files they are."""
    owners = {file.path: item.topic for item in threads for file in item.files}
    changes: dict[str, list[CommitChange]] = {}
    for change in plan.changes:
        changes.setdefault(owners.get(change.path, _NO_THREAD), []).append(change)
    return changes


def _part(
    plan: CommitPlan, topics: list[str], changes: Mapping[str, list[CommitChange]]
) -> CommitPlan:
    """The part of a plan about some threads."""
    return plan._replace(
        changes=tuple(change for topic in topics for change in changes.get(topic, ())),
        entries=tuple(pair for pair in plan.entries if pair[0] in topics),
        topics=tuple(topic for topic in topics if topic != _NO_THREAD),
    )


def _split_thread(
    topic: str, part: CommitPlan, authors: Authors
) -> Iterator[AuthoredPlan]:
    """The commits of a thread with entries by several authors, in the order of its log.
    Until the last one, they have only its log, without the entries that follow."""
    log = part.changes[0]
    runs = [
        (person, list(run))
        for person, run in groupby(part.entries, lambda pair: authors.of(pair[1]))
    ]
    later = {entry.id for _, entry in part.entries}
    for person, run in runs:
        later -= {entry.id for _, entry in run}
        data = _without(topic, log.data or b"", later)
        changes = (log._replace(data=data),) if later else part.changes
        yield AuthoredPlan(part._replace(changes=changes, entries=tuple(run)), person)


def _without(topic: str, log: bytes, ids: set[str]) -> bytes:
    """A log without the lines of some entries, otherwise unchanged."""
    lines = log.split(b"\n")
    return b"\n".join(line for line in lines if _id_in(topic, line) not in ids)


def _id_in(topic: str, line: bytes) -> str:
    """The id of the entry in a log line; empty if it is not an entry."""
    item = codec.read_line(topic, line)
    return "" if isinstance(item, codec.BadLine) else item.id


class RenderedThread(NamedTuple):
    """A thread rendered from ``log_size`` bytes of its log. ``files`` begins with the
    log, and is empty for a thread that another tool keeps. ``summaries`` are the bytes
    of the summaries file among them. ``log`` are the complete lines, see
    `Thread.data`, ``unknown`` the keys of its meta that are not from the log."""

    topic: str
    log_size: int
    files: tuple[CommitChange, ...]
    summaries: bytes = b""
    log: bytes = b""
    unknown: Mapping[str, Any] = MappingProxyType({})


class CommitPlan(NamedTuple):
    """The content of a commit: the files that differ from the branch, and the entries
    that no commit has yet, with their topics.

    ``topics`` are the threads that the branch has completely afterwards; ``problems``
    has the reason for each of the others.
    """

    changes: tuple[CommitChange, ...]
    entries: tuple[tuple[str, Entry], ...]
    topics: tuple[str, ...]
    problems: Mapping[str, str]


def plan_commit(
    shared: Iterable[CommitChange],
    threads: Sequence[RenderedThread],
    committed: Mapping[str, Committed],
    comparisons: Mapping[str, Compared],
) -> CommitPlan:
    """The commit for rendered threads and the files that all threads share.

    ``committed`` are the branch's versions of these files. ``comparisons`` compares the
    log of each thread with the branch. A log that lacks entries of the branch is not
    committed: a user's git or an unfinished checkout removed them, and a commit would
    make that final.
    """
    problems = _problems(threads, comparisons)
    complete = [thread for thread in threads if thread.topic not in problems]
    files = [*shared, *(file for thread in complete for file in thread.files)]
    changes = (file for file in files if not commits.is_committed(file, committed))
    topics = tuple(thread.topic for thread in complete)
    return CommitPlan(
        tuple(changes), tuple(_entries(topics, comparisons)), topics, problems
    )


def _problems(
    threads: Sequence[RenderedThread], comparisons: Mapping[str, Compared]
) -> dict[str, str]:
    """The threads whose log lacks entries of the branch, with the reason in words."""
    problems = {}
    for thread in threads:
        comparison = comparisons.get(thread.topic)
        if comparison is not None and comparison.lost:
            entries = counted(comparison.lost, "entry", "entries")
            log = thread.files[0].path
            text = f"not committed: {log} lacks {entries} that the branch has"
            problems[thread.topic] = text
    return problems


def _entries(
    topics: Iterable[str], comparisons: Mapping[str, Compared]
) -> Iterator[tuple[str, Entry]]:
    """The entries of these threads that the branch lacks, with their topics."""
    for topic in topics:
        if comparison := comparisons.get(topic):
            yield from ((topic, entry) for entry in comparison.new)
