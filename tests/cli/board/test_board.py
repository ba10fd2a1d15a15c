"""``wc board``: printed once, and live over real stores."""

from __future__ import annotations

import contextlib
import os
import pty
import re
import shutil
import signal
import subprocess
from typing import TYPE_CHECKING

import pytest

from tests.cli.commands.test_worktrees import LOOP, put
from tests.cli.entries.test_editor import Terminal, at_terminal
from tests.conftest import Machine

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.conftest import Repo

CODEX = ("--as", "Codex")


def write_threads(repo: Repo) -> None:
    """Write a thread for each column."""
    repo.ok("new", "auth", "--title", "Keys", "--to", "Codex", "--force")
    repo.ok("new", "bills", "--title", "Round up?", "--body", "Half **even**?")
    repo.ok("say", "bills", "--title", "Why not", "--to", "Pat", *CODEX)
    repo.ok("new", "free", "--title", "Anyone", "--to", "anyone")
    repo.ok("new", "done", "--title", "Over", "--status", "CLOSED")


@pytest.fixture(scope="module")
def story(tmp_path_factory: pytest.TempPathFactory) -> Repo:
    """A repository that the tests read and do not change."""
    repo = Machine(tmp_path_factory.mktemp("story")).repo()
    write_threads(repo)
    return repo


# --- printed once ------------------------------------------------------------


def test_it_is_printed_once_if_output_is_not_a_terminal(story: Repo) -> None:
    done = story.ok("board", env={"COLUMNS": "84"})
    assert [re.sub(" +", " ", line).strip() for line in done.out.splitlines()] == [
        "You 1 Anyone 1 Codex 1",
        " ".join(["─" * 27] * 3),
        "bills +1 free auth",
        "Round up? Anyone Keys",
        "now now now",
    ]
    assert done.err == ""


@pytest.mark.parametrize(
    ("words", "expected", "missing"),
    [
        (["--closed"], "done", "zz"),
        (["--filter", "round"], "bills", "auth"),
        (["--ascii"], "-----", "─"),
        (["--once", *CODEX], "You", "Codex"),
    ],
)
def test_what_is_asked_for(
    story: Repo, words: list[str], expected: str, missing: str
) -> None:
    out = story.ok("board", *words).out
    assert expected in out
    assert missing not in out


def test_as_json_all_of_it(story: Repo) -> None:
    answer = story.json("board", "--limit", "1")
    assert [(column["name"], column["mine"]) for column in answer["columns"]] == [
        ("You", True),
        ("Anyone", False),
        ("Codex", False),
    ]
    [bills] = answer["columns"][0]["threads"]
    assert (bills["topic"], bills["new_for_you"]) == ("bills", 1)
    assert bills["since"].endswith("Z")


def test_a_limit_says_what_it_left_out(machine: Machine) -> None:
    repo = machine.repo()
    for topic in ("one", "two", "three"):
        repo.ok("new", topic, "--title", topic)
    done = repo.ok("board", "--limit", "1")
    assert "three" in done.out
    assert "one" not in done.out
    assert done.err == "2 threads more: wc board --once --limit 0\n"


def test_a_store_without_threads_says_how_to_begin(repo: Repo) -> None:
    assert "wc new TOPIC" in repo.ok("board").err


def test_threads_that_cannot_be_listed_are_reported(repo: Repo) -> None:
    repo.ok("new", "auth", "--title", "T")
    threads = repo.store / "graph/baseline/threads"
    shutil.rmtree(threads)
    threads.symlink_to(repo.path)
    assert "threads left out" in repo.ok("board").err


# --- live --------------------------------------------------------------------

WIDE = {"TERM": "xterm-256color"}


