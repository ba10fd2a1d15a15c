"""Starting the detached helper, when something is left for it to do.

Asked at every command, so it costs next to nothing where nothing is.
"""

from __future__ import annotations

import contextlib
import math
import os
import sys
import time
from typing import TYPE_CHECKING

from wc_cli.store import applied
from wc_core.errors import WcError
from wc_core.files import names_in
from wc_core.git import repository
from wc_core.layout import BRANCH

if TYPE_CHECKING:
    from collections.abc import Mapping

    from wc_core.layout import Layout
    from wc_core.threads.settings import Settings

_TRY_AGAIN_SECONDS = 30.0
# Somebody's git is at work for about so long.
_MOMENT_SECONDS = 5.0
_MAX_DOUBLINGS = 5


def take_up(layout: Layout, rules: Settings, env: Mapping[str, str]) -> None:
    """Start what an earlier command left to do, or what is due again, unless
    it was tried just now and could not be done."""
    if _is_unsettled(layout):
        due = _age(layout.settling) > _TRY_AGAIN_SECONDS
    else:
        due = _is_moved(layout) or _is_travel_due(layout, rules)
    if due:
        with contextlib.suppress(WcError, OSError):
            start(layout, env)


def _age(path: str) -> float:
    """Seconds since a file was written; infinite where there is none."""
    try:
        return abs(time.time() - os.stat(path).st_mtime)
    except FileNotFoundError:
        return math.inf


def _is_unsettled(layout: Layout) -> bool:
    """Whether something was left to do; who reads is not to be held up by
    what stands in the place of the folder that would say so."""
    try:
        return bool(names_in(layout.unsettled, layout.root))
    except WcError:
        return False


def _is_moved(layout: Layout) -> bool:
    """Whether somebody moved the branch, or changed the folder, with git."""
    own, known = repository.find(layout.root), applied.load(layout)
    if not known.commit or own is None or own.branch != BRANCH:
        return False
    moved = own.commit not in {"", known.commit}
    moved = moved or applied.index_ns(own) != known.index_ns
    return moved and _age(layout.settling) > _MOMENT_SECONDS


def _is_travel_due(layout: Layout, rules: Settings) -> bool:
    """Whether to look at the remote again. Where nothing ever travelled,
    nothing does for the mere reading."""
    age = _age(layout.travel)
    if age == math.inf or age < _TRY_AGAIN_SECONDS:
        return False
    if rules.fetch_every and age >= rules.fetch_every:
        return True
    from wc_core.git import freshness  # not at every command

    known = freshness.load(layout)
    failures = known.failures if known is not None else 0
    patience = _TRY_AGAIN_SECONDS * 2 ** min(failures, _MAX_DOUBLINGS)
    return bool(failures) and age >= patience


def start(layout: Layout, env: Mapping[str, str]) -> None:
    """Start the detached helper, unless one is at work: that one looks for
    new markers before it ends."""
    from wc_cli.store import locks  # who only reads does without

    handle = locks.try_acquire(layout.git_lock, layout.root)
    if handle is None:
        return
    # It inherits the lock: no other writer starts a second one while it starts.
    os.set_inheritable(handle, True)
    # -P: nothing is imported from the folder we happen to be in.
    words = [sys.executable, "-P", "-m", "wc_cli.background", layout.root, str(handle)]
    null = os.open(os.devnull, os.O_RDWR)
    actions = [(os.POSIX_SPAWN_DUP2, null, fd) for fd in (0, 1, 2)]
    try:
        # Its own session: a ^C meant for us, or a closed terminal, is not for it.
        os.posix_spawn(sys.executable, words, env, file_actions=actions, setsid=True)
    finally:
        os.close(null)
        os.close(handle)
