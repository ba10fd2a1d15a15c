"""What ``wc install`` writes for shells and tmux, in these very programs."""

from __future__ import annotations

import os
import re
import select
import shutil
import subprocess
import sys
import time
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from wc_cli.agents.install import changes
from wc_cli.agents.install.changes import Block, InstallSite, OwnFile, Set
from wc_cli.agents.install.clients import shells

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.conftest import Repo

ROOT = Path(__file__).resolve().parents[3]
PAGE = ROOT / "docs" / "seeing.md"
LINE = "Codex has the ball · login"
SECONDS = 20.0


@pytest.fixture
def waiting(repo: Repo) -> Repo:
    """A repository where Codex has the ball, and our script is on PATH."""
    folder = repo.machine.root / "bin"
    folder.mkdir()
    (folder / "wc-statusline").symlink_to(ROOT / "bin/wc-statusline")
    repo.machine.env["PATH"] = f"{folder}:/usr/bin:/bin"
    repo.ok("new", "login", "--title", "x", "--to", "Codex")
    return repo


def _write(repo: Repo, name: str, text: str) -> Path:
    path = repo.machine.home / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


# A terminal of its own, as shells that mind their jobs want it.
_TERMINAL = "import pty, sys; pty.spawn(sys.argv[1:])"


def _typed(repo: Repo, command: Sequence[str], lines: str, until: str = "") -> str:
    """What a program at a terminal shows while ``lines`` are typed, until it ends or
    has shown what is waited for."""
    if shutil.which(command[0]) is None:
        pytest.skip(f"{command[0]} IS NOT INSTALLED: its snippet is untested")
    env = {**repo.machine.env, "TERM": "xterm", "LANG": "C.UTF-8"}
    with subprocess.Popen(
        [sys.executable, "-I", "-c", _TERMINAL, *command],
        cwd=repo.path,
        env=env,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(lines.encode())
        process.stdin.flush()
        shown, end = b"", time.monotonic() + SECONDS
        while time.monotonic() < end and not (until and until.encode() in shown):
            if select.select([process.stdout], [], [], 0.2)[0]:
                got = os.read(process.stdout.fileno(), 65536)
                shown += got
                if not got:
                    break
        process.kill()
    return shown.decode(errors="replace")


BASH = ["bash", "--noprofile", "-i"]
ASKED = "false\necho was=$?\nexit\n"


@pytest.mark.parametrize(
    ("theirs", "also"),
    [
        ("", ""),
        ("PROMPT_COMMAND='echo theirs; '\n", "theirs"),
        ("PROMPT_COMMAND=(true 'echo theirs')\n", "theirs"),
        ("set -u\nunset PROMPT_COMMAND\n", ""),
        ("mine() { echo code=$?; }\nPROMPT_COMMAND=mine\n", "code=1"),
    ],
)
def test_bash(waiting: Repo, theirs: str, also: str) -> None:
    rc = _write(waiting, ".bashrc", f"PS1='> '\n{theirs}")
    before = rc.read_text()
    waiting.ok("install", "bash", "--yes")
    shown = _typed(waiting, BASH, f". ~/.bashrc\n{ASKED}")
    assert shown.count(LINE) == 4
    assert "was=1" in shown
    assert also in shown
    assert "command not found" not in shown
    os.unlink(waiting.machine.root / "bin/wc-statusline")
    assert "not found" not in _typed(waiting, BASH, "exit\n")
    waiting.ok("uninstall", "bash", "--yes")
    assert rc.read_text() == before


@pytest.mark.parametrize(
    ("shell", "file", "command"),
    [
        ("bash", ".bashrc", ["bash", "--noprofile", "-i"]),
        ("zsh", ".zshrc", ["zsh", "-d", "-i"]),
        ("fish", ".config/fish/config.fish", ["fish", "-i"]),
    ],
)
def test_path_may_be_set_after_the_snippet_was_read(
    waiting: Repo, shell: str, file: str, command: list[str]
) -> None:
    _write(waiting, file, "")
    waiting.ok("install", shell, "--yes")
    folder = waiting.machine.root / "bin"
    waiting.machine.env["PATH"] = "/usr/bin:/bin"
    word = "set -gx PATH" if shell == "fish" else "export PATH"
    path = f"{folder} $PATH" if shell == "fish" else f"{folder}:$PATH"
    setting = f"{word} {path}" if shell == "fish" else f"{word}={path}"
    shown = _typed(waiting, command, f"echo begin\n{setting}\necho end\nexit\n")
    before, _, after = shown.partition(str(folder))
    assert LINE not in before
    assert LINE in after


def test_zsh(waiting: Repo) -> None:
    rc = _write(
        waiting,
        ".zshrc",
        "PS1='> '\nhello() { echo hello }\nprecmd_functions+=(hello)\n",
    )
    before = rc.read_text()
    waiting.ok("install", "zsh", "--yes")
    command = ["zsh", "-d", "-i", "+o", "prompt_sp"]
    shown = _typed(waiting, command, f". ~/.zshrc\n{ASKED}")
    assert shown.count(LINE) == 4
    assert "was=1" in shown
    assert "hello" in shown
    waiting.ok("uninstall", "zsh", "--yes")
    assert rc.read_text() == before


def test_fish(waiting: Repo) -> None:
    _write(waiting, ".config/fish/config.fish", "set -g fish_greeting\n")
    waiting.ok("install", "fish", "--yes")
    own = waiting.machine.home / ".config/fish/conf.d/watercooler.fish"
    assert own.exists()
    shown = _typed(waiting, ["fish", "-i"], "false\necho was=$status\nexit\n")
    assert shown.count(LINE) >= 3
    assert "was=1" in shown
    waiting.ok("uninstall", "fish", "--yes")
    assert not own.parent.exists()


def test_tmux(waiting: Repo) -> None:
    """What is in a name is not obeyed, nor what is in a folder's."""
    if shutil.which("tmux") is None:
        pytest.skip("tmux IS NOT INSTALLED: its snippet is untested")
    rc = _write(
        waiting,
        ".tmux.conf",
        'set -g status-interval 1\nset -g status-right "%H theirs"\n',
    )
    waiting.ok(
        "handoff", "login", "--to", "C #{pid}#(touch pwned)", "--as", "Codex", "--force"
    )
    odd = waiting.path / "a'b\"c;$(touch pwned) #{pid}"
    odd.mkdir()
    waiting.ok("install", "tmux", "--yes")
    env = {**waiting.machine.env, "TERM": "xterm", "LANG": "C.UTF-8"}

    tmux = ["tmux", "-S", str(waiting.machine.root / "socket"), "-f", str(rc)]
    start = [*tmux, "new-session", "-c", str(odd), "exec sleep 60"]
    shown = _typed(waiting, ["env", *start], "", until="login")
    length = [*tmux, "show", "-gv", "status-right-length"]
    said = subprocess.run(length, env=env, capture_output=True, check=True).stdout
    assert int(said) == 100
    rc.write_text(rc.read_text().replace('set -g status-right "%H theirs"\n', ""))
    for _ in range(2):
        subprocess.run([*tmux, "source-file", str(rc)], env=env, check=True)
    segments = [*tmux, "show", "-gv", "status-right"]
    said = subprocess.run(segments, env=env, capture_output=True, check=True).stdout
    assert said.count(b"wc-statusline") == 1
    subprocess.run([*tmux, "kill-server"], env=env, check=True)
    assert re.search(r"\d\d theirs ", shown)
    assert "C {pid} (touch pwned) has the ball - login" in shown
    assert not [*waiting.machine.root.rglob("pwned")]


@pytest.mark.parametrize(
    ("shell", "file"),
    [
        (["bash", "-i"], ".bashrc"),
        (["zsh", "-i"], ".zshrc"),
        (["fish", "-i"], ".config/fish/config.fish"),
    ],
)
def test_completion(waiting: Repo, shell: list[str], file: str) -> None:
    """A shell with nothing but what is installed completes a command, its topic, and
    the server's options; without it, nothing is left."""
    folder = waiting.machine.root / "bin"
    for name in ("wc", "wc-cli", "wc-observe"):
        program = folder / name
        program.write_text(f'#!/bin/sh\nexec {sys.executable} -m wc_cli "$@"\n')
        program.chmod(0o755)
    waiting.ok("new", "passkey", "--title", "x", "--branch", "other")
    startup = _write(waiting, file, "# mine\n")
    waiting.ok("install", shell[0], "--yes")
    waiting.ok("install", shell[0], "--check")
    for typed, shown in (
        ("wc set-st\t", "set-status"),
        ("wc read passk\t", "passkey"),
        ("wc-observe --all-\t", "--all-stores"),
    ):
        assert shown in _typed(waiting, shell, typed, until=shown)
    waiting.ok("uninstall", shell[0], "--yes")
    assert startup.read_text() == "# mine\n"
    home = waiting.machine.home
    assert not [*home.rglob("completion.*"), *home.rglob("completions/*")]


def test_what_was_installed_by_name_is_checked_without_a_name(repo: Repo) -> None:
    """A shell of which nothing is found, neither a file nor as the login shell."""
    env = {"SHELL": ""}
    repo.ok("install", "fish", "--yes", env=env)
    parts = repo.ok("install", "--check", "--json", env=env).json["parts"]
    states = {part["state"] for part in parts if part["client"] == "fish"}
    assert states == {"installed"}
    prompt = repo.machine.home / ".config/fish/conf.d/watercooler.fish"
    prompt.write_text(prompt.read_text() + "# changed\n")
    assert repo.wc("install", "--check", env=env).code == 9


def test_starship_gets_a_module_and_its_shell_no_line(waiting: Repo) -> None:
    rc = _write(waiting, ".bashrc", 'eval "$(starship init bash)"\n')
    theirs = '# mine\nadd_newline = false # so\nformat = "$directory$character"\n'
    toml = _write(waiting, ".config/starship.toml", theirs)
    said = waiting.ok("install", "starship", "bash", "--yes").out
    assert "Add ${custom.watercooler} to the format" in said
    assert "wc-statusline" not in rc.read_text()
    assert toml.read_text().startswith(theirs)
    module = tomllib.loads(toml.read_text())["custom"]["watercooler"]
    assert module["command"] == "wc-statusline"
    waiting.ok("uninstall", "starship", "--yes")
    assert toml.read_text() == theirs


@pytest.mark.parametrize(
    "format_",
    ['format = "$all"', 'format = "${custom.watercooler}>"', "", "format = 1"],
)
def test_starship_shows_it_by_itself(waiting: Repo, format_: str) -> None:
    _write(waiting, ".config/starship.toml", f"{format_}\n")
    said = waiting.ok("install", "starship", "--yes").out
    assert "Add ${custom" not in said


def test_powerlevel10k_takes_the_place_of_a_line(waiting: Repo) -> None:
    """Run by a zsh that knows as much of powerlevel10k as the segment needs."""
    zshrc = _write(waiting, ".zshrc", "source ~/.p10k.zsh\n")
    _write(
        waiting, ".p10k.zsh", "typeset -g POWERLEVEL9K_RIGHT_PROMPT_ELEMENTS=(time)\n"
    )
    waiting.ok("install", "zsh", "powerlevel10k", "--yes")
    assert "wc-statusline" not in zshrc.read_text()
    waiting.ok(
        "handoff", "login", "--to", "100%n $(touch pwned)", "--force", "--as", "Codex"
    )
    if shutil.which("zsh") is None:
        pytest.skip("zsh IS NOT INSTALLED: the segment is untested")
    script = (
        'p10k() { print -rl -- "$@" }; . ~/.p10k.zsh; . ~/.p10k.zsh; '
        "prompt_watercooler; "
        "print -r -- $POWERLEVEL9K_RIGHT_PROMPT_ELEMENTS"
    )
    done = subprocess.run(
        ["zsh", "-f", "-c", script],
        env=waiting.machine.env,
        cwd=waiting.path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.splitlines() == [
        *("segment", "-f", "3", "-t"),
        "100%%n $ (touch pwned) has the ball · login · 1 new",
        "watercooler time",
    ]


def test_the_page_has_what_is_written() -> None:
    """Every snippet of the page is the one that is installed."""
    here = InstallSite(Path("/h"), {"PATH": ""}, "linux", None, None)
    program = changes.program("wc-statusline", here)
    page = PAGE.read_text(encoding="utf-8")
    for client in shells.CLIENTS:
        for part in client.parts(here):
            if part.name != "prompt":
                continue
            for change in part.changes:
                if isinstance(change, Block):
                    text = "\n".join(change.lines)
                elif isinstance(change, OwnFile):
                    text = change.text.rstrip("\n")
                else:
                    assert isinstance(change, Set)
                    table = tomllib.loads(
                        page.partition("```toml\n")[2].partition("```")[0]
                    )
                    written = {**change.value, "command": "wc-statusline"}
                    assert change.value["command"] == program
                    assert table["custom"]["watercooler"] == written
                    continue
                text = text.replace(program, "wc-statusline")
                assert f"\n{text}\n```" in page, client.name
