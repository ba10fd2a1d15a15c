"""The participants who work in a worktree, from their notes in the store, from what
they wrote there, and from the ``wc`` commands there."""

from __future__ import annotations

import os

from wc_core.attention.status.files import (
    DEFAULT_NAME,
    LAST_WRITER,
    MAIN_WORKTREE,
    MAX_FILE_BYTES,
)
from wc_core.base.agents import AGENTS
from wc_core.base.errors import WcError
from wc_core.base.files import names_in, read_plain
from wc_core.base.layout import key_of
from wc_core.base.names import fold, parse
from wc_core.base.text import one_line
from wc_core.edits.notes import reading

TYPE_CHECKING = False
if TYPE_CHECKING:
    from wc_core.base.layout import Layout
    from wc_core.edits.radar.model import Side

_WIDTH = 60
_SPELLED = {fold(agent.name): agent.name for agent in AGENTS}


def who_works_in(layout: Layout, side: Side, now_ms: int) -> str:
    """The agent that wrote last in a worktree, such as ``Codex@review``: a note, an
    entry or a file; otherwise one that ran ``wc`` there. Empty if none is known. People
    are in all worktrees."""
    folder = f"{layout.local}/me/{side.worktree_id or MAIN_WORKTREE}"
    agents = _agents_in(layout, folder)
    if LAST_WRITER in agents:
        return _label(agents[LAST_WRITER][1], side)
    here = reading.place_of(layout, side.path)
    for note in reading.current_notes(layout, now_ms):
        if note.place == here:
            return _label(note.agent, side)
    _, latest = max(agents.values(), default=(0, ""))
    return _label(latest, side)


def _agents_in(layout: Layout, folder: str) -> dict[str, tuple[int, str]]:
    """The time and the key of each agent that was recorded in a worktree, by the name
    of the file."""
    try:
        names = names_in(folder, layout.root)
    except WcError:
        return {}
    agents = {}
    for name in names:
        try:
            changed = os.lstat(f"{folder}/{name}").st_mtime_ns
            data = read_plain(f"{folder}/{name}", layout.root, MAX_FILE_BYTES)
        except OSError:
            continue
        key = key_of(os.fsdecode((data or b"").partition(b"\n")[0]))
        if key and name != DEFAULT_NAME:
            agents[name] = (changed, key)
    return agents


def _label(text: str, side: Side) -> str:
    if not text:
        return ""
    name = parse(text)
    agent = _SPELLED.get(fold(name.agent), name.agent)
    return one_line(f"{agent}@{name.seat or side.name}", _WIDTH)
