"""What waits for whom: after each move of a story, all surfaces say the same."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.contract.inprocess import Here
from tests.observe.stores import Session
from tests.observe.web.pages import Site
from wc_cli.run.context import Context
from wc_core.attention.notify.calls import current_calls
from wc_core.reading.views import arrivals
from wc_core.reading.views.arrivals import Awaiting

if TYPE_CHECKING:
    from tests.conftest import Machine

PAT, CLAUDE = (), ("--as", "Claude Code")
NAMES = {PAT: "Pat Doe", CLAUDE: "Claude Code"}
_SLOWLY = {"WATERCOOLER_BRIEF_MS": "60000"}


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
    brief = app.json("brief", env=env | _SLOWLY)
    balls = [*brief["mine"]["threads"], *brief["offered"]["threads"]]
    app.ok("reindex", env=env)
    index = Path(reader.layout.index_page).read_text().partition("## Free")[0]
    whose = {topic: app.json("whose", topic, env=env) for topic in every}
    page = Site(app.path, dict(context.env)).get() if not who else ""
    column = page.partition('id="c-mine"')[2].partition("</section>")[0]
    server = Session(app.path, dict(context.env), clock=lambda: time.time_ns() // 10**6)
    awaited = Awaiting(viewer)
    came = [
        *arrivals.new_questions(reader, awaited),
        *arrivals.arrived_balls(reader, awaited),
    ]
    return {
        "prompt": {topic for ball, topic in prompt if ball},
        "list": {
            row.split()[1]
            for row in app.ok("list", env=env).out.splitlines()
            if row.startswith(("?", ">"))
        },
        "list --mine": _topics(app.json("list", "--mine", env=env)["threads"]),
        "ready": _topics(app.json("ready", "--mine", env=env)["threads"]),
        "why": {t for t in every if app.json("why", t, env=env)["ready"]},
        "whose": {topic for topic, row in whose.items() if row["mine"]},
        "inbox": _topics(app.json("inbox", env=env)["items"]),
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
        "notifications": {call.topic for call in current_calls(reader, viewer)},
        "wake": {held.topic for held in came},
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
