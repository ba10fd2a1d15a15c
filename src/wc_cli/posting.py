"""The Python API for writing: `post` and its `Receipt`, promised by docs/api.md."""

from __future__ import annotations

import os

from wc_cli.ledger.store.lockedthread import Receipt
from wc_cli.run.context import Context
from wc_cli.run.entries import approvals, receipts
from wc_core.ledger.threads import vocabulary
from wc_core.ledger.threads.model import APPROVED
from wc_core.people.identity.resolve import Asked

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from wc_core.ledger.threads.proposals import Draft

__all__ = ["Receipt", "checked", "post"]

_NOT_ASKED = Asked()


def post(
    draft: Draft,
    asked: Asked = _NOT_ASKED,
    *,
    folder: str = "",
    env: Mapping[str, str] | None = None,
    sync: bool = False,
) -> Receipt:
    """Write one entry into the store of ``folder``, as the `wc` command would there;
    the store is created if there is none.

    ``asked`` says who writes; by default that follows from ``env`` and git. ``folder``
    and ``env`` default to those of this process. ``sync`` waits until the entry is
    committed and the remote has it. Once it returns, the entry is on disk. Raises a
    WcError if nothing was written.
    """
    draft = checked(draft)
    context = Context(os.environ if env is None else env, folder or os.getcwd(), asked)
    writer = context.writer_of(draft)
    if draft.outcome == APPROVED:
        receipt = approvals.write_approval(context, writer, draft)
    else:
        receipt = writer.write(draft, context.source)
    return receipts.settle_after_write(context, receipt, sync=sync)


def checked(draft: Draft) -> Draft:
    """The draft with its words in canonical spelling. Raises InvalidInputError."""
    return draft._replace(
        action=vocabulary.action(draft.action),
        title=vocabulary.title(draft.title),
        body=vocabulary.body(draft.body),
        role=vocabulary.role(draft.role),
        kind=vocabulary.kind(draft.kind),
        severity=vocabulary.severity(draft.severity),
        type=vocabulary.entry_type(draft.type),
        outcome=vocabulary.outcome(draft.outcome),
        approved_commit="",  # that of the branch, which is asked when it is written
        to=vocabulary.name(draft.to),
        status=vocabulary.status(draft.status),
        reason=vocabulary.reason(draft.reason),
        key=vocabulary.key(draft.key),
        summary=vocabulary.summary(draft.summary),
        file_refs=vocabulary.file_refs(draft.file_refs),
        line_refs=vocabulary.line_refs(draft.line_refs),
        pr_refs=vocabulary.pr_refs(map(str, draft.pr_refs)),
        commit_refs=vocabulary.commit_refs(draft.commit_refs),
    )
