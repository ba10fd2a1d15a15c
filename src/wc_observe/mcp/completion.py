"""Completion: possible values for the arguments of prompts and resource templates.

No match is not an error: a user who is still typing just gets no suggestions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcp_types import Completion, PromptReference

from wc_core.base.errors import WcError
from wc_core.base.names import MAX_NAME_BYTES
from wc_observe.answers import worktrees
from wc_observe.callers.calls import CURRENT
from wc_observe.callers.open_store import open_store
from wc_observe.mcp.refusals import guarded

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from fastmcp import FastMCP
    from mcp_types import (
        CompletionArgument,
        CompletionContext,
        ResourceTemplateReference,
    )

    from wc_core.ledger.threads.reader import StoreReader

    Values = Callable[[StoreReader, Mapping[str, str]], Iterable[str]]

# The protocol's limit for one answer.
MAX_VALUES = 100


def complete_argument(
    ref: PromptReference | ResourceTemplateReference,
    argument: CompletionArgument,
    context: CompletionContext | None,
) -> Completion:
    """Returns the values that start with the typed text, then those that contain it.
    ``total`` counts all of them."""
    owner = ref.name if isinstance(ref, PromptReference) else ref.uri
    values = _VALUES.get((owner, argument.name))
    if values is None:
        return Completion(values=[], total=0, has_more=False)
    arguments = dict(context.arguments or {}) if context is not None else {}
    try:
        matches = _matching_values(
            values(open_store(CURRENT.get()).reader, arguments), argument.value
        )
    except WcError:
        matches = []
    return Completion(
        values=matches[:MAX_VALUES],
        total=len(matches),
        has_more=len(matches) > MAX_VALUES,
    )


def _matching_values(values: Iterable[str], typed: str) -> list[str]:
    needle = typed.strip().casefold()
    beginning: list[str] = []
    containing: list[str] = []
    for value in dict.fromkeys(values):
        folded = value.casefold()
        # A menu cannot show a value with unprintable characters.
        if needle in folded and value.isprintable():
            (beginning if folded.startswith(needle) else containing).append(value)
    return beginning + containing


def _topic_values(reader: StoreReader, _: Mapping[str, str]) -> Iterable[str]:
    return reader.topics()


def _agent_values(reader: StoreReader, _: Mapping[str, str]) -> Iterable[str]:
    """Returns everyone who wrote an entry or received a ball, in alphabetical order,
    and the word for a free ball."""
    names: set[str] = set()
    for topic in reader.topics():
        try:
            names.update(reader.snapshot(topic).state.people)
        except WcError:
            continue  # one bad thread must not hide the names in others
    fitting = (name for name in names if len(name.encode()) <= MAX_NAME_BYTES)
    return [*sorted(fitting, key=str.casefold), "anyone"]


def _entry_values(reader: StoreReader, arguments: Mapping[str, str]) -> Iterable[str]:
    """Returns the ids of the topic's entries, latest first."""
    thread = reader.thread(reader.find(arguments.get("topic", "")))
    return [entry.id for entry in reversed(thread.entries)]


def _age_values(_: StoreReader, __: Mapping[str, str]) -> Iterable[str]:
    return ("1h", "4h", "1d", "2d", "1w")


def _change_values(_: StoreReader, __: Mapping[str, str]) -> list[str]:
    return worktrees.change_ids(CURRENT.get())


# (name of a prompt or address of a template, argument) -> its possible values
_VALUES: dict[tuple[str, str], Values] = {
    ("catch_up", "since"): _age_values,
    ("review_thread", "topic"): _topic_values,
    ("draft_handoff", "topic"): _topic_values,
    ("draft_handoff", "to"): _agent_values,
    ("watercooler://threads/{topic}", "topic"): _topic_values,
    ("watercooler://threads/{topic}/{entry}", "topic"): _topic_values,
    ("watercooler://threads/{topic}/{entry}", "entry"): _entry_values,
    ("watercooler://loop/{change_id}", "change_id"): _change_values,
}


def add_completion(server: FastMCP) -> None:
    """Announces and answers completion."""
    server.add_completion_handler(guarded(complete_argument))
