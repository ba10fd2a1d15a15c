"""Clients remove the worktrees that they made, in a repository with threads."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import pytest

from tests.clients import scripted
from tests.clients.scripted import PROMPT
from tests.clients.test_waking import place_of
from tests.clients.waking import CLAUDE, SECONDS, Session, until

if TYPE_CHECKING:
    from pathlib import Path

    from tests.clients.conftest import Place
    from tests.clients.scripted import Service

pytestmark = pytest.mark.long


def _prepare(service: Service, place: Place) -> tuple[list[str], dict[str, str]]:
    words, env = CLAUDE.prepare(service, place)
    return [*words, "--worktree", "login"], env


def _is_ready(session: Session) -> bool:
    return CLAUDE.ready in session.terminal.screen


def test_claude_code_removes_its_worktree(tmp_path: Path) -> None:
    """It refuses while git's folder of any worktree contains a symbolic link."""
    place = place_of(CLAUDE, tmp_path)
    repo = place.repo
    repo.settled("new", "login", "--title", "T", "--to", "Claude Code")
    agent = CLAUDE._replace(prepare=_prepare)
    with scripted.serving() as service:
        session = Session(agent, place, service, tmp_path / "tmux")
        try:
            is_ready = partial(_is_ready, session)
            until(is_ready, "no prompt", session, 3 * SECONDS)
            session.terminal.say(PROMPT)
            until(lambda: bool(session.turns), "no turn", session)
            assert "worktrees/login" in repo.git("worktree", "list")
            until(is_ready, "not idle", session)
            session.terminal.say(agent.leave)
            until(lambda: session.terminal.has_ended, "still there", session)
        finally:
            session.terminal.close()
    assert "worktrees/login" not in repo.git("worktree", "list")
    assert not (repo.path / ".claude/worktrees/login").exists()
    repo.ok("doctor")
