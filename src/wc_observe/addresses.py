"""The addresses of resources, and which of them a change is about."""

from __future__ import annotations

from typing import NamedTuple
from urllib.parse import quote, unquote

from wc_core.errors import InvalidInputError
from wc_core.layout import file_name
from wc_core.text import one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

SCHEME = "watercooler://"
THREADS, INDEX = f"{SCHEME}threads", f"{SCHEME}index"
INSTRUCTIONS = f"{SCHEME}instructions"

_FIXED = frozenset({THREADS, INDEX, INSTRUCTIONS})
_SHOWN = 120


class Changes(NamedTuple):
    """What moved in a store: these topics; ``listed`` says that a thread came
    or went."""

    topics: frozenset[str] = frozenset()
    listed: bool = False

    def __bool__(self) -> bool:
        return bool(self.topics) or self.listed


def of_topic(topic: str) -> str:
    """The address of a thread."""
    return f"{THREADS}/{quote(topic, safe='')}"


def about(changes: Changes) -> frozenset[str]:
    """The addresses whose content these changes may have changed."""
    if not changes:
        return frozenset()
    return frozenset({THREADS, INDEX, *map(of_topic, changes.topics)})


def canonical(uri: str) -> str:
    """The one spelling of an address; the thread need not exist yet.

    Raises InvalidInputError for what can be no address of ours.
    """
    if uri in _FIXED:
        return uri
    topic = unquote(uri.removeprefix(f"{THREADS}/"), errors="surrogateescape")
    if uri.startswith(f"{THREADS}/"):
        try:
            file_name(topic)
        except InvalidInputError as error:
            raise _unknown(uri) from error
        return of_topic(topic)
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
        f"There are: {', '.join(sorted(_FIXED))}, {THREADS}/TOPIC",
    )
