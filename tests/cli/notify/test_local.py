"""The targets on the person's own machine: desktop, terminal, tmux; and `wc notify`."""

from __future__ import annotations

import json
import os
import pty
import shutil
import subprocess
import sys
import termios
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.cli.notify.receiver import Receiver
from tests.cli.notify.test_notifying import CODEX, choose, records, write
from wc_cli.bridges.notify import local, terminals, tmux
from wc_cli.bridges.notify.sequences import protocols_of, sequences
from wc_core.base.layout import Layout
from wc_core.ledger.git import repository
from wc_core.ledger.git.private import private_layout

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tests.conftest import Repo


@pytest.fixture
def app(repo: Repo) -> Repo:
    repo.ok("new", "auth", "--title", "Plans <b>", *CODEX)
    return repo


def wait_for(path: Path) -> str:
    """The text of a file, as soon as it has any."""
    end = time.monotonic() + 20
    while time.monotonic() < end:
        if path.exists() and (text := path.read_text()):
            return text
        time.sleep(0.02)
    raise AssertionError(f"{path} was not written")


def test_the_helper_notifies_the_desktop(app: Repo, tmp_path: Path) -> None:
    program = tmp_path / "bin/notify-send"
    program.parent.mkdir()
    program.write_text('#!/bin/sh\nprintf "%s\\n" "$@" >"${0%/*}/told"\n')
    program.chmod(0o755)
    app.machine.env["PATH"] = f"{program.parent}:{app.machine.env['PATH']}"
    choose(app, "desktop")
    write(app, "handoff", "auth", "--to", "Pat", *CODEX)
    assert wait_for(tmp_path / "bin/told").splitlines() == [
        "--app-name=Watercooler",
        "--",
        "Your move: auth",
        "Plans &lt;b&gt; · app",
    ]
    program.write_text("#!/bin/sh\necho 'no bus' >&2\nexit 3\n")
    done = app.wc("notify", "test")
    assert done.code == 9
    assert done.out == "desktop · failed: notify-send exited with 3: no bus\n"


def in_terminal(repo: Repo, words: list[str], env: Mapping[str, str]) -> int:
    """Run a command as the leader of a new terminal and stay there; the terminal."""
    pid, terminal = pty.fork()
    if not pid:
        os.chdir(repo.path)
        code = subprocess.call(words, env={**repo.machine.env, **env})
        os.write(1, b"ended %d" % code)
        time.sleep(30)
        os._exit(0)
    text = b""
    while b"ended" not in text:
        text += os.read(terminal, 1000)
    assert b"ended 0" in text, text
    return terminal


def test_the_terminal_that_the_person_used_last_is_notified(app: Repo) -> None:
    choose(app, "osc", "bell")
    words = [sys.executable, "-c", "from wc_cli.run.main import main; main()"]
    words += ["ack", "auth", "--title", "Seen"]
    terminal = in_terminal(app, words, {"TERM": "xterm-kitty"})
    write(app, "handoff", "auth", "--to", "Pat", *CODEX)
    text = b""
    while b"\a" not in text or b"p=body" not in text:
        text += os.read(terminal, 1000)
    assert b":d=0:o=unfocused:u=1;Your move: auth\033\\" in text
    assert "p=body;Plans <b> · app\033\\".encode() in text
    # The terminal is closed: nobody is told, nobody is blamed.
    os.close(terminal)
    app.settled("say", "auth", "--title", "Back", "--to", "Codex")
    app.settled("say", "auth", "--title", "Again", "--to", "Pat", *CODEX)
    time.sleep(0.5)
    pending = [record.get("pending") for record in records(app).values()]
    assert ["osc", "bell"] in pending
    assert "osc" not in app.wc("problems").out


@pytest.mark.parametrize(
    ("env", "expected"),
    [
        ({}, ("9", "777")),
        ({"TERM": "xterm-kitty"}, ("99",)),
        ({"TERM_PROGRAM": "iTerm.app"}, ("9",)),
        ({"TERM": "foot"}, ("777",)),
        ({"WT_SESSION": "x"}, ("9",)),
    ],
)
def test_a_terminal_gets_the_sequence_that_it_knows(
    env: dict[str, str], expected: tuple[str, ...]
) -> None:
    assert protocols_of(env) == expected
    text = sequences(expected, ("a;b", "c"), tmux=False, urgent=True)
    assert text.count("a,b") == len(expected)


