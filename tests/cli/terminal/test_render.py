"""Text fitted to a terminal."""

from __future__ import annotations

import contextlib
import os
import pty
import re
import subprocess
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wc_cli.run.context import Context
from wc_cli.run.terminal.render import COLUMNS, thread_list
from wc_cli.run.widths import width_of
from wc_core.ledger.planning.checklists import ChecklistProgress
from wc_core.ledger.threads.model import Review
from wc_core.reading.views.drawing.badges import badge_of
from wc_core.reading.views.rows import ThreadRow

if TYPE_CHECKING:
    from tests.conftest import Repo


TEXTS = st.text(st.sampled_from("ab |\n\x1b日\u202e"), max_size=4)
TIMES = ("", "soon", "2026-01-31T12:00:00Z", "2026-01-31T12:00:00+02:00")
ROWS = st.builds(
    ThreadRow,
    topic=st.just("login"),
    title=TEXTS,
    status=st.sampled_from(["OPEN", "CLOSED", "\x1bodd"]),
    ball=st.none() | TEXTS,
    updated_at=st.sampled_from(TIMES),
    entry_count=st.integers(0, 10),
    ownership=st.sampled_from(["mine", "offered", "free", "others"]),
    new_for_you=st.integers(0, 1),
    branch=st.just(""),
    last_id=st.just(""),
    forked=st.booleans(),
    damaged=st.booleans(),
    updated_by=st.just(""),
    name=TEXTS,
    tags=st.sampled_from([(), ("ui", "\x1b[1mdb")]),
    waits=st.sampled_from([(), ("logout",), ("logout", "a  gate")]),
    asked_by=st.sampled_from([(), ("Pat",), ("Pat", "Sam")]),
    checklist=st.builds(ChecklistProgress, st.just(1), st.integers(0, 1)),
    review=st.builds(Review, st.sampled_from(["", "changes_requested"])),
)


@given(st.lists(ROWS, min_size=1, max_size=5), st.sampled_from(COLUMNS))
def test_a_thread_is_shown_alike_alone_and_among_others(
    rows: list[ThreadRow], column: str
) -> None:
    context = Context({"USER": "pat"}, "/")
    _, *lines = thread_list(context, rows, [column]).split("\n")
    alone = [thread_list(context, [row], [column]).split("\n")[1] for row in rows]
    marks = [line[:1].strip() for line in alone]
    width = max(map(len, marks))
    assert lines == [
        f"{mark:{width}}{line[len(mark) :]}".rstrip()
        for mark, line in zip(marks, alone, strict=True)
    ]


def test_a_row_has_its_signs_facts_and_tags() -> None:
    row = ThreadRow(
        *("login", "Log in", "BLOCKED", "Pat", "", 3, "mine", 2),
        *("", "", True, True, "Pat", "sign-in"),
        tags=("ui",),
        waits=("logout", "a gate"),
        asked_by=("Sam",),
        checklist=ChecklistProgress(1, 3),
    )
    _, line = thread_list(Context({"USER": "pat"}, "/"), [row]).split("\n")
    assert [cell.strip() for cell in line.split("  ")] == [
        *("?", "sign-in ⑂ ⚠", "Pat", "waits for logout +1 1/3"),
        *("3 (+2 new)", "", "", "(asks you: Sam) Log in +ui"),
    ]


def _list_lines(
    repo: Repo, width: int, term: str, *words: str, as_agent: str = ""
) -> list[str]:
    """The lines of a list on a terminal of this width."""
    return _on_terminal(repo, width, term, "list", *words, as_agent=as_agent)


def _on_terminal(
    repo: Repo, width: int, term: str, *words: str, as_agent: str = ""
) -> list[str]:
    """The lines that a command prints on a terminal of this width."""
    return _lines_on_terminal(repo, width, term, *words, as_agent=as_agent)


def _both_on_terminal(
    repo: Repo, width: int, *words: str, as_agent: str = "", code: int = 0
) -> list[str]:
    """The lines that a command prints on a terminal, those on standard error too."""
    lines = _lines_on_terminal(
        repo, width, "dumb", *words, as_agent=as_agent, code=code, both=True
    )
    assert lines
    return lines


