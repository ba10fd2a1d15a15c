"""Agents meet claims of another, with the guard that `wc install` sets up: what becomes
of the files, and what their models read."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import pytest

from tests.clients import scripted
from tests.clients.coding import AGENTS, NEW, OLD, CodingAgent
from tests.clients.conftest import Place, installed
from tests.clients.scripted import SUB, Call
from tests.clients.test_agents import run

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from tests.clients.scripted import Service

HOLDER = '"Aider@review (Pat)" has claimed "src/'
pytestmark = pytest.mark.long


class Worktree(NamedTuple):
    """The worktree of an agent; that of another is beside it."""

    agent: CodingAgent
    place: Place

    def file(self, name: str) -> Path:
        """One of its files."""
        return self.place.repo.path / "src" / name

    def edit(self, name: str) -> tuple[Call, ...]:
        """The calls that edit a file."""
        return self.agent.edit(self.file(name))

    def claim(self, *names: str) -> None:
        """Let the other agent claim files."""
        paths = [f"src/{name}" for name in names]
        words = ("claim", *paths, "--thread", "login", "-m", "new form")
        self.place.repo.ok(*words, "--as", "Aider", cwd="../review")

    def set_level(self, level: str) -> None:
        """Choose how strict the guard is."""
        config = self.place.repo.store / "config.toml"
        config.write_text(f'[claims]\nguard = "{level}"\n')

    def work(self, turns: Sequence[Call], sub: Sequence[Call] = ()) -> Service:
        """A session in which the model takes these turns."""
        with scripted.serving(*turns, sub=sub) as service:
            words, env = self.agent.start(service, self.place.repo.machine.home)
            run(self.place, words, **env)
        return service


@pytest.fixture
def worktree(tmp_path: Path, name: str) -> Worktree:
    repo = installed(tmp_path).repo()
    (repo.path / "src").mkdir()
    for file in ("auth.py", "form.py", "keys.py", "ui.py"):
        (repo.path / "src" / file).write_text(OLD)
    repo.git("add", ".")
    repo.git("commit", "-qm", "code")
    repo.ok("init")
    repo.ok("new", "login", "--title", "Log in with a passkey")
    repo.worktree("review")
    agent = AGENTS[name]
    repo.ok("install", agent.client, "--yes")
    return Worktree(agent, Place(repo))


def refusal(name: str) -> tuple[str, ...]:
    """The parts of the text that a model reads when its edit was refused."""
    who = f'{HOLDER}{name}" (just now; thread "login"; "new form").'
    question = f"-m 'May I edit src/{name}?'"
    return (
        f'The edit of "src/{name}" was refused: {who}',
        f"1. Ask: wc say login {question} --to 'Aider@review (Pat)'",
        "2. Do something else: wc list --ball anyone --open",
        f"wc claim src/{name} --takeover --reason '…'",
    )


def says_all(text: str, parts: Sequence[str]) -> bool:
    return all(part in text for part in parts)


@pytest.mark.parametrize("name", AGENTS)
def test_what_another_has_claimed_is_held(worktree: Worktree) -> None:
    worktree.claim("auth.py", "form.py", "keys.py")
    worktree.set_level("refuse")
    agent, edit = worktree.agent, worktree.edit("auth.py")
    command = agent.shell("echo x > src/form.py")
    free = worktree.edit("ui.py")
    by_sub = worktree.edit("keys.py") if agent.delegate else ()
    service = worktree.work(
        (*edit, *free, command, *agent.delegate), (*by_sub, *agent.finish)
    )
    assert says_all(service.after(edit[-1]), refusal("auth.py"))
    assert worktree.file("auth.py").read_text() == OLD
    assert worktree.file("ui.py").read_text() == NEW
    notice = f'"src/form.py" was changed in this worktree, but {HOLDER}form.py"'
    assert notice not in service.before(command)
    assert notice in service.after(command)
    if by_sub:
        assert says_all(service.after(by_sub[-1], SUB), refusal("keys.py"))
    assert worktree.file("keys.py").read_text() == OLD
    guarded = worktree.place.repo.ok("claims").err
    assert f"guarded (refuse): {agent.name} (its guard ran " in guarded


@pytest.mark.parametrize("name", AGENTS)
def test_advice_is_read_and_the_edit_goes_on(worktree: Worktree) -> None:
    worktree.claim("auth.py")
    edit = worktree.edit("auth.py")
    service = worktree.work(edit)
    assert HOLDER not in service.before(edit[-1])
    after = service.after(edit[-1])
    assert f'{HOLDER}auth.py" (just now; thread "login"; "new form").' in after
    assert says_all(after, refusal("auth.py")[1:])
    assert worktree.file("auth.py").read_text() == NEW
    assert "Agree with them before you continue." in after


@pytest.mark.parametrize("name", AGENTS)
def test_where_nothing_is_claimed_nothing_is_reported(worktree: Worktree) -> None:
    worktree.set_level("refuse")
    edit = worktree.edit("auth.py")
    command = worktree.agent.shell("echo x > src/form.py")
    service = worktree.work((*edit, command))
    assert " has claimed " not in service.after(command)
    said = service.before(edit[0]).count("Watercooler: ")
    assert service.after(command).count("Watercooler: ") == said
    assert worktree.file("auth.py").read_text() == NEW
    assert worktree.file("form.py").read_text() == "x\n"
