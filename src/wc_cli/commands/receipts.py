"""After a write: start the settling, say what is true."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from wc_cli import output, spawn
from wc_core.errors import StorageError, WcError
from wc_core.git import remotes, repository
from wc_core.git.discovery import BRANCH_STORE
from wc_core.identity import environment
from wc_core.layout import Layout, file_name
from wc_core.text import one_line
from wc_core.threads.moves import holder_text

if TYPE_CHECKING:
    from wc_cli.context import Context
    from wc_cli.store.lockedthread import Receipt

_INLINE_SECONDS = 30.0
_NOT_SHARED = "the remote has no threads yet; your user may begin with it: wc sync"


def settle_after_write(
    context: Context, receipt: Receipt, *, sync: bool = False
) -> Receipt:
    """The receipt with what became of settling and of the way to the remote:
    waited for (``sync``, or so configured), started, or off."""
    layout = Layout(context.place.root)
    committing = context.place.kind == BRANCH_STORE
    notes = list(receipt.notes)
    committed = False
    mode = "inline" if sync else context.settings.sync
    try:
        if mode == "inline":
            notes += _settle_now(context, layout, by_option=sync)
            marker = f"{layout.unsettled}/{file_name(receipt.topic)}"
            committed = committing and not os.path.lexists(marker)
        elif mode == "background":
            spawn.start(layout, context.env)
    except (WcError, OSError) as error:
        notes.append(f"settling could not be started: {error}")
    notes.extend(_trouble_notes(layout))
    pushed = _is_pushed(context, layout, committed=committed) if committing else None
    return receipt._replace(committed=committed, pushed=pushed, notes=tuple(notes))


def _settle_now(context: Context, layout: Layout, *, by_option: bool) -> list[str]:
    """Settle, and exchange with the remote where it has the branch, or the
    user asked for it (``by_option``); what could not be done."""
    from wc_cli.settle import settler
    from wc_cli.store import pending  # not in the usual case
    from wc_cli.sync import routes
    from wc_cli.sync.exchange import Waiting
    from wc_cli.sync.exchanger import (
        PUSH_ALWAYS,
        PUSH_IF_SHARED,
        PUSH_NEVER,
        Exchanger,
    )

    notes = []
    # Agents write without asking their user; whether threads are shown to others
    # is the user's to say.
    by_user = by_option and next(environment.agents_in(context.env), None) is None
    if settler.settle(layout.root, context.env, _INLINE_SECONDS) is None:
        by = pending.settler_at_work(layout) or "somebody else is at it"
        notes.append(f"not settled yet: {by}")
    try:
        remote = routes.remote_after_write(layout.root, context.env, by_user=by_user)
        if remote is None and by_option:
            notes.append(_NOT_SHARED)
        if remote is not None:
            waiting = Waiting.at_most(context.settings.limit)
            exchanger = Exchanger(layout.root, context.env, remote, waiting)
            usual = PUSH_IF_SHARED if context.settings.push else PUSH_NEVER
            exchanger.exchange(push=PUSH_ALWAYS if by_user else usual)
    except WcError as error:
        # The entry is saved: whatever this is, it is no failure of the write.
        notes.append(f"not pushed: {error.message}")
    return notes


def _trouble_notes(layout: Layout) -> list[str]:
    """What settling could not do last time: said at every write until it can."""
    if not os.path.lexists(layout.settling):
        return []
    from wc_cli.store import pending  # only when something went wrong

    trouble = pending.last_trouble(layout.root)
    if trouble is None:
        return []
    return [f"settling, at {trouble.at}: {trouble.problem} (see: wc doctor)"]


def _is_pushed(context: Context, layout: Layout, *, committed: bool) -> bool | None:
    """Whether the remote has what was written; ``None`` without a remote."""
    # Not that of the folder we are in: a store may be named.
    found_repository = repository.find(layout.root)
    if found_repository is None or not remotes.names(found_repository, context.env):
        return None
    if not committed:
        return False
    remote = remotes.find(found_repository, context.env)
    if remote is None:
        return False
    return found_repository.commit == repository.resolve(
        found_repository, remote.tracking
    )


def print_receipt(receipt: Receipt, *, as_json: bool) -> None:
    """Print a receipt: what was saved, where the ball is, what is pending."""
    try:
        if as_json:
            output.say_json(receipt.to_json())
            return
        output.say(one_line(_sentence(receipt)))
    except (StorageError, BrokenPipeError) as error:
        # The entry is on disk: whoever tries again would write it twice.
        output.discard_output()
        output.remark(f"note: saved as {receipt.entry_id}, but: {one_line(str(error))}")
    for note in receipt.notes:
        output.remark(f"note: {one_line(note)}")


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
    if receipt.pushed is not None:
        facts.append("pushed" if receipt.pushed else "not pushed")
    return " · ".join(facts)
