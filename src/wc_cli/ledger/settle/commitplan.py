"""Decides what one commit of the store contains. No git, no disk."""

from __future__ import annotations

from types import MappingProxyType

from wc_cli.ledger.branch import commits
from wc_core.base.phrases import counted
from wc_core.base.values import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from typing import Any

    from wc_cli.ledger.branch.commits import CommitChange, Committed
    from wc_cli.ledger.branch.compare import Compared
    from wc_core.ledger.threads.model import Entry


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
