"""Whom commits name: the writer of their entries, whichever process makes them."""

from __future__ import annotations

import json
import os
import signal
from typing import TYPE_CHECKING

import pytest

from tests.conftest import THREADS
from wc_cli.run.context import os_user

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from tests.conftest import Machine, Repo

PERSONS = "--format=%an <%ae>|%cn <%ce>"
PAT = "Pat <pat@example.org>|Pat <pat@example.org>"
# A client that hides the user's configuration from the commands it runs.
HIDDEN = {"GIT_CONFIG_GLOBAL": "/dev/null"}


def _bot(name: str) -> dict[str, str]:
    return {
        "WATERCOOLER_GIT_AUTHOR": name,
        "WATERCOOLER_GIT_EMAIL": f"{name.lower()}@example.org",
    }


def _persons_of(name: str) -> str:
    return "|".join([f"{name} <{name.lower()}@example.org>"] * 2)


def _commits(repo: Repo) -> list[tuple[str, list[str]]]:
    """The persons of each commit with entries, the oldest first, and the titles of the
    entries that it names."""
    titles = {
        entry["entry_id"]: entry["title"]
        for log in repo.store.glob("graph/baseline/threads/*/entries.jsonl")
        for entry in map(json.loads, log.read_text().splitlines())
    }
    trailers = "%(trailers:key=Watercooler-Entry-ID,valueonly,separator=%x20)"
    words = ("--reverse", f"{PERSONS}|{trailers}", THREADS)
    lines = repo.git("log", *words).splitlines()
    parts = [line.rpartition("|") for line in lines]
    return [(who, [titles[one] for one in ids.split()]) for who, _, ids in parts if ids]


def test_each_commit_is_by_the_writer_of_its_entries(repo: Repo) -> None:
    repo.ok("init")
    repo.ok("say", "auth", "--title", "a", env=_bot("Ann"))
    repo.ok("say", "plan", "--title", "b", env=_bot("Bob"))
    repo.ok("ack", "auth", "--title", "c", env=_bot("Ann"))
    repo.settled("say", "test", "--title", "d")
    found = _commits(repo)
    assert sorted(found) == [
        (_persons_of("Ann"), ["a", "c"]),
        (_persons_of("Bob"), ["b"]),
        (PAT, ["d"]),
    ]
    assert os.listdir(repo.store / ".local/authors") == []
    assert repo.machine.git("status", "--porcelain", cwd=repo.store) == ""


def test_a_thread_of_several_writers_is_a_commit_for_each_turn(repo: Repo) -> None:
    repo.ok("init")
    for title, who in (("a", "Ann"), ("b", "Bob"), ("c", "Bob"), ("d", "Ann")):
        repo.ok(
            "ack" if title > "a" else "new", "auth", "--title", title, env=_bot(who)
        )
    repo.settled("ack", "auth", "--title", "e")
    assert _commits(repo) == [
        (_persons_of("Ann"), ["a"]),
        (_persons_of("Bob"), ["b", "c"]),
        (_persons_of("Ann"), ["d"]),
        (PAT, ["e"]),
    ]
    log = "graph/baseline/threads/auth/entries.jsonl"
    counts = [
        len(repo.git("show", f"{THREADS}~{back}:{log}").splitlines())
        for back in (3, 2, 1, 0)
    ]
    assert counts == [1, 3, 4, 5]
    assert repo.machine.git("status", "--porcelain", cwd=repo.store) == ""
    assert repo.wc("doctor").code == 0


def test_what_could_not_be_committed_keeps_its_authors(repo: Repo) -> None:
    repo.ok("init")
    lock = repo.path / ".git/refs/heads" / f"{THREADS}.lock"
    lock.touch()
    repo.ok("say", "auth", "--title", "a", env=_bot("Ann"))
    said = repo.settled("say", "plan", "--title", "b", "--json", env=_bot("Bob")).json
    assert not said["committed"]
    assert "not committed" in said["notes"][0]
    lock.unlink()
    repo.settled("ack", "plan", "--title", "c")
    assert sorted(_commits(repo)) == [
        (_persons_of("Ann"), ["a"]),
        (_persons_of("Bob"), ["b"]),
        (PAT, ["c"]),
    ]


# --- records that are missing or damaged --------------------------------------


