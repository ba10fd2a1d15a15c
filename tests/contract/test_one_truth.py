"""Three parties in three worktrees, and every surface that says whose move it is.

A person asks one agent for something, which asks another one for a review. After each
move, every surface is asked, in the long run by each of the three: all answers are the
same.
"""

from __future__ import annotations

import json
import re
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest

from tests import amounts
from tests.conftest import Machine, Repo
from tests.observe.stores import Session
from tests.observe.web.pages import Site

if TYPE_CHECKING:
    from collections.abc import Callable

SCRIPT = str(Path(__file__).resolve().parents[2] / "bin/wc-statusline")
PAT, CLAUDE, CODEX = "Pat", "Claude Code@login (Pat)", "Codex@review (Pat)"
TOPIC = "login"
# Whose the ball is, for the party that asks.
MINE, OFFERED, FREE, OTHERS, CLOSED = "mine", "offered", "free", "others", "closed"


class Party(NamedTuple):
    """A participant in a worktree, with what its agent sets in the environment."""

    name: str
    home: Repo
    variables: dict[str, str]

    @property
    def env(self) -> dict[str, str]:
        return {**self.home.machine.env, **self.variables}


class Move(NamedTuple):
    """What a party does, and who has the ball then."""

    party: str
    words: tuple[str, ...]
    holder: str | None


def titled(command: str, *more: str) -> tuple[str, ...]:
    return (command, TOPIC, "--title", "x", *more)


MOVES = (
    Move(PAT, titled("new", "--to", "claude@login"), CLAUDE),
    Move(CLAUDE, titled("say", "--to", "Codex"), "Codex"),
    Move(CODEX, titled("say"), CLAUDE),
    Move(CLAUDE, titled("say", "--status", "IN_REVIEW"), CODEX),
    Move(PAT, titled("ack"), CODEX),
    Move(CLAUDE, titled("say", "--to", "Pat"), CODEX),
    Move(PAT, ("take", TOPIC, "--reason", "I want to look"), PAT),
    Move(PAT, titled("say"), CODEX),
    Move(CODEX, ("handoff", TOPIC, "--to", "anyone"), None),
    Move(CLAUDE, ("take", TOPIC), CLAUDE),
    Move(CLAUDE, titled("done"), PAT),
    Move(PAT, titled("done"), None),
)


@pytest.fixture
def parties(tmp_path: Path) -> dict[str, Party]:
    main = Machine(tmp_path).repo()
    login, review = main.worktree("login"), main.worktree("review")
    return {
        PAT: Party(PAT, main, {}),
        CLAUDE: Party(CLAUDE, login, {"CLAUDECODE": "1"}),
        CODEX: Party(CODEX, review, {"CODEX_THREAD_ID": "019a"}),
    }


def expected(party: Party, holder: str | None, *, closed: bool) -> str:
    if closed:
        return CLOSED
    if holder is None:
        return FREE
    if holder == party.name:
        return MINE
    return OFFERED if party.name.startswith(f"{holder}@") else OTHERS


# --- the surfaces: whose the ball is, as each of them says it --------------------


def by_row(row: dict[str, object]) -> str:
    if row["status"] == "CLOSED":
        return CLOSED
    if row.get("offered"):
        return OFFERED
    if row["have_ball"]:
        return MINE
    return FREE if row["ball"] is None else OTHERS


# The row of the list, by party: until the next move the surfaces compare with it.
LISTED: dict[str, dict[str, object]] = {}


def listed(party: Party) -> dict[str, object]:
    if party.name not in LISTED:
        answer = party.home.json("list", "--all", env=party.variables)
        (LISTED[party.name],) = answer["threads"]
    return LISTED[party.name]


def by_list(party: Party) -> str:
    return by_row(listed(party))


def by_mine(party: Party) -> str:
    answer = party.home.json("list", "--mine", "--open", env=party.variables)
    return by_row(answer["threads"][0]) if answer["threads"] else by_list(party)


def by_brief(party: Party) -> str:
    slowly = {"WATERCOOLER_BRIEF_MS": "60000"}
    brief = party.home.json("brief", env={**party.variables, **slowly})
    sections = {"mine": MINE, "offered": OFFERED, "free": FREE, "with_others": OTHERS}
    found = [whose for name, whose in sections.items() if brief[name]["threads"]]
    assert len(found) <= 1
    # A brief is silent about a ball of others without news, and about closed threads.
    return found[0] if found else _unless_mine(by_list(party))


def _unless_mine(whose: str) -> str:
    assert whose in {OTHERS, CLOSED}
    return whose


def by_index(party: Party) -> str:
    party.home.ok("reindex", env=party.variables)
    page = (party.home.store / ".local/index.md").read_text()
    headings = {
        "My move": MINE,
        "Offered to me": OFFERED,
        "Free to take": FREE,
        "In review": OTHERS,
        "Waiting on others": OTHERS,
    }
    sections = re.findall(r"^## (.*) \(\d+\)$\n\n((?:.+\n)+)", page, re.MULTILINE)
    found = [headings[name] for name, lines in sections if f"**{TOPIC}**" in lines]
    return found[0] if found else CLOSED


