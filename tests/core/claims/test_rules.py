"""Who may claim what, and when a claim has expired."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.core.claims.test_record import CLAIM
from wc_core.edits.claims import rules, sessions
from wc_core.edits.claims.book import ENDED, HELD, LAPSED, Book

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


def is_me(name: str) -> bool:
    return name == "Me"


@pytest.mark.parametrize(
    ("theirs", "their_mode", "mine", "my_mode", "allowed"),
    [
        ("src/a.py", "write", "src/a.py", "write", False),
        ("src/a.py", "write", "src/a.py", "read", False),
        ("src/a.py", "read", "src/a.py", "write", False),
        ("src/a.py", "read", "src/a.py", "read", True),
        ("src", "write", "src/a.py", "write", False),
        ("src/a.py::f", "write", "src", "write", False),
        ("src", "read", "src/a.py::f", "read", True),
        ("src/a.py::f", "write", "src/a.py::g", "write", True),
        ("src/b.py", "write", "src/a.py", "write", True),
    ],
)
def test_writers_exclude_each_other_and_readers_share(
    theirs: str,
    their_mode: str,
    mine: str,
    my_mode: str,
    allowed: bool,  # noqa: FBT001
) -> None:
    other, wish = claim(theirs, mode=their_mode), claim(mine, "Me", my_mode)
    plan = rules.plan_claims(book(other), [wish], is_me)
    assert (plan.conflicts == ()) is allowed
    assert [change.claim for change in plan.changes] == ([wish] if allowed else [])


def test_all_or_nothing() -> None:
    wishes = [claim("free.py", "Me"), claim("src/a.py", "Me")]
    plan = rules.plan_claims(book(claim("src")), wishes, is_me)
    assert plan == rules.ClaimPlan(conflicts=(claim("src"),))


def test_claiming_again_renews() -> None:
    mine, wish = claim("src", "Me"), claim("src", "Me")._replace(nonce="new")
    plan = rules.plan_claims(book(mine), [wish], is_me)
    assert plan.renewed == ("src",)
    assert plan.changes == (rules.Change(wish.ref, mine.oid, wish),)


def test_another_mode_takes_the_place_of_the_first() -> None:
    mine, wish = claim("src", "Me"), claim("src", "Me", "read")
    plan = rules.plan_claims(book(mine), [wish], is_me)
    assert set(plan.changes) == {
        rules.Change(mine.ref, mine.oid),
        rules.Change(wish.ref, "", wish),
    }


def test_taking_over_removes_whatever_forbids_it() -> None:
    others = [claim("src"), claim("src/a.py::f", "Gemini"), claim("b.py")]
    wish = claim("src/a.py", "Me")
    plan = rules.plan_claims(book(*others), [wish], is_me, takeover=True)
    assert plan.replaced == tuple(others[:2])
    removed = [change.ref for change in plan.changes if change.claim is None]
    assert removed == [other.ref for other in others[:2]]


@pytest.mark.parametrize(
    ("seconds", "standing"), [(0, HELD), (1349, HELD), (1351, LAPSED)]
)
def test_a_claim_lapses_after_one_and_a_half_times_its_ttl(
    seconds: int, standing: str
) -> None:
    theirs = claim("src")._replace(session="another-host:1:2")
    seen = book(theirs)._replace(now_ms=seconds * 1000)
    assert seen.standing(theirs) == standing
    plan = rules.plan_claims(seen, [claim("src/a.py", "Me")], is_me)
    assert bool(plan.conflicts) is (standing == HELD)
    assert bool(plan.replaced) is (standing == LAPSED)


@pytest.mark.parametrize("skew", [-600, 600, 10**9])
def test_no_clock_of_others_counts(skew: int) -> None:
    theirs = claim("src")._replace(at=CLAIM.at + skew)
    assert book(theirs).standing(theirs) == HELD
    late = book(theirs)._replace(now_ms=1351 * 1000)
    assert late.standing(theirs) == LAPSED


def test_a_claim_ends_with_its_session() -> None:
    words = [sys.executable, "-c", "input()"]
    with subprocess.Popen(words, stdin=subprocess.PIPE) as process:
        theirs = claim("src")._replace(session=sessions.session_of(process.pid))
        if not theirs.session:
            pytest.skip("no /proc on this machine")
        assert book(theirs).standing(theirs) == HELD
        process.kill()
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        # A zombie, which nobody has waited for, has ended as well.
        assert book(theirs).standing(theirs) == ENDED
    assert book(theirs).standing(theirs) == ENDED


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
