"""The fields of an entry: their names in a log, and their values in JSON.

A new field of `Entry` gets its name and its reader in `FIELDS`, and its value in
`to_fields`.
"""

from __future__ import annotations

from wc_core.base.text import is_hexadecimal
from wc_core.ledger.threads.gates import BUDGET, GATES
from wc_core.ledger.threads.landings import landing_fields, read_landing
from wc_core.ledger.threads.linerefs import read_refs, ref_fields
from wc_core.ledger.threads.model import Ball, Base, Entry, Link

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

# Keys that older tools write on every line, and that other keys imply.
_DERIVED = frozenset({"id", "type", "index", "thread_topic"})


# The fields that only wc writes, and only if they have a value.
_OPTIONAL = (
    *("code_commit", "action", "status", "thread_branch", "new_topic"),
    *("supersedes", "tags_added", "tags_removed", "links_added", "links_removed"),
    *("items_added", "items_removed", "items_checked", "items_unchecked"),
    *(GATES, "key", "reason", "kind", "severity", "asks", "answers", "outcome"),
    *("approved_commit", "landing", "line_refs", "run_by"),
)


def to_fields(entry: Entry) -> dict[str, Any]:
    """The fields of an entry, by their names in a log, without unset optional ones."""
    fields: dict[str, Any] = {
        "entry_id": entry.id,
        "agent": entry.agent,
        "role": entry.role,
        "entry_type": entry.type,
        "title": entry.title,
        "timestamp": entry.at,
        "body": entry.body,
        "summary": entry.summary,
        "file_refs": list(entry.file_refs),
        "line_refs": ref_fields(entry.line_refs),
        "pr_refs": list(entry.pr_refs),
        "commit_refs": list(entry.commit_refs),
        "code_branch": entry.code_branch,
        "code_commit": entry.code_commit,
        "action": entry.action,
        "status": entry.status,
        "thread_branch": entry.thread_branch,
        "new_topic": entry.new_topic,
        "supersedes": entry.supersedes,
        "tags_added": list(entry.tags_added),
        "tags_removed": list(entry.tags_removed),
        "links_added": link_fields(entry.links_added),
        "links_removed": link_fields(entry.links_removed),
        "items_added": list(entry.items_added),
        "items_removed": list(entry.items_removed),
        "items_checked": list(entry.items_checked),
        "items_unchecked": list(entry.items_unchecked),
        # At its old place: pages of earlier versions stay the same, byte by byte.
        GATES: entry.extra.get(GATES),
        "key": entry.key,
        "reason": entry.reason,
        "kind": entry.kind,
        "severity": entry.severity,
        "asks": entry.asks,
        "answers": entry.answers,
        "outcome": entry.outcome,
        "approved_commit": entry.approved_commit,
        "landing": landing_fields(entry.landing),
        "run_by": entry.run_by,
    }
    for name in _OPTIONAL:
        if not fields[name]:
            del fields[name]
    if entry.ball is not None:
        fields["ball"] = entry.ball.holder
    if BUDGET in entry.extra:  # at its old place, too
        fields[BUDGET] = entry.extra[BUDGET]
    if entry.parents is not None:
        fields["parents"] = list(entry.parents)
    if entry.base is not None:
        fields["base"] = entry.base._asdict()
    return fields | dict(entry.extra)


def link_fields(links: Iterable[Link]) -> list[dict[str, str]]:
    """Links in their form in a log."""
    return [{"kind": link.kind, "topic": link.topic} for link in links]


# The following functions read one field each, and return None for a value of another
# shape.


