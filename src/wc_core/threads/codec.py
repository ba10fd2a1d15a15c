"""Bytes to entries and back: JSON lines in the format of real stores.

Damage is a value here, never an exception: a log with a bad line in it has
every good entry and says what is wrong with the rest.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from wc_core.threads.model import Ball, Base, Entry, in_order

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

# Keys every line of a real store repeats and that say nothing of their own.
_DERIVED = frozenset({"id", "type", "index", "thread_topic"})

# The longest body made of nothing but control characters, six bytes of JSON each,
# and all that may stand beside it.
MAX_LINE_BYTES = 128 * 1024 * 1024
# Far more than anybody nests on purpose, far less than Python can bear.
_MAX_DEPTH = 100
# What other tools write in a field that says nothing.
_NOTHING: tuple[object, ...] = (None, "", [], {})


class Damage(NamedTuple):
    """Something in a file that could not be taken at its word.

    ``line`` counts from 1, 0 for the file as a whole. ``kind`` is one of
    ``torn`` (a last line without its end), ``garbage`` (not JSON, or not
    UTF-8), ``shape`` (JSON of another shape), ``field`` (an entry with a
    field of another shape), ``differs`` (two versions of one entry),
    ``missing``, ``unreadable`` or ``newer``. ``lost`` says whether bytes
    could not be shown as an entry.
    """

    file: str
    line: int
    kind: str
    message: str
    lost: bool = True

    @property
    def place(self) -> str:
        """``file:line``, or the file alone."""
        return f"{self.file}:{self.line}" if self.line else self.file


class Log(NamedTuple):
    """A log as found: entries in ULID order, each id once.

    ``size`` is the length of the file, ``complete`` the length up to the end
    of its last complete line; only that much is ever committed.
    """

    entries: tuple[Entry, ...] = ()
    damage: tuple[Damage, ...] = ()
    size: int = 0
    complete: int = 0

    @property
    def last_id(self) -> str:
        """The greatest id, or the empty string."""
        return self.entries[-1].id if self.entries else ""

    @property
    def lost(self) -> int:
        """How many lines are no entry."""
        return sum(1 for one in self.damage if one.lost)


def dumps(value: Any) -> str:
    """One compact line of JSON; no character is escaped that needs not be,
    except the two that other tools take for the end of a line."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return (
        text.replace("\u2028", "\\u2028")
        .replace("\u2029", "\\u2029")
        .replace("\x85", "\\u0085")
        .replace("\x7f", "\\u007f")
    )


def loads(data: bytes) -> Any:
    """The value of JSON in UTF-8. A lone surrogate, which JSON can escape and
    text cannot have, becomes ``?``.

    Raises UnicodeDecodeError for other bytes, another ValueError for what is
    no JSON, RecursionError for JSON nested too deep.
    """
    value = json.loads(data.decode().removeprefix("\ufeff"))
    brackets = data.count(b"[") + data.count(b"{")
    if brackets > _MAX_DEPTH and _depth_exceeds(value, _MAX_DEPTH):
        raise RecursionError
    if b"\\ud" in data or b"\\uD" in data:
        text = json.dumps(value, ensure_ascii=False).encode(errors="replace")
        value = json.loads(text)
    return value


def _depth_exceeds(value: Any, limit: int) -> bool:
    level = [value]
    for _ in range(limit + 1):
        level = [inner for one in level for inner in _inside(one)]
    return bool(level)


def _inside(value: Any) -> Iterable[Any]:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()


def to_fields(entry: Entry) -> dict[str, Any]:
    """The fields of an entry that it has, by the names they have in a log."""
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
        "pr_refs": list(entry.pr_refs),
        "commit_refs": list(entry.commit_refs),
        "code_branch": entry.code_branch,
        "code_commit": entry.code_commit,
        "action": entry.action,
        "status": entry.status,
        "key": entry.key,
        "reason": entry.reason,
    }
    optional = ("code_commit", "action", "status", "key", "reason")
    fields = {k: v for k, v in fields.items() if k not in optional or v}
    if entry.ball is not None:
        fields["ball"] = entry.ball.holder
    if entry.parents is not None:
        fields["parents"] = list(entry.parents)
    if entry.base is not None:
        fields["base"] = entry.base._asdict()
    return fields | dict(entry.extra)


