"""Moves of the older tool, found in its ``meta.json``."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tests.core.strategies import chain, entry, linear_logs, relaxed
from wc_core.ledger.threads import folding
from wc_core.ledger.threads.folding import in_effect_order
from wc_core.ledger.threads.model import Ball, Entry
from wc_core.ledger.threads.older import metamoves
from wc_core.ledger.threads.projections import Meta, read_meta, render_meta

AT = "2026-03-01T12:00:00.500+00:00"
HOLDERS = st.sampled_from(["Claude (pat)", "Codex (pat)", "codex", "none", "anyone"])


def rewritten(data: bytes, **fields: Any) -> Meta:
    """The meta as the older tool writes it after it changed ``fields``."""
    known = json.loads(data) | {"last_updated": AT} | fields
    meta = read_meta("t", json.dumps(known, indent=2).encode())
    assert isinstance(meta, Meta)
    assert meta.rewritten
    return meta


def rendered(log: list[Entry]) -> bytes:
    return render_meta(folding.fold("t", log), 5, {})


@relaxed
@given(linear_logs(), st.data())
def test_a_meta_of_wc_is_not_a_move(log: list[Entry], data: st.DataObject) -> None:
    size = data.draw(st.integers(0, len(log)))
    meta = read_meta("t", rendered(log[:size]))
    assert isinstance(meta, Meta)
    assert metamoves.unrecorded_move("t", meta, log) is None


@relaxed
@given(linear_logs(), st.data())
def test_a_meta_that_was_only_rewritten_is_not_a_move(
    log: list[Entry], data: st.DataObject
) -> None:
    size = data.draw(st.integers(0, len(log)))
    meta = rewritten(rendered(log[:size]), summary="new")
    assert metamoves.unrecorded_move("t", meta, log) is None


@relaxed
@given(linear_logs(), HOLDERS, st.sampled_from(["OPEN", "blocked"]))
def test_a_move_is_recorded_once(log: list[Entry], ball: str, status: str) -> None:
    meta = rewritten(rendered(log), ball=ball, status=status)
    move = metamoves.unrecorded_move("t", meta, log)
    before = folding.fold("t", log)
    if move is None:
        return
    after = in_effect_order([*log, move])
    assert metamoves.unrecorded_move("t", meta, after) is None
    state = folding.fold("t", after)
    assert state.status == status.upper()
    shown = metamoves.with_move(before, log, move)
    assert (shown.ball, shown.status) == (state.ball, state.status)


def test_a_move_is_the_same_whatever_else_a_clone_has() -> None:
    log = chain(entry(1), entry(2))
    meta = rewritten(rendered(log), ball="Claude (pat)")
    move = metamoves.unrecorded_move("t", meta, log)
    longer = metamoves.unrecorded_move("t", meta, chain(entry(1), entry(2), entry(3)))
    assert move is not None
    assert longer is not None
    assert metamoves.to_line(move, meta) == metamoves.to_line(longer, meta)
    assert move.ball == Ball("Claude (pat)")


def test_a_log_without_wc_needs_no_record() -> None:
    log = [entry(1, parents=None)]
    meta = rewritten(b"{}", ball="Claude (pat)", status="OPEN", entry_count=1)
    assert metamoves.unrecorded_move("t", meta, log) is None
