"""Whether new login shells find our programs, and which folder PATH should have."""

from __future__ import annotations

import contextlib
import os
import pty
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from wc_cli.agents.install import searchpath
from wc_cli.agents.install.changes import InstallSite
from wc_cli.agents.install.clients import shells
from wc_cli.agents.install.ledger import Owner

if TYPE_CHECKING:
    from tests.conftest import Repo

ROOT = Path(__file__).resolve().parents[3]
PROFILES = {"bash": ".profile", "zsh": ".zprofile"}
FISH = ".config/fish/config.fish"


@pytest.fixture
def tool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home folder with an installation as uv makes it: an environment, and links to
    its programs in ~/.local/bin."""
    home = tmp_path / "home"
    environment = home / ".local/share/uv/tools/wc-watercooler"
    programs, links = environment / "bin", home / ".local/bin"
    pages = environment / "share/man/man1"
    for folder in (programs, links, pages):
        folder.mkdir(parents=True)
    (environment / "pyvenv.cfg").touch()
    (programs / "python3").symlink_to(sys.executable)
    for name in ("wc", "wc-cli", "wc-statusline"):
        shutil.copy(ROOT / "bin/wc", programs / name)
        (links / name).symlink_to(programs / name)
    for page in (ROOT / "docs/man").iterdir():
        shutil.copy(page, pages)
    monkeypatch.setattr(sys, "executable", str(programs / "python3"))
    return home


def _site(home: Path, path: str, shell: str = "") -> InstallSite:
    env = {"HOME": str(home), "PATH": path, "SHELL": shell, "TERM": "xterm"}
    return InstallSite(home, env, "linux", None, None)


def _shell(name: str) -> str:
    path = shutil.which(name)
    if path is None:
        pytest.skip(f"{name} IS NOT INSTALLED: nothing asks it")
    return path


@pytest.mark.parametrize("name", ["bash", "zsh", "fish"])
def test_a_login_shell_is_asked(tool: Path, name: str) -> None:
    shell = _shell(name)
    # What this process has on PATH does not count: a login starts without it.
    site = _site(tool, f"{tool}/.local/bin:/usr/bin:/bin", shell)
    owners = [Owner(name, "prompt", "")]
    (problem,) = searchpath.login_problems(owners, site)
    assert problem.startswith(f"in a new {name} login shell, `wc` counts words and ")
    assert "the prompt does not find wc-statusline" in problem
    remedy = problem.rpartition(": ")[2]
    if name == "fish":
        assert remedy == "run fish_add_path ~/.local/bin"
        profile, line = FISH, "fish_add_path ~/.local/bin"
    else:
        profile, line = PROFILES[name], "export PATH=~/.local/bin:$PATH"
        assert problem.endswith(f"add to ~/{profile}: {line}")
    # What it says helps.
    (tool / profile).parent.mkdir(parents=True, exist_ok=True)
    (tool / profile).write_text(f"{line}\n")
    assert list(searchpath.login_problems(owners, site)) == []


@pytest.mark.parametrize("profile", [".profile", ".bash_profile"])
def test_a_prompt_in_a_file_that_bash_does_not_read(tool: Path, profile: str) -> None:
    (tool / ".bashrc").write_text(f"{shells.HOOK}() {{ wc-statusline; }}\n")
    (tool / profile).write_text('export PATH=~/.local/bin:"$PATH"\n')
    site = _site(tool, "/usr/bin:/bin", _shell("bash"))
    owners = [Owner("bash", "prompt", "")]
    (problem,) = searchpath.login_problems(owners, site)
    begin = (
        "in a new bash login shell, the prompt line is missing, because ~/.bashrc is "
        f"not read: add to ~/{profile}: "
    )
    assert problem.startswith(begin)
    # What it says helps.
    with (tool / profile).open("a") as file:
        file.write(problem.removeprefix(begin) + "\n")
    assert list(searchpath.login_problems(owners, site)) == []


def test_a_home_without_a_profile_gets_one_for_bash_only(tool: Path) -> None:
    (tool / ".bashrc").write_text(f"{shells.HOOK}() {{ wc-statusline; }}\n")
    site = _site(tool, "/usr/bin:/bin", _shell("bash"))
    owners = [Owner("bash", "prompt", "")]
    problems = list(searchpath.login_problems(owners, site))
    assert problems[-1].endswith("add to ~/.bash_profile: . ~/.bashrc")
    assert len(problems) == 2
    # Both are solved by what it says: bash only reads one of its files.
    for problem in problems:
        name, _, line = problem.rpartition("add to ~/")[2].partition(": ")
        with (tool / name).open("a") as file:
            file.write(f"{line}\n")
    assert list(searchpath.login_problems(owners, site)) == []


def test_the_file_is_the_one_that_bash_reads(tool: Path) -> None:
    (tool / ".profile").touch()
    (tool / ".bash_profile").touch()
    site = _site(tool, "/usr/bin:/bin", _shell("bash"))
    (problem,) = searchpath.login_problems([Owner("claude", "server", "")], site)
    assert "add to ~/.bash_profile: " in problem
    assert "wc-statusline" not in problem  # no prompt was installed


def test_nothing_is_asked_where_nothing_was_installed(tool: Path) -> None:
    assert list(searchpath.login_problems([], _site(tool, "", _shell("bash")))) == []


def test_a_shell_that_hangs_is_ended(
    tool: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tool / ".bash_profile").write_text("sleep 60\n")
    monkeypatch.setattr(searchpath, "LOGIN_SECONDS", 0.5)
    site = _site(tool, "/usr/bin:/bin", _shell("bash"))
    (problem,) = searchpath.login_problems([Owner("bash", "prompt", "")], site)
    assert "did not answer" in problem


def test_an_environment_is_never_put_into_path(tool: Path) -> None:
    environment = f"{tool}/.local/share/uv/tools/wc-watercooler/bin"
    for path in ("/usr/bin", f"{environment}:/usr/bin"):
        env = _site(tool, path).env
        assert searchpath.program_folder(env) == f"{tool}/.local/bin"
        assert searchpath.path_remedy(env) == "put ~/.local/bin first in PATH"
    shutil.rmtree(tool / ".local/bin")
    assert searchpath.program_folder(env) == ""
    assert searchpath.path_remedy(env) == (
        f"run mkdir -p ~/.local/bin && ln -s {environment}/wc {environment}/wc-* "
        "~/.local/bin and put ~/.local/bin first in PATH"
    )


def test_the_manual_pages_of_an_environment(tool: Path) -> None:
    site = _site(tool, "/usr/bin")
    assert shells.MAN.is_present(site)
    (part,) = shells.MAN.parts(site)
    folder = tool / ".local/share/man/man1"
    assert [change.path for change in part.changes] == [
        folder / name for name in ("wc-cli.1", "wc-observe.1", "wc-statusline.1")
    ]
    # pipx links them itself.
    folder.mkdir(parents=True)
    for change in part.changes:
        change.path.symlink_to(ROOT / "docs/man" / change.path.name)
    assert not shells.MAN.is_present(site)
    shutil.rmtree(tool / ".local/share/uv/tools/wc-watercooler/share")
    assert not shells.MAN.is_present(site)


def test_a_person_hears_at_once_what_the_next_terminal_lacks(repo: Repo) -> None:
    (repo.machine.home / ".bashrc").touch()
    note = "note: in a new bash login shell, `wc` counts words"
    assert note not in repo.ok("install", "bash").out  # to a pipe: no shell is started
    env = repo.machine.env | {"TERM": "xterm"}
    front, back = pty.openpty()
    words = [*repo.machine.wc_words, "install", "bash"]
    subprocess.run(words, cwd=repo.path, env=env, stdout=back, check=True)
    os.close(back)
    shown = b""
    with contextlib.suppress(OSError):  # the terminal has ended
        while data := os.read(front, 4096):
            shown += data
    os.close(front)
    assert note in shown.decode()


def test_doctor_says_what_a_login_shell_lacks(repo: Repo) -> None:
    (repo.machine.home / ".bashrc").touch()
    assert "login shell" not in repo.wc("doctor").out
    repo.ok("install", "bash", "--yes")
    (repo.machine.home / ".bash_profile").write_text("PATH=/usr/bin:/bin\n")
    assert "note: in a new bash login shell, `wc` counts words" in repo.wc("doctor").out
    checked = repo.wc("install", "bash", "--check").out
    assert "note: in a new bash login shell, `wc` counts words" in checked
    assert checked.count("`wc`") == 1  # not for this shell, too
