"""The plugin for Claude Code: that it says what the rest of the program says.

Its folder is that of the skill, which is so the only copy there is.
"""

from __future__ import annotations

import json
import re
import subprocess
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from wc_cli.agents.briefing.dialects import AFTER, DIALECTS, EVENTS, MOVES, TOOL_EVENTS
from wc_cli.agents.install.changes import Add, InstallSite, OwnFile, Set
from wc_cli.agents.install.clients import registry
from wc_cli.run import table
from wc_core.base.version import __version__

if TYPE_CHECKING:
    from tests.conftest import Repo
    from wc_cli.agents.install.changes import Part

ROOT = Path(__file__).resolve().parents[3]
MARKETPLACE = ROOT / ".claude-plugin/marketplace.json"
PLUGIN = ROOT / "src/wc_cli/agents/skill"


def read(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def test_the_marketplace_names_the_folder_of_the_plugin() -> None:
    (listed,) = read(MARKETPLACE)["plugins"]
    manifest = read(PLUGIN / ".claude-plugin/plugin.json")
    assert (ROOT / listed["source"]).resolve() == PLUGIN
    assert listed["name"] == manifest["name"]
    assert listed["description"] == manifest["description"]


def test_the_manifest_is_of_this_version_and_finds_the_skill() -> None:
    manifest = read(PLUGIN / ".claude-plugin/plugin.json")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert manifest["version"] == __version__
    assert manifest["license"] == project["license"]
    skills = [*(PLUGIN / manifest["skills"]).glob("*/SKILL.md")]
    assert [one.parent.name for one in skills] == ["watercooler"]


def test_its_server_is_ours() -> None:
    ((name, server),) = read(PLUGIN / ".mcp.json")["mcpServers"].items()
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert name == "watercooler"
    assert server["command"] in project["scripts"]
    assert server["args"] == []


def installed(home: Path) -> dict[str, Part]:
    """What `wc install claude` does in a project, by the names of the parts."""
    folder = home / "app"
    here = InstallSite(home, {}, "linux", folder, None, "project")
    (client,) = (one for one in registry.CLIENTS if one.name == "claude")
    return {part.name: part for part in registry.parts(client, here)}


def test_it_brings_what_wc_install_does(tmp_path: Path) -> None:
    parts = installed(tmp_path)
    ((_, server),) = read(PLUGIN / ".mcp.json")["mcpServers"].items()
    (change,) = parts["server"].changes
    assert isinstance(change, Set)
    assert {key: change.value[key] for key in server} == server
    skill = PLUGIN / "watercooler"
    files = {path for path in skill.rglob("*") if path.is_file()}
    assert len(files) > 1
    for page in parts["skill"].changes:
        assert isinstance(page, OwnFile)
        path = skill / page.path.relative_to(
            tmp_path / "app/.claude/skills/watercooler"
        )
        assert page.text == path.read_text()
        files.remove(path)
    assert not files
    ours = read(PLUGIN / "hooks/hooks.json")["hooks"]
    for group in (group for groups in ours.values() for group in groups):
        # Installed with wc, it is there; a plugin may be where wc is not.
        _, _, words = group["hooks"][0]["command"].partition(" || ")
        group["hooks"][0]["command"] = words
    theirs: dict[str, list[Any]] = {}
    for one in (*parts["hooks"].changes, *parts["guard"].changes):
        assert isinstance(one, Add)
        theirs.setdefault(one.keys[-1], []).append(one.value)
    assert ours == theirs


def test_wc_install_leaves_to_it_what_it_brings(tmp_path: Path) -> None:
    (listed,) = read(MARKETPLACE)["plugins"]
    settings = tmp_path / "app/.claude/settings.json"
    settings.parent.mkdir(parents=True)
    known = {f"{listed['name']}@{read(MARKETPLACE)['name']}": True}
    settings.write_text(json.dumps({"enabledPlugins": known}))
    assert set(installed(tmp_path)) == {"permissions"}


def hooks() -> dict[str, str]:
    """The command of each event, and of those after other tools than the guard's."""
    found = {}
    for event, groups in read(PLUGIN / "hooks/hooks.json")["hooks"].items():
        for group in groups:
            (hook,) = group["hooks"]
            assert hook["type"] == "command"
            assert 0 < hook["timeout"] <= 10
            moves = "|".join(MOVES)
            found[moves if group.get("matcher") == moves else event] = hook["command"]
    return found


def test_its_hooks_are_those_that_wc_answers() -> None:
    dialect = DIALECTS["claude"]
    wanted = dict(zip(dialect.events, EVENTS, strict=True))
    around = dict(zip(dialect.tool_events, TOOL_EVENTS, strict=True))
    wanted["|".join(MOVES)] = AFTER
    found = hooks()
    assert set(found) == set(wanted) | set(around)
    for name, event in around.items():
        assert found.pop(name).endswith(f" || wc-guard {event} claude")
    brief = table.load("brief")
    assert brief is not None
    flags = {flag for param in brief.options.params() for flag in param.flags}
    for event, command in found.items():
        words = command.partition(" || ")[2].split()
        assert words[:2] == ["wc-cli", "brief"]
        said = dict(zip(words[2::2], words[3::2], strict=True))
        assert said == {"--hook": wanted[event], "--client": "claude"}
        assert set(said) <= flags


@pytest.mark.parametrize("event", sorted(hooks()))
def test_a_hook_is_silent_where_wc_is_not_installed(event: str, tmp_path: Path) -> None:
    done = subprocess.run(
        ["/bin/sh", "-c", hooks()[event]],
        env={"PATH": str(tmp_path)},
        input=b"{}",
        capture_output=True,
        check=True,
    )
    assert done.stdout + done.stderr == b""


def test_a_hook_runs_wc_where_it_is(repo: Repo) -> None:
    repo.ok("new", "auth", "--title", "Log in with a passkey", "--to", "Claude Code")
    programs = repo.path.parent / "bin"
    programs.mkdir()
    words = " ".join(f"'{one}'" for one in repo.machine.wc_words)
    (programs / "wc-cli").write_text(f'#!/bin/sh\nexec {words} "$@"\n')
    (programs / "wc-cli").chmod(0o755)
    done = repo.machine.run(
        ["/bin/sh", "-c", hooks()["SessionStart"]],
        repo.path,
        feed=json.dumps({"cwd": str(repo.path), "session_id": "1"}).encode(),
        env={"PATH": f"{programs}:{repo.machine.env['PATH']}", "CLAUDECODE": "1"},
    )
    assert done.code == 0
    assert "auth" in done.out
    assert re.search(r"you are Claude Code \(Pat\)", done.out)
