"""The texts for an agent about an edit of something that someone else has claimed."""

from __future__ import annotations

from wc_core.base.phrases import counted, quoted
from wc_core.base.text import one_line
from wc_core.base.times import ago, seconds_between
from wc_core.base.values import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from wc_cli.agents.guard.rivals import Rival

_NAMED = 3
_NOTE = 120


class Alternatives(NamedTuple):
    """The threads whose ball the agent has, and the time."""

    topics: Sequence[str]
    now_ms: int


class GuardText(NamedTuple):
    """The text about an edit, and the suggestions."""

    message: str
    ways_on: str

    def __str__(self) -> str:
        return f"Watercooler: {self.message}\n{self.ways_on}"


def refusal(rivals: Sequence[Rival], alternatives: Alternatives) -> GuardText:
    """The text for a refused edit: whose claim it is."""
    path = one_line(rivals[0].path)
    message = f'The edit of "{path}" was refused: {_who(rivals, alternatives)}'
    return GuardText(message, _ways_on(rivals[0], alternatives))


def advice(rivals: Sequence[Rival], alternatives: Alternatives) -> GuardText:
    """The warning before an edit that is not refused."""
    message = f"{_who(rivals, alternatives)} Agree with them before you continue."
    return GuardText(message, _ways_on(rivals[0], alternatives))


def notice(rivals: Sequence[Rival], alternatives: Alternatives) -> GuardText:
    """The warning after an edit."""
    path = one_line(rivals[0].path)
    message = (
        f'"{path}" was changed in this worktree, but {_who(rivals, alternatives)} Undo '
        "the change, or agree on it."
    )
    return GuardText(message, _ways_on(rivals[0], alternatives))


def _who(rivals: Sequence[Rival], alternatives: Alternatives) -> str:
    claim = rivals[0].claim
    facts = [ago(seconds_between(claim.at * 1000, alternatives.now_ms))]
    facts += [f'thread "{one_line(claim.thread)}"'] if claim.thread else []
    facts += [f'"{one_line(claim.note, _NOTE)}"'] if claim.note else []
    holder, claim_id = one_line(claim.holder), one_line(claim.id)
    hidden = len({rival.key for rival in rivals}) - 1
    suffix = f", and {counted(hidden, 'more file')} of this call" if hidden else ""
    return f'"{holder}" has claimed "{claim_id}" ({"; ".join(facts)}){suffix}.'


def _ways_on(rival: Rival, alternatives: Alternatives) -> str:
    claim = rival.claim
    topic, holder = quoted(one_line(claim.thread) or "TOPIC"), one_line(claim.holder)
    question = quoted(one_line(f"May I edit {rival.path}?"))
    verb = "say" if claim.thread else "new"
    free = "wc list --ball anyone --open"
    topics = [name for name in alternatives.topics if name != claim.thread][:_NAMED]
    if topics:
        named = ", ".join(map(one_line, topics))
        free = f"wc read {quoted(topics[0])} --new (you have the ball of: {named})"
    return (
        f"1. Ask: wc {verb} {topic} -m {question} --to {quoted(holder)}\n"
        f"2. Do something else: {free}\n"
        "3. If they are gone, a person takes it over: "
        f"wc claim {quoted(one_line(claim.id))} --takeover --reason '…'"
    )
