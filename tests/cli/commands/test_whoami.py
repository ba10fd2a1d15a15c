"""``wc whoami --explain``: every rule, the one that won, and who else agrees."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import pytest

from tests.conftest import Machine

if TYPE_CHECKING:
    from tests.conftest import Repo


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Repo:
    """A repository with a store, where Pat works."""
    app = Machine(tmp_path_factory.mktemp("who")).repo()
    app.ok("init")
    return app


@pytest.fixture(scope="module")
def fix(app: Repo) -> Repo:
    """A linked worktree of it."""
    return app.worktree("app-wt-fix", "fix")


def won(explained: list[dict[str, Any]]) -> list[tuple[str, str]]:
    return [(one["rule"], one["found"]) for one in explained if one["won"]]


CLAUDE = {"CLAUDECODE": "1", "CLAUDE_CODE_SESSION_ID": "3f2a-0a1b2c"}


@pytest.mark.parametrize(
    ("env", "words", "agent", "seat", "tag"),
    [
        (
            CLAUDE,
            [],
            ("CLAUDECODE", "Claude Code"),
            ("change id", "fix"),
            ("git user", "Pat"),
        ),
        (
            CLAUDE | {"WATERCOOLER_SEAT": "session", "WATERCOOLER_USER": "kim"},
            [],
            ("CLAUDECODE", "Claude Code"),
            ("session", "fix.0a1b2c"),
            ("WATERCOOLER_USER", "kim"),
        ),
        (
            CLAUDE | {"WATERCOOLER_AGENT": "zed", "WATERCOOLER_SEAT": "left"},
            ["--seat", "right"],
            ("WATERCOOLER_AGENT", "zed"),
            ("--seat", "right"),
            ("git user", "Pat"),
        ),
        (
            CLAUDE,
            ["--as", "codex@old (sam)", "--seat", "right"],
            ("--as", "codex@old (sam)"),
            ("in the name", "old"),
            ("in the name", "sam"),
        ),
    ],
)
def test_each_part_names_the_rule_that_won(
    fix: Repo,
    env: dict[str, str],
    words: list[str],
    agent: tuple[str, str],
    seat: tuple[str, str],
    tag: tuple[str, str],
) -> None:
    said = fix.json("whoami", "--explain", *words, env=env)
    explained = said["explanation"]
    assert won(explained["agent"]) == [agent]
    assert won(explained["seat"]) == [seat]
    assert won(explained["tag"]) == [tag]
    assert (said["seat"], said["tag"]) == (seat[1], tag[1])
    # The rules that lost are there as well, with what they found.
    inside = next(one for one in explained["agent"] if one["rule"] == "CLAUDECODE")
    assert inside["found"] == "Claude Code"
    # Without --explain there is none of it.
    assert "explanation" not in fix.json("whoami", *words, env=env)


def test_for_people(app: Repo) -> None:
    env = {"CODEX_THREAD_ID": "019a-000abc", "CLAUDECODE": "1", "USER": "pat"}
    said = app.ok("whoami", "--explain", env=env).out
    head, _, rest = said.partition("agent: ")
    assert head.startswith("Codex (Pat) (by CODEX_THREAD_ID)\nstore: ")
    assert rest == FOR_PEOPLE


FOR_PEOPLE = """\
Codex
    --as               -
    WATERCOOLER_AGENT  -
  > CODEX_THREAD_ID    Codex
    CLAUDECODE         Claude Code
    program            -
    WATERCOOLER_USER   -
    git user           Pat
    recorded git user  Pat
    OS user            pat
seat: none
    in the name        -
    --seat             -
    WATERCOOLER_SEAT   -
    session            -
    main worktree      -
tag: Pat
    in the name        -
    WATERCOOLER_USER   -
  > git user           Pat
    recorded git user  Pat
    OS user            pat
