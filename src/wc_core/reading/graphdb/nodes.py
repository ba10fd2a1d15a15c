"""A thread in the graph: its nodes and edges, computed from the thread alone.

The same thread always gives the same values, so comparing them shows what differs in
the graph. `digest` is the short form of that comparison.
"""

from __future__ import annotations

import hashlib

from wc_core.base.text import one_line
from wc_core.base.values import NamedTuple
from wc_core.ledger.planning.older import stopped_by_older
from wc_core.ledger.summaries.choosing import MODEL
from wc_core.ledger.summaries.kept import MOST, NOTHING_KEPT
from wc_core.ledger.threads.jsontext import dumps
from wc_core.lookup.mentions import recorded
from wc_core.lookup.threadwords import thread_words
from wc_core.lookup.words import plain_words
from wc_core.reading.graphdb.schema import word_field
from wc_core.reading.views.entries import numbered

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from wc_core.ledger.summaries.kept import KeptSummaries
    from wc_core.ledger.threads.model import State
    from wc_core.ledger.threads.reader import Thread
    from wc_core.lookup.threadwords import ThreadWords
    from wc_core.reading.views.entries import Numbered

_TITLE_WIDTH = 500
# The greatest number that the database has; anyone can write a greater one into a log.
_GREATEST = 2**63 - 1
# In characters: its indexes have 4096 bytes of a text.
_LONGEST_KEY = 1000


class EntryNode(NamedTuple):
    """An entry: its properties, its author, the files that it records, and the id of
    the question that it answers. ``vector`` is empty if it has none."""

    key: str
    id: str
    properties: Mapping[str, Any]
    author: str
    files: tuple[str, ...] = ()
    answers: str = ""
    vector: tuple[float, ...] = ()

    @property
    def digest(self) -> str:
        """A short value that changes if anything but its vector does."""
        return digest([*self[:-1]])


class Asking(NamedTuple):
    """An open question of a thread: who is asked, by whom, and the entry that asks."""

    addressee: str
    asker: str
    id: str
    title: str


class ThreadNode(NamedTuple):
    """A thread: its properties, who holds its ball (empty if no one does), its links as
    kind and topic, its open questions, and its entries."""

    key: str
    topic: str
    properties: Mapping[str, Any]
    holder: str
    links: tuple[tuple[str, str], ...]
    questions: tuple[Asking, ...]
    entries: tuple[EntryNode, ...]

    @property
    def digest(self) -> str:
        """A short value that changes if anything but its entries does."""
        return digest([*self[:-1]])


def digest(values: Sequence[Any]) -> str:
    """Returns a short value that changes if the values do."""
    return hashlib.blake2b(dumps(values).encode(), digest_size=12).hexdigest()


def node_key(owner: str, name: str) -> str:
    """Returns the key of a node: of a thread or a file, whose owner is a repository, or
    of an entry, whose owner is the key of a thread."""
    return findable(f"{owner}#{name}")


def findable(text: str) -> str:
    """Returns a text by which a graph finds a node: nodes with a longer one are not
    found, and would be made again each time."""
    stored = storable(text)
    if len(stored) <= _LONGEST_KEY:
        return stored
    return f"{stored[: _LONGEST_KEY - 25]}~{digest([stored])}"


def storable(text: str) -> str:
    """Returns a text as a graph can store it: no NUL, and no lone surrogates."""
    if text.isascii() and "\0" not in text:
        return text
    return text.replace("\0", "\ufffd").encode(errors="replace").decode()


