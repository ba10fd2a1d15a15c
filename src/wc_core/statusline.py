"""What the status line says: the twin of ``bin/wc-statusline``.

The script works from the files of `wc_core.statusfiles`; `line` says the same
from the threads themselves. Change both.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from wc_core.loops import ENDED, UNKNOWN, WORKING
from wc_core.model import CLOSED, OPEN, State
from wc_core.names import Directory, Name
from wc_core.statusfiles import (
    file_name,
    holder_key,
    holder_text,
    places_of,
    status_text,
    topic_text,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from wc_core.loops import Loop

# What the script says where a store cannot be used.
STORE_MISSING = "wc: store missing, run wc doctor"
STORE_MOVED = "wc: store moved, run wc doctor"

_SEPARATOR_WIDTH = 3
# A status of a loop that can be shown as it is, and a number.
_STATUS = re.compile(r"[a-z][a-z0-9:_-]{0,39}")
_MAX_COUNT = 999_999


class Row(NamedTuple):
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


class _Signs(NamedTuple):
    """The parts of a line that have an ASCII form, with their widths; like
    the script, everything else counts as many columns as bytes."""

    ball: str
    ball_width: int
    separator: str
    dots: str
    dots_width: int


_EMOJI = _Signs("🎾", 2, " · ", "…", 1)
_ASCII = _Signs("[*]", 3, " - ", "...", 3)
_LEAST_CUT = 4


class Look(NamedTuple):
    """How to print: ``columns`` 0 means as many as it takes."""

    columns: int = 0
    ascii: bool = False
    color: bool = False

    @property
    def signs(self) -> _Signs:
        """The ball and the dots."""
        return _ASCII if self.ascii else _EMOJI

    def fits(self, width: int) -> bool:
        """Whether there is room for ``width`` columns."""
        return not self.columns or width <= self.columns

    def cut(self, text: str, room: int) -> str:
        """The beginning of a text that is too long; empty where cutting bytes
        could split a character, or hardly any would be left."""
        if not text.isascii() or room < _LEAST_CUT:
            return ""
        return text[: room - self.signs.dots_width] + self.signs.dots

    def paint(self, text: str, code: str) -> str:
        """``text`` in a colour, if colours are wanted."""
        return f"\033[{code}m{text}\033[0m" if self.color and text else text


def places(here: Here) -> tuple[str, ...]:
    """What threads of this place may be filed under, each once."""
    candidates = (here.branch, here.branch.replace("/", "-"), here.change_id)
    return tuple(dict.fromkeys(one for one in candidates if one))


_MINE = "1;33"
_OTHERS = "2"
_TROUBLE = "31"


def line(rows: Iterable[Row], here: Here, look: Look | None = None) -> str:
    """What ``wc-statusline`` prints, without the newline; empty where there is
    nothing to say.

    In this order: balls of mine in threads of this branch, balls of mine
    elsewhere, threads of this branch that others hold. Behind it the loop that
    runs here, or that alone.
    """
    look = look or Look()
    mine, around = _split(rows, here)
    ours = [row for row in mine if _belongs(row, here)]
    others = _MINE if here.loop.urgent else _OTHERS
    if ours:
        return look.paint(_tell_mine(ours, len(mine), here, look), _MINE)
    if mine:
        return look.paint(_tell_elsewhere(mine, here, look), _MINE)
    if around:
        return look.paint(_tell_others(around, here, look), others)
    return look.paint(_tell_loop(here.loop, look), others)


def _tell_loop(loop: Mark, look: Look) -> str:
    for text in (loop.text, loop.short):
        if look.fits(len(text)):
            return text
    return ""


def trouble(text: str, look: Look) -> str:
    """`STORE_MISSING` or `STORE_MOVED` as the script prints it."""
    fitting = text if look.fits(len(text)) else look.cut(text, look.columns)
    return look.paint(fitting, _TROUBLE)


def _split(rows: Iterable[Row], here: Here) -> tuple[list[Row], list[Row]]:
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


def _belongs(row: Row, here: Here) -> bool:
    """Whether a thread is of this branch or change."""
    return not set(places_of(row.state)).isdisjoint(places(here))


def _tell_mine(ours: list[Row], total: int, here: Here, look: Look) -> str:
    away = total - len(ours)
    extras = _extras(ours[0], len(ours), here.loop)._replace(
        away=f"{away} elsewhere" if away else ""
    )
    head = _Head(f"{look.signs.ball} you", look.signs.ball_width + len(" you"))
    return _tell(head, topic_text(ours[0].state), extras, look) or _only_ball(look)


def _tell_elsewhere(mine: list[Row], here: Here, look: Look) -> str:
    count = len(mine)
    texts = [f"{count} waiting for you elsewhere", f"{count} elsewhere", str(count)]
    if count == 1:
        texts.insert(0, f"{topic_text(mine[0].state)} waits for you elsewhere")
    for loop in (here.loop, Mark()):
        for text in texts:
            if look.fits(look.signs.ball_width + 1 + _width(text) + loop.width):
                parts = [
                    f"{look.signs.ball} {text}",
                    *([loop.text] if loop.text else []),
                ]
                return look.signs.separator.join(parts)
    return _only_ball(look)


def _tell_others(around: list[Row], here: Here, look: Look) -> str:
    latest = around[-1]
    holder = holder_text(latest.state)
    text = f"{holder} has the ball" if holder else "anyone can take"
    extras = _extras(latest, len(around), here.loop)
    told = _tell(_Head(text, _width(text)), topic_text(latest.state), extras, look)
    return told or look.cut(text, look.columns)


class _Head(NamedTuple):
    """What a line begins with, and its columns."""

    text: str
    width: int


class _Extras(NamedTuple):
    """What follows the topic, in this order."""

    status: str
    new: str
    more: str
    away: str
    loop: str


# What is dropped first where there is no room.
_DROP = ("away", "more", "status", "new", "loop")


def _extras(row: Row, count: int, loop: Mark) -> _Extras:
    status = status_text(row.state)
    return _Extras(
        status="" if status == OPEN else status,
        new=f"{row.new} new" if row.new else "",
        more=f"+{count - 1}" if count > 1 else "",
        away="",
        loop=loop.text,
    )


def _tell(head: _Head, topic: str, extras: _Extras, look: Look) -> str:
    """The head, the topic and as many extras as fit; the topic cut or left
    out; empty where not even the head fits."""
    for dropped in range(len(_DROP) + 1):
        kept = extras._replace(**dict.fromkeys(_DROP[:dropped], ""))
        parts = [topic, *(extra for extra in kept if extra)]
        width = head.width + sum(_SEPARATOR_WIDTH + _width(part) for part in parts)
        if look.fits(width):
            return look.signs.separator.join([head.text, *parts])
    cut = look.cut(topic, look.columns - head.width - _SEPARATOR_WIDTH)
    if cut:
        return f"{head.text}{look.signs.separator}{cut}"
    return head.text if look.fits(head.width) else ""


def _only_ball(look: Look) -> str:
    return look.signs.ball if look.fits(look.signs.ball_width) else ""


def _width(text: str) -> int:
    return len(text.encode())
