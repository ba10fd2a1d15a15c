"""What was written is sent before the remote is asked what it has: the same
comes of it, whatever the remote has become in the meantime."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.contract.pairs import Pair

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Pair:
    """The one wrote an entry that the remote has not got."""
    pair = Pair.prepare(tmp_path_factory.mktemp("pairs") / "first")
    pair.a.commit("auth", "Of a")
    return pair


@pytest.fixture
def pair(prepared: Pair, tmp_path: Path) -> Pair:
    return prepared.copy(tmp_path / "pair")


def test_nothing_is_fetched_where_nobody_else_wrote(pair: Pair) -> None:
    pair.a.git("config", "remote.origin.uploadpack", "false")
    done = pair.a.ok("sync")
    assert done.out == "origin: 1 entry (auth) went\n"
    assert done.err == ""
    assert pair.remote_tip() == pair.a.tip() == pair.a.tip("origin/watercooler/threads")
    assert "in step" in pair.a.ok("list").err
    # With nothing to send there is no other way to know.
    assert pair.a.wc("sync").code == 8


@pytest.mark.parametrize("fetched", [False, True])
def test_what_others_wrote_comes(pair: Pair, *, fetched: bool) -> None:
    pair.b.say("auth", "Of b")
    pair.b.ok("sync")
    if fetched:
        pair.a.git("fetch", "-q", "origin")
    assert pair.a.ok("sync").out == (
        "origin: 1 entry (auth) came · 1 entry (auth) went\n"
    )
    pair.b.ok("sync")
    pair.a.check(pair.b)
    pair.b.check(pair.a)


def test_a_remote_that_refuses_still_gives(pair: Pair) -> None:
    pair.b.say("auth", "Of b")
    pair.b.ok("sync")
    hook = pair.remote / "hooks/pre-receive"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\nexit 1\n")
    hook.chmod(0o755)
    done = pair.a.wc("sync")
    assert done.code == 8
    assert "origin refused" in done.err
    assert set(pair.a.ids("auth")) == {*pair.a.said["auth"], *pair.b.said["auth"]}


@pytest.mark.parametrize("setting", ["remote.origin.pushurl", "url.{}.pushInsteadOf"])
def test_a_remote_that_is_pushed_to_elsewhere_is_looked_at(
    pair: Pair, setting: str
) -> None:
    pair.b.say("auth", "Of b")
    pair.b.ok("sync")
    other = pair.root / "other.git"
    pair.a.git("clone", "-q", "--bare", str(pair.a.path), str(other), cwd=pair.root)
    value = str(pair.remote) if "{}" in setting else str(other)
    pair.a.git("config", setting.format(other), value)
    assert "1 entry (auth) came" in pair.a.ok("sync").out
    pair.a.check(pair.b)


@pytest.mark.parametrize("setting", ["remote.origin.pushurl", "remote.origin.url"])
def test_nothing_goes_unasked_to_where_a_push_goes_and_the_branch_is_not(
    pair: Pair, setting: str
) -> None:
    other = pair.root / "other.git"
    pair.a.git("init", "-q", "--bare", str(other), cwd=pair.root)
    pair.a.git("config", "--add", setting, str(other))
    pair.a.ok("say", "auth", "--title", "x", env={"WATERCOOLER_SYNC": "inline"})
    assert not pair.a.git("for-each-ref", cwd=other)
    pair.a.ok("sync")
    assert pair.a.git("for-each-ref", cwd=other)


def test_what_went_elsewhere_is_not_called_arrived(pair: Pair) -> None:
    other = pair.root / "other.git"
    pair.a.git("clone", "-q", "--bare", str(pair.a.path), str(other), cwd=pair.root)
    pair.a.git("config", "remote.origin.pushurl", str(other))
    pair.a.ok("sync")
    pair.a.say("auth", "x")
    before = pair.remote_tip()
    done = pair.a.ok("sync")
    assert "2 entries (auth) went" in done.out
    assert "the push is not visible there yet" in done.err
    assert pair.a.git("rev-parse", "watercooler/threads", cwd=other) == pair.a.tip()
    assert pair.a.tip("origin/watercooler/threads") == pair.remote_tip() == before
    assert pair.a.ok("list", "--json").json["sync"]["ahead"] > 0


def test_a_remote_that_lost_the_branch_gets_it_again(pair: Pair) -> None:
    pair.set_remote("")
    done = pair.a.ok("sync")
    assert done.out == "origin: 4 entries (auth 3, plan) went\n"
    assert done.err == "note: origin no longer had the branch\n"
    assert pair.remote_tip() == pair.a.tip()


def test_a_remote_that_was_set_back_gets_what_it_lost(pair: Pair) -> None:
    pair.set_remote(pair.a.git("rev-parse", "HEAD~2"))
    done = pair.a.ok("sync")
    assert "the history of origin was rewritten" in done.err
    assert "auth" in done.out
    assert pair.remote_tip() == pair.a.tip()


def test_a_remote_that_has_it_all_already(pair: Pair) -> None:
    pair.a.git("push", "-q", str(pair.remote), "watercooler/threads")
    assert pair.a.ok("sync").out == "origin: nothing new, here or there\n"
    assert pair.a.tip("origin/watercooler/threads") == pair.a.tip()


@pytest.mark.parametrize(
    "refspec", ["+refs/heads/*:refs/remotes/origin/*", "", "+refs/*:refs/*"]
)
def test_whatever_git_tracks_of_the_remote(pair: Pair, refspec: str) -> None:
    pair.a.git("config", "--unset-all", "remote.origin.fetch")
    if refspec:
        pair.a.git("config", "remote.origin.fetch", refspec)
    pair.a.ok("sync")
    assert pair.a.tip("origin/watercooler/threads") == pair.a.tip()
    pair.a.check()
