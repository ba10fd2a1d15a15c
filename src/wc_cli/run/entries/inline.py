"""Settles and exchanges with the remote before a writing command returns."""

from __future__ import annotations

from wc_cli.bridges import elsewhere
from wc_cli.bridges.carry import automatic
from wc_cli.ledger.index import keeping
from wc_cli.ledger.settle import reports, settler
from wc_cli.ledger.sync import routes
from wc_cli.ledger.sync.exchange import Waiting
from wc_cli.ledger.sync.exchanger import (
    PUSH_ALWAYS,
    PUSH_IF_SHARED,
    PUSH_NEVER,
    Exchanger,
)
from wc_cli.run.entries import landings
from wc_core.base import sandboxes
from wc_core.base.errors import WcError
from wc_core.base.layout import Layout

TYPE_CHECKING = False
if TYPE_CHECKING:
    from wc_cli.run.context import Context

_SETTLE_SECONDS = 30.0
_NOT_SHARED = "the remote has no threads yet; your user can start: wc sync"


def _carry_notes(context: Context, *, offers: bool = False) -> list[str]:
    """Where nothing could be pushed, have the entries travel with the code if that is
    wanted here. Returns what travels, or, if it ``offers``, the command that would
    help."""
    if not offers and sandboxes.current(context.env) is None:
        return []
    code, env = context.place.repository, context.env
    try:
        carried = automatic.carry_if_wanted(context.place.root, code, env)
    except WcError as error:
        return [error.message]
    if carried is not None:
        return [carried.sentence(code)] if carried.ids else []
    offer = automatic.offer(code, env, context.settings) if offers else ""
    return [offer] if offer else []


def settle_and_exchange(context: Context, *, by_option: bool) -> list[str]:
    """Settle, and exchange with the remote if it has the branch or the user requested
    it (``by_option``). Returns notes about failures."""
    root = context.place.root
    notes = []
    settlement = settler.settle(root, context.env, _SETTLE_SECONDS)
    if settlement is None:
        by = reports.settler_at_work(Layout(root)) or "another process is doing it"
        notes.append(f"not settled yet: {by}")
    else:
        keeping.update(root)
    # Agents write without asking their user, but only the user decides whether to share
    # threads.
    by_user = by_option and not context.process_agent
    try:
        remote = routes.remote_after_write(root, context.env, by_user=by_user)
        if remote is None:
            not_shared = [_NOT_SHARED] if by_option else []
            notes += _carry_notes(context) or not_shared
        if remote is not None:
            waiting = Waiting.at_most()
            exchanger = Exchanger(root, context.env, remote, waiting)
            usual = PUSH_IF_SHARED if context.settings.push else PUSH_NEVER
            exchanger.exchange(push=PUSH_ALWAYS if by_user else usual)
    except WcError as error:
        # The entry is saved, so the write has not failed.
        notes.append(f"not pushed: {error.message}")
        notes += _carry_notes(context, offers=True)
    landings.refresh(root, context.env)
    elsewhere.inform_person(root, context.env)
    return notes
