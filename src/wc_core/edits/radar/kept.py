"""Reads the file that the radar is kept in: ``.local/radar.json`` of the store.

`wc_cli.edits.radar` writes it. It is made again from git's data by any ``wc radar``, so
it can be deleted, and a file that is damaged or of another version counts as none::

    {"v": 1, "at": 1767225600000, "base": "main",
     "sides": [{"name": "review", "path": "/home/pat/app-review", …}],
     "pairs": [[0, 1, [["src/auth.py", "hot", "contents", ["Login.check"]]], ""]],
     "approved": [["login", "login", "login", "1a2b…", "3c4d…", []]],
     "seen": {…}}

``approved`` has the fields of `ApprovedBranch`; an older file has none. ``seen`` is how
the worktrees were when they were read, and is for its writer alone; its ``seconds`` are
how long that took.
"""

from __future__ import annotations

from wc_core.base.errors import WcError
from wc_core.base.files import read_plain
from wc_core.base.lean import json
from wc_core.base.text import one_line
from wc_core.base.values import NamedTuple
from wc_core.edits.radar.model import (
    KINDS,
    ApprovedBranch,
    Pair,
    Radar,
    SharedFile,
    Side,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from wc_core.base.layout import Layout

VERSION = 1
# A radar of very many worktrees; a larger file is not ours.
MAX_BYTES = 1 << 24
_UNREADABLE = (
    *(OSError, WcError, ValueError, TypeError, LookupError),
    *(AttributeError, OverflowError, RecursionError),
)


class WorktreeRecord(NamedTuple):
    """How the worktrees were when they were read.

    - ``states``: by path, a digest that changes with the worktree, and its snapshot
    - ``bases``: the merge base of two commits
    """

    states: Mapping[str, tuple[str, str]]
    bases: Mapping[tuple[str, str], str]


def load(layout: Layout) -> Radar | None:
    """The radar as it was last computed; ``None`` if it never was."""
    return decode(load_fields(layout))


def load_fields(layout: Layout) -> Mapping[str, Any]:
    """The fields of the file; none if there is no valid one."""
    try:
        fields = json.loads(read_plain(layout.radar, layout.root, MAX_BYTES) or b"{}")
    except _UNREADABLE:
        return {}
    return fields if isinstance(fields, dict) else {}


def decode_record(fields: Mapping[str, Any]) -> WorktreeRecord:
    """The state of the worktrees in the fields of the file; nothing if it is not
    valid."""
    try:
        rows = fields["seen"]
        states = {
            path: (_text(digest), _text(commit))
            for path, (digest, commit) in rows["states"].items()
        }
        bases = {
            (_text(head), _text(base)): _text(merge_base)
            for head, base, merge_base in rows["bases"]
        }
    except _UNREADABLE:
        return WorktreeRecord({}, {})
    return WorktreeRecord(states, bases)


def seconds_taken(layout: Layout) -> float:
    """How long the radar took to compute; 0 if that is not on record."""
    try:
        return max(0.0, float(load_fields(layout)["seen"]["seconds"]))
    except _UNREADABLE:
        return 0.0


def decode(fields: Mapping[str, Any]) -> Radar | None:
    """The radar in the fields of the file; ``None`` if they are not valid."""
    try:
        if fields["v"] != VERSION:
            return None
        sides = tuple(_side(row) for row in fields["sides"])
        pairs = tuple(_pair(row, len(sides)) for row in fields["pairs"])
        approved = tuple(map(_approved, fields.get("approved", ())))
        return Radar(int(fields["at"]), str(fields["base"]), sides, pairs, approved)
    except _UNREADABLE:
        return None


def encode(radar: Radar, record: Mapping[str, Any]) -> bytes:
    """The bytes of the file."""
    fields = {
        "v": VERSION,
        "at": radar.at_ms,
        "base": radar.base,
        "sides": [side._asdict() for side in radar.sides],
        "pairs": [
            [pair.first, pair.second, [list(file) for file in pair.files], pair.problem]
            for pair in radar.pairs
        ],
        "approved": [
            [*branch[:-1], [list(file) for file in branch.files]]
            for branch in radar.approved
        ],
        "seen": dict(record),
    }
    return f"{json.dumps(fields, separators=(',', ':'))}\n".encode()


def _side(row: Mapping[str, Any]) -> Side:
    texts = ("name", "path", "worktree_id", "branch", "agent", "head", "commit", "base")
    fields: dict[str, Any] = {key: _text(row[key]) for key in (*texts, "problem")}
    numbers = ("file_count", "left_out", "changed_ms")
    fields |= {key: int(row[key]) for key in numbers}
    return Side(**fields, files=tuple(map(_text, row["files"])))


def _pair(row: Any, count: int) -> Pair:
    first, second, files, problem = row
    if not 0 <= first < second < count:
        raise ValueError("no such sides")
    return Pair(first, second, tuple(map(_file, files)), one_line(_text(problem)))


def _approved(row: Any) -> ApprovedBranch:
    *texts, files = row
    topic, name, branch, commit, onto = map(_text, texts)
    return ApprovedBranch(topic, name, branch, commit, onto, tuple(map(_file, files)))


def _file(row: Any) -> SharedFile:
    path, kind, conflict, symbols = row
    if kind not in KINDS:
        raise ValueError("no such kind")
    return SharedFile(_text(path), kind, _text(conflict), tuple(map(_text, symbols)))


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError("not a text")
    return value
