"""What agents are told whose shell takes `wc` for the system's word count."""

from __future__ import annotations

import json
import shlex
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from wc_cli.agents import launcher

if TYPE_CHECKING:
    from tests.conftest import Repo

ROOT = Path(__file__).resolve().parents[3]
SYSTEM = "/usr/bin:/bin"
# In milliseconds: enough for a login shell on a busy machine.
WHOLE = shlex.quote(launcher.own_program("wc-cli"))


def _folder(repo: Repo, *names: str) -> str:
    """A folder for PATH, with some of our programs."""
    folder = repo.machine.root / "-".join(("bin", *names))
    folder.mkdir()
    for name in names:
        source = ROOT / "bin/wc" if name == "wc" else launcher.own_program(name)
        (folder / name).symlink_to(source)
    return str(folder)


def _start(repo: Repo, path: str, *, client: str, profile: str = "") -> str:
    """What a session is told at its start. The profile of the login shell is
    ``profile``."""
    for name in (".bash_profile", ".zprofile"):
        (repo.machine.home / name).write_text(f"{profile}\n")
    feed = json.dumps({"session_id": "s", "cwd": str(repo.path)}).encode()
    words = ("brief", "--hook", "session-start", "--client", client)
    env = {"PATH": path}
    return repo.ok(*words, feed=feed, env=env).out


@pytest.fixture
def app(repo: Repo) -> Repo:
    repo.ok("new", "auth", "--title", "Passkeys")
    return repo


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        ((), f"In your shell `wc` counts words: run {WHOLE} instead"),
        (("wc-cli",), "In your shell `wc` counts words: run wc-cli instead"),
        (("wc", "wc-cli"), ""),
        (("wc",), ""),
    ],
)
def test_the_path_of_the_hook(app: Repo, names: tuple[str, ...], expected: str) -> None:
    path = f"{_folder(app, *names)}:{SYSTEM}"
    told = _start(app, path, client="claude")
    assert told.startswith("Watercooler: ")
    assert expected in told
    assert bool(expected) == ("In your shell" in told)


def test_a_path_with_no_wc_at_all(app: Repo) -> None:
    told = _start(app, _folder(app), client="claude")
    assert f"In your shell `wc` is not found: run {WHOLE} instead" in told


@pytest.mark.parametrize("shell", ["/bin/bash", "/usr/bin/fish", ""])
def test_codex_runs_a_login_shell(app: Repo, shell: str) -> None:
    app.machine.env["SHELL"] = shell
    ours = f"{_folder(app, 'wc', 'wc-cli')}:{SYSTEM}"
    # The profile replaces PATH, and prints something.
    replaced = f"echo Welcome; PATH={SYSTEM}"
    told = _start(app, ours, client="codex", profile=replaced)
    assert f"`wc` counts words: run {WHOLE} instead" in told
    # It may as well be the other way round.
    told = _start(app, SYSTEM, client="codex", profile=f"PATH={ours}")
    assert "In your shell" not in told
    # Other clients have the PATH of their hooks.
    told = _start(app, ours, client="claude", profile=replaced)
    assert "In your shell" not in told


def test_a_slow_profile_holds_nothing_up_and_is_ended(app: Repo) -> None:
    ours = f"{_folder(app, 'wc', 'wc-cli')}:{SYSTEM}"
    mark = app.machine.root / "mark"
    slow = f"(sleep 2; touch {mark}) & sleep 60"
    told = _start(app, ours, client="codex", profile=slow)
    assert told.startswith("Watercooler: ")
    assert "In your shell" not in told
    time.sleep(2)
    assert not mark.exists()


def test_only_the_start_of_a_session_says_it(app: Repo) -> None:
    _start(app, SYSTEM, client="claude")
    feed = json.dumps({"session_id": "s", "cwd": str(app.path)}).encode()
    for event in ("user-prompt", "stop"):
        words = ("brief", "--hook", event, "--client", "claude")
        told = app.ok(*words, feed=feed, env={"PATH": SYSTEM}).out
        assert "In your shell" not in told
