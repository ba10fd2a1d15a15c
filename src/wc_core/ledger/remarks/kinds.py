"""The rules for an entry with a kind: it is a remark, like that of ``wc ack``.

It changes neither ball nor status. Options that would change them are refused, with the
command for that.
"""

from __future__ import annotations

from wc_core.base.errors import InvalidInputError
from wc_core.base.phrases import quoted
from wc_core.ledger.threads.model import DECISION, QUESTION

TYPE_CHECKING = False
if TYPE_CHECKING:
    from wc_core.ledger.threads.proposals import Draft

_REMARKS = frozenset({"say", "ack"})


def as_remark(draft: Draft) -> Draft:
    """The draft in its final form: a remark if it has a kind.

    Raises InvalidInputError if it would also move the ball or change the status, or has
    a severity without a kind.
    """
    if not draft.kind:
        if draft.severity:
            raise InvalidInputError(
                "Only an entry with a kind has a severity.",
                f"Name the kind, too: --kind warning --severity {draft.severity}",
            )
        return draft
    _check_moves_nothing(draft)
    # The type is what earlier versions and other tools show.
    implied = "Decision" if draft.kind == DECISION else ""
    return draft._replace(action="ack", type=draft.type or implied)


def _check_moves_nothing(draft: Draft) -> None:
    topic = quoted(draft.topic)
    if draft.action not in _REMARKS:
        raise InvalidInputError(
            f"{draft.action} takes no kind.",
            f"Add an entry of its own: wc say {topic} --kind {draft.kind} -m '…'",
        )
    commands = {
        "--to": f"wc handoff {topic} --to {quoted(draft.to)}",
        "--status": f"wc set-status {topic} {draft.status}",
        "--reopen": f"wc set-status {topic} OPEN",
        "--new": f"wc new {topic} -m '…'",
    }
    options = {
        "--to": bool(draft.to) and draft.kind != QUESTION,
        "--status": bool(draft.status),
        "--reopen": draft.reopen,
        "--new": draft.new,
    }
    for option, is_set in options.items():
        if is_set:
            first = "first" if option == "--new" else "then"
            raise InvalidInputError(
                f"An entry of kind {draft.kind} moves no ball and changes no status, "
                f"so it takes no {option}.",
                f"Write it without {option}, and {first}: {commands[option]}",
            )
