"""The errors for participants who cannot get a claim, or have none."""

from __future__ import annotations

import time

from wc_core.claims import ids
from wc_core.claims.record import WRITE
from wc_core.errors import ClaimedError, NotFoundError
from wc_core.phrases import counted, quoted
from wc_core.times import ago

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from wc_core.claims.book import Book
    from wc_core.claims.ids import ClaimId
    from wc_core.claims.record import Claim

_SHOWN = 3
_NO_CLAIMS = "You have no claims in this worktree."


def claimed_error(claim: Claim, count: int = 1) -> ClaimedError:
    """The error for a target that someone else has claimed, with the possible next
    steps."""
    verb = "edits" if claim.mode == WRITE else "relies on"
    age = ago(max(0, int(time.time()) - claim.at))
    facts = [
        f"active {age}",
        *([f"thread {claim.thread}"] if claim.thread else []),
        *([claim.note] if claim.note else []),
    ]
    count_text = f", and {counted(count - 1, 'more claim')}" if count > 1 else ""
    # Another clone may have written anything into the record.
    topic = quoted(claim.thread) if claim.thread else "TOPIC"
    ask = f"wc say {topic} -m '…' --to {quoted(claim.holder)}"
    path = quoted(claim.id)
    return ClaimedError(
        f"{claim.holder} {verb} {ids.label(claim.id)} ({'; '.join(facts)})"
        f"{count_text}.",
        f"Nothing was claimed. Ask: {ask}. See what is free: wc claims. "
        f"Take it over: wc takeover {path} --reason '…'",
    )


def not_held_error(target: ClaimId, own: Sequence[Claim], book: Book) -> NotFoundError:
    """The error for releasing or renewing a target that the holder has not claimed."""
    names = [claim.id for claim in own][:_SHOWN]
    rivals = [
        claim
        for claim in book.overlapping(target)
        if claim not in own and book.binds(claim)
    ]
    rival = f"; {rivals[0].holder} has {rivals[0].id}" if rivals else ""
    yours = ", ".join(names)
    hint = f"You have claimed: {yours}" if names else _NO_CLAIMS
    return NotFoundError(f"You have no claim on {target}{rival}.", hint)