def by_board(party: Party) -> str:
    board = party.home.json("board", "--once", env=party.variables)
    rows = [row for column in board["columns"] for row in column["threads"]]
    (column,) = [one["mine"] for one in board["columns"] if one["threads"]] or [None]
    if not rows:
        return CLOSED
    whose = by_row(rows[0])
    assert column == (whose in {MINE, OFFERED})
    return whose


SESSIONS = count()


def by_stop_hook(party: Party) -> str:
    """An agent that is about to stop is reminded of a ball that is its own."""
    client = {CLAUDE: "claude", CODEX: "codex"}.get(party.name)
    if client is None:
        return by_list(party)
    event = {"session_id": f"s{next(SESSIONS)}", "cwd": str(party.home.path)}
    words = ("brief", "--hook", "stop", "--client", client)
    feed = json.dumps(event).encode()
    reminded = party.home.ok(*words, feed=feed, env=party.variables).out
    whose = by_list(party)
    # Of what is offered to any agent of a kind, only those who take part are reminded.
    assert whose == OFFERED or bool(reminded) == (whose == MINE)
    return whose


def by_prompt(party: Party) -> str:
    done = party.home.machine.run([SCRIPT], party.home.path, env=party.variables)
    twin = party.home.ok("statusline", env=party.variables)
    assert (done.code, done.err) == (0, "")
    assert done.out == twin.out
    return _by_line(done.out, party)


def _by_line(line: str, party: Party) -> str:
    """The thread was opened in the main worktree and is named after the branch of
    Claude Code. In that of Codex it is elsewhere, unless Codex has the ball there or
    passed it to who has it."""
    row = listed(party)
    whose = by_row(row)
    is_here = party.name != CODEX or whose == MINE or _passer(party) == CODEX
    here = {
        MINE: f"🎾 you · {TOPIC}",
        OTHERS: f"{str(row['ball']).replace(' (Pat)', '')} has the ball · {TOPIC}",
        FREE: f"anyone can take · {TOPIC}",
    }
    elsewhere = {OFFERED: f"🎾 {TOPIC} waits for you elsewhere"}
    beginning = (here if is_here else elsewhere).get(whose, "")
    assert line.startswith(beginning)
    assert bool(line) == bool(beginning)
    return whose


def _passer(party: Party) -> str | None:
    """Who passed the ball to its holder, or had it taken."""
    entries = party.home.json("read", TOPIC, env=party.variables)["entries"]
    holder, passer = None, None
    for entry in entries:
        if "ball" in entry and entry["ball"] != holder:
            passer = holder if entry["action"] == "take" else entry["author"]
            holder = entry["ball"]
    return passer if holder else None


def by_server(party: Party) -> str:
    # A client is an agent, unless its user says who they are.
    env = party.env if party.variables else {**party.env, "WATERCOOLER_AGENT": PAT}
    client = {CODEX: "codex-mcp-client"}.get(party.name, "claude-code")
    session = Session(party.home.path, env, client)
    (row,) = session.json("list_threads")["threads"]
    whose = by_row(row)
    head = session.text("read_thread", topic=TOPIC, summary_only=True)
    marks = {MINE: " = you,", OFFERED: " = offered to you,"}
    shown = [mark for mark in marks.values() if mark in head]
    assert shown == ([marks[whose]] if whose in marks else [])
    return whose


def by_page(party: Party) -> str:
    page = Site(party.home.path, party.env).get(f"threads/{TOPIC}")
    found = re.findall(r'<span class="mark you">([^<]*)</span>', page)
    marks = {MINE: ["you"], OFFERED: ["offered to you"]}
    whose = by_list(party)
    # In the head and beside the entries.
    assert {*found} == {*marks.get(whose, [])}
    return whose


SURFACES: tuple[Callable[[Party], str], ...] = (
    by_list,
    by_mine,
    by_brief,
    by_index,
    by_board,
    by_stop_hook,
    by_prompt,
    by_server,
    by_page,
)


def test_all_surfaces_agree_after_each_of_twelve_moves(
    parties: dict[str, Party],
) -> None:
    for number, move in enumerate(MOVES, 1):
        mover = parties[move.party]
        done = mover.home.wc(*move.words, "--json", env=mover.variables)
        assert done.code in {0, 9}, done  # 9: saved, but --to was not done
        receipt = json.loads(done.out)
        assert receipt["ball"] == move.holder, (number, move)
        closed = receipt["status"] == "CLOSED"
        for place, party in enumerate(parties.values()):
            whose = expected(party, move.holder, closed=closed)
            LISTED.clear()
            # Here each asks a third of them after each move, and all in turn.
            first, step = (0, 1) if amounts.is_long() else ((number + place) % 3, 3)
            for surface in SURFACES[first::step]:
                said = surface(party)
                assert said == whose, (number, party.name, surface.__name__)
            if party.name != move.party and not closed:
                _wait(party, arrived=whose in {MINE, OFFERED})


def _wait(party: Party, *, arrived: bool) -> None:
    """`wc wait` returns at once for a ball that came and was not looked at."""
    words = ("wait", TOPIC, "--timeout", "0.05")
    done = party.home.wc(*words, env=party.variables)
    assert done.code == (0 if arrived else 10), (party.name, done)
