"""Links of two clones: each makes half of a cycle while they are apart."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.cli.claims.test_claims_between_clones import Clones
from wc_core.attention.status.balls import Balls
from wc_core.base.names import Directory
from wc_core.ledger.threads.reader import StoreReader

if TYPE_CHECKING:
    from pathlib import Path

    from tests.contract.inprocess import Here

PAT, SAM = ("--as", "Codex"), ("--as", "Gemini")


@pytest.fixture
def clones(tmp_path: Path) -> Clones:
    clones = Clones(tmp_path)
    for topic in ("a", "b", "c"):
        clones.pat.ok("new", topic, "--title", "T", "--to", "anyone", *PAT)
    for repo in (clones.pat, clones.sam):
        repo.ok("sync")
    return clones


def ready(repo: Here) -> list[str]:
    return sorted(row["topic"] for row in repo.json("ready", *PAT)["threads"])


def held(repo: Here) -> list[str]:
    """The threads that call someone to act."""
    balls = Balls(StoreReader(str(repo.store)), Directory())
    return sorted({ball.topic for ball in balls.held(balls.folders())})


def test_every_clone_has_the_same_plan(clones: Clones) -> None:
    away = clones.hub.with_name("away")
    clones.hub.rename(away)
    clones.pat.ok("link", "a", "waits-for", "b", *PAT)
    clones.sam.ok("link", "b", "waits-for", "c", *SAM)
    clones.sam.ok("link", "c", "waits-for", "a", *SAM)
    away.rename(clones.hub)
    for repo in (clones.pat, clones.sam, clones.pat):
        repo.ok("sync")
    for repo in (clones.pat, clones.sam):
        assert ready(repo) == ["c"]
        assert held(repo) == ["auth", "c"]
        assert repo.json("tree", *PAT)["ignored"] == ["c waits for a"]
        out = repo.wc("doctor").out
        assert "c waits for a does not count: it closes a cycle" in out
        assert "wc unlink c a" in out


def test_a_link_that_counts_no_longer_calls_its_thread(clones: Clones) -> None:
    clones.sam.ok("new", "d", "--title", "T", "--to", "anyone", *SAM)
    clones.pat.ok("sync")
    away = clones.hub.with_name("away")
    clones.hub.rename(away)
    clones.sam.ok("link", "c", "waits-for", "d", *SAM)
    for topic, target in (("b", "c"), ("d", "a"), ("a", "b")):
        clones.pat.ok("link", topic, "waits-for", target, *PAT)
    away.rename(clones.hub)
    for repo in (clones.pat, clones.sam, clones.pat):
        repo.ok("sync")
    # The link of a is the latest, but that of c closes the cycle here.
    for repo in (clones.pat, clones.sam):
        assert (ready(repo), held(repo)) == (["a"], ["a", "auth"])
    clones.sam.ok("unlink", "c", "d", *SAM)
    clones.pat.ok("sync")
    for repo in (clones.sam, clones.pat):
        assert (ready(repo), held(repo)) == (["c"], ["auth", "c"])


def test_a_thread_that_another_clone_closes_frees_what_waits_here(
    clones: Clones,
) -> None:
    clones.pat.ok("link", "a", "waits-for", "b", *PAT)
    assert held(clones.pat) == ["auth", "b", "c"]
    clones.sam.ok("sync")
    assert held(clones.sam) == ["auth", "b", "c"]
    clones.sam.ok("set-status", "b", "CLOSED", *SAM)
    assert held(clones.sam) == ["a", "auth", "c"]
    clones.pat.ok("sync")
    assert held(clones.pat) == ["a", "auth", "c"]
