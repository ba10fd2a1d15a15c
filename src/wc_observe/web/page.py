"""The building blocks of pages: the data of a page, and the parts that several pages
share.

`wc_observe.web.frame` adds the frame around a page.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from wc_core.attention.wake.passes import FAILED, RUNNING, WAITING
from wc_core.base import names, times
from wc_core.base.names import MINE, OFFERED, Directory
from wc_core.base.phrases import counted
from wc_core.base.text import one_line
from wc_core.base.times import rfc3339
from wc_core.base.values import NamedTuple
from wc_core.ledger.threads.model import (
    CHANGES_REQUESTED,
    CLOSED,
    OPEN,
    holder_text,
    outcome_text,
)
from wc_core.reading.views.drawing.badges import badge_of
from wc_observe.web.html import NOTHING, Html, code_text, element, joined

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from wc_core.attention.wake.passes import PassState
    from wc_core.base.names import Name
    from wc_core.reading.views.rows import ThreadRow
    from wc_observe.web.links import Links

_TAGS, _TAG_WIDTH = 8, 40
_RUN_MS = 5000


class StoreLink(NamedTuple):
    """A repository with a readable store: its name and the address of its board."""

    name: str
    href: str
    is_current: bool = False


class PageContext(NamedTuple):
    """What every page needs: addresses, the store, the viewer and the time.

    ``store`` is the store's path as shown, empty if there is none; then ``folder`` is
    shown instead. ``repository`` is the repository's display name. ``stores`` are all
    repositories that the page can show, if it shows several. ``travels`` is a line
    about entries that cannot be pushed and travel with the code; usually empty.
    """

    links: Links
    store: str
    me: str
    now_ms: int
    folder: str = ""
    repository: str = ""
    directory: Directory = Directory()
    stores: tuple[StoreLink, ...] = ()
    travels: str = ""


class WebPage(NamedTuple):
    """A page.

    ``section`` is the current item of the navigation, ``query`` the text in the search
    field, ``mark`` the number in the tab's title (balls that wait for the viewer),
    ``topic`` the thread of the page, if it has one, and ``up`` the address one level
    up.
    """

    title: str
    main: Html
    section: str = ""
    query: str = ""
    status: int = 200
    mark: int = 0
    topic: str = ""
    up: str = ""


def moment(at: str, now_ms: int) -> Html:
    """Returns how long ago something was, with the exact time as tooltip, and on paper.

    The script keeps it up to date.
    """
    moment_ms = times.milliseconds(at)
    if moment_ms is None:
        return element("span", one_line(at, 40) or "?", class_="age")
    exact = f"{times.rfc3339(moment_ms)[:16].replace('T', ' ')} UTC"
    words = times.age(at, now_ms)
    return element("time", words, datetime=at, title=exact, class_="age")


def moved(row: ThreadRow, now_ms: int) -> Html:
    """Returns how long ago a thread moved, as `moment`."""
    moved_ms = row.moved_ms(now_ms)
    at = row.updated_at if moved_ms is None else times.rfc3339(moved_ms)
    return moment(at, now_ms)


def badge(holder: str | None, directory: Directory) -> Html:
    """Returns the badge of a holder: colour, shape and initials
    (`wc_core.reading.views.drawing.badges`). It adds nothing to the name beside it."""
    if holder is None:
        return element("span", class_="badge nobody", aria_hidden="true")
    drawn = badge_of(holder, directory)
    shape = "agent" if drawn.is_agent else "person"
    return element(
        "span",
        class_=f"badge h{drawn.hue} {shape}",
        data_initials=drawn.initials,
        aria_hidden="true",
    )


def person(holder: str, directory: Directory) -> Html:
    """Returns a participant: badge, the agent's name, seat and tag as chips."""
    name = directory.canonical(names.parse(holder))
    agent = element("bdi", one_line(name.agent, 60))
    # No space before the seat, so that copying gives the name as it is written.
    words = joined((agent, *seat_chips(name)[:1])) if name.seat else agent
    tag = seat_chips(name._replace(seat=""))
    whole = joined((badge(holder, directory), words, *tag), " ")
    return element("span", whole, class_="who")


def holder_person(holder: str | None, directory: Directory) -> Html:
    """Returns who has a ball, as `person`; that it is free, with a badge of its own."""
    if holder is not None:
        return person(holder, directory)
    parts = (badge(None, directory), holder_name(None))
    return element("span", joined(parts, " "), class_="who")


def seat_chips(name: Name) -> list[Html]:
    """Returns a name's seat and tag as chips. They are written as in the name, so that
    copying gives the name."""
    chips = []
    if name.seat:
        seat = f"@{one_line(name.seat, 40)}"
        chips.append(element("span", seat, class_="chip seat"))
    if name.tag:
        chips.append(element("span", f"({one_line(name.tag, 40)})", class_="chip"))
    return chips


