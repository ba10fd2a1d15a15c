"""A session in the cloud, with the real client: a fresh home, a shallow clone of one
branch, and nothing but the repository's own files. The agent sees its ball in its first
request, and its answer comes back with its branch."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.cli.carry.places import CLAUDE, accept_only, new_hub
from tests.clients import scripted
from tests.clients.coding import AGENTS
from tests.clients.conftest import SILENT, Place, installed
from tests.clients.scripted import MAIN, Text
from tests.clients.test_agents import run
from tests.conftest import Repo

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.long


def test_claude_code_sees_its_ball_first_and_answers(tmp_path: Path) -> None:
    person = installed(tmp_path / "person").repo()
    person.ok("install", "claude", "--scope", "project", "--yes")
    person.git("add", "--all")
    person.git("commit", "-q", "-m", "For agents in the cloud")
    hub = new_hub(person, tmp_path / "hub.git")
    person.ok("new", "login", "-m", "Use a passkey", "--to", "Claude Code", "--force")
    person.ok("sync")
    person.git("push", "-q", "origin", f"main:{CLAUDE.branch}")
    accept_only(hub, CLAUDE.accepts)
    machine = installed(tmp_path / "cloud", starts=True)
    (machine.home / ".gitconfig").write_text(
        "[user]\n\tname = Claude\n\temail = noreply@anthropic.com\n"
    )
    path = machine.root / "code"
    words = ("--depth", "1", "--single-branch", "-b", CLAUDE.branch)
    machine.git("clone", "-q", *words, f"file://{hub}", str(path), cwd=machine.root)
    cloud = Repo(machine, path)
    agent = AGENTS["claude"]
    say = agent.shell("wc say login -m 'It works now'")
    with scripted.serving(say, Text("Done."), Text("Pushed.")) as service:
        start, env = agent.start(service, machine.home)
        run(Place(cloud), start, **env, **SILENT, CLAUDE_CODE_REMOTE="true")
        first = service.read[MAIN][0]
        read = "\n".join(service.read[MAIN])
    assert "Use a passkey" in first
    assert "Claude Code@claude/fix" in first
    # The end of its turn names what would be lost.
    assert f"git push origin {CLAUDE.branch}" in read
    cloud.git("push", "-q", "origin", CLAUDE.branch)
    accept_only(hub, "")
    assert f"1 entry came with {CLAUDE.branch}" in person.ok("sync").out
    entry = person.entries("login")[-1]
    assert (entry["title"], entry["agent"]) == (
        "It works now",
        f"Claude Code@{CLAUDE.branch}",
    )
