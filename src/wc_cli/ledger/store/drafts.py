"""Finds the thread for a draft, and completes the draft once the thread is locked and
read."""

from __future__ import annotations

from wc_cli.ledger.store.lockedthread import STARTING_ACTIONS
from wc_core.base import files
from wc_core.base.errors import ConflictError, NotFoundError
from wc_core.base.layout import new_topic
from wc_core.base.names import are_similar, may_abbreviate
from wc_core.base.phrases import quoted
from wc_core.ledger.git.discovery import IN_TREE_STORE
from wc_core.ledger.threads import aliases, revisions, vocabulary
from wc_core.ledger.threads.model import (
    CLOSED,
    CLOSING_TYPE,
    DEFAULT_ROLE,
    DEFAULT_TYPE,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from wc_cli.ledger.store.lockedthread import LockedThread
    from wc_core.ledger.git.discovery import Place
    from wc_core.ledger.threads.proposals import Draft
    from wc_core.ledger.threads.reader import StoreReader


def topic_for(draft: Draft, reader: StoreReader, place: Place) -> str:
    """The thread that a draft is for: an existing one, or a new one if its action may
    start a thread. Raises NotFoundError, ConflictError or InvalidInputError."""
    is_new = draft.action in STARTING_ACTIONS
    if not is_new:
        return reader.find(draft.topic)
    # A store inside the work tree may change without wc, so its index is checked.
    existing = reader.lookup(draft.topic, trusting=place.kind != IN_TREE_STORE)
    if existing is not None:
        return existing
    topic = new_topic(draft.topic)
    if draft.must_exist:
        if draft.status == CLOSED:
            raise reader.not_found_error(topic)
        raise _no_thread_error(topic, draft, reader)
    count = len(files.names_in(reader.layout.threads, reader.layout.root))
    if count >= vocabulary.MAX_THREADS:
        raise ConflictError(
            f"The store is full: it has {count} threads.",
            "Continue in one of them, or in another store: WATERCOOLER_DIR.",
        )
    if draft.action == "say" and not draft.new:
        _check_unlike_others(topic, reader)
    return topic


def _no_thread_error(topic: str, draft: Draft, reader: StoreReader) -> NotFoundError:
    """The error for a text after a new topic, which may be the first word of a text
    without quotation marks."""
    error = reader.not_found_error(topic)
    text = f"{draft.topic} {draft.title}"
    error.hint = (
        f"{error.hint}. Start it: wc new {quoted(topic)} -m {quoted(draft.title)}; or, "
        f"for the thread of this worktree: wc say {quoted(text)}"
    )
    return error


def _check_unlike_others(topic: str, reader: StoreReader) -> None:
    """Raise NotFoundError if a thread has nearly this name, or if it is the beginning
    of the names of just one: it may be a typing error."""
    topics = reader.topics()
    if topic in topics:
        return  # another process has just created it
    names = (*topics, *aliases.indexed_names(reader))
    similar = (name for name in names if are_similar(name, topic))
    existing = next(
        (name for name in similar if aliases.means_thread(reader, name)), ""
    )
    existing = existing or _only_beginning_with(topic, names, reader)
    if existing:
        error = NotFoundError(
            f'There is no thread "{topic}", but there is "{existing}".',
            f'Write to "{existing}", or start another one with --new.',
        )
        error.near = (existing,)
        raise error


def _only_beginning_with(topic: str, names: Iterable[str], reader: StoreReader) -> str:
    """The name of the only thread whose names begin with a new topic; empty if it is
    not an abbreviation of that."""
    threads: dict[str, str] = {}
    for name in names:
        if name.startswith(topic) and (thread := reader.lookup(name, trusting=True)):
            threads.setdefault(thread, name)
        if len(threads) > 1:
            return ""
    name = next(iter(threads.values()), "")
    return name if may_abbreviate(topic, name) else ""


def complete(
    draft: Draft, thread: LockedThread, reader: StoreReader, author: str
) -> Draft:
    """The draft with the thread's name as its topic, and everything that its entry
    needs.

    Raises ConflictError or InvalidInputError if ``author`` cannot write it.
    """
    snapshot = thread.snapshot
    if snapshot is None:
        return draft
    draft = draft._replace(topic=snapshot.name)
    if draft.action in revisions.CORRECTIONS:
        return revisions.complete(draft, thread.entries or (), author)
    if draft.action == "tag":
        from wc_core.ledger.threads import tags  # 0.3 ms, only for this action

        return tags.complete(draft, thread.state, snapshot.tags)
    if draft.action == "rename":
        _check_name(draft, thread.topic, reader)
    return draft


def labelled(draft: Draft, *, closes: bool) -> Draft:
    """The draft with a role and a type, even if its author named none. A correction
    keeps the role of what it corrects, which may be none."""
    return draft._replace(
        role=draft.role or ("" if draft.supersedes else DEFAULT_ROLE),
        type=draft.type or (CLOSING_TYPE if closes else DEFAULT_TYPE),
    )


def _check_name(draft: Draft, topic: str, reader: StoreReader) -> None:
    """Raise ConflictError if the new name is taken, or is the thread's name now."""
    if draft.new_topic == draft.topic:
        raise ConflictError(
            f"{draft.topic} is already its name.", "Nothing was written."
        )
    try:
        other_topic = reader.find(draft.new_topic)
    except NotFoundError:
        return
    if other_topic != topic:
        title = reader.snapshot(other_topic).state.title
        raise ConflictError(
            f"There is already a thread {draft.new_topic}: {title!r}.",
            "Nothing was written. Choose another name.",
        )
