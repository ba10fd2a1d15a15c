"""What becomes of a store when the repository or its folder is deleted, cloned again,
made again, moved, copied, replaced by a link, or restored from a backup.

In each case: a repository never shows the threads of another one, what the error or
the remark says leads to a store that works, and no entry is lost.
"""

from __future__ import annotations

import os
import shlex
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.conftest import THREADS, Machine, Repo

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

ASIDE = ".orphaned-"


class Fate:
    """A remote whose threads a repository has, and one entry that was not pushed."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.hub = machine.root / "hub.git"
        machine.git("init", "-q", "--bare", "-b", "main", str(self.hub), cwd="/")
        self.repo = self.clone("app", commit=True)
        self.repo.settled("new", "auth", "--title", "pushed")
        self.repo.settled("init", "--push")
        self.repo.settled("sync")
        self.repo.ok("say", "auth", "--title", "kept here")
        self.repo.ok("new", "local", "--title", "kept here, too")
        self.store = self.repo.store

    def clone(self, name: str, *, commit: bool = False) -> Repo:
        path = self.machine.root / name
        self.machine.git("clone", "-q", str(self.hub), str(path), cwd="/")
        repo = Repo(self.machine, path)
        if commit:
            repo.git("commit", "-q", "--allow-empty", "-m", "code")
            repo.git("push", "-q", "origin", "HEAD")
        return repo

    def delete(self) -> None:
        shutil.rmtree(self.repo.path)


@pytest.fixture
def fate(machine: Machine) -> Fate:
    return Fate(machine)


def titles(repo: Repo) -> dict[str, list[str]]:
    """The titles in each thread, as reading shows them."""
    threads = repo.json("list")["threads"]
    return {
        thread["topic"]: [
            entry["title"]
            for entry in repo.json("read", thread["topic"], "--peek")["entries"]
        ]
        for thread in threads
    }


PUSHED = {"auth": ["pushed"]}
ALL = {"auth": ["pushed", "kept here"], "local": ["kept here, too"]}


def obey(repo: Repo, said: str) -> None:
    """Run the command at the end of an error, which stands behind its last colon."""
    for words in said.rstrip("\n").rpartition(": ")[2].split(" && "):
        if words.startswith("wc "):
            repo.ok(*shlex.split(words)[1:])
        else:
            done = repo.machine.run(["sh", "-c", words], repo.path)
            assert not done.code, (words, done)


def deleted_and_cloned(fate: Fate) -> Repo:
    fate.delete()
    return fate.clone("app")


def deleted_and_cloned_packed(fate: Fate) -> Repo:
    repo = deleted_and_cloned(fate)
    repo.git("pack-refs", "--all", "--prune")
    return repo


def deleted_and_moved_here(fate: Fate) -> Repo:
    """A clone that was made elsewhere takes the place of the repository."""
    other = fate.clone("other")
    fate.delete()
    return Repo(fate.machine, other.path.rename(fate.repo.path))


def deleted_and_copied_here(fate: Fate) -> Repo:
    other = fate.clone("other")
    fate.delete()
    shutil.copytree(other.path, fate.repo.path, symlinks=True)
    return fate.repo


def pairs(
    happenings: Sequence[Callable[[Fate], Repo]], commands: Sequence[str]
) -> list[Any]:
    """Each thing that may happen, with each command that comes first after it. Where
    neither is the first of its kind, in the long runs alone."""
    return [
        pytest.param(
            happens,
            command,
            marks=[pytest.mark.long] * (happens != happenings[0] and at > 0),
        )
        for happens in happenings
        for at, command in enumerate(commands)
    ]


SAME = (
    deleted_and_cloned,
    deleted_and_cloned_packed,
    deleted_and_moved_here,
    deleted_and_copied_here,
)


@pytest.mark.parametrize(("happens", "first"), pairs(SAME, ["list", "init", "say"]))
def test_the_same_repository_again(
    fate: Fate, happens: Callable[[Fate], Repo], first: str
) -> None:
    repo = happens(fate)
    said = repo.wc("doctor")
    assert "belonged to an earlier repository" in said.out
    assert said.code == 9
    words = ("say", "other", "--title", "new") if first == "say" else (first,)
    done = repo.ok(*words)
    assert done.err.count("\n") == 1
    assert "set aside as ~/.watercooler/worktrees/" in done.err
    assert repo.store == fate.store
    mine = {"other": ["new"]} if first == "say" else {}
    assert titles(repo) == PUSHED | mine
    # Said once in passing, and by doctor until someone has looked.
    assert "set aside" not in repo.ok("list").err
    assert ASIDE in repo.wc("doctor").out
    assert "lacks 1 entry" in repo.wc("doctor").out
    would = repo.wc("doctor", "--repair", "--dry-run").out
    assert would.count("would repair") == 2
    assert titles(repo) == PUSHED | mine
    assert repo.ok("doctor", "--repair").out.count("an earlier checkout") == 3
    assert titles(repo) == ALL | mine
    assert "which has all of its entries" in repo.ok("doctor").out
    repo.settled("ack", "auth")
    assert repo.git("cat-file", "-t", f"{THREADS}:threads/local.md") == "blob"
    for line in repo.ok("doctor").out.splitlines():
        if ": rm -r " in line:
            obey(repo, line)
    repo.ok("doctor")
    assert titles(repo).keys() == (ALL | mine).keys()


def deleted_and_made_again(fate: Fate) -> Repo:
    fate.delete()
    repo = fate.machine.repo("other")
    return Repo(fate.machine, repo.path.rename(fate.repo.path))


def made_again_without_deleting(fate: Fate) -> Repo:
    shutil.rmtree(fate.repo.path / ".git")
    fate.repo.git("init", "-q")
    return fate.repo


def another_with_threads_of_its_own(fate: Fate) -> Repo:
    other = fate.machine.repo("other")
    other.settled("new", "theirs", "--title", "not ours")
    other.git("worktree", "remove", "-f", "-f", str(other.store))
    fate.delete()
    return Repo(fate.machine, other.path.rename(fate.repo.path))


UNRELATED = (
    deleted_and_made_again,
    made_again_without_deleting,
    another_with_threads_of_its_own,
)


@pytest.mark.parametrize(("happens", "first"), pairs(UNRELATED, ["init", "say"]))
def test_an_unrelated_repository_at_the_same_path(
    fate: Fate, happens: Callable[[Fate], Repo], first: str
) -> None:
    repo = happens(fate)
    theirs = {"theirs": ["not ours"]} if "own" in happens.__name__ else {}
    before = sorted(fate.store.rglob("*"))
    if not theirs:
        # Reading makes no store, and reads nobody else's.
        assert titles(repo) == {}
        repo.fails(3, "read", "auth")
        repo.fails(3, "read", "local")
        assert repo.ok("statusline").out == ""
        assert "auth" not in repo.ok("brief").out
        assert sorted(fate.store.rglob("*")) == before
        assert "is not read" in repo.wc("doctor").out
    words = ("say", "other", "--title", "new") if first == "say" else (first,)
    assert "set aside" in repo.ok(*words).err
    mine = {"other": ["new"]} if first == "say" else {}
    assert titles(repo) == theirs | mine
    # Nothing of it gets into this one: it may be secret.
    said = repo.ok("doctor", "--repair").out
    assert "nothing shows that it belongs to this store" in said
    assert titles(repo) == theirs | mine
    # It can still be read where it is now, and is not committed anywhere.
    (aside,) = fate.store.parent.glob(f"*{ASIDE}*")
    named = {"WATERCOOLER_DIR": str(aside)}
    listed = repo.json("list", env=named)["threads"]
    assert {thread["topic"] for thread in listed} == set(ALL)
    assert repo.json("whoami", env=named)["kind"] == "named"


def test_without_a_remote_the_code_says_whose_it_is(machine: Machine) -> None:
    """Threads that were never pushed are known by the commits of the code."""
    origin = machine.repo("origin")
    path = machine.root / "app"
    machine.git("clone", "-q", str(origin.path), str(path), cwd="/")
    repo = Repo(machine, path)
    repo.settled("new", "auth", "--title", "x")
    shutil.rmtree(path)
    machine.git("clone", "-q", str(origin.path), str(path), cwd="/")
    assert titles(repo) == {}
    repo.ok("init")
    assert titles(repo) == {}
    repo.ok("doctor", "--repair")
    assert titles(repo) == {"auth": ["x"]}


def moved(fate: Fate) -> Repo:
    return Repo(
        fate.machine, fate.repo.path.rename(fate.machine.root / "somewhere else")
    )


def restored_at_the_same_place(fate: Fate) -> Repo:
    """The home folder comes back from a backup; the repository was elsewhere."""
    home = fate.machine.home
    backup = fate.machine.root / "backup"
    shutil.copytree(home, backup, symlinks=True)
    fate.repo.settled("say", "auth", "--title", "after the backup")
    shutil.rmtree(home)
    backup.rename(home)
    return fate.repo


def restored_with_the_repository(fate: Fate) -> Repo:
    backup = fate.machine.root / "backup"
    for path in (fate.machine.home, fate.repo.path):
        shutil.copytree(path, backup / path.name, symlinks=True)
    fate.repo.settled("say", "auth", "--title", "after the backup")
    for path in (fate.machine.home, fate.repo.path):
        shutil.rmtree(path)
        (backup / path.name).rename(path)
    return fate.repo


def replaced_by_a_link_to_itself(fate: Fate) -> Repo:
    away = fate.store.rename(fate.machine.root / "big disk")
    fate.store.symlink_to(away)
    return fate.repo


def repository_behind_a_link(fate: Fate) -> Repo:
    away = fate.repo.path.rename(fate.machine.root / "away")
    fate.repo.path.symlink_to(away)
    return fate.repo


# What was pushed after the backup comes back.
LATER = {**ALL, "auth": [*ALL["auth"], "after the backup"]}
KEPT = (
    (moved, ALL),
    (restored_at_the_same_place, LATER),
    (restored_with_the_repository, LATER),
    (replaced_by_a_link_to_itself, ALL),
    (repository_behind_a_link, ALL),
)


@pytest.mark.parametrize(
    ("happens", "threads"), KEPT, ids=[case[0].__name__ for case in KEPT]
)
def test_the_store_stays_the_same(
    fate: Fate, happens: Callable[[Fate], Repo], threads: dict[str, list[str]]
) -> None:
    repo = happens(fate)
    done = repo.wc("list")
    if done.code:
        assert done.code == 6
        obey(repo, done.err)
    repo.settled("ack", "local")
    titles(repo)
    threads = {**threads, "local": [*threads["local"], "Ack"]}
    assert titles(repo) == threads
    repo.settled("sync")
    assert repo.wc("doctor").code == 0
    assert not list(fate.store.parent.glob(f"*{ASIDE}*"))
    other = fate.clone("other")
    assert titles(other) == threads


def test_a_copied_repository(fate: Fate) -> None:
    copy = Repo(fate.machine, fate.machine.root / "copy")
    shutil.copytree(fate.repo.path, copy.path, symlinks=True)
    said = copy.fails(6, "list")
    assert titles(fate.repo) == ALL
    obey(copy, said)
    assert copy.store != fate.store
    # What was not committed is in the folder of the original.
    assert titles(copy) == PUSHED
    assert titles(fate.repo) == ALL


def test_a_copied_store_is_not_a_checkout(fate: Fate) -> None:
    """It would be committed to the branch of the original otherwise."""
    copy = fate.machine.root / "copy of the store"
    shutil.copytree(fate.store, copy, symlinks=True)
    named = {"WATERCOOLER_DIR": str(copy)}
    assert fate.repo.json("whoami", env=named)["kind"] == "named"
    fate.repo.settled("say", "auth", "--title", "into the copy", env=named)
    fate.repo.settled("ack", "local")
    assert titles(fate.repo)["auth"] == ALL["auth"]
    assert "into the copy" not in fate.repo.git("show", f"{THREADS}:threads/auth.md")


def test_replaced_by_a_link_to_another_store(fate: Fate) -> None:
    other = fate.machine.repo("other")
    other.settled("new", "theirs", "--title", "not ours")
    shutil.rmtree(fate.store)
    fate.store.symlink_to(other.store)
    obey(fate.repo, fate.repo.fails(6, "list"))
    assert titles(fate.repo) == PUSHED
    assert fate.repo.store == fate.store
    assert not fate.store.is_symlink()
    assert titles(other) == {"theirs": ["not ours"]}


def test_a_link_in_the_place_of_a_new_store(fate: Fate) -> None:
    """It leads to another repository's store, which stays as it is."""
    other = fate.machine.repo("other")
    other.settled("new", "theirs", "--title", "not ours")
    repo = deleted_and_cloned(fate)
    shutil.rmtree(fate.store)
    fate.store.symlink_to(other.store)
    assert titles(repo) == PUSHED
    assert not fate.store.is_symlink()
    assert titles(other) == {"theirs": ["not ours"]}


