"""A person's own preferences, read from their file."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from wc_core.ledger.configuration import preferences
from wc_core.ledger.configuration.preferences import NO_PREFERENCES, Preferences

if TYPE_CHECKING:
    from pathlib import Path


def loaded(home: Path, text: str) -> Preferences:
    path = home / ".config/watercooler/config.toml"
    path.parent.mkdir(parents=True)
    path.write_text(text)
    return preferences.load({"HOME": str(home)})


def test_where_they_are(tmp_path: Path) -> None:
    home = {"HOME": "/h"}
    assert preferences.path_of(home) == "/h/.config/watercooler/config.toml"
    chosen = {**home, "XDG_CONFIG_HOME": "/x"}
    assert preferences.path_of(chosen) == "/x/watercooler/config.toml"
    # The specification of XDG: a path that is not absolute does not count.
    relative = {**home, "XDG_CONFIG_HOME": "x"}
    assert preferences.path_of(relative) == preferences.path_of(home)
    assert preferences.path_of({}) == ""
    assert preferences.path_of({**home, "WATERCOOLER_PREFERENCES": "off"}) == ""
    for env in ({}, {"HOME": str(tmp_path)}):
        assert preferences.load(env) == NO_PREFERENCES


def test_a_variable_switches_off_searches_by_meaning(tmp_path: Path) -> None:
    loaded(tmp_path, "[inbox]\nstatusline = true\n")
    for home in ({"HOME": str(tmp_path)}, {}):
        assert preferences.load(home).by_meaning
        off = preferences.load({**home, "WATERCOOLER_MEANING": "off"})
        assert not off.by_meaning
        assert off.shows_elsewhere == bool(home)


def test_what_they_say(tmp_path: Path) -> None:
    text = '[defaults]\nlist = "--open"\n[quiet]\nhours = "22:30-8:00"\n'
    text += '[inbox]\nleave_out = "app"\nstatusline = true\n'
    text += '[meaning]\nendpoint = "http://gpu:8080/v1"\nmodel = "bge-m3"\n'
    found = loaded(tmp_path, text)
    assert found.defaults == {"list": ("--open",)}
    assert found.quiet == (22 * 60 + 30, 8 * 60)
    assert found.left_out == ("app",)
    assert found.shows_elsewhere
    assert found.by_meaning
    assert found.meaning_endpoint == "http://gpu:8080/v1"
    assert (found.meaning_model, found.meaning_dimensions) == ("bge-m3", 0)
    assert found.problem == ""


@pytest.mark.parametrize(
    "text",
    [
        "[quiet",
        "quiet = 1",
        "[quiet]\nhours = 22\n",
        '[quiet]\nhours = "25:00-08:00"\n',
        "[defaults]\nlist = [1]\n",
        "[inbox]\nleave_out = true\n",
        '[meaning]\nendpoint = "gpu:8080"\n',
    ],
)
def test_a_file_that_cannot_be_used_counts_for_nothing(
    tmp_path: Path, text: str
) -> None:
    found = loaded(tmp_path, text)
    assert "config.toml cannot be used" in found.problem
    assert found._replace(problem="") == NO_PREFERENCES


def test_what_is_not_known_takes_nothing_else_with_it(tmp_path: Path) -> None:
    text = 'theme = "dark"\n[ball]\nenforce = "off"\n[run]\nminutes = 5\nagents = 2\n'
    choices = loaded(tmp_path, f'{text}[quiet]\ndays = 1\nhours = "22:00-8:00"\n')
    assert (choices.run_minutes, choices.quiet) == (5, (22 * 60, 8 * 60))
    assert choices.ignored == ("theme", "ball", "run.agents", "quiet.days")
    assert choices.problem == ""


def test_a_command_for_the_cloud_is_no_command_of_an_agent(tmp_path: Path) -> None:
    text = '[run]\ncodex = "c"\nenvironment = "e"\ncloud_minutes = 5\n'
    choices = loaded(tmp_path, f'{text}codex-cloud = ["c"]\ncodex-diff = "d"\n')
    assert dict(choices.run_commands) == {"codex": ("c",)}
    former = ("environment", "cloud_minutes", "codex-cloud", "codex-diff")
    assert choices.ignored == tuple(f"run.{name}" for name in former)


@pytest.mark.parametrize(
    ("start", "end", "minute", "quiet"),
    [
        (60, 120, 59, False),
        (60, 120, 60, True),
        (60, 120, 119, True),
        (60, 120, 120, False),
        (1320, 480, 1320, True),
        (1320, 480, 0, True),
        (1320, 480, 480, False),
        (1320, 480, 1319, False),
        (60, 60, 60, False),
    ],
)
def test_quiet_hours(start: int, end: int, minute: int, *, quiet: bool) -> None:
    assert Preferences(quiet=(start, end)).is_quiet(minute) is quiet
    assert not NO_PREFERENCES.is_quiet(minute)
