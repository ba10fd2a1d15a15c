"""``wc config``: the current settings, where they come from, and changing them."""

from __future__ import annotations

import fcntl
import json
import os
from typing import TYPE_CHECKING

import pytest

from tests.contract.inprocess import Here
from wc_core.ledger.configuration import keys

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import Machine, Repo


@pytest.fixture
def repo(machine: Machine) -> Here:
    return Here(machine, machine.repo().path)


def file_of(repo: Repo) -> Path:
    return repo.store / "config.toml"


def test_all_keys_are_listed_with_their_defaults(repo: Repo) -> None:
    settings = repo.json("config")["settings"]
    fixed = [key for key in keys.KEYS if not key.is_open]
    assert [item["key"] for item in settings] == [key.name for key in fixed]
    defaults = [key.default for key in fixed]
    assert [item["value"] for item in settings] == json.loads(json.dumps(defaults))
    assert {item["origin"] for item in settings} == {"default"}
    assert 'ball.enforce = "warn"\n' in repo.ok("config", "list").out


def test_the_origin_of_a_value_is_named(repo: Repo) -> None:
    repo.ok("init")
    (repo.store / "agents.json").write_text('{"counterpart": {"Codex": "Cursor"}}')
    file_of(repo).write_text("[sync]\nfetch_every = 6\n")
    lines = repo.ok("config", "list", "--show-origin").out.splitlines()
    for line in (
        "default\tgit.sign = false",
        'agents.json\tcounterparts.codex = ["Cursor"]',
        "config.toml\tsync.fetch_every = 6",
    ):
        assert line in lines
    assert repo.ok("config", "get", "sync.fetch_every").out == "6\n"
    done = repo.ok("config", "get", "sync.fetch_every", "--show-origin")
    assert done.out == "config.toml\t6\n"


def test_setting_keeps_the_rest_of_the_file(repo: Repo) -> None:
    repo.ok("init")
    text = '# ours\n[ball]  # the ball\nenforce = "off"\n# too\nfuture = 1\n[new]\n'
    file_of(repo).write_text(text)
    done = repo.ok("config", "set", "ball.enforce", "refuse")
    assert done.out == 'ball.enforce = "refuse"\n'
    assert file_of(repo).read_text() == text.replace('"off"', '"refuse"')
    same = repo.ok("config", "set", "ball.enforce", "refuse")
    assert same.out == 'ball.enforce = "refuse" (as before)\n'
    assert repo.json("config", "unset", "ball.enforce")["value"] == "warn"
    assert file_of(repo).read_text() == text.replace('enforce = "off"\n', "")


def test_a_comment_is_never_lost(repo: Repo) -> None:
    repo.ok("init")
    text = '[ball]\nenforce = "off" # for now\n'
    file_of(repo).write_text(text)
    repo.ok("config", "set", "ball.enforce", "warn")
    assert file_of(repo).read_text() == text.replace("off", "warn")
    assert "config.toml" in repo.fails(6, "config", "unset", "ball.enforce")


SET = [
    (("sync.fetch_every", "0"), "sync.fetch_every = 0"),
    (("git.sign", "true"), "git.sign = true"),
    (("counterparts.Claude Code", "Codex"), 'counterparts."Claude Code" = "Codex"'),
    (("counterparts.*", "A", "B"), 'counterparts.* = ["A","B"]'),
    (('aliases."v1.2"', "Codex"), 'aliases."v1.2" = "Codex"'),
    (
        ("topics.auth.counterparts.Codex", "Cursor"),
        'topics.auth.counterparts.Codex = "Cursor"',
    ),
]


def test_values_of_each_kind_are_set_and_read_back(repo: Repo) -> None:
    for words, line in SET:
        assert repo.ok("config", "set", *words).out == f"{line}\n"
        assert line in repo.ok("config", "list").out.splitlines()
        assert repo.json("config", "get", words[0])["origin"] == "file"


REFUSED = [
    (("set", "ball.enforce", "maybe"), 2, "off, warn, refuse"),
    (("set", "sync.fetch_every", "-1"), 2, ""),
    (("set", "sync.fetch_every", "604801"), 2, "0 to 604800"),
    (("set", "sync.fetch_every", "six"), 2, "0 to 604800"),
    (("set", "git.sign", "yes"), 2, "true, false"),
    (("set", "aliases.cc", ""), 2, "a name"),
    (("set", "ball.enforce", "off", "warn"), 2, "one value"),
    (("set", "ball.enforce"), 2, "off, warn, refuse"),
    (("set", "ball.enforse", "off"), 2, "Did you mean: ball.enforce"),
    (("set", "enforce", "off"), 2, "Did you mean: ball.enforce"),
    (("set", "meaning.endpoint", "http://localhost"), 2, "Add --global."),
    (("set", "--global", "ball.enforce", "off"), 2, "Leave out --global."),
    (("set", "ball", "off"), 2, "wc config list"),
    (("set",), 2, "wc config list"),
    (("get", "ball.enforce", "off"), 2, "one key"),
    (("get", "nonsense"), 2, "wc config list"),
    (("get", "counterparts.Codex"), 3, "not set"),
    (("get", "rules.title"), 3, "not set"),
    (("unset", "nonsense"), 2, "wc config list"),
    (("list", "bal"), 2, ""),
    (("edit",), 2, "no action 'edit'"),
]


