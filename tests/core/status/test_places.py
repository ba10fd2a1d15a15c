"""Where a thread is."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wc_core.attention.status.places import (
    MAIN,
    Surroundings,
    branch_places,
    has_seat,
    is_branch,
    places_of,
    worktree_places,
)
from wc_core.base import ulid
from wc_core.base.names import Name
from wc_core.ledger.threads.model import State

if TYPE_CHECKING:
    from collections.abc import Sequence


def thread(topic: str, ball: str | None, at: int = 1, **more: Any) -> State:
    """A thread whose ball has been where it is since ``at``."""
    return State(topic, ball=ball, since=ulid.encode(at), **more)


class Tree(NamedTuple):
    """A worktree as `worktree_places` needs it."""

    branch: str = ""
    change_id: str = ""
    worktree_id: str = ""
    rebased: str = ""


@pytest.mark.parametrize(
    "branch",
    ["main", "feature/auth", "ünï", "a.b/c", "-x", "100%", "b" * 255],
)
def test_a_branch_is_a_place(branch: str) -> None:
    assert places_of(State("topic", branch=branch)) == (branch, "topic")


@pytest.mark.parametrize(
    "branch",
    [
        *("", "/", "/etc", "a/", "a//b", "..", "a/../b", ".t", "a/.t", "a\nb", "a b"),
        *("a\x7f", "*", "a?", "[", "\\", chr(0xD800), "b" * 256, "\0"),
        "/".join(["b" * 99] * 11),
    ],
)
def test_what_cannot_be_a_branch_is_no_place(branch: str) -> None:
    assert places_of(State("topic", branch=branch)) == ("topic",)


@pytest.mark.parametrize("branch", ["fix-auth", "fix/auth"])
def test_a_thread_named_after_its_branch_has_one_place(branch: str) -> None:
    assert places_of(State("fix-auth", branch=branch)) == (branch,)
    held = thread("fix-auth", f"Codex@{branch}", branch=branch)
    assert places_of(held) == (branch,)


@pytest.mark.parametrize(
    ("ball", "places"),
    [
        ("Codex", ()),
        ("Codex (login)", ()),
        ("Codex@login", ("login",)),
        ("Codex@feature/auth (pat)", ("feature/auth",)),
        ("Codex@login.3f2a1b", ("login.3f2a1b", "login")),
        ("Codex@v1.2", ("v1.2",)),
        ("Codex@main", ("main", MAIN)),
        ("Codex@main.3f2a1b", ("main.3f2a1b", "main", MAIN)),
        ("Codex@left side", ()),
        ("Codex@../../etc", ()),
        ("Codex@.main", ()),
        (None, ()),
        ("", ()),
    ],
)
def test_the_holder_s_seat_is_a_place(ball: str | None, places: Sequence[str]) -> None:
    assert places_of(thread("topic", ball)) == ("topic", *places)


def test_a_renamed_thread_is_at_both_names() -> None:
    assert places_of(State("old", names=("older", "new"))) == ("old", "new")


@pytest.mark.parametrize(
    ("tree", "places"),
    [
        (None, ()),
        (Tree("main"), ("main", MAIN)),
        (Tree(), (MAIN,)),
        (Tree("main", "main"), ("main", MAIN)),
        (
            Tree("feature/auth", "auth-2", "t"),
            ("feature/auth", "feature-auth", "auth-2"),
        ),
        (Tree("a/b", "a-b", "t"), ("a/b", "a-b")),
        (Tree("", "", "tree"), ("tree",)),
        (Tree("", "x", "tree", "a/b"), ("a/b", "a-b", "x", "tree")),
    ],
)
def test_the_places_of_a_worktree(tree: Tree | None, places: Sequence[str]) -> None:
    assert worktree_places(tree) == places


def test_the_places_of_a_branch() -> None:
    assert branch_places("") == ()
    assert branch_places("main") == ("main",)
    assert branch_places("a/b/c") == ("a/b/c", "a-b-c")


@pytest.mark.parametrize(
    ("key", "seated"),
    [
        ("codex@fix(pat)", True),
        ("codex@f", True),
        ("gemini@s@t(u)(v)", True),
        ("codex", False),
        ("codex(pat@fix)", False),
        ("codex@(pat)", False),
        ("codex@", False),
        ("@a", False),
        ("(x)", False),
        ("", False),
    ],
)
def test_keys_with_a_seat(key: str, *, seated: bool) -> None:
    assert has_seat(key) == seated


@given(
    st.sampled_from(["login", "a/b", "x.3f2a1b", "fix", "main", "é"]),
    st.sampled_from(["Codex", "claude code", "Zoë"]),
    st.sampled_from(["", "pat"]),
)
def test_who_sits_in_a_worktree_has_its_balls_here(
    seat: str, agent: str, tag: str
) -> None:
    me = Name(agent, seat, tag)
    state = thread("topic", str(me))
    assert Surroundings(me=me).has(state)
    assert Surroundings(branch_places(seat)).has(state)
    assert not Surroundings(me=me._replace(seat="other")).has(state)
    assert not Surroundings(me=me._replace(agent="Other")).has(state)
    assert not Surroundings(me=me._replace(seat="")).has(state)


TEXT = st.text(st.characters(), max_size=60)


@given(TEXT, st.one_of(st.none(), TEXT), TEXT)
def test_places_are_paths_below_a_folder(
    topic: str, ball: str | None, branch: str
) -> None:
    places = places_of(State(topic, ball=ball, branch=branch))
    assert len(set(places)) == len(places)
    for place in places:
        assert os.path.normpath(f"b/{place}") == f"b/{place}"
        assert is_branch(place) or place == MAIN or "/" not in place
