"""Entries that cannot be pushed travel with the branch that is checked out."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.cli.carry.places import CLAUDE, PLACES, accept_only, carried, session
from tests.conftest import THREADS
from tests.observe.web.pages import Site

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.conftest import Machine, Repo


@pytest.fixture
def cloud(hub: Path, tmp_path: Path) -> Repo:
    """A session of Claude Code in the cloud that knows the threads."""
    repo = session(CLAUDE, hub, tmp_path / "cloud")
    repo.ok("brief")
    return repo


def stopped(repo: Repo, session_id: str = "one") -> str:
    """What the hook says at the end of a turn."""
    fields = {"session_id": session_id, "hook_event_name": "Stop"}
    feed = json.dumps(fields | {"cwd": str(repo.path)}).encode()
    return repo.ok("brief", "--hook", "stop", "--client", "claude", feed=feed).out


def test_a_carrier_changes_neither_files_nor_the_index(cloud: Repo) -> None:
    """Its tree is that of the commit before, no hook runs, and what is staged,
    changed and untracked stays so."""
    (cloud.path / "staged").write_text("1")
    cloud.git("add", "staged")
    (cloud.path / "new").write_text("2")
    for name in ("post-commit", "pre-commit", "commit-msg", "reference-transaction"):
        hook = cloud.path / ".git/hooks" / name
        hook.parent.mkdir(exist_ok=True)
        hook.write_text(f"#!/bin/sh\ntouch '{cloud.path}/.git/ran'\n")
        hook.chmod(0o755)
    status = cloud.git("status", "--porcelain")
    head = cloud.git("rev-parse", "HEAD")
    said = cloud.ok("say", "login", "-m", "Done", "-m", "größer\n\n# a heading")
    assert "travels with claude/fix" in said.out
    assert "not pushed: origin refused" in said.err
    assert "git push origin claude/fix" in said.err
    assert cloud.git("status", "--porcelain") == status
    assert cloud.git("rev-parse", "HEAD~1", "HEAD^{tree}").split() == [
        head,
        cloud.git("rev-parse", f"{head}^{{tree}}"),
    ]
    assert not (cloud.path / ".git/ran").exists()
    assert carried(cloud) == ["Done"]
    assert cloud.git("log", "-1", "--format=%s|%an") == (
        "wc: carry 1 entry (login)|Claude"
    )
    log = cloud.ok("read", "login", "--commits").out
    assert "travels with claude/fix" in log.splitlines()[-1]
    assert "not pushed" not in log
    assert (
        cloud.json("read", "login", "--commits")["entries"][-1]["carried"]
        == "claude/fix"
    )
    line = "1 entry travels with claude/fix: git push origin claude/fix"
    assert line in cloud.ok("list").err
    assert line in cloud.ok("board", "--once").err
    assert line in Site(cloud.path, cloud.machine.env).said()
    assert "travels with claude/fix" in cloud.ok("brief").out
    assert "travels with" in cloud.ok("doctor").out


def test_nothing_is_carried_twice(cloud: Repo) -> None:
    """Not by the next write, nor by another command, nor if an agent adds its work to
    the last commit, whatever that is."""
    for number in range(3):
        cloud.ok("say", "login", "-m", f"n {number}")
    head = cloud.git("rev-parse", "HEAD")
    said = "3 entries travel with claude/fix"
    assert cloud.ok("sync").out == f"{said}: git push origin claude/fix\n"
    assert cloud.git("rev-parse", "HEAD") == head
    cloud.git("push", "-q", "origin", "claude/fix")
    for commit in (("-m", "more"), ("--amend", "--no-edit")):
        (cloud.path / commit[0]).write_text("")
        cloud.git("add", "--all")
        cloud.git("commit", "-q", *commit)
        assert cloud.ok("sync").out == f"{said}\n"
    assert carried(cloud) == ["n 0", "n 1", "n 2"]
    assert "git push" not in cloud.ok("list").err


REWRITES: dict[str, Callable[[Repo], object]] = {
    "amend": lambda repo: repo.git(
        "commit", "-q", "--amend", "--allow-empty", "-m", "Mine"
    ),
    "reset": lambda repo: repo.git("reset", "-q", "--hard", "HEAD~1"),
    "rebase": lambda repo: repo.git(
        "rebase", "-q", "--force-rebase", "--no-keep-empty", "origin/main"
    ),
    "squash": lambda repo: (
        repo.git("reset", "-q", "--soft", "HEAD~2"),
        repo.git("commit", "-q", "--allow-empty", "-m", "All in one"),
    ),
    "a branch of its own": lambda repo: repo.git(
        "switch", "-q", "-c", "claude/other", "HEAD~2"
    ),
}


@pytest.mark.parametrize("rewrite", REWRITES.values(), ids=REWRITES)
def test_what_a_branch_lost_is_carried_again(
    cloud: Repo, rewrite: Callable[[Repo], object]
) -> None:
    cloud.git("fetch", "-q", "--unshallow", "origin", "main:refs/remotes/origin/main")
    cloud.git("commit", "-q", "--allow-empty", "-m", "Work")
    cloud.ok("say", "login", "-m", "Done")
    assert carried(cloud) == ["Done"]
    rewrite(cloud)
    assert carried(cloud) == []
    assert "travels with" in cloud.ok("sync").out
    assert carried(cloud) == ["Done"]


def test_a_new_session_on_the_same_branch_carries_what_it_knows(
    cloud: Repo, hub: Path, person: Repo, tmp_path: Path
) -> None:
    """It harvests its own branch first, and then carries only what is new."""
    cloud.ok("say", "login", "-m", "Yesterday")
    cloud.git("push", "-q", "origin", "claude/fix")
    root = tmp_path / "today"
    accept_only(hub, "")
    today = session(CLAUDE, hub, root, "claude/fix")
    today.ok("brief")
    today.ok("sync")
    assert "Yesterday" in today.ok("read", "login", "--peek").out
    today.ok("say", "login", "-m", "Today")
    assert carried(today) == ["Today", "Yesterday"]
    today.git("push", "-q", "origin", "claude/fix")
    accept_only(hub, "")
    assert "2 entries came with claude/fix" in person.ok("sync").out


def test_what_has_arrived_is_no_longer_carried(
    cloud: Repo, person: Repo, hub: Path
) -> None:
    cloud.ok("say", "login", "-m", "Done")
    cloud.git("push", "-q", "origin", "claude/fix")
    accept_only(hub, "")
    person.ok("sync")
    accept_only(hub, CLAUDE.accepts)
    said = cloud.ok("sync")
    assert "the entries of this clone have arrived otherwise" in said.err
    assert "travel" not in cloud.ok("list").err
    cloud.git("commit", "-q", "--amend", "--allow-empty", "-m", "Mine")
    cloud.ok("sync")
    assert carried(cloud) == []
    cloud.ok("say", "login", "-m", "More")
    assert carried(cloud) == ["More"]


def test_a_clone_that_can_push_again_does(cloud: Repo, hub: Path) -> None:
    cloud.ok("say", "login", "-m", "Done")
    accept_only(hub, "")
    assert "went" in cloud.ok("sync").out
    assert "in step" in cloud.ok("list").err
    log = cloud.ok("read", "login", "--commits").out
    assert "travels" not in log
    assert "not pushed" not in log


OBSTACLES: dict[str, tuple[Callable[[Repo], object], str]] = {
    "main": (
        lambda repo: repo.git("switch", "-q", "-c", "main"),
        "The branch main is shared",
    ),
    "detached": (
        lambda repo: repo.git("switch", "-q", "--detach"),
        "No branch is checked out",
    ),
    "bisect": (
        lambda repo: repo.git("bisect", "start"),
        "A bisect is in progress",
    ),
    "merge": (
        lambda repo: (repo.path / ".git/MERGE_HEAD").write_text("0" * 40),
        "A merge is in progress",
    ),
    "rebase": (
        lambda repo: (repo.path / ".git/rebase-merge").mkdir(),
        "A rebase is in progress",
    ),
    "cherry-pick": (
        lambda repo: (repo.path / ".git/CHERRY_PICK_HEAD").write_text("0" * 40),
        "A cherry-pick is in progress",
    ),
    "a git command": (
        lambda repo: (repo.path / ".git/index.lock").touch(),
        "A git command is at work",
    ),
}


@pytest.mark.parametrize(("obstruct", "text"), OBSTACLES.values(), ids=OBSTACLES)
def test_it_waits_until_there_is_a_way(
    cloud: Repo, obstruct: Callable[[Repo], object], text: str
) -> None:
    """The entry is saved, its receipt says why it cannot travel, and so does a sync;
    nothing of the branch changes."""
    refs = cloud.git("for-each-ref", "refs/heads")
    obstruct(cloud)
    said = cloud.ok("say", "login", "-m", "Done")
    assert "saved login #1" in said.out
    assert text in said.err
    lock = cloud.path / ".git/index.lock"
    if lock.exists():
        lock.touch()  # as if held since now: after a while it counts as abandoned
    refused = cloud.fails(8, "sync")
    assert text in refused
    assert "origin refused" in refused
    after = cloud.git("for-each-ref", "refs/heads")
    heads = {line.split()[0] for line in after.splitlines() if THREADS not in line}
    assert heads <= set(refs.split())
    end = stopped(cloud)
    assert "1 entry exists only on this machine" in end
    assert "wc sync --carry" in end


def preferring(repo: Repo, text: str) -> None:
    """Write the person's own file."""
    folder = repo.machine.home / ".config/watercooler"
    folder.mkdir(parents=True)
    (folder / "config.toml").write_text(text)