def test_what_is_refused_writes_nothing(repo: Repo) -> None:
    repo.ok("init")
    for words, code, part in REFUSED:
        assert part in repo.fails(code, "config", *words)
        assert not file_of(repo).exists()


def test_a_file_that_cannot_be_used_is_named_and_left_alone(repo: Repo) -> None:
    repo.ok("init")
    file_of(repo).write_text("[ball")
    assert "config.toml" in repo.fails(6, "config", "set", "git.sign", "true")
    assert file_of(repo).read_text() == "[ball"
    done = repo.ok("config", "list")
    assert "git.sign = false" in done.out
    assert "config.toml: the settings cannot be used" in done.err
    file_of(repo).write_text('[ball]\nenforce = "x"\n')
    # A wrong value is put right by a valid one.
    assert repo.ok("config", "set", "ball.enforce", "off").out
    assert file_of(repo).read_text() == '[ball]\nenforce = "off"\n'


def test_a_key_that_sets_nothing_is_named_and_can_be_removed(repo: Repo) -> None:
    repo.ok("init")
    file_of(repo).write_text("[ball]\nx = 1\nenforce = 'off'\n")
    assert "ball.x has no effect" in repo.ok("config").err
    assert repo.ok("config", "unset", "ball.x").out == "ball.x is not set\n"
    assert file_of(repo).read_text() == "[ball]\nenforce = 'off'\n"


def test_it_is_committed_like_the_threads(repo: Repo) -> None:
    repo.settled("config", "set", "ball.enforce", "off")
    committed = repo.machine.git("show", "HEAD:config.toml", cwd=repo.store)
    assert committed == '[ball]\nenforce = "off"'


def test_it_waits_for_who_settles(repo: Repo) -> None:
    repo.ok("init")
    with (repo.store / ".local/locks/git").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        words = ("config", "set", "git.sign", "true", "--lock-timeout", "0.1")
        repo.fails(5, *words)
    assert not os.path.lexists(file_of(repo))
    repo.ok(*words)


WENT = """
[ball]
bounces = 2
[claims]
neighbor = "block"
ttl = 60
[land]
minutes = 5
[observe]
watch = "off"
[sync]
limit = 5
"""


def test_what_becomes_of_keys_that_went_is_said(repo: Repo) -> None:
    repo.ok("init")
    file_of(repo).write_text(WENT)
    notes, report = repo.ok("config").err, repo.wc("doctor").out
    for sentence in (
        "ball.bounces counts only if it is less than 6, and can be removed",
        "claims.neighbor still counts, and can be removed",
        "claims.ttl has no effect; for one claim: wc claim FILE --ttl 1h",
        "land.minutes has no effect: a check may take an hour",
        "observe has no effect: the server looks at changes by itself",
        "sync.limit has no effect; for one sync: wc sync --timeout 60",
    ):
        assert f"note: config.toml: {sentence}\n" in notes
        assert f"note: config.toml: {sentence}\n" in report
    assert "There is no setting" in repo.fails(2, "config", "set", "claims.ttl", "60")
    repo.ok("config", "unset", "claims.ttl")
    assert "claims.ttl" not in repo.ok("config").err


def test_a_variable_that_is_not_known_is_named(repo: Repo) -> None:
    env = {"WATERCOOLER_PUSH": "off", "WATERCOOLER_LIMIT": "7"}
    for words in (("config",), ("doctor",)):
        done = repo.wc(*words, env=env)
        notes = [line for line in (done.out + done.err).splitlines() if "WATER" in line]
        unknown = "is a variable that this version does not know"
        quiet = "while it is set, nothing is sent in the background; unset it"
        assert notes == [
            f"note: WATERCOOLER_LIMIT {unknown}: it has no effect; unset it",
            f"note: WATERCOOLER_PUSH {unknown}: {quiet}",
        ]


def test_a_preference_that_is_not_known_is_named_and_left_alone(repo: Repo) -> None:
    file = repo.machine.home / ".config/watercooler/config.toml"
    file.parent.mkdir(parents=True)
    file.write_text("[inbox]\nsound = true\nstatusline = true\n")
    assert repo.wc("config", "--global", "list").err == (
        "note: inbox.sound has no effect: remove or correct it\n"
    )
    repo.ok("config", "--global", "set", "inbox.statusline", "false")
    assert "sound = true" in file.read_text()
    assert repo.fails(2, "config", "--global", "set", "inbox.sound", "false")
    note = f"note: {file}: inbox.sound has no effect: remove or correct it\n"
    assert note in repo.wc("doctor").out
