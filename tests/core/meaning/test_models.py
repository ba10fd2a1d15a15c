"""Which model makes the vectors."""

from __future__ import annotations

from importlib.machinery import PathFinder

import pytest

from wc_core.configuration.preferences import NO_PREFERENCES
from wc_core.meaning import models
from wc_core.meaning.models import LOCAL, Model

SERVER = NO_PREFERENCES._replace(
    meaning_endpoint="http://localhost:11434", meaning_model="nomic-embed-text"
)


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """The modules that can be imported."""
    names = {"numpy", "tokenizers", "wordllama"}
    monkeypatch.setattr(PathFinder, "find_spec", lambda name: name in names)
    return names


def test_the_one_on_this_machine_needs_nothing_but_the_extra(
    installed: set[str],
) -> None:
    assert models.chosen(NO_PREFERENCES).model == LOCAL
    assert LOCAL.is_local
    installed.clear()
    choice = models.chosen(NO_PREFERENCES)
    assert choice == (None, "wc-watercooler[meaning] is not installed")


def test_a_server_is_asked_only_if_it_is_named(installed: set[str]) -> None:
    installed -= {"tokenizers", "wordllama"}
    model = models.chosen(SERVER._replace(meaning_dimensions=768)).model
    assert model == Model("nomic-embed-text", 768, "http://localhost:11434")
    assert not model.is_local
    assert "http://localhost:11434" in model.label
    assert models.chosen(SERVER._replace(meaning_model="")).model is None


def test_it_can_be_switched_off(installed: set[str]) -> None:
    assert installed
    choice = models.chosen(SERVER._replace(by_meaning=False))
    assert choice == (None, "meaning.enabled = false")


def test_preferences_that_cannot_be_read_may_have_switched_it_off(
    installed: set[str],
) -> None:
    assert installed
    choice = models.chosen(NO_PREFERENCES._replace(problem="they are broken"))
    assert choice == (None, "they are broken")
