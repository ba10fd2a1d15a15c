"""Who has the ball of the thread that claimed work is about. The same for the command
and the server."""

from __future__ import annotations

from wc_core.base.errors import NotFoundError
from wc_core.edits.claims.verdicts import ThreadBall
from wc_core.ledger.threads.model import holder_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from wc_core.edits.claims.book import Book
    from wc_core.edits.claims.ids import ClaimId
    from wc_core.ledger.threads.reader import StoreReader
    from wc_core.people.identity.viewer import Viewer


def ball_elsewhere(
    reader: StoreReader,
    viewer: Viewer,
    book: Book,
    targets: Iterable[ClaimId],
    topic: str = "",
) -> ThreadBall | None:
    """The thread of the work, if someone else has its ball: the named thread, or that
    of the viewer's own claims on the targets. Raises NotFoundError if the named thread
    does not exist."""
    topics = [topic] if topic else []
    topics += [
        claim.thread
        for target in targets
        for claim in book.overlapping(target)
        if claim.thread and viewer.is_me(claim.holder) and book.binds(claim)
    ]
    for name in dict.fromkeys(topics):
        try:
            state = reader.snapshot(reader.find(name)).state
        except NotFoundError:
            if name == topic:
                raise
            continue  # the record of a claim may name any thread
        if state.ball is not None and not viewer.holds(state.ball):
            return ThreadBall(state.topic, holder_text(state.ball))
    return None
