"""Gathers the contents of a brief from the store, within its time limit."""

from __future__ import annotations

import os
import time

from wc_cli.ledger.clock import now_ms
from wc_cli.ledger.store import pending
from wc_core.base.files import keeping_folders
from wc_core.base.layout import NOTES, Layout
from wc_core.base.phrases import counted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from wc_cli.run.context import Context
    from wc_core.ledger.git.freshness import Standing
    from wc_core.reading.views.approvals import OutdatedApproval
    from wc_core.reading.views.brief import Brief
    from wc_core.reading.views.conflicts import Conflict
    from wc_core.reading.views.notes import Overlap

# What a brief may take of the processor, so that a busy machine costs no part of it,
# and how long it may take at most. It shows what was gathered by then.
OWN_SECONDS, MOST_SECONDS = 0.2, 2.0


def deadline() -> Callable[[], bool]:
    """Return a function that returns whether that time, counted from now, is over."""
    own, end = time.process_time() + OWN_SECONDS, time.monotonic() + MOST_SECONDS
    return lambda: time.process_time() > own or time.monotonic() > end


def gather_brief(context: Context, late: Callable[[], bool]) -> Brief:
    """Return the brief for the current folder; empty if there is no store."""
    # 8 ms that the hook of a prompt does not need.
    from wc_core.attention.status.pins import surroundings
    from wc_core.reading.views.brief import Brief, BriefQuery
    from wc_core.reading.views.brief import brief as make_brief

    reader = context.reader  # first: it checks out a branch that is only fetched
    place, viewer = context.place, context.viewer
    if not place.exists:
        notes = (context.unasked,) if context.unasked else ()
        return Brief(viewer.identity.author, notes=notes)
    around = surroundings(reader.layout, place.repository, viewer)
    query = BriefQuery(reader, viewer, context.settings, around, now_ms(), late)
    with keeping_folders():
        brief = make_brief(query, context.balls, _notes(context))
    context.note_unindexed(context.balls.freshness.unindexed)
    conflicts, approvals = radar_news(context)
    return brief._replace(
        conflicts=conflicts,
        approvals=approvals,
        overlaps=overlaps(context),
        now_ms=query.now_ms,
    )


def radar_news(
    context: Context,
) -> tuple[tuple[Conflict, ...], tuple[OutdatedApproval, ...]]:
    """Return the news of the last radar for an agent, as far as there is one: the
    predicted conflicts of the current worktree, and its balls whose approved branches
    no longer merge."""
    layout, repository = Layout(context.place.root), context.place.repository
    if repository is None or not os.path.exists(layout.radar):
        return (), ()
    # 1 ms, for several worktrees
    from wc_core.edits.radar import kept
    from wc_core.reading.views.approvals import outdated_approvals
    from wc_core.reading.views.conflicts import conflicts_of

    radar = kept.load(layout)
    if radar is None:
        return (), ()
    now = now_ms()
    return (
        conflicts_of(radar, repository.top, now),
        outdated_approvals(radar, context.reader, now, context.viewer),
    )


def overlaps(context: Context) -> tuple[Overlap, ...]:
    """Return the others' notes about files that are changed or claimed here."""
    layout = Layout(context.place.root)
    if not os.path.exists(layout.log(NOTES)):
        return ()
    # 4 ms, only if there are notes.
    from wc_core.reading.views.notes import load_overlaps

    repository = context.place.repository
    return load_overlaps(layout, repository, context.viewer, now_ms())


def _notes(context: Context) -> Iterator[str]:
    """Yield the store's problems, in our words."""
    damage = context.settings.damage
    if damage is not None:
        yield f"{damage.file}: {damage.message}"
    trouble = pending.last_trouble(context.place.root)
    if trouble is not None:
        yield f"not committed since {trouble.at}: {trouble.problem} (wc doctor)"
    standing = context.standing
    if standing is None and context.unasked:
        yield context.unasked
    if standing is not None and _is_behind(standing):
        yield standing.sentence(now_ms())
    elif standing is None and trouble is None:
        layout = Layout(context.place.root)
        waiting = len(pending.unsettled_topics(layout))
        if waiting and pending.is_overdue(layout):
            yield f"{counted(waiting, 'thread')} to commit (wc doctor)"


def _is_behind(standing: Standing) -> bool:
    """Return whether something is missing at the remote, or unknown. A recent write
    does not count: it is still on its way."""
    moving = bool(standing.ahead or standing.behind) or standing.ahead is None
    return bool(standing.problem or standing.travels) or (moving and standing.tracked)
