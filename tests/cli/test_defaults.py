"""The options that a person always wants: at a terminal, not for agents."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING

import pytest

from tests.contract.inprocess import Here
from wc_cli.commands import wait
from wc_cli.run import defaults

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import Machine


@pytest.fixture
def env(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Someone at a terminal who wants open threads only."""
    folder = tmp_path / ".config/watercooler"
    folder.mkdir(parents=True)
    text = '[defaults]\nlist = ["--open", "--limit=2"]\n[quiet]\nhours = "00:00-23:59"'
    (folder / "config.toml").write_text(text)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    return {"HOME": str(tmp_path)}


def test_they_come_before_what_is_typed(env: dict[str, str]) -> None:
    argv = ["list", "--limit", "5"]
    expected = ["list", "--open", "--limit=2", "--limit", "5"]
    assert defaults.with_defaults(argv, env) == expected
    assert defaults.with_defaults(["read", "x"], env) == ["read", "x"]
    assert defaults.with_defaults([], env) == []


@pytest.mark.parametrize(
    ("words", "more"),
    [
        (["--json"], {}),
        (["--hook", "stop"], {}),
        ([], {"CLAUDECODE": "1"}),
        ([], {"AI_AGENT": "codex"}),
        ([], {"WATERCOOLER_PREFERENCES": "off"}),
        ([], {"XDG_CONFIG_HOME": "/nowhere"}),
    ],
)
def test_what_programs_read_stays_as_it_is(
    env: dict[str, str], words: list[str], more: dict[str, str]
) -> None:
    argv = ["list", *words]
    assert defaults.with_defaults(argv, {**env, **more}) == argv


def test_nor_is_a_pipe_concerned(
    env: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: False, raising=False)
    assert defaults.with_defaults(["list"], env) == ["list"]


@pytest.mark.parametrize(
    ("name", "word", "fits"),
    [
        ("list", "--open", True),
        ("list", "--limit=3", True),
        ("list", "--limit", False),
        ("list", "--open=yes", False),
        ("list", "--nonsense", False),
        ("list", "--json", False),
        ("list", "--as=Codex", False),
        ("list", "open", False),
        ("say", "--force", False),
        ("nonsense", "--open", False),
    ],
)
def test_what_can_be_preferred(name: str, word: str, *, fits: bool) -> None:
    assert (defaults.refusal(name, word) == "") is fits


def test_a_file_with_a_wrong_option_changes_nothing(
    env: dict[str, str], tmp_path: Path
) -> None:
    path = tmp_path / ".config/watercooler/config.toml"
    path.write_text('[defaults]\nlist = ["--open", "--as=Codex"]')
    assert defaults.with_defaults(["list"], env) == ["list"]


def test_nobody_is_called_in_quiet_hours(
    env: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    day = time.struct_time((2026, 1, 1, 12, 0, 0, 3, 1, 0))
    monkeypatch.setattr(time, "localtime", lambda: day)
    assert wait.is_quiet_now(env)
    assert not wait.is_quiet_now({})


def test_they_are_set_and_shown(machine: Machine) -> None:
    folder = Here(machine, machine.folder("plain").path)
    path = machine.home / ".config/watercooler/config.toml"
    folder.ok("config", "--global", "set", "quiet.hours", "22:00-08:00")
    words = ("config", "--global", "set", "--", "defaults.list", "--open")
    assert folder.ok(*words).out == 'defaults.list = "--open"\n'
    done = folder.ok("config", "--global", "list", "--show-origin")
    assert done.out.splitlines() == [
        f'{path}\tquiet.hours = "22:00-08:00"',
        f'{path}\tdefaults.list = "--open"',
    ]
    assert folder.ok("config", "--global", "get", "quiet.hours").out == "22:00-08:00\n"
    before = path.read_text()
    for wrong in (
        ("quiet.hours", "night"),
        ("defaults.say", "--force"),
        ("rules.roles", "critic"),
        ("ball.enforce", "off"),
    ):
        folder.fails(2, "config", "--global", "set", "--", *wrong)
    assert path.read_text() == before
    folder.ok("config", "--global", "unset", "quiet.hours")
    folder.fails(3, "config", "--global", "get", "quiet.hours")
    path.write_text("[quiet")
    assert "cannot be used" in folder.ok("config", "--global", "list").err
    folder.fails(6, "config", "--global", "set", "quiet.hours", "22:00-08:00")


def test_a_preference_is_not_a_setting_of_the_repository(machine: Machine) -> None:
    repo = Here(machine, machine.repo().path)
    repo.fails(2, "config", "set", "quiet.hours", "22:00-08:00")
    repo.ok("config", "set", "rules.roles", "critic")
    path = machine.home / ".config/watercooler/config.toml"
    path.parent.mkdir(parents=True)
    path.write_text("[rules]\nroles = []\n")
    repo.fails(2, "new", "auth", "--title", "A")
