"""What a brief is made of: gathered from the store, within its time."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from wc_core.layout import Layout
from wc_core.phrases import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from wc_cli.context import Context
    from wc_core.git.freshness import Standing
    from wc_core.views.brief import Brief

# Milliseconds that a brief may take of its own; what it has by then is shown.
LIMIT_MS = 200
_MAX_DIGITS = 6


def limit_ms(context: Context) -> int:
    """How long a brief may take, as the environment says."""
    told = context.env.get("WATERCOOLER_BRIEF_MS", "")
    fits = told.isascii() and told.isdecimal() and len(told) <= _MAX_DIGITS
    return int(told) if fits else LIMIT_MS


def deadline(context: Context) -> Callable[[], bool]:
    """Whether it is over, from now on."""
    end = time.monotonic() + limit_ms(context) / 1000
    return lambda: time.monotonic() > end


def gathered(context: Context, late: Callable[[], bool]) -> Brief:
    """The brief of this place; an empty one where there is no store."""
    from wc_cli.context import now_ms
    from wc_core.status.line import Here, places
    from wc_core.views.brief import Brief, BriefQuery
    from wc_core.views.brief import brief as made_of

    place, viewer = context.place, context.viewer
    reader = context.reader
    if not place.exists:
        return Brief(viewer.identity.author)
    where = place.repository
    here = Here(where.branch, where.change_id) if where is not None else Here()
    look = BriefQuery(reader, viewer, context.settings, places(here), now_ms(), late)
    return made_of(look, _notes(context))


def _notes(context: Context) -> Iterator[str]:
    """What of the store is not as it should be, in our words."""
    from wc_cli.context import now_ms
    from wc_cli.store import pending

    damage = context.settings.damage
    if damage is not None:
        yield f"{damage.file}: {damage.message}"
    found = pending.last_trouble(context.place.root)
    if found is not None:
        yield f"not committed since {found.at}: {found.problem} (wc doctor)"
    standing = context.standing
    if standing is not None and _is_behind(standing):
        yield standing.sentence(now_ms())
    elif standing is None and found is None:
        layout = Layout(context.place.root)
        waiting = len(pending.unsettled_topics(layout))
        if waiting and pending.is_overdue(layout):
            yield f"{counted(waiting, 'thread')} to commit (wc doctor)"


def _is_behind(standing: Standing) -> bool:
    """Whether something is not where it should be, or it is not known; what
    was written a moment ago is on its way."""
    moving = bool(standing.ahead or standing.behind) or standing.ahead is None
    return bool(standing.problem) or (moving and standing.tracked)