def test_settings_narrow_it(cloud: Repo) -> None:
    """``ask`` waits for a word, ``off`` refuses even that."""
    config = cloud.store / "config.toml"
    config.write_text('[carry]\nmode = "ask"\n')
    said = cloud.ok("say", "login", "-m", "Asked")
    offer = (
        "They can travel with claude/fix, which is checked out here: wc sync --carry"
    )
    assert offer in said.err
    assert offer in cloud.fails(8, "sync")
    assert carried(cloud) == []
    assert "travels" in cloud.ok("sync", "--carry").out
    config.write_text('[carry]\nmode = "off"\n')
    cloud.ok("say", "login", "-m", "Off")
    assert "carry.mode is off" in cloud.fails(2, "sync", "--carry")
    assert "--carry" not in cloud.fails(8, "sync")
    assert carried(cloud) == ["Asked"]


@pytest.mark.parametrize("mode", ["ask", "off"])
def test_what_an_older_version_was_told_still_counts(cloud: Repo, mode: str) -> None:
    """The preference is gone, but nothing travels because of that."""
    preferring(cloud, f'[carry]\nmode = "{mode}"\n')
    cloud.ok("say", "login", "-m", "Mine")
    assert "wc sync --carry" in cloud.fails(8, "sync")
    assert carried(cloud) == []
    noted = cloud.wc("doctor").out
    assert "carry only keeps entries from travelling by themselves in a sa" in noted


