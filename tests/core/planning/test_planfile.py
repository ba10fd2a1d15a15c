"""Plans as markdown lists: what is a thread, a part, a step, and what waits."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.core.strategies import relaxed
from wc_core.base.errors import InvalidInputError
from wc_core.ledger.planning.planfile import PlannedStep, parse

PLAN = """\
# Passkeys

Some words before.

- db: A table of passkeys
1. Register a passkey (after db and `old`) @Codex
   What the server has to do.

   Two paragraphs.
   - [ ] check the origin
   - [x] choose a library
   * errors: Say what went wrong (waits for: db, ui)
     - [ ] in two languages
- **ui**: A button to register @"Claude Code"
- [x] spec: Write it down
- [ ] Tell the users (needs Register a passkey)

After all, no item.
  - not: below anything
"""


def test_a_plan() -> None:
    items = {item.topic: item for item in parse(PLAN)}
    assert list(items) == [
        *("db", "register-a-passkey", "errors", "ui", "spec", "tell-the-users", "not")
    ]
    register = items["register-a-passkey"]
    assert register.title == "Register a passkey"
    assert (register.holder, register.blockers) == ("Codex", ("db", "old"))
    assert register.body == "What the server has to do.\n\nTwo paragraphs."
    assert register.steps == (
        PlannedStep("check the origin"),
        PlannedStep("choose a library", is_done=True),
    )
    assert items["errors"].parent == "register-a-passkey"
    assert items["errors"].blockers == ("db", "ui")
    assert items["errors"].steps == (PlannedStep("in two languages"),)
    assert items["ui"].holder == "Claude Code"
    assert items["ui"].title == "A button to register"
    assert items["spec"].is_done
    assert items["tell-the-users"].blockers == ("Register a passkey",)
    assert items["not"].parent == ""


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "It contains no list"),
        ("words\n\n# only\n", "It contains no list"),
        ("- a: One\n- A: Two\n", "Line 2: a is already on line 1"),
        ("- ok: Fine\n- !!!\n", "Line 2: '!!!' cannot be a topic"),
        ("- a: One @Codex @Gemini\n", "Line 1: a thread has one ball"),
        (f"- a: {'x' * 600}\n", "Line 1: The title is longer"),
    ],
)
def test_what_is_no_plan_says_where(text: str, problem: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        parse(text)
    assert problem in caught.value.message


LINES = st.lists(
    st.builds(
        "{}{}{}".format,
        st.sampled_from(["", "  ", "    ", "\t"]),
        st.sampled_from(["- ", "* [ ] ", "1. [x] ", "", "# "]),
        st.text(max_size=20),
    ),
    max_size=8,
)


@relaxed
@given(LINES)
def test_any_text_is_a_plan_or_refused(lines: list[str]) -> None:
    try:
        items = parse("\n".join(lines))
    except InvalidInputError:
        return
    topics = [item.topic for item in items]
    assert len(set(topics)) == len(topics)
    assert {item.parent for item in items} <= {"", *topics}
