"""The words that shell completion offers for an argument or the value of an option."""

from __future__ import annotations

import os

from wc_cli.run import table
from wc_cli.run.completion.scripts import SCRIPTS
from wc_cli.run.context import Context
from wc_cli.run.help.command import OPTIONS
from wc_cli.run.help.overview import groups
from wc_core.base.errors import WcError
from wc_core.ledger.threads.model import ENTRY_TYPES, KINDS, ROLES, SEVERITIES, STATUSES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

# The pages of `wc skill`; a test compares them with the files.
SKILL_PAGES = ("cloud", "edits", "planning", "review", "search", "writing")
# The keys of `wc list --sort`; a test compares them with the command's own.
LIST_ORDERS = ("recent", "age", "topic", "ball", "status", "title")
# The shells' protocols quote these badly or not at all, and the completed word is
# evaluated. Names with one of them are not offered, but can be typed.
_TAKEN_BY_SHELLS = frozenset("\\\"'`$;&|<>*?[]{}!#^~")


def words(kind: str, incomplete: str) -> list[str]:
    """Return the words of this kind that begin with ``incomplete``."""
    try:
        every = _WORDS[kind]()
        if kind == "agent" and incomplete:
            every = [*dict.fromkeys((*every, *_known_agents()))]
    except (WcError, OSError):
        return []  # errors do not belong in a prompt
    return [
        word for word in every if word.startswith(incomplete) and _is_harmless(word)
    ]


def _is_harmless(word: str) -> bool:
    """Return whether terminals and shells treat it as a plain word."""
    return word.isprintable() and _TAKEN_BY_SHELLS.isdisjoint(word)


def _topics() -> list[str]:
    return _stored_topics(_context())


def _agents() -> list[str]:
    """The participants of all threads, and the words for others."""
    context = _context()
    people: set[str] = set()
    for topic in _stored_topics(context):
        try:
            people.update(context.reader.snapshot(topic).state.people)
        except WcError:
            continue  # one damaged thread must not hide the names in others
    return [*sorted(people, key=str.casefold), "anyone", "me"]


def _known_agents() -> Iterable[str]:
    """The agents that may never have been here: too many to be offered without a
    letter."""
    return _context().settings.directory.aliases.values()


def _stored_topics(context: Context) -> list[str]:
    """The topics of the store. Completing a word must not check a store out."""
    return context.reader.topics() if context.place.exists else []


def _context() -> Context:
    return Context(dict(os.environ), os.getcwd())


_WORDS: dict[str, Callable[[], Sequence[str]]] = {
    "topic": _topics,
    "topic or status": lambda: [*_topics(), *STATUSES],
    "agent": _agents,
    "status": lambda: STATUSES,
    "role": lambda: ROLES,
    "type": lambda: ENTRY_TYPES,
    "kind": lambda: KINDS,
    "severity": lambda: SEVERITIES,
    "list order": lambda: LIST_ORDERS,
    "search order": lambda: ("best", "newest"),
    "command or group": lambda: [*table.COMMANDS, *groups(), OPTIONS],
    "shell": lambda: list(SCRIPTS),
    "skill page": lambda: SKILL_PAGES,
}
