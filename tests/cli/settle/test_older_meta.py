"""A ``meta.json`` by an older wc is no damage, and stays until the next write."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from wc_core.ledger.threads import projections
from wc_core.ledger.threads.projections import Meta, read_meta, render_meta
from wc_core.ledger.threads.reader import StoreReader

if TYPE_CHECKING:
    from tests.conftest import Repo

META = "graph/baseline/threads/auth/meta.json"


def meta_of(data: bytes) -> Meta:
    meta = read_meta("auth", data)
    assert isinstance(meta, Meta)
    return meta


def with_former_key(data: bytes) -> bytes:
    """The meta as earlier versions wrote it, with a key about the bytes of the log."""
    head, _, _ = data.rpartition(b',"check":')
    head += b',"sealed":[1234,["Codex"],true,[]]'
    return head + projections._checksum_end(head)


def test_a_former_key_goes_with_the_next_write(repo: Repo) -> None:
    repo.settled("say", "auth", "--title", "Begin")
    repo.settled("say", "t2", "--title", "Begin")
    now = (repo.store / META).read_bytes()
    earlier = with_former_key(now)
    (repo.store / META).write_bytes(earlier)
    assert meta_of(earlier) == meta_of(now)
    assert StoreReader(os.fspath(repo.store)).snapshot("auth").fresh
    assert META not in repo.wc("doctor").out
    assert META not in repo.wc("doctor", "--repair").out
    repo.settled("say", "t2", "--title", "Go on")
    assert (repo.store / META).read_bytes() == earlier
    repo.settled("say", "auth", "--title", "Go on")
    assert b"sealed" not in (repo.store / META).read_bytes()


def test_a_meta_by_other_rules_is_no_damage_and_is_rendered_again(repo: Repo) -> None:
    repo.settled("say", "auth", "--title", "Begin")
    repo.settled("say", "t2", "--title", "Begin")
    meta = meta_of((repo.store / META).read_bytes())
    assert meta.state is not None
    # The first versions left the ball of a new thread free.
    state = meta.state._replace(ball="")
    for size, is_wrong in ((meta.log_size, False), (meta.log_size - 1, True)):
        (repo.store / META).write_bytes(render_meta(state, size, meta.unknown))
        assert (META in repo.wc("doctor").out) is is_wrong
    repo.settled("say", "auth", "--title", "Go on")
    assert META not in repo.wc("doctor").out
