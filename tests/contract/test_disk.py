"""Disks that are full, read-only, gone, or elsewhere than they seem."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.conftest import THREADS, Machine, Repo
from wc_cli.ledger.settle import settler

if TYPE_CHECKING:
    from collections.abc import Iterator

INLINE = {"WATERCOOLER_SYNC": "inline"}
LONG = ("--body", "x" * 20_000)
SCRIPT = Path(__file__).parents[2] / "bin/wc-statusline"
CHUNK = 4096


class Disk:
    """A small file system of its own, with a home and a repository on it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.repo = Machine(path / "kept").repo()

    def fill(self) -> None:
        """Leave no room, not for a byte."""
        with (self.path / "fill").open("wb", buffering=0) as file:
            try:
                while file.write(b"x" * CHUNK):
                    pass
            except OSError:
                return

    def empty(self) -> None:
        """Make room again."""
        (self.path / "fill").unlink()

    def remount(self, how: str) -> None:
        """Make it ``ro`` or ``rw``."""
        subprocess.run(["mount", "-o", f"remount,{how}", self.path], check=True)


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Disk]:
    path = tmp_path / "disk"
    path.mkdir()
    words = ["mount", "-t", "tmpfs", "-o", "size=2m,mode=777", "none", str(path)]
    try:
        subprocess.run(words, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError) as error:
        pytest.skip(f"NO SMALL DISK: this user may not mount one ({error})")
    try:
        yield Disk(path)
    finally:
        subprocess.run(["umount", "-l", path], check=True)


def titles(repo: Repo, topic: str = "auth") -> list[str]:
    entries = repo.json("read", topic, "--peek")["entries"]
    return [one["title"] for one in entries]


def prompt(repo: Repo) -> str:
    """What the status line says."""
    return repo.machine.run(["sh", str(SCRIPT), "--ascii"], repo.path).out


# --- full ---------------------------------------------------------------------


def test_a_full_disk_refuses_and_leaves_the_log_as_it_was(disk: Disk) -> None:
    repo = disk.repo
    repo.settled("say", "auth", "--title", "first")
    was = repo.log("auth").read_bytes()
    disk.fill()
    said = repo.fails(7, "say", "auth", "--title", "second", *LONG)
    assert "The disk is full: make room" in said
    assert repo.log("auth").read_bytes() == was
    assert titles(repo) == ["first"]
    assert repo.ok("list").out
    # Nor may a first entry of another thread leave anything of it behind.
    repo.fails(7, "say", "other", "--title", "first", *LONG)
    assert [one["topic"] for one in repo.json("list")["threads"]] == ["auth"]
    disk.empty()
    said = repo.settled("say", "auth", "--title", "second", *LONG, "--json").json
    assert (said["committed"], said["notes"]) == (True, [])
    assert titles(repo) == ["first", "second"]


def test_an_entry_that_just_fits_is_saved_and_its_receipt_says_what_is_not(
    disk: Disk,
) -> None:
    repo = disk.repo
    repo.settled("say", "auth", "--title", "first")
    # Removed by each write before the status files: its block would do for them.
    (repo.store / ".local/line/stamp").unlink()
    disk.fill()
    # The last block of the log has room for a short one.
    said = repo.json("say", "auth", "--title", "second", env=INLINE)
    assert (said["saved"], said["committed"]) == (True, False)
    assert any("projections are not up to date" in one for one in said["notes"])
    assert any(one.startswith("settling, at") for one in said["notes"])
    assert titles(repo) == ["first", "second"]
    (finding,) = [
        one
        for one in repo.wc("doctor", "--json").json["findings"]
        if one["file"] == "settling"
    ]
    assert "1 thread to be settled" in finding["message"]
    disk.empty()
    said = repo.settled("ack", "auth", "--json").json
    assert (said["committed"], said["notes"]) == (True, [])
    assert repo.ok("doctor").out.endswith("Nothing is wrong.\n")


