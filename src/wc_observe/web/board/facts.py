"""What cards show beyond a thread's row: the last entry, how long the ball has been
held, claims, and conflicts of its branch."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wc_core.base import times
from wc_core.base.errors import WcError
from wc_core.base.layout import Layout
from wc_core.base.text import one_line
from wc_core.base.values import NamedTuple
from wc_core.edits.claims.record import READ
from wc_core.edits.radar import kept
from wc_core.ledger.planning import kinds
from wc_core.ledger.summaries.latest import latest_entry
from wc_core.ledger.summaries.lead import lead
from wc_core.ledger.threads.revisions import own_title
from wc_core.reading.views.approvals import load_outdated
from wc_core.reading.views.holding import is_stale, since_ms
from wc_observe.answers.claims import read_claims
from wc_observe.web.html import element
from wc_observe.web.page import person

if TYPE_CHECKING:
    from collections.abc import Mapping

    from wc_core.base.names import Directory
    from wc_core.edits.claims.record import Claim
    from wc_core.edits.radar.model import SharedFile, Side
    from wc_core.reading.views.approvals import OutdatedApproval
    from wc_core.reading.views.rows import ThreadRow
    from wc_observe.callers.open_store import OpenStore
    from wc_observe.web.html import Html

_SAID, _PLACE = 200, 60


class LastEntryText(NamedTuple):
    """Who said something last, and what; empty if that is the thread's title."""

    author: str = ""
    text: str = ""


class BoardFacts(NamedTuple):
    """What is read once for all cards of a board: the claims by thread, the conflicts
    by branch, and the approved branches that no longer merge, by thread."""

    store: OpenStore
    now_ms: int
    claims: Mapping[str, list[Claim]]
    conflicts: Mapping[str, list[tuple[Side, SharedFile]]]
    approvals: Mapping[str, OutdatedApproval]

    def last_entry_text(self, row: ThreadRow) -> LastEntryText:
        """Returns what was said last in a thread, in short."""
        entry = latest_entry(self.store.reader, row.topic)
        if entry is None:
            return LastEntryText()
        title = one_line(own_title(entry), _SAID)
        text = "" if title == one_line(row.title, _SAID) else title
        text = text or one_line(lead(entry.body, entry.title, _SAID), _SAID)
        return LastEntryText(entry.agent, text)

    def held_too_long(self, row: ThreadRow) -> str:
        """Returns how long the ball has been held if that is too long, else an empty
        string."""
        try:
            state = self.store.reader.snapshot(row.topic).state
        except WcError:
            return ""
        since = since_ms(state, self.now_ms)
        if since is None or not is_stale(state, self.now_ms):
            return ""
        return times.length((self.now_ms - since) // 1000)

    def claimed(self, row: ThreadRow) -> list[str]:
        """Returns the claims made for a thread."""
        return [one_line(claim.id, _PLACE) for claim in self.claims.get(row.topic, ())]

    def conflicting(self, row: ThreadRow) -> list[str]:
        """Returns what a thread's branch conflicts with, in words."""
        branch_conflicts = self.conflicts.get(row.branch, ()) if row.branch else ()
        pairs = [(file, side.label) for side, file in branch_conflicts]
        if approval := self.approvals.get(row.topic):
            pairs += [(file, approval.base) for file in approval.approved.files]
        return [
            f"{one_line(file.path, _PLACE)} with {one_line(name, _PLACE)}"
            for file, name in pairs
        ]


def board_facts(store: OpenStore, now_ms: int) -> BoardFacts:
    """Reads the data that all cards need."""
    claims: dict[str, list[Claim]] = {}
    for claim in read_claims(store).book.claims:
        if claim.thread and claim.mode != READ:
            claims.setdefault(claim.thread, []).append(claim)
    conflicts = branch_conflicts(store, now_ms)
    outdated = load_outdated(store.reader, now_ms)
    approvals = {item.approved.topic: item for item in outdated}
    return BoardFacts(store, now_ms, claims, conflicts, approvals)


def branch_conflicts(
    store: OpenStore, now_ms: int
) -> dict[str, list[tuple[Side, SharedFile]]]:
    """Returns the conflicts of each branch, from the stored radar."""
    radar = kept.load(Layout(store.place.root))
    if radar is None:
        return {}
    return {
        side.branch: radar.alarms(place, now_ms)
        for place, side in enumerate(radar.sides)
        if side.branch
    }


def worktree_person(side: Side, directory: Directory) -> Html:
    """Returns who works in a worktree, or the name of the worktree if that is
    unknown."""
    if side.agent:
        return person(side.agent, directory)
    return element("bdi", one_line(side.name, _PLACE))


def link_words(row: ThreadRow, store: OpenStore) -> list[str]:
    """Returns a thread's links to other threads in words, without what it waits for:
    its obstacles show that."""
    words = []
    for link in row.links:
        if link.kind == kinds.BLOCKED_BY:
            continue
        try:
            name = store.reader.snapshot(link.topic).name
        except WcError:
            name = link.topic
        words.append(kinds.sentence("", link.kind, one_line(name, _PLACE)).strip())
    return words