@pytest.mark.parametrize(
    "record",
    [
        None,
        b"",
        b"garbage\n\xff\n",
        b"[]\n{}\n",
        b'{"entry":ID,"author":["",""],"committer":["B","b@x"],"key":"","format":""}\n',
        b'{"entry":ID,"author":[1,2],"committer":["B","b@x"],"key":"","format":""}\n',
        b'{"entry":ID,"author":["B\\n","b@x"],"committer":["B"],"key":1}\n',
    ],
)
def test_without_a_record_it_is_the_process_that_commits(
    repo: Repo, record: bytes | None
) -> None:
    """As with entries that an older wc wrote, which leaves markers alone."""
    repo.ok("init")
    entry = repo.json("say", "auth", "--title", "a", env=_bot("Ann"))["entry_id"]
    path = repo.store / ".local/authors/auth"
    path.unlink()
    if record is not None:
        path.write_bytes(record.replace(b"ID", json.dumps(entry).encode()))
    (repo.store / ".local/unsettled/auth").write_bytes(b"")
    repo.settled("ack", "auth", "--title", "b", env={"WATERCOOLER_GIT_AUTHOR": "Cleo"})
    who = "|".join(["Cleo <pat@example.org>"] * 2)
    assert _commits(repo) == [(who, ["a", "b"])]


def test_a_link_in_the_place_of_the_records_is_not_followed(repo: Repo) -> None:
    repo.ok("init")
    (repo.store / ".local/authors").symlink_to(repo.machine.home)
    repo.settled("say", "auth", "--title", "a", env=_bot("Ann"))
    assert not (repo.machine.home / "auth").exists()
    assert [titles for _, titles in _commits(repo)] == [["a"]]


# --- without an identity ------------------------------------------------------


def test_git_is_never_left_to_guess(machine: Machine) -> None:
    (machine.home / ".gitconfig").write_text("[user]\n\tuseConfigOnly = true\n")
    repo = machine.repo(commit=False)
    said = repo.settled("say", "auth", "--title", "a", "--json").json
    assert (said["committed"], said["notes"]) == (True, [])
    user = os_user(machine.env)
    assert _commits(repo) == [
        ("|".join([f"{user} <{user}@watercooler.invalid>"] * 2), ["a"])
    ]


@pytest.mark.parametrize("first", ["init", "say"])
def test_what_a_client_hides_is_remembered(repo: Repo, first: str) -> None:
    repo.ok(*{"init": ["init"], "say": ["say", "x", "--title", "x"]}[first])
    repo.settled("say", "auth", "--title", "a", "--as", "Gemini", env=HIDDEN)
    assert {who for who, _ in _commits(repo)} == {PAT}
    # What one command asks for is not what the user is called.
    repo.settled("ack", "auth", "--title", "b", env=_bot("Ann"))
    repo.settled("ack", "auth", "--title", "c", env=HIDDEN)
    assert [who for who, _ in _commits(repo)[-2:]] == [_persons_of("Ann"), PAT]
    (repo.machine.home / ".gitconfig").write_text(
        "[user]\n\tname = Patricia\n\temail = p@example.org\n"
    )
    repo.settled("ack", "auth", "--title", "d")
    repo.settled("ack", "auth", "--title", "e", env=HIDDEN)
    new = "|".join(["Patricia <p@example.org>"] * 2)
    assert [who for who, _ in _commits(repo)[-2:]] == [new, new]


def test_what_another_user_of_the_machine_is_called_is_not_used(repo: Repo) -> None:
    repo.ok("init")
    path = repo.private / "git-user.json"
    fields = json.loads(path.read_text())
    path.write_text(json.dumps({**fields, "uid": os.getuid() + 1}))
    repo.settled("say", "auth", "--title", "a", env=HIDDEN)
    user = os_user(repo.machine.env)
    assert user in _commits(repo)[0][0]


def test_a_worktree_with_a_name_of_its_own(repo: Repo) -> None:
    other = repo.worktree("other")
    repo.git("config", "extensions.worktreeConfig", "true")
    other.git("config", "--worktree", "user.name", "Bot")
    other.ok("say", "auth", "--title", "a")
    repo.settled("say", "plan", "--title", "b")
    bot = "|".join(["Bot <pat@example.org>"] * 2)
    assert sorted(_commits(repo)) == [(bot, ["a"]), (PAT, ["b"])]


