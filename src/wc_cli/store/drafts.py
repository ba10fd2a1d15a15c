"""What a draft lacks until its thread is locked and read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wc_core.errors import ConflictError, NotFoundError
from wc_core.threads import revisions

if TYPE_CHECKING:
    from wc_cli.store.lockedthread import LockedThread
    from wc_core.threads.proposals import Draft
    from wc_core.threads.reader import StoreReader


def complete(
    draft: Draft, thread: LockedThread, reader: StoreReader, author: str
) -> Draft:
    """The draft with the thread's name as its topic, and all that its entry needs.

    Raises ConflictError or InvalidInputError if ``author`` cannot write it.
    """
    snapshot = thread.snapshot
    if snapshot is None:
        return draft
    draft = draft._replace(topic=snapshot.name)
    if draft.action in revisions.CORRECTIONS:
        return revisions.complete(draft, thread.entries or (), author)
    if draft.action == "tag":
        from wc_core.threads import tags  # 0.3 ms, only for this action

        return tags.complete(draft, thread.state, snapshot.tags)
    if draft.action == "rename":
        _check_name(draft, thread.topic, reader)
    return draft


def _check_name(draft: Draft, topic: str, reader: StoreReader) -> None:
    """Raise ConflictError if the new name is taken, or is the thread's name now."""
    if draft.new_topic == draft.topic:
        raise ConflictError(
            f"{draft.topic} is its name already.", "Nothing was written."
        )
    try:
        other_topic = reader.find(draft.new_topic)
    except NotFoundError:
        return
    if other_topic != topic:
        title = reader.snapshot(other_topic).state.title
        raise ConflictError(
            f"There is a thread {draft.new_topic} already: {title!r}.",
            "Nothing was written. Choose another name.",
        )
