"""Records which commit of its branch was last applied to a store's folder.

``.local/applied`` has the commit and the time of the index at that moment. git writes
the index whenever it does something in the folder, so a different time means that a
user's git was active. The time is stored as a number because not every file system can
keep it as the time of a file.
"""

from __future__ import annotations

import os

from wc_cli.ledger.store import durable
from wc_core.base.files import read_plain
from wc_core.base.values import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from wc_core.base.layout import Layout
    from wc_core.ledger.git.repository import Repository

# The time of an index that was not recorded or does not exist.
NEVER = -1


class Applied(NamedTuple):
    """The commit, empty if none was recorded, and the time of the index in
    nanoseconds."""

    commit: str = ""
    index_ns: int = NEVER


def load(layout: Layout) -> Applied:
    """Read the record. Returns the default if it cannot be read."""
    try:
        text = (read_plain(layout.applied, layout.root) or b"").decode()
        commit, time = [*text.split(), "", ""][:2]
        return Applied(commit, int(time or NEVER))
    except (OSError, ValueError):
        return Applied()


def note(layout: Layout, state: Applied) -> None:
    """Record the commit in the folder. Raises StorageError, CorruptError."""
    text = f"{state.commit} {state.index_ns}\n"
    durable.replace_if_changed(layout.applied, text.encode(), layout.root)


def index_ns(repository: Repository) -> int:
    """The time at which a checkout's index was written."""
    try:
        return os.lstat(f"{repository.gitdir}/index").st_mtime_ns
    except OSError:
        return NEVER