def _lines_on_terminal(
    repo: Repo,
    width: int,
    term: str,
    *words: str,
    as_agent: str,
    code: int = 0,
    both: bool = False,
) -> list[str]:
    own = {"WATERCOOLER_AGENT": as_agent} if as_agent else {}
    machine = repo.machine
    ours, theirs = pty.openpty()
    done = subprocess.run(
        [*machine.wc_words, *words],
        cwd=repo.path,
        env={**machine.env, **own, "TERM": term, "COLUMNS": str(width)},
        stdout=theirs,
        stderr=theirs if both else None,
        check=False,
    )
    assert done.returncode == code
    os.close(theirs)
    shown = _all_of(ours).decode().replace("\r\n", "\n")
    os.close(ours)
    return shown.splitlines()


def _all_of(terminal: int) -> bytes:
    """What is left to read of a terminal that nobody has open: a single read may return
    a part of it."""
    data = b""
    with contextlib.suppress(OSError):  # the end of a terminal
        while piece := os.read(terminal, 1 << 16):
            data += piece
    return data


def test_on_a_terminal_names_have_no_tag_that_all_share(repo: Repo) -> None:
    repo.ok("new", "auth", "--title", "T", "--as", "Codex")
    (line, *_) = _lines_on_terminal(repo, 120, "dumb", "whose", "auth", as_agent="")
    assert line.startswith("auth: Codex's move, since ")
    assert repo.ok("whose", "auth").out.startswith("auth: Codex (Pat)'s move, since ")
    lines = _lines_on_terminal(repo, 120, "dumb", "worktrees", as_agent="")
    assert "    thread auth: OPEN, ball: Codex" in lines
    repo.ok("ask", "auth", "-m", "410?", "--to", "Pat", "--as", "Codex")
    (line, *_) = _lines_on_terminal(repo, 120, "dumb", "whose", "auth", as_agent="")
    assert line.startswith("auth: your move, asked by Codex, since ")


@pytest.mark.parametrize(
    ("width", "columns"),
    [
        (200, "TOPIC BALL STATUS ENTRIES AGE TITLE"),
        (90, "TOPIC BALL STATUS NEW AGE TITLE"),
        (60, "TOPIC BALL STATUS NEW AGE"),
        (40, "TOPIC BALL"),
        (20, "TOPIC"),
    ],
)
def test_a_list_fits_its_terminal(repo: Repo, width: int, columns: str) -> None:
    long = "日本語 and a title that goes on and on " * 6
    repo.ok("new", "auth", "--title", long, "--to", "Claude Code@a-seat", "--force")
    topic = "a-topic-of-many-words-and-letters"
    repo.ok("new", topic, "--title", long)
    lines = _list_lines(repo, width, "dumb")
    assert lines[0].split() == columns.split()
    assert len(lines) == 3
    assert ("TITLE" in columns) == all(line.endswith("…") for line in lines[1:])
    assert max(map(width_of, lines)) <= width
    assert ("Claude Code@a-seat" in lines[2]) == (width == 200)
    assert width < 80 or topic[:23] in lines[1]


def test_a_list_of_real_names_shows_topics_at_80_columns(repo: Repo) -> None:
    pat = {"WATERCOOLER_AGENT": "Pat"}
    claude = {"WATERCOOLER_AGENT": "Claude Code (Pat)"}
    topic = "history-arc-02-lazygit-investigation-and-harvest"
    repo.ok("new", topic, "-m", "Harvest", "--to", "Pat", "--force", env=claude)
    repo.ok("new", "dark-mode", "-m", "Dark mode", "--to", "Claude Code (Pat)", env=pat)
    repo.ok("new", "review", "-m", "Look", "--blocked-by", "dark-mode", env=pat)
    repo.ok("tag", "dark-mode", "+later", env=pat)
    repo.ok("ask", topic, "-m", "Now?", "--to", "Pat", env=claude)
    lines = _list_lines(repo, 80, "dumb", "--sort", "topic", as_agent="Pat")
    assert [re.split(" {2,}", line) for line in lines] == [
        ["", "TOPIC", "BALL", "STATUS", "NEW", "AGE", "TITLE"],
        ["", "dark-mode", "Claude Code", "OPEN", "now", "+later"],
        ["?", f"{topic[:25]}…", "you", "OPEN", "+2", "now", "(asks you: Claude…"],
        ["", "review", "you", "waits", "now", "Look"],
    ]


