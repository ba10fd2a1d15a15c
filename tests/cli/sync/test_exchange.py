"""The result of an exchange, as a value."""

from __future__ import annotations

import time

from wc_cli.ledger.settle.settler import Settlement
from wc_cli.ledger.sync.exchange import MAX_ROUNDS, Exchange, Waiting, pause_seconds


def test_a_note_is_there_once_and_in_order() -> None:
    exchange = Exchange("origin").with_notes("b", "a").with_notes("a", "c", "c")
    assert exchange.notes == ("b", "a", "c")


def test_settlements_add_up() -> None:
    first = Settlement({"": "disk full", "auth": "torn"}, joined=True, outvoted=("a",))
    second = Settlement({"auth": "torn"}, outvoted=("b",))
    exchange = Exchange("origin").with_settlement(first).with_settlement(second)
    assert exchange.joined
    assert exchange.outvoted == ("a", "b")
    assert exchange.notes == ("disk full", "auth: torn")


def test_nothing_moved_if_there_is_nothing_to_report() -> None:
    assert not Exchange("origin", joined=True).moved
    assert Exchange("origin").with_notes("x").moved
    assert Exchange("origin", behind=1).moved


def test_a_remote_has_at_least_a_second() -> None:
    before = time.monotonic()
    assert Waiting.at_most(0).deadline >= before + 1
    assert Waiting.at_most(20).deadline >= before + 20
    assert Waiting(before).seconds == 0


def test_the_pause_after_a_lost_race_doubles_up_to_a_limit() -> None:
    for lost in range(1, 12):
        rounds = min(2**lost, MAX_ROUNDS)
        pauses = [pause_seconds(lost, 0.5) for _ in range(200)]
        assert all(0 <= pause <= 0.5 * rounds for pause in pauses)
        # Clones that lost the same race do not try again at the same time.
        assert max(pauses) - min(pauses) > 0.25 * rounds
