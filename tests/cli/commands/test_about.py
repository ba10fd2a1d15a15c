"""The skill: its form, that it ships, and that everything it shows is true.

Its code blocks are a script. A line is a command; the comments below it are what
it prints, with ``…`` for any text; ``# exit 4: …`` is a refusal; ``# in review``
changes to another worktree and to the agent who works there.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.conftest import Machine
from wc_cli.agents.install.permissions import COMMANDS
from wc_cli.run import table
from wc_cli.run.completion import answers
from wc_core.base import errors
from wc_observe.mcp import server

ROOT = Path(__file__).resolve().parents[3]
SKILL = ROOT / "src/wc_cli/agents/skill/watercooler/SKILL.md"
HEAD = SKILL.read_text(encoding="utf-8")
# In the order in which the skill names them: the steps in them build on each other.
PAGES = [SKILL.parent / name for name in re.findall(r"`(references/\w+\.md)`", HEAD)]
TEXT = "\n".join([HEAD, *(page.read_text(encoding="utf-8") for page in PAGES)])

AGENTS = {"fix-login": "claude", "review": "codex"}


class Step(NamedTuple):
    """A command, where it is run, how it ends and what it prints."""

    command: str
    worktree: str
    exit_code: int
    shown: tuple[str, ...]


def steps() -> list[Step]:
    found: list[Step] = []
    worktree = "fix-login"
    for block in re.findall(r"^```sh\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL):
        for line in block.splitlines():
            comment = line.removeprefix("# ")
            if comment == line:
                found.append(Step(line, worktree, 0, ()))
            elif comment.startswith("in "):
                worktree = comment.removeprefix("in ")
            else:
                refused = re.fullmatch(r"exit (\d+): (.*)", comment)
                code = int(refused[1]) if refused else found[-1].exit_code
                shown = refused[2] if refused else comment
                step = found.pop()
                found.append(step._replace(exit_code=code, shown=(*step.shown, shown)))
    return found


@pytest.fixture
def stage(tmp_path: Path) -> Machine:
    """A repository with two linked worktrees, a thread, and wc on PATH."""
    machine = Machine(tmp_path, user="pat")
    # As installed: the launcher, and beside it the command that it runs.
    programs = tmp_path / "bin"
    programs.mkdir()
    shutil.copy(ROOT / "bin/wc", programs)
    launch = f'#!/bin/sh\nexec "{sys.executable}" -m wc_cli.run.main "$@"\n'
    (programs / "wc-cli").write_text(launch)
    (programs / "wc-cli").chmod(0o755)
    machine.env["PATH"] = f"{programs}:{machine.env['PATH']}"
    app = machine.repo()
    for name in AGENTS:
        app.worktree(f"app-wt-{name}", name)
    title = "Login fails after logout"
    app.ok("new", "login-bug", "--title", title, "--to", "Claude Code")
    return machine


def pattern(shown: str) -> str:
    return ".*".join(re.escape(part) for part in shown.split("…"))


# Each step builds on those before it: one test.
def test_every_command_does_what_the_skill_says(stage: Machine) -> None:
    for step in steps():
        folder = stage.root / f"app-wt-{step.worktree}"
        # A brief shows what it has in time; here it has all the time it takes.
        env = {
            "WATERCOOLER_AGENT": AGENTS[step.worktree],
        }
        done = stage.run(["sh", "-c", step.command], folder, env=env)
        assert done.code == step.exit_code, (step.command, done)
        for shown in step.shown:
            assert re.search(pattern(shown), done.out + done.err), (step, done)


def test_the_script_covers_the_whole_skill() -> None:
    said = {step.command.partition("wc ")[2].split()[0] for step in steps()}
    assert {"say", "ack", "new", "handoff", "take", "set-status", "read"} <= said
    assert {"brief", "wait", "done"} <= said
    assert len(steps()) > 20
    assert {step.exit_code for step in steps()} == {0, 2, 3, 4}


@pytest.mark.parametrize("span", sorted(set(re.findall(r"`(wc [^`]+)`", TEXT))))
def test_commands_within_the_text_exist(span: str) -> None:
    _, name, *words = span.split()
    declared = table.load(name)
    assert declared is not None
    flags = {flag for param in declared.options.params() for flag in param.flags}
    assert {word for word in words if word.startswith("-")} <= flags


def test_its_exit_codes_are_the_real_ones() -> None:
    real = {one.code: str(one.exit_code) for one in errors.WcError.__subclasses__()}
    rows = re.findall(r"^\| ([\d, ]+) \| ([A-Z_, ]+) \|", TEXT, re.MULTILINE)
    assert rows
    for exits, codes in rows:
        assert exits.split(", ") == [real[code] for code in codes.split(", ")]


def test_its_tools_are_the_servers() -> None:
    offered = {one.answer.__name__.rstrip("_") for one in server.USUAL_SPECS}
    named = set(re.findall(r"`watercooler_v1_(\w+)`", TEXT))
    assert named
    assert named <= offered


def frontmatter() -> dict[str, str]:
    """The fields, which are all plain scalars of YAML on one line."""
    before, head, _ = HEAD.split("---\n", 2)
    assert not before
    fields = dict(line.split(": ", 1) for line in head.splitlines())
    for value in fields.values():
        assert value[0].isalnum()
        assert ": " not in value
        assert " #" not in value
        assert value == value.strip()
    return fields


def test_frontmatter_is_that_of_an_agent_skill() -> None:
    # https://agentskills.io/specification
    fields = frontmatter()
    known = {"name", "description", "license", "compatibility", "allowed-tools"}
    assert set(fields) <= known | {"metadata"}
    assert fields["name"] == SKILL.parent.name
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", fields["name"])
    assert 0 < len(fields["description"]) <= 1024
    assert len(fields["compatibility"]) <= 500
    assert len(HEAD.splitlines()) < 500


def test_it_allows_only_commands_of_ours() -> None:
    allowed = frontmatter()["allowed-tools"]
    tools = re.findall(r"Bash\(wc ([\w-]+):\*\)", allowed)
    assert " ".join(f"Bash(wc {one}:*)" for one in tools) == allowed
    # What `wc install` lets agents do without asking, no more and no less.
    assert tuple(tools) == COMMANDS


def test_it_names_each_of_its_pages_once() -> None:
    folder = SKILL.parent / "references"
    assert sorted(PAGES) == sorted(folder.iterdir())
    assert tuple(sorted(page.stem for page in PAGES)) == answers.SKILL_PAGES


def test_it_is_short() -> None:
    # Characters of a token, as a rule of thumb.
    assert len(HEAD) <= 1400 * 4


def test_wc_skill_prints_it(stage: Machine) -> None:
    assert stage.run(["wc", "skill"], stage.root).out == HEAD
    for page in PAGES:
        done = stage.run(["wc", "skill", page.stem], stage.root)
        assert done.out == page.read_text(encoding="utf-8")
    done = stage.run(["wc", "skill", "../SKILL"], stage.root)
    assert done.code == 2
    assert "cloud, edits, planning" in done.err


def test_the_wheel_ships_it(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel"]
    subprocess.run([*command, "-d", tmp_path], cwd=ROOT, check=True)
    with zipfile.ZipFile(next(tmp_path.glob("*.whl"))) as wheel:
        shipped = {name: wheel.read(name) for name in wheel.namelist()}
    # With the plugin around it, whose names begin with a dot.
    folder = SKILL.parents[1]
    for one in (path for path in folder.rglob("*") if path.is_file()):
        assert (
            shipped[f"wc_cli/agents/skill/{one.relative_to(folder)}"]
            == one.read_bytes()
        )
    assert "wc_cli/agents/skill/.claude-plugin/plugin.json" in shipped
