"""Threads by the agent that has the ball."""

from __future__ import annotations

from wc_core.base.names import Directory
from wc_core.reading.views import agentgroups
from wc_core.reading.views.rows import ThreadRow, unreadable_row


def row(topic: str, ball: str | None, **fields: object) -> ThreadRow:
    blank = unreadable_row(topic)._replace(status="OPEN", ball=ball, damaged=False)
    return blank._replace(**fields)  # type: ignore[arg-type]


def test_one_group_for_an_agent_whatever_its_spelling_seat_and_tag() -> None:
    directory = Directory(aliases={"gpt": "Codex"})
    rows = [
        row("a", "codex@review (ann)"),
        row("b", "Pat", ownership="mine"),
        row("c", "Cursor", status="IN_REVIEW"),
        row("d", "GPT"),
        row("e", None),
        row("f", "Cursor", waits=("api",)),
        row("g", None, status="CLOSED"),
        unreadable_row("h"),
        row("i", "Pat", ownership="mine", waits=("api",)),
    ]
    groups = agentgroups.agent_groups(rows, directory)
    assert [(g.key, [r.topic for r in g.rows]) for g in groups] == [
        ("mine", ["b"]),
        ("free", ["e"]),
        ("waiting", ["f", "i"]),
        ("agent codex", ["a", "d"]),
        ("agent cursor", ["c"]),
        ("damaged", ["h"]),
        ("closed", ["g"]),
    ]
    assert [g.key for g in agentgroups.agent_groups([], directory)] == ["mine"]
