"""Splits pending changes into commits that each have one author.

Entries of several writers may await settling together, and the process that settles
commits them all. No git, no disk.
"""

from __future__ import annotations

from itertools import groupby

from wc_core.base.values import NamedTuple
from wc_core.ledger.threads import codec

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from wc_cli.ledger.branch.commits import CommitChange
    from wc_cli.ledger.settle.commitplan import CommitPlan, RenderedThread
    from wc_core.ledger.git.authorship import Authorship
    from wc_core.ledger.threads.model import Entry

# The owner of files that belong to no thread.
_SHARED = ""


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
        changes.setdefault(owners.get(change.path, _SHARED), []).append(change)
    return changes


def _part(
    plan: CommitPlan, topics: list[str], changes: Mapping[str, list[CommitChange]]
) -> CommitPlan:
    """The part of a plan about some threads."""
    return plan._replace(
        changes=tuple(change for topic in topics for change in changes.get(topic, ())),
        entries=tuple(pair for pair in plan.entries if pair[0] in topics),
        topics=tuple(topic for topic in topics if topic != _SHARED),
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