def to_line(entry: Entry, index: int) -> bytes:
    """One line of a log, its end included.

    ``index`` is the entry's position when it was written; other tools show
    it, nobody may sort by it. Raises ``UnicodeEncodeError`` for lone
    surrogates; the boundary refuses them earlier.
    """
    fields = {
        "id": f"entry:{entry.id}",
        "type": "entry",
        "entry_id": entry.id,
        "thread_topic": entry.topic,
        "index": index,
    }
    return (dumps(fields | to_fields(entry)) + "\n").encode()


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _word(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None


def _texts(value: Any) -> tuple[str, ...] | None:
    if isinstance(value, list) and all(isinstance(one, str) for one in value):
        return tuple(value)
    return None


def _numbers(value: Any) -> tuple[int, ...] | None:
    if isinstance(value, list) and all(type(one) is int for one in value):
        return tuple(value)
    return None


def _ball(value: Any) -> Ball | None:
    return Ball(value or None) if value is None or isinstance(value, str) else None


def _base(value: Any) -> Base | None:
    if not isinstance(value, dict) or set(value) != set(Base._fields):
        return None
    ball = value["ball"]
    rest = [value["title"], value["status"], value["summary"]]
    if not all(isinstance(one, str) for one in rest):
        return None
    if ball is not None and not isinstance(ball, str):
        return None
    return Base(**value)


# name in a log -> (name in Entry, what reads it; None for another shape)
_FIELDS: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "entry_id": ("id", _text),
    "agent": ("agent", _text),
    "timestamp": ("at", _text),
    "title": ("title", _text),
    "body": ("body", _text),
    "role": ("role", _text),
    "entry_type": ("type", _text),
    "action": ("action", _text),
    "ball": ("ball", _ball),
    "status": ("status", _word),
    "parents": ("parents", _texts),
    "base": ("base", _base),
    "summary": ("summary", _text),
    "file_refs": ("file_refs", _texts),
    "pr_refs": ("pr_refs", _numbers),
    "commit_refs": ("commit_refs", _texts),
    "code_branch": ("code_branch", _text),
    "code_commit": ("code_commit", _text),
    "key": ("key", _text),
    "reason": ("reason", _text),
}


_PLAIN = {name: field for name, (field, read) in _FIELDS.items() if read is _text}


def from_fields(topic: str, fields: dict[str, Any]) -> Entry | None:
    """The entry those fields make, or ``None`` without an id to name it by.

    A known key with a value of another shape stays what it is, in ``extra``.
    """
    known: dict[str, Any] = {}
    extra: dict[str, Any] = {}
    for name, value in fields.items():
        if name in _DERIVED:
            continue
        # Nearly every field is one of these, in nearly every line.
        if type(value) is str and name in _PLAIN:
            known[_PLAIN[name]] = value
            continue
        field, read = _FIELDS.get(name, ("", _text))
        result = read(value) if field else None
        if result is None:
            extra[name] = value
        else:
            known[field] = result
    if not known.get("id"):
        return None
    known.setdefault("agent", "")
    known.setdefault("at", "")
    return Entry(topic=topic, extra=extra, **known)


def read_log(topic: str, data: bytes, file: str = "entries.jsonl") -> Log:
    """Everything good in the bytes of a log, and what is wrong with the rest."""
    complete = data.rfind(b"\n") + 1
    lines = data.split(b"\n")
    found: list[tuple[int, Entry]] = []
    damage: list[Damage] = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        torn = number == len(lines)
        entry = read_line(topic, line)
        if isinstance(entry, Entry):
            found.append((number, entry))
            if entry.extra:
                damage += _misshapen(entry, file, number)
            if torn:
                message = "the last line has no end; its entry is complete"
                damage.append(Damage(file, number, "torn", message, lost=False))
        elif torn:
            message = "the last line was never finished"
            damage.append(Damage(file, number, "torn", message))
        else:
            damage.append(Damage(file, number, *entry))
    entries, differing = each_once(entry for _, entry in found)
    if differing:
        damage += _poorer(found, entries, file)
        damage.sort(key=lambda one: one.line)
    return Log(tuple(in_order(entries)), tuple(damage), len(data), complete)


