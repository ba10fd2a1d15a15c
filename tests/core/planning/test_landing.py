"""Why a branch cannot land, as far as its thread says it."""

from __future__ import annotations

import pytest

from wc_core.base.names import MINE, OTHERS
from wc_core.ledger.planning.landing import (
    LandingBranches,
    LandingThread,
    approval_obstacle,
    landing_obstacles,
)
from wc_core.ledger.threads.landings import NO_LANDING, Landing
from wc_core.ledger.threads.model import NO_REVIEW, Review

# Approved, and Pat's; only its branch is not here, as there is no repository.
THREAD = LandingThread(
    "OPEN", "Pat", MINE, "login", Review("approved", "Pat", "Codex"), NO_LANDING
)
ABSENT = ("BRANCH", "its branch login is not in this repository")


@pytest.mark.parametrize(
    ("fields", "needs", "code", "text"),
    [
        ({"review": NO_REVIEW}, "approved", "REVIEW", "it is not approved"),
        (
            {"review": Review("changes_requested", "Pat", "Codex")},
            *("approved", "REVIEW", "changes requested"),
        ),
        ({}, "closed", "STATUS", "it is not closed"),
        ({"status": "BLOCKED"}, "nothing", "STATUS", "it is BLOCKED"),
        (
            {"ownership": OTHERS, "ball": "Codex"},
            *("approved", "BALL", "its ball is Codex's"),
        ),
        ({"waits": ("db",)}, "approved", "WAITS", "it waits for db"),
    ],
)
def test_each_reason_has_a_code_and_words(
    fields: dict[str, object], needs: str, code: str, text: str
) -> None:
    thread = THREAD._replace(**fields)  # type: ignore[arg-type]
    branches = LandingBranches(None, "main")
    obstacles = landing_obstacles(thread, branches, needs)
    assert {(item.code, item.text) for item in obstacles} == {(code, text), ABSENT}


@pytest.mark.parametrize(
    ("branch", "onto", "code", "text"),
    [
        ("login", "", "BASE", "there is no branch to land on"),
        ("", "main", "BRANCH", "it belongs to no branch"),
        ("main", "main", "BRANCH", "it belongs to main itself"),
        (
            *("watercooler/threads", "main", "BRANCH"),
            "it belongs to watercooler/threads, which holds the threads",
        ),
    ],
)
def test_a_branch_of_its_own_is_needed(
    branch: str, onto: str, code: str, text: str
) -> None:
    thread = THREAD._replace(branch=branch)
    (obstacle,) = landing_obstacles(thread, LandingBranches(None, onto), "approved")
    assert (obstacle.code, obstacle.text) == (code, text)


def test_a_branch_that_is_gone_has_landed_if_the_thread_says_so() -> None:
    landing = Landing("main", "1", "2", "3")
    thread = THREAD._replace(status="CLOSED", landing=landing)
    (obstacle,) = landing_obstacles(thread, LandingBranches(None, "main"), "approved")
    assert (obstacle.code, obstacle.text) == ("LANDED", "it has landed on main")


TIP, OLDER = "a" * 40, "b" * 40


@pytest.mark.parametrize(
    ("outcome", "commit", "must_be_approved", "code"),
    [
        ("approved", TIP, True, ""),
        ("approved", OLDER, True, "NEWER"),
        ("approved", OLDER, False, "NEWER"),
        ("approved", "", True, "APPROVAL"),
        ("approved", "", False, ""),
        ("", "", False, ""),
    ],
)
def test_an_approval_is_about_one_commit(
    outcome: str, commit: str, *, must_be_approved: bool, code: str
) -> None:
    review = Review(outcome, "Pat", "Codex", commit=commit)
    thread = THREAD._replace(review=review)
    reason = approval_obstacle(thread, TIP, must_be_approved=must_be_approved)
    assert (reason.code if reason is not None else "") == code
