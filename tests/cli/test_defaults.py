"""The options that a person always wants: at a terminal, not for agents."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from tests.contract.inprocess import Here
from wc_cli.run import defaults

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import Machine


@pytest.fixture
def env(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Someone at a terminal who wants open threads only."""
    folder = tmp_path / ".config/watercooler"
    folder.mkdir(parents=True)
    text = '[defaults]\nlist = ["--open", "--limit=2"]\n'
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


def test_they_are_set_and_shown(machine: Machine) -> None:
    folder = Here(machine, machine.folder("plain").path)
    path = machine.home / ".config/watercooler/config.toml"
    folder.ok("config", "--global", "set", "inbox.statusline", "true")
    words = ("config", "--global", "set", "--", "defaults.list", "--open")
    assert folder.ok(*words).out == 'defaults.list = "--open"\n'
    done = folder.ok("config", "--global", "list", "--show-origin")
    assert done.out.splitlines() == [
        f"{path}\tinbox.statusline = true",
        f'{path}\tdefaults.list = "--open"',
    ]
    assert folder.ok("config", "--global", "get", "inbox.statusline").out == "true\n"
    before = path.read_text()
    for wrong in (
        ("inbox.statusline", "night"),
        ("defaults.say", "--force"),
        ("rules.title", "fix: *"),
        ("ball.enforce", "off"),
    ):
        folder.fails(2, "config", "--global", "set", "--", *wrong)
    assert path.read_text() == before
    folder.ok("config", "--global", "unset", "inbox.statusline")
    folder.fails(3, "config", "--global", "get", "inbox.statusline")
    path.write_text("[inbox")
    assert "cannot be used" in folder.ok("config", "--global", "list").err
    folder.fails(6, "config", "--global", "set", "inbox.statusline", "true")


def test_a_preference_is_not_a_setting_of_the_repository(machine: Machine) -> None:
    repo = Here(machine, machine.repo().path)
    repo.fails(2, "config", "set", "inbox.statusline", "true")
    repo.ok("config", "set", "rules.title", "fix: *")
    path = machine.home / ".config/watercooler/config.toml"
    path.parent.mkdir(parents=True)
    path.write_text("[rules]\ntitle = []\n")
    repo.fails(2, "new", "auth", "--title", "A")
