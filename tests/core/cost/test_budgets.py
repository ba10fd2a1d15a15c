"""Numbers of tokens, and who gets the ball."""

from __future__ import annotations

import pytest

from wc_core.base.names import Directory, parse
from wc_core.ledger.threads.model import State
from wc_core.people.cost import budgets


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        *(("200k", 200_000), ("1.5m", 1_500_000), (" 20 ", 20), ("2_000", 2000)),
        *(("1,000", 1000), ("0.1K", 100), ("5.", 5)),
    ],
)
def test_numbers_as_people_write_them(text: str, tokens: int) -> None:
    assert budgets.parse(text) == tokens


@pytest.mark.parametrize(
    ("asker", "me", "person"),
    [
        ("Pat", "Codex (Alex)", "Pat"),
        ("Claude Code (Pat)", "Codex (Alex)", "Pat"),
        ("Claude Code", "Codex (Alex)", "Alex"),
        ("", "Codex (Alex)", "Alex"),
        ("Claude Code", "Codex", "anyone"),
    ],
)
def test_a_person_gets_the_ball(asker: str, me: str, person: str) -> None:
    state = State("t", asker=asker)
    assert budgets.person_for(state, parse(me), Directory()) == person
