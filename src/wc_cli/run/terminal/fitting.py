"""Lists of threads on a terminal: no line wraps; agents and statuses have colours."""

from __future__ import annotations

from wc_cli.run.terminal.labels import short_name
from wc_cli.run.terminal.style import BOLD, DIM, YELLOW, agent_codes, ink_codes
from wc_cli.run.widths import cut_to_width, left_to_right, pad, width_of
from wc_core.attention.status import pins
from wc_core.base.layout import Layout
from wc_core.base.names import MINE
from wc_core.base.text import one_line
from wc_core.base.values import NamedTuple
from wc_core.ledger.threads.model import BLOCKED, CLOSED, IN_REVIEW
from wc_core.reading.views.drawing.badges import badge_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from wc_cli.run.context import Context
    from wc_cli.run.terminal.style import Style
    from wc_core.people.identity.viewer import Viewer
    from wc_core.reading.views.drawing.badges import Badge
    from wc_core.reading.views.rows import ThreadRow

_GAP = 2
_FEWEST = 2  # columns, with the mark
# How much of a topic and of a title is shown before other columns are shortened, before
# the title is dropped, and before others are.
_GOOD = {"topic": 32, "title": 32}
_FAIR = {"topic": 24, "title": 18}
_LEAST = {"topic": 24, "title": 12}
_SHORTEST = {"topic": 16, "title": 12}
# Shortened in this order, then dropped in this one.
_SHORTENED = ("entries", "status", "ball")
_DROPPED = (
    ("title", _LEAST),
    ("entries", _SHORTEST),
    ("age", _SHORTEST),
    ("status", _SHORTEST),
    ("ball", _SHORTEST),
)
# The most columns of a short status and of a short ball.
_SHORT = {"status": 9, "ball": 12}
_SHORT_HEADINGS = {"entries": "NEW"}
_MARK = "mark"  # the first column, which has no heading
_USED = "◆"  # the thread chosen with `wc use`, as on the board
_RED, _GREEN, _CYAN = "31", "32", "36"
# By the start of a status's text.
_STATUS_COLORS = (
    (BLOCKED, _RED),
    (IN_REVIEW, _CYAN),
    ("waits", YELLOW),
)


class RowAccent(NamedTuple):
    """The look of a thread's line: whether the viewer has the next move, whether the
    thread was chosen for this worktree, whether the ball is the viewer's, and who has
    it; ``None`` if nobody does."""

    is_due: bool = False
    is_used: bool = False
    is_mine: bool = False
    holder: Badge | None = None


class ListColumn(NamedTuple):
    """A column of a list: its heading and its texts, and shorter ones for where there
    is no room. ``name`` is one of the columns of a list, or the mark before them."""

    name: str
    heading: str
    texts: Sequence[str]
    short_heading: str = ""
    short_texts: Sequence[str] = ()

    @property
    def width(self) -> int:
        """How many columns of a terminal it takes in full."""
        return max(map(width_of, (self.heading, *self.texts)))

    @property
    def short_width(self) -> int:
        """How many it takes in short."""
        if not self.short_texts:
            return min(self.width, _SHORT.get(self.name, self.width))
        short = max(map(width_of, (self.short_heading, *self.short_texts)))
        return min(short, _SHORT.get(self.name, short))

    def cells(self, width: int) -> list[str]:
        """Return the heading and the texts for a width."""
        if self.short_texts and width < self.width:
            return [self.short_heading, *self.short_texts]
        return [self.heading, *self.texts]


def row_accents(context: Context, rows: Sequence[ThreadRow]) -> list[RowAccent]:
    """Return the look of these threads' lines."""
    place, directory = context.place, context.settings.directory
    pin = pins.pin_of(Layout(place.root), place.repository)
    used_topic = pin.topic if pin.is_open else ""
    holders = {row.ball for row in rows if row.ball and row.status != CLOSED}
    badges = {holder: badge_of(holder, directory) for holder in holders}
    return [
        RowAccent(
            row.is_due,
            row.topic == used_topic,
            row.ownership == MINE,
            badges.get(row.ball or ""),
        )
        for row in rows
    ]


def shortened(
    viewer: Viewer, rows: Sequence[ThreadRow], texts: Mapping[str, Sequence[str]]
) -> list[ListColumn]:
    """Return the columns of a list for a person at a terminal, from their full texts by
    name. The viewer is ``you``, and a title is only there if it says more than the
    topic."""
    long_texts = {**texts}
    if "ball" in long_texts:
        long_texts["ball"] = [
            one_line(short_name(row.ball, viewer))
            if row.ball and row.status != CLOSED
            else text
            for row, text in zip(rows, texts["ball"], strict=True)
        ]
    short = {
        "entries": [f"+{row.new_for_you}" if row.new_for_you else "" for row in rows],
        "status": [_short_status(row) for row in rows],
    }
    return [
        ListColumn(
            name,
            name.upper(),
            full,
            _SHORT_HEADINGS.get(name, name.upper()),
            short.get(name, ()),
        )
        for name, full in long_texts.items()
    ]


