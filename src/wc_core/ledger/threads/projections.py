"""The projections beside a log: ``meta.json`` and ``edges.jsonl``.

Both are computed from the log and can be deleted at any time. Other tools' keys in
``meta.json`` are kept; ours are under ``wc``. Those of another version of wc are kept
as well: beside it, that one would otherwise no longer see what a thread waits for.
"""

from __future__ import annotations

import binascii
from types import MappingProxyType

from wc_core.base.errors import Damage
from wc_core.base.lean import json
from wc_core.base.names import FREE_WORDS, fold, parse
from wc_core.base.values import NamedTuple
from wc_core.ledger.threads.gates import BUDGET, Gate
from wc_core.ledger.threads.jsontext import dumps, loads
from wc_core.ledger.threads.landings import NO_LANDING, Landing
from wc_core.ledger.threads.model import (
    NO_REVIEW,
    OPEN,
    Base,
    Item,
    Link,
    OpenQuestion,
    Participant,
    Pass,
    Review,
    State,
    holder_text,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

    from wc_core.ledger.threads.model import Entry

# A projection of a greater version is by a newer wc. It is read as far as possible, and
# this wc never overwrites it.
VERSION = 1

_KNOWN = frozenset(
    {"id", "type", "topic", "title", "status", "ball", "wc"}
    | {"last_updated", "entry_count"}
)
# The last three are by an older wc. Two of them became one of the gates.
_OWN = frozenset(
    {*State._fields, "version", "log_size", "boxes", "check"}
    | {BUDGET, "budget_id", "sealed"}
)
# The thread's summary by a model, and the hash of the text that the model was given.
SUMMARY, SUMMARY_HASH = "summary", "summary_hash"


class Shown(NamedTuple):
    """What wc wrote into a ``meta.json`` that another tool changed afterwards.

    ``last_id`` is the last entry that the file showed.
    """

    status: str
    ball: str | None
    last_id: str


class Meta(NamedTuple):
    """The contents of a ``meta.json``.

    ``state`` is the fold of the log's first ``log_size`` bytes; ``None`` if another
    tool wrote the file. ``base`` has the thread's fields in the form that all tools
    share. ``unknown`` has the keys of other tools, in their order; its ``wc`` has those
    of another version of ours.

    ``rewritten`` if a program wrote all of it, as the older tool does: not wc, no one
    by hand, and no merge of git. ``shown`` is what it had from wc until then; ``None``
    if that is no longer in it. ``has_boxes``: its state has the boxes of the first
    entry's text, which older versions did not read.
    """

    state: State | None = None
    log_size: int = -1
    version: int = 0
    base: Base | None = None
    updated_at: str = ""
    entry_count: int = 0
    unknown: Mapping[str, Any] = MappingProxyType({})
    rewritten: bool = False
    shown: Shown | None = None
    has_boxes: bool = False

    @property
    def newer(self) -> bool:
        """Whether a newer wc wrote it."""
        return self.version > VERSION

    @property
    def says_empty(self) -> bool:
        """Whether another tool made the file for a thread without entries, which has no
        log yet."""
        return self.base is not None and not self.version and not self.entry_count


def render_meta(state: State, log_size: int, unknown: Mapping[str, Any]) -> bytes:
    """Encode ``meta.json`` for ``state``, the fold of a log of ``log_size`` bytes."""
    fields: dict[str, Any] = {
        "id": f"thread:{state.topic}",
        "type": "thread",
        "topic": state.topic,
        "title": state.title,
        "status": state.status,
        # The older tool has no value for a free ball: it would show a null as "None".
        "ball": holder_text(state.ball),
        "last_updated": state.updated_at,
        SUMMARY: state.summary,
        "entry_count": state.entry_count,
    }
    own = {
        "version": VERSION,
        "log_size": log_size,
        "last_id": state.last_id,
        "status": state.status,
        "ball": state.ball,
        "since": state.since,
        "created_at": state.created_at,
        "updated_by": state.updated_by,
        "branch": state.branch,
        "heads": state.heads,
        "participants": state.participants,
        "passes": state.passes,
        "asker": state.asker,
        "bounces": state.bounces,
        "first_id": state.first_id,
        "first_by": state.first_by,
        **({"names": state.names} if state.names else {}),
        **({"tags": state.tags} if state.tags else {}),
        **({"tags_id": state.tags_id} if state.tags_id else {}),
        **({"links": state.links} if state.links else {}),
        **({"questions": state.questions} if state.questions else {}),
        "boxes": True,
        **({"items": state.items} if state.items else {}),
        **({"gates": state.gates} if state.gates else {}),
        **({"review": state.review} if state.review.id else {}),
        **({"landing": state.landing} if state.landing.onto else {}),
        **({"lost": state.lost} if state.lost else {}),
        **unknown.get("wc", {}),
    }
    fields |= {key: value for key, value in unknown.items() if key != "wc"}
    text = json.dumps(fields, ensure_ascii=False, indent=2)
    # Our fields are one line, so that a diff of this file shows the others first.
    head = f'{text[:-2]},\n  "wc": {dumps(own)[:-1]}'.encode(errors="replace")
    return head + _checksum_end(head)


def _checksum_end(head: bytes) -> bytes:
    """The end of our ``meta.json``: a checksum of everything before it.

    A file that another program changed, even by one word, is not trusted.
    """
    return b',"check":%d}\n}\n' % binascii.crc32(head)


def read_meta(topic: str, data: bytes) -> Meta | Damage:
    """Decode a ``meta.json``, or return its damage."""
    try:
        fields = loads(data)
    except (ValueError, RecursionError):
        return Damage("meta.json", 0, "garbage", "not JSON", lost=False)
    if not isinstance(fields, dict):
        return Damage("meta.json", 0, "shape", "not an object", lost=False)
    unknown = {key: value for key, value in fields.items() if key not in _KNOWN}
    # No log has it, so it is kept as if another tool had written it.
    if not _string(unknown.get(SUMMARY)):
        unknown.pop(SUMMARY, None)
    base = read_base(fields)
    meta = Meta(
        base=base,
        unknown=unknown,
        updated_at=_string(fields.get("last_updated")),
        entry_count=_integer(fields.get("entry_count")),
    )
    own = fields.get("wc")
    if not isinstance(own, dict):
        return meta._replace(rewritten=_is_rewritten(data, fields))
    if foreign := {key: value for key, value in own.items() if key not in _OWN}:
        unknown["wc"] = foreign
    meta = meta._replace(version=_integer(own.get("version")))
    head, _, _ = data.rpartition(b',"check":')
    if not meta.newer and data != head + _checksum_end(head):
        return meta._replace(rewritten=_is_rewritten(data, fields), shown=_shown(own))
    # The status as in the fold; only other tools' spellings are normalised.
    shared = {"status": fields.get("status"), "ball": fields.get("ball")}
    return _with_state(topic, meta, shared | own)


def _is_rewritten(data: bytes, fields: dict[str, Any]) -> bool:
    """Whether the older tool can have written a file: indented in all its levels,
    without a final newline, and no key twice."""
    return any(
        data == json.dumps(fields, indent=2, ensure_ascii=ascii_only).encode()
        for ascii_only in (True, False)
    )


def _shown(own: Mapping[str, Any]) -> Shown | None:
    """The other keys as our part of a ``meta.json`` recorded them."""
    status, last_id = own.get("status"), own.get("last_id")
    ball = own.get("ball", False)
    if not (isinstance(status, str) and isinstance(last_id, str)):
        return None
    return Shown(status, ball, last_id) if isinstance(ball, str | None) else None


def _with_state(topic: str, meta: Meta, own: Mapping[str, Any]) -> Meta:
    """The same meta with the state in our ``own`` fields, if they are complete."""
    try:
        log_size = int(own["log_size"])
        state = _state(topic, meta.base or Base(), meta, own)
    except (KeyError, TypeError, ValueError, OverflowError):
        return meta
    has_boxes = own.get("boxes") is True
    return meta._replace(state=state, log_size=log_size, has_boxes=has_boxes)


def read_base(fields: Mapping[str, Any]) -> Base:
    """The thread's fields in the form that all tools share. What is not valid counts as
    missing."""
    ball = fields.get("ball")
    return Base(
        title=_string(fields.get("title")),
        status=normal_status(_string(fields.get("status"))),
        ball=ball if isinstance(ball, str) and not _is_free(ball) else None,
        summary=_string(fields.get(SUMMARY)),
    )


def _is_free(ball: str) -> bool:
    """Whether another tool's word for a holder means no one: ``none``, or ``anyone
    (pat)``, as it writes what wc calls ``anyone``."""
    agent = fold(parse(ball).agent)
    return not agent or agent in FREE_WORDS


def _state(topic: str, base: Base, meta: Meta, own: Mapping[str, Any]) -> State:
    """The state in our part of a ``meta.json``; raises KeyError and others."""
    holder = own["ball"]
    base = base._replace(
        status=_string(own["status"]),
        ball=holder if isinstance(holder, str) and holder else None,
    )
    return State(
        topic,
        **base._asdict(),
        since=_string(own["since"]),
        entry_count=meta.entry_count,
        last_id=_string(own["last_id"]),
        created_at=_string(own["created_at"]),
        updated_at=meta.updated_at,
        updated_by=_string(own["updated_by"]),
        branch=_string(own["branch"]),
        heads=tuple(map(str, own["heads"])),
        participants=tuple(
            Participant(str(name), int(new)) for name, new in own["participants"]
        ),
        passes=tuple(Pass(str(to), str(by)) for to, by in own["passes"]),
        asker=_string(own["asker"]),
        bounces=int(own["bounces"]),
        first_id=_string(own["first_id"]),
        first_by=_string(own["first_by"]),
        names=tuple(map(str, own.get("names", ()))),
        tags=tuple(map(str, own.get("tags", ()))),
        tags_id=_string(own.get("tags_id")),
        links=tuple(Link(*map(str, link)) for link in own.get("links", ())),
        questions=tuple(
            OpenQuestion(*map(str, item)) for item in own.get("questions", ())
        ),
        items=tuple(Item(*map(str, item)) for item in own.get("items", ())),
        gates=tuple(Gate(*map(str, gate[:3])) for gate in own.get("gates", ())),
        review=_review(own.get("review")),
        landing=_landing(own.get("landing")),
        lost=_integer(own.get("lost")),
    )


def _review(value: Any) -> Review:
    if not value:
        return NO_REVIEW
    # An older version did not know which commit was approved: then the log says so.
    outcome, by, of, entry_id, rounds, commit, run_by = value
    texts = map(str, (outcome, by, of, entry_id))
    return Review._make((*texts, int(rounds), str(commit), str(run_by)))


def _landing(value: Any) -> Landing:
    if not value:
        return NO_LANDING
    onto, base, tip, commit, problem, failures = value
    texts = map(str, (onto, base, tip, commit, problem))
    return Landing._make((*texts, int(failures)))


def _string(value: object) -> str:
    return value if isinstance(value, str) else ""


def _integer(value: object) -> int:
    return value if type(value) is int else 0


def normal_status(text: str) -> str:
    """Return a status of older stores (``in review``, ``open``) in our spelling.

    Unknown ones are returned in capitals, an empty one as OPEN.
    """
    return "_".join(text.upper().replace("-", " ").split()) or OPEN


def render_edges(topic: str, entries: Iterable[Entry]) -> bytes:
    """Encode ``edges.jsonl``, in the order and form of older tools.

    It lists that the thread contains each entry, and that each is followed by the next.
    """
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
