"""The lines that files in the root of a store must have.

A store that wc creates has them from its first commit. One of other tools gets them
with wc's first entry, which commits them. Until then, ``.local`` has a ``.gitignore``
of its own: files that are in no commit would keep git from checking out another branch,
in a worktree that has the store's branch checked out.
"""

from __future__ import annotations

import os

from wc_cli.ledger.store import durable
from wc_cli.ledger.store.localfiles import LocalFiles
from wc_core.base.files import read_plain
from wc_core.base.layout import ATTRIBUTES, IGNORED, IN_TREE
from wc_core.base.lean import contextlib

TYPE_CHECKING = False
if TYPE_CHECKING:
    from wc_core.base.layout import Layout

# File and line.
SHARED = ((".gitattributes", ATTRIBUTES), (".gitignore", IGNORED))
_OWN_IGNORE = ".gitignore"


def ignore_local(layout: Layout) -> None:
    """Have git ignore the local files of a store that lacks the lines."""
    LocalFiles(layout).write(_OWN_IGNORE, b"*\n")


def postpone(layout: Layout) -> None:
    """Leave the lines to the first entry, if the store lacks one of them."""
    if any(not _has(layout, name, line) for name, line in SHARED):
        ignore_local(layout)


def are_postponed(layout: Layout) -> bool:
    """Return whether the next entry adds the lines."""
    return os.path.lexists(f"{layout.local}/{_OWN_IGNORE}")


def add_postponed(layout: Layout) -> None:
    """Add the lines if they were left to the first entry."""
    if are_postponed(layout):
        for name, line in SHARED:
            durable.ensure_line(f"{layout.root}/{name}", line, layout.root)
        LocalFiles(layout).remove(_OWN_IGNORE)


def ignore_stores(root: str) -> None:
    """Have git ignore all stores beside this one, where the home folder is a
    repository: `git add -A` there would add each as a repository of its own. A file
    that is there stays."""
    top, name = os.path.split(os.path.dirname(root))
    if (os.path.basename(top), name) == (IN_TREE, "worktrees"):
        with contextlib.suppress(OSError):  # the store can do without
            durable.write_new(f"{top}/{_OWN_IGNORE}", b"*\n")


def _has(layout: Layout, name: str, line: str) -> bool:
    try:
        data = read_plain(f"{layout.root}/{name}", layout.root) or b""
    except OSError:
        return True  # it cannot get one either
    return line.encode() in data.splitlines()
