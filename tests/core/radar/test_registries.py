"""Which files are registries, and what the radar says about them."""

from __future__ import annotations

import pytest

from wc_core.edits.radar import registries


@pytest.mark.parametrize(
    ("path", "hint"),
    [
        ("CHANGELOG.md", "keep the lines of both sides"),
        ("pkg/Changes", "keep the lines of both sides"),
        ("src/mod.rs", "keep the lines of both sides"),
        ("web/package-lock.json", "take either side, then run: npm install"),
        ("uv.lock", "take either side, then run: uv lock"),
        ("requirements-dev.lock", "take either side, then make the lock file again"),
        ("src/changelog_view.py", ""),
        ("lock.py", ""),
        ("README.md", ""),
    ],
)
def test_hints(path: str, hint: str) -> None:
    assert registries.hint(path) == hint
