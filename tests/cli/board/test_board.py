"""``wc board``: printed once, and live over real stores."""

from __future__ import annotations

import asyncio
import contextlib
import os
import pty
import re
import select
import shutil
import signal
import subprocess
import time
from typing import TYPE_CHECKING

import pytest
from textual import events

from tests.cli.commands.test_worktrees import LOOP, put
from tests.cli.entries.test_editor import Terminal, at_terminal, editor, script
from tests.conftest import Machine
from tests.core.strategies import chain, entry, write_thread
from wc_cli.run.board import app, panes, view
from wc_cli.run.board.app import BoardApp
from wc_cli.run.board.cards import CardFilter
from wc_cli.run.board.source import BoardSource
from wc_cli.run.context import Context
from wc_core.people.identity.resolve import Asked

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator

    from textual.pilot import Pilot

    from tests.conftest import Repo

CODEX = ("--as", "Codex")
__all__ = ["editor"]  # a fixture


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


class Live:
    """A live board in this process."""

    def __init__(
        self, repo: Repo, monkeypatch: pytest.MonkeyPatch, *, write: bool = False
    ) -> None:
        for name, value in repo.machine.env.items():
            monkeypatch.setenv(name, value)
        monkeypatch.chdir(repo.path)
        context = Context(dict(os.environ), str(repo.path), Asked("Pat"))
        self.source = BoardSource(context)
        signs = view.UNICODE
        self.app = BoardApp(self.source, CardFilter(), signs, write=write)

    def run(
        self,
        steps: Callable[[Pilot[None]], Awaitable[None]],
        size: tuple[int, int] = (100, 30),
    ) -> None:
        async def run_steps() -> None:
            async with self.app.run_test(size=size) as pilot:
                await until(pilot, lambda: bool(self.app.cards.board.columns))
                await steps(pilot)

        asyncio.run(run_steps())

    @property
    def chosen(self) -> str:
        card = self.app.cards.board.chosen
        return "" if card is None else card.topic

    @property
    def text(self) -> str:
        """The text on the screen."""
        screen = self.app.screen
        lines = screen._compositor.render_strips()
        return "\n".join("".join(s.text for s in line).rstrip() for line in lines)


async def until(pilot: Pilot[None], condition: Callable[[], bool]) -> None:
    """Wait until a condition holds."""
    for _ in range(400):
        if condition():
            return
        await pilot.pause(0.02)
    strips = pilot.app.screen._compositor.render_strips()
    lines = ("".join(segment.text for segment in line).rstrip() for line in strips)
    raise AssertionError("\n".join(lines))


