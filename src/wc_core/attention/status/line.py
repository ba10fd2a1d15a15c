"""The text of the status line, which ``bin/wc-statusline`` prints.

Only this module knows what a line says: the script prints lines that were kept
(`wc_core.attention.status.keptlines`).
"""

from __future__ import annotations

from wc_core.attention.status.linethreads import LineThreads, StatusRow, threads_of
from wc_core.attention.status.look import (
    MAX_ROWS,
    LineStyle,
    Word,
    display_width,
    fill_template,
    isolate_rtl,
)
from wc_core.attention.status.places import Surroundings, places_of
from wc_core.base.layout import safe_name
from wc_core.base.lean import re
from wc_core.base.names import parse, without_tag
from wc_core.base.values import NamedTuple
from wc_core.ledger.threads.model import OPEN, State
from wc_core.people.activity import ENDED, UNKNOWN, WAITING_FOR_HUMAN, WORKING

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

# The line of an unusable store.
STORE_MISSING = "wc: store missing, run wc doctor"
STORE_MOVED = "wc: store moved, run wc doctor"
# The line of a fresh clone, in which only the branch has the threads.
NOT_CHECKED_OUT = "wc: threads not checked out, run wc init"
# There is no store, and the remote could not be asked for one.
NOT_ASKED = "wc: the remote was not asked for threads, run wc init"

_SEPARATOR_WIDTH = 3
# A status of a loop that may be shown unchanged.
_STATUS = re.compile(r"[a-z][a-z0-9:_-]{0,39}")
_MAX_COUNT = 999_999
_MAX_TOPIC_BYTES = 120
_MAX_HOLDER_BYTES = 80
_MAX_STATUS_BYTES = 40


def display_text(text: str, limit: int) -> str:
    """Returns ``text`` on one line of at most ``limit`` bytes, without control
    characters."""
    printed = "".join(char for char in " ".join(text.split()) if char.isprintable())
    raw = printed.encode()
    if len(raw) <= limit:
        return printed
    return raw[: limit - len("…".encode())].decode(errors="ignore") + "…"


def status_text(state: State) -> str:
    """Returns the status for display."""
    return display_text(state.status, _MAX_STATUS_BYTES) or OPEN


def topic_text(state: State) -> str:
    """Returns the topic for display."""
    return display_text(state.name, _MAX_TOPIC_BYTES) or "a thread"


def holder_text(state: State) -> str:
    """Returns the holder for display; empty if the ball is free."""
    if not (state.ball and state.ball.strip()):
        return ""
    return display_text(state.ball, _MAX_HOLDER_BYTES) or "someone"


def waits_text(waits: Sequence[str]) -> str:
    """Returns what a thread waits for, for display."""
    hidden = f" +{len(waits) - 1}" if len(waits) > 1 else ""
    return display_text(waits[0], _MAX_HOLDER_BYTES) + hidden


class Mark(NamedTuple):
    """What the line shows about a worktree besides its threads, and a short form for
    narrow terminals: the ``loop`` that runs there, with which worktree it will
    ``conflict``, how much waits ``elsewhere``, in other repositories, and how much
    there is to ``land``."""

    text: str = ""
    short: str = ""
    urgent: bool = False
    loop: str = ""
    conflict: str = ""
    elsewhere: str = ""
    land: str = ""

    @property
    def width(self) -> int:
        """The columns it takes after something else."""
        return _SEPARATOR_WIDTH + display_width(self.text) if self.text else 0


def loop_mark(loop: Mapping[str, Any]) -> Mark:
    """Returns the text about a loop: nothing if it has ended or its state is
    unknown."""
    status = loop.get("status", UNKNOWN)
    if status in ENDED | {UNKNOWN} or not _STATUS.fullmatch(status):
        return Mark()
    number = _counted(loop.get("iteration"))
    limit = _counted(loop.get("max_iterations"))
    turn = f" {number}/{limit}" if number and limit else f" {number}" if number else ""
    short = f"loop{turn}"
    text = short if status in WORKING else f"{short} {status}"
    is_urgent = status == WAITING_FOR_HUMAN
    if is_urgent:
        text = f"{short} waiting for you"
    elif "orphaned" in loop:
        text = f"{short} orphaned"
    elif status in WORKING and "terminal_pid" not in loop:
        text = f"{short}?"
    return Mark(text, short, urgent=is_urgent, loop=text)


