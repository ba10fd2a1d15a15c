"""What of a store is still to be settled, and what is in the way of it."""

from __future__ import annotations

import contextlib
import json
import os
import time
from typing import TYPE_CHECKING, NamedTuple

from wc_cli.store import durable, locks
from wc_core.errors import WcError
from wc_core.files import names_in, read_plain
from wc_core.layout import topic_of
from wc_core.threads import codec
from wc_core.threads.reader import StoreReader

if TYPE_CHECKING:
    from collections.abc import Mapping

    from wc_cli.store.upkeep import Upkeep
    from wc_core.layout import Layout

_OVERDUE_SECONDS = 60


def unsettled(layout: Layout) -> list[str]:
    """The threads of a store that await settling."""
    return [topic_of(name) for name in names_in(layout.unsettled, layout.root)]


def is_overdue(layout: Layout) -> bool:
    """Whether a thread has waited for longer than any helper takes."""
    for name in names_in(layout.unsettled, layout.root):
        with contextlib.suppress(FileNotFoundError):
            age = time.time() - os.stat(f"{layout.unsettled}/{name}").st_mtime
            if age > _OVERDUE_SECONDS:
                return True
    return False


def held_up(layout: Layout) -> str:
    """Who is at settling, in words; empty where nobody is."""
    with contextlib.suppress(WcError):
        handle = locks.try_acquire(layout.git_lock, layout.root)
        if handle is None:
            return f"{locks.holder_of(layout.git_lock)} is at it"
        os.close(handle)
    return ""


class Trouble(NamedTuple):
    """What settling could not do when it last tried, at ``at``."""

    at: str
    problem: str


def trouble(root: str) -> Trouble | None:
    """What settling last could not do; ``None`` when all is well."""
    layout = StoreReader(root).layout
    try:
        data = read_plain(layout.settling, layout.root)
        if data is None:
            return None
        if not data:
            return Trouble("an unknown time", "there was no room to write down what")
        fields = json.loads(data)
        return Trouble(str(fields["at"]), str(fields["problem"]))
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        return Trouble("an unknown time", "its report cannot be read")


def stuck(layout: Layout) -> frozenset[str]:
    """The threads that could not be settled when that was last tried."""
    with contextlib.suppress(OSError, ValueError, TypeError, KeyError, RecursionError):
        data = read_plain(layout.settling, layout.root) or b""
        return frozenset(json.loads(data)["threads"])
    return frozenset()


def report(upkeep: Upkeep, problems: Mapping[str, str]) -> None:
    """Leave what could not be done, by thread, for receipts, doctor and
    health; take away an older report where all is well."""
    layout = upkeep.layout
    if problems:
        now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        problem = next(iter(problems.values()))
        fields = {"at": now, "problem": problem, "threads": problems}
        data = f"{codec.dumps(fields)}\n".encode()
        try:
            upkeep.put(layout.settling, data)
        except WcError:
            # A full disk has room for a name: see `trouble`. What is in
            # its place says itself that all is not well.
            with contextlib.suppress(WcError):
                durable.touch(layout.settling, layout.root)
    else:
        with contextlib.suppress(WcError):  # a folder in its place: likewise
            durable.remove(layout.settling, layout.root)