@pytest.fixture
def tmux_env(tmp_path: Path) -> Iterator[dict[str, str]]:
    """A tmux server of its own."""
    program = shutil.which("tmux")
    if program is None:
        pytest.skip("there is no tmux")
    socket = str(tmp_path / "tmux")
    env = {"PATH": os.environ["PATH"], "TERM": "xterm", "TMUX": f"{socket},1,0"}
    env["HOME"] = str(tmp_path)
    yield env
    subprocess.run([program, "-S", socket, "kill-server"], check=False)


def attach(env: dict[str, str], folder: Path) -> int:
    """Attach a terminal that tells tmux when it has the focus; the terminal."""
    socket = env["TMUX"].partition(",")[0]
    plain = {name: value for name, value in env.items() if name != "TMUX"}
    command = ["tmux", "-S", socket, "-f", "/dev/null", "new-session"]
    command += ["-c", str(folder), "sleep 60"]
    pid, terminal = pty.fork()
    if not pid:
        os.execvpe("tmux", command, plain)
    termios.tcsetwinsize(terminal, (24, 400))
    end = time.monotonic() + 20
    while not tmux.clients(env) and time.monotonic() < end:
        time.sleep(0.05)
    option = ["tmux", "-S", socket, "set-option", "-s", "focus-events", "on"]
    subprocess.run(option, env=plain, check=True)
    return terminal


def test_who_looks_at_the_repository_in_tmux_is_known(
    app: Repo, tmux_env: dict[str, str]
) -> None:
    checkout = repository.find(str(app.path))
    assert not tmux.is_looking_at(tmux_env, checkout)
    terminal = attach(tmux_env, app.path)
    for sequence, is_focused in ((b"\033[I", True), (b"\033[O", False)):
        os.write(terminal, sequence)
        end = time.monotonic() + 10
        while time.monotonic() < end:
            if tmux.is_looking_at(tmux_env, checkout) == is_focused:
                break
            time.sleep(0.05)
        else:
            pytest.fail(f"the focus is not {is_focused}")
    os.write(terminal, b"\033[I")
    elsewhere = repository.find(str(app.machine.repo("elsewhere").path))
    assert not tmux.is_looking_at(tmux_env, elsewhere)
    os.close(terminal)


def test_a_message_in_tmux_is_text_and_runs_nothing(
    app: Repo, tmux_env: dict[str, str], tmp_path: Path
) -> None:
    app.machine.env |= tmux_env | {"HOME": app.machine.env["HOME"]}
    choose(app, "tmux")
    done = app.wc("notify", "test")
    assert "tmux · failed: no terminal is attached to tmux" in done.out
    terminal = attach(tmux_env, tmp_path)
    title = f"#(touch {tmp_path}/x) 100% done"
    app.ok("new", "evil", "--title", title, *CODEX)
    write(app, "handoff", "evil", "--to", "Pat", *CODEX)
    text = b""
    while b"Your move: evil" not in text or b"100 done" not in text:
        text += os.read(terminal, 1000)
    assert not (tmp_path / "x").exists()
    os.close(terminal)