status line: the same
server: the same, unless its client says that it is another agent
Codex and Claude Code have both set variables here, and it is unclear which one \
started the other: Codex counts. If that is wrong, set WATERCOOLER_AGENT.
Without a seat, a ball for Codex (Pat) is also for Codex in your linked worktrees.
To be someone else: --as NAME and --seat SEAT for one command; WATERCOOLER_AGENT, \
WATERCOOLER_SEAT and WATERCOOLER_USER for longer.
"""


def test_a_person_has_an_agent_part_alone(app: Repo, fix: Repo) -> None:
    explained = app.json("whoami", "--explain")["explanation"]
    assert set(explained) == {"agent", "status_line", "server", "notes"}
    assert won(explained["agent"]) == [("git user", "Pat")]
    assert explained["notes"] == []
    assert explained["status_line"]["same"]
    # One person in all worktrees, whether wc has run there or not.
    assert fix.json("whoami", "--explain", "--as", "Pat")["explanation"][
        "status_line"
    ] == {"same": True, "says": "the same"}


def test_whether_the_status_line_and_a_server_agree(fix: Repo) -> None:
    env = {"GEMINI_CLI": "1"}
    explained = fix.json("whoami", "--explain", "--seat", "x", env=env)["explanation"]
    assert explained["status_line"] == {"same": False, "says": "knows nobody here yet"}
    assert explained["server"]["says"] == (
        "Gemini CLI@fix (Pat); --as and --seat only apply to this command"
    )
    assert fix.json("whoami", "--explain", env=env)["explanation"]["status_line"] == {
        "same": True,
        "says": "the same",
    }
    explained = fix.json("whoami", "--explain", "--as", "Zed", env=env)["explanation"]
    assert explained["status_line"] == {
        "same": False,
        "says": "geminicli@fix(pat); --as and --seat only apply to this command",
    }
    asked = {"WATERCOOLER_AGENT": "Zed"}
    explained = fix.json("whoami", "--explain", env=asked)["explanation"]
    assert explained["server"] == {"same": True, "says": "the same"}
    # Another seat that is not distinguished by name shares the file.
    other = env | {"WATERCOOLER_SEAT": "A/B"}
    assert fix.json("whoami", "--explain", env=other)["explanation"]["status_line"][
        "same"
    ]


def test_a_session_that_is_not_known_is_reported(fix: Repo) -> None:
    env = {"OPENCODE": "1", "WATERCOOLER_SEAT": "session"}
    said = fix.json("whoami", "--explain", env=env)
    assert said["name"] == "opencode@fix (Pat)"
    assert any("name the seat instead" in one for one in said["explanation"]["notes"])


def test_two_sessions_hold_balls_of_their_own(fix: Repo) -> None:
    one = CLAUDE | {"WATERCOOLER_SEAT": "session"}
    other = one | {"CLAUDE_CODE_SESSION_ID": "3f2a-ddeeff"}
    fix.ok("new", "mine", "--title", "A thing of one session", env=one)
    assert "mine" in fix.ok("list", "--mine", env=one).out
    assert "mine" not in fix.ok("list", "--mine", env=other).out
    assert "Claude Code@fix.0a1b2c (Pat) has the ball" in fix.fails(
        4, "take", "mine", env=other
    )
    fix.ok("handoff", "mine", "--to", "Claude Code@fix.ddeeff", "--force", env=one)
    assert "mine" in fix.ok("list", "--mine", env=other).out
    # A ball for the agent, wherever it sits, is for both.
    fix.ok("handoff", "mine", "--to", "Claude Code", env=other)
    for env in (one, other):
        assert "mine" in fix.ok("list", "--mine", env=env).out


def test_what_is_kept_of_old_seats_goes(app: Repo) -> None:
    env = {"KIRO_SESSION_ID": "0-aaaaaa", "WATERCOOLER_SEAT": "session"}
    app.ok("whoami", env=env)
    folder = app.store / ".local/me/=main"
    old = folder / "=kiro@aaaaaa"
    assert old.read_text().startswith("kiro@aaaaaa(pat)\n")
    app.ok("whoami", env={"KIRO_SESSION_ID": "0-bbbbbb", "WATERCOOLER_SEAT": "session"})
    assert old.exists()
    month = old.stat().st_mtime - 31 * 24 * 3600
    os.utime(old, (month, month))
    app.ok("whoami", env={"KIRO_SESSION_ID": "0-cccccc", "WATERCOOLER_SEAT": "session"})
    assert not old.exists()
    assert (folder / "=kiro@bbbbbb").exists()
    assert (folder / "=default").exists()


def test_the_main_worktree_can_be_a_seat(repo: Repo) -> None:
    """A ball at its agent is then not for the one in a linked worktree."""
    linked = repo.worktree("app-wt-fix", "fix")
    claude = {"CLAUDECODE": "1"}
    repo.ok("new", "here", "--title", "Of the main worktree", env=claude)
    assert "here" in linked.ok("list", "--mine", env=claude).out
    (repo.store / "config.toml").write_text('[identity]\nseats = "all"\n')
    assert repo.json("whoami", env=claude)["name"] == "Claude Code@main (Pat)"
    # A ball from before is for both, as it was; taking it makes it one's own.
    assert "here" in linked.ok("list", "--mine", env=claude).out
    repo.ok("take", "here", env=claude)
    assert "here" in repo.ok("list", "--mine", env=claude).out
    assert "here" not in linked.ok("list", "--mine", env=claude).out


@pytest.mark.parametrize(
    "configured", ["Pat\tDoe", "Pat \x01 Doe", "\x1bPat\u200bDoe", "Pat Doe\x7f"]
)
def test_control_characters_in_gits_name_count_as_blanks(
    repo: Repo, configured: str
) -> None:
    repo.git("config", "user.name", configured)
    repo.ok("say", "x", "-m", "Hello")
    assert "x" in repo.ok("list").out
    assert repo.json("whoami")["name"] == "Pat Doe"
    assert repo.json("whoami", env={"CODEX_THREAD_ID": "a"})["name"] == (
        "Codex (Pat Doe)"
    )
    sent = json.dumps({"session_id": "s", "cwd": str(repo.path)}).encode()
    words = ("brief", "--hook", "session-start", "--client", "claude")
    assert "Claude Code (Pat Doe)" in repo.ok(*words, feed=sent).out


def test_an_error_says_whose_name_it_is(repo: Repo) -> None:
    error = repo.fails(2, "whoami", env={"WATERCOOLER_USER": "a\tb"})
    assert "'a\\tb', from WATERCOOLER_USER, cannot be a name" in error
    repo.git("config", "user.name", "Pat" * 80)
    assert ", from git's user.name, is longer than" in repo.fails(2, "whoami")


def _client_worktree(repo: Repo, folder: str, branch: str) -> Repo:
    path = (repo.path / folder).resolve()
    begin = ["-b", branch] if branch else ["--detach"]
    repo.git("worktree", "add", "-q", *begin, str(path))
    return type(repo)(repo.machine, path)


@pytest.mark.parametrize(
    ("folder", "branch", "seat"),
    [
        (".claude/worktrees/login", "worktree-login", "login"),
        (".gemini/worktrees/login", "worktree-login", "login"),
        (".qwen/worktrees/login", "fix/other", "login"),
        ("../trees/worktrees/login", "worktree-login", "login"),
        ("../app.worktrees/login", "copilot/x", "login"),
        ("../.codex/worktrees/acc2/app", "", "acc2"),
        ("../.codex/worktrees/acc2/app", "fix/it", "acc2"),
        ("../codex/worktrees/acc2/app", "", "acc2"),
        ("../.cursor/worktrees/app/b7Qz", "feat", "b7Qz"),
        # A person's.
        ("../trees/worktrees/login", "feature/login", "feature/login"),
        ("../trees/worktrees/login/app", "feature/login", "feature/login"),
        ("../worktrees/x/y", "", "y"),
    ],
)
def test_a_worktree_that_a_client_made_is_the_seat_of_its_name(
    repo: Repo, folder: str, branch: str, seat: str
) -> None:
    repo.ok("init")
    tree = _client_worktree(repo, folder, branch)
    name = f"Claude Code@{seat}"
    assert tree.json("whoami", env={"CLAUDECODE": "1"})["name"] == f"{name} (Pat)"
    repo.ok("new", "x", "--title", "T", "--to", name)
    assert tree.json("read", "x")["ball"] == f"{name} (Pat)"


def test_a_hint_names_the_seat_of_a_worktree_that_is_near(repo: Repo) -> None:
    repo.ok("init")
    _client_worktree(repo, ".claude/worktrees/login", "worktree-login")
    for seat in ("worktree-login", "logn"):
        error = repo.fails(3, "new", "x", "-m", "T", "--to", f"Claude Code@{seat}")
        assert "Did you mean: Claude Code@login?" in error