def _counted(number: int | None) -> str:
    return "" if number is None or number > _MAX_COUNT else str(number)


class LinePlace(NamedTuple):
    """The subject of a line: a worktree and its viewer, the loop there, the text from
    `conflictmarks` about the worktree, how much waits in other repositories
    (`elsewhere`), and how much the viewer has to ``land`` (`unlanded.counts_text`)."""

    surroundings: Surroundings = Surroundings()
    loop: Mark = Mark()
    conflict: str = ""
    elsewhere: int = 0
    land: str = ""

    def mark(self, style: LineStyle) -> Mark:
        """The mark for all of it."""
        if not (self.conflict or self.elsewhere or self.land):
            return self.loop
        sign = style.signs.warning
        count = f"+{self.elsewhere} elsewhere" if self.elsewhere else ""
        conflict = f"{sign} {self.conflict}" if self.conflict else ""
        return Mark(
            style.signs.separator.join(
                filter(None, (conflict, self.land, count, self.loop.text))
            ),
            f"{sign} conflict" if conflict else self.land or count,
            urgent=True,
            loop=self.loop.text,
            conflict=self.conflict,
            elsewhere=str(self.elsewhere or ""),
            land=self.land,
        )


_MINE = "1;33"
_OTHERS = "2"
_TROUBLE = "31"


def status_line(
    rows: Iterable[StatusRow], place: LinePlace, style: LineStyle | None = None
) -> str:
    """The output of ``wc-statusline``, without the newline; empty if there is nothing
    to show.

    Mine first: a question to me in a thread that is here, or a ball of mine there; how
    much waits for me elsewhere, or is to land; then who has the balls of the other
    threads that are here. After it the predicted conflicts and the loop that runs
    here, or these alone. Several rows are lines, one for each thread.
    """
    return line_of(threads_of(rows, place.surroundings), place, style)


def line_of(
    threads: LineThreads, place: LinePlace, style: LineStyle | None = None
) -> str:
    """The line about these threads, as `status_line` describes it."""
    style = (style or LineStyle())._replace(tag=place.surroundings.tag)
    mark = place.mark(style)
    my_count, away = threads.mine_count, threads.away_count
    if style.rows > 1 and (my_count or threads.around_count or away):
        return _render_rows(threads, place, style)
    if my_count:
        return style.paint(_render_mine(threads, mark, style), _MINE)
    if threads.latest is not None:
        return _render_others(threads, threads.latest, place, style)
    if away:
        return style.paint(_render_elsewhere(threads, mark, style), _MINE)
    return style.paint(_render_mark(mark, style), _code(mark))


def trouble_line(text: str, style: LineStyle) -> str:
    """Returns `STORE_MISSING`, `STORE_MOVED`, `NOT_CHECKED_OUT` or `NOT_ASKED` as it is
    printed."""
    fitting = text if style.fits(len(text)) else style.cut(text, style.columns)
    is_trouble = text in {STORE_MISSING, STORE_MOVED}
    return style.paint(fitting, _TROUBLE if is_trouble else _OTHERS)


class _LineParts(NamedTuple):
    """The parts of a line: ``head``, the topic, and the rest in this order.
    ``ball``, ``holder`` and ``position`` are only for templates."""

    head: Word
    state: State
    status: str = ""
    new: str = ""
    hidden: str = ""
    away: str = ""
    mark: Mark = Mark()
    ball: str = ""
    holder: str = ""
    position: str = ""

    @property
    def extras(self) -> tuple[tuple[str, str], ...]:
        """The parts after the topic, by name."""
        return (
            ("status", self.status),
            ("new", self.new),
            ("more", self.hidden),
            ("away", self.away),
            ("mark", self.mark.text),
        )


def _shared_parts(row: StatusRow, mark: Mark, hidden: str) -> _LineParts:
    """Returns the parts that do not depend on the holder."""
    status = status_text(row.state)
    return _LineParts(
        head=Word("", ""),
        state=row.state,
        status="" if status == OPEN else status,
        new=f"{row.new} new" if row.new else "",
        hidden=hidden,
        mark=mark,
    )


def _my_move(row: StatusRow, mark: Mark, style: LineStyle, hidden: str) -> _LineParts:
    sign, words = _sign(row, style), Word("you", "you")
    if row.question is not None:
        asker = display_text(row.question.by, _MAX_HOLDER_BYTES) or "someone"
        asker = _without_place(without_tag(asker, style.tag), row.state)
        words = Word(f"{asker} asks", f"{isolate_rtl(asker)} asks")
    parts = _shared_parts(row, mark, hidden)
    head = Word(f"{sign} {words.plain}", f"{sign} {words.printed}")
    return parts._replace(head=head, ball=sign, holder=words.plain)