def test_a_link_to_an_empty_folder_is_followed(fate: Fate) -> None:
    repo = deleted_and_cloned(fate)
    disk = fate.machine.root / "big disk"
    disk.mkdir()
    shutil.rmtree(fate.store)
    fate.store.symlink_to(disk)
    assert titles(repo) == PUSHED
    assert (disk / "threads/auth.md").is_file()


def test_two_clones_of_one_remote(fate: Fate) -> None:
    second = fate.clone("second")
    assert second.store != fate.store
    assert titles(second) == PUSHED
    second.settled("say", "auth", "--title", "by the second")
    second.settled("sync")
    fate.repo.settled("sync")
    assert sorted(titles(fate.repo)["auth"]) == [
        "by the second",
        "kept here",
        "pushed",
    ]
    # They trade places: each record leads to the store of the other clone.
    aside = fate.repo.path.rename(fate.machine.root / "aside")
    second.path.rename(fate.repo.path)
    aside.rename(second.path)
    for repo in (fate.repo, second):
        assert repo.wc("list").code == 6
        obey(repo, repo.wc("list").err)
    both = [titles(fate.repo), titles(second)]
    assert {topic for threads in both for topic in threads} == {"auth", "local"}


def test_a_store_that_another_repository_uses_is_left_alone(fate: Fate) -> None:
    """The repository was moved and told git; a new one is in its old place."""
    repo = moved(fate)
    obey(repo, repo.fails(6, "list"))
    again = fate.clone("app")
    assert titles(again) == PUSHED
    assert again.store == Path(f"{fate.store}-2")
    assert titles(repo) == ALL
    assert not list(fate.store.parent.glob(f"*{ASIDE}*"))


