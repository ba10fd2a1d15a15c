"""A seat is a worktree, whatever is checked out there."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.cli.commands.test_statusline import twins
from tests.cli.commands.test_wait import waiting
from tests.cli.wake.test_waiting import Agents

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Repo

CODEX = {"CODEX_SANDBOX": "1"}


def switched(tree: Repo) -> None:
    tree.git("switch", "-q", "-c", "pr-12")


def renamed(tree: Repo) -> None:
    tree.git("branch", "-m", "pr-12")


def with_pull_request(tree: Repo) -> None:
    """What ``gh pr checkout 12`` does."""
    hub = str(tree.machine.root / "hub.git")
    tree.git("init", "-q", "--bare", hub)
    tree.git("remote", "add", "origin", hub)
    tree.git("push", "-q", "origin", "HEAD:refs/pull/12/head")
    tree.git("fetch", "-q", "origin", "refs/pull/12/head:pr-12")
    tree.git("checkout", "-q", "pr-12")


def begun_detached(tree: Repo) -> None:
    """From a worktree without a branch, whose seat is named after its folder."""
    assert tree.git("branch", "--show-current") == ""
    switched(tree)


CASES = pytest.mark.parametrize(
    "change", [switched, renamed, with_pull_request, begun_detached]
)


def review_of(repo: Repo, change: Callable[[Repo], None]) -> Repo:
    """The worktree of which the seat is called ``review``."""
    if change is not begun_detached:
        return repo.worktree("app-review", "review")
    path = repo.path.parent / "review"
    repo.git("worktree", "add", "-q", "--detach", str(path))
    return type(repo)(repo.machine, path)


@CASES
def test_a_seat_keeps_its_balls(repo: Repo, change: Callable[[Repo], None]) -> None:
    tree = review_of(repo, change)
    repo.ok("new", "login", "--title", "Look at it", "--to", "Codex@review")
    # Nobody has run wc there.
    change(tree)
    assert tree.json("whoami", env=CODEX)["name"] == "Codex@pr-12 (Pat)"
    assert "Your move:\n- login" in tree.ok("brief", env=CODEX).out
    assert twins(tree, env=CODEX) == "🎾 you · login · 1 new"
    assert twins(tree) == "Codex@review has the ball · login"
    assert twins(repo) == "Codex@review has the ball · login"
    assert "login" in tree.ok("list", "--mine", env=CODEX).out
    here = tree.json("worktrees")["worktrees"][0]
    assert [row["topic"] for row in here["threads"]] == ["login"]
    assert "review" not in repo.ok("doctor").out
    done = tree.ok("done", "login", "-m", "Done", env=CODEX)
    assert "ball: Codex@review (Pat) → Pat" in done.out
    assert twins(tree, env=CODEX) == "Pat has the ball · login"


@CASES
def test_a_seat_hears_of_balls_for_each_of_its_names(
    repo: Repo, change: Callable[[Repo], None]
) -> None:
    tree = review_of(repo, change)
    repo.ok("new", "old", "--title", "T", "--to", "Pat")
    for name in ("review", "pr-12"):
        with waiting(tree, "--timeout", "30", env=CODEX) as agent:
            if name == "review":
                change(tree)
            to = f"Codex@{name}"
            given = repo.ok("new", f"for-{name}", "--title", "T", "--to", to)
            assert "no worktree" not in given.err
            code, out, _ = agent.ends()
        assert (code, f"for-{name}" in out) == (0, True)


def test_an_idle_session_is_woken_by_each_name(repo: Repo) -> None:
    repo.ok("init")
    tree = repo.worktree("fix")
    agents = Agents(repo, tree.path, repo.store)
    for name in ("fix", "pr-12"):
        client = agents.wait().sleeps()
        if name == "fix":
            switched(tree)
        assert "not woken" not in agents.pass_ball(name, f"Claude Code@{name} (pat)")
        assert client.ended().code == 2
    (agents.private / "waiters/claude:s1").unlink()


def test_a_name_is_that_of_the_worktree_that_has_it_now(repo: Repo) -> None:
    first = repo.worktree("first", "review")
    repo.ok("new", "early", "--title", "T", "--to", "Codex@review")
    switched(first)
    assert "early" in first.ok("list", "--mine", env=CODEX).out
    repo.git("worktree", "add", "-q", str(repo.path.parent / "later"), "review")
    later = type(repo)(repo.machine, repo.path.parent / "later")
    # Before and after anyone has run wc there.
    for topic in ("new", "newer"):
        repo.ok("new", topic, "--title", "T", "--to", "Codex@review")
        assert "None of these" in first.ok("list", "--mine", env=CODEX).err
        assert twins(first, env=CODEX) == ""
        assert topic in later.ok("list", "--mine", env=CODEX).out
    assert "early" in later.ok("list", "--mine", env=CODEX).out
    # Once it was the later one's, it stays so.
    later.git("switch", "-q", "-c", "other")
    assert "newer" in later.ok("list", "--mine", env=CODEX).out
    assert "None of these" in first.ok("list", "--mine", env=CODEX).err
    first.git("switch", "-q", "review")
    assert "newer" in first.ok("list", "--mine", env=CODEX).out
    assert "None of these" in later.ok("list", "--mine", env=CODEX).err


def test_a_ball_in_a_worktree_that_is_gone_is_named(repo: Repo) -> None:
    tree = repo.worktree("app-review", "review")
    other = repo.worktree("app-reviews", "reviews")
    repo.ok("new", "login", "--title", "T", "--to", "Codex@review")
    tree.ok("say", "login", "--title", "Look", "--to", "Codex@review", env=CODEX)
    assert repo.ok("doctor").out.endswith("Nothing is wrong.\n")
    repo.git("worktree", "remove", str(tree.path))
    moves = "--to Codex@reviews --reason 'no worktree has its seat'"
    fact = "no worktree here has that seat"
    done = repo.wc("doctor")
    assert (done.code, fact in done.out) == (9, True)
    assert f"wc handoff login {moves}" in done.out
    assert f"wc handoff login {moves}" in repo.ok("list").err
    given = repo.ok("new", "api", "--title", "T", "--to", "Codex@review").err
    assert f"to move the ball: wc handoff api {moves}" in given
    for topic in ("login", "api"):
        words = ("--to", "Codex@reviews", "--reason", "no worktree has its seat")
        assert "no worktree" not in repo.ok("handoff", topic, *words).err
    assert "login" in other.ok("list", "--mine", env=CODEX).out
    assert repo.ok("list").err == repo.ok("doctor").err == ""


@pytest.mark.parametrize(
    ("holder", "client"),
    [
        ("Claude Code@cloud", "claude --cloud "),
        ("Codex@cloud", "codex cloud exec --env ENVIRONMENT "),
        ("Gemini CLI@cloud", ""),
    ],
)
def test_the_receipt_says_how_to_start_an_agent_in_the_cloud(
    repo: Repo, holder: str, client: str
) -> None:
    """Only as text: `wc run` starts nothing for it, and says the same."""
    said = repo.ok("new", "login", "--title", "T", "--to", holder).err
    prompt = "'The ball of the thread login is yours. Begin with: wc read login'"
    start = f"you start it in the cloud: {client}{prompt}"
    assert said == f"note: {start}\n"
    assert start in repo.ok("run", "--once", "login").err
    assert repo.ball("login") == holder


def test_what_is_not_the_seat_of_a_worktree_here_is_not_missed(repo: Repo) -> None:
    """A role, someone else's agent, the cloud, and a worktree of another clone."""
    hub = repo.machine.root / "hub.git"
    repo.git("clone", "-q", "--bare", ".", str(hub))
    repo.git("remote", "add", "origin", str(hub))
    repo.ok("new", "role", "--title", "T")
    repo.ok("say", "role", "--title", "T", "--as", "Codex", "--seat", "critic")
    repo.ok("sync")
    clone = repo.machine.root / "clone"
    repo.git("clone", "-q", str(hub), str(clone))
    away = type(repo)(repo.machine, clone)
    away.ok("init")
    away.worktree("clone-review", "review")
    holders = ("Codex@critic", "Codex@x (Sam)", "Codex@cloud", "Codex@review")
    for topic, holder in zip("abcd", holders, strict=True):
        given = repo.ok("new", topic, "--title", "T", "--to", holder, "--force")
        assert "no worktree" not in given.err
    assert "no worktree" not in repo.ok("list").err
    repo.ok("doctor")
    nobody = ("--to", "Codex@nobody", "--force")
    assert "no worktree" in repo.ok("new", "lost", "--title", "T", *nobody).err