def test_a_list_shows_whose_move_it_is_in_colours(repo: Repo) -> None:
    repo.ok("new", "mine", "--title", "x")
    repo.ok("new", "stuck", "--title", "x", "--to", "Codex")
    repo.ok("set-status", "stuck", "BLOCKED")
    repo.ok("new", "over", "--title", "x")
    repo.ok("done", "over", "--title", "x")
    _, over, stuck, mine = _list_lines(repo, 80, "xterm", "--all")
    assert mine.startswith("\x1b[1;32m>\x1b[0m")
    # Only what is the viewer's has a background.
    assert re.search(r"\x1b\[1;97;48;5;\d+myou\x1b\[0m", mine)
    assert "\x1b[31mBLOCKED\x1b[0m" in stuck
    assert f"\x1b[38;5;{badge_of('Codex').ink}mCodex\x1b[0m" in stuck
    assert ";48;" not in stuck
    assert "\x1b[2mover\x1b[0m" in over
    assert "\N{EN DASH}" in over


def test_a_list_marks_the_thread_that_was_chosen_here(repo: Repo) -> None:
    repo.ok("new", "login", "--title", "x", "--to", "Codex")
    repo.ok("new", "logout", "--title", "x")
    assert not any("◆" in line for line in _list_lines(repo, 80, "dumb"))
    repo.ok("use", "logout")
    _, logout, login = _list_lines(repo, 80, "dumb")
    assert logout.startswith(">◆  logout")
    assert login.startswith("    login")
    repo.ok("use", "login")
    assert _list_lines(repo, 40, "dumb", "--columns", "ball")[2] == "◆  Codex"
    repo.ok("use", "--none")
    assert not any("◆" in line for line in _list_lines(repo, 80, "dumb"))


def test_times_are_for_people_on_a_terminal_and_for_programs_in_a_pipe(
    repo: Repo,
) -> None:
    repo.ok("new", "login", "--title", "x")
    lines = _on_terminal(repo, 120, "dumb", "read", "login")
    ago = r"#0 · \S+ · just now \(\d{4}-\d\d-\d\d \d\d:\d\d \S+\) · .*"
    assert any(re.fullmatch(ago, line) for line in lines)
    narrow = _on_terminal(repo, 80, "dumb", "updates", "--since", "today")
    assert narrow[0].startswith("just now login #0 ")
    piped = repo.ok("read", "login").out.splitlines()
    stamp = r"#0 · \S+ · \d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z · .*"
    assert any(re.fullmatch(stamp, line) for line in piped)


def test_a_brief_at_a_persons_terminal_is_the_inbox_of_the_repository(
    repo: Repo,
) -> None:
    claude = ("--as", "Claude Code (Pat)")
    repo.ok("new", "login", "-m", "Log in with a passkey " * 5, *claude)
    repo.ok("say", "login", "-m", "Please look", "--to", "Pat", "--force", *claude)
    assert _on_terminal(repo, 60, "dumb", "brief", as_agent="Pat") == [
        "MY MOVE",
        f"  {repo.path.name}: login · Log in with a … · Claude Code passed it · now",
        "    wc say login -m '…'",
    ]
    # An agent gets the brief, at a terminal, too; and so does a pipe.
    assert _on_terminal(repo, 60, "dumb", "brief", *claude)[0].startswith("Watercooler")
    assert repo.ok("brief", "--as", "Pat").out.startswith("Watercooler: you are Pat.")


def test_an_empty_inbox_of_the_repository_names_the_other_one(repo: Repo) -> None:
    repo.ok("new", "login", "-m", "Log in", "--to", "Codex", "--force")
    shown = _both_on_terminal(repo, 60, "brief", as_agent="Pat")
    assert shown == ["Nothing needs you here. In all repositories: wc inbox"]