def test_set_aside_once_more_on_the_same_day(fate: Fate) -> None:
    for _ in range(3):
        repo = deleted_and_cloned(fate)
        assert "set aside" in repo.ok("list").err
    names = [path.name for path in fate.store.parent.glob(f"*{ASIDE}*")]
    assert len(names) == 3
    repo.ok("doctor", "--repair")
    assert titles(repo) == ALL


def test_many_at_once_set_it_aside_once(fate: Fate) -> None:
    repo = deleted_and_cloned(fate)
    words = " ".join(shlex.quote(word) for word in repo.machine.wc_words)
    done = repo.machine.run(
        ["sh", "-c", f"for n in 1 2 3 4; do {words} list & done; wait"], repo.path
    )
    assert done.out.count("auth") == 4
    assert done.err.count("set aside") == 1
    assert len(list(fate.store.parent.glob(f"*{ASIDE}*"))) == 1
    assert os.listdir(fate.store.parent)
    assert titles(repo) == PUSHED


FIRST_COMMIT = "cbb4392ad7abecadce9fe426f80d23e597b99c96"


def test_every_store_begins_with_the_same_commit(repo: Repo) -> None:
    """Two clones that each start a store share the root of their history: this one."""
    repo.ok("init")
    assert repo.git("rev-parse", THREADS) == FIRST_COMMIT


