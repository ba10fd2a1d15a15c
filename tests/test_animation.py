"""The animated picture of the board: readable where nothing moves, and
self-contained."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree as ET

SVG = "{http://www.w3.org/2000/svg}"
PICTURE = Path(__file__).resolve().parents[1] / "docs" / "board-animated.svg"
TEXT = PICTURE.read_text(encoding="utf-8")


def frames() -> list[ET.Element]:
    root = ET.fromstring(TEXT)
    return [
        group for group in root.iter(f"{SVG}g") if "frame" in group.get("class", "")
    ]


def test_each_frame_shows_the_command_that_led_to_it() -> None:
    captions = ["".join(group[-1].itertext()) for group in frames()]
    assert captions[0] == "Pat has wc board open."
    assert captions[1:], "no session"
    assert all(" $ wc " in caption for caption in captions[1:])


def test_without_animation_only_the_last_frame_is_visible() -> None:
    still, _, moving = TEXT.partition("@media (prefers-reduced-motion: no-preference)")
    assert ".frame { opacity: 0 } .last { opacity: 1 }" in still
    assert "animation" not in still
    assert "animation" in moving
    assert [" last" in group.get("class", "") for group in frames()] == [
        *[False] * (len(frames()) - 1),
        True,
    ]


def test_frames_take_turns_of_equal_length() -> None:
    seconds = float(re.findall(r"animation: show (\S+)s step-end", TEXT)[0])
    delays = [float(delay) for delay in re.findall(r"animation-delay: (\S+)s", TEXT)]
    turn = seconds / len(frames())
    assert delays == [number * turn for number in range(1, len(frames()))]


def test_it_is_small_and_loads_nothing() -> None:
    assert len(TEXT) < 40_000
    assert not re.search(r"<script|href=|@import|url\(", TEXT)
