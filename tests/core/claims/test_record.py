"""The record of a claim, as the message of a commit."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wc_core.base.times import rfc3339
from wc_core.edits.claims import ids, record
from wc_core.edits.claims.record import Claim

CLAIM = Claim(
    id="src/auth.py::Login",
    mode="write",
    holder="Codex@login (pat)",
    session="0123456789abcdef:12:345",
    worktree="app-wt-login",
    thread="login",
    entry="01M83AEVG7NW7P4EGWYN72P3XP",
    branch="login",
    head="5" * 40,
    ttl_s=900,
    nonce="a" * 32,
    set="b" * 32,
    note="the form",
    at=1_700_000_000,
    oid="c" * 40,
)


def commit(message: bytes, at: int = 1_700_000_000) -> bytes:
    """A commit as git stores it."""
    head = f"tree {'4' * 40}\nauthor a <b> {at} +0000\ncommitter a <b> {at} +0000\n\n"
    return head.encode() + message


def test_a_record_is_read_back() -> None:
    message = record.encode(CLAIM)
    assert record.decode(commit(message), CLAIM.ref, CLAIM.oid) == CLAIM
    fields = json.loads(message.partition(b"\n\n")[2])
    assert list(fields) == [
        *("v", "id", "mode", "holder", "session", "worktree", "thread", "entry"),
        *("branch", "head", "ttl_s", "nonce", "set", "note"),
    ]


@given(
    st.text(min_size=1, max_size=40).filter(ids.is_canonical),
    st.sampled_from(record.MODES),
    st.text(max_size=60),
)
def test_every_record_is_read_back(claim_id: str, mode: str, note: str) -> None:
    claim = CLAIM._replace(id=claim_id, mode=mode, note=note)
    decoded = record.decode(commit(record.encode(claim)), claim.ref, CLAIM.oid)
    assert decoded is not None
    assert (decoded.id, decoded.mode) == (claim_id, mode)
    assert "\n" not in decoded.note


def test_a_signed_record_of_before_is_read() -> None:
    signature = b"gpgsig -----BEGIN SSH SIGNATURE-----\n \n abc\n -----END-----\n\n"
    content = commit(record.encode(CLAIM)).replace(b"\n\n", b"\n" + signature, 1)
    claim = record.decode(content, CLAIM.ref, CLAIM.oid)
    assert claim == record.decode(commit(record.encode(CLAIM)), CLAIM.ref, CLAIM.oid)
    assert claim is not None


def changed(**fields: object) -> bytes:
    """The message of a record in which some fields are others."""
    own = json.loads(record.encode(CLAIM).partition(b"\n\n")[2])
    return b"x\n\n" + json.dumps(own | fields).encode()


@pytest.mark.parametrize(
    "message",
    [
        b"",
        b"x\n\n{",
        b"x\n\n[]",
        b"x\n\n" + b"[" * 5000,
        changed(v=2),
        changed(v="1"),
        changed(id="../../etc/passwd"),
        changed(id="src/other.py"),
        changed(id=7),
        changed(mode="own"),
        changed(holder=""),
        changed(ttl_s="900"),
        changed(ttl_s=True),
        changed(note="x" * record.MAX_RECORD_BYTES),
    ],
)
def test_what_is_not_a_record_is_not_a_claim(message: bytes) -> None:
    assert record.decode(commit(message), CLAIM.ref, CLAIM.oid) is None


def test_nothing_in_a_record_is_believed_beyond_its_bounds() -> None:
    message = changed(ttl_s=10**12, note="a\x1b[2Jb\nc", holder="Co\ndex")
    claim = record.decode(commit(message), CLAIM.ref, CLAIM.oid)
    assert claim is not None
    assert (claim.ttl_s, claim.note, claim.holder) == (record.MAX_TTL, "ab c", "Co dex")


@pytest.mark.parametrize(
    ("at", "expected"), [(-5, 0), (10**16, 253402300799), (10**30, 253402300799)]
)
def test_a_time_that_no_calendar_has_is_cut(at: int, expected: int) -> None:
    claim = record.decode(commit(changed(), at), CLAIM.ref, CLAIM.oid)
    assert claim is not None
    assert claim.at == expected
    assert rfc3339(claim.at * 1000)


def test_readers_have_refs_of_their_own() -> None:
    first = CLAIM._replace(mode="read")
    second = first._replace(holder="Claude Code")
    refs = {CLAIM.ref, first.ref, second.ref}
    assert len(refs) == 3
    assert all(ref.startswith("refs/wc/claims/") for ref in refs)
