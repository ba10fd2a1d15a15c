"""Which commits are made of entries by several authors, decided from values."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wc_cli.ledger.branch.commits import CommitChange
from wc_cli.ledger.settle.committer import (
    Authors,
    CommitPlan,
    RenderedThread,
    split_by_author,
)
from wc_core.ledger.git.authorship import Authorship, Person
from wc_core.ledger.threads import codec
from wc_core.ledger.threads.model import Entry


def _authorship(name: str) -> Authorship:
    person = Person(name, f"{name}@example.org")
    return Authorship(person, person)


PAT, BOT, SETTLER = map(_authorship, ("pat", "bot", "settler"))
SHARED = CommitChange(".gitignore", b".local/\n")


def _entry(topic: str, number: int) -> Entry:
    return Entry(f"01M8{topic}{number:03}", topic, "Codex", "2026-01-01T00:00:00Z")


def _thread(topic: str, count: int, before: bytes = b"") -> RenderedThread:
    """A thread with so many new entries, behind what is committed."""
    lines = [codec.to_line(_entry(topic, number), number) for number in range(count)]
    log = CommitChange(f"{topic}/entries.jsonl", before + b"".join(lines))
    return RenderedThread(topic, 0, (log, CommitChange(f"{topic}.md", b"page")))


def _plan(*threads: RenderedThread, shared: bool = False) -> CommitPlan:
    files = [SHARED] * shared + [file for item in threads for file in item.files]
    entries = tuple(
        (item.topic, entry)
        for item in threads
        for entry in codec.read_log(item.topic, item.files[0].data or b"").entries
        if not entry.id.startswith("old")
    )
    return CommitPlan(tuple(files), entries, tuple(item.topic for item in threads), {})


def _authors(**by_topic: list[Authorship]) -> Authors:
    by_id = {
        _entry(topic, number).id: authorship
        for topic, authorships in by_topic.items()
        for number, authorship in enumerate(authorships)
    }
    return Authors(by_id, SETTLER)


@pytest.mark.parametrize("mixed", [False, True])
def test_what_is_by_nobody_is_in_the_first_commit(*, mixed: bool) -> None:
    auth, plain = _thread("auth", 2), _thread("plain", 0)
    plan = _plan(auth, plain, shared=True)
    authors = _authors(auth=[PAT, BOT if mixed else PAT])
    groups = split_by_author(plan, (auth, plain), authors)
    first = groups[0][0]
    assert first.authorship == (SETTLER if mixed else PAT)
    assert {SHARED, *plain.files} <= set(first.plan.changes)
    assert len(groups) == 1 + mixed


@given(
    st.lists(st.lists(st.sampled_from([PAT, BOT, SETTLER]), max_size=6), max_size=4),
    st.booleans(),
)
def test_every_change_and_every_entry_is_in_one_commit(
    authorships: list[list[Authorship]],
    shared: bool,  # noqa: FBT001
) -> None:
    by_topic = {f"t{number}": names for number, names in enumerate(authorships)}
    threads = [_thread(topic, len(names)) for topic, names in by_topic.items()]
    plan = _plan(*threads, shared=shared)
    authors = _authors(**by_topic)
    parts = [
        item for group in split_by_author(plan, threads, authors) for item in group
    ]
    named = [pair for item in parts for pair in item.plan.entries]
    assert sorted(named) == sorted(plan.entries)
    for item in parts:
        assert item.plan.changes
        assert {authors.of(entry) for _, entry in item.plan.entries} <= {
            item.authorship
        }
    # What the last commit has of each file is what the plan has.
    final = {change.path: change for item in parts for change in item.plan.changes}
    assert set(final.values()) == set(plan.changes)
