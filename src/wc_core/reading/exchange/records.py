"""Issues of other trackers, as facts: opening, comments, status, assignee, and what
they wait for."""

from __future__ import annotations

from hashlib import sha256

from wc_core.base import times
from wc_core.base.layout import nearest_slug
from wc_core.base.names import MAX_NAME_BYTES
from wc_core.base.text import clean, one_line
from wc_core.base.values import NamedTuple
from wc_core.ledger.planning import kinds
from wc_core.ledger.threads import vocabulary
from wc_core.ledger.threads.model import BLOCKED, CLOSED, OPEN, Ball, Link

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping
    from typing import Any

BEADS, GITHUB = "beads", "github"
# A task without a date in the tracker is as old as the oldest ULID.
_NO_TIME = 0

_STATUSES = {
    **dict.fromkeys(("closed", "tombstone"), CLOSED),
    **dict.fromkeys(("blocked", "deferred"), BLOCKED),
}
# A word that adds nothing to our status needs no entry.
_PLAIN = frozenset({"", "open"})
_LINKS = {
    "blocks": kinds.BLOCKED_BY,
    "conditional-blocks": kinds.BLOCKED_BY,
    "waits-for": kinds.BLOCKED_BY,
    "parent-child": kinds.PARENT,
    "related": kinds.RELATES,
    "relates-to": kinds.RELATES,
    "discovered-from": kinds.DISCOVERED_FROM,
    "duplicates": kinds.DUPLICATES,
}
_TEXTS = ("description", "body", "design", "acceptance_criteria", "notes")
_FIRST_TEXTS = 2
_SHOWN = ("priority", "issue_type", "labels", "milestone", "url")
_NAMES = ("login", "name", "title")


class Fact(NamedTuple):
    """An entry's record of an issue. ``stamp`` distinguishes it from an equal one."""

    event: str
    author: str
    at_ms: int
    title: str
    body: str = ""
    status: str | None = None
    ball: Ball | None = None
    links: tuple[Link, ...] = ()
    stamp: str = ""
    extra: Mapping[str, Any] = {}