def _misshapen(entry: Entry, file: str, number: int) -> Iterator[Damage]:
    """The known fields that say something in a shape we cannot read: they
    stay on their line, and nothing shows them."""
    for name, value in entry.extra.items():
        if name in _FIELDS and value not in _NOTHING:
            message = f"{name} of entry {entry.id} has another shape than we know"
            yield Damage(file, number, "field", message, lost=False)


def _poorer(
    found: Iterable[tuple[int, Entry]], chosen: Iterable[Entry], file: str
) -> Iterator[Damage]:
    """The lines that a fuller version of their entry stands for."""
    shown = {entry.id: entry for entry in chosen}
    for number, entry in found:
        if shown[entry.id] != entry:
            message = f"entry {entry.id} is there in two versions"
            yield Damage(file, number, "differs", message, lost=False)


def read_line(topic: str, line: bytes) -> Entry | tuple[str, str]:
    """The entry on one line, or the kind of damage and a sentence about it."""
    if len(line) > MAX_LINE_BYTES:
        return "garbage", f"a line of {len(line)} bytes is longer than any entry"
    try:
        fields = loads(line)
    except UnicodeDecodeError:
        return "garbage", "not UTF-8"
    except ValueError:
        zeros = "nothing but zero bytes, as a power cut leaves them"
        return "garbage", "not JSON" if line.strip(b"\0 \t\r") else zeros
    except RecursionError:
        return "garbage", "JSON nested too deep"
    if not isinstance(fields, dict):
        return "shape", "JSON, but not an object"
    entry = from_fields(topic, fields)
    return entry or ("shape", "an object without an entry_id")


def each_once(entries: Iterable[Entry]) -> tuple[list[Entry], list[str]]:
    """Each id once; of two versions the fuller, whatever order they came in."""
    chosen: dict[str, Entry] = {}
    differing: dict[str, None] = {}
    for entry in entries:
        other = chosen.setdefault(entry.id, entry)
        if other != entry:
            differing[entry.id] = None
            chosen[entry.id] = max(other, entry, key=_fullness)
    return list(chosen.values()), list(differing)


def sort_lines(topic: str, data: bytes) -> tuple[bytes, bytes]:
    """The lines of a log that are its entries, and those that are not or that
    a fuller version of their entry stands for; each byte in one of the two,
    every line ended."""
    lines = data.split(b"\n")
    if not lines[-1]:
        lines.pop()
    read = {line: read_line(topic, line) for line in lines if line.strip()}
    entries, _ = each_once(one for one in read.values() if isinstance(one, Entry))
    chosen = {entry.id: entry for entry in entries}
    good: list[bytes] = []
    bad: list[bytes] = []
    for line in lines:
        entry = read.get(line)
        is_entry = isinstance(entry, Entry) and chosen[entry.id] == entry
        (good if entry is None or is_entry else bad).append(line + b"\n")
    return b"".join(good), b"".join(bad)


def lines_by_id(topic: str, data: bytes) -> dict[str, bytes]:
    """The line of each entry in a log, bytes unchanged."""
    good, _ = sort_lines(topic, data)
    return dict(_named_lines(topic, good))


def _named_lines(topic: str, good: bytes) -> Iterator[tuple[str, bytes]]:
    for line in good.split(b"\n"):
        entry = read_line(topic, line)
        if isinstance(entry, Entry):
            yield entry.id, line + b"\n"


def _fullness(entry: Entry) -> tuple[int, str]:
    fields = to_fields(entry)
    filled = sum(1 for value in fields.values() if value not in ("", [], {}, None))
    return filled, json.dumps(fields, sort_keys=True)
