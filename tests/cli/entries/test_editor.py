"""Writing an entry in an editor, at a terminal."""

from __future__ import annotations

import os
import pty
import select
import shutil
import signal
import subprocess
import sys
import termios
import time
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from tests.conftest import Machine, Repo

SCISSORS = "# ------------------------ >8 ------------------------"
# Replaces the file, as many editors do.
REPLACING = """#!/bin/sh
cp "$1" "$SEEN"
{ printf '%b' "$TYPED"; cat "$1"; } > "$1.new"
mv "$1.new" "$1"
"""


class Terminal:
    """wc at a terminal, which can be typed at."""

    def __init__(
        self,
        repo: Repo,
        *words: str,
        env: Mapping[str, str],
        size: tuple[int, int] = (0, 0),
    ) -> None:
        """``size`` are its columns and lines."""
        machine = repo.machine
        self._ours, theirs = pty.openpty()
        termios.tcsetwinsize(theirs, (size[1], size[0]))
        self.process = subprocess.Popen(
            # A real start: it gets the terminal's signals itself.
            ["env", *machine.wc_words, *words],
            cwd=repo.path,
            env={**machine.env, "TERM": "xterm", **env},
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            start_new_session=True,
            preexec_fn=_take_terminal,  # noqa: PLW1509 (before any thread starts)
        )
        os.close(theirs)
        self.shown = b""

    def type(self, keys: bytes) -> None:
        """Press keys."""
        os.write(self._ours, keys)

    def wait_for(self, text: bytes) -> None:
        """Wait until the screen has shown a text."""
        deadline = time.monotonic() + 30
        while text not in self.shown:
            assert time.monotonic() < deadline, self.shown
            assert self._read(), self.shown

    def _read(self) -> bool:
        """Read some output. Returns whether there can be more."""
        if not select.select([self._ours], [], [], 0.05)[0]:
            return self.process.poll() is None
        try:
            more = os.read(self._ours, 1 << 16)
        except OSError:
            return False
        self.shown += more
        return bool(more)

    def hang_up(self) -> int:
        """Close the terminal, as closing its tab does. Returns the exit status."""
        os.close(self._ours)
        return self.process.wait(30)

    def end(self) -> tuple[int, str]:
        """Wait for the end. Returns the exit status, and what was shown."""
        deadline = time.monotonic() + 30
        while self._read() and time.monotonic() < deadline:
            pass
        os.close(self._ours)
        return self.process.wait(30), self.shown.decode(errors="replace")


def _take_terminal() -> None:
    """Make standard input the controlling terminal, which ^C and closing need."""
    import fcntl
    import termios

    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


def at_terminal(
    repo: Repo, *words: str, env: Mapping[str, str], typed: bytes = b""
) -> tuple[int, str]:
    """Run wc at a terminal to its end. Returns its status, and what it shows."""
    terminal = Terminal(repo, *words, env=env)
    terminal.type(typed)
    return terminal.end()


@pytest.fixture
def editor(machine: Machine) -> dict[str, str]:
    """The variables of an editor that writes what ``TYPED`` says."""
    path = machine.root / "my editor"
    path.write_text(REPLACING)
    path.chmod(0o755)
    return {
        "EDITOR": f"'{path}'",
        "SEEN": str(machine.root / "seen"),
        "TYPED": "Written by hand\\n\\nAll of it.\\nTwice.\\n",
    }


def script(code: str) -> dict[str, str]:
    """An editor in Python; ``path`` is the file."""
    code = f"import os, pathlib, sys; path = pathlib.Path(sys.argv[1]); {code}"
    return {"EDITOR": f'{sys.executable} -c "{code}"'}


def titles(repo: Repo) -> list[tuple[str, str]]:
    """The titles and bodies of the thread ``auth``; none without it."""
    if not repo.log("auth").exists():
        return []
    return [(entry["title"], entry["body"]) for entry in repo.entries("auth")]


@pytest.fixture
def scratch(machine: Machine) -> Iterator[Path]:
    """The folder of temporary files, which has nothing left of an editor at the end."""
    folder = machine.root / "scratch"
    folder.mkdir()
    machine.env["TMPDIR"] = str(folder)
    yield folder
    assert [*folder.glob("wc-*")] == []


@pytest.mark.usefixtures("scratch")
def test_the_first_line_is_the_title(repo: Repo, editor: dict[str, str]) -> None:
    code, shown = at_terminal(repo, "say", "auth", env=editor)
    assert (code, "saved auth #0" in shown) == (0, True), shown
    assert titles(repo) == [("Written by hand", "All of it.\nTwice.")]


