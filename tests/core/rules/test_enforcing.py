"""What the rules of a repository allow, entry by entry."""

from __future__ import annotations

from typing import Any

import pytest

from wc_core.base.errors import ConflictError, InvalidInputError, WcError
from wc_core.base.names import Directory, parse
from wc_core.ledger.configuration.keys import Rules
from wc_core.ledger.rules import enforcing
from wc_core.ledger.threads import moves
from wc_core.ledger.threads.model import Entry, State
from wc_core.ledger.threads.proposals import Draft
from wc_core.ledger.threads.settings import Settings

NEW = State("auth")
HELD = State(
    "auth",
    title="fix: x",
    entry_count=1,
    last_id="1",
    ball="Pat",
    asker="Pat",
    branch="main",
)


def entry(**fields: Any) -> Entry:
    return Entry(**{"id": "1", "topic": "auth", "agent": "Pat", "at": "", **fields})


def refusal(
    rules: Rules,
    draft: Draft,
    state: State = HELD,
    me: str = "Pat",
    entries: tuple[Entry, ...] = (),
    held: int = 0,
) -> WcError | None:
    """What a rule says to a draft."""
    directory = Settings().directory
    move = moves.decide(state, draft, parse(me), Settings(enforce="off"))
    planned = enforcing.PlannedEntry(
        *(state, draft, move, parse(me), directory), lambda: entries, lambda _: held
    )
    try:
        enforcing.check(planned, rules)
    except (InvalidInputError, ConflictError) as error:
        return error
    return None


SAY = Draft("auth", "say", "t", type="Note")
CLOSE = Draft("auth", "say", "t", status="CLOSED", reason="r")
DECIDED = (entry(kind="decision"),)
RETRACTED = (
    entry(kind="decision", title="x"),
    entry(id="2", action="retract", supersedes="1"),
)

# The rules, the draft with what else is known, and the rule that refuses it, if any.
CASES: list[tuple[Rules, Draft, dict[str, Any], str]] = [
    (Rules(title=("fix: *", "feat: *")), SAY, {"state": NEW}, "rules.title"),
    (Rules(title=("fix: *",)), SAY._replace(title="fix: a"), {"state": NEW}, ""),
    (Rules(title=("fix: *",)), SAY, {}, ""),
    (Rules(close_kinds=("decision",)), CLOSE, {}, "rules.close_kinds"),
    (Rules(close_kinds=("decision",)), CLOSE, {"entries": DECIDED}, ""),
    (
        Rules(close_kinds=("decision",)),
        CLOSE,
        {"entries": RETRACTED},
        "rules.close_kinds",
    ),
    (Rules(close_link="any"), CLOSE, {}, "rules.close_link"),
    (Rules(close_link="any"), CLOSE._replace(pr_refs=(3,)), {}, ""),
    (Rules(close_link="any"), CLOSE._replace(body="See #3."), {}, ""),
    (Rules(close_link="any"), CLOSE, {"entries": (entry(code_branch="fix"),)}, ""),
    (Rules(close_link="branch"), CLOSE._replace(pr_refs=(3,)), {}, "rules.close_link"),
    (Rules(close_link="branch"), CLOSE, {"state": HELD._replace(branch="fix")}, ""),
    (
        Rules(close_link="pr"),
        CLOSE,
        {"state": HELD._replace(branch="fix")},
        "rules.close_link",
    ),
    (Rules(close_link="pr"), CLOSE, {"entries": (entry(pr_refs=(3,)),)}, ""),
    (Rules(closers=("asker",)), CLOSE, {}, ""),
    (Rules(closers=("asker",)), CLOSE, {"me": "Codex"}, "rules.closers"),
    (Rules(closers=("asker",)), CLOSE, {"state": NEW, "me": "Codex"}, ""),
    (Rules(closers=("holder",)), CLOSE, {}, ""),
    (
        Rules(closers=("holder",)),
        CLOSE,
        {"state": HELD._replace(ball=None)},
        "rules.closers",
    ),
    (Rules(closers=("Codex", "Pat")), CLOSE, {"me": "codex@fix (Pat)"}, ""),
    (Rules(closers=("Codex",)), SAY, {}, ""),
    (Rules(balls=2), SAY._replace(to="Codex"), {"held": 2}, "rules.balls"),
    (Rules(balls=2), SAY._replace(to="Codex"), {"held": 1}, ""),
    # What goes back by itself is not held up.
    (Rules(balls=2), SAY, {"held": 2}, ""),
    (
        Rules(balls=2),
        Draft("auth", "take", "t", reason="r"),
        {"held": 2, "me": "Codex"},
        "rules.balls",
    ),
    (Rules(balls=2), CLOSE, {"held": 9}, ""),
    (Rules(), CLOSE, {}, ""),
]


@pytest.mark.parametrize(("rules", "draft", "known", "rule"), CASES)
def test_what_a_rule_refuses(
    rules: Rules, draft: Draft, known: dict[str, Any], rule: str
) -> None:
    error = refusal(rules, draft, **known)
    assert (str(error).partition(":")[0] if error else "") == rule
    if error is not None:
        assert "Nothing was written." in error.hint
        assert any(word in error.hint for word in ("wc ", "-m", "--"))


def test_no_pattern_takes_for_ever() -> None:
    assert not enforcing.title_fits("a" * 500, ("*a" * 100 + "b",))
    assert enforcing.title_fits("feat(api): x", ("feat(*): *",))
    assert not enforcing.title_fits("Fix: x", ("fix: *",))
    assert isinstance(Settings().directory, Directory)
