"""Colour, shape and initials of participants."""

from __future__ import annotations

import pytest

from wc_core.base.agents import AGENTS
from wc_core.base.names import SPELLINGS, Directory
from wc_core.reading.views.drawing.badges import HUES, badge_of


def luminance(rgb: str) -> float:
    """Relative luminance, WCAG 2.2."""
    parts = [int(rgb[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4
        for part in parts
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_white_text_is_readable_on_each_hue() -> None:
    for hue in HUES:
        assert 1.05 / (luminance(hue.rgb) + 0.05) >= 4.5, hue
    assert len({hue.rgb for hue in HUES}) == len(HUES)
    assert len({hue.terminal for hue in HUES}) == len(HUES)


@pytest.mark.parametrize(
    "name", ["Codex", "codex-cli", "Codex@review", "Codex (pat)", "CODEX@a (sam)"]
)
def test_every_seat_and_spelling_of_an_agent_looks_alike(name: str) -> None:
    assert badge_of(name) == badge_of("Codex")
    assert badge_of(name).is_agent


def test_the_common_agents_share_their_hue_with_nobody() -> None:
    common = {badge_of(name).hue for name in ("Claude Code", "Codex", "Gemini CLI")}
    assert len(common) == 3
    others = [f"Person {number}" for number in range(100)]
    assert not common & {badge_of(name).hue for name in others}


def test_known_agents_have_different_initials() -> None:
    initials = [badge_of(agent.name).initials for agent in AGENTS]
    assert len({*initials}) == len(AGENTS)
    assert badge_of("Claude Code").initials == "CC"


@pytest.mark.parametrize(
    ("name", "initials"),
    [("Pat", "Pa"), ("Ada Lovelace", "AL"), ("x", "X"), ("…", "?"), ("Ömer", "Öm")],
)
def test_people_are_round_and_have_initials(name: str, initials: str) -> None:
    badge = badge_of(name)
    assert (badge.initials, badge.is_agent) == (initials, False)
    assert 0 <= badge.hue < len(HUES)


def test_names_use_most_hues() -> None:
    used = {badge_of(f"Person {number}").hue for number in range(60)}
    assert len(used) == len(HUES) - 3


def test_an_alias_of_a_store_counts() -> None:
    directory = Directory({**SPELLINGS, "cc": "Claude Code"})
    assert badge_of("cc@fix", directory) == badge_of("Claude Code")
