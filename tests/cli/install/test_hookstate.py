"""wc doctor says why hooks that were installed would not run."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.conftest import Repo


@pytest.fixture
def connected(repo: Repo) -> Repo:
    repo.ok("init")
    for client in ("claude", "codex"):
        repo.ok("install", client, "--yes", "--with", "wake")
    return repo


def notes(repo: Repo) -> list[str]:
    """What the report says about hooks."""
    lines = repo.wc("doctor").out.splitlines()
    return [line.partition("hooks: ")[2] for line in lines if "hooks: " in line]


def trust(repo: Repo, *events: str) -> None:
    """Let Codex trust the hooks of these events, as /hooks does."""
    folder = repo.machine.home / ".codex"
    hooks = json.loads((folder / "hooks.json").read_text())["hooks"]
    names = {"SessionStart": "session_start", "UserPromptSubmit": "user_prompt_submit"}
    names |= {"Stop": "stop", "PreToolUse": "pre_tool_use"}
    names |= {"PostToolUse": "post_tool_use"}
    with (folder / "config.toml").open("a") as config:
        for event, groups in hooks.items():
            for number in range(len(groups)):
                if names[event] in events:
                    key = f"{folder}/hooks.json:{names[event]}:{number}:0"
                    config.write(f'[hooks.state."{key}"]\ntrusted_hash = "sha256:0"\n')


def test_codex_runs_no_hook_that_it_was_not_told_to_trust(connected: Repo) -> None:
    (note,) = notes(connected)
    begin = "Codex does not trust the hooks "
    assert note.startswith(begin)
    assert note.endswith(" yet, and runs none of them; in Codex: /hooks")
    trust(connected, "session_start", "user_prompt_submit", "stop")
    (note,) = notes(connected)
    assert note.startswith(f"{begin}post_tool_use, pre_tool_use yet")
    trust(connected, "pre_tool_use", "post_tool_use")
    assert notes(connected) == []


def test_hooks_that_are_switched_off_or_gone(connected: Repo) -> None:
    connected.ok("uninstall", "codex", "--yes")
    file = connected.machine.home / ".claude/settings.json"
    settings = json.loads(file.read_text())
    file.write_text(json.dumps(settings | {"disableAllHooks": True}))
    assert notes(connected) == [
        "Claude Code does not run hooks: disableAllHooks is true in its settings"
    ]
    del settings["hooks"]["Stop"]
    file.write_text(json.dumps(settings))
    edited = notes(connected)
    assert [note.partition(": ")[0] for note in edited] == ["Claude Code"] * 2
    assert all(note.endswith(": wc install --check") for note in edited)


def test_waking_takes_the_hooks_that_say_when_an_agent_is_at_work(repo: Repo) -> None:
    repo.ok("init")
    repo.ok("install", "claude", "--yes", "--only", "wake")
    (note,) = notes(repo)
    assert note.endswith("wc install claude --only hooks")


def test_a_new_installation_wakes_and_says_so(repo: Repo) -> None:
    file = repo.machine.home / ".claude/settings.json"
    done = repo.ok("install", "claude", "bash", "--yes")
    assert "asyncRewake" in file.read_text()
    assert "a ball wakes claude when idle" in done.err
    leave_out = done.err.rpartition("to leave this out: wc ")[2].split()
    assert leave_out == ["install", "claude", "bash", "--without", "wake"]
    # Said once. An agent that is added later is woken as those that are there.
    assert "wake" not in repo.ok("install", "claude", "--yes").err
    assert "wakes codex" in repo.ok("install", "codex", "--yes").err
    assert "wake" not in repo.ok(*leave_out).err
    assert "asyncRewake" not in file.read_text()
    assert "codex" in repo.ok("install", "claude", "codex", "--without", "wake").out
    # What is left out stays so, for agents that are added later, too.
    for client in ("claude", "opencode"):
        done = repo.ok("install", client, "--yes")
        assert f"not included: wake, which lets a ball wake {client}" in done.err
    assert "asyncRewake" not in file.read_text()
    repo.ok("uninstall", "--yes")
    assert "a ball wakes claude" in repo.ok("install", "claude").err


def test_an_installation_without_the_part_gets_it_on_request(repo: Repo) -> None:
    repo.ok("init")
    file = repo.machine.home / ".claude/settings.json"
    repo.ok("install", "claude", "--yes", "--without", "wake")
    done = repo.ok("install", "--yes")
    assert "asyncRewake" not in file.read_text()
    assert "not included: wake, which lets a ball wake claude" in done.err
    done = repo.ok("install", "claude", "gemini", "--yes", "--with", "wake")
    assert "asyncRewake" in file.read_text()
    assert "Gemini CLI cannot be woken; they wait with: wc wait" in done.err
    # It stays when everything is installed again.
    repo.ok("install", "claude", "--yes")
    assert "asyncRewake" in file.read_text()
    repo.ok("uninstall", "claude", "--yes")
    assert not file.exists()
    for option in ("--with", "--without"):
        done = repo.wc("install", "claude", option, "skill")
        assert done.code == 2
        assert "The optional parts: wake" in done.err
    both = repo.wc("install", "claude", "--with", "wake", "--without", "wake")
    assert both.code == 2
