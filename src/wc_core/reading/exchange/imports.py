"""Reading imports: our own JSON, and issues of other trackers.

The facts of an issue become entries with a key made from the source, the id and the
content. So an entry that already exists is recognised, whatever else has changed.
"""

from __future__ import annotations

from hashlib import sha256

from wc_core.base import times, ulid
from wc_core.base.errors import InvalidInputError
from wc_core.base.layout import nearest_slug
from wc_core.base.names import MAX_NAME_BYTES
from wc_core.base.text import clean, one_line
from wc_core.base.values import NamedTuple
from wc_core.ledger.planning import kinds
from wc_core.ledger.threads import codec, vocabulary
from wc_core.ledger.threads.jsontext import dumps, loads
from wc_core.ledger.threads.longlines import long_size
from wc_core.ledger.threads.model import BLOCKED, CLOSED, OPEN, Ball, Base, Entry, Link
from wc_core.ledger.threads.projections import read_base
from wc_core.reading.exchange import jsonexport

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping
    from typing import Any

BEADS, GITHUB = "beads", "github"
FORMATS = (jsonexport.FORMAT, BEADS, GITHUB)
_NOTHING_WRITTEN = "Nothing was written."
_WRAPPERS = ("issues", "items")
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


class ImportedThread(NamedTuple):
    """A thread in a file: the lines of its log, or facts of an issue, which become
    entries. ``origin`` is the prefix of the keys of these entries. ``base`` has the
    fields that are in no entry if only another tool has written the thread."""

    topic: str
    log: bytes = b""
    origin: str = ""
    facts: tuple[Fact, ...] = ()
    base: Base | None = None


def read(data: bytes, form: str = "") -> list[ImportedThread]:
    """The threads in a file; ``form`` is one of `FORMATS`, recognised by default.

    Raises InvalidInputError, with the number of the line or of the issue.
    """
    values = list(_values(data))
    first = values[0][1] if values else None
    if form == jsonexport.FORMAT or (not form and _ours(first)):
        return [*_exported(first)]
    return _issues(values, form)


def entry_of(fact: Fact, topic: str, key: str, before: Entry | None) -> Entry:
    """The entry that records a fact after the entry ``before``: the same wherever it is
    imported into the same thread."""
    random = int.from_bytes(sha256(key.encode()).digest()[:10], "big")
    previous = ulid.prefix(before.id) if before else ""
    moment = max(fact.at_ms, ulid.timestamp_ms(previous) if previous else 0)
    return Entry(
        id=ulid.successor(previous, moment, random),
        topic=topic,
        agent=fact.author,
        at=times.rfc3339(fact.at_ms),
        title=fact.title,
        body=fact.body,
        action="say" if before else "new",
        ball=fact.ball,
        status=fact.status,
        links_added=fact.links,
        parents=(before.id,) if before else (),
        key=key,
        extra=fact.extra,
    )


def key_of(origin: str, fact: Fact) -> str:
    """The key of the entry that records a fact of an issue."""
    links = [list(link) for link in fact.links]
    holder = fact.ball.holder if fact.ball else None
    content = [fact.event, fact.title, fact.body, fact.status, holder, links]
    digest = sha256(dumps([origin, fact.stamp, *content]).encode()).hexdigest()
    return f"{origin}:{digest[:24]}"


def _ours(value: Any) -> bool:
    return isinstance(value, dict) and value.get("format") == jsonexport.FORMAT


def _exported(document: Any) -> Iterator[ImportedThread]:
    if not _ours(document) or document.get("version") != jsonexport.VERSION:
        raise InvalidInputError(
            "This is not an export of wc that this version can read.",
            f"{_NOTHING_WRITTEN} Write one with: wc export --all --format json",
        )
    threads = document.get("threads")
    for number, thread in enumerate(threads if isinstance(threads, list) else (), 1):
        topic = thread.get("topic") if isinstance(thread, dict) else None
        log = thread.get("log") if isinstance(thread, dict) else None
        if not isinstance(topic, str) or not isinstance(log, list):
            raise _invalid(f"Thread {number}", "has no topic or no log")
        fields = thread.get("base")
        base = read_base(fields) if isinstance(fields, dict) else None
        yield ImportedThread(topic, _checked_log(topic, log), base=base)


def _checked_log(topic: str, items: list[Any]) -> bytes:
    for number, item in enumerate(items, 1):
        is_text = isinstance(item, str) and "\n" not in item
        line = item.encode(errors="replace") if is_text else dumps(item).encode()
        if size := long_size(line):
            number_text = f"{topic}: item {number} of its log"
            raise _invalid(number_text, f"has {size} bytes, more than any entry")
        if not is_text and not isinstance(codec.read_line(topic, line), Entry):
            raise _invalid(f"{topic}: item {number} of its log", "is not an entry")
    return jsonexport.log_bytes(items)


def _values(data: bytes) -> Iterator[tuple[str, Any]]:
    """The objects in a file: a list, one inside another object, or one on each line;
    each with its position."""
    try:
        whole = loads(data)
    except UnicodeDecodeError as error:
        raise _invalid("The file", "is not UTF-8") from error
    except (ValueError, RecursionError):
        yield from _lines(data)
        return
    if isinstance(whole, dict):
        lists = [whole[name] for name in _WRAPPERS if isinstance(whole.get(name), list)]
        whole = lists[0] if lists and not _ours(whole) else [whole]
    if not isinstance(whole, list):
        raise _invalid("The file", "has no issues")
    for number, value in enumerate(whole, 1):
        yield f"Issue {number}", value


def _lines(data: bytes) -> Iterator[tuple[str, Any]]:
    for number, line in enumerate(data.split(b"\n"), 1):
        if line.strip():
            try:
                yield f"Line {number}", loads(line)
            except (ValueError, RecursionError) as error:
                raise _invalid(f"Line {number}", "is not JSON") from error


def _issues(values: Iterable[tuple[str, Any]], form: str) -> list[ImportedThread]:
    issues: dict[str, tuple[str, Issue]] = {}
    for place, value in values:
        source = form or source_of(value)
        issue = read_issue(value, source) if isinstance(value, dict) else None
        if issue is None:
            raise _invalid(place, f"is not an issue of {source or 'a known tracker'}")
        topic = nearest_slug(issue.name)
        if not topic or topic in issues:
            raise _invalid(place, f"has the id {issue.name!r}, which is there twice")
        issues[topic] = place, issue
    if not issues:
        raise _invalid("The file", "has no issues")
    return [
        ImportedThread(topic, b"", issue.origin, issue.facts(issues))
        for topic, (_, issue) in issues.items()
    ]


def _invalid(place: str, problem: str) -> InvalidInputError:
    formats = ", ".join(FORMATS)
    return InvalidInputError(
        f"{place} {problem}.", f"{_NOTHING_WRITTEN} Known formats: {formats}"
    )


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