def test_what_notify_shows_and_refuses(app: Repo) -> None:
    assert "You have no targets" in app.ok("notify").out
    assert app.json("notify") == {"targets": [], "content": False}
    assert "You have no targets" in app.fails(3, "notify", "test")
    assert "no action 'send'" in app.fails(2, "notify", "send")
    with Receiver() as server:
        url = f"{server.url}/topic-of-pat"
        choose(app, f"ntfy:{url}", "bell")
        assert app.ok("notify").out == (
            f"ntfy:{server.host} · nothing sent from this store yet\n"
            "bell · nothing sent from this store yet\n"
        )
        shown = app.ok("notify", "test", "ntfy").out
        assert shown.startswith(f"ntfy:{server.host} · sent: HTTP 200 OK: ")
        assert server.requests[0].fields["title"] == "A test of wc notify"
        server.answers = [401]
        row = app.wc("notify", "test", f"ntfy:{url}", "--json").json["targets"][0]
        assert (row["ok"], row["result"]) == (False, "HTTP 401 Unauthorized")
        assert "You have no target 'slack'" in app.fails(3, "notify", "test", "slack")
        secret = app.fails(3, "notify", "test", "hooks.example.org/secret")
        assert "You have no target 'hooks.example.org/…'" in secret
        app.ok("notify", "test", "ntfy")
        assert app.ok("notify").out.startswith(f"ntfy:{server.host} · sent just now: ")
        # An address outside of any repository will do.
        outside = app.machine.folder("outside")
        assert "sent" in outside.ok("notify", "test", "ntfy").out


def test_secrets_are_not_shown_and_credentials_go_into_a_header(app: Repo) -> None:
    with Receiver() as server:
        url = server.url.replace("//", "//me:pass%20word@")
        choose(app, f"json:{url}/secret-path")
        assert app.ok("notify", "test").out.startswith(f"json:{server.host} · sent")
        header = server.requests[0].headers["Authorization"]
        assert header == "Basic bWU6cGFzcyB3b3Jk"
        listed = app.ok("config", "--global", "list").out
        assert listed == f'notify.targets = ["json:{server.host}/…"]\n'
        server.answers = [500]
        done = app.wc("notify", "test")
        assert "no: /…" in done.out
        server.answers, server.headers = [302], {"Location": "file:///etc/passwd"}
        done = app.wc("notify", "test", "--json")
        assert done.json["targets"][0]["result"] == "HTTP 302 Found"
        assert "secret" not in done.out + done.err


@pytest.mark.parametrize(
    "target",
    [
        "smoke",
        "ntfy.sh/secret",
        "desktop:x",
        "ntfy:https://ntfy.sh",
        "ntfy:https://ntfy.sh/a b",
        "slack:ftp://example.org/secret",
        "json:file:///secret",
        "json:https://",
        "json:https://host:port/secret",
    ],
)
def test_what_is_no_target_is_refused(app: Repo, target: str) -> None:
    words = ("config", "--global", "set", "notify.targets", target)
    message = app.fails(2, *words)
    assert "secret" not in message
    folder = app.machine.home / ".config/watercooler"
    folder.mkdir(parents=True)
    text = json.dumps([target])
    (folder / "config.toml").write_text(f"[notify]\ntargets = {text}\n")
    done = app.wc("problems")
    assert done.code == 9
    assert "notify: " in done.out
    assert "-> Check it: wc notify test" in done.out
    assert "secret" not in done.out + app.ok("notify").err


def test_only_a_terminal_is_ever_written_to(
    repo: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where other sessions are not shown, as on macOS, a record cannot be compared with
    them. A record in the store may have been pushed."""
    repo.ok("init")
    layout = Layout(str(repo.store))
    file = repo.path / "notes"
    file.write_text("Mine.")
    fields = {"tty": str(file), "leader": 1, "protocols": ["9"], "tmux": False}
    private = private_layout(layout)
    for folder in (layout.terminals, private.terminals):
        Path(folder).mkdir(parents=True, exist_ok=True)
        Path(folder, "x").write_text(json.dumps(fields))

    def hidden(_: int) -> int:
        raise PermissionError

    monkeypatch.setattr(os, "getsid", hidden)
    assert terminals.last_terminal(layout) is None
    assert Path(layout.terminals, "x").exists()


def test_a_text_is_never_an_option(repo: Repo, tmp_path: Path) -> None:
    for name in ("notify-send", "osascript"):
        program = tmp_path / name / name
        program.parent.mkdir()
        program.write_text("#!/bin/sh\n")
        program.chmod(0o755)
        env = repo.machine.env | {"PATH": str(program.parent)}
        command = local.notifier_command(env, "--title", "-e do it")
        after = command.index("--") + 1 if "--" in command else -2
        is_last = len(command[after:]) == 2
        assert is_last
        if name == "osascript":
            assert command[after:] == ["title", "e do it"]