# Passes to git-fast-import what it refuses, and everything else on.
REFUSED = """#!/bin/sh
case " $* " in
*' fast-import '*) echo nonsense | {git} "$@" ;;
*) exec {git} "$@" ;;
esac
"""


def test_a_store_that_cannot_be_started_leaves_no_report(repo: Repo) -> None:
    """git-fast-import writes one into the repository when it fails."""
    program = repo.machine.root / "bin/git"
    program.parent.mkdir()
    program.write_text(REFUSED.format(git=shutil.which("git")))
    program.chmod(0o755)
    path = f"{program.parent}:{repo.machine.env['PATH']}"
    said = repo.fails(7, "init", env={"PATH": path})
    assert "could not be checked out: Unsupported command: nonsense" in said
    names = [path.name for path in (repo.path / ".git").iterdir()]
    assert not [name for name in names if name.startswith("fast_import")]
    assert not repo.git("branch", "--list", THREADS)
    repo.ok("init")
    assert repo.git("rev-parse", THREADS) == FIRST_COMMIT


def test_a_lock_of_a_git_that_was_killed_stops_no_first_store(repo: Repo) -> None:
    lock = repo.path / f".git/refs/heads/{THREADS}.lock"
    lock.parent.mkdir()
    lock.touch()
    repo.ok("init")
    assert not lock.exists()
    assert repo.git("rev-parse", THREADS) == FIRST_COMMIT