@contextlib.contextmanager
def live(repo: Repo, size: tuple[int, int] = (120, 30)) -> Iterator[Terminal]:
    """A live board at a terminal of so many columns and lines."""
    terminal = Terminal(repo, "board", env=WIDE, size=size)
    try:
        terminal.wait_for(b" yours")
        yield terminal
        terminal.type(b"q")
        assert terminal.end()[0] == 0
    finally:
        terminal.process.kill()
        terminal.process.wait()


def test_what_is_written_in_the_meantime_is_shown(repo: Repo) -> None:
    write_threads(repo)
    with live(repo) as terminal:
        repo.ok("ask", "auth", "-m", "Why?", "--to", "Pat", *CODEX)
        terminal.wait_for(b"asks you")
        repo.ok("new", "late", "--title", "L")
        terminal.wait_for(b"late")


def test_the_first_thread_appears_on_a_board_that_was_open_before(repo: Repo) -> None:
    with live(repo) as terminal:
        terminal.wait_for(b"start one with: wc new TOPIC")
        repo.ok("new", "first", "--title", "F")
        terminal.wait_for(b"first")


def test_loops_and_claims_are_shown_above(repo: Repo) -> None:
    repo.ok("new", "main", "--title", "Of this branch")
    repo.ok("claim", "a.py", "b.py", "c.py", *CODEX)
    repo.ok("claim", "d.py", "--mode", "read", *CODEX)
    put(repo, "loop-state.json", LOOP)
    with live(repo) as terminal:
        terminal.wait_for("✎ Codex (Pat) edits a.py, b.py and 1 more".encode())
        terminal.wait_for(b"waits for a human")


@pytest.mark.parametrize("size", [(20, 4), (40, 12), (300, 80)])
def test_it_fits_any_screen(story: Repo, size: tuple[int, int]) -> None:
    # The terminal of the tests breaks lines as a real one does.
    with live(story, size) as terminal:
        terminal.type(b"x")
    plain = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", terminal.shown.decode())
    assert max(map(len, plain.replace("\r", "\n").split("\n"))) <= size[0]


# --- how it ends -------------------------------------------------------------


def test_it_ends_when_the_store_disappears(repo: Repo) -> None:
    write_threads(repo)
    terminal = Terminal(repo, "board", env=WIDE)
    terminal.wait_for(b"threads yours")
    repo.store.rename(repo.store.parent / "elsewhere")
    code, shown = terminal.end()
    assert code == 3
    assert "is no longer there" in shown.split("\x1b[?1049l")[-1]


def test_at_a_terminal_it_is_live_and_leaves_it_as_it_was(story: Repo) -> None:
    code, output = at_terminal(story, "board", env=WIDE, typed=b"q")
    assert code == 0
    assert output.index("\x1b[?1049h") < output.index("\x1b[?1049l")
    assert "\x1b[?25h" in output.split("\x1b[?1049l")[-1] + output[-200:]


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGTERM, -signal.SIGTERM), (signal.SIGINT, 130)]
)
def test_a_signal_ends_it_and_leaves_the_terminal_as_it_was(
    story: Repo, number: signal.Signals, code: int
) -> None:
    terminal = Terminal(story, "board", env=WIDE)
    terminal.wait_for(b"threads yours")
    terminal.process.send_signal(number)
    ended, output = terminal.end()
    assert ended == code
    assert "\x1b[?1049l" in output
    assert "Traceback" not in output


def test_it_ends_with_its_terminal_whether_or_not_a_signal_says_so(
    story: Repo,
) -> None:
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [*story.machine.wc_words, "board"],
        cwd=story.path,
        env={**story.machine.env, **WIDE},
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
    )
    os.close(theirs)
    while b"threads yours" not in os.read(ours, 1 << 16):
        pass
    os.close(ours)
    assert process.wait(30) in {-signal.SIGHUP, 128 + signal.SIGHUP}


def test_a_dumb_terminal_gets_it_printed(story: Repo) -> None:
    code, output = at_terminal(story, "board", env={"TERM": "dumb"})
    assert code == 0
    assert "bills" in output
    assert "\x1b" not in output
