"""What the status line says: the twin of ``bin/wc-statusline``.

The script prints the usual line by itself, from the files of `wc_core.status.files`,
and leaves rows, links, templates and loops to this module. `line` prints all of
it from the threads themselves. A change to the usual line is a change to both.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from wc_core.activity.loops import ENDED, UNKNOWN, WORKING
from wc_core.names import Directory, Name
from wc_core.status.files import (
    file_name,
    holder_key,
    holder_text,
    places_of,
    status_text,
    topic_text,
)
from wc_core.status.look import MAX_ROWS, LineStyle, Word, dressed, filled, width
from wc_core.threads.model import CLOSED, OPEN, State

if TYPE_CHECKING:
    from collections.abc import Iterable

    from wc_core.activity.loops import Loop

# What the script says where a store cannot be used.
STORE_MISSING = "wc: store missing, run wc doctor"
STORE_MOVED = "wc: store moved, run wc doctor"

_SEPARATOR_WIDTH = 3
# A status of a loop that can be shown as it is, and a number.
_STATUS = re.compile(r"[a-z][a-z0-9:_-]{0,39}")
_MAX_COUNT = 999_999


class StatusRow(NamedTuple):
    """A thread and how many entries are NEW for the one who looks; ``None``
    where that is unknown."""

    state: State
    new: int | None = None


class Mark(NamedTuple):
    """The loop of a worktree in the line, and where there is little room."""

    text: str = ""
    short: str = ""
    urgent: bool = False

    @property
    def width(self) -> int:
        """The columns it takes behind something else."""
        return _SEPARATOR_WIDTH + len(self.text) if self.text else 0


def mark(loop: Loop | None) -> Mark:
    """What the line says of a loop: nothing of one that has ended, or of
    whose state nothing is known."""
    if loop is None or loop.status in ENDED | {UNKNOWN}:
        return Mark()
    if not _STATUS.fullmatch(loop.status):
        return Mark()
    number, limit = _counted(loop.number), _counted(loop.limit)
    turn = f" {number}/{limit}" if number and limit else f" {number}" if number else ""
    short = f"loop{turn}"
    if loop.waits_for_human:
        return Mark(f"{short} waiting for you", short, urgent=True)
    if loop.orphaned:
        return Mark(f"{short} orphaned", short)
    if loop.status in WORKING and loop.terminal_pid is None:
        # Nothing tells a shell that starts no program how old this is.
        return Mark(f"{short}?", short)
    return Mark(short if loop.status in WORKING else f"{short} {loop.status}", short)


def _counted(number: int | None) -> str:
    return "" if number is None or number > _MAX_COUNT else str(number)


class Here(NamedTuple):
    """Where one looks from, and as whom.

    ``branch`` is empty where there is none (detached, no git). ``change_id``
    is the one in the worktree's folder name, see `repository.change_of`.
    ``loop`` is the one of this worktree.
    """

    branch: str = ""
    change_id: str = ""
    me: Name | None = None
    directory: Directory = Directory()
    loop: Mark = Mark()


def places(here: Here) -> tuple[str, ...]:
    """What threads of this place may be filed under, each once."""
    candidates = (here.branch, here.branch.replace("/", "-"), here.change_id)
    return tuple(dict.fromkeys(one for one in candidates if one))


_MINE = "1;33"
_OTHERS = "2"
_TROUBLE = "31"


def line(rows: Iterable[StatusRow], here: Here, look: LineStyle | None = None) -> str:
    """What ``wc-statusline`` prints, without the newline; empty where there is
    nothing to say.

    In this order: balls of mine in threads of this branch, balls of mine
    elsewhere, threads of this branch that others hold. Behind it the loop that
    runs here, or that alone. Several rows are lines, one for each thread.
    """
    look = look or LineStyle()
    mine, around = _split(rows, here)
    ours = [row for row in mine if _belongs(row, here)]
    if look.rows > 1 and (mine or around):
        away = [row for row in mine if not _belongs(row, here)]
        return _tell_rows((ours, away, around[::-1]), here, look)
    if ours:
        return look.paint(_tell_mine(ours, len(mine), here.loop, look), _MINE)
    if mine:
        return look.paint(_tell_elsewhere(mine, here.loop, look), _MINE)
    if around:
        told = _others_ball(around[-1], here.loop, _more(len(around)))
        return look.paint(_tell(told, look), _code(here.loop))
    return look.paint(_tell_loop(here.loop, look), _code(here.loop))


def trouble(text: str, look: LineStyle) -> str:
    """`STORE_MISSING` or `STORE_MOVED` as the script prints it."""
    fitting = text if look.fits(len(text)) else look.cut(text, look.columns)
    return look.paint(fitting, _TROUBLE)


def _split(
    rows: Iterable[StatusRow], here: Here
) -> tuple[list[StatusRow], list[StatusRow]]:
    """My threads anywhere, and other people's here: those that have waited
    longest first."""
    keys = set(here.directory.match_keys(here.me)) if here.me else set()
    mine, others = [], []
    for row in sorted(rows, key=lambda row: file_name(row.state).encode()):
        if row.state.status == CLOSED:
            continue
        if holder_key(row.state, here.directory) in keys:
            mine.append(row)
        elif _belongs(row, here):
            others.append(row)
    return mine, others


def _belongs(row: StatusRow, here: Here) -> bool:
    """Whether a thread is of this branch or change."""
    return not set(places_of(row.state)).isdisjoint(places(here))


class _Told(NamedTuple):
    """What a line says: ``head``, the topic, and the rest in this order. ``ball``,
    ``holder`` and ``where`` are for templates alone.
    """

    head: Word
    state: State
    status: str = ""
    new: str = ""
    more: str = ""
    away: str = ""
    loop: str = ""
    ball: str = ""
    holder: str = ""
    where: str = ""

    @property
    def extras(self) -> tuple[tuple[str, str], ...]:
        """What follows the topic, by name."""
        return (
            ("status", self.status),
            ("new", self.new),
            ("more", self.more),
            ("away", self.away),
            ("loop", self.loop),
        )


def _told(row: StatusRow, loop: Mark, more: str) -> _Told:
    """What is the same whoever has the ball."""
    status = status_text(row.state)
    return _Told(
        head=Word("", ""),
        state=row.state,
        status="" if status == OPEN else status,
        new=f"{row.new} new" if row.new else "",
        more=more,
        loop=loop.text,
    )


def _my_ball(row: StatusRow, loop: Mark, look: LineStyle, more: str) -> _Told:
    head = f"{look.signs.ball} you"
    told = _told(row, loop, more)
    return told._replace(head=Word(head, head), ball=look.signs.ball, holder="you")


def _others_ball(row: StatusRow, loop: Mark, more: str) -> _Told:
    told = _told(row, loop, more)
    holder = holder_text(row.state)
    if not holder:
        free = "anyone can take"
        return told._replace(head=Word(free, free), holder="anyone")
    head = Word(f"{holder} has the ball", f"{dressed(holder)} has the ball")
    return told._replace(head=head, holder=holder)


def _more(count: int) -> str:
    return f"+{count - 1}" if count > 1 else ""


def _tell_rows(found: tuple[list[StatusRow], ...], here: Here, look: LineStyle) -> str:
    """A row for each thread of mine here, of mine elsewhere and of others, as far
    as they go; the last says how many have none, the first has the loop."""
    every = [(kind, row) for kind, rows in enumerate(found) for row in rows]
    count = min(look.rows, MAX_ROWS)
    lines = []
    for at, (kind, row) in enumerate(every[:count]):
        more = f"+{len(every) - count}" if at == count - 1 < len(every) - 1 else ""
        loop = Mark() if at else here.loop
        if kind == _OF_OTHERS:
            told, code = _others_ball(row, loop, more), _code(loop)
        else:
            away = ("", "elsewhere")[kind]
            told = _my_ball(row, loop, look, more)._replace(away=away, where=away)
            code = _MINE
        lines.append(look.paint(_tell(told, look), code))
    return "\n".join(one for one in lines if one)


_OF_OTHERS = 2


def _code(loop: Mark) -> str:
    """The colour of what is not about a ball of mine."""
    return _MINE if loop.urgent else _OTHERS


def _tell_mine(ours: list[StatusRow], total: int, loop: Mark, look: LineStyle) -> str:
    away = total - len(ours)
    told = _my_ball(ours[0], loop, look, _more(len(ours)))
    return _tell(told._replace(away=f"{away} elsewhere" if away else ""), look)


def _tell_elsewhere(mine: list[StatusRow], loop: Mark, look: LineStyle) -> str:
    count, ball = len(mine), look.signs.ball
    if look.template:
        told = _my_ball(mine[0] if count == 1 else _NO_ROW, loop, look, "")
        told = told._replace(away=f"{count} elsewhere", where="elsewhere")
        return _by_template(told, look)
    texts = [f"{count} waiting for you elsewhere", f"{count} elsewhere", str(count)]
    words = [Word(text, text) for text in texts]
    if count == 1:
        tail = " waits for you elsewhere"
        topic = topic_text(mine[0].state)
        titled = look.title(topic, mine[0].state.topic)
        words.insert(0, Word(f"{topic}{tail}", f"{titled}{tail}"))
    for one in (loop, Mark()):
        for word in words:
            if look.fits(width(ball) + 1 + width(word.plain) + one.width):
                parts = [f"{ball} {word.shown}", *([one.text] if one.text else [])]
                return look.signs.separator.join(parts)
    return _only_ball(look)


_NO_ROW = StatusRow(State(""))


def _tell_loop(loop: Mark, look: LineStyle) -> str:
    if look.template:
        return _by_template(_told(_NO_ROW, loop, ""), look) if loop.text else ""
    for text in (loop.text, loop.short):
        if look.fits(len(text)):
            return text
    return ""


# What is dropped first where there is no room.
_DROP = ("away", "more", "status", "new", "loop")


def _tell(told: _Told, look: LineStyle) -> str:
    """The head, the topic and as many extras as fit; the topic cut or left
    out; of the head what fits."""
    if look.template:
        return _by_template(told, look)
    topic, separator = topic_text(told.state), look.signs.separator
    taken = width(told.head.plain) + _SEPARATOR_WIDTH
    for dropped in range(len(_DROP) + 1):
        gone = _DROP[:dropped]
        extras = [text for name, text in told.extras if text and name not in gone]
        if look.fits(
            taken + width(topic) + sum(_SEPARATOR_WIDTH + width(one) for one in extras)
        ):
            titled = look.title(topic, told.state.topic)
            return separator.join([told.head.shown, titled, *map(dressed, extras)])
    cut = look.cut(topic, look.columns - taken)
    if cut:
        titled = look.title(cut, told.state.topic)
        return f"{told.head.shown}{separator}{titled}"
    if look.fits(width(told.head.plain)):
        return told.head.shown
    return (
        _only_ball(look)
        if told.ball
        else dressed(look.cut(told.head.plain, look.columns))
    )


def _by_template(told: _Told, look: LineStyle) -> str:
    topic = "" if told.state is _NO_ROW.state else topic_text(told.state)
    away = "" if told.away == told.where else told.away.partition(" ")[0]
    plain = {
        "ball": told.ball,
        "holder": told.holder,
        "status": told.status,
        "new": told.new.partition(" ")[0],
        "more": told.more.removeprefix("+"),
        "away": away,
        "where": told.where,
        "loop": told.loop,
    }
    words = {name: Word(text, dressed(text)) for name, text in plain.items()}
    shown = look.title(topic, told.state.topic) if topic else ""
    return filled(look, words | {"topic": Word(topic, shown)})


def _only_ball(look: LineStyle) -> str:
    return look.signs.ball if look.fits(width(look.signs.ball)) else ""