def test_a_record_that_a_killed_git_has_only_begun_is_removed(
    machine: Machine, repo: Repo
) -> None:
    """With it, no `git fetch` succeeds: its HEAD is no commit."""
    hub = machine.root / "hub.git"
    machine.git("init", "-q", "--bare", str(hub), cwd="/")
    repo.git("remote", "add", "origin", str(hub))
    repo.ok("init")
    store, worktrees = repo.store, repo.path / ".git/worktrees"
    (admin,) = worktrees.iterdir()
    repo.git("worktree", "unlock", str(store))
    repo.git("worktree", "remove", str(store))
    admin.mkdir(parents=True)
    (admin / "HEAD").write_text(f"{'0' * 40}\n")
    (admin / "commondir").write_text("../..\n")
    (admin / "gitdir").write_text(f"{store}/.git\n")
    (admin / "locked").write_text("initializing\n")
    store.mkdir()
    (store / ".git").write_text(f"gitdir: {admin}\n")
    repo.ok("init")
    assert [path.name for path in worktrees.iterdir()] == [admin.name]
    assert repo.store == store
    repo.git("fetch", "-q", "origin")


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("name", ["watercooler", "watercooler/threads/x's"])
def test_a_branch_in_the_way_of_a_first_store(
    repo: Repo, name: str, *, packed: bool
) -> None:
    repo.git("branch", name)
    if packed:
        repo.git("pack-refs", "--all")
    words = f"The branch {name} is in the way: git cannot make watercooler/threads"
    for first in (("new", "auth", "--title", "x"), ("init",)):
        done = repo.wc(*first)
        assert (done.code, done.out) == (7, "")
        assert words in done.err
    [finding] = repo.wc("doctor", "--json").json["findings"]
    assert words in finding["message"]
    assert not (repo.machine.home / ".watercooler").exists()
    assert not (repo.path / ".git/worktrees").exists()
    # The command that helps is the one shown.
    rename = done.err.partition("again: ")[2].strip()
    assert repo.machine.run(["sh", "-c", rename], repo.path).code == 0
    repo.ok("new", "auth", "--title", "x")
    assert [row["topic"] for row in repo.json("list")["threads"]] == ["auth"]


@pytest.mark.parametrize("named", [False, True])
def test_a_reftable_is_refused_everywhere(machine: Machine, *, named: bool) -> None:
    """Where git has none, only its files look like it: wc has to know it by them."""
    path = machine.root / "app"
    done = machine.run(["git", "init", "-q", "--ref-format=reftable", str(path)], "/")
    repo = Repo(machine, path)
    if done.code:
        machine.git("init", "-q", str(path), cwd="/")
        (path / ".git/HEAD").write_text("ref: refs/heads/.invalid\n")
        (path / ".git/reftable").mkdir()
    before = sorted(path.rglob("*"))
    env = {"WATERCOOLER_DIR": str(path)} if named else {}
    for command in ("say login -m Hi", "list", "init", "brief", "sync", "claim x"):
        done = repo.wc(*command.split(), env=env)
        assert done.code == 7, command
        assert "stores its refs as reftable, which wc cannot read yet" in done.err
        assert "git refs migrate --ref-format=files" in done.err
        assert "WATERCOOLER_DIR" not in done.err
        assert done.out == ""
    done = repo.wc("doctor", env=env)
    assert done.code == 9
    assert "reftable" in done.out
    assert "Nothing is wrong" not in done.out
    assert sorted(path.rglob("*")) == before
    assert not (machine.home / ".watercooler").exists()