def test_elsewhere_it_is_offered(person: Repo, hub: Path) -> None:
    """On an ordinary machine, nothing is carried without a word, whatever the remote
    does."""
    person.git("switch", "-q", "-c", "codex/login")
    accept_only(hub, "refs/heads/codex/*")
    offer = "They can travel with codex/login, which is checked out here: wc sync"
    said = person.settled("say", "login", "-m", "Mine", "--as", "Codex")
    assert offer in said.err
    assert offer in person.fails(8, "sync")
    hub.rename(hub.parent / "away.git")
    assert offer in person.fails(8, "sync")
    assert carried(person) == []
    assert "1 entry travels" in person.ok("sync", "--carry").out
    assert carried(person) == ["Mine"]
    (hub.parent / "away.git").rename(hub)
    # The next receipt says so as well, without having waited.
    person.fails(8, "sync")
    env = {"WATERCOOLER_SYNC": "background"}
    said = person.ok("say", "login", "-m", "More", "--as", "Codex", env=env)
    assert "origin refused" in said.err
    assert offer in said.err
    person.git("switch", "-q", "main")
    said = person.ok("say", "login", "-m", "More", "--as", "Codex", env=env)
    assert "wc sync --carry" not in said.err
    assert "wc sync --carry" not in person.fails(8, "sync")
    person.git("switch", "-q", "-c", "mine")
    said = person.ok("sync", "--carry")
    assert "3 entries travel with mine" in said.out
    assert "nobody looks there: carry.from lacks mine" in said.err


def test_without_a_remote_it_is_a_file_if_asked_for(person: Repo) -> None:
    person.ok("new", "login", "-m", "Mine", "--as", "Codex", "--force")
    person.fails(2, "sync")
    assert not (person.path / ".watercooler").exists()
    previewed = person.ok("sync", "--carry", "--dry-run").out
    assert "1 entry would travel with .watercooler/outbox/" in previewed
    assert not (person.path / ".watercooler").exists()
    assert "1 entry is in .watercooler/outbox/" in person.ok("sync", "--carry").out
    (box,) = (person.path / ".watercooler/outbox").iterdir()
    assert json.loads(box.read_text())["title"] == "Mine"


def test_only_what_an_agent_wrote_can_travel(cloud: Repo) -> None:
    """A person's entry would be refused where it arrives, and says so here."""
    cloud.ok(
        *("say", "login", "-m", "Pat's", "--as", "Pat"),
        env={"WATERCOOLER_USER": "Pat"},
    )
    said = cloud.fails(8, "sync")
    assert "1 entry cannot travel: too long, or not by an agent" in said
    assert carried(cloud) == []
    assert "1 entry exists only on this machine" in stopped(cloud)


def test_many_entries_are_several_commits(cloud: Repo) -> None:
    body = "x" * 100_000
    for number in range(4):
        cloud.ok(
            *("say", "login", "-m", f"n {number}", "-m", body),
            env={"WATERCOOLER_SYNC": "off"},
        )
    cloud.ok("sync")
    subjects = cloud.git("log", "--format=%s").splitlines()
    assert [line for line in subjects if line.startswith("wc: carry")] == [
        "wc: carry 2 entries (login)",
        "wc: carry 2 entries (login)",
    ]
    assert len(carried(cloud)) == 4


