"""The last readable state of a worktree's loop, for the status line.

Some tools truncate a loop's state file and write it again. The server and the board
remember the state before that. Each prompt is a new process, so it keeps the state in a
small file below ``.local`` while the loop is shown.
"""

from __future__ import annotations

import os

from wc_cli.ledger.store.localfiles import LocalFiles
from wc_core.base.errors import WcError
from wc_core.base.files import read_plain
from wc_core.base.layout import safe_name
from wc_core.base.lean import contextlib, json
from wc_core.ledger.threads.jsontext import dumps
from wc_core.people.activity.loops import SHOWN_FIELDS, loop_path
from wc_core.people.activity.statefile import FileState, StateFiles

TYPE_CHECKING = False
if TYPE_CHECKING:
    from wc_core.base.layout import Layout

_MAX_BYTES = 1 << 16
_UNREADABLE = (OSError, ValueError, TypeError, LookupError, RecursionError)


def files_with_kept_loop(layout: Layout, top: str) -> StateFiles:
    """Files that use the kept state, if any, as the last good state of the loop in the
    worktree ``top``."""
    files = StateFiles()
    with contextlib.suppress(*_UNREADABLE):
        path = f"{layout.local}/{_name(top)}"
        kept = json.loads(read_plain(path, layout.root, _MAX_BYTES) or b"null")
        fields = {name: kept["fields"].get(name) for name in SHOWN_FIELDS}
        files.restore(loop_path(top), FileState(fields, int(kept["changed_ms"])))
    return files


def keep_loop(layout: Layout, top: str, files: StateFiles, *, visible: bool) -> None:
    """Keep the last good state of the loop in the worktree ``top``, or forget it if the
    loop is not ``visible``.

    Writes nothing into a store that was never written to. A read-only store does not
    make a prompt fail.
    """
    if not os.path.isdir(layout.unsettled):
        return
    state = files.last_good(loop_path(top))
    local = LocalFiles(layout)
    with contextlib.suppress(WcError, OSError):
        if state is None or state.fields is None or not visible:
            if os.path.lexists(f"{layout.local}/{_name(top)}"):
                local.remove(_name(top))
            return
        fields = {name: state.fields.get(name) for name in SHOWN_FIELDS}
        text = dumps({"changed_ms": state.changed_ms, "fields": fields})
        if len(text) < _MAX_BYTES:
            local.write(_name(top), f"{text}\n".encode())


def _name(top: str) -> str:
    """The path of the kept state, below ``.local``."""
    return f"loops/{safe_name(top)}"
