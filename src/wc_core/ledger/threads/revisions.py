"""Corrections: entries that replace or remove the text of an earlier one.

An *amendment* replaces the text of an entry, a *retraction* hides it. Both are separate
entries, so the log keeps every text. Only those by the author of the original count;
the last one in the order of the log decides.
"""

from __future__ import annotations

from wc_core.base.errors import ConflictError, InvalidInputError
from wc_core.base.names import Directory
from wc_core.base.phrases import quoted
from wc_core.base.values import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from wc_core.ledger.threads.model import Entry
    from wc_core.ledger.threads.proposals import Draft

AMEND, RETRACT = "amend", "retract"
CORRECTIONS = frozenset({AMEND, RETRACT})
# The title of a retracted entry.
RETRACTED = "(retracted)"

# The actions whose entries have no text that could be corrected.
_WITHOUT_TEXT = CORRECTIONS | {
    *("rename", "tag", "move", "link", "unlink", "checklist", "gate", "budget")
}
# The actions whose title the command writes, and the title of a bare ``wc ack``.
_TITLED_BY_COMMAND = frozenset({"handoff", "take", "set_status"})
BARE_ACK = "Ack"


class Revision(NamedTuple):
    """An entry as it is shown: with its latest text.

    ``idx`` is its position in the log. ``corrections`` are the ids of the entries that
    corrected it, in order.
    """

    idx: int
    entry: Entry
    corrections: tuple[str, ...] = ()
    retracted: bool = False

    @property
    def has_own_text(self) -> bool:
        """Whether its author says something in it, with its latest text."""
        if self.retracted:
            return False
        return bool(self.corrections) or has_own_text(self.entry)


def corrections(entries: Sequence[Entry]) -> dict[str, list[Entry]]:
    """The corrections that count, in order, by the id of the entry they correct."""
    if not any(entry.supersedes for entry in entries):
        return {}
    originals: dict[str, Entry] = {}
    by_original: dict[str, list[Entry]] = {}
    for entry in entries:
        if has_text(entry):
            originals[entry.id] = entry
        elif entry.action in CORRECTIONS:
            original = originals.get(entry.supersedes)
            if original is not None and same_author(original.agent, entry.agent):
                by_original.setdefault(original.id, []).append(entry)
    return by_original


def same_author(first: str, second: str) -> bool:
    """Whether two names are one author, whatever the settings of a store are.

    An unknown author equals no one.
    """
    return bool(first and second) and Directory().same(first, second)


def revised(entry: Entry, corrected_by: Sequence[Entry]) -> Entry:
    """The entry with its text after these corrections, in order."""
    if not corrected_by:
        return entry
    latest = corrected_by[-1]
    if latest.action == RETRACT:
        return entry._replace(
            title=RETRACTED,
            body="",
            summary="",
            outcome="",
            file_refs=(),
            line_refs=(),
            pr_refs=(),
            commit_refs=(),
            via=latest.via or entry.via,
        )
    return entry._replace(
        title=latest.title,
        body=latest.body,
        summary=latest.summary,
        file_refs=latest.file_refs or entry.file_refs,
        line_refs=latest.line_refs or entry.line_refs,
        pr_refs=latest.pr_refs or entry.pr_refs,
        commit_refs=latest.commit_refs or entry.commit_refs,
        via=latest.via or entry.via,
    )


def revisions(entries: Sequence[Entry]) -> list[Revision]:
    """The entries as they are shown, without the corrections themselves.

    A correction that does not count is shown like any other entry.
    """
    by_original = corrections(entries)
    if not by_original:
        return [Revision(idx, entry) for idx, entry in enumerate(entries)]
    hidden = {
        entry.id for corrected_by in by_original.values() for entry in corrected_by
    }
    return [
        _revision(idx, entry, by_original.get(entry.id, []))
        for idx, entry in enumerate(entries)
        if entry.id not in hidden
    ]


