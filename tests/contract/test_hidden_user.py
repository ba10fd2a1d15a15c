"""Clients that hide git's configuration from some of what they run.

An agent has one name in its commands, hooks, server and prompt, and the commits of its
entries name its user, whichever of them sees git's configuration.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.conftest import THREADS, Machine, Repo
from tests.observe.stores import Session, answer_text

if TYPE_CHECKING:
    from collections.abc import Mapping

SCRIPT = str(Path(__file__).resolve().parents[2] / "bin/wc-statusline")
GEMINI = {"GEMINI_CLI": "1", "USER": "root"}
NAME = "Gemini CLI (Pat)"

# What clients do to the environment of a command, with HOME an empty folder.
HIDING: Mapping[str, Mapping[str, str]] = {
    "no global configuration": {"GIT_CONFIG_GLOBAL": "/dev/null"},
    "an empty name": {"GIT_CONFIG_GLOBAL": ""},
    "another home folder": {"HOME": "EMPTY"},
    "another home folder and XDG": {"HOME": "EMPTY", "XDG_CONFIG_HOME": "EMPTY"},
    "nothing of the machine": {"HOME": "EMPTY", "GIT_CONFIG_NOSYSTEM": "1"},
    "what the machine says remains": {
        "GIT_CONFIG_GLOBAL": "/dev/null",
        "GIT_CONFIG_NOSYSTEM": "0",
        "GIT_CONFIG_SYSTEM": "SYSTEM",
    },
}


@pytest.fixture(params=HIDING.values(), ids=list(HIDING))
def hidden(request: pytest.FixtureRequest, tmp_path: Path) -> dict[str, str]:
    """The environment of a command of Gemini CLI that does not see the user."""
    empty, system = tmp_path / "empty", tmp_path / "system"
    empty.mkdir()
    system.write_text("[user]\n\tname = Staff\n\temail = staff@example.org\n")
    paths = {"EMPTY": str(empty), "SYSTEM": str(system)}
    given: Mapping[str, str] = request.param
    return GEMINI | {name: paths.get(value, value) for name, value in given.items()}


def _hook(repo: Repo, event: str) -> str:
    feed = json.dumps({"session_id": "s", "cwd": str(repo.path)}).encode()
    words = ("brief", "--hook", event, "--client", "gemini")
    return repo.ok(*words, feed=feed, env={"USER": "root"}).out


def _server(repo: Repo, env: Mapping[str, str]) -> str:
    session = Session(repo.path, {**repo.machine.env, **env}, "gemini-cli-mcp-client")
    answer = answer_text(session.call("whoami"))
    return NAME if NAME in answer else answer


def test_an_agent_has_one_name_everywhere(repo: Repo, hidden: dict[str, str]) -> None:
    repo.ok("init")
    assert repo.json("whoami", env=hidden)["name"] == NAME
    repo.settled("say", "auth", "--title", "a", env=hidden)
    assert repo.json("list", env=hidden)["threads"][0]["ball"] == NAME
    assert _server(repo, hidden) == _server(repo, GEMINI) == NAME
    assert "auth" in _hook(repo, "stop")
    for env in (hidden, GEMINI):
        done = repo.machine.run([SCRIPT], repo.path, env=env)
        assert done.out == repo.ok("statusline", env=env).out
        assert done.out == "" or "auth" in done.out
        explained = repo.json("whoami", "--explain", env=env)["explanation"]
        assert explained["status_line"]["same"]
        assert explained["server"]["same"]
    # git itself names whom the configuration of the whole machine names.
    author = "Staff" if "GIT_CONFIG_SYSTEM" in hidden else "Pat"
    assert repo.git("log", "-1", "--format=%an", THREADS) == author


def test_the_person_has_one_name_everywhere(repo: Repo, hidden: dict[str, str]) -> None:
    repo.ok("new", "auth", "--title", "a")
    person = {name: value for name, value in hidden.items() if name != "GEMINI_CLI"}
    assert repo.json("whoami", env=person)["name"] == "Pat"
    assert repo.json("list", "--mine", env=person)["threads"][0]["topic"] == "auth"


def test_install_records_the_user_for_stores_that_an_agent_makes(repo: Repo) -> None:
    repo.ok("install", "gemini")
    hidden = GEMINI | {"GIT_CONFIG_GLOBAL": "/dev/null"}
    repo.settled("new", "auth", "--title", "a", env=hidden)
    assert repo.json("list")["threads"][0]["ball"] == NAME
    assert repo.git("log", "-1", "--format=%an <%ae>", THREADS) == (
        "Pat <pat@example.org>"
    )
    # It goes with the last thing that was installed.
    folder = repo.machine.home / ".watercooler/install"
    assert (folder / "git-user.json").exists()
    repo.ok("uninstall", "--yes")
    assert not folder.exists()


def test_a_session_start_records_the_user(repo: Repo) -> None:
    hidden = GEMINI | {"GIT_CONFIG_GLOBAL": "/dev/null"}
    repo.ok("new", "auth", "--title", "a", env=hidden)
    assert repo.json("whoami", env=hidden)["name"] == "Gemini CLI (root)"
    _hook(repo, "session-start")
    assert repo.json("whoami", env=hidden)["name"] == NAME


@pytest.mark.parametrize("kind", ["in the tree", "named"])
def test_stores_outside_of_git_have_a_record_as_well(
    machine: Machine, kind: str
) -> None:
    repo = machine.folder("notes")
    named = {"WATERCOOLER_DIR": str(machine.root / "store")} if kind == "named" else {}
    repo.ok("new", "auth", "--title", "a", env=named)
    hidden = named | GEMINI | {"GIT_CONFIG_GLOBAL": "/dev/null"}
    assert repo.json("whoami", env=hidden)["name"] == NAME
    assert _server(repo, hidden) == NAME


def test_an_agent_with_a_configuration_of_its_own_is_not_a_record(
    repo: Repo, tmp_path: Path
) -> None:
    repo.ok("init")
    (tmp_path / "bot").write_text("[user]\n\tname = Bot\n\temail = b@example.org\n")
    bot = GEMINI | {"GIT_CONFIG_GLOBAL": str(tmp_path / "bot")}
    # What git says counts where it says something.
    assert repo.json("whoami", env=bot)["name"] == "Gemini CLI (Bot)"
    hidden = GEMINI | {"GIT_CONFIG_GLOBAL": "/dev/null"}
    assert repo.json("whoami", env=hidden)["name"] == NAME