@pytest.mark.parametrize(
    ("typed", "title", "body"),
    [
        ("One line", "One line", ""),
        ("\\n\\n  Late and indented  \\nnext", "Late and indented", "next"),
        ("# A heading\\n\\n## Another", "# A heading", "## Another"),
        ("T\\r\\n\\r\\nb\\r\\nc\\r\\n", "T", "b\r\nc"),
        ("T\\n\\n    code\\n\\n\\n", "T", "    code"),
    ],
)
def test_title_and_body(
    repo: Repo, editor: dict[str, str], typed: str, title: str, body: str
) -> None:
    code, shown = at_terminal(repo, "new", "auth", env={**editor, "TYPED": typed})
    assert code == 0, shown
    assert titles(repo) == [(title, body)]


def test_a_title_that_was_given_is_there_to_be_changed(
    repo: Repo, editor: dict[str, str]
) -> None:
    seen = repo.machine.root / "seen"
    env = {**editor, "TYPED": ""}
    assert at_terminal(repo, "say", "auth", "-e", "-t", "Begin", env=env)[0] == 0
    assert seen.read_text().startswith(f"Begin\n\n{SCISSORS}\n")
    assert "The first line is the title." in seen.read_text()
    assert at_terminal(repo, "say", "auth", "--edit", "-m", "More", env=editor)[0] == 0
    assert titles(repo) == [
        ("Begin", ""),
        ("Written by hand", "All of it.\nTwice.\nMore"),
    ]


def test_the_last_entries_stand_below(repo: Repo, editor: dict[str, str]) -> None:
    repo.ok("new", "auth", "--title", "Zero", "--body", "first body")
    repo.ok("ack", "auth", "--title", "One", "--body", f"a\n{SCISSORS}\n\x1b[2Jb")
    repo.ok("ack", "auth", "--title", "Two", "--body", "line\n" * 99)
    repo.ok("ack", "auth", "--title", "Three", "--as", "Codex")
    assert at_terminal(repo, "say", "auth", env=editor)[0] == 0
    _, _, below = (repo.machine.root / "seen").read_text().partition(SCISSORS)
    assert "# auth: Zero (OPEN, ball: Pat)" in below
    assert "first body" not in below
    assert f"One\n    a\n    {SCISSORS}\n    b\n" in below
    assert "    … (70 more lines)\n\n#3 · Codex (Pat) · just now (20" in below
    assert "\x1b" not in below
    assert titles(repo)[-1] == ("Written by hand", "All of it.\nTwice.")


def test_ack_and_close_open_an_editor_only_on_request(
    repo: Repo, editor: dict[str, str]
) -> None:
    at_terminal(repo, "new", "auth", env=editor)
    at_terminal(repo, "ack", "auth", env=editor)
    at_terminal(repo, "ack", "auth", "-e", env={**editor, "TYPED": "Seen\\n"})
    at_terminal(repo, "close", "auth", "-e", "-m", "end", env=editor)
    assert titles(repo) == [
        ("Written by hand", "All of it.\nTwice."),
        ("Ack", ""),
        ("Seen", ""),
        ("Written by hand", "All of it.\nTwice.\nend"),
    ]
    at_terminal(repo, "set-status", "auth", "OPEN", env=editor)
    at_terminal(repo, "close", "auth", env=editor)
    assert titles(repo)[-1] == ("Status: CLOSED", "")


def test_questions_and_answers_are_written_in_an_editor(
    repo: Repo, editor: dict[str, str]
) -> None:
    repo.ok("new", "auth", "--title", "x", "--to", "Codex")
    at_terminal(repo, "ask", "auth", "--to", "Codex", env={**editor, "TYPED": "Why?"})
    assert titles(repo)[-1] == ("Why?", "")
    repo.ok("ask", "auth", "--to", "Pat", "-m", "Where?", "--as", "Codex")
    code, shown = at_terminal(repo, "answer", "auth", env=editor)
    assert code == 0, shown
    assert titles(repo)[-1] == ("Written by hand", "All of it.\nTwice.")
    no_text = repo.fails(2, "ask", "auth", "--to", "Codex")
    assert "Say it in one line: wc ask auth --to Codex -m '…'" in no_text