def test_a_file_that_may_not_grow_is_a_full_disk(repo: Repo) -> None:
    repo.settled("say", "auth", "--title", "first")
    was = repo.log("auth").read_bytes()
    words = ("say", "auth", "--title", "second", *LONG)
    script = 'unset "${!COV@}"; ulimit -f 4; exec "$@"'
    limited = ["bash", "-c", script, "bash", *repo.machine.wc_words, *words]
    done = repo.machine.run(limited, repo.path)
    assert (done.code, done.out) == (7, ""), done
    assert "File too large" in done.err
    assert repo.log("auth").read_bytes() == was
    repo.ok(*words)
    assert titles(repo) == ["first", "second"]


# --- read-only ----------------------------------------------------------------


def test_a_read_only_disk_can_be_read(disk: Disk) -> None:
    repo = disk.repo
    repo.settled("say", "auth", "--title", "first", "--to", "anyone")
    was = prompt(repo)
    assert "auth" in was
    disk.remount("ro")
    said = repo.fails(7, "say", "auth", "--title", "second")
    assert "read-only" in said
    assert titles(repo) == ["first"]
    assert "auth" in repo.ok("list").out
    assert "first" in repo.ok("read", "auth").out
    assert prompt(repo) == was
    repo.fails(7, "say", "new", "--title", "second")
    disk.remount("rw")
    repo.ok("say", "auth", "--title", "second")
    assert titles(repo) == ["first", "second"]


# --- gone ---------------------------------------------------------------------


def test_a_store_that_vanished_is_not_silently_recreated(repo: Repo) -> None:
    repo.settled("say", "auth", "--title", "first")
    store = repo.store
    shutil.rmtree(store)
    for words in (["say", "auth", "--title", "second"], ["list"], ["read", "auth"]):
        said = repo.fails(6, *words)
        assert "is missing; its threads are safe on the branch" in said
        assert "wc init" in said
    assert not store.exists()
    repo.ok("init")
    assert titles(repo) == ["first"]
    repo.settled("say", "auth", "--title", "second")
    assert repo.git("log", "--format=%s", THREADS).count("(auth)") == 2


def test_a_helper_makes_nothing_in_the_place_of_a_store_that_vanished(
    repo: Repo,
) -> None:
    repo.ok("say", "auth", "--title", "first")
    store = repo.store
    shutil.rmtree(store)
    assert settler.settle(str(store), repo.machine.env)
    assert not store.exists()


def test_a_named_store_that_does_not_exist_is_made_by_the_first_write(
    repo: Repo,
) -> None:
    root = repo.machine.root / "elsewhere/store"
    env = {"WATERCOOLER_DIR": str(root)}
    assert repo.json("list", env=env)["threads"] == []
    repo.fails(3, "read", "auth", env=env)
    assert not root.exists()
    repo.ok("say", "auth", "--title", "first", env=env)
    assert (root / "graph/baseline/threads/auth/entries.jsonl").is_file()


# --- elsewhere ----------------------------------------------------------------


def test_a_home_a_repository_and_a_store_behind_links(tmp_path: Path) -> None:
    """Whatever way leads there, it is one store."""
    machine = Machine(tmp_path / "real")
    repo = machine.repo()
    links = {name: tmp_path / name for name in ("home", "app", "store")}
    links["home"].symlink_to(machine.home)
    links["app"].symlink_to(repo.path)
    home = {"HOME": str(links["home"])}
    repo.settled("say", "auth", "--title", "plain")
    links["store"].symlink_to(repo.store)
    linked = Repo(machine, links["app"])
    linked.settled("say", "auth", "--title", "by a linked repository")
    repo.settled("say", "auth", "--title", "by a linked home", env=home)
    named = {"WATERCOOLER_DIR": str(links["store"])}
    repo.settled("say", "auth", "--title", "by a linked store", env=named)
    both = {**home, **named}
    said = linked.settled("say", "auth", "--title", "all", "--json", env=both).json
    assert (said["idx"], said["committed"], said["notes"]) == (4, True, [])
    for env in ({}, home, named, both):
        assert len(linked.json("read", "auth", "--peek", env=env)["entries"]) == 5
    stores = list((machine.home / ".watercooler/worktrees").iterdir())
    assert [one for one in stores if one.is_dir()] == [repo.store]
    assert machine.git("status", "--porcelain", cwd=repo.store) == ""