def _without_place(name: str, state: State) -> str:
    """Returns a name without its seat if that is a place of the thread, whose name is
    beside it."""
    parsed = parse(name)
    is_place = bool(parsed.seat) and safe_name(parsed.seat) in places_of(state)
    return str(parsed._replace(seat="")) if is_place else name


def _sign(row: StatusRow, style: LineStyle) -> str:
    return style.signs.ball if row.question is None else style.signs.question


def _others_ball(row: StatusRow, mark: Mark, hidden: str, tag: str) -> _LineParts:
    parts = _shared_parts(row, mark, hidden)
    if row.waits:
        waits = waits_text(row.waits)
        head = Word(f"waits for {waits}", f"waits for {isolate_rtl(waits)}")
        return parts._replace(head=head)
    holder = without_tag(holder_text(row.state), tag)
    if not holder:
        free = "anyone can take"
        return parts._replace(head=Word(free, free), holder="anyone")
    head = Word(f"{holder} has the ball", f"{isolate_rtl(holder)} has the ball")
    return parts._replace(head=head, holder=holder)


def _hidden_rows_text(count: int) -> str:
    return f"+{count - 1}" if count > 1 else ""


def _render_rows(threads: LineThreads, place: LinePlace, style: LineStyle) -> str:
    """Returns a row for each thread: mine here, mine elsewhere, then others' here, up
    to the limit. The last row has the number of threads left out, the first one the
    mark."""
    mark = place.mark(style)
    groups = (threads.mine, threads.away, threads.around)
    numbered = [(kind, row) for kind, rows in enumerate(groups) for row in rows]
    total = threads.mine_count + threads.around_count + threads.away_count
    count = min(style.rows, MAX_ROWS)
    lines = []
    for at, (kind, row) in enumerate(numbered[:count]):
        hidden = f"+{total - count}" if at == count - 1 < total - 1 else ""
        row_mark = Mark() if at else mark
        if kind == _OF_OTHERS:
            parts = _others_ball(row, row_mark, hidden, style.tag)
            code = _code(row_mark)
        else:
            away = "elsewhere" if kind == _ELSEWHERE else ""
            parts = _my_move(row, row_mark, style, hidden)._replace(
                away=away, position=away
            )
            code = _MINE
        lines.append(style.paint(_render_parts(parts, style), code))
    return "\n".join(line for line in lines if line)


_ELSEWHERE, _OF_OTHERS = 1, 2


def _code(mark: Mark) -> str:
    """Returns the colour for everything that is not about my balls."""
    return _MINE if mark.urgent else _OTHERS


def _render_mine(threads: LineThreads, mark: Mark, style: LineStyle) -> str:
    hidden, away = _hidden_rows_text(threads.mine_count), threads.away_count
    parts = _my_move(threads.mine[0], mark, style, hidden)
    return _render_parts(
        parts._replace(away=f"{away} elsewhere" if away else ""), style
    )


def _render_others(
    threads: LineThreads, latest: StatusRow, place: LinePlace, style: LineStyle
) -> str:
    """Returns how much waits for me elsewhere or is to land, and what others have
    here."""
    count, hidden = threads.away_count, _hidden_rows_text(threads.around_count)
    if style.template or not (count or place.land):
        mark = place.mark(style)
        parts = _others_ball(latest, mark, hidden, style.tag)
        parts = parts._replace(away=f"{count} elsewhere" if count else "")
        code = _MINE if count else _code(mark)
        return style.paint(_render_parts(parts, style), code)
    mark = place._replace(land="").mark(style)
    parts = _others_ball(latest, mark, hidden, style.tag)
    away = _render_elsewhere(threads, Mark(), style, is_short=True) if count else ""
    count_text = style.signs.separator.join(filter(None, (away, place.land)))
    if not style.fits(display_width(count_text)):
        count_text = away or style.cut(place.land, style.columns)
    room = style.columns - display_width(count_text) - _SEPARATOR_WIDTH
    tail = ""
    if not style.columns or room > _LEAST_OTHERS:
        fitting = style._replace(columns=style.columns and room)
        tail = _render_parts(parts, fitting)
    tail = tail and f"{style.signs.separator}{tail}"
    return style.paint(count_text, _MINE) + style.paint(tail, _code(mark))


