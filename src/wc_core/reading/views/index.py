"""The index page: who has the next move, at a glance, as markdown."""

from __future__ import annotations

import os

from wc_core.base.layout import PAGES, Layout
from wc_core.base.names import OFFERED
from wc_core.base.phrases import counted
from wc_core.base.text import one_line
from wc_core.ledger.threads.model import CLOSED, IN_REVIEW, ball_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from wc_core.reading.views.rows import ThreadRow


_USUAL = Layout("", PAGES)
_OFFERED = "Offered to me"
_WAITING = "Waiting for another thread"


def page_link(topic: str, layout: Layout = _USUAL) -> str:
    """Returns the address of a thread's page, from the index page in ``.local``."""
    from urllib.parse import quote  # 2 ms, only for this page

    return quote(os.path.relpath(layout.page(topic), layout.local))


def render_index(
    rows: list[ThreadRow],
    *,
    closed: bool = False,
    link: Callable[[str], str] = page_link,
) -> str:
    """Returns the threads by who has the next move: mine, offered to me, free, in
    review, waiting on others; closed ones only on request. Each thread is in the first
    group that fits, with the ``link`` of its topic."""
    groups: dict[str, list[ThreadRow]] = {
        "My move": [],
        _OFFERED: [],
        "Free to take": [],
        "In review": [],
        "Waiting on others": [],
        _WAITING: [],
    }
    if closed:
        groups["Closed"] = []
    for row in rows:
        group = _group(row)
        if group in groups:
            groups[group].append(row)
    if not groups[_OFFERED]:
        del groups[_OFFERED]  # rare, so the page is shorter without it
    if not groups[_WAITING]:
        del groups[_WAITING]
    parts = ["# Threads\n"]
    for heading, members in groups.items():
        parts.append(f"\n## {heading} ({len(members)})\n\n")
        parts.extend(_line(row, link) for row in members)
        if not members:
            parts.append("none\n")
    return "".join(parts)


def _group(row: ThreadRow) -> str:
    if row.is_due:
        is_offer = row.ownership == OFFERED and not row.asked_by
        return _OFFERED if is_offer else "My move"
    if row.status == CLOSED:
        return "Closed"
    if row.waits:
        return _WAITING
    if row.ball is None:
        return "Free to take"
    return "In review" if row.status == IN_REVIEW else "Waiting on others"


def _line(row: ThreadRow, link: Callable[[str], str]) -> str:
    new = f", {row.new_for_you} new" if row.new_for_you else ""
    waits = f", {one_line(row.waits_text)}" if row.waits else ""
    question = f", {one_line(row.asked_text)}" if row.asked_by else ""
    damaged = f", {one_line(row.way_text)}" if row.via else ""
    damaged += ", damaged: see wc doctor" if row.damaged else ""
    entries = counted(row.entry_count, "entry", "entries")
    ball = one_line(ball_text(row.status, row.ball))
    return (
        f"- [**{one_line(row.name)}**]({link(row.topic)}) {one_line(row.title)} "
        f"({one_line(row.status_text)}, ball: {ball}, "
        f"{entries}{new}{waits}{question}{damaged})\n"
    )
