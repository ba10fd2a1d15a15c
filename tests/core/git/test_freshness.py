"""How fresh a store is, from what the last exchange left."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from wc_core.base.layout import Layout
from wc_core.ledger.git import freshness
from wc_core.ledger.git.freshness import Freshness, Standing

if TYPE_CHECKING:
    from pathlib import Path

NOW_MS = 1_790_000_000_000
AGO = "2026-09-21T14:09:00Z"


def left(root: Path, text: str) -> Freshness | None:
    """What is made of what someone left."""
    layout = Layout(str(root))
    (root / ".local").mkdir()
    (root / ".local/sync.json").write_text(text)
    return freshness.load(layout)


def test_what_was_left_is_read_back(tmp_path: Path) -> None:
    found = Freshness("origin", AGO, "a", "b", 2, 1, "no answer", "wait", AGO, 3, True)
    assert left(tmp_path, json.dumps(found._asdict())) == found


@pytest.mark.parametrize("text", ["", "{", "[]", "null", "7", "[" * 5000])
def test_what_nobody_can_read_is_as_if_it_were_not_there(
    tmp_path: Path, text: str
) -> None:
    assert left(tmp_path, text) is None


def test_nothing_is_left_where_nothing_travelled(tmp_path: Path) -> None:
    assert freshness.load(Layout(str(tmp_path))) is None


def test_fields_of_another_shape_say_nothing(tmp_path: Path) -> None:
    fields = {"remote": "origin", "ahead": "many", "behind": True, "more": 1}
    assert left(tmp_path, json.dumps(fields)) == Freshness("origin")


def test_ages_are_counted_from_what_was_noted() -> None:
    now = NOW_MS / 1000
    assert Freshness(fetched_at=AGO).age(now) == 260
    assert Freshness().age(now) == float("inf")


@pytest.mark.parametrize(
    ("standing", "sentence"),
    [
        (Standing("origin", tracked=False), "origin: does not have the branch"),
        (Standing("origin", tracked=True), "origin: not in step"),
        (Standing("origin", True, "", 0, 0), "origin: in step"),
        (Standing("o", True, "", 1, 0), "o: 1 commit to push"),
        (
            Standing("o", True, AGO, 2, 3),
            "o: 2 commits to push · 3 commits to merge · fetched 4m ago",
        ),
        (
            Standing("o", True, "", 0, 1, "no\nanswer"),
            "o: 1 commit to merge · no answer",
        ),
    ],
)
def test_it_is_one_sentence(standing: Standing, sentence: str) -> None:
    assert standing.sentence(NOW_MS) == sentence


def test_it_is_in_the_json() -> None:
    fields: dict[str, Any] = Standing("o", True, AGO, 2, None).to_json()
    assert fields == {"remote": "o", "fetched_at": AGO, "ahead": 2, "behind": None}
    never = Standing("o", tracked=False, problem="no answer").to_json()
    assert (never["fetched_at"], never["problem"]) == (None, "no answer")