# With less room, what is not mine would only be the beginning of a name.
_LEAST_OTHERS = 12


def _render_elsewhere(
    threads: LineThreads, mark: Mark, style: LineStyle, *, is_short: bool = False
) -> str:
    """Returns how much waits for me elsewhere; ``is_short`` beside something else."""
    count, rows = threads.away_count, threads.away
    ball = _sign(rows[0], style)
    if style.template:
        row_parts = _my_move(rows[0] if count == 1 else _NO_ROW, mark, style, "")
        row_parts = row_parts._replace(away=f"{count} elsewhere", position="elsewhere")
        return _render_template(row_parts, style)
    is_ball = rows[0].question is None and not is_short
    whole = f"{count} waiting for you" if is_ball else f"{count} for you"
    texts = [f"{whole} elsewhere", f"{count} elsewhere", str(count)]
    words = [Word(text, text) for text in texts]
    if count == 1 and is_ball:
        tail = " waits for you elsewhere"
        topic = topic_text(rows[0].state)
        titled = style.title(topic, rows[0].state.topic)
        words.insert(0, Word(f"{topic}{tail}", f"{titled}{tail}"))
    for shown in (mark, Mark()):
        for word in words:
            if style.fits(
                display_width(ball) + 1 + display_width(word.plain) + shown.width
            ):
                parts = [
                    f"{ball} {word.printed}",
                    *([isolate_rtl(shown.text)] if shown.text else []),
                ]
                return style.signs.separator.join(parts)
    return _only_sign(ball, style)


_NO_ROW = StatusRow(State(""))


def _render_mark(mark: Mark, style: LineStyle) -> str:
    if style.template:
        return (
            _render_template(_shared_parts(_NO_ROW, mark, ""), style)
            if mark.text
            else ""
        )
    for text in (mark.text, mark.short):
        if style.fits(display_width(text)):
            return isolate_rtl(text)
    return ""


# The first parts to drop if there is no room.
_DROP = ("away", "more", "status", "new", "mark")


def _render_parts(parts: _LineParts, style: LineStyle) -> str:
    """Returns the head, the topic and as many extras as fit. If necessary, the topic is
    cut or dropped, then the head is cut."""
    if style.template:
        return _render_template(parts, style)
    topic, separator = topic_text(parts.state), style.signs.separator
    used = display_width(parts.head.plain) + _SEPARATOR_WIDTH
    for dropped in range(len(_DROP) + 1):
        dropped_names = _DROP[:dropped]
        extras = [
            text for name, text in parts.extras if text and name not in dropped_names
        ]
        if style.fits(
            used
            + display_width(topic)
            + sum(_SEPARATOR_WIDTH + display_width(text) for text in extras)
        ):
            titled = style.title(topic, parts.state.topic)
            return separator.join(
                [parts.head.printed, titled, *map(isolate_rtl, extras)]
            )
    cut = style.cut(topic, style.columns - used)
    if cut:
        titled = style.title(cut, parts.state.topic)
        return f"{parts.head.printed}{separator}{titled}"
    if style.fits(display_width(parts.head.plain)):
        return parts.head.printed
    return (
        _only_sign(parts.ball, style)
        if parts.ball
        else isolate_rtl(style.cut(parts.head.plain, style.columns))
    )


def _render_template(parts: _LineParts, style: LineStyle) -> str:
    topic = "" if parts.state is _NO_ROW.state else topic_text(parts.state)
    away = "" if parts.away == parts.position else parts.away.partition(" ")[0]
    plain = {
        "ball": parts.ball,
        "holder": parts.holder,
        "status": parts.status,
        "new": parts.new.partition(" ")[0],
        "more": parts.hidden.removeprefix("+"),
        "away": away,
        "where": parts.position,
        "loop": parts.mark.loop,
        "conflict": parts.mark.conflict,
        "elsewhere": parts.mark.elsewhere,
        "land": parts.mark.land,
    }
    words = {name: Word(text, isolate_rtl(text)) for name, text in plain.items()}
    title = style.title(topic, parts.state.topic) if topic else ""
    return fill_template(style, words | {"topic": Word(topic, title)})


def _only_sign(sign: str, style: LineStyle) -> str:
    return sign if style.fits(display_width(sign)) else ""
