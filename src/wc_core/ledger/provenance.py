"""Where an entry came from, and what it may cause on this machine.

Names and tags prove nothing, and neither do ids: a push can contain any. What counts is
whether a process of this user wrote the entry's line in this clone, which is recorded
outside the store (`wc_core.ledger.threads.written`). Everything that acts because of an
entry asks `may`; docs/security.md shows `RULES` as a table.
"""

from __future__ import annotations

from itertools import dropwhile

from wc_core.base.values import NamedTuple
from wc_core.ledger.threads import codec
from wc_core.ledger.threads.model import BLOCKED, CLOSED, OPEN, Entry
from wc_core.ledger.threads.ways import way
from wc_core.ledger.threads.written import digest_of, written_lines

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from wc_core.base.layout import Layout
    from wc_core.ledger.threads.reader import Thread

# Where an entry came from: written in this clone, come with the branch of the threads,
# come with a carrier, which is a branch of the code.
HERE, BRANCH, CARRIER = "here", "branch", "carrier"
ORIGINS = (HERE, BRANCH, CARRIER)

# What an entry may cause.
READ, NOTIFY, WAKE, RUN, APPROVE, CHECK = (
    *("read", "notify", "wake", "run", "approve", "check"),
)
ACTIONS = (READ, NOTIFY, WAKE, RUN, APPROVE, CHECK)

# When it may: always; not what the person wrote themselves; if a setting of this
# machine names its author or its branch; if a person wrote it; after a person's yes on
# this machine; never.
ALWAYS, OTHERS, NAMED, PERSON, AFTER_YES, NEVER = (
    *("always", "others", "named", "person", "after yes", "never"),
)

RULES: Mapping[str, Mapping[str, str]] = {
    READ: {HERE: ALWAYS, BRANCH: ALWAYS, CARRIER: ALWAYS},
    NOTIFY: {HERE: OTHERS, BRANCH: ALWAYS, CARRIER: ALWAYS},
    WAKE: {HERE: ALWAYS, BRANCH: NAMED, CARRIER: NEVER},
    RUN: {HERE: ALWAYS, BRANCH: NAMED, CARRIER: NEVER},
    APPROVE: {HERE: PERSON, BRANCH: NAMED, CARRIER: NEVER},
    CHECK: {HERE: AFTER_YES, BRANCH: AFTER_YES, CARRIER: AFTER_YES},
}


class EntryOrigin(NamedTuple):
    """Where an entry came from: one of `ORIGINS`. ``via`` is the branch of a carrier.
    ``by_person`` says that a person's process wrote it here, not an agent's."""

    kind: str
    via: str = ""
    by_person: bool = False

    def text(self, verb: str) -> str:
        """Why it does not count as ``passed`` or ``done`` here, in words that follow
        its subject. Of what is not recorded, nothing else is known."""
        if self.kind == CARRIER:
            return f"came with the branch {self.via}"
        return f"is not recorded as {verb} here"


def may(
    action: str,
    origin: EntryOrigin,
    is_named: Callable[[], bool],
    *,
    is_own: bool = False,
) -> bool:
    """Return whether an entry of this origin may cause an action here.

    ``is_named`` tells whether a setting of this machine names the author of the entry
    or the branch of its carrier, ``is_own`` whether the person who would be notified
    is its author. For `CHECK`, False: what an entry says is never that yes.
    """
    rule = RULES[action][origin.kind]
    if rule == NAMED:
        return is_named()
    if rule == PERSON:
        return origin.by_person
    return rule == ALWAYS or (rule == OTHERS and not is_own)


class Provenance:
    """The origins of a store's entries, as this machine has recorded them."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout

    def of(self, thread: Thread, entry_id: str) -> EntryOrigin:
        """Return where an entry of a thread came from. It was written here if a line
        with its id has the recorded bytes: then that version counts here."""
        written = written_lines(self._layout, thread.state.topic)
        for line in _lines_of(thread, entry_id) if written else ():
            by_person = written.get(digest_of(line))
            if by_person is not None:
                return EntryOrigin(HERE, by_person=by_person)
        via = way(self._layout, entry_id)
        return EntryOrigin(CARRIER, via) if via else EntryOrigin(BRANCH)

    def of_ball(self, thread: Thread) -> EntryOrigin:
        """Return the origin of the move that a thread's ball is for: the entry that
        passed it to its holder, or one that has opened or unblocked the thread since,
        if that is less trusted.

        Whoever passes the ball again to the same holder here makes the move theirs.
        """
        state = thread.state
        later = dropwhile(lambda entry: entry.id != state.since, thread.entries)
        passes = [
            (self.of(thread, entry.id), entry.id)
            for entry in later
            if entry.ball is not None and entry.ball.holder == state.ball
        ]
        own = [entry_id for origin, entry_id in passes if origin.kind == HERE]
        since = own[-1] if own else state.since
        origins = [self.of(thread, entry.id) for entry in causes(thread, since)]
        # Another tool may have passed it without an entry.
        origins = origins or [EntryOrigin(BRANCH)]
        return max(origins, key=lambda origin: ORIGINS.index(origin.kind))

    def of_branch(self, thread: Thread, branch: str) -> EntryOrigin:
        """Return the origin of the entry because of which a thread belongs to a branch:
        the last one that moved it there or gave it that name, or otherwise one that was
        written on it."""
        moves = [
            entry.id
            for entry in thread.entries
            if branch in {entry.thread_branch, entry.new_topic}
        ]
        on_it = [entry.id for entry in thread.entries if entry.code_branch == branch]
        origins = [self.of(thread, entry_id) for entry_id in moves[-1:] or on_it]
        own = [origin for origin in origins if origin.kind == HERE]
        return (own or origins or [EntryOrigin(BRANCH)])[0]


def causes(thread: Thread, since: str) -> Iterator[Entry]:
    """Yield the entries because of which a move waits for someone: the one with the id
    ``since``, and those after it that have opened or unblocked the thread, or
    removed what it waited for."""
    status, is_later = OPEN, False
    # A later time opens such a gate.
    has_timed_gate = any(gate.is_timed for gate in thread.state.gates)
    for entry in thread.entries:
        is_opened = bool(entry.status) and entry.status != status
        is_opened = is_opened and status in {CLOSED, BLOCKED}
        is_opened = is_opened or has_timed_gate or entry.may_release
        if entry.id == since or (is_later and is_opened):
            yield entry
        status = entry.status or status
        is_later = is_later or entry.id == since


def _lines_of(thread: Thread, entry_id: str) -> Iterator[bytes]:
    """Yield the lines of a thread's log that are versions of an entry."""
    mark = b'"%b"' % entry_id.encode(errors="replace")
    for line in thread.data.splitlines():
        if mark in line:
            entry = codec.read_line(thread.state.topic, line)
            if isinstance(entry, Entry) and entry.id == entry_id:
                yield line