def command_line(command: str, explanation: str = "") -> Html:
    """Returns a command to copy; the script adds the copy button."""
    parts = [element("code", code_text(command), data_copy=True)]
    if explanation:
        parts.append(element("span", explanation, class_="why"))
    return element("p", joined(parts, " "), class_="command")


def progress_bar(done: int, total: int) -> Html:
    """Returns how much of a checklist is done, as a bar and a number."""
    label = f"{done} of {total} items of the checklist are done"
    width = f"{100 * done / max(1, total):.0f}%"
    fill = element("rect", class_="done", width=width, height="100%", rx=3)
    track = element("rect", width="100%", height="100%", rx=3)
    bar = element("svg", track, fill, width=48, height=6, aria_hidden="true")
    number = element("span", f"{done}/{total}")
    return element("span", bar, " ", number, class_="progress", title=label)


def holder_name(holder: str | None) -> Html:
    """Returns a holder, isolated for text in either direction."""
    return element("bdi", one_line(holder_text(holder), 100))


def ownership_mark(ownership: str) -> Html:
    """Returns a mark if the viewer has a ball or is offered it (see
    `names.Directory.whose`)."""
    text = {MINE: "you", OFFERED: "offered to you"}.get(ownership)
    return element("span", text, class_="mark you") if text else NOTHING


def thread_marks(row: ThreadRow) -> Html:
    """Returns the marks of a thread: status, new entries, tags, fork, damage."""
    parts = [*_move_marks(row)]
    if row.checklist.total:
        parts.append(progress_bar(*row.checklist))
    if row.tags:
        parts.append(tag_marks(row.tags))
    if row.forked:
        explanation = "two parallel histories, not joined yet"
        parts.append(element("span", "forked", class_="mark forked", title=explanation))
    if row.damaged:
        explanation = "part of it cannot be read; see wc doctor"
        parts.append(
            element("span", "damaged", class_="mark damaged", title=explanation)
        )
    return joined(parts, " ")


def _move_marks(row: ThreadRow) -> Iterator[Html]:
    """Yields the marks about the next move: status, new entries, what the thread waits
    for, whether the ball was noticed."""
    if row.status != OPEN:
        yield status_mark(row.status)
    if row.landing_text:
        yield element("span", row.landing_text, class_="mark kind")
    elif row.review.outcome:
        yield outcome_mark(row.review.outcome)
    if row.new_for_you:
        yield element("span", f"{row.new_for_you} new", class_="mark new")
    if row.waits:
        yield element("span", one_line(row.waits_text), class_="mark waits")
    if row.asked_by:
        yield element("span", one_line(row.asked_text), class_="mark new")
    if row.via:
        yield element("span", one_line(row.way_text), class_="mark")
    if row.passed is not None and (row.passed.at_ms or row.passed.is_of_run):
        yield pass_mark(row.passed)


def pass_mark(passed: PassState) -> Html:
    """Returns the mark of how far a ball has come with its holder."""
    at = rfc3339(passed.at_ms) if passed.at_ms else ""
    who = ", ".join(filter(None, (passed.agent, at)))
    words = one_line(": ".join(filter(None, (who, passed.reason))))
    style = "mark severe" if passed.state == FAILED else "mark"
    again = looks_again(passed)
    return element("span", passed.state, class_=style, title=words, data_again=again)


def looks_again(passed: PassState) -> int | None:
    """Returns after how many milliseconds to look again how far a ball has come:
    the end of a run need not come with an entry."""
    return _RUN_MS if passed.state in {RUNNING, WAITING} else None


def tag_marks(tags: Sequence[str]) -> Html:
    """Returns a thread's first tags, written as in the filter."""
    names = [f"+{one_line(tag, _TAG_WIDTH)}" for tag in tags[:_TAGS]]
    if len(tags) > _TAGS:
        names.append(f"and {len(tags) - _TAGS} more")
    return joined((element("span", name, class_="mark tag") for name in names), " ")


def outcome_mark(outcome: str) -> Html:
    """Returns the mark of the outcome of a review."""
    kind = "mark severe" if outcome == CHANGES_REQUESTED else "mark kind"
    return element("span", one_line(outcome_text(outcome), 40), class_=kind)


def status_mark(status: str) -> Html:
    """Returns the mark of a status."""
    words = one_line(status, 40).replace("_", " ").lower()
    name = "closed" if status == CLOSED else words.replace(" ", "-")
    style = name if name in {"closed", "in-review", "blocked"} else ""
    return element("span", words, class_=f"mark {style}".strip())


def more_link(href: str, words: str) -> Html:
    """Returns a link to what is not shown."""
    return element("p", element("a", words, href=href, class_="more"))


def entry_count(count: int) -> str:
    """Returns a number of entries in words."""
    return counted(count, "entry", "entries")
