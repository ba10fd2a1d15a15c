"""Faults that tools of this kind have had: none of them is one of ours."""

from __future__ import annotations

import fcntl
import os
import unicodedata
from typing import TYPE_CHECKING

import pytest

from tests.conftest import THREADS, Machine, Repo
from tests.contract.judging import PATIENT, race
from tests.core.strategies import chain, entry, write_thread

if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any


def titles(repo: Repo, topic: str) -> list[str]:
    entries = repo.json("read", topic, "--peek")["entries"]
    return sorted(one["title"] for one in entries)


def test_two_machines_that_write_at_once_join_without_a_conflict(repo: Repo) -> None:
    """No lock and no list of all threads travels; nothing is in both's way."""
    repo.settled("new", "auth", "--title", "start", "--to", "anyone")
    alex = Machine(repo.machine.root / "elsewhere", "Alex")
    alex.git("clone", "-q", str(repo.path), "app", cwd=alex.root)
    other = Repo(alex, alex.root / "app")
    other.ok("init")
    # One cannot push to where someone works.
    (other.store / "config.toml").write_text('[sync]\npush = "off"\n')
    for place, name in ((repo, "Pat"), (other, "Alex")):
        place.settled("say", "auth", "--title", f"{name} in auth")
        place.settled("new", f"thread-of-{name}", "--title", f"{name} alone")
    tracked = repo.git("ls-tree", "-r", "--name-only", THREADS).splitlines()
    assert not [one for one in tracked if ".local" in one or "lock" in one]
    with (repo.store / ".local/locks/threads/auth").open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        alex.git("fetch", "-q", "origin", THREADS, cwd=other.store)
        alex.git("merge", "-q", "--no-edit", "FETCH_HEAD", cwd=other.store)
        other.settled("say", "auth", "--title", "joined", "--lock-timeout", "0")
    said = sorted(["start", "Pat in auth", "Alex in auth", "joined"])
    assert titles(other, "auth") == said
    assert titles(other, "thread-of-pat") == ["Pat alone"]
    assert titles(other, "thread-of-alex") == ["Alex alone"]
    other.ok("doctor", "--repair")
    assert other.json("doctor")["findings"] == []
    assert titles(other, "auth") == said
    row = next(r for r in other.json("list")["threads"] if r["topic"] == "auth")
    assert row["entry_count"] == 4
    assert not {"damaged", "forked"} & row.keys()


def test_no_command_asks_the_network(repo: Repo, tmp_path: Path) -> None:
    """A remote that hangs holds up nobody: after the first contact, which
    tests/cli/sync/test_first_contact.py is about, it is not asked."""
    asked, ssh = tmp_path / "asked", tmp_path / "ssh"
    ssh.write_text(f"#!/bin/sh\n: >{asked}\nexit 1\n")
    ssh.chmod(0o755)
    repo.git("config", "core.sshCommand", str(ssh))
    repo.git("remote", "add", "origin", "git@example.org:acme/app.git")
    for words in (
        *(["init", "--offline"], ["new", "auth", "--title", "x"]),
        *(["say", "auth", "--title", "y"],),
        *(
            ["list"],
            ["read", "auth"],
            ["search", "x"],
            ["updates"],
            ["updates", "--seen"],
        ),
        *(["statusline"], ["whoami"], ["doctor"], ["doctor", "--repair"]),
    ):
        repo.settled(*words)
    assert not asked.exists()
    repo.machine.run(["git", "fetch", "origin"], repo.path)
    assert asked.exists()


@pytest.mark.parametrize(
    "text", [None, "", "{", "[]", "\0\0", '{"status": "OPEN", "ball": null}']
)
def test_no_meta_resets_a_thread(repo: Repo, text: str | None) -> None:
    repo.settled("new", "auth", "--title", "Begin", "--to", "Codex", "--force")
    repo.settled("set-status", "auth", "BLOCKED")
    (before,) = repo.json("list")["threads"]
    meta = repo.log("auth").with_name("meta.json")
    meta.unlink()
    if text is not None:
        meta.write_text(text)
    (row,) = repo.json("list")["threads"]
    assert row == before
    repo.settled("ack", "auth")
    (row,) = repo.json("list")["threads"]
    kept = ("status", "ball", "title")
    assert [row[one] for one in kept] == [before[one] for one in kept]
    assert (row["status"], row["entry_count"]) == ("BLOCKED", 3)


def test_a_ball_never_comes_back_to_who_just_passed_it(repo: Repo) -> None:
    """Whatever they are called: there is no list of who passes it to whom."""
    names = ("Zorblax", "cursor", "My Own Agent", "日本")
    repo.ok("new", "auth", "--title", "x", "--to", "anyone")
    for name in (*names, *names):
        said: Any = repo.json("say", "auth", "--title", "x", "--as", name)
        holder = (said["ball"] or "anyone").partition(" (")[0]
        assert holder.casefold() != name.casefold()
        repo.ok("handoff", "auth", "--to", "anyone", "--reason", "next")


def test_topics_in_any_script_have_files_of_their_own(repo: Repo) -> None:
    topics = ("日本", "東京", "привет", "été")
    for topic in topics:
        repo.settled("new", topic, "--title", topic)
    assert {one["topic"] for one in repo.json("list")["threads"]} == set(topics)
    assert len(os.listdir(repo.store / "threads")) == len(topics)
    for topic in topics:
        assert titles(repo, topic) == [topic]
        form = unicodedata.normalize("NFD", topic)
        assert titles(repo, form) == [topic]


def test_a_crowd_in_a_long_thread(repo: Repo) -> None:
    repo.ok("init")
    drafts = (entry(n, action="say", body="x" * 500) for n in range(3600))
    write_thread(repo.store, "long", chain(*drafts), meta=True)
    given: dict[str, Any] = {"topics": ["long"], "seed": "long", "options": PATIENT}
    said = race(repo, "write", writers=8, turns=4, **given)
    assert (said["wrong"], said["refused"]) == ([], [])
    ids = [one["entry_id"] for one in repo.entries("long")]
    assert len(said["acked"]) == 32
    assert sorted(one for _, one in said["acked"]) == ids[3600:]
    assert repo.entries("long")[-1]["index"] == 3631
