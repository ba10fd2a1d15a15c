"""Which model makes the vectors."""

from __future__ import annotations

from importlib.machinery import PathFinder
from typing import TYPE_CHECKING, Any

import pytest

from tests.core.meaning.vectors import write_file
from wc_core.base.layout import Layout
from wc_core.ledger.configuration.keys import ModelServer
from wc_core.ledger.configuration.preferences import NO_PREFERENCES
from wc_core.reading.meaning import models
from wc_core.reading.meaning.models import LOCAL, Model
from wc_core.reading.meaning.report import meaning_report
from wc_core.reading.meaning.vectorfile import Header

if TYPE_CHECKING:
    from pathlib import Path

SERVER = NO_PREFERENCES._replace(
    meaning_endpoint=ModelServer("http://localhost:11434", "nomic-embed-text")
)


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """The modules that can be imported."""
    every = frozenset({"numpy", "tokenizers", "wordllama"})
    names, real = {*every}, PathFinder.find_spec

    def find_spec(name: str, *more: Any) -> Any:
        return name in names if name in every else real(name, *more)

    monkeypatch.setattr(PathFinder, "find_spec", find_spec)
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
    model = models.chosen(SERVER).model
    assert model == Model("nomic-embed-text", 0, "http://localhost:11434")
    assert not model.is_local
    assert "http://localhost:11434" in model.label
    without = SERVER._replace(meaning_endpoint=ModelServer("http://localhost:11434"))
    assert "but no model" in models.chosen(without).reason


def test_it_can_be_switched_off(installed: set[str]) -> None:
    assert installed
    choice = models.chosen(SERVER._replace(by_meaning=False))
    assert choice == (None, "they are switched off (meaning.endpoint)")


def test_preferences_that_cannot_be_read_may_have_switched_it_off(
    installed: set[str],
) -> None:
    assert installed
    choice = models.chosen(NO_PREFERENCES._replace(problem="they are broken"))
    assert choice == (None, "they are broken")


def test_what_the_doctor_says(installed: set[str], tmp_path: Path) -> None:
    assert installed
    header = Header("nomic-embed-text", 4)
    layout = Layout(str(tmp_path))
    report = meaning_report(layout, NO_PREFERENCES, 5)
    assert report.is_plain
    assert "text stays on this machine; no entry has a vector" in report.sentence
    write_file(tmp_path, header, [bytes(header.row_bytes)] * 3)
    report = meaning_report(layout, SERVER, 5)
    assert not report.is_plain
    assert report.sentence == (
        "meaning: nomic-embed-text, text is sent to http://localhost:11434; "
        "3 of 5 entries have a vector"
    )
    report = meaning_report(layout, NO_PREFERENCES, 5)
    assert not report.is_plain
    assert "no entry has a vector of it" in report.sentence
    installed.clear()
    report = meaning_report(layout, NO_PREFERENCES, 5)
    assert not report.is_plain
    assert not report.is_optional  # it has vectors, which are of no use now
    assert "by words alone: wc-watercooler[meaning] is not" in report.sentence
    unused = Layout(str(tmp_path / "unused"))
    assert meaning_report(unused, NO_PREFERENCES, 5).is_optional
    assert not meaning_report(unused, SERVER, 5).is_optional
    assert meaning_report(layout, SERVER._replace(by_meaning=False), 5).is_plain