def test_a_store_that_is_named_is_committed_as_its_repository_says(
    repo: Repo, machine: Machine
) -> None:
    repo.ok("init")
    repo.git("config", "user.name", "Of the store")
    elsewhere = machine.repo("elsewhere")
    elsewhere.git("config", "user.name", "Of elsewhere")
    env = {"WATERCOOLER_DIR": str(repo.store)}
    elsewhere.settled("say", "auth", "--title", "a", env=env)
    assert "Of the store <" in _commits(repo)[0][0]


# --- signatures ---------------------------------------------------------------


def _sign_with(repo: Repo, program: str) -> None:
    """Let ``program`` sign in the place of gpg; the key is its last argument."""
    signer = repo.machine.root / "signer"
    signer.write_text(
        f"#!/bin/sh\nfor key do :; done\n{program}\n"
        "cat >/dev/null\necho '[GNUPG:] SIG_CREATED ' >&2\n"
        'printf -- "-----BEGIN PGP SIGNATURE-----\\n%s\\n" "$key"\n'
        'printf -- "-----END PGP SIGNATURE-----\\n"\n'
    )
    signer.chmod(0o755)
    repo.git("config", "gpg.program", str(signer))
    (repo.store / "config.toml").write_text("[git]\nsign = true\n")


def _with_key(key: str) -> Mapping[str, str]:
    return {
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "user.signingKey",
        "GIT_CONFIG_VALUE_0": key,
    }


def _signatures(repo: Repo) -> list[str]:
    """The keys that signed the commits with entries, the oldest first."""
    words = ("--reverse", "--grep=^Watercooler-Entry-ID: ", THREADS)
    ids = repo.git("rev-list", *words).split()
    texts = [repo.git("cat-file", "commit", one) for one in ids]
    return [text.partition("SIGNATURE-----\n ")[2].partition("\n")[0] for text in texts]


def test_each_commit_is_signed_with_the_key_of_its_writer(repo: Repo) -> None:
    repo.ok("init")
    _sign_with(repo, "")
    repo.ok("say", "auth", "--title", "a", env=_with_key("KEY1"))
    repo.ok("ack", "auth", "--title", "b", env=_bot("Ann"))
    repo.settled("ack", "auth", "--title", "c", env=_with_key("KEY2"))
    assert _signatures(repo) == ["KEY1", "Ann <ann@example.org>", "KEY2"]


def test_a_key_that_is_not_here_holds_nobody_else_up(repo: Repo) -> None:
    repo.ok("init")
    _sign_with(repo, '[ "$key" = KEY2 ] || exit 1')
    repo.ok("say", "auth", "--title", "a", env=_with_key("KEY1"))
    said = repo.settled("say", "plan", "--title", "b", "--json", env=_with_key("KEY2"))
    assert said.json["committed"]
    assert "not committed" in said.json["notes"][0]
    assert [titles for _, titles in _commits(repo)] == [["b"]]
    assert os.listdir(repo.store / ".local/unsettled") == ["auth"]
    _sign_with(repo, "")
    repo.settled("ack", "plan", "--title", "c", env=_with_key("KEY2"))
    assert sorted(_signatures(repo)) == ["KEY1", "KEY2", "KEY2"]


def test_a_settling_process_that_is_killed_loses_no_author(
    repo: Repo, tmp_path: Path
) -> None:
    repo.ok("init")
    repo.ok("new", "auth", "--title", "a", env=_bot("Ann"))
    repo.ok("ack", "auth", "--title", "b", env=_bot("Bob"))
    # The third signature, after those of the settings and of Ann, kills its wc.
    killer = "[ -e two ] && kill -9 $(ps -o ppid= -p $PPID)"
    program = f"cd {tmp_path}; {killer}; [ -e one ] && touch two; touch one"
    _sign_with(repo, program)
    done = repo.wc("ack", "auth", "--title", "c", env={"WATERCOOLER_SYNC": "inline"})
    assert done.code == -signal.SIGKILL
    assert len(_commits(repo)) == 1
    _sign_with(repo, "")
    repo.settled("ack", "auth", "--title", "d")
    assert _commits(repo) == [
        (_persons_of("Ann"), ["a"]),
        (_persons_of("Bob"), ["b"]),
        (PAT, ["c", "d"]),
    ]
