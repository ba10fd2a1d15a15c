"""Answers have what they promise: the shapes agree with them, in both directions."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jsonschema  # type: ignore[import-untyped]
import pytest

from tests.observe.answers import shapes
from tests.observe.answers.shapes import (
    HEALTH_SCHEMA,
    VOCABULARY_SCHEMA,
    WHOAMI_SCHEMA,
)
from tests.observe.stores import NOW_MS, Session, Store
from tests.observe.test_places import git
from wc_observe.answers.health import health_fields
from wc_observe.answers.vocabulary import vocabulary_fields
from wc_observe.answers.whoami import whoami_fields
from wc_observe.callers.calls import Call
from wc_observe.stores.live.stores import Stores

if TYPE_CHECKING:
    from collections.abc import Callable

Fields = dict[str, Any]


@pytest.fixture
def calls(store: Store, env: dict[str, str], tmp_path: Path) -> list[Call]:
    """Calls from a plain store with damage, from a repository with a remote, over a
    network, and from a repository whose store has been deleted."""
    store.thread("good")
    store.thread("bad")
    with Path(store.layout.log("bad")).open("ab") as log:
        log.write(b"\x00garbage\n")
    plain = Call("client", str(store.root.parent), env, lambda: NOW_MS, Stores())
    code = tmp_path / "code" / "app"
    git(code, "init", "-q", "-b", "main")
    git(code, "commit", "-q", "--allow-empty", "-m", "first")
    git(code, "remote", "add", "origin", "https://example.org/app.git")
    checkout = tmp_path / "checkout"
    git(code, "worktree", "add", "-q", "-b", "watercooler/threads", str(checkout))
    gone = tmp_path / "gone" / "app"
    shutil.copytree(code, gone)
    missing = tmp_path / "missing"
    git(gone, "branch", "-m", "watercooler/threads", "unused")
    git(gone, "worktree", "add", "-q", "-b", "watercooler/threads", str(missing))
    shutil.rmtree(missing)
    return [
        plain,
        plain._replace(store_name="team", subject="pat"),
        plain._replace(folder=str(code)),
        plain._replace(folder=str(gone)),
        plain._replace(folder=str(tmp_path)),
    ]


def check(schema: dict[str, Any], answers: list[Fields]) -> None:
    """The answers fit the schema, and together have exactly its properties."""
    validator = jsonschema.Draft202012Validator(schema)
    for fields in answers:
        assert [error.message for error in validator.iter_errors(fields)] == []
    assert {name for fields in answers for name in fields} == set(schema["properties"])


@pytest.mark.parametrize(
    ("schema", "answer"),
    [(HEALTH_SCHEMA, health_fields), (WHOAMI_SCHEMA, whoami_fields)],
)
def test_the_schema_has_what_an_answer_can_have(
    schema: dict[str, Any], answer: Callable[[Call], Fields], calls: list[Call]
) -> None:
    answers = [answer(call) for call in calls]
    check(schema, answers)


# What an answer has only where there is very much, or something is wrong.
RARE = {
    "HISTORY": {"truncated"},
    "STATS": {"truncated"},
    "WORKTREES": {"total", "truncated", "problem"},
    "TEAM": {"truncated"},
    "NEIGHBORS": {"uses", "used_by"},
    # Only of approved threads, see tests/cli/radar/test_approvals.py.
    "CONFLICTS": {"approved", "problem"},
    # Only with scope="all", see tests/observe/graphdb; only by meaning, see
    # tests/observe/answers/test_meaning.py.
    "HITS": {"scope", "source", "problem", "near", "by_words"},
}
LIMITED: list[tuple[str, str, Fields]] = [
    ("LIST", "list_threads", {"limit": 1}),
    ("LIST", "list_threads", {"file": "src/auth.py"}),
    ("LIST", "list_threads", {"ready": True, "limit": 1}),
    ("READ", "read_thread", {"topic": "plan", "limit": 1}),
    ("ENTRY", "read_thread", {"topic": "plan", "entry": "1"}),
    ("READINESS", "read_thread", {"topic": "plan", "why_not_ready": True}),
    ("UPDATES", "list_updates", {"since": "52w", "limit": 1}),
    ("HITS", "search_threads", {"query": "word absent", "limit": 1}),
    ("HITS", "search_threads", {"query": "word", "facets": True}),
    ("HISTORY", "get_stats", {"topic": "plan"}),
    ("STATS", "get_stats", {}),
    ("STATUS", "check_status", {"symbols": ["a.py"]}),
    ("CLAIMS", "list_edits", {}),
    ("ACTIVITY", "list_edits", {"show": "activity"}),
    ("CONFLICTS", "list_edits", {"show": "conflicts"}),
    ("NEIGHBORS", "get_neighbors", {"target": "a.py"}),
    ("WORKTREES", "list_worktrees", {}),
    ("LOOPS", "list_worktrees", {"show": "loops"}),
    ("TEAM", "list_worktrees", {"show": "team"}),
]


def test_answers_in_json_fit_their_shapes(store: Store, session: Session) -> None:
    first = store.give("plan", "Codex", body="word")
    step = store.entry("plan", "word " * 30_000, items_added=("Step",))
    store.thread("plan", first, step)
    store.thread("notes", store.entry("notes", "word"))
    store.thread("long", *(store.entry("long", "word") for _ in range(9)))
    Path(store.layout.log("worse")).mkdir(parents=True)
    named: dict[str, set[str]] = {}
    for shape, tool, arguments in LIMITED:
        fields = session.json(tool, **arguments)
        schema = getattr(shapes, f"{shape}_SCHEMA")
        validator = jsonschema.Draft202012Validator(schema)
        assert [error.message for error in validator.iter_errors(fields)] == []
        named.setdefault(shape, set()).update(fields)
    for shape, names in named.items():
        expected = set(getattr(shapes, f"{shape}_SCHEMA")["properties"])
        assert expected - RARE.get(shape, set()) <= names, shape


def test_the_schema_of_the_vocabulary() -> None:
    check(VOCABULARY_SCHEMA, [vocabulary_fields()])


def test_a_property_too_many_or_too_few_is_noticed() -> None:
    fields = vocabulary_fields()
    with pytest.raises(AssertionError):
        check(VOCABULARY_SCHEMA, [fields | {"colours": ["red"]}])
    with pytest.raises(AssertionError):
        check(VOCABULARY_SCHEMA, [fields | {"roles": "tester"}])
    del fields["roles"]
    with pytest.raises(AssertionError):
        check(VOCABULARY_SCHEMA, [fields])
