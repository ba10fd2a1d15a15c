"""The seal of a log in ``meta.json``: kept by writes, put back where it is missing."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from wc_core.ledger.threads.excerpts.sealed import sealed_thread
from wc_core.ledger.threads.excerpts.sealing import seal_of
from wc_core.ledger.threads.projections import Meta, read_meta, render_meta
from wc_core.ledger.threads.reader import StoreReader

if TYPE_CHECKING:
    from tests.conftest import Repo

META = "graph/baseline/threads/auth/meta.json"


def has_its_seal(repo: Repo) -> bool:
    """Whether the thread has the seal that all of its log gives."""
    reader = StoreReader(os.fspath(repo.store))
    thread, sealed = reader.thread("auth"), sealed_thread(reader, "auth")
    whole = seal_of(thread.log, thread.data)
    assert whole is not None
    return sealed is not None and sealed.seal == whole


def test_every_write_keeps_the_seal(repo: Repo) -> None:
    for words in (
        ("say", "auth", "--title", "Begin"),
        ("say", "auth", "--title", "Go on", "--as", "Codex"),
        ("amend", "auth", "--title", "Go on slowly", "--as", "Codex"),
        ("retract", "auth", "--as", "Codex"),
        ("ack", "auth"),
    ):
        repo.ok(*words)
        assert has_its_seal(repo), words


def test_a_meta_without_a_seal_is_no_damage_and_gets_one(repo: Repo) -> None:
    repo.settled("say", "auth", "--title", "Begin")
    meta = read_meta("auth", (repo.store / META).read_bytes())
    assert isinstance(meta, Meta)
    assert meta.state is not None
    earlier = render_meta(meta.state, meta.log_size, meta.unknown)
    (repo.store / META).write_bytes(earlier)
    assert META not in repo.wc("doctor").out
    assert (repo.store / META).read_bytes() == earlier
    repo.settled("say", "auth", "--title", "Go on")
    assert has_its_seal(repo)


def test_a_meta_by_other_rules_is_no_damage_and_is_rendered_again(repo: Repo) -> None:
    repo.settled("say", "auth", "--title", "Begin")
    repo.settled("say", "t2", "--title", "Begin")
    meta = read_meta("auth", (repo.store / META).read_bytes())
    assert isinstance(meta, Meta)
    assert meta.state is not None
    # The first versions left the ball of a new thread free.
    state = meta.state._replace(ball="")
    for size, is_wrong in ((meta.log_size, False), (meta.log_size - 1, True)):
        earlier = render_meta(state, size, meta.unknown, meta.seal)
        (repo.store / META).write_bytes(earlier)
        assert (META in repo.wc("doctor").out) is is_wrong
    repo.settled("say", "auth", "--title", "Go on")
    assert has_its_seal(repo)
    assert META not in repo.wc("doctor").out
