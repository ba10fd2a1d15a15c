"""The projections beside a log: ``meta.json`` and ``edges.jsonl``.

Both are folds and can be deleted at any time. Keys of other tools in
``meta.json`` are carried over, ours live under ``wc``.
"""

from __future__ import annotations

import binascii
import json
from typing import TYPE_CHECKING, Any, NamedTuple

from wc_core.threads.codec import Damage, dumps, loads
from wc_core.threads.model import OPEN, Base, Participant, Pass, State

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from wc_core.threads.model import Entry

# A projection of a greater version was written by a newer wc: it is read as
# far as it makes sense and never rendered again by this one.
VERSION = 1

_KNOWN = frozenset(
    {"id", "type", "topic", "title", "status", "ball", "summary", "wc"}
    | {"last_updated", "entry_count"}
)


class Meta(NamedTuple):
    """A ``meta.json`` as found.

    ``state`` is what it says of the log's first ``log_size`` bytes, ``None``
    where another tool wrote it. ``base`` is what a foreign one says of the
    thread; ``unknown`` are the keys that are not ours, in their order.
    """

    state: State | None = None
    log_size: int = -1
    version: int = 0
    base: Base | None = None
    updated_at: str = ""
    entry_count: int = 0
    unknown: Mapping[str, Any] = {}

    @property
    def newer(self) -> bool:
        """Whether a newer wc wrote it."""
        return self.version > VERSION


def render_meta(state: State, log_size: int, unknown: Mapping[str, Any]) -> bytes:
    """``meta.json`` for ``state``, the fold of a log of ``log_size`` bytes."""
    fields: dict[str, Any] = {
        "id": f"thread:{state.topic}",
        "type": "thread",
        "topic": state.topic,
        "title": state.title,
        "status": state.status,
        "ball": state.ball,
        "last_updated": state.updated_at,
        "summary": state.summary,
        "entry_count": state.entry_count,
    }
    ours = {
        "version": VERSION,
        "log_size": log_size,
        "last_id": state.last_id,
        "since": state.since,
        "created_at": state.created_at,
        "updated_by": state.updated_by,
        "branch": state.branch,
        "heads": state.heads,
        "participants": state.participants,
        "passes": state.passes,
        **({"lost": state.lost} if state.lost else {}),
    }
    text = json.dumps(fields | dict(unknown), ensure_ascii=False, indent=2)
    # Ours is one line: a diff of this file shows what people look for first.
    head = f'{text[:-2]},\n  "wc": {dumps(ours)[:-1]}'.encode(errors="replace")
    return head + _check(head)


def _check(head: bytes) -> bytes:
    """How a meta of ours ends: with a checksum over all before it. One that
    somebody else changed, be it one word, is not believed."""
    return b',"check":%d}\n}\n' % binascii.crc32(head)


def read_meta(topic: str, data: bytes) -> Meta | Damage:
    """What a ``meta.json`` says, or what is wrong with it."""
    try:
        fields = loads(data)
    except (ValueError, RecursionError):
        return Damage("meta.json", 0, "garbage", "not JSON", lost=False)
    if not isinstance(fields, dict):
        return Damage("meta.json", 0, "shape", "not an object", lost=False)
    unknown = {key: value for key, value in fields.items() if key not in _KNOWN}
    base = _base(fields)
    meta = Meta(
        base=base,
        unknown=unknown,
        updated_at=_string(fields.get("last_updated")),
        entry_count=_whole(fields.get("entry_count")),
    )
    ours = fields.get("wc")
    if not isinstance(ours, dict):
        return meta
    meta = meta._replace(version=_whole(ours.get("version")))
    head, _, _ = data.rpartition(b',"check":')
    if not meta.newer and data != head + _check(head):
        return meta
    # As the fold has it: only what other tools say of a status is respelt.
    return _with_state(topic, meta, ours | {"status": fields.get("status")})


def _with_state(topic: str, meta: Meta, ours: Mapping[str, Any]) -> Meta:
    """The state that our own part says, if it is whole; other tools' keys
    count in any case."""
    try:
        log_size = int(ours["log_size"])
        state = _state(topic, meta.base or Base(), meta, ours)
    except (KeyError, TypeError, ValueError, OverflowError):
        return meta
    return meta._replace(state=state, log_size=log_size)


def _base(fields: Mapping[str, Any]) -> Base:
    ball = fields.get("ball")
    return Base(
        title=_string(fields.get("title")),
        status=normal_status(_string(fields.get("status"))),
        ball=ball if isinstance(ball, str) and ball else None,
        summary=_string(fields.get("summary")),
    )


def _state(topic: str, base: Base, meta: Meta, ours: Mapping[str, Any]) -> State:
    base = base._replace(status=_string(ours["status"]))
    return State(
        topic,
        **base._asdict(),
        since=_string(ours["since"]),
        entry_count=meta.entry_count,
        last_id=_string(ours["last_id"]),
        created_at=_string(ours["created_at"]),
        updated_at=meta.updated_at,
        updated_by=_string(ours["updated_by"]),
        branch=_string(ours["branch"]),
        heads=tuple(map(str, ours["heads"])),
        participants=tuple(
            Participant(str(name), int(new)) for name, new in ours["participants"]
        ),
        passes=tuple(Pass(str(to), str(by)) for to, by in ours["passes"]),
        lost=_whole(ours.get("lost")),
    )


def _string(value: object) -> str:
    return value if isinstance(value, str) else ""


def _whole(value: object) -> int:
    return value if type(value) is int else 0


def normal_status(text: str) -> str:
    """A status as older stores write it (``in review``, ``open``) in our
    spelling; unknown ones stay, in capitals."""
    return "_".join(text.upper().replace("-", " ").split()) or OPEN


def render_edges(topic: str, entries: Iterable[Entry]) -> bytes:
    """``edges.jsonl``: the thread contains each entry, each is followed by
    the next, in the order and form older tools write them."""
    lines = []
    previous = None
    for entry in entries:
        contains = {"source": f"thread:{topic}", "target": f"entry:{entry.id}"}
        lines.append(dumps(contains | {"type": "contains"}))
        if previous is not None:
            follows = {"source": f"entry:{previous}", "target": f"entry:{entry.id}"}
            lines.append(dumps(follows | {"type": "followed_by"}))
        previous = entry.id
    return "".join(f"{line}\n" for line in lines).encode(errors="replace")
