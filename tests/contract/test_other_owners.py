"""Root, and other users of a machine, in a store that is not theirs: what they write,
its owner can change; or nothing is written."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

import pytest

from tests.conftest import Machine, Repo

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from tests.conftest import Done

pytestmark = [
    pytest.mark.usefixtures("unmeasured"),
    pytest.mark.skipif(os.geteuid() != 0, reason="only root can be two users"),
]

OWNER, COLLEAGUE, GROUP = 12_345, 12_346, 12_347
INLINE = {"WATERCOOLER_SYNC": "inline"}


def wc_as(
    uid: int,
    repo: Repo,
    *words: str,
    group: int = 0,
    env: Mapping[str, str] | None = None,
    without: Sequence[str] = (),
) -> Done:
    """Run wc as a user of the system, who has no name."""
    ids = (f"--reuid={uid}", f"--regid={group or uid}", "--clear-groups")
    program = ["setpriv", *ids, *Machine.wc_words, *words]
    return repo.machine.run(program, repo.path, env=env, without=without)


def give(path: Path, uid: int, group: int) -> None:
    """Give a folder, with everything in it, to a user."""
    for parent, folders, files in os.walk(path):
        for name in (*folders, *files, "."):
            os.lchown(f"{parent}/{name}", uid, group)


@pytest.fixture
def owned(tmp_path: Path) -> Repo:
    """A repository with a store that belongs to a user of the system."""
    tmp_path.chmod(0o755)
    for folder in tmp_path.parents:
        if stat.S_IMODE(folder.stat().st_mode) & 0o005 != 0o005:
            folder.chmod(folder.stat().st_mode | 0o055)
    machine = Machine(tmp_path / "machine")
    repo = machine.repo()
    give(machine.root, OWNER, OWNER)
    done = wc_as(OWNER, repo, "new", "login", "-m", "Start", env=INLINE)
    assert done.code == 0, done
    config = "[safe]\n\tdirectory = *\n"
    with (machine.home / ".gitconfig").open("a") as file:
        file.write(config)
    return repo


def foreign(folder: Path, owner: int) -> list[str]:
    """What below a folder does not belong to its owner."""
    return [
        f"{parent}/{name}"
        for parent, folders, files in os.walk(folder)
        for name in (*folders, *files)
        if os.lstat(f"{parent}/{name}").st_uid != owner
    ]


def test_root_writes_nothing_into_another_user_s_store(owned: Repo) -> None:
    root = owned.machine.root
    for words in (("say", "login", "-m", "By root"), ("ack", "login"), ("sync",)):
        said = owned.wc(*words)
        assert said.code in {2, 7}, said
    refusal = owned.fails(7, "say", "login", "-m", "By root")
    assert f"belongs to uid {OWNER}" in refusal
    assert f"sudo -u '#{OWNER}' wc" in refusal
    owned.ok("list")
    owned.ok("read", "login")
    assert foreign(root, OWNER) == []
    done = wc_as(OWNER, owned, "say", "login", "-m", "Mine", env=INLINE)
    assert done.code == 0, done


def test_an_owner_without_permissions_is_told_the_chmod(owned: Repo) -> None:
    store = owned.store
    folder = store / "graph/baseline/threads/login"
    branch = owned.path / ".git/refs/heads/watercooler"
    for path in (store, folder, folder / "entries.jsonl", folder / "meta.json", branch):
        mode = path.stat().st_mode
        for denied in (0o300, 0o500) if path.is_dir() else (0o200, 0o400):
            path.chmod(denied)
            done = wc_as(OWNER, owned, "doctor")
            assert done.code == 9, (path, done)
            assert f"chmod u+rwX {path}" in done.out, (path, done)
            assert "sudo" not in done.out
        path.chmod(mode)
    assert "Nothing is wrong" in wc_as(OWNER, owned, "doctor").out


def test_a_container_s_root_gives_git_s_files_to_the_owner(
    owned: Repo, tmp_path: Path
) -> None:
    """Its home is its own, and the repository is the host's."""
    inside = Machine(tmp_path / "inside", user="Kim")
    with (inside.home / ".gitconfig").open("a") as file:
        file.write("[safe]\n\tdirectory = *\n")
    owned.machine.home.rename(tmp_path / "away")
    repo = Repo(inside, owned.path)
    repo.settled("say", "login", "-m", "From inside", "--as", "Codex")
    (tmp_path / "away").rename(owned.machine.home)
    assert foreign(owned.path, OWNER) == []
    done = wc_as(OWNER, owned, "say", "login", "-m", "From outside", env=INLINE)
    assert done.code == 0, done
    said = wc_as(OWNER, owned, "read", "login", "--peek").out
    assert "From inside" in said
    assert "From outside" in said


def test_doctor_names_what_belongs_to_others(owned: Repo) -> None:
    """And the command gives it back."""
    log = owned.machine.root / "home"
    (store,) = (log / ".watercooler/worktrees").glob("watercooler-*[0-9a-f]")
    store.chmod(0o755)
    entries = store / "graph/baseline/threads/login/entries.jsonl"
    os.chown(entries, 0, 0)
    done = wc_as(OWNER, owned, "doctor")
    assert done.code == 9, done
    assert f"do not belong to uid {OWNER}" in done.out
    assert f"sudo chown -R {OWNER}:{OWNER}" in done.out
    command = done.out.partition("sudo ")[2].splitlines()[0]
    assert owned.machine.run(["sh", "-c", command], owned.path).code == 0
    assert "Nothing is wrong" in wc_as(OWNER, owned, "doctor").out


def test_a_group_s_store_stays_one(owned: Repo, tmp_path: Path) -> None:
    """Whatever the umask of those who write there."""
    store = tmp_path / "shared"
    store.mkdir()
    os.chown(store, OWNER, GROUP)
    store.chmod(0o2775)
    env = {"WATERCOOLER_DIR": str(store)}
    for uid in (OWNER, COLLEAGUE, OWNER, COLLEAGUE):
        done = wc_as(uid, owned, "say", "both", "-m", f"By {uid}", group=GROUP, env=env)
        assert done.code == 0, done
    said = wc_as(OWNER, owned, "read", "both", "--peek", group=GROUP, env=env).out
    assert said.count(f"\nBy {OWNER}") == said.count(f"\nBy {COLLEAGUE}") == 2


ODD = {
    "no HOME": ({}, ("HOME",)),
    "a HOME that is missing": ({"HOME": "/nonexistent"}, ()),
    "no TERM": ({}, ("TERM",)),
    "an unknown TERM": ({"TERM": "nonsense"}, ()),
    "an unknown locale": ({"LC_ALL": "xx_XX.nonsense", "LANG": "xx"}, ()),
    "C": ({"LC_ALL": "C"}, ("LANG",)),
    "nearly nothing": ({}, ("HOME", "TERM", "LC_ALL", "LANG", "USER", "LOGNAME")),
}


@pytest.mark.parametrize(("env", "without"), ODD.values(), ids=ODD)
def test_an_odd_environment_is_no_traceback(
    owned: Repo, env: dict[str, str], without: tuple[str, ...]
) -> None:
    """As in CI and containers: each command works or says what is missing, and doctor
    names it."""
    for words in (["list"], ["say", "login", "-m", "größer"], ["brief"], ["doctor"]):
        done = wc_as(OWNER, owned, *words, env=env, without=without)
        assert "Traceback" not in done.err, done
        assert "bug" not in done.err, done
        if "HOME" in env or "HOME" in without:
            assert done.code == 0 or "HOME" in done.err + done.out, done
        else:
            assert done.code == 0, done
