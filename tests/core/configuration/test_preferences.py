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
    for env in ({}, {"HOME": str(tmp_path)}):
        assert preferences.load(env) == NO_PREFERENCES


@pytest.mark.parametrize(
    "text",
    [
        "[inbox",
        "inbox = 1",
        "[wake]\nfrom = 0\n",
        "[notify]\ncommand = [1]\n",
        "[inbox]\nleave_out = true\n",
        '[meaning]\nendpoint = "gpu:8080"\n',
        '[meaning]\nendpoint = ["http://gpu:8080", "a", "b"]\n',
        '[meaning]\nendpoint = ["off", "a"]\n',
        '[summaries]\nendpoint = "off"\n',
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
    text += '[quiet]\nhours = "22:00-8:00"\n[notify]\ncontent = true\n'
    choices = loaded(tmp_path, text)
    assert choices.run_minutes == 5
    former = ("run.minutes", "run.agents", "quiet", "notify.content")
    assert choices.ignored == ("theme", "ball", *former)
    assert choices.problem == ""


def test_a_command_for_the_cloud_is_no_command_of_an_agent(tmp_path: Path) -> None:
    text = '[run]\ncodex = "c"\nenvironment = "e"\ncloud_minutes = 5\n'
    choices = loaded(tmp_path, f'{text}codex-cloud = ["c"]\ncodex-diff = "d"\n')
    assert dict(choices.run_commands) == {"codex": ("c",)}
    former = ("environment", "cloud_minutes", "codex-cloud", "codex-diff")
    assert choices.ignored == tuple(f"run.{name}" for name in former)


@pytest.mark.parametrize(
    ("text", "by_meaning"),
    [
        ('endpoint = "off"', False),
        ('endpoint = "local"', True),
        ("enabled = false", False),
        ('enabled = true\nendpoint = "off"', False),
        ("enabled = 1", True),
    ],
)
def test_whether_searches_use_meaning(
    tmp_path: Path, text: str, *, by_meaning: bool
) -> None:
    chosen = loaded(tmp_path, f"[meaning]\n{text}\n")
    assert (chosen.by_meaning, chosen.meaning_endpoint.address) == (by_meaning, "")
    assert chosen.problem == ""


def test_keys_that_went_start_nothing_and_still_restrict(tmp_path: Path) -> None:
    text = '[wake]\nper_hour = 0\ncarriers = "*"\n[run]\nminutes = 3\n'
    text += 'worktrees = "../x"\n[summaries]\nendpoint = "http://a"\nmodel = "m"\n'
    text += '[defaults]\nlist = "--open"\n[notify]\ntargets = "desktop"\n'
    text += '[meaning]\nendpoint = "http://a"\nmodel = "m"\ndimensions = 5\n'
    chosen = loaded(tmp_path, text)
    assert (chosen.wakes_per_hour, chosen.run_minutes) == (0, 3)
    assert chosen.summaries_endpoint == ("http://a", "")
    assert chosen.meaning_endpoint == ("http://a", "")
    assert (chosen.notify_commands, chosen.former_targets) == ((), ("desktop",))
    assert not chosen.run_commands
    assert chosen.ignored == (
        *("wake.per_hour", "wake.carriers", "run.minutes", "run.worktrees"),
        *("summaries.model", "defaults", "notify.targets"),
        *("meaning.model", "meaning.dimensions"),
    )


def test_a_higher_number_than_before_has_no_effect(tmp_path: Path) -> None:
    chosen = loaded(tmp_path, "[wake]\nper_hour = 500\n[run]\nminutes = 600\n")
    assert (chosen.wakes_per_hour, chosen.run_minutes) == (12, 60)


def test_nothing_is_sent_while_an_unknown_variable_says_off(tmp_path: Path) -> None:
    text = '[summaries]\nendpoint = ["http://a", "m"]\n'
    loaded(tmp_path, f'{text}[meaning]\nendpoint = ["http://a", "m"]\n')
    home = {"HOME": str(tmp_path)}
    assert preferences.load(home).summaries_endpoint.model
    chosen = preferences.load({**home, "WATERCOOLER_PREFERENCES": "off"})
    assert (chosen.summaries_endpoint, chosen.meaning_endpoint) == (("", ""), ("", ""))
    assert not chosen.by_meaning