def test_without_threads_at_the_remote_nothing_is_published(
    hub: Path, tmp_path: Path, machine: Machine
) -> None:
    """Whether to share threads is the person's decision."""
    machine.git("update-ref", "-d", f"refs/heads/{THREADS}", cwd=hub)
    cloud = session(CLAUDE, hub, tmp_path / "alone")
    cloud.ok("new", "own", "-m", "Mine", "--to", "Pat", "--force")
    cloud.fails(8, "sync")
    assert carried(cloud) == []
    assert "travels with" in cloud.ok("sync", "--carry").out
    assert carried(cloud) == ["Mine"]


def test_an_outbox_is_one_file_and_goes_when_all_has_arrived(
    person: Repo, hub: Path, tmp_path: Path
) -> None:
    place = PLACES["Codex cloud"]
    cloud = session(place, hub, tmp_path / "codex")
    said = cloud.ok("say", "login", "-m", "One")
    assert "travels with .watercooler/outbox/" in said.out
    cloud.ok("say", "login", "-m", "Two")
    (box,) = (cloud.path / ".watercooler/outbox").iterdir()
    rows = [json.loads(line)["title"] for line in box.read_text().splitlines()]
    assert rows == ["One", "Two"]
    assert cloud.json("list")["sync"]["carried"]["entries"] == 2
    assert "2 entries are in .watercooler/outbox/" in cloud.ok("sync").out
    assert "2 entries would travel with" in cloud.ok("sync", "--dry-run").out
    assert "2 entries are in .watercooler/outbox/" in stopped(cloud)
    cloud.git("add", "--all")
    cloud.git("commit", "-q", "-m", "Work")
    assert "outbox" not in stopped(cloud, "two")
    cloud.git("remote", "add", "origin", f"file://{hub}")
    accept_only(hub, "")
    cloud.ok("sync")
    assert not box.exists()
    assert "One" in (person.ok("sync").out + person.ok("read", "login").out)


def test_an_ignored_outbox_is_an_error(hub: Path, tmp_path: Path) -> None:
    cloud = session(PLACES["Codex cloud"], hub, tmp_path / "codex")
    (cloud.path / ".gitignore").write_text(".watercooler/\n")
    said = cloud.ok("say", "login", "-m", "One")
    assert "git ignores .watercooler/outbox/" in said.err
    assert not (cloud.path / ".watercooler").exists()
    assert ".gitignore" in cloud.fails(4, "sync")


def test_the_end_of_a_turn_names_what_would_be_lost(cloud: Repo) -> None:
    """Once, with the command that saves it; nothing once it is saved."""
    cloud.ok("say", "login", "-m", "Done", env={"WATERCOOLER_SYNC": "off"})
    said = json.loads(stopped(cloud))
    assert said["decision"] == "block"
    assert (
        "1 entry travels with claude/fix: git push origin claude/fix"
        in (said["reason"])
    )
    assert stopped(cloud) == ""
    cloud.git("push", "-q", "origin", "claude/fix")
    assert stopped(cloud, "two") == ""


def test_what_cannot_be_counted_is_not_called_saved(cloud: Repo) -> None:
    cloud.ok("say", "login", "-m", "Done", env={"WATERCOOLER_SYNC": "off"})
    refs = cloud.git("for-each-ref", "--format=%(refname)", "refs/remotes").split()
    tracking = next(ref for ref in refs if ref.endswith(f"/{THREADS}"))
    (cloud.path / ".git" / tracking).write_text(f"{'1' * 40}\n")
    assert "It is not known which entries are only on this machine" in stopped(cloud)


def test_json_has_what_the_lines_say(cloud: Repo) -> None:
    cloud.ok("say", "login", "-m", "Done")
    receipt = cloud.json("say", "login", "-m", "More")
    assert receipt["carried"] == "claude/fix"
    assert receipt["pushed"] is False
    assert cloud.json("sync") == {
        "carried": {"entries": 2, "branch": "claude/fix"},
        "dry_run": False,
    }


def test_whoami_explains_who_that_is(cloud: Repo) -> None:
    """A bot is no person, and the branch is the seat."""
    said = cloud.ok("whoami", "--explain").out
    assert said.startswith("Claude Code@claude/fix (by CLAUDECODE)\n")
    assert "> branch             claude/fix" in said
    assert "git's user here is that of Claude Code, which is no person" in said
    assert "WATERCOOLER_USER" in said
    assert "tag: none" in said
