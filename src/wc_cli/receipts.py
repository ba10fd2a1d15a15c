"""After a write: start the settling, say what is true."""

from __future__ import annotations

import contextlib
import os
import sys
import time

from wc_cli import context as world
from wc_cli import locks
from wc_core import gitconfig
from wc_core.discovery import BRANCH_STORE
from wc_core.errors import StorageError, WcError
from wc_core.layout import Layout, file_name
from wc_core.moves import holder_text
from wc_core.text import one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from wc_cli.context import Context
    from wc_cli.store import Receipt

_INLINE_SECONDS = 30.0
_TRY_AGAIN_SECONDS = 30.0


def settled(context: Context, receipt: Receipt) -> Receipt:
    """The receipt with what became of settling: waited for, started, or off."""
    layout = Layout(context.place.root)
    committing = context.place.kind == BRANCH_STORE
    notes = list(receipt.notes)
    committed = False
    try:
        if context.settings.sync == "inline":
            from wc_cli import pending, settling  # not in the usual case

            if not settling.settle(layout.root, context.env, _INLINE_SECONDS):
                by = pending.held_up(layout) or "somebody else is at it"
                notes.append(f"not settled yet: {by}")
            marker = f"{layout.unsettled}/{file_name(receipt.topic)}"
            committed = committing and not os.path.lexists(marker)
        elif context.settings.sync == "background":
            start_settling(layout, context.env)
    except (WcError, OSError) as error:
        notes.append(f"settling could not be started: {error}")
    notes.extend(_pending(layout))
    pushed = False if committing and _has_remote(context) else None
    return receipt._replace(committed=committed, pushed=pushed, notes=tuple(notes))


def _pending(layout: Layout) -> list[str]:
    """What settling could not do last time: said at every write until it can."""
    if not os.path.lexists(layout.settling):
        return []
    from wc_cli import pending  # only when something went wrong

    found = pending.trouble(layout.root)
    if found is None:
        return []
    return [f"settling, at {found.at}: {found.problem} (see: wc doctor)"]


def _has_remote(context: Context) -> bool:
    where = context.place.repository
    return bool(gitconfig.get("remote.origin.url", where, context.env))


def take_up(layout: Layout, env: Mapping[str, str]) -> None:
    """Start what an earlier command left to do, unless it was tried just now
    and could not be done."""
    try:
        tried = os.stat(layout.settling).st_mtime
    except FileNotFoundError:
        tried = 0.0
    if time.time() - tried > _TRY_AGAIN_SECONDS:
        with contextlib.suppress(WcError, OSError):
            start_settling(layout, env)


def start_settling(layout: Layout, env: Mapping[str, str]) -> None:
    """Start the detached helper, unless one is at work: that one looks for
    new markers before it ends."""
    handle = locks.try_acquire(layout.git_lock, layout.root)
    if handle is None:
        return
    # It inherits the lock: no other writer starts a second one while it starts.
    os.set_inheritable(handle, True)
    # -P: nothing is imported from the folder we happen to be in.
    words = [sys.executable, "-P", "-m", "wc_cli.settling", layout.root, str(handle)]
    null = os.open(os.devnull, os.O_RDWR)
    actions = [(os.POSIX_SPAWN_DUP2, null, fd) for fd in (0, 1, 2)]
    try:
        # Its own session: a ^C meant for us, or a closed terminal, is not for it.
        os.posix_spawn(sys.executable, words, env, file_actions=actions, setsid=True)
    finally:
        os.close(null)
        os.close(handle)


def show(receipt: Receipt, *, as_json: bool) -> None:
    """Print a receipt: what was saved, where the ball is, what is pending."""
    try:
        if as_json:
            world.say_json(receipt.to_json())
            return
        world.say(one_line(_sentence(receipt)))
    except (StorageError, BrokenPipeError) as error:
        # The entry is on disk: whoever tries again would write it twice.
        world.discard_output()
        world.remark(f"note: saved as {receipt.entry_id}, but: {one_line(str(error))}")
    for note in receipt.notes:
        world.remark(f"note: {one_line(note)}")


def _sentence(receipt: Receipt) -> str:
    saved = f"saved {receipt.topic} #{receipt.idx} ({receipt.entry_id})"
    ball = f"ball: {holder_text(receipt.ball)}"
    if receipt.ball != receipt.previous_ball and receipt.idx:
        ball = (
            f"ball: {holder_text(receipt.previous_ball)} → {holder_text(receipt.ball)}"
        )
    facts = [saved, ball]
    if receipt.status != "OPEN":
        facts.append(receipt.status)
    if receipt.committed:
        facts.append("committed")
    if receipt.pushed is False:
        facts.append("not pushed")
    return " · ".join(facts)
