"""The participants who work in a worktree, from their notes in the store and from the
last ``wc`` commands there."""

from __future__ import annotations

import os

from wc_core.attention.status.files import DEFAULT_NAME, MAIN_WORKTREE, MAX_FILE_BYTES
from wc_core.base.agents import AGENTS
from wc_core.base.errors import WcError
from wc_core.base.files import names_in, read_plain
from wc_core.base.layout import key_of
from wc_core.base.names import fold, parse
from wc_core.base.text import one_line
from wc_core.edits.activitylog import reading

TYPE_CHECKING = False
if TYPE_CHECKING:
    from wc_core.base.layout import Layout
    from wc_core.edits.radar.model import Side

_WIDTH = 60
_SPELLED = {fold(agent.name): agent.name for agent in AGENTS}


def who_works_in(layout: Layout, side: Side, now_ms: int) -> str:
    """The agent in a worktree, such as ``Codex@review``; empty if none is known. People
    are in all worktrees."""
    for note in reading.current_notes(layout, now_ms):
        if note.worktree == side.path:
            return _label(note.agent, side)
    folder = f"{layout.local}/me/{side.worktree_id or MAIN_WORKTREE}"
    latest = max(_agents_in(layout, folder), default=(0, ""))
    return _label(latest[1], side)


def _agents_in(layout: Layout, folder: str) -> list[tuple[int, str]]:
    """The time and the key of each agent that was recorded in a worktree."""
    try:
        names = names_in(folder, layout.root)
    except WcError:
        return []
    agents = []
    for name in names:
        try:
            changed = os.lstat(f"{folder}/{name}").st_mtime_ns
            data = read_plain(f"{folder}/{name}", layout.root, MAX_FILE_BYTES)
        except OSError:
            continue
        key = key_of(os.fsdecode((data or b"").partition(b"\n")[0]))
        if key and name != DEFAULT_NAME:
            agents.append((changed, key))
    return agents


def _label(text: str, side: Side) -> str:
    if not text:
        return ""
    name = parse(text)
    agent = _SPELLED.get(fold(name.agent), name.agent)
    return one_line(f"{agent}@{name.seat or side.name}", _WIDTH)
