"""Writes an approval: of the commit that the branch of the thread has here."""

from __future__ import annotations

from wc_cli.edits.review.approving import Reviewer, approval_of
from wc_cli.ledger.store.upkeep import LOCK_SECONDS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from wc_cli.ledger.store.lockedthread import Receipt
    from wc_cli.ledger.store.writer import StoreWriter
    from wc_cli.run.context import Context
    from wc_core.ledger.threads.proposals import Draft


def write_approval(
    context: Context, writer: StoreWriter, draft: Draft, seconds: float = LOCK_SECONDS
) -> Receipt:
    """Write an entry that approves. Returns the receipt, with what was approved. Raises
    ConflictError if the reviewer cannot have seen that, and what a write raises."""
    repository = context.place.repository
    reviewer = Reviewer(context.viewer, writer.author_name)
    approval = approval_of(draft, context.reader, reviewer, repository, context.env)
    draft = draft._replace(approved_commit=approval.commit)
    receipt = writer.write(draft, context.source, seconds)
    notes = (*receipt.notes, *approval.notes)
    return receipt._replace(deed=approval.text or receipt.deed, notes=notes)