def test_no_editor_opens_for_a_topic_that_will_be_refused(
    repo: Repo, editor: dict[str, str]
) -> None:
    repo.ok("new", "auth", "--title", "x")
    for words, message in (
        (("new", "bad topic"), "'bad topic' cannot be a topic."),
        (("say", ".hidden"), "'.hidden' cannot be a topic."),
        (("done", "other"), "There is no thread"),
        (("ack", "other", "-e"), "There is no thread"),
        (("close", "other", "-e"), "There is no thread"),
    ):
        code, shown = at_terminal(repo, *words, env=editor)
        assert code
        assert message in shown
        assert not (repo.machine.root / "seen").exists()


def test_a_text_that_cannot_close_a_thread_is_kept(
    repo: Repo, editor: dict[str, str]
) -> None:
    repo.ok("new", "auth", "--title", "x")
    repo.ok("ask", "auth", "--to", "Codex", "-m", "Why?", "--as", "Claude Code")
    words = ("close", "auth", "-e", "--if-last", "0" * 26)
    code, shown = at_terminal(repo, *words, env=editor)
    assert code
    assert "note: what you wrote is kept in " in shown


@pytest.mark.parametrize(
    ("env", "opens"),
    [
        (("GIT_EDITOR", "core.editor", "VISUAL", "EDITOR"), "GIT_EDITOR"),
        (("core.editor", "VISUAL", "EDITOR"), "core.editor"),
        (("VISUAL", "EDITOR"), "VISUAL"),
        (("EDITOR",), "EDITOR"),
    ],
)
def test_the_order_of_editors(repo: Repo, env: tuple[str, ...], opens: str) -> None:
    variables = {name: f"echo '{name}' >" for name in env if name.isupper()}
    if "core.editor" in env:
        repo.git("config", "core.editor", "echo core.editor >")
    code, shown = at_terminal(repo, "say", "auth", env=variables)
    assert code == 0, shown
    assert titles(repo) == [(opens, "")]


# Each is an editor that leaves the file without a text of its own.
LEFT = {
    "at once": script("pass"),
    "after looking at it": script("path.read_text()"),
    "emptied": script("path.write_text('')"),
    "nothing but space": script(r"path.write_text(' \n\t\n')"),
    "removed": script("path.unlink()"),
    "saved as it was, without a title": script("path.write_text(path.read_text())"),
}
EMPTY_SAVES = ("emptied", "nothing but space", "removed")


@pytest.mark.usefixtures("scratch")
@pytest.mark.parametrize("name", LEFT)
def test_an_editor_that_is_left_writes_nothing(repo: Repo, name: str) -> None:
    repo.ok("init")
    code, shown = at_terminal(repo, "say", "auth", env=LEFT[name])
    assert code == 130
    assert "wc: Nothing was written." in shown
    assert titles(repo) == []


@pytest.mark.usefixtures("scratch")
@pytest.mark.parametrize("name", ["at once", *EMPTY_SAVES])
def test_it_writes_nothing_with_a_title_either(repo: Repo, name: str) -> None:
    repo.ok("init")
    words = ("say", "auth", "--title", "Given", "--edit")
    assert at_terminal(repo, *words, env=LEFT[name])[0] == 130
    assert titles(repo) == []


@pytest.mark.usefixtures("scratch")
def test_saving_the_title_as_it_was_given_is_enough(repo: Repo) -> None:
    env = LEFT["saved as it was, without a title"]
    assert at_terminal(repo, "say", "auth", "-e", "-t", "Given", env=env)[0] == 0
    assert titles(repo) == [("Given", "")]


def test_what_is_saved_is_not_kept_because_the_ball_stays(
    repo: Repo, scratch: Path
) -> None:
    repo.ok("new", "auth", "-m", "x", "--to", "Claude Code", "--force")
    env = {"EDITOR": script("path.write_text('Typed')")["EDITOR"]}
    words = ("say", "auth", "--to", "Codex", "--force")
    code, shown = at_terminal(repo, *words, env=env)
    assert code == 9
    assert "The entry is saved, but the ball stays with Claude Code" in shown
    assert "is kept in" not in shown
    assert [*scratch.iterdir()] == []
    assert [title for title, _ in titles(repo)] == ["x", "Typed"]


def test_cancelled_as_json(repo: Repo) -> None:
    repo.ok("init")
    code, shown = at_terminal(repo, "say", "auth", "--json", env=LEFT["at once"])
    assert code == 130
    assert '"code":"CANCELLED","message":"Nothing was written."' in shown