class Issue(NamedTuple):
    """An issue: the tracker, the name that its thread gets, and its fields."""

    source: str
    name: str
    fields: Mapping[str, Any]

    @property
    def origin(self) -> str:
        """The identity of the issue, independent of its name."""
        fields = self.fields
        own = fields.get("url") or fields.get("id")
        digest = sha256(f"{own or self.name}".encode(errors="replace")).hexdigest()
        return f"import:{self.source}:{digest[:16]}"

    def facts(self, names: Collection[str]) -> tuple[Fact, ...]:
        """Everything in the issue, oldest first. Links are to the threads with the
        ``names``; those to others are kept as text."""
        later = [*self._comments(), *self._links(names), *self._state()]
        return (self._opened(), *sorted(later, key=lambda fact: fact.at_ms))

    @property
    def _author(self) -> str:
        fields = self.fields
        author = fields.get("created_by") or fields.get("author")
        return _person(author) or self.source

    def _at(self, *names: str) -> int:
        return next(
            (at for name in names if (at := _milliseconds(self.fields.get(name)))),
            _NO_TIME,
        )

    @property
    def _created(self) -> int:
        return self._at("created_at", "createdAt")

    def _opened(self) -> Fact:
        title = one_line(str(self.fields.get("title") or "")) or self.name
        body = "\n\n".join(self._texts(title))
        extra = {"imported": {**self.fields, "source": self.source}}
        return Fact(
            *("opened", self._author, self._created, _title(title), body), extra=extra
        )

    def _texts(self, title: str) -> Iterator[str]:
        if _title(title) != title:
            yield title
        for name in _TEXTS:
            text = self.fields.get(name)
            if isinstance(text, str) and text.strip():
                heading = "" if name in _TEXTS[:_FIRST_TEXTS] else f"## {name}\n\n"
                yield f"{heading}{text.strip()}"
        values = [(name, _shown(self.fields.get(name))) for name in _SHOWN]
        lines = [f"- {name}: {text}" for name, text in values if text]
        if lines:
            yield "\n".join(lines)

    def _comments(self) -> Iterator[Fact]:
        comments = self.fields.get("comments")
        for number, item in enumerate(comments if isinstance(comments, list) else ()):
            comment = item if isinstance(item, dict) else {"text": str(item)}
            text = str(comment.get("text") or comment.get("body") or "")
            author = _person(comment.get("author"))
            written_at = comment.get("created_at") or comment.get("createdAt")
            title = _title(one_line(text, 80) or "Comment")
            moment = _milliseconds(written_at) or self._created
            stamp = f"{comment.get('id', number)}"
            yield Fact(
                "comment", author or self.source, moment, title, text, stamp=stamp
            )

    def _links(self, names: Collection[str]) -> Iterator[Fact]:
        items = self.fields.get("dependencies")
        for item in items if isinstance(items, list) else ():
            fields = item if isinstance(item, dict) else {"depends_on_id": str(item)}
            word = str(fields.get("type") or "blocks")
            target = str(fields.get("depends_on_id") or "")
            topic, kind = nearest_slug(target), _LINKS.get(word, "")
            author = _person(fields.get("created_by")) or self._author
            moment = _milliseconds(fields.get("created_at")) or self._created
            title = f"{word}: {one_line(target)}"
            links: tuple[Link, ...] = ()
            if kind and topic in names and topic != nearest_slug(self.name):
                title = kinds.sentence(nearest_slug(self.name), kind, topic)
                links = (Link(kind, topic),)
            yield Fact("link", author, moment, _title(title), links=links)

    def _state(self) -> Iterator[Fact]:
        """The status, in our words and in those of the tracker, and the assignee."""
        word = one_line(
            str(self.fields.get("status") or self.fields.get("state") or "")
        )
        status = _STATUSES.get(word.casefold(), OPEN)
        holder = _person(self.fields.get("assignee") or self.fields.get("assignees"))
        changed = self._at("closed_at", "closedAt", "updated_at", "updatedAt")
        moment = changed or self._created
        if holder and status != CLOSED:
            title = _title(f"Assigned to {holder}")
            yield Fact("holder", self._author, moment, title, ball=Ball(holder))
        if word.casefold() not in _PLAIN:
            reason = str(self.fields.get("close_reason") or "")
            stamp = str(self.fields.get("closed_at") or self.fields.get("closedAt"))
            title = _title(f"{self.source}: {word}")
            yield Fact(
                *("status", self._author, moment, title, reason),
                status=None if status == OPEN else status,
                stamp=stamp if status == CLOSED else "",
            )


def source_of(value: Any) -> str:
    """The tracker that an issue is from, by its fields; empty if no tracker has
    such."""
    if not isinstance(value, dict):
        return ""
    if "number" in value:
        return GITHUB
    if "issue_type" in value or "dependencies" in value or "priority" in value:
        return BEADS
    return ""


def read_issue(fields: Mapping[str, Any], source: str) -> Issue | None:
    """The issue of a tracker; ``None`` if it lacks what identifies it."""
    own = fields.get("number" if source == GITHUB else "id")
    if isinstance(own, bool) or not isinstance(own, int | str) or not str(own):
        return None
    if not isinstance(fields.get("title"), str):
        return None
    names = {BEADS: f"{own}", GITHUB: f"gh-{own}"}
    return Issue(source, names[source], fields) if source in names else None


def _title(text: str) -> str:
    """A title of an allowed length."""
    most = vocabulary.MAX_TITLE_BYTES
    if len(text.encode()) <= most:
        return text
    return text.encode()[: most - 3].decode(errors="ignore") + "…"


def _person(value: Any) -> str:
    """A participant's name, of several the first; empty if there is none."""
    if isinstance(value, list):
        value = value[0] if value else ""
    if isinstance(value, dict):
        value = next((value[name] for name in _NAMES if value.get(name)), "")
    name = one_line(value) if isinstance(value, str) else ""
    return name.encode()[:MAX_NAME_BYTES].decode(errors="ignore").strip()


def _milliseconds(value: Any) -> int:
    moment = times.milliseconds(value) if isinstance(value, str) else None
    return max(0, moment or 0)


def _shown(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(filter(None, map(_shown, value)))
    if isinstance(value, dict):
        return next((_shown(value[name]) for name in _NAMES if value.get(name)), "")
    return "" if value is None else clean(one_line(str(value)))
