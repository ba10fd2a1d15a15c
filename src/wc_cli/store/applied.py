"""What of its branch a store's folder is known to have.

``.local/applied`` names the commit whose tree the folder has taken in, and when
the index was written that we left there: git writes it whenever it does anything
in the folder. The time is kept as a number, for not every file system could keep
it as the time of a file.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from wc_core.files import read_plain

if TYPE_CHECKING:
    from wc_cli.store.upkeep import Upkeep
    from wc_core.git.repository import Repository
    from wc_core.layout import Layout

# Of an index that nobody noted, or that is not there.
NEVER = -1


class Applied(NamedTuple):
    """The commit, empty where nobody noted one, and the time of the index in
    nanoseconds."""

    commit: str = ""
    index_ns: int = NEVER


def load(layout: Layout) -> Applied:
    """What was noted; nothing where it cannot be read."""
    try:
        text = (read_plain(layout.applied, layout.root) or b"").decode()
        commit, time = [*text.split(), "", ""][:2]
        return Applied(commit, int(time or NEVER))
    except (OSError, ValueError):
        return Applied()


def note(upkeep: Upkeep, found: Applied) -> None:
    """Note what the folder has. Raises StorageError, CorruptError."""
    text = f"{found.commit} {found.index_ns}\n"
    upkeep.put(upkeep.layout.applied, text.encode())


def index_ns(where: Repository) -> int:
    """When the index of a checkout was written."""
    try:
        return os.lstat(f"{where.gitdir}/index").st_mtime_ns
    except OSError:
        return NEVER
