"""The URIs of resources, and which of them a change affects."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote

from wc_core.base.errors import InvalidInputError
from wc_core.base.layout import file_name
from wc_core.base.text import one_line
from wc_core.base.values import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

SCHEME = "watercooler://"
THREADS, INDEX = f"{SCHEME}threads", f"{SCHEME}index"
INSTRUCTIONS = f"{SCHEME}instructions"

WORKTREES, LOOP = f"{SCHEME}worktrees", f"{SCHEME}loop"

_FIXED = frozenset({THREADS, INDEX, INSTRUCTIONS, WORKTREES})
_SHOWN = 120
# An entry, by its number or id.
_ENTRY = re.compile(r"-?[0-9A-Za-z_-]{1,100}")


class Changes(NamedTuple):
    """The changes in a store.

    ``topics`` are the changed threads. ``listed`` if a thread was added or removed,
    ``beside`` if something happened in a worktree, ``loops`` if an autonomous loop
    progressed.
    """

    topics: frozenset[str] = frozenset()
    listed: bool = False
    beside: bool = False
    loops: bool = False

    def __bool__(self) -> bool:
        return bool(self.topics) or self.listed or self.beside


def thread_address(topic: str) -> str:
    """Returns the URI of a thread."""
    return f"{THREADS}/{quote(topic, safe='')}"


def changed_addresses(changes: Changes, addresses: Iterable[str]) -> set[str]:
    """Returns those of the given canonical URIs whose content changed."""
    changed = set(map(thread_address, changes.topics))
    if changes.topics or changes.listed:
        changed |= {THREADS, INDEX}
    if changes:
        changed.add(WORKTREES)  # a ball in it may have moved
    return {
        address
        for address in addresses
        if address in changed
        or _thread_of(address) in changed
        or (changes.loops and is_loop(address))
    }


def _thread_of(uri: str) -> str:
    """Returns the URI of an entry's thread, or an empty string."""
    thread, slash, entry = uri.rpartition("/")
    within = slash and thread.startswith(f"{THREADS}/")
    return thread if within and _ENTRY.fullmatch(entry) else ""


def is_loop(uri: str) -> bool:
    """Returns whether this is the URI of an autonomous loop."""
    return uri.startswith(f"{LOOP}/")


def is_about_worktrees(uri: str) -> bool:
    """Returns whether this URI depends on what happens in worktrees."""
    return uri == WORKTREES or is_loop(uri)


def canonical(uri: str) -> str:
    """Returns the canonical spelling of a URI, which need not exist yet.

    Raises InvalidInputError if it cannot be one of our URIs.
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
        return thread_address(name)
    if is_loop(uri) and name and name.isprintable():
        return f"{LOOP}/{quote(name, safe='')}"
    raise _unknown(uri)


def spellings(uris: Iterable[str]) -> dict[str, set[str]]:
    """Returns canonical URIs, each with the client's spellings of it.

    Raises InvalidInputError if one cannot be one of our URIs.
    """
    written: dict[str, set[str]] = {}
    for uri in uris:
        written.setdefault(canonical(uri), set()).add(uri)
    return written


def _unknown(uri: str) -> InvalidInputError:
    return InvalidInputError(
        f"There is no resource {one_line(uri, _SHOWN)!r}.",
        f"There are: {', '.join(sorted(_FIXED))}, {THREADS}/TOPIC, "
        f"{THREADS}/TOPIC/ENTRY, {LOOP}/CHANGE",
    )
