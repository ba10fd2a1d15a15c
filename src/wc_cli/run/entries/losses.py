"""Writes into a thread that someone has lost the claim that was about it.

Two clones may claim the same target while the remote is unreachable; the next exchange
decides. The losing agent may not check, so an entry in its name informs the thread's
readers. It leaves the ball where it is.
"""

from __future__ import annotations

from wc_cli.edits.claims import travel
from wc_cli.ledger.sync.exchange import LIMIT_SECONDS
from wc_cli.run.context import Context
from wc_cli.run.entries import receipts
from wc_core.base.errors import WcError
from wc_core.base.text import one_line
from wc_core.ledger.threads import vocabulary
from wc_core.ledger.threads.proposals import Draft
from wc_core.people.identity.resolve import Asked

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from wc_core.edits.claims.record import Claim
    from wc_core.ledger.git.remotes import Remote

_WIDTH = 120


def record_losses(
    root: str, env: Mapping[str, str], losses: Iterable[tuple[Claim, Claim]]
) -> list[str]:
    """Write an entry for each lost claim that has a thread. Returns notes about
    failures."""
    notes = []
    for claim, rival in losses:
        if not claim.thread:
            continue
        context = Context(env, root, Asked(claim.holder))
        try:
            receipt = context.writer().write(_draft(claim, rival), context.source)
            receipts.settle_after_write(context, receipt)
        except WcError as error:
            notes.append(f"this is not recorded in {claim.thread}: {error}")
    return notes


def _draft(claim: Claim, rival: Claim) -> Draft:
    """The entry about a loss. Its key keeps a second exchange from writing it again."""
    claim_id = one_line(claim.id, _WIDTH)
    branch = f", on {one_line(rival.branch, _WIDTH)}" if rival.branch else ""
    title = f"Lost the claim on {claim_id} to {one_line(rival.holder, _WIDTH)}"
    body = (
        "Both claimed it while the remote was out of reach, and the remote had the "
        f"other claim first{branch}. Agree on who goes on before either publishes."
    )
    return Draft(
        topic=claim.thread,
        action="ack",
        title=vocabulary.title(title),
        body=body,
        key=f"claim-lost-{claim.oid}",
    )


def exchange_beside_store(
    root: str, env: Mapping[str, str], remote: Remote, seconds: float = LIMIT_SECONDS
) -> list[str]:
    """Exchange the claims with a remote, right after the store. If someone lost a
    claim, an entry in its thread says so.

    Waits for the remote at most ``seconds``. Returns notes for the user.
    """
    claims = travel.exchange_beside_store(root, env, remote, seconds)
    unwritten = record_losses(root, env, claims.losses)
    return [*claims.notes, *unwritten]
