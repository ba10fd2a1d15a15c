"""The addresses of resources, and which of them a change is about."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import quote, unquote

from wc_core.errors import InvalidInputError
from wc_core.layout import file_name
from wc_core.text import one_line

if TYPE_CHECKING:
    from collections.abc import Iterable

SCHEME = "watercooler://"
THREADS, INDEX = f"{SCHEME}threads", f"{SCHEME}index"
INSTRUCTIONS = f"{SCHEME}instructions"

WORKTREES, LOOP = f"{SCHEME}worktrees", f"{SCHEME}loop"

_FIXED = frozenset({THREADS, INDEX, INSTRUCTIONS, WORKTREES})
_SHOWN = 120
# An entry by its number or its id.
_ENTRY = re.compile(r"-?[0-9A-Za-z_-]{1,100}")


class Changes(NamedTuple):
    """What moved: these topics of a store; ``listed`` says that a thread came
    or went, ``beside`` that something happened in a worktree, and ``loops``
    that it was an autonomous loop."""

    topics: frozenset[str] = frozenset()
    listed: bool = False
    beside: bool = False
    loops: bool = False

    def __bool__(self) -> bool:
        return bool(self.topics) or self.listed or self.beside


def of_topic(topic: str) -> str:
    """The address of a thread."""
    return f"{THREADS}/{quote(topic, safe='')}"


def about(changes: Changes, wanted: Iterable[str]) -> set[str]:
    """Which of the wanted addresses (canonical) have other content now."""
    found = set(map(of_topic, changes.topics))
    if changes.topics or changes.listed:
        found |= {THREADS, INDEX}
    if changes:
        found.add(WORKTREES)  # a ball in it may have moved
    return {
        one
        for one in wanted
        if one in found or _thread_of(one) in found or (changes.loops and is_loop(one))
    }


def _thread_of(uri: str) -> str:
    """The address of the thread that an entry is of."""
    thread, slash, entry = uri.rpartition("/")
    within = slash and thread.startswith(f"{THREADS}/")
    return thread if within and _ENTRY.fullmatch(entry) else ""


def is_loop(uri: str) -> bool:
    """Whether it is the address of an autonomous loop."""
    return uri.startswith(f"{LOOP}/")


def is_beside(uri: str) -> bool:
    """Whether it is about what goes on in worktrees."""
    return uri == WORKTREES or is_loop(uri)


def canonical(uri: str) -> str:
    """The one spelling of an address; what it is about need not exist yet.

    Raises InvalidInputError for what can be no address of ours.
    """
    if uri in _FIXED:
        return uri
    thread = _thread_of(uri)
    if thread:
        return f"{canonical(thread)}/{uri.rpartition('/')[2]}"
    name = unquote(uri.removeprefix(SCHEME).partition("/")[2], errors="surrogateescape")
    if uri.startswith(f"{THREADS}/"):
        try:
            file_name(name)
        except InvalidInputError as error:
            raise _unknown(uri) from error
        return of_topic(name)
    if is_loop(uri) and name and name.isprintable():
        return f"{LOOP}/{quote(name, safe='')}"
    raise _unknown(uri)


def spellings(uris: Iterable[str]) -> dict[str, set[str]]:
    """Canonical addresses, each with how a client wrote it.

    Raises InvalidInputError for what can be no address of ours.
    """
    found: dict[str, set[str]] = {}
    for uri in uris:
        found.setdefault(canonical(uri), set()).add(uri)
    return found


def _unknown(uri: str) -> InvalidInputError:
    return InvalidInputError(
        f"There is no resource {one_line(uri, _SHOWN)!r}.",
        f"There are: {', '.join(sorted(_FIXED))}, {THREADS}/TOPIC, "
        f"{THREADS}/TOPIC/ENTRY, {LOOP}/CHANGE",
    )