def _revision(idx: int, entry: Entry, corrected_by: Sequence[Entry]) -> Revision:
    ids = tuple(correction.id for correction in corrected_by)
    retracted = bool(ids) and corrected_by[-1].action == RETRACT
    return Revision(idx, revised(entry, corrected_by), ids, retracted)


def history(entries: Sequence[Entry]) -> list[Revision]:
    """All entries as they were written, with the marks of `revisions`."""
    by_original = corrections(entries)
    return [
        _revision(idx, entry, by_original.get(entry.id, []))._replace(entry=entry)
        for idx, entry in enumerate(entries)
    ]


def complete(draft: Draft, entries: Sequence[Entry], author: str) -> Draft:
    """The draft of a correction by ``author`` with everything that its entry needs.

    It applies to the last entry with text. Fields that an amendment does not replace
    stay. Raises ConflictError if that entry is someone else's or already is as the
    draft wants it, InvalidInputError if the text would have no title.
    """
    verb = draft.action
    latest = last_text(entries)
    if latest is None:
        raise ConflictError(
            f"{draft.topic} has no entry to {verb}.", "Nothing was written."
        )
    if not same_author(latest.entry.agent, author):
        raise ConflictError(
            f"The last entry of {draft.topic}, #{latest.idx}, is by "
            f"{latest.entry.agent or 'unknown'}, not by you; only its author may "
            f"{verb} it.",
            f"Add an entry of your own: wc say {quoted(draft.topic)} -m '…'",
        )
    draft = draft._replace(
        supersedes=latest.entry.id, role=latest.entry.role, type=latest.entry.type
    )
    if verb == RETRACT:
        return _retraction(draft, latest)
    return _amendment(draft, latest)


def last_text(entries: Sequence[Entry]) -> Revision | None:
    """The last entry with text; ``None`` if there is none."""
    texts = (item for item in reversed(revisions(entries)) if has_text(item.entry))
    return next(texts, None)


def last_own_text(entries: Sequence[Entry]) -> Entry | None:
    """The last entry in which its author says something; ``None`` if there is none."""
    texts = (item for item in reversed(revisions(entries)) if item.has_own_text)
    revision = next(texts, None)
    return None if revision is None else revision.entry


def has_text(entry: Entry) -> bool:
    """Whether an entry has text, which can be corrected."""
    return entry.action not in _WITHOUT_TEXT


def has_own_text(entry: Entry) -> bool:
    """Whether its author says something in an entry that was not corrected: it does
    more than move the ball, change the status or keep the thread in order.

    What was said last in a thread is the last of these, wherever it is quoted.
    """
    return has_text(entry) and bool(entry.body or own_title(entry))


def own_title(entry: Entry) -> str:
    """The title of an entry that was not corrected, unless the command wrote it."""
    is_bare_ack = (entry.action, entry.title) == ("ack", BARE_ACK)
    return "" if entry.action in _TITLED_BY_COMMAND or is_bare_ack else entry.title


def _retraction(draft: Draft, latest: Revision) -> Draft:
    if latest.retracted:
        raise ConflictError(
            f"#{latest.idx} of {draft.topic} is already retracted.",
            "Nothing was written.",
        )
    return draft._replace(title=f"Retracted #{latest.idx}", body="")


def _amendment(draft: Draft, latest: Revision) -> Draft:
    title = draft.title or ("" if latest.retracted else latest.entry.title)
    body = latest.entry.body if draft.keeps_body else draft.body
    if not title:
        raise InvalidInputError(
            f"#{latest.idx} of {draft.topic} was retracted and has no title.",
            f"Give it one: wc amend {quoted(draft.topic)} -m '…'",
        )
    if (title, body) == (latest.entry.title, latest.entry.body):
        raise ConflictError(
            f"#{latest.idx} of {draft.topic} already has that text.",
            "Nothing was written.",
        )
    # A summary of the former text would be wrong.
    same_body = body == latest.entry.body
    summary = draft.summary or (latest.entry.summary if same_body else "")
    return draft._replace(title=title, body=body, summary=summary)
