"""The thread chosen for a worktree with ``wc use``.

``.local/use/<worktree>`` has the topic on one line; the worktree is named as in
``.local/me``. As long as the thread is open, it is the only one that is here.

Git reuses the name of a worktree that was removed. A choice that is older than its
worktree was made for the earlier one and does not count.
"""

from __future__ import annotations

import os

from wc_core.attention.status.identityfiles import MAIN_WORKTREE
from wc_core.attention.status.places import Surroundings, worktree_places
from wc_core.base.errors import WcError
from wc_core.base.files import read_plain
from wc_core.base.values import NamedTuple
from wc_core.ledger.git import seats
from wc_core.ledger.threads.model import CLOSED
from wc_core.ledger.threads.reader import StoreReader

TYPE_CHECKING = False
if TYPE_CHECKING:
    from wc_core.base.layout import Layout
    from wc_core.ledger.git.repository import Repository
    from wc_core.people.identity.viewer import Viewer

_MAX_BYTES = 1024


class Pin(NamedTuple):
    """The topic that was chosen for a worktree, and whether it has an open thread, or
    one that cannot be read."""

    topic: str = ""
    is_open: bool = False


def pin_file(worktree: str) -> str:
    """Returns the file of a worktree, relative to ``.local``."""
    return f"use/{worktree}"


def worktree_key(repository: Repository | None) -> str:
    """Returns the name of a worktree in the paths of these files; empty outside git."""
    if repository is None:
        return ""
    return repository.worktree_id or MAIN_WORKTREE


def read_pin(layout: Layout, worktree: str) -> str:
    """Returns the topic in the file of a worktree; empty if there is none."""
    try:
        path = f"{layout.local}/{pin_file(worktree)}"
        data = read_plain(path, layout.root, _MAX_BYTES) or b""
    except OSError:
        return ""  # something else is in its place; wc doctor reports it
    return data.decode(errors="replace").partition("\n")[0]


def pin_of(layout: Layout, repository: Repository | None) -> Pin:
    """Returns what was chosen for a worktree."""
    worktree = worktree_key(repository)
    if repository is None or not os.path.isdir(layout.pins):
        return Pin()
    topic = read_pin(layout, worktree)
    if not topic or _is_older_than_worktree(layout, repository, worktree):
        return Pin()
    return Pin(topic, _is_open(StoreReader(layout.root), topic))


def surroundings(
    layout: Layout, repository: Repository | None, viewer: Viewer
) -> Surroundings:
    """Returns where a viewer is: the places of the worktree, or the thread chosen for
    it."""
    pin = pin_of(layout, repository)
    return Surroundings(
        worktree_places(repository),
        viewer.identity.name,
        viewer.directory,
        pin.topic if pin.is_open else "",
        viewer.identity.own_tag,
        seats.former_names(repository) if repository is not None else (),
    )


def _is_older_than_worktree(
    layout: Layout, repository: Repository, worktree: str
) -> bool:
    try:
        pinned_ns = os.lstat(f"{layout.local}/{pin_file(worktree)}").st_mtime_ns
        made_ns = os.lstat(f"{repository.gitdir}/commondir").st_mtime_ns
    except OSError:
        return False  # the main worktree is never created again
    return made_ns > pinned_ns


def _is_open(reader: StoreReader, topic: str) -> bool:
    try:
        return reader.has(topic) and reader.snapshot(topic).state.status != CLOSED
    except WcError:
        return True  # nobody must take another one for it
