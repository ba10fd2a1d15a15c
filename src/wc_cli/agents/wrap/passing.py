"""Hands over everything that a participant holds."""

from __future__ import annotations

from wc_core.base.errors import ConflictError, WcError
from wc_core.base.values import NamedTuple
from wc_core.ledger.threads.proposals import Draft

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from wc_cli.agents.wrap.leftovers import Leftovers
    from wc_cli.ledger.store.lockedthread import Receipt
    from wc_cli.run.context import Context

_MAX_NAMED = 20


class Handover(NamedTuple):
    """The recipient of everything, the text, and whether a new name is allowed."""

    to: str
    note: str = ""
    force: bool = False


def pass_balls(
    context: Context, leftovers: Leftovers, handover: Handover
) -> list[Receipt]:
    """Hand off every held ball. Everything is checked before anything is written.

    Raises ConflictError, NotFoundError and others, as ``wc handoff`` does, with the
    thread; and ConflictError if another process was faster, with the threads that were
    already passed on.
    """
    body = _body(leftovers, handover.note)
    drafts = [
        Draft(
            row.topic,
            "handoff",
            f"Handoff to {handover.to}",
            body,
            to=handover.to,
            force=handover.force,
        )
        for row in leftovers.balls
    ]
    writer, source = context.writer(), context.source
    for draft, row in zip(drafts, leftovers.balls, strict=True):
        try:
            writer.check(draft, source.now_ms())
        except WcError as error:
            message = f"{row.name}: {error.message}"
            raise type(error)(
                message, f"Nothing was passed on. {error.hint}"
            ) from error
    receipts: list[Receipt] = []
    for draft in drafts:
        try:
            receipts.append(writer.write(draft, source))
        except WcError as error:
            done = ", ".join(receipt.topic for receipt in receipts) or "nothing"
            raise ConflictError(
                f"{draft.topic}: {error.message}",
                f"Already passed on: {done}. {error.hint}",
            ) from error
    return receipts


def _body(leftovers: Leftovers, note: str) -> str:
    """The text of the handoffs: the note, then everything that a ball does not
    include."""
    lines = [*_remains(leftovers)]
    remains = "\n".join(["Left behind:", "", *(f"- {line}" for line in lines)])
    return "\n\n".join(filter(None, (note, remains if lines else "")))


def _remains(leftovers: Leftovers) -> Iterator[str]:
    worktree = leftovers.worktree
    place = f" on {worktree.branch}" if worktree.branch else ""
    if worktree.changed:
        yield f"not committed{place}: {_named(worktree.changed)}"
    if worktree.unpushed:
        yield f"commits that are not pushed{place}: {worktree.unpushed}"
    if leftovers.unsaved is not None:
        yield leftovers.unsaved.sentence
    if leftovers.claims:
        yield f"claims that were released: {_named(leftovers.claims)}"
    for question in leftovers.questions.items:
        yield f"a question from {question.asker} in {question.topic}: {question.title}"


def _named(names: tuple[str, ...]) -> str:
    hidden = len(names) - _MAX_NAMED
    ending = f" and {hidden} more" if hidden > 0 else ""
    return ", ".join(f"`{name}`" for name in names[:_MAX_NAMED]) + ending
