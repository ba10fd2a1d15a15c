"""Reading imports: our own JSON, and issues of other trackers.

The facts of an issue become entries with a key made from the source, the id and the
content. So an entry that already exists is recognised, whatever else has changed.
"""

from __future__ import annotations

from hashlib import sha256

from wc_core.base import times, ulid
from wc_core.base.errors import InvalidInputError
from wc_core.base.layout import nearest_slug
from wc_core.base.values import NamedTuple
from wc_core.ledger.threads import codec
from wc_core.ledger.threads.jsontext import dumps, loads
from wc_core.ledger.threads.longlines import long_size
from wc_core.ledger.threads.model import Base, Entry
from wc_core.ledger.threads.projections import read_base
from wc_core.reading.exchange import jsonexport
from wc_core.reading.exchange.records import Fact, Issue, read_issue, source_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

FORMATS = (jsonexport.FORMAT, "beads", "github")
_NOTHING_WRITTEN = "Nothing was written."
_WRAPPERS = ("issues", "items")


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
        line = item.encode(errors="replace") if is_text else _line(item)
        if size := long_size(line):
            number_text = f"{topic}: item {number} of its log"
            raise _invalid(number_text, f"has {size} bytes, more than any entry")
        if not is_text and not isinstance(codec.read_line(topic, line), Entry):
            raise _invalid(f"{topic}: item {number} of its log", "is not an entry")
    return jsonexport.log_bytes(items)


def _line(item: Any) -> bytes:
    return dumps(item).encode()


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
