"""One repository, used from two homes: a host and a container, or two users of a
machine. Each has a checkout of the threads of its own, and sees what the other has
committed."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

import pytest

from tests.conftest import Machine, Repo

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import Done

pytestmark = pytest.mark.usefixtures("unmeasured")

ISOLATED = ("unshare", "--map-root-user", "--mount")


def can_isolate() -> bool:
    done = subprocess.run([*ISOLATED, "true"], capture_output=True, check=False)
    return done.returncode == 0


needs_isolation = pytest.mark.skipif(
    not can_isolate(), reason="no namespaces of users and mounts here"
)


class Container:
    """A machine that sees the host's repository, but not the host's home. ``at`` is
    where the repository is mounted, ``home`` the path of its home there."""

    def __init__(self, host: Repo, root: Path, at: Path, home: Path) -> None:
        self.host = host
        self.at = at
        self.home = home
        self.own_home = root / "container-home"
        self.own_home.mkdir(exist_ok=True)
        (self.own_home / ".gitconfig").write_text(
            "[user]\n\tname = Kim\n\temail = kim@example.org\n"
            "[safe]\n\tdirectory = *\n[gc]\n\tauto = 0\n"
        )

    def run(self, *words: str) -> Done:
        host_home, repo = self.host.machine.home, self.host.path
        self.at.mkdir(exist_ok=True)
        self.home.mkdir(exist_ok=True)
        mounts = [
            f"mount --bind '{repo}' '{self.at}'" if self.at != repo else ":",
            # The host's home is empty here, unless this home has the same path.
            f"mount -t tmpfs none '{host_home}'"
            if self.home != host_home
            else f"mount --bind '{self.own_home}' '{host_home}'",
            f"mount --bind '{self.own_home}' '{self.home}'"
            if self.home != host_home
            else ":",
            f"cd '{self.at}'",
            'exec "$@"',
        ]
        env = {"HOME": str(self.home), "WATERCOOLER_SYNC": "inline"}
        isolated = [*ISOLATED, "sh", "-ec", "; ".join(mounts), "sh", *words]
        return self.host.machine.run(isolated, repo, env=env)

    def wc(self, *words: str) -> Done:
        return self.run(*Machine.wc_words, *words)

    def ok(self, *words: str) -> str:
        done = self.wc(*words)
        assert not done.code, done
        return done.out


PLACES = {
    "another path, another home": ("mounted", "container"),
    "the same path, another home": ("", "container"),
    "another path, the same home": ("mounted", ""),
    "the same path, the same home": ("", ""),
}


@pytest.fixture
def host(machine: Machine) -> Repo:
    machine.env["WATERCOOLER_SYNC"] = "inline"
    repo = machine.repo()
    repo.settled("new", "login", "-m", "Use a passkey", "--to", "Codex")
    return repo


def container(host: Repo, tmp_path: Path, at: str, home: str) -> Container:
    return Container(
        host,
        tmp_path,
        tmp_path / at if at else host.path,
        tmp_path / home if home else host.machine.home,
    )


@needs_isolation
@pytest.mark.parametrize(("at", "home"), PLACES.values(), ids=PLACES)
def test_both_homes_live(host: Repo, tmp_path: Path, at: str, home: str) -> None:
    inside = container(host, tmp_path, at, home)
    first = inside.wc("brief", "--as", "Codex")
    assert "Use a passkey" in first.out, first
    # A home at the same path is taken for the same one, with an empty folder.
    assert "also checked out at" in first.err or not home
    inside.ok("say", "login", "-m", "From inside", "--as", "Codex")
    assert "From inside" in host.ok("read", "login", "--peek").out
    host.settled("say", "login", "-m", "From outside")
    assert "From outside" in inside.ok("read", "login", "--peek")
    # Written at once, without having read: still one line of history.
    host.settled("say", "login", "-m", "Again outside")
    inside.ok("say", "login", "-m", "Again inside", "--as", "Codex")
    read = host.ok("read", "login", "--peek").out
    assert read.index("Again outside") < read.index("Again inside")
    # Git has one record of two folders at the same path, so that is not noticed.
    assert "⑂" not in host.ok("list").out or not (at or home)
    host.ok("doctor")
    doctor = inside.wc("doctor")
    assert doctor.code == 0, doctor
    assert "also checked out at" in doctor.out + doctor.err or not home


@needs_isolation
@pytest.mark.parametrize("words", [("prune",), ("repair",)], ids=lambda words: words[0])
def test_git_keeps_both(host: Repo, tmp_path: Path, words: tuple[str, ...]) -> None:
    """Neither prune nor repair, in either, takes anything away."""
    inside = container(host, tmp_path, "mounted", "container")
    inside.ok("say", "login", "-m", "From inside", "--as", "Codex")
    inside.run("git", "worktree", *words)
    host.machine.run(["git", "worktree", *words], host.path)
    host.settled("say", "login", "-m", "From outside")
    assert "From outside" in inside.ok("read", "login", "--peek")
    inside.ok("say", "login", "-m", "Still here", "--as", "Codex")
    assert "Still here" in host.ok("read", "login", "--peek").out


@needs_isolation
def test_a_mount_point_that_moved_is_named(host: Repo, tmp_path: Path) -> None:
    """The checkout inside still points to the old place; the error says what to do, and
    then everything is there."""
    inside = container(host, tmp_path, "mounted", "container")
    inside.ok("say", "login", "-m", "From inside", "--as", "Codex")
    (tmp_path / "mounted").rmdir()
    moved = container(host, tmp_path, "moved", "container")
    done = moved.wc("list")
    assert done.code == 6
    assert "git" in done.err
    assert "worktree repair" in done.err
    command = done.err.partition("tell git: ")[2].strip().splitlines()[0]
    assert moved.run("sh", "-c", command).code == 0, command
    assert "From inside" in moved.ok("read", "login", "--peek")
    assert "From inside" in host.ok("read", "login", "--peek").out


def test_a_hook_makes_a_checkout_of_its_own(host: Repo, tmp_path: Path) -> None:
    """An agent may not run ``wc init``."""
    inside = Machine(tmp_path / "other", user="Kim")
    inside.env["WATERCOOLER_SYNC"] = "inline"
    host.machine.home.rename(tmp_path / "away")
    repo = Repo(inside, host.path)
    feed = b'{"session_id": "1", "hook_event_name": "SessionStart"}'
    words = ("brief", "--hook", "session-start", "--client", "codex")
    said = repo.ok(*words, feed=feed, env={"CODEX_THREAD_ID": "1"})
    assert "Use a passkey" in said.out
    (tmp_path / "away").rename(host.machine.home)
    assert "Use a passkey" in host.ok("read", "login").out


def test_what_is_not_committed_is_not_lost(host: Repo, tmp_path: Path) -> None:
    """It is only in the home in which it was written, until that commits it."""
    host.ok("say", "login", "-m", "Not yet", env={"WATERCOOLER_SYNC": "off"})
    inside = Machine(tmp_path / "other", user="Kim")
    inside.env["WATERCOOLER_SYNC"] = "inline"
    host.machine.home.rename(tmp_path / "away")
    repo = Repo(inside, host.path)
    said = repo.settled("say", "login", "-m", "Mine", "--as", "Codex")
    assert "is here once it is committed" in said.err
    (tmp_path / "away").rename(host.machine.home)
    host.settled("ack", "login", "-m", "Seen")
    titles = {entry["title"] for entry in host.entries("login")}
    assert titles == {"Use a passkey", "Not yet", "Mine", "Seen"}
    host.machine.home.rename(tmp_path / "away")
    assert "Not yet" in repo.ok("read", "login", "--peek").out


def test_a_folder_that_was_removed_is_still_an_error(host: Repo) -> None:
    """In its own home, it may have had entries that were not committed."""
    os.rename(host.store, f"{host.store}.gone")
    assert "is missing" in host.fails(6, "list")
