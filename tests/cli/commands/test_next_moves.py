"""What waits for whom: after each move of a story, all surfaces say the same."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.contract.inprocess import Here
from tests.observe.stores import Session
from tests.observe.web.pages import Site
from wc_cli.run.context import Context
from wc_core.attention.notify.calls import current_calls
from wc_core.attention.status.balls import Balls
from wc_core.base.layout import Layout
from wc_core.reading.views import arrivals
from wc_core.reading.views.arrivals import Awaiting

if TYPE_CHECKING:
    from tests.conftest import Machine

PAT, CLAUDE = (), ("--as", "Claude Code")
NAMES = {PAT: "Pat Doe", CLAUDE: "Claude Code"}


@pytest.fixture
def app(machine: Machine) -> Here:
    repo = Here(machine, machine.repo().path)
    repo.git("config", "user.name", "Pat Doe")
    repo.ok("init")
    return repo


def _topics(rows: list[dict[str, Any]]) -> set[str]:
    return {row["topic"] for row in rows}


def surfaces(app: Here, who: tuple[str, ...], every: set[str]) -> dict[str, set[str]]:
    """The threads that wait for someone, as each surface says."""
    env = {"WATERCOOLER_AGENT": "Claude Code"} if who else {}
    context = Context({**app.machine.env, **env}, str(app.path))
    reader, viewer = context.reader, context.viewer
    words = ("--rows", "9", "--format", "{ball}/{topic}")
    prompt = [
        row.split("/") for row in app.ok("statusline", *words, env=env).out.split()
    ]
    items = app.json("inbox", env=env)["items"]
    landings = {item["topic"]: item["move"] for item in items if "move" in item}
    kinds = [*landings.values()]
    counts = [f"{kinds.count(k)} to {k}" for k in ("approve", "land") if k in kinds]
    assert " · ".join(counts) in app.ok("statusline", env=env).out
    to_land = app.ok("statusline", "--format", "{land}", env=env).out.strip()
    assert to_land == " · ".join(counts)
    brief = app.json("brief", env=env)
    balls = [*brief["mine"]["threads"], *brief["offered"]["threads"]]
    app.ok("reindex", env=env)
    index = Path(reader.layout.index_page).read_text().partition("## Free")[0]
    whose = {topic: app.json("whose", topic, env=env) for topic in every}
    page = Site(app.path, dict(context.env)).get() if not who else ""
    column = page.partition('id="c-mine"')[2].partition("</section>")[0]
    server = Session(app.path, dict(context.env), clock=lambda: time.time_ns() // 10**6)
    awaited, held = Awaiting(viewer), Balls(reader, viewer.directory)
    came = [
        *arrivals.new_questions(held, awaited),
        *arrivals.arrived_balls(held, awaited),
    ]
    return {
        "prompt": {topic for ball, topic in prompt if ball} | {*landings},
        "list": {
            row.split()[1]
            for row in app.ok("list", env=env).out.splitlines()
            if row.startswith(("?", ">"))
        },
        "list --mine": _topics(app.json("list", "--mine", env=env)["threads"]),
        "ready": _topics(app.json("ready", "--mine", env=env)["threads"]),
        "why": {t for t in every if app.json("ready", t, env=env)["ready"]}
        | {*landings},
        "whose": {topic for topic, row in whose.items() if row["mine"]},
        "inbox": _topics(items),
        "brief": _topics([*balls, *brief["questions"]]),
        "board": _topics(
            [
                row
                for card in app.json("board", env=env)["columns"]
                if card["mine"]
                for row in card["threads"]
            ]
        ),
        **(
            {
                "tool": _topics(
                    server.json("list_threads", ball="me", open_only=True)["threads"]
                )
            }
            if who
            else {"page": {t for t in every if f'id="t-{t}"' in column}}
        ),
        "index": {topic for topic in every if f"**{topic}**" in index},
        # To land something comes with no message of someone else.
        "notifications": {c.topic for c in current_calls(held, viewer)} | {*landings},
        "wake": {ball.topic for ball in came} | {*landings},
        **({"landings": {f"{t} {k}" for t, k in landings.items()}} if landings else {}),
    }


STORY: list[tuple[tuple[str, ...], tuple[str, ...], set[str], set[str]]] = [
    (CLAUDE, ("new", "login", "-m", "L"), set(), {"login"}),
    (CLAUDE, ("ask", "login", "--to", "Pat Doe", "-m", "410?"), {"login"}, {"login"}),
    (PAT, ("answer", "login", "-m", "410"), set(), {"login"}),
    (CLAUDE, ("say", "login", "-m", "x", "--to", "Pat Doe"), {"login"}, set()),
    (CLAUDE, ("ask", "login", "--to", "Pat Doe", "-m", "y?"), {"login"}, set()),
    (PAT, ("new", "docs", "-m", "d"), {"login", "docs"}, set()),
    (PAT, ("link", "docs", "waits-for", "login"), {"login"}, set()),
    (CLAUDE, ("ask", "docs", "--to", "Pat Doe", "-m", "z?"), {"login", "docs"}, set()),
    (PAT, ("answer", "docs", "-m", "z"), {"login"}, set()),
    (PAT, ("answer", "login", "-m", "y"), {"login"}, set()),
    (PAT, ("say", "login", "-m", "w", "--to", "Claude Code"), set(), {"login"}),
    (CLAUDE, ("say", "login", "--status", "IN_REVIEW", "-m", "r", "--to", "Pat Doe"),
     {"login"}, set()),
    (PAT, ("done", "login", "--request-changes", "-m", "no"), set(), {"login"}),
    (CLAUDE, ("ask", "login", "--to", "Pat Doe", "-m", "why?"), {"login"}, {"login"}),
    (PAT, ("close", "login", "-m", "done", "--force"), {"docs"}, set()),
]  # fmt: skip


def test_all_surfaces_agree_after_each_move(app: Here) -> None:
    every: set[str] = set()
    for who, words, for_pat, for_claude in STORY:
        app.ok(*words, *who)
        every |= {words[1]}
        for viewer, expected in ((PAT, for_pat), (CLAUDE, for_claude)):
            said = surfaces(app, viewer, every)
            assert said == dict.fromkeys(said, expected), (words, NAMES[viewer])


def test_a_question_comes_first_in_the_prompt(app: Here) -> None:
    tree = app.worktree("app-wt-login", "login")
    claude = {"CLAUDECODE": "1"}
    tree.ok("new", "login", "-m", "L", env=claude)
    tree.ok("ask", "login", "--to", "Pat Doe", "-m", "410 or 301?", env=claude)
    assert tree.ok("statusline").out.startswith("❓ Claude Code asks · login")
    assert app.ok("statusline").out == "❓ 1 for you elsewhere\n"
    tree.ok("new", "login-2", "--branch", "login", "-m", "mine")
    assert tree.ok("statusline").out.startswith("❓ Claude Code asks · login")
    assert "your move, asked by Claude Code@login" in tree.ok("whose", "login").out
    ascii_line = tree.ok("statusline", "--ascii").out
    assert ascii_line.startswith("[?] Claude Code asks - login")
    tree.ok("answer", "login", "-m", "301")
    assert tree.ok("statusline").out.startswith("🎾 you · login-2")


def test_a_question_ends_the_wait_for_something_ready(app: Here) -> None:
    app.ok("new", "login", "-m", "L", *CLAUDE)
    app.fails(10, "wait", "--ready", "--timeout", "0.2")
    app.ok("ask", "login", "--to", "Pat Doe", "-m", "410?", *CLAUDE)
    assert "login" in app.ok("wait", "--ready", "--timeout", "5").out


def test_the_prompt_begins_with_mine(app: Here) -> None:
    for topic in ("one", "two", "three"):
        app.ok("new", topic, "-m", "x", "--branch", f"b-{topic}")
    app.ok("new", "theirs", "-m", "x", "--branch", "main", "--as", "Codex")
    line = "🎾 3 for you elsewhere · Codex has the ball · theirs · 1 new\n"
    assert app.ok("statusline").out == line
    painted = app.ok("statusline", "--color", "always").out
    assert painted == (
        "\x1b[1;33m🎾 3 for you elsewhere\x1b[0m"
        "\x1b[2m · Codex has the ball · theirs · 1 new\x1b[0m\n"
    )


class Branches:
    """Threads with a branch each, in a repository with a remote."""

    def __init__(self, app: Here, remote: Path) -> None:
        self.app, self.remote = app, remote
        app.git("init", "-q", "--bare", str(remote))
        app.git("remote", "add", "origin", str(remote))
        app.git("push", "-q", "origin", "main")
        self.every: set[str] = set()

    def begin(self, topic: str, commits: int = 1, who: tuple[str, ...] = PAT) -> None:
        """A thread of someone on its branch, with so many commits."""
        self.app.git("branch", topic, "main")
        self.app.ok("new", topic, "-m", "x", "--branch", topic, *who)
        self.every.add(topic)
        for _ in range(commits):
            self.commit(topic)

    def commit(self, branch: str, text: str = "") -> None:
        """One more commit on a branch, of a file named like it."""
        self.app.git("switch", "-q", branch)
        path = self.app.path / f"{branch}.txt"
        path.write_text(text or f"{path.read_text() if path.exists() else ''}more\n")
        self.app.git("add", "-A")
        self.app.git("commit", "-qm", f"On {branch}")
        self.app.git("switch", "-q", "main")

    def look(self, **expected: str) -> None:
        """After a look at the branches, these threads wait for Pat."""
        self.app.ok("sync", "--timeout", "20")
        items = self.app.json("inbox")["items"]
        assert {item["topic"]: item["move"] for item in items} == expected

    def check(self, **expected: str) -> None:
        """All surfaces say so, and nothing waits for Claude Code."""
        self.look(**expected)
        for viewer, moves in ((PAT, expected), (CLAUDE, {})):
            said = surfaces(self.app, viewer, self.every)
            listed = said.pop("landings", set())
            assert listed == {f"{topic} {move}" for topic, move in moves.items()}
            assert said == {name: {*moves} for name in said}, NAMES[viewer]


@pytest.fixture
def branches(app: Here, tmp_path: Path) -> Branches:
    return Branches(app, tmp_path / "remote.git")


def test_what_is_approved_waits_until_it_has_landed(branches: Branches) -> None:
    app = branches.app
    branches.begin("one")
    assert app.ok("done", "one", "--approve").out.endswith("next: wc land one\n")
    assert app.ok("statusline").out == "1 to land\n"
    branches.check(one="land")
    assert "CLOSED, to land" in app.ok("list").out
    assert "closed, yours to land" in app.ok("whose", "one").out
    assert "closed, Pat Doe's to land" in app.ok("whose", "one", *CLAUDE).out
    assert "wc land one" in app.ok("inbox").out
    branches.begin("two", who=CLAUDE)
    assert "next:" not in app.ok("done", "two", "--approve", *CLAUDE).out
    branches.check(one="land", two="approve")
    assert app.ok("statusline").out == "1 to approve · 1 to land\n"
    assert "wc review two" in app.ok("inbox").out
    app.ok("say", "two", "--approve")
    app.ok("new", "theirs", "-m", "x", "--branch", "main", *CLAUDE)
    branches.look(one="land", two="land")
    assert app.ok("statusline", "--color", "always").out == (
        "\x1b[1;33m2 to land\x1b[0m"
        "\x1b[2m · Claude Code has the ball · theirs · 1 new\x1b[0m\n"
    )
    app.ok("close", "theirs", "-m", "x", *CLAUDE)
    app.ok("land", "one")
    assert app.ok("statusline").out == "1 to land\n"
    branches.check(two="land")


@pytest.mark.parametrize(
    "words", [("merge", "-q", "fix/one"), ("branch", "-f", "fix/one", "main")]
)
def test_a_list_has_branches_looked_at_that_git_has_moved(
    branches: Branches, words: tuple[str, ...]
) -> None:
    app = branches.app
    branches.begin("one")
    app.git("branch", "fix/one", "one")
    app.ok("move", "one", "--branch", "fix/one")
    app.ok("done", "one", "--approve")
    branches.look(one="land")
    common = app.path / ".git"
    times = {Layout(str(app.store)).unlanded: 60}
    names = ("logs/HEAD", "refs/heads", "refs/heads/fix")
    times |= {str(common / name): 90 for name in names}
    for path, age in times.items():
        os.utime(path, (time.time() - age,) * 2)
    app.git(*words)
    app.ok("list", env={"WATERCOOLER_SYNC": "background"})
    end = time.monotonic() + 30
    while app.ok("statusline").out:
        assert time.monotonic() < end
        time.sleep(0.1)


def test_what_has_landed_elsewhere_waits_for_no_one(branches: Branches) -> None:
    app = branches.app
    topics = ("squashed", "fetched", "deleted", "dropped", "newer", "rebased")
    for topic in topics:
        branches.begin(topic)
        app.ok("done", topic, "--approve")
    expected = dict.fromkeys(topics, "land")
    # No commits of its own.
    branches.begin("empty", commits=0)
    assert "next:" not in app.ok("done", "empty", "--approve").out
    branches.look(**expected)

    # The same content by another commit, here, or at the remote as last fetched.
    branches.commit("main")
    app.git("merge", "-q", "--squash", "squashed")
    app.git("commit", "-qm", "Squash")
    del expected["squashed"]
    branches.look(**expected)
    app.git("push", "-q", "origin", "fetched:main", "--force")
    app.git("fetch", "-q")
    del expected["fetched"]
    branches.look(**expected)

    # Gone here, but not at the remote, and then there, too.
    app.git("push", "-q", "origin", "deleted")
    app.git("branch", "-D", "deleted")
    branches.look(**expected)
    app.git("push", "-q", "origin", ":deleted")
    del expected["deleted"]
    branches.look(**expected)

    assert app.ok("land", "dropped", "--drop").out == "dropped: not to land\n"
    del expected["dropped"]
    branches.look(**expected)
    assert "does not wait to land" in app.fails(4, "land", "dropped", "--drop")
    app.ok("say", "dropped", "--approve")
    branches.look(**expected, dropped="land")
    app.ok("land", "dropped", "--drop")

    # The approval is no longer about what the branch has.
    branches.commit("newer")
    branches.look(**expected | {"newer": "approve"})
    app.git("switch", "-q", "rebased")
    app.git("commit", "-q", "--amend", "-m", "Again")
    app.git("switch", "-q", "main")
    branches.check(**expected | {"newer": "approve", "rebased": "approve"})
    app.ok("say", "newer", "--reopen", "-m", "on with it")
    app.ok("say", "rebased", "--approve")
    app.ok("land", "rebased")
    said = surfaces(app, PAT, branches.every)
    assert said == {name: {"newer"} for name in said}


def test_an_approval_that_came_by_my_name_is_not_mine(branches: Branches) -> None:
    app = branches.app
    for topic in ("mine", "theirs", "newer"):
        branches.begin(topic)
        app.ok("done", topic, "--approve")
    # As if these had come with a push.
    (app.private / "written/mine").unlink()
    branches.look(mine="approve", theirs="land", newer="land")
    app.ok("config", "--global", "set", "land.by", "Pat Doe")
    branches.look(mine="land", theirs="land", newer="land")
    # The one that counts is about another commit.
    written = app.private / "written/newer"
    before = written.read_bytes()
    app.ok("config", "--global", "unset", "land.by")
    branches.commit("newer")
    app.ok("say", "newer", "--approve")
    branches.look(mine="approve", theirs="land", newer="land")
    written.write_bytes(before)
    branches.look(mine="approve", theirs="land", newer="approve")