def test_keys_choose_filter_and_open(
    story: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    live = Live(story, monkeypatch)
    log = story.log("bills").read_bytes()

    async def steps(pilot: Pilot[None]) -> None:
        assert live.chosen == "bills"
        await pilot.press("l", "right")
        assert live.chosen == "auth"
        await pilot.press("home", "h", "pagedown", "j", "k", "end")
        assert live.chosen == "free"
        await pilot.press("slash", *"round")
        assert live.chosen == "bills"
        assert "auth" not in live.text
        await pilot.press("enter", "enter")
        await until(pilot, lambda: "Half even?" in live.text)
        assert "**" not in live.text
        assert "Why not" in live.text
        await pilot.press("j", "G", "g", "e", "q", "escape")
        await until(pilot, lambda: "auth" in live.text)
        assert "1 of 3 threads yours" in live.text
        await pilot.press("c")
        assert "done" in live.text
        assert "1 of 4 threads yours" in live.text
        await pilot.press("q")

    live.run(steps, (140, 30))
    assert live.app.end_reason == ""
    assert story.log("bills").read_bytes() == log
    # The board marks nothing as read.
    assert story.json("list")["threads"][-2]["new_for_you"] in {0, 1}
    assert not (story.store / ".local/cursors/bills").exists()


def test_the_mouse_chooses_and_opens(
    story: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    live = Live(story, monkeypatch)

    async def steps(pilot: Pilot[None]) -> None:
        await pilot.click(app.Cards, offset=(40, 3))
        assert live.chosen == "free"
        await pilot.click(app.Cards, offset=(2, 25))
        assert live.chosen == "free"
        live.app.cards.on_mouse_scroll_down()
        live.app.cards.on_mouse_scroll_up()
        await pilot.click(app.Cards, offset=(40, 3))
        await until(pilot, lambda: "free: Anyone" in live.text)

    live.run(steps)


def test_help_and_worktrees_open_and_close(
    story: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    live = Live(story, monkeypatch)

    async def steps(pilot: Pilot[None]) -> None:
        await pilot.press("question_mark")
        await until(pilot, lambda: "This board is read-only" in live.text)
        await pilot.press("escape", "w")
        await until(pilot, lambda: "main worktree" in live.text)
        await pilot.press("q", "a")
        await until(pilot, lambda: "wc board --write" in live.text)
        await pilot.press("ctrl+c")

    live.run(steps)
    assert live.app.end_reason == panes.INTERRUPTED


@pytest.mark.parametrize("width", [40, 60, 100])
def test_help_continues_a_line_below_its_text(
    story: Repo, monkeypatch: pytest.MonkeyPatch, width: int
) -> None:
    live = Live(story, monkeypatch)

    async def steps(pilot: Pilot[None]) -> None:
        await pilot.press("question_mark")
        await until(pilot, lambda: "choose a" in live.text)
        rows = [row.strip("│ ▁▂▃▄▅▆▇█").rstrip() for row in live.text.split("\n")]
        assert max(map(len, live.text.split("\n"))) <= width
        begin = next(place for place, row in enumerate(rows) if "choose a" in row)
        end = next(place for place, row in enumerate(rows) if row.startswith("enter"))
        key_lines = [row.partition("│")[2] for row in live.text.split("\n")][begin:end]
        column = key_lines[0].index("choose")
        assert (len(key_lines) > 1) == (width < 80)
        for row in key_lines[1:]:
            assert row[:column].isspace()
            assert not row[column].isspace()
        await pilot.press("q", "ctrl+c")

    live.run(steps, (width, 40))


PLAN_TREE = "auth.*\n.*└─ passkeys.*…"


def test_the_plan_is_a_tree_in_a_box(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo = machine.repo()
    repo.ok("new", "auth", "--title", "Log in")
    live = Live(repo, monkeypatch)

    async def steps(pilot: Pilot[None]) -> None:
        await pilot.press("v")
        await until(pilot, lambda: "No thread has a link." in live.text)
        await pilot.press("escape")
        repo.ok("new", "passkeys", "--title", "x" * 200, "--parent", "auth")
        await until(pilot, lambda: "passkeys" in live.text)
        await pilot.press("v")
        await until(pilot, lambda: bool(re.search(PLAN_TREE, live.text)))
        await pilot.press("v", "ctrl+c")

    live.run(steps)


@pytest.mark.parametrize("size", [(20, 4), (40, 12), (300, 80)])
def test_it_fits_any_screen(
    story: Repo, monkeypatch: pytest.MonkeyPatch, size: tuple[int, int]
) -> None:
    live = Live(story, monkeypatch)

    async def steps(pilot: Pilot[None]) -> None:
        await pilot.resize_terminal(*size)
        await pilot.press("l", "h", "enter")
        await pilot.pause()
        await pilot.press("q")
        await pilot.pause()
        assert live.chosen == "bills"
        assert max(map(len, live.text.split("\n"))) <= size[0]

    live.run(steps, size)


def test_what_is_written_in_the_meantime_is_shown(
    repo: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_threads(repo)
    live = Live(repo, monkeypatch)
    monkeypatch.setattr(app, "REFRESH_EVERY", 3600.0)  # so only watching can notice

    async def steps(pilot: Pilot[None]) -> None:
        await pilot.press("enter")
        await until(pilot, lambda: "Why not" in live.text)
        await pilot.pause(0.3)
        words = ("say", "bills", "--title", "Because", "--to", "Pat", *CODEX)
        await asyncio.to_thread(repo.ok, *words)
        await until(pilot, lambda: "Because" in live.text)
        await pilot.press("q")
        await asyncio.to_thread(repo.ok, "new", "late", "--title", "L")
        await until(pilot, lambda: "late" in live.text)
        shutil.rmtree(repo.log("late").parent)
        (repo.store / "graph/baseline/threads-md/late.md").unlink(missing_ok=True)
        await pilot.press("r")
        await until(pilot, lambda: "late" not in live.text)

    live.run(steps)


def test_only_what_changed_is_read_again(
    repo: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_threads(repo)
    source = Live(repo, monkeypatch).source
    assert source.refresh()
    assert not source.refresh()
    repo.ok("ack", "auth", "--title", "x")
    # Unreadable now, but cached: it is not read again.
    repo.log("bills").chmod(0)
    assert source.refresh({"auth"})
    topics = {
        card.topic for column in source.columns(CardFilter()) for card in column.cards
    }
    assert topics == {"auth", "bills", "free"}
    assert source.topic_at(str(repo.log("auth"))) == "auth"
    assert source.topic_at(str(repo.store / "config.toml")) is None


def test_a_loop_is_shown_above_and_on_the_cards_of_its_worktree(
    repo: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo.ok("new", "main", "--title", "Of this branch")
    put(repo, "loop-state.json", LOOP)
    live = Live(repo, monkeypatch)

    async def steps(pilot: Pilot[None]) -> None:
        await until(pilot, lambda: live.text.count("waits for a human") == 2)

    live.run(steps, (160, 30))


def test_claims_are_shown_above_until_they_are_released(
    repo: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo.ok("new", "auth", "--title", "T")
    repo.ok("claim", "a.py", "b.py", "c.py", *CODEX)
    repo.ok("claim", "d.py", "--mode", "read", *CODEX)
    live = Live(repo, monkeypatch)
    line = "✎ Codex (Pat) edits a.py, b.py and 1 more"

    async def steps(pilot: Pilot[None]) -> None:
        await until(pilot, lambda: line in live.text)
        repo.ok("release", "--all", *CODEX)
        await until(pilot, lambda: "✎" not in live.text)

    live.run(steps, (160, 30))


# --- keys that write ---------------------------------------------------------


def test_a_key_that_writes_asks_runs_the_command_and_shows_its_receipt(
    repo: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_threads(repo)
    live = Live(repo, monkeypatch, write=True)

    async def steps(pilot: Pilot[None]) -> None:
        await pilot.press("a", "escape", "p", *"Codex", "enter")
        await until(
            pilot, lambda: "wc handoff --as Pat --to=Codex -- bills" in live.text
        )
        assert repo.ball("bills") == "Pat"
        await pilot.press("n", "p", *"Codex", "enter", "y")
        await until(pilot, lambda: "saved bills #2" in live.text)
        await until(pilot, lambda: live.app.cards.board.columns[0].cards == ())
        await pilot.press("t", "enter", "y")
        await until(pilot, lambda: "reason" in live.text.lower())
        await pilot.press("m", "y")
        await until(pilot, lambda: "seen: bills" in live.text)
        await pilot.press("s")
        await until(pilot, lambda: "r IN_REVIEW   b BLOCKED" in live.text)
        await pilot.press("x", "b")
        await until(pilot, lambda: "saved bills #3" in live.text)
        await pilot.press("question_mark")
        await until(pilot, lambda: "pass the ball" in live.text)

    live.run(steps, (120, 40))
    assert repo.ball("bills") == "Codex"
    thread = repo.json("read", "bills", "--peek")
    assert (thread["status"], thread["entries"][-1]["author"]) == ("BLOCKED", "Pat")


def test_keys_typed_ahead_go_to_the_dialog_that_is_still_to_open(
    repo: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_threads(repo)
    live = Live(repo, monkeypatch, write=True)

    def type_at_once(*keys: str) -> None:
        for key in keys:
            character = key if len(key) == 1 else None
            live.app.post_message(events.Key(key, character))

    async def steps(pilot: Pilot[None]) -> None:
        await until(pilot, lambda: live.chosen == "bills")
        # "n" and "y" answer the confirmation, but not before it is there.
        type_at_once("a", *"any journey", "enter", "y")
        await until(pilot, lambda: "saved bills #2" in live.text)
        type_at_once("slash", *"keys", "enter", "l", "s", "b")
        await until(pilot, lambda: "saved auth #1" in live.text)
        type_at_once("question_mark", "escape", "slash", "escape", "c", "q")
        # A worker that still forwards keys fails when run_test removes the screens.
        await until(pilot, lambda: not live.app.is_running)

    live.run(steps, (120, 40))
    entry = repo.json("read", "bills", "--peek")["entries"][-1]
    assert entry["title"] == "any journey"
    assert repo.json("read", "auth", "--peek")["status"] == "BLOCKED"


def test_in_a_thread_keys_write_to_it_whatever_the_board_shows_by_then(
    repo: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_threads(repo)
    repo.ok("new", "other", "--title", "Other")
    live = Live(repo, monkeypatch, write=True)

    async def steps(pilot: Pilot[None]) -> None:
        await pilot.press("j", "enter")
        await until(pilot, lambda: "bills: Round up?" in live.text)
        await pilot.press("s", "c")
        await until(pilot, lambda: "-- bills CLOSED" in live.text)
        await pilot.press("n", "s", "c", "y")
        await until(pilot, lambda: "saved bills #2" in live.text)
        await until(pilot, lambda: live.chosen == "other")
        await pilot.press("m")
        await until(pilot, lambda: "wc seen --as Pat -- bills" in live.text)
        await pilot.press("n", "q")

    live.run(steps, (120, 40))
    assert repo.json("read", "bills", "--peek")["status"] == "CLOSED"


def test_say_and_new_open_the_editor_and_show_the_receipt_in_the_board(
    repo: Repo, editor: dict[str, str]
) -> None:
    write_threads(repo)
    env = {**editor, "TERM": "xterm-256color", "COLUMNS": "100", "LINES": "30"}
    terminal = Terminal(repo, "board", "--write", env=env)
    terminal.wait_for(b"Round up?")
    terminal.type(b"i")
    terminal.wait_for(b"saved bills #2")
    terminal.type(b"n")
    terminal.wait_for(b"The topic of a new thread")
    terminal.type(b"late\r")
    terminal.wait_for(b"saved late #0")
    # The board takes keys again.
    terminal.type(b"q")
    assert terminal.end()[0] == 0
    for topic, number in (("bills", 2), ("late", 0)):
        entry = repo.entries(topic)[number]
        assert (entry["title"], entry["body"]) == (
            "Written by hand",
            "All of it.\nTwice.",
        )


@pytest.mark.parametrize(
    ("code", "shown"),
    [("pass", b"The editor saved no text."), ("sys.exit(3)", b"ended with 3")],
)
def test_an_editor_that_writes_nothing_is_explained_in_the_board(
    repo: Repo, code: str, shown: bytes
) -> None:
    write_threads(repo)
    env = {**script(code), "TERM": "xterm-256color", "COLUMNS": "100", "LINES": "30"}
    terminal = Terminal(repo, "board", "--write", env=env)
    terminal.wait_for(b"Round up?")
    terminal.type(b"i")
    terminal.wait_for(shown)
    terminal.type(b"q")
    assert terminal.end()[0] == 0
    assert len(repo.entries("bills")) == 2


def test_new_without_a_topic_and_without_a_terminal_writes_nothing(
    repo: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_threads(repo)
    live = Live(repo, monkeypatch, write=True)

    async def steps(pilot: Pilot[None]) -> None:
        await pilot.press("n")
        await until(pilot, lambda: "The topic of a new thread" in live.text)
        await pilot.press("enter")
        await until(pilot, lambda: "The topic" not in live.text)
        await pilot.press("i")
        await until(pilot, lambda: "wc say --as Pat --edit -- bills" in live.text)

    live.run(steps, (120, 40))
    assert len(repo.entries("bills")) == 2


def test_earlier_entries_are_rendered_when_they_are_asked_for(
    repo: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = chain(*(entry(step, "Codex", title=f"Number {step}") for step in range(50)))
    repo.ok("init")
    write_thread(repo.store, "long", log)
    live = Live(repo, monkeypatch)

    async def steps(pilot: Pilot[None]) -> None:
        await pilot.press("l", "enter")
        await until(pilot, lambda: "30 earlier: e" in live.text)
        await pilot.press("e")
        await until(pilot, lambda: "10 earlier: e" in live.text)
        await pilot.press("e", "home")
        await until(pilot, lambda: "Number 0" in live.text)
        assert "earlier: e" not in live.text
        log_file = repo.log("long")
        shutil.rmtree(log_file.parent)
        await pilot.press("q", "r")
        await until(pilot, lambda: "0 of 0 threads yours · start one" in live.text)
        assert "wc new TOPIC -m" in live.text

    live.run(steps)


# --- how it ends -------------------------------------------------------------


def test_it_ends_when_the_store_disappears(
    repo: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_threads(repo)
    live = Live(repo, monkeypatch)
    monkeypatch.setattr(app, "REFRESH_EVERY", 0.1)

    async def steps(pilot: Pilot[None]) -> None:
        repo.store.rename(repo.store.parent / "elsewhere")
        await until(pilot, lambda: live.app.end_reason == panes.GONE)

    live.run(steps)


def test_at_a_terminal_it_is_live_and_leaves_it_as_it_was(story: Repo) -> None:
    code, output = at_terminal(
        story, "board", env={"NO_COLOR": "1", "COLUMNS": "90"}, typed=b"q"
    )
    assert code == 0
    assert output.index("\x1b[?1049h") < output.index("\x1b[?1049l")
    assert "\x1b[?25h" in output.split("\x1b[?1049l")[-1] + output[-200:]


def read_until(terminal: int, words: bytes, seconds: float = 30) -> bytes:
    """Read a terminal's output until it contains these words."""
    output = b""
    deadline = time.monotonic() + seconds
    while words not in re.sub(rb"\x1b\[[0-9;?]*[a-zA-Z]", b"", output):
        remaining = max(0, deadline - time.monotonic())
        assert select.select([terminal], [], [], remaining)[0], output
        output += os.read(terminal, 1 << 16)
    return output


@contextlib.contextmanager
def board_at_terminal(repo: Repo) -> Iterator[tuple[subprocess.Popen[bytes], int]]:
    """A running board, and our end of its terminal."""
    our_end, board_end = pty.openpty()
    process = subprocess.Popen(
        [*repo.machine.wc_words, "board"],
        cwd=repo.path,
        env={**repo.machine.env, "TERM": "xterm-256color", "COLUMNS": "90"},
        stdin=board_end,
        stdout=board_end,
        stderr=board_end,
        start_new_session=True,
    )
    os.close(board_end)
    try:
        read_until(our_end, b"threads yours")
        yield process, our_end
    finally:
        process.kill()
        process.wait()


def test_a_signal_ends_it_and_leaves_the_terminal_as_it_was(story: Repo) -> None:
    with board_at_terminal(story) as (process, terminal):
        os.write(terminal, b"/keys")  # without a pause, like an experienced user
        output = read_until(terminal, b"/keys")
        process.send_signal(signal.SIGTERM)
        with contextlib.suppress(OSError):  # on Linux, reading a closed terminal fails
            while chunk := os.read(terminal, 1 << 16):
                output += chunk
        os.close(terminal)
        assert process.wait(30) == -signal.SIGTERM
    assert b"\x1b[?1049l" in output
    assert b"Traceback" not in output


def test_it_ends_with_its_terminal_whether_or_not_a_signal_says_so(
    story: Repo,
) -> None:
    with board_at_terminal(story) as (process, terminal):
        os.close(terminal)
        assert process.wait(30) == 128 + signal.SIGHUP


def test_a_dumb_terminal_gets_it_printed(story: Repo) -> None:
    code, output = at_terminal(story, "board", env={"TERM": "dumb"})
    assert code == 0
    assert "bills" in output
    assert "\x1b" not in output