def thread_node(
    repository: str,
    thread: Thread,
    vectors: Mapping[str, Sequence[float]],
    kept: KeptSummaries = NOTHING_KEPT,
) -> ThreadNode:
    """Returns a thread of a repository with its entries as they are shown: with amended
    texts, and without retracted ones. ``vectors`` are those of entries, by id, and
    ``kept`` the summaries that models wrote."""
    state, snapshot = thread.state, thread.snapshot
    key = node_key(repository, state.topic)
    entries = {
        item.entry.id: _entry_node(
            (repository, key, thread_words(snapshot)),
            item,
            vectors,
            "" if item.entry.summary else _model_summary(item, kept),
        )
        for item in numbered(thread)
    }
    properties = {
        "key": key,
        "repository": repository,
        "topic": state.topic,
        "name": snapshot.name,
        "title": one_line(state.title, _TITLE_WIDTH),
        "status": state.status,
        "ball": state.ball or "",
        "since": state.since,
        "branch": state.branch,
        "summary": state.summary,
        "tags": list(snapshot.tags),
        "entries": len(entries),
        "last_id": state.last_id,
        "created_at": state.created_at,
        "updated_at": state.updated_at,
        "updated_by": state.updated_by,
        "passed_by": _passed_by(state),
        "gates": stopped_by_older(state.gates, state.updated_at),
    }
    return ThreadNode(
        key,
        storable(state.topic),
        _storable_values(properties),
        findable(state.ball or ""),
        tuple(sorted({(link.kind, storable(link.topic)) for link in state.links})),
        tuple(
            Asking(
                findable(item.asked),
                *map(storable, (item.asker, item.id, one_line(item.title))),
            )
            for item in state.questions
        ),
        tuple(entries.values()),
    )


def _passed_by(state: State) -> str:
    passes = reversed(state.passes)
    return next((move.by for move in passes if move.to == state.ball), "")


def _model_summary(item: Numbered, kept: KeptSummaries) -> str:
    record = kept.of(item.entry)
    return one_line(record.summary, MOST) if record is not None else ""


def _entry_node(
    owner: tuple[str, str, ThreadWords],
    item: Numbered,
    vectors: Mapping[str, Sequence[float]],
    model_summary: str,
) -> EntryNode:
    """The node of an entry. Its ``owner`` is a repository, the key of a thread, and
    that thread's words."""
    repository, thread, words_of_thread = owner
    entry = item.entry
    key = node_key(thread, entry.id)
    texts = {
        "title": entry.title,
        "body": entry.body,
        "topic": words_of_thread.names,
        "author": entry.agent,
        "tag": words_of_thread.tags,
        "recorded": recorded(entry),
    }
    properties = {
        "key": key,
        "repository": repository,
        "topic": entry.topic,
        "id": entry.id,
        "idx": item.idx,
        "at": entry.at,
        "author": entry.agent,
        "title": entry.title,
        "body": entry.body,
        "summary": entry.summary or model_summary,
        "summary_by": MODEL if model_summary else "",
        "role": entry.role,
        "type": entry.type,
        "kind": entry.any_kind,
        "severity": entry.severity,
        "outcome": entry.outcome,
        "branch": entry.code_branch,
        "commit": entry.code_commit,
        "prs": [number for number in entry.pr_refs if abs(number) <= _GREATEST],
        "commits": list(entry.commit_refs),
        "mark": item.mark,
        **{
            word_field(field): plain_words(text)
            for field, text in texts.items()
            if text or field != "tag"
        },
    }
    files = {*entry.file_refs, *(reference.path for reference in entry.line_refs)}
    return EntryNode(
        key,
        storable(entry.id),
        _storable_values(properties),
        findable(entry.agent),
        tuple(sorted(map(storable, files))),
        storable(entry.answers),
        tuple(vectors.get(entry.id, ())),
    )


def _storable_values(properties: Mapping[str, Any]) -> dict[str, Any]:
    """The properties without empty ones, which a graph need not store."""
    return {
        name: _storable_value(value)
        for name, value in properties.items()
        if value not in ("", [])
    }


def _storable_value(value: Any) -> Any:
    if isinstance(value, str):
        return storable(value)
    if isinstance(value, list):
        return [_storable_value(item) for item in value]
    return value
