"""The thread chosen for a worktree with ``wc use``.

``.local/use/<worktree>`` has the topic on one line; the worktree is named as in
``.local/me``. The thread has its own place there, `pin_place`, with its status files,
so that the prompt finds it like any other. As long as it's open, it is the only thread
that is here.

Git reuses the name of a worktree that was removed. A choice that is older than its
worktree was made for the earlier one and does not count.
"""

from __future__ import annotations

import os

from wc_core.attention.status.identityfiles import MAIN_WORKTREE
from wc_core.attention.status.places import PINNED, Surroundings, worktree_places
from wc_core.base.files import names_in, read_plain
from wc_core.base.values import NamedTuple
from wc_core.ledger.git import seats

TYPE_CHECKING = False
if TYPE_CHECKING:
    from wc_core.base.layout import Layout
    from wc_core.ledger.git.repository import Repository
    from wc_core.people.identity.viewer import Viewer

_MAX_BYTES = 1024


class Pin(NamedTuple):
    """The topic that was chosen for a worktree, and whether it has an open thread."""

    topic: str = ""
    is_open: bool = False


def pin_file(worktree: str) -> str:
    """Returns the file of a worktree, relative to ``.local``."""
    return f"{PINNED.removeprefix('.')}/{worktree}"


def pin_place(worktree: str) -> str:
    """Returns the place of the thread chosen for a worktree. No branch can have this
    name."""
    return f"{PINNED}/{worktree}"


def worktree_key(repository: Repository | None) -> str:
    """Returns the name of a worktree in the paths of these files; empty outside git."""
    if repository is None:
        return ""
    return repository.worktree_id or MAIN_WORKTREE


def pinned_worktrees(layout: Layout, topic: str) -> tuple[str, ...]:
    """Returns the worktrees for which a thread was chosen."""
    if not os.path.isdir(layout.pins):
        return ()
    names = names_in(layout.pins, layout.root)
    return tuple(name for name in names if read_pin(layout, name) == topic)


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
    folder = f"{layout.local}/status/branch/{pin_place(worktree)}/.t"
    return Pin(topic, _has_a_file(folder))


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


def _has_a_file(folder: str) -> bool:
    """Returns whether the folder of a place has a status file of any holder."""
    try:
        holders = os.listdir(folder)
        return any(os.listdir(f"{folder}/{holder}") for holder in holders)
    except OSError:
        return False
