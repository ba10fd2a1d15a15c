"""The kinds of links between threads, and the words for them.

A link is stored in the log of the thread that it is about: "ui waits for api" is a link
of ui, of the kind ``blocked_by``.
"""

from __future__ import annotations

from wc_core.base.errors import InvalidInputError
from wc_core.base.names import near_names
from wc_core.base.values import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

BLOCKED_BY, PARENT, SIDEQUEST_OF = "blocked_by", "parent", "sidequest_of"
RELATES, DISCOVERED_FROM, DUPLICATES = "relates", "discovered_from", "duplicates"
KINDS = (BLOCKED_BY, PARENT, SIDEQUEST_OF, RELATES, DISCOVERED_FROM, DUPLICATES)
# The kinds that determine the order of threads.
ORDERING = frozenset({BLOCKED_BY, PARENT})

_SENTENCES = {
    BLOCKED_BY: "{} waits for {}",
    PARENT: "{} is part of {}",
    SIDEQUEST_OF: "{} is a sidequest of {}",
    RELATES: "{} relates to {}",
    DISCOVERED_FROM: "{} was discovered in {}",
    DUPLICATES: "{} duplicates {}",
}


class Verb(NamedTuple):
    """The meaning of a word for a link: the kind, and whether the second thread has the
    link, as in "api blocks ui"."""

    kind: str
    is_inverse: bool = False


_FORWARD = {
    BLOCKED_BY: "blocked-by waits-for waiting-for waits-on depends-on needs requires "
    "after",
    PARENT: "parent child-of part-of subtask-of in under",
    SIDEQUEST_OF: "sidequest-of a-sidequest-of side-quest-of",
    RELATES: "relates relates-to related-to see",
    DISCOVERED_FROM: "discovered-from discovered-in found-in",
    DUPLICATES: "duplicates duplicate-of",
}
_INVERSE = {
    BLOCKED_BY: "blocks before",
    PARENT: "parent-of has contains",
    SIDEQUEST_OF: "has-sidequest",
    DISCOVERED_FROM: "led-to",
    DUPLICATES: "duplicated-by",
}
VERBS = {
    **{word: Verb(kind) for kind, text in _FORWARD.items() for word in text.split()},
    **{
        word: Verb(kind, is_inverse=True)
        for kind, text in _INVERSE.items()
        for word in text.split()
    },
}


def verb(words: Sequence[str], before: str = "B", after: str = "A") -> Verb:
    """The typed verb, in one word or several: ``waits-for``, ``is part of``. Raises
    InvalidInputError, which suggests a similar verb between the words ``before`` and
    ``after`` it."""
    typed = "-".join(words).replace("_", "-").replace(" ", "-").casefold()
    plain = typed.removeprefix("is-").removeprefix("was-")
    if plain in VERBS:
        return VERBS[plain]
    near = near_names(plain, list(VERBS)) or ["waits-for"]
    raise InvalidInputError(
        f"{' '.join(words)!r} is not a link between threads.",
        f"Write, for example: {before} {near[0]} {after}. Links are: "
        "blocks, waits-for, part-of, sidequest-of, relates-to, discovered-in, "
        "duplicates.",
    )


def sentence(name: str, kind: str, other_name: str) -> str:
    """A link in words: ``ui waits for api``. A kind of a newer version is shown
    unchanged."""
    if kind not in _SENTENCES:
        return f"{name} {kind} {other_name}"
    return _SENTENCES[kind].format(name, other_name)
