"""What an agent's session has been told, so that it is told once.

A small file for each session, ``.local/sessions/<client>:<session>``. It is of
this machine alone; one that is lost or cannot be read is a session that begins
anew, and says nothing until something happens.
"""

from __future__ import annotations

import contextlib
import json
import os
import time
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from wc_cli.store import durable
from wc_core.errors import WcError
from wc_core.files import names_in, read_plain
from wc_core.layout import safe_name

if TYPE_CHECKING:
    from collections.abc import Mapping

    from wc_core.layout import Layout

VERSION = 1
# Seconds after which a session that said nothing is over.
_LASTS = 14 * 24 * 3600
_MAX_BYTES = 1 << 18
_MOST = 1000
_UNREADABLE = (
    *(OSError, ValueError, TypeError, LookupError, AttributeError),
    RecursionError,
)


class Session(NamedTuple):
    """``looked_ns`` is when it last looked for news, in nanoseconds since 1970;
    ``told`` what it knew of threads that had moved shortly before: the entry
    that gave the ball away, and how many were NEW. ``balls`` are the names of the
    files of the balls it had then, ``reminded`` of those it was reminded of."""

    looked_ns: int = 0
    told: Mapping[str, tuple[str, int]] = MappingProxyType({})
    balls: frozenset[str] = frozenset()
    reminded: frozenset[str] = frozenset()


def path_of(layout: Layout, client: str, session: str) -> str:
    """The file of a client's session."""
    return f"{layout.sessions}/{safe_name(f'{client}:{session}')}"


def load(layout: Layout, path: str) -> Session | None:
    """What is known of a session; ``None`` for a new one."""
    try:
        fields = json.loads(read_plain(path, layout.root, _MAX_BYTES) or b"null")
        if fields["version"] != VERSION:
            return None
        told = {str(k): (str(one[0]), int(one[1])) for k, one in fields["told"].items()}
        balls, reminded = (
            frozenset(map(str, fields[name])) for name in ("balls", "reminded")
        )
        return Session(int(fields["looked_ns"]), told, balls, reminded)
    except _UNREADABLE:
        return None


def save(layout: Layout, path: str, session: Session) -> None:
    """Keep it; the first time, those of sessions that are over are removed.

    Raises StorageError, CorruptError: who cannot remember says nothing.
    """
    if not os.path.lexists(path):
        durable.make_folder(layout.sessions, layout.root, flush=False)
        sweep(layout, time.time())
    fields = {
        "version": VERSION,
        "looked_ns": session.looked_ns,
        "told": dict(session.told),
        "balls": sorted(session.balls)[-_MOST:],
        "reminded": sorted(session.reminded)[-_MOST:],
    }
    durable.replace(path, json.dumps(fields).encode(), layout.root)


def sweep(layout: Layout, now: float) -> None:
    """Remove the files of sessions that are over, ``now`` in seconds."""
    for name in names_in(layout.sessions, layout.root)[:_MOST]:
        path = f"{layout.sessions}/{name}"
        with contextlib.suppress(OSError, WcError):
            if now - os.lstat(path).st_mtime > _LASTS:
                durable.remove(path, layout.root)