@pytest.mark.parametrize(
    "words",
    [
        ("brief", "--as", "Claude Code (Pat)"),
        ("claims",),
        ("note",),
        ("search", "terminal"),
        ("updates", "--since", "today"),
        ("whoami",),
        ("whose",),
    ],
    ids=lambda words: words[0],
)
def test_what_is_printed_is_wrapped_at_words(
    repo: Repo, words: tuple[str, ...]
) -> None:
    text = "A terminal breaks long sentences anywhere, wc between two words. " * 3
    repo.ok("new", "login", "-m", text, "-m", text, "--to", "Codex", "--force")
    for topic in ("a", "b", "c", "d", "e", "f"):
        repo.ok("new", topic, "-m", text, "--to", "Claude Code (Pat)", "--force")
    repo.ok("note", text)
    repo.ok("claim", "a.py", "b.py", "-m", text)
    shown = _both_on_terminal(repo, 50, *words)
    wide = _both_on_terminal(repo, 100, *words)
    assert [line for line in shown if len(line) > 50 and " " in line.strip()] == []
    assert _words(shown) == _words(wide)


def _words(lines: list[str]) -> list[str]:
    """The words of lines, without the marks of quotations."""
    return [word for line in lines for word in line.split() if word != ">"]


def test_an_error_is_wrapped_at_words(repo: Repo) -> None:
    for topic in ("one-topic-of-many", "another-topic-of-many"):
        repo.ok("new", topic, "-m", "x")
    shown = _both_on_terminal(repo, 50, "stats", "one-topic-of-some", code=3)
    assert max(map(len, shown)) <= 50


def test_whose_move_it_is_has_a_local_time_on_a_terminal(repo: Repo) -> None:
    repo.ok("new", "login", "--title", "x")
    (line,) = _on_terminal(repo, 100, "dumb", "whose", "login")
    since = r"since \d{4}-\d\d-\d\d \d\d:\d\d \S+ \(just now\)"
    assert re.fullmatch(f"login: your move, {since}", line)


def test_a_tree_has_branches_on_a_terminal(repo: Repo) -> None:
    repo.ok("new", "login", "-m", "Log in", "--to", "Codex", "--force")
    for topic in ("form", "page"):
        repo.ok("new", topic, "-m", f"The {topic} of it", "--parent", "login")
    repo.ok("new", "key-field", "-m", "Key field", "--parent", "form")
    piped = repo.ok("tree").out.splitlines()
    assert piped[2] == ">     key-field · Pat · Key field"
    assert _on_terminal(repo, 30, "dumb", "tree") == [
        "  login · Codex · Log in",
        "  ├─ form · Pat · The form of…",
        "> │  └─ key-field · Pat",
        "> └─ page · Pat · The page of…",
    ]


def test_a_long_title_is_shown_once(repo: Repo) -> None:
    title = "A title that is long enough to be seen twice"
    repo.ok("new", "login", "-m", title, "-m", "The text of it.")
    repo.ok("say", "login", "-m", "Half to even", "--kind", "decision")
    shown = "\n".join(_on_terminal(repo, 100, "xterm", "read", "login"))
    assert shown.count(title) == 1
    for words in (["search", "long"], ["search", "--kind", "decision"]):
        out = repo.ok(*words).out
        assert out.count(title) <= 1
        assert out.count("Half to even") <= 1


def test_what_follows_a_title_from_right_to_left_stays_to_its_right(
    repo: Repo,
) -> None:
    title = "\u05db\u05e0\u05d9\u05e1\u05d4"
    marked = f"{title}\u200e"
    repo.ok("new", "login", "-m", "Log in")
    repo.ok("say", "login", "-m", title, "--to", "Codex", "--force")
    repo.ok("rename", "login", "sign-in")
    for words in (
        ("read", "login"),
        ("read", "login", "--commits"),
        ("search", title),
        ("updates", "--since", "today"),
    ):
        shown = "\n".join(_on_terminal(repo, 100, "xterm", *words))
        assert marked in shown, words
        assert "\u200e" not in repo.ok(*words).out


def test_tables_fit_their_terminal(repo: Repo) -> None:
    topic = "history-arc-02-lazygit-investigation-and-harvest"
    repo.ok("new", topic, "-m", "Harvest it all " * 5, "--to", "Codex", "--force")
    lines = _on_terminal(repo, 70, "dumb", "stats")
    assert any(topic[:20] in line for line in lines)
    assert max(map(width_of, lines)) <= 70
