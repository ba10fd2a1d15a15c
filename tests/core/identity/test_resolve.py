"""Who is asking: which rule wins, and what cannot be a name."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests import conftest
from tests.core.strategies import Git, relaxed, texts
from wc_core.base import agents, names
from wc_core.base.errors import InvalidInputError
from wc_core.base.layout import BRANCH
from wc_core.base.names import FREE_WORDS, SPELLINGS, Directory, Name
from wc_core.ledger.git import repository
from wc_core.ledger.threads.settings import Settings
from wc_core.people.identity.environment import convention_agent, session_end
from wc_core.people.identity.resolve import Asked, checked_name, identify

if TYPE_CHECKING:
    from wc_core.ledger.git.repository import Repository

BARE = {"GIT_CONFIG_NOSYSTEM": "1"}
ALICE = BARE | {"USER": "alice"}


def who(
    env: dict[str, str],
    where: Repository | None = None,
    rules: Settings = Settings(),  # noqa: B008 (frozen)
    name: str = "",
) -> str:
    return identify(Asked(name), BARE | env, where, rules).author


@pytest.mark.parametrize(
    ("asked", "env", "author", "source"),
    [
        # The agent: the given name, else the environment, else what we run in.
        ({"name": "codex"}, {}, "Codex (alice)", "--as"),
        (
            {"name": " "},
            {"WATERCOOLER_AGENT": "zed"},
            "Zed (alice)",
            "WATERCOOLER_AGENT",
        ),
        (
            {"name": "codex"},
            {"WATERCOOLER_AGENT": "zed", "CLAUDECODE": "1"},
            "Codex (alice)",
            "--as",
        ),
        (
            {"client": "gemini-cli"},
            {"WATERCOOLER_AGENT": "zed", "CLAUDECODE": "1"},
            "Zed (alice)",
            "WATERCOOLER_AGENT",
        ),
        # A client that is an agent has started us; the environment may be that
        # of who started it.
        (
            {"client": "gemini-cli"},
            {"CLAUDECODE": "1"},
            "Gemini CLI (alice)",
            "client",
        ),
        (
            {"client": "my-bot"},
            {"CLAUDECODE": "1"},
            "Claude Code (alice)",
            "CLAUDECODE",
        ),
        # Of several, the one that others start: Codex is run by Claude Code.
        (
            {},
            {"CLAUDECODE": "1", "CODEX_THREAD_ID": "7", "COPILOT_AGENT": "1"},
            "Codex (alice)",
            "CODEX_THREAD_ID",
        ),
        (
            {},
            {"CLAUDECODE": "1", "COPILOT_AGENT": "1", "AI_AGENT": "pi"},
            "Claude Code (alice)",
            "CLAUDECODE",
        ),
        ({}, {"AI_AGENT": "claude-code_2-1_agent"}, "Claude Code (alice)", "AI_AGENT"),
        ({}, {"AI_AGENT": "1", "AGENT": "amp"}, "Amp (alice)", "AGENT"),
        ({}, {"AI_AGENT": "1", "AGENT": "1"}, "alice", "user"),
        ({"client": "gemini-cli"}, {}, "Gemini CLI (alice)", "client"),
        ({"client": "my-bot"}, {"CLAUDECODE": ""}, "my-bot (alice)", "client"),
        # The tag: in the name, else whose machine or session it is.
        ({"name": "Codex (sam)"}, {"WATERCOOLER_USER": "pat"}, "Codex (sam)", "--as"),
        ({"name": "Codex"}, {"WATERCOOLER_USER": " pat "}, "Codex (pat)", "--as"),
        ({"name": "Codex"}, {"USER": "", "LOGNAME": "lo"}, "Codex (lo)", "--as"),
        ({"name": "Codex"}, {"USER": ""}, "Codex", "--as"),
        (
            {"name": "Codex"},
            {"WATERCOOLER_USER": "Pat (Acme)"},
            "Codex (Pat Acme)",
            "--as",
        ),
        # The seat: in the name, else said, else of the worktree.
        ({"name": "Codex@a", "seat": "b"}, {}, "Codex@a (alice)", "--as"),
        (
            {"name": "Codex", "seat": "b"},
            {"WATERCOOLER_SEAT": "c"},
            "Codex@b (alice)",
            "--as",
        ),
        ({"name": "Codex"}, {"WATERCOOLER_SEAT": " c "}, "Codex@c (alice)", "--as"),
        ({"name": "Codex", "seat": "fix(ui)"}, {}, "Codex@fix ui (alice)", "--as"),
        # A session has one of its own where that is asked for.
        (
            {"name": "Codex", "seat": "session"},
            {"CLAUDE_CODE_SESSION_ID": "3f2a-4b-0a1b2c3d4e5f"},
            "Codex@3d4e5f (alice)",
            "--as",
        ),
        (
            {"name": "Codex"},
            {"WATERCOOLER_SEAT": "session", "CODEX_THREAD_ID": "20260131_1"},
            "Codex@0131_1 (alice)",
            "--as",
        ),
        (
            {"name": "Codex@a"},
            {"WATERCOOLER_SEAT": "session"},
            "Codex@a (alice)",
            "--as",
        ),
        ({"name": "Codex"}, {"WATERCOOLER_SEAT": "session"}, "Codex (alice)", "--as"),
        ({"name": "Codex"}, {"CODEX_THREAD_ID": "019a"}, "Codex (alice)", "--as"),
        # A person has neither.
        ({}, {}, "alice", "user"),
        ({}, {"WATERCOOLER_SEAT": "c"}, "alice", "user"),
        ({}, {"WATERCOOLER_USER": "Pat (Acme)"}, "Pat", "user"),
        ({"name": "Alice"}, {"WATERCOOLER_SEAT": "c"}, "Alice", "--as"),
        ({"name": "pat"}, {"WATERCOOLER_USER": "Pat (Acme)"}, "pat", "--as"),
        ({"name": "alice (x)"}, {}, "alice (x)", "--as"),
    ],
)  # fmt: skip
def test_the_first_rule_that_says_something_wins(
    asked: dict[str, str], env: dict[str, str], author: str, source: str
) -> None:
    found = identify(Asked(**asked), ALICE | env, None, Settings())
    assert (found.author, found.source) == (author, source)
    assert names.parse(found.author) == found.name


@pytest.mark.parametrize(("variable", "agent"), agents.VARIABLES)
def test_an_agent_is_known_by_what_it_sets(variable: str, agent: str) -> None:
    assert who(ALICE | {variable: "1"}) == f"{agent} (alice)"


def test_what_a_terminal_sets_is_not_an_agent() -> None:
    """It is there for the person at the keyboard, too."""
    terminals = {
        "TERM_PROGRAM": "vscode",
        "ZED_TERM": "true",
        "CURSOR_TRACE_ID": "1",
        "VSCODE_INJECTION": "1",
        "CODEIUM_EDITOR_APP_ROOT": "/opt",
        "CLAUDE_CONFIG_DIR": "/opt",
        "CODEX_HOME": "/opt",
    }
    assert identify(Asked(), ALICE | terminals, None, Settings()).person


@pytest.mark.parametrize(
    "variable",
    [
        *(variable for variable, _ in agents.VARIABLES),
        *(*agents.SESSION_VARIABLES, agents.CONVENTION, agents.OLDER_CONVENTION[0]),
        *("CODEX_HOME", "CLAUDE_CONFIG_DIR", "CURSOR_TRACE_ID"),
    ],
)
def test_whatever_tells_an_agent_is_kept_from_tests(variable: str) -> None:
    assert conftest.TELLTALE.match(variable)
    script = (Path(__file__).parents[3] / "bin/test").read_text()
    loop = script[script.index("agents='") : script.index("\nunset ")]
    done = subprocess.run(
        ["/bin/sh", "-euc", f'{loop}\necho "${{{variable}-gone}}"'],
        env={"PATH": os.environ["PATH"], variable: "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.stdout, done.stderr) == ("gone\n", "")


@given(st.text(max_size=60))
def test_the_convention_names_an_agent_or_nobody(said: str) -> None:
    word = convention_agent({"AI_AGENT": said})
    assert said.startswith(word)
    if word:
        assert who(ALICE | {"AI_AGENT": said}) == str(
            Directory().canonical(Name(word, "", "alice"))
        )


@given(st.text(max_size=60))
def test_a_session_is_a_seat_or_none(said: str) -> None:
    found = session_end({"CODEX_THREAD_ID": said})
    assert said.endswith(found)
    env = ALICE | {"CODEX_THREAD_ID": said or "x", "WATERCOOLER_SEAT": "session"}
    assert who(env) in {f"Codex@{found} (alice)", "Codex (alice)", "Codex@x (alice)"}


@pytest.fixture
def linked(tmp_path: Path) -> Path:
    """A linked worktree on the branch ``topic/menu``."""
    git = Git(tmp_path / "home")
    top = git.repository(tmp_path / "app")
    git(top, "worktree", "add", "-q", "-b", "topic/menu", tmp_path / "linked")
    return tmp_path / "linked"


def seat(where: Path, rules: Settings = Settings()) -> str:  # noqa: B008 (frozen)
    found = repository.find(str(where))
    return identify(Asked("Codex (pat)"), BARE, found, rules).name.seat


def test_the_checkout_of_the_store_is_no_seat(linked: Path, tmp_path: Path) -> None:
    Git(tmp_path / "home")(linked, "checkout", "-q", "-b", BRANCH)
    assert seat(linked) == ""


def test_what_does_not_fit_into_a_name_is_no_seat(linked: Path, tmp_path: Path) -> None:
    git = Git(tmp_path / "home")
    folder = tmp_path / "app-wt-new\nline"
    git(tmp_path / "app", "worktree", "add", "-q", "-b", "b", folder)
    assert seat(folder) == "b"
    git(linked, "checkout", "-q", "-b", "x" * 230)
    assert seat(linked) == "linked"


@pytest.mark.parametrize(
    ("asked", "env"),
    [
        ({"name": "a\nb"}, {}),
        ({"name": "a\x1b[31mb"}, {}),
        ({"name": "a\u202eb"}, {}),
        ({"name": "a\ud800"}, {}),
        ({"name": "x" * 201}, {}),
        ({"name": "é" * 101}, {}),
        ({"name": "Codex@"}, {"WATERCOOLER_SEAT": "c"}),
        ({"name": "Codex", "seat": "a\tb"}, {}),
        ({"name": "Codex", "seat": "x" * 201}, {}),
        ({"name": "Codex"}, {"WATERCOOLER_USER": "a\nb"}),
        ({}, {"WATERCOOLER_AGENT": "a\nb"}),
        ({}, {"WATERCOOLER_USER": "a\nb"}),
        ({"client": "a\0b"}, {}),
    ],
)
def test_bad_names_are_refused(asked: dict[str, str], env: dict[str, str]) -> None:
    with pytest.raises(InvalidInputError) as caught:
        identify(Asked(**asked), ALICE | env, None, Settings())
    assert caught.value.hint
    caught.value.message.encode()


@pytest.mark.parametrize("word", [*sorted(FREE_WORDS), "me", "No Body", "ANYONE"])
def test_a_word_for_nobody_is_not_a_name(word: str) -> None:
    for asked, env in [
        (Asked(word), ALICE),
        (Asked(f"{word}@x (pat)"), ALICE),
        (Asked(client=word), ALICE),
        (Asked(), ALICE | {"WATERCOOLER_AGENT": word}),
        (Asked(), BARE | {"USER": word}),
    ]:
        with pytest.raises(InvalidInputError) as caught:
            identify(asked, env, None, Settings())
        assert "WATERCOOLER_AGENT" in caught.value.hint
    # Others may call them so, and a store may say what it means.
    assert who(BARE | {"USER": word}, name="Codex") == f"Codex ({word})"
    rules = Settings(directory=Directory(SPELLINGS | {names.fold(word): "Robot"}))
    assert who(ALICE, rules=rules, name=word) == "Robot (alice)"


def test_a_name_is_as_long_as_it_may_be() -> None:
    assert checked_name(" é" + "x" * 198 + " ") == "é" + "x" * 198


@relaxed
@given(
    spoken=texts,
    seat=texts,
    user=texts,
    agent=st.sampled_from(["", "Codex@x", "a (b)"]),
)
def test_a_name_that_is_accepted_is_read_back_as_itself(
    spoken: str, seat: str, user: str, agent: str
) -> None:
    env = BARE | {"WATERCOOLER_USER": user, "WATERCOOLER_AGENT": agent}
    try:
        found = identify(Asked(spoken, seat), env, None, Settings())
    except InvalidInputError:
        return
    assert names.parse(found.author) == found.name
    assert found.author.isprintable()
    assert Directory().matches(found.author, found.name)
    assert isinstance(found.name, Name)