def _short_status(row: ThreadRow) -> str:
    """Return the status with the progress of the checklist, if there is room for it."""
    status = "waits" if row.waits else one_line(row.status)
    progress = f"{status} {row.checklist}" if row.checklist.total else status
    return progress if width_of(progress) <= _SHORT["status"] else status


def fitted_lines(
    marks: Sequence[str],
    columns: Sequence[ListColumn],
    accents: Sequence[RowAccent],
    style: Style,
    limit: int,
) -> list[str]:
    """Return the lines of a list: a heading, and one line for each row. None is longer
    than ``limit``: columns are shortened first, then dropped."""
    marked = [
        f"{mark}{_USED if accent.is_used else ''}"
        for mark, accent in zip(marks, accents, strict=True)
    ]
    columns = (ListColumn(_MARK, "", marked), *columns)
    widths = fitted_widths(
        {column.name: column.width for column in columns},
        {column.name: column.short_width for column in columns},
        limit,
    )
    fitted = [column for column in columns if column.name in widths]
    cells = [column.cells(widths[column.name]) for column in fitted]
    headings, *rows = zip(*cells, strict=True)
    lines = [style(_fitted_line(widths, headings), DIM)]
    for row, accent in zip(rows, accents, strict=True):
        status = next(
            (c for w, c in zip(widths, row, strict=True) if w == "status"), ""
        )
        paint = _row_paint(status, accent, style)
        lines.append(_fitted_line(widths, row, paint))
    return lines


def _fitted_line(
    widths: Mapping[str, int],
    cells: Sequence[str],
    paint: Callable[[str, str], str] = lambda _, text: text,
) -> str:
    """Return a line of cells, each cut or padded to its width. The padding is not
    painted."""
    parts = []
    for (name, width), cell in zip(widths.items(), cells, strict=True):
        text = left_to_right(cut_to_width(cell, width))
        padding = pad(text, width)[len(text) :]
        parts.append(f"{paint(name, text)}{padding}")
    return "  ".join(parts).rstrip()


def _row_paint(
    status: str, accent: RowAccent, style: Style
) -> Callable[[str, str], str]:
    """Return how to colour the cells of a row: the status by its meaning, the ball by
    its holder, with a background only if it is the viewer's, and everything bold if the
    viewer has the next move."""
    row_codes: tuple[str, ...] = ()
    if accent.is_due:
        row_codes = (BOLD,)
    elif status.startswith(CLOSED):
        row_codes = (DIM,)
    column_codes: dict[str, tuple[str, ...]] = {}
    if color := next((c for word, c in _STATUS_COLORS if status.startswith(word)), ""):
        column_codes["status"] = (color,)
    if accent.is_due:
        column_codes[_MARK] = (_GREEN,)
    if accent.holder is not None:
        column_codes["ball"] = (
            agent_codes(accent.holder.terminal)
            if accent.is_mine
            else ink_codes(accent.holder.ink)
        )

    def paint(name: str, text: str) -> str:
        codes = (*row_codes, *column_codes.get(name, ()))
        return style(text, *codes) if codes else text

    return paint


def fitted_widths(
    full: Mapping[str, int], short: Mapping[str, int], limit: int
) -> dict[str, int]:
    """Return the width of each column so that all fit into ``limit`` terminal columns,
    given their widths in full and in short.

    Topic and title are cut; what the others leave is theirs, the topic's first.
    """
    fitted = dict(full)
    for name in _SHORTENED:
        if _needed(fitted, _GOOD) <= limit:
            break
        if name in fitted:
            fitted[name] = min(fitted[name], short[name])
    for name, least in _DROPPED:
        if _needed(fitted, least) <= limit or len(fitted) <= _FEWEST:
            break
        fitted.pop(name, None)
    fitted |= {name: 0 for name in _LEAST if name in fitted}
    room = limit - _needed(fitted, {})
    for wish in (_LEAST, _FAIR, _GOOD, full):
        for name in filter(fitted.__contains__, _LEAST):
            wished = min(full[name], wish[name])
            added = max(0, min(wished - fitted[name], room))
            fitted[name] += added
            room -= added
    if room < 0:  # one column, too wide on its own
        last_column = next(reversed(fitted))
        fitted[last_column] = max(1, fitted[last_column] + room)
    return fitted


def _needed(widths: Mapping[str, int], most: Mapping[str, int]) -> int:
    """Return how many columns of the terminal these take, some at ``most`` so many."""
    texts = sum(min(width, most.get(name, width)) for name, width in widths.items())
    return texts + _GAP * (len(widths) - 1)
