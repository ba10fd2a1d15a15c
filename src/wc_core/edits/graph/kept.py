"""Reads the files that graphs are kept in: ``.local/graph/`` of the store has one for
each worktree.

`wc_cli.edits.graph` writes them. They can be deleted, and a file that is damaged or of
another version counts as none::

    {"v": 1, "at": 1767225600000, "head": "5f0c…", "key": "…",
     "files": ["src/app.py", "src/auth.py"], "uses": [[0, 1, "Login check"]]}

``uses`` has the numbers of two files, and the names of the second that are in the
first.
"""

from __future__ import annotations

from wc_core.base.errors import WcError
from wc_core.base.files import read_plain
from wc_core.base.lean import json
from wc_core.edits.graph.model import Graph

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from wc_core.base.layout import Layout

VERSION = 1
# A graph of very many files; a larger file is not ours.
MAX_BYTES = 1 << 26
UNREADABLE = (
    *(OSError, WcError, ValueError, TypeError, LookupError),
    *(AttributeError, RecursionError),
)


def load(layout: Layout, worktree: str) -> Graph | None:
    """The graph of a worktree as it was last computed; ``None`` if it never was."""
    try:
        data = read_plain(layout.graph(worktree), layout.root, MAX_BYTES)
        return decode(json.loads(data or b"null"))
    except UNREADABLE:
        return None


def decode(fields: Any) -> Graph | None:
    """The graph in the fields of a file; ``None`` if they are of another version.
    Raises one of `UNREADABLE` if they are not valid."""
    if not isinstance(fields, dict) or fields["v"] != VERSION:
        return None
    files = [str(path) for path in fields["files"]]
    uses: dict[str, dict[str, tuple[str, ...]]] = {path: {} for path in files}
    for user, target, names in fields["uses"]:
        if user < 0 or target < 0:
            raise ValueError("no such file")
        uses[files[user]][files[target]] = tuple(names.split())
    return Graph(uses, int(fields["at"]), str(fields["head"]), str(fields["key"]))


def encode(graph: Graph) -> bytes:
    """The bytes of the file."""
    numbers = {path: number for number, path in enumerate(graph.uses)}
    fields = {
        "v": VERSION,
        "at": graph.at_ms,
        "head": graph.head,
        "key": graph.key,
        "files": list(graph.uses),
        "uses": [
            [numbers[user], numbers[target], " ".join(names)]
            for user, row in graph.uses.items()
            for target, names in row.items()
        ],
    }
    return f"{json.dumps(fields, separators=(',', ':'))}\n".encode()