@pytest.mark.usefixtures("scratch")
def test_an_editor_that_fails_writes_nothing(repo: Repo) -> None:
    repo.ok("init")
    env = {"EDITOR": "sh -c 'exit 3' #"}
    code, shown = at_terminal(repo, "say", "auth", "-e", "-t", "x", env=env)
    assert code == 2
    assert "ended with 3" in shown
    assert "with -m" in shown
    missing = {"EDITOR": "no-such-editor"}
    code, shown = at_terminal(repo, "say", "auth", "-e", "-t", "x", env=missing)
    assert code == 2
    assert "The editor 'no-such-editor' was not found; nothing was written." in shown
    assert titles(repo) == []


@pytest.mark.usefixtures("scratch")
def test_what_is_not_utf_8_is_not_written(repo: Repo) -> None:
    repo.ok("init")
    env = script("path.write_bytes(bytes((65, 255)))")
    code, shown = at_terminal(repo, "say", "auth", env=env)
    assert (code, "not UTF-8 (at byte 1)" in shown) == (2, True), shown


def test_a_text_that_is_refused_is_kept(repo: Repo, editor: dict[str, str]) -> None:
    repo.ok("new", "auth", "--title", "x")
    typed = {"TYPED": f"Written by hand{'!' * 500}\\n\\nAll of it.\\n"}
    code, shown = at_terminal(repo, "say", "auth", env=editor | typed)
    assert code == 2, shown
    _, _, path = shown.partition("note: what you wrote is kept in ")
    path = path.split("\r\n", maxsplit=1)[0]
    with open(path, encoding="utf-8") as file:
        assert file.read().startswith(f"Written by hand{'!' * 500}\n\nAll of it.\n")
    shutil.rmtree(os.path.dirname(path))


def test_new_is_refused_before_anyone_writes(
    repo: Repo, editor: dict[str, str]
) -> None:
    repo.ok("new", "auth", "--title", "x")
    code, shown = at_terminal(repo, "new", "auth", env=editor)
    assert (code, "There is already a thread auth" in shown) == (4, True)
    assert not (repo.machine.root / "seen").exists()


def test_what_no_text_could_change_is_refused_before_anyone_writes(
    repo: Repo, editor: dict[str, str]
) -> None:
    repo.ok("new", "auth", "--title", "T", "--as", "Codex")
    repo.ok("new", "over", "--title", "T", "--status", "CLOSED")
    repo.ok("config", "set", "ball.enforce", "refuse")
    for words, said in (
        (("say", "auth"), "only the holder may"),
        (("say", "auth", "--to", "Codx"), "Codx"),
        (("done", "auth"), "only the holder may"),
        (("say", "over"), "over is closed"),
        (("say", "aut"), "there is"),
    ):
        code, shown = at_terminal(repo, *words, env=editor)
        assert code != 0
        assert said in shown, shown
        assert not (repo.machine.root / "seen").exists()


@pytest.mark.parametrize(
    "env",
    [{"WATERCOOLER_AGENT": "Codex"}, {"CLAUDECODE": "1"}, {"TERM": "dumb"}],
)
def test_agents_and_dumb_terminals_get_no_editor(
    repo: Repo, env: dict[str, str]
) -> None:
    env = {"EDITOR": "false", **env}
    assert at_terminal(repo, "say", "auth", "--title", "x", env=env)[0] == 0
    code, output = at_terminal(repo, "say", "auth", env=env)
    assert (code, "No title was given." in output) == (2, True)


def test_an_agent_opens_no_editor_under_a_person_s_name(repo: Repo) -> None:
    env = {"EDITOR": "false", "CLAUDECODE": "1"}
    words = ("say", "auth", "-e", "--as", "Pat")
    code, output = at_terminal(repo, *words, env=env)
    assert (code, "There is no editor here" in output) == (2, True)


def test_no_edit_opens_no_editor(repo: Repo) -> None:
    env = {"EDITOR": "false"}
    words = ["say", "auth", "--title", "x", "--no-edit"]
    assert at_terminal(repo, *words, env=env)[0] == 0
    code, shown = at_terminal(repo, "new", "b", "--no-edit", env=env)
    assert (code, "No title was given." in shown) == (2, True)


@pytest.mark.parametrize(
    "given", [["--title", "x"], ["-t", "x", "-b", "here"], ["-m", "x"]]
)
def test_a_text_on_the_command_line_needs_no_editor(
    repo: Repo, given: list[str]
) -> None:
    env = {"EDITOR": "false"}
    assert at_terminal(repo, "say", "auth", *given, env=env)[0] == 0
    repo.ok("say", "auth", "--title", "no terminal", env=env)


