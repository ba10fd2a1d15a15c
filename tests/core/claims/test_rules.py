"""Who may claim what, and when a claim has expired."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from tests.core.claims.test_record import CLAIM
from wc_core.edits.claims import sessions
from wc_core.edits.claims.book import Book

if TYPE_CHECKING:
    from wc_core.edits.claims.record import Claim


def claim(claim_id: str, holder: str = "Codex", mode: str = "write") -> Claim:
    """A claim with a commit of its own."""
    made = CLAIM._replace(id=claim_id, holder=holder, mode=mode, session="")
    return made._replace(oid=f"{hash((claim_id, holder, mode)) & 0xFFFF:040x}")


def book(*claims: Claim) -> Book:
    refs = {claim.ref: claim.oid for claim in claims}
    seen = dict.fromkeys(refs.values(), 0)
    return Book(claims, refs, seen, now_ms=0)


@pytest.mark.parametrize(
    "session", ["", "x", "::", "a:b:c", "other:1:2", f"{'0' * 16}:1:2"]
)
def test_a_session_of_another_machine_is_unknown(session: str) -> None:
    assert sessions.state(session) == sessions.UNKNOWN


def test_another_process_with_the_same_id_is_another_session() -> None:
    own = sessions.session_of(os.getpid())
    if not own:
        pytest.skip("no /proc on this machine")
    host, pid, begin = own.split(":")
    assert sessions.state(own) == sessions.RUNNING
    assert sessions.state(f"{host}:{pid}:{int(begin) - 1}") == sessions.ENDED