def _as_text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _as_word(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None


def _as_object_id(value: Any) -> str | None:
    is_text = isinstance(value, str)
    return value if is_text and is_hexadecimal(value, 40, 64) else None


def _as_texts(value: Any) -> tuple[str, ...] | None:
    if value == []:
        return ()  # nearly always
    if isinstance(value, list) and {str}.issuperset(map(type, value)):
        return tuple(value)
    return None


def _as_numbers(value: Any) -> tuple[int, ...] | None:
    if value == []:
        return ()  # nearly always
    if isinstance(value, list) and {int}.issuperset(map(type, value)):
        return tuple(value)
    return None


def _as_links(value: Any) -> tuple[Link, ...] | None:
    if not isinstance(value, list):
        return None
    links = [_as_link(item) for item in value]
    return tuple(link for link in links if link) if all(links) else None


def _as_link(value: Any) -> Link | None:
    if not isinstance(value, dict) or set(value) != {"kind", "topic"}:
        return None
    kind, topic = value["kind"], value["topic"]
    return Link(kind, topic) if type(kind) is type(topic) is str else None


def _as_ball(value: Any) -> Ball | None:
    return Ball(value or None) if value is None or isinstance(value, str) else None


def _as_base(value: Any) -> Base | None:
    if not isinstance(value, dict) or set(value) != set(Base._fields):
        return None
    texts = [value["title"], value["status"], value["summary"]]
    if not all(isinstance(text, str) for text in texts):
        return None
    return Base(**value) if isinstance(value["ball"], str | None) else None


# name in a log -> (name in Entry, reader of the value)
FIELDS: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "entry_id": ("id", _as_text),
    "agent": ("agent", _as_text),
    "timestamp": ("at", _as_text),
    "title": ("title", _as_text),
    "body": ("body", _as_text),
    "role": ("role", _as_text),
    "entry_type": ("type", _as_text),
    "action": ("action", _as_text),
    "ball": ("ball", _as_ball),
    "status": ("status", _as_word),
    "thread_branch": ("thread_branch", _as_text),
    "new_topic": ("new_topic", _as_text),
    "supersedes": ("supersedes", _as_text),
    "tags_added": ("tags_added", _as_texts),
    "tags_removed": ("tags_removed", _as_texts),
    "links_added": ("links_added", _as_links),
    "links_removed": ("links_removed", _as_links),
    "items_added": ("items_added", _as_texts),
    "items_removed": ("items_removed", _as_texts),
    "items_checked": ("items_checked", _as_texts),
    "items_unchecked": ("items_unchecked", _as_texts),
    "parents": ("parents", _as_texts),
    "base": ("base", _as_base),
    "summary": ("summary", _as_text),
    "file_refs": ("file_refs", _as_texts),
    "line_refs": ("line_refs", read_refs),
    "pr_refs": ("pr_refs", _as_numbers),
    "commit_refs": ("commit_refs", _as_texts),
    "code_branch": ("code_branch", _as_text),
    "code_commit": ("code_commit", _as_text),
    "key": ("key", _as_text),
    "reason": ("reason", _as_text),
    "kind": ("kind", _as_text),
    "severity": ("severity", _as_text),
    "asks": ("asks", _as_text),
    "answers": ("answers", _as_text),
    "outcome": ("outcome", _as_text),
    "approved_commit": ("approved_commit", _as_object_id),
    "landing": ("landing", read_landing),
    "run_by": ("run_by", _as_text),
}

# The same, by the position of the field in Entry.
_POSITIONS = {
    name: (Entry._fields.index(field), read) for name, (field, read) in FIELDS.items()
}
_TEXTS = {name: place for name, (place, read) in _POSITIONS.items() if read is _as_text}
_ID, _TOPIC, _EXTRA = map(Entry._fields.index, ("id", "topic", "extra"))
_BLANK = Entry("", "", "", "")


def from_fields(topic: str, fields: dict[str, Any]) -> Entry | None:
    """Make an entry from the fields of a line, or ``None`` if they have no id.

    A known field with a value of another shape goes into ``extra``, unchanged.
    """
    extra: dict[str, Any] = {}
    values: list[Any] = [*_BLANK]
    values[_TOPIC], values[_EXTRA] = topic, extra
    for name, value in fields.items():
        # Nearly every line consists almost only of these fields.
        if type(value) is str and name in _TEXTS:
            values[_TEXTS[name]] = value
        elif name in _POSITIONS:
            position, read = _POSITIONS[name]
            result = read(value)
            if result is None:
                extra[name] = value
            else:
                values[position] = result
        elif name not in _DERIVED:
            extra[name] = value
    return Entry._make(values) if values[_ID] else None
