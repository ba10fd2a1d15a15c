"""What hooks say of conflicts that a worktree will have: each once to each session."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from wc_cli import spawn
from wc_cli.clock import now_ms
from wc_core.errors import WcError
from wc_core.layout import Layout
from wc_core.text import one_line
from wc_core.values import NamedTuple
from wc_core.views.conflicts import load_conflicts

if TYPE_CHECKING:
    from wc_cli.context import Context
    from wc_core.views.conflicts import Conflict

_FILES = 3


class ConflictNews(NamedTuple):
    """What there is to say, and the keys of all conflicts that there are, which the
    session has been told of then."""

    text: str = ""
    keys: frozenset[str] = frozenset()


def conflict_news(context: Context, known: frozenset[str]) -> ConflictNews:
    """A line for each worktree that will conflict in a way that is not ``known``. The
    radar is as it was kept; it is computed again in the background."""
    layout, repository = Layout(context.place.root), context.place.repository
    if repository is None or not repository.top:
        return ConflictNews()
    start_radar(context)
    conflicts = load_conflicts(layout, repository, now_ms())
    lines = [_line(conflict) for conflict in conflicts if conflict.keys - known]
    keys = frozenset(key for conflict in conflicts for key in conflict.keys)
    return ConflictNews("\n".join(lines), keys)


def start_radar(context: Context) -> None:
    """Have the radar computed in the background, where the settings allow that."""
    repository = context.place.repository
    if repository is None or context.settings.sync != "background":
        return
    layout = Layout(context.place.root)
    with contextlib.suppress(WcError, OSError):
        spawn.start_radar(layout, repository.top or repository.common, context.env)


def _line(conflict: Conflict) -> str:
    branch = one_line(conflict.opposite.branch) or conflict.name
    files = conflict.files_text(_FILES)
    return (
        f'Watercooler: your changes will conflict with those of "{conflict.label}" '
        f'on "{branch}": "{files}". Agree with them before you go on; details: '
        f"wc conflicts '{conflict.name}'"
    )
