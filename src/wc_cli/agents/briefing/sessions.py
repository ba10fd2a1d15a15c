"""The record of what an agent's session already knows, so that nothing is repeated.

A small file for each session, ``sessions/<client>:<session>`` in the private folder
(`wc_core.ledger.git.private`): it has texts for the session's next prompt. A session
whose file is lost or unreadable starts over and gets no news until something happens.
"""

from __future__ import annotations

import os
import time
from types import MappingProxyType

from wc_cli.ledger.store import durable
from wc_core.base.errors import WcError
from wc_core.base.files import names_in
from wc_core.base.layout import safe_name
from wc_core.base.lean import contextlib, json
from wc_core.base.values import NamedTuple
from wc_core.ledger.git.private import private_layout, read_fields

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

    from wc_core.base.layout import Layout

VERSION = 1
# Seconds without a hook after which a session has expired.
_LASTS = 14 * 24 * 3600
_MAX_BYTES = 1 << 22
MOST = 1000
# The most balls that a session has on record as reminded of.
MOST_REMINDED = 256
# The beginnings of the names of questions and claims that it was reminded of.
ASKED, CLAIM, UNSAVED = "asked:", "claim:", "unsaved:"


class Session(NamedTuple):
    """The news that a session already knows. ``looked_ns`` is when it last looked for
    news, in nanoseconds since 1970.

    ``threads`` are those that had changed shortly before: the entry that passed the
    ball, and the number of NEW entries. ``balls`` are the file names of its balls at
    that time. ``reminded`` are the names of the balls it was reminded of, and of the
    questions and claims, which begin with `ASKED` and `CLAIM`. All balls up to the name
    ``reminded_up_to`` count as reminded, too. ``conflicts`` are the
    keys of the known conflicts that have not gone away. ``files`` are the changed files
    in the others' claims, by claim: path and stamp. ``warned`` are the claims that it
    was warned of, ``queued`` is the text for its next prompt, ``advice`` the text for
    after the running tool. ``log_length`` is the length of the HEAD log. ``kept_on_ns``
    is when a reminder last made the agent continue.
    """

    looked_ns: int = 0
    threads: Mapping[str, tuple[str, int]] = MappingProxyType({})
    balls: frozenset[str] = frozenset()
    reminded: frozenset[str] = frozenset()
    conflicts: frozenset[str] = frozenset()
    files: Mapping[str, Mapping[str, str]] = MappingProxyType({})
    warned: frozenset[str] = frozenset()
    queued: tuple[str, ...] = ()
    log_length: int = 0
    advice: tuple[str, ...] = ()
    kept_on_ns: int = 0
    reminded_up_to: str = ""

    def known(self, names: Iterable[str]) -> frozenset[str]:
        """Return those of these balls and questions that the session knows. If there
        are very many, the oldest are not recorded and count as known."""
        first = min(self.balls) if len(self.balls) >= MOST else ""
        return frozenset(name for name in names if name in self.balls or name <= first)

    def reminded_of(self, names: Iterable[str]) -> frozenset[str]:
        """Return those of these balls that the session was reminded of."""
        last = self.reminded_up_to
        return frozenset(
            name for name in names if name in self.reminded or name <= last
        )

    def with_reminded(self, reminded: Iterable[str]) -> Session:
        """Return the session with these names of balls, questions and claims that it
        was reminded of, as far as there is room."""
        names = frozenset(reminded)
        balls = sorted(
            name for name in names if not name.startswith((ASKED, CLAIM, UNSAVED))
        )
        dropped = balls[:-MOST_REMINDED]
        return self._replace(
            reminded=names.difference(dropped),
            reminded_up_to=max([self.reminded_up_to, *dropped[-1:]]),
        )


def path_of(layout: Layout, client: str, session: str) -> str:
    """Return the path of a session's file."""
    return f"{private_layout(layout).sessions}/{safe_name(f'{client}:{session}')}"


def load(layout: Layout, path: str) -> Session | None:
    """Load a session; ``None`` for a new one."""
    root = private_layout(layout).root
    return read_fields(path, root, VERSION, _made, _MAX_BYTES)


def _made(fields: dict[str, Any]) -> Session:
    threads = {
        str(k): (str(values[0]), int(values[1])) for k, values in fields["told"].items()
    }
    balls, reminded = (
        frozenset(map(str, fields[name])) for name in ("balls", "reminded")
    )
    return Session(
        int(fields["looked_ns"]),
        threads,
        balls,
        reminded,
        conflicts=frozenset(map(str, fields.get("conflicts", ()))),
        files={
            str(claim): {str(path): str(stamp) for path, stamp in stamps.items()}
            for claim, stamps in fields.get("files", {}).items()
        },
        warned=frozenset(map(str, fields.get("warned", ()))),
        queued=tuple(map(str, fields.get("untold", ()))),
        log_length=int(fields.get("log_length", 0)),
        advice=tuple(map(str, fields.get("advice", ()))),
        kept_on_ns=int(fields.get("kept_on_ns", 0)),
        reminded_up_to=str(fields.get("reminded_up_to", "")),
    )


def save(layout: Layout, path: str, session: Session) -> None:
    """Save a session. Saving a new one removes the expired ones.

    Raises StorageError and CorruptError: a hook that cannot remember must be silent.
    """
    private = private_layout(layout)
    if not os.path.lexists(path):
        durable.make_in_private_folder(private.sessions, private.root)
        sweep(layout, time.time())
    fields = {
        "version": VERSION,
        "looked_ns": session.looked_ns,
        "told": dict(session.threads),
        "balls": sorted(session.balls)[-MOST:],
        "reminded": sorted(session.reminded),
        "conflicts": sorted(session.conflicts)[-MOST:],
        "files": {claim: dict(stamps) for claim, stamps in session.files.items()},
        "warned": sorted(session.warned)[-MOST:],
        "untold": list(session.queued)[-MOST:],
        "log_length": session.log_length,
        "advice": list(session.advice)[-MOST:],
        "kept_on_ns": session.kept_on_ns,
        "reminded_up_to": session.reminded_up_to,
    }
    durable.replace(path, json.dumps(fields).encode(), private.root)


def sweep(layout: Layout, now: float) -> None:
    """Remove the files of expired sessions; ``now`` is in seconds."""
    private = private_layout(layout)
    for name in names_in(private.sessions, private.root)[:MOST]:
        path = f"{private.sessions}/{name}"
        with contextlib.suppress(OSError, WcError):
            if now - os.lstat(path).st_mtime > _LASTS:
                durable.remove(path, private.root)