def test_no_editor_and_no_title(repo: Repo) -> None:
    assert "No title was given." in repo.fails(2, "say", "auth")
    assert "-m" in repo.fails(2, "new", "auth", "--body", "x")
    assert "no editor here" in repo.fails(2, "say", "auth", "-e", "-m", "x")


def test_the_editor_starts_with_what_was_given(
    repo: Repo, editor: dict[str, str]
) -> None:
    words = ("say", "auth", "-e", "-m", "Title", "-m", "Text")
    assert at_terminal(repo, *words, env={**editor, "TYPED": ""})[0] == 0
    assert titles(repo) == [("Title", "Text")]


@pytest.mark.usefixtures("scratch")
def test_an_interrupted_editor(repo: Repo) -> None:
    repo.ok("init")
    env = script("import signal; os.kill(os.getppid(), signal.SIGINT)")
    code, shown = at_terminal(repo, "say", "auth", "-e", "-t", "x", env=env)
    assert (code, "Nothing was written." in shown) == (130, True)
    assert "Traceback" not in shown
    assert titles(repo) == []


@pytest.mark.usefixtures("scratch")
def test_interrupts_are_keys_of_the_editor(repo: Repo) -> None:
    """Otherwise ^C in an editor would end wc under it."""
    env = script(
        "import signal, time; signal.signal(signal.SIGINT, lambda *_: None); "
        "print('ready', flush=True); time.sleep(0.5); path.write_text('After it')"
    )
    terminal = Terminal(repo, "say", "auth", env=env)
    terminal.wait_for(b"ready")
    terminal.type(b"\x03")
    assert terminal.end()[0] == 0
    assert titles(repo) == [("After it", "")]


def test_closing_the_terminal_writes_nothing(repo: Repo) -> None:
    repo.ok("init")
    terminal = Terminal(
        repo,
        "say",
        "auth",
        env=script("import time; print('ready', flush=True); time.sleep(60)"),
    )
    terminal.wait_for(b"ready")
    assert terminal.hang_up() in {-signal.SIGHUP, 128 + signal.SIGHUP, 130}
    assert titles(repo) == []


vim = pytest.mark.skipif(shutil.which("vim") is None, reason="vim is not installed")
nano = pytest.mark.skipif(shutil.which("nano") is None, reason="nano is not installed")
VIM = {"EDITOR": "vim -u NONE -i NONE -n", "TERM": "xterm"}
NANO = {"EDITOR": "nano --ignorercfiles", "TERM": "xterm"}


@pytest.mark.parametrize(
    ("editor_env", "keys", "status", "written"),
    [
        pytest.param(VIM, b":q!\r", 130, [], marks=vim),
        pytest.param(VIM, b"iHello\x1b:q!\r", 130, [], marks=vim),
        pytest.param(VIM, b":%d\r:wq\r", 130, [], marks=vim),
        pytest.param(VIM, b":wq\r", 130, [], marks=vim),
        pytest.param(VIM, b":cq\r", 2, [], marks=vim),
        pytest.param(
            VIM, b"iHello\r\rBody\x1b:wq\r", 0, [("Hello", "Body")], marks=vim
        ),
        pytest.param(NANO, b"\x18", 130, [], marks=nano),
        pytest.param(NANO, b"Hello\x18n", 130, [], marks=nano),
        pytest.param(NANO, b"Hello\x18y\r", 0, [("Hello", "")], marks=nano),
    ],
)
def test_real_editors(
    repo: Repo,
    editor_env: dict[str, str],
    keys: bytes,
    status: int,
    written: list[tuple[str, str]],
) -> None:
    repo.ok("init")
    terminal = Terminal(repo, "say", "auth", env=editor_env)
    terminal.wait_for(b">8")
    terminal.type(keys)
    code, shown = terminal.end()
    assert code == status, shown
    assert titles(repo) == written


def test_colours_are_for_terminals(repo: Repo) -> None:
    repo.ok("say", "auth", "--title", "x", "--to", "me")
    assert "\x1b[" in at_terminal(repo, "list", env={})[1]
    assert "\x1b[" not in at_terminal(repo, "list", env={"NO_COLOR": "1"})[1]
    assert "\x1b[" not in repo.ok("list").out
