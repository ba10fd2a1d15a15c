"""The tags of a thread: those in its log, and those of an older tool.

The older tool stores annotations beside the log, one JSON object on each line. Those of
kind ``tag`` and ``tag_remove`` that are later than the last tags in the log count as
well. The next entry that changes tags adds them to the log.
"""

from __future__ import annotations

from wc_core.base import ulid
from wc_core.base.errors import ConflictError, InvalidInputError
from wc_core.base.layout import folded, is_slug
from wc_core.base.values import NamedTuple
from wc_core.ledger.threads.jsontext import loads

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import Any

    from wc_core.ledger.threads.model import State
    from wc_core.ledger.threads.proposals import Draft

# A longer file is not read: it is not a list of tags.
MAX_BYTES = 1024 * 1024

_ADDED, _REMOVED = "tag", "tag_remove"


class TagChanges(NamedTuple):
    """The tags to add and to remove."""

    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()


def current_tags(state: State, annotations: bytes) -> tuple[str, ...]:
    """The tags of a thread with this state and these annotations, sorted.

    Lines that are not annotations of a thread's tags are ignored.
    """
    if not annotations:
        return state.tags
    tags = set(state.tags)
    latest = ulid.prefix(state.tags_id)
    for _, kind, tag in sorted(
        _events(annotations, latest), key=lambda event: event[0]
    ):
        if kind == _ADDED:
            tags.add(tag)
        else:
            tags.discard(tag)
    return tuple(sorted(tags))


def _events(annotations: bytes, latest: str) -> Iterator[tuple[str, str, str]]:
    """The id, kind and tag of each annotation after ``latest``."""
    for line in annotations.split(b"\n"):
        try:
            fields = loads(line)
        except (ValueError, RecursionError):
            continue  # another tool's file: unknown lines are ignored
        if not isinstance(fields, dict) or fields.get("target_type") != "thread":
            continue
        kind, tag = fields.get("kind"), _text(fields.get("value"))
        own_id = ulid.prefix(_text(fields.get("id")))
        if kind in {_ADDED, _REMOVED} and tag and (own_id > latest or not latest):
            yield own_id, str(kind), tag


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def parse_changes(words: Iterable[str]) -> TagChanges:
    """The changes that words mean: ``+tag`` or ``tag`` adds, ``-tag`` removes.

    Raises InvalidInputError for an invalid tag, and for a tag that is both.
    """
    added: dict[str, None] = {}
    removed: dict[str, None] = {}
    for word in words:
        if word.startswith("--"):
            raise InvalidInputError(f"No such option: {word}.", "See: wc help tag")
        if word == "-":
            raise InvalidInputError("'-' is not a tag.", "To remove one: -TAG")
        if word.startswith("-"):
            removed[folded(word[1:])] = None
        else:
            added[_checked(word.removeprefix("+"))] = None
    if both := added.keys() & removed.keys():
        raise InvalidInputError(
            f"{min(both)!r} cannot be both added and removed.", "Name each tag once."
        )
    return TagChanges(tuple(added), tuple(removed))


def _checked(text: str) -> str:
    tag = folded(text)
    if not is_slug(tag):
        raise InvalidInputError(
            f"{text!r} cannot be a tag.",
            "A tag is letters and digits of any script, '-', '_' and '.', and begins "
            "with a letter, digit or '_'. To remove one: -TAG",
        )
    return tag


def complete(draft: Draft, state: State, tags: Sequence[str]) -> Draft:
    """The draft of a change of tags with the difference to the log.

    ``tags`` are the current ones, those of the older tool included. Raises
    ConflictError if nothing changes, or a tag to remove does not exist.
    """
    missing = [tag for tag in draft.tags_removed if tag not in tags]
    wanted = {*tags, *draft.tags_added} - {*draft.tags_removed}
    names = ", ".join(tags) or "none"
    if missing:
        raise ConflictError(
            f"{draft.topic} has no tag {missing[0]!r}; its tags: {names}.",
            "Nothing was written.",
        )
    if wanted == {*tags}:
        raise ConflictError(
            f"{draft.topic} already has that; its tags: {names}.",
            "Nothing was written.",
        )
    return draft._replace(
        tags_added=tuple(sorted(wanted - {*state.tags})),
        tags_removed=tuple(sorted({*state.tags} - wanted)),
    )


def has_all(tags: Sequence[str], wanted: Iterable[str]) -> bool:
    """Whether all ``wanted`` are among the tags, whatever their case."""
    spellings = {folded(tag) for tag in tags}
    return all(folded(tag.removeprefix("+")) in spellings for tag in wanted)
