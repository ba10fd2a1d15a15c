"""Completion: what may stand where an argument of a prompt or of a resource
template belongs. What cannot be found is no error here but nothing to choose
from: somebody is typing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcp_types import Completion, PromptReference

from wc_core.errors import WcError
from wc_core.names import MAX_NAME_BYTES
from wc_observe.answers import worktrees
from wc_observe.calls import CURRENT
from wc_observe.mcp.refusals import guarded
from wc_observe.open_store import open_store

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from fastmcp import FastMCP
    from mcp_types import (
        CompletionArgument,
        CompletionContext,
        ResourceTemplateReference,
    )

    from wc_core.threads.reader import StoreReader

    Values = Callable[[StoreReader, Mapping[str, str]], Iterable[str]]

# The protocol allows no more in one answer.
MOST = 100


def complete(
    ref: PromptReference | ResourceTemplateReference,
    argument: CompletionArgument,
    context: CompletionContext | None,
) -> Completion:
    """Those that begin with what was typed, then those that contain it;
    ``total`` counts all of them."""
    where = ref.name if isinstance(ref, PromptReference) else ref.uri
    values = _VALUES.get((where, argument.name))
    if values is None:
        return Completion(values=[], total=0, has_more=False)
    given = dict(context.arguments or {}) if context is not None else {}
    try:
        found = _matching(
            values(open_store(CURRENT.get()).reader, given), argument.value
        )
    except WcError:
        found = []
    more = len(found) > MOST
    return Completion(values=found[:MOST], total=len(found), has_more=more)


def _matching(values: Iterable[str], typed: str) -> list[str]:
    wanted = typed.strip().casefold()
    first: list[str] = []
    then: list[str] = []
    for one in dict.fromkeys(values):
        text = one.casefold()
        # What does not print cannot be chosen from a menu.
        if wanted in text and one.isprintable():
            (first if text.startswith(wanted) else then).append(one)
    return first + then


def _topics(reader: StoreReader, _: Mapping[str, str]) -> Iterable[str]:
    return reader.topics()


def _agents(reader: StoreReader, _: Mapping[str, str]) -> Iterable[str]:
    """Everybody who wrote or was passed a ball, in alphabetical order, and the
    word for nobody."""
    found: set[str] = set()
    for topic in reader.topics():
        try:
            found.update(reader.snapshot(topic).state.people)
        except WcError:
            continue  # one bad thread hides nobody else's names
    fitting = (one for one in found if len(one.encode()) <= MAX_NAME_BYTES)
    return [*sorted(fitting, key=str.casefold), "anyone"]


def _entries(reader: StoreReader, given: Mapping[str, str]) -> Iterable[str]:
    """The ids of the topic's entries, the latest first."""
    thread = reader.thread(reader.find(given.get("topic", "")))
    return [one.id for one in reversed(thread.entries)]


def _ages(_: StoreReader, __: Mapping[str, str]) -> Iterable[str]:
    return ("1h", "4h", "1d", "2d", "1w")


def _changes(_: StoreReader, __: Mapping[str, str]) -> list[str]:
    return worktrees.change_ids(CURRENT.get())


# (name of a prompt or address of a template, argument) -> what it may be.
_VALUES: dict[tuple[str, str], Values] = {
    ("catch_up", "since"): _ages,
    ("review_thread", "topic"): _topics,
    ("draft_handoff", "topic"): _topics,
    ("draft_handoff", "to"): _agents,
    ("watercooler://threads/{topic}", "topic"): _topics,
    ("watercooler://threads/{topic}/{entry}", "topic"): _topics,
    ("watercooler://threads/{topic}/{entry}", "entry"): _entries,
    ("watercooler://loop/{change_id}", "change_id"): _changes,
}


def add_completion(server: FastMCP) -> None:
    """Announce completion, and answer it."""
    server.add_completion_handler(guarded(complete))
