"""Lists of threads on a terminal: no line wraps; agents and statuses have colours."""

from __future__ import annotations

from wc_cli.run.terminal.style import BOLD, DIM, YELLOW, agent_codes
from wc_cli.run.terminal.widths import cut_to_width, left_to_right, pad, width_of
from wc_core.attention.status import pins
from wc_core.base.layout import Layout
from wc_core.base.values import NamedTuple
from wc_core.ledger.threads.model import BLOCKED, CLOSED, IN_REVIEW
from wc_core.reading.views.drawing.badges import badge_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from wc_cli.run.context import Context
    from wc_cli.run.terminal.style import Style
    from wc_core.reading.views.rows import ThreadRow

_GAP = 2
_LEAST_TITLE = 12
_ENOUGH_TITLE = 24
# The columns that are cut first, with the least width of each.
_CUT = {"ball": 12, "topic": 16, "title": 24}
_CUT_MORE = {"ball": 8, "topic": 10, "status": 10, "title": 12}
# Dropped in this order if cutting is not enough.
_DROPPED = ("entries", "age", "status", "ball", "title")
_MARK = "mark"  # the first column, which has no heading
_USED = "◆"  # the thread chosen with `wc use`, as on the board
_RED, _GREEN, _CYAN = "31", "32", "36"
# By the start of a status's text.
_STATUS_COLORS = (
    (BLOCKED, _RED),
    (IN_REVIEW, _CYAN),
    ("waits for", YELLOW),
)


class RowAccent(NamedTuple):
    """The look of a thread's line: whether the viewer has the next move, whether the
    thread was chosen for this worktree, and the colour of its holder, one of 256;
    ``None`` without one."""

    is_due: bool = False
    is_used: bool = False
    holder_color: int | None = None


def row_accents(context: Context, rows: Sequence[ThreadRow]) -> list[RowAccent]:
    """Return the look of these threads' lines."""
    place, directory = context.place, context.settings.directory
    pin = pins.pin_of(Layout(place.root), place.repository)
    used_topic = pin.topic if pin.is_open else ""
    holders = {row.ball for row in rows if row.ball and row.status != CLOSED}
    colors = {holder: badge_of(holder, directory).terminal for holder in holders}
    return [
        RowAccent(row.is_due, row.topic == used_topic, colors.get(row.ball or ""))
        for row in rows
    ]


def fitted_lines(
    columns: Sequence[str],
    cells: Sequence[Sequence[str]],
    accents: Sequence[RowAccent],
    style: Style,
    limit: int,
) -> list[str]:
    """Return the lines of a list: a heading, and one line for each row of ``cells``,
    which are its mark and its ``columns``. None is longer than ``limit``: long balls
    and topics are cut first, then columns are dropped."""
    heads = (_MARK, *columns)
    rows = [
        (f"{mark}{_USED if accent.is_used else ''}", *texts)
        for (mark, *texts), accent in zip(cells, accents, strict=True)
    ]
    headings = ("", *(name.upper() for name in columns))
    widths = {
        name: max(map(width_of, texts))
        for name, *texts in zip(heads, headings, *rows, strict=True)
    }
    fitted = fitted_widths(widths, limit)
    lines = [style(_fitted_line(heads, headings, fitted), DIM)]
    for row, accent in zip(rows, accents, strict=True):
        paint = _row_paint(heads, row, accent, style)
        lines.append(_fitted_line(heads, row, fitted, paint))
    return lines


def _fitted_line(
    heads: Sequence[str],
    cells: Sequence[str],
    widths: Mapping[str, int],
    paint: Callable[[str, str], str] = lambda _, text: text,
) -> str:
    """Return a line with the columns that have a width, each cut or padded to it. The
    padding is not painted."""
    texts = dict(zip(heads, cells, strict=True))
    parts = []
    for name, width in widths.items():
        text = left_to_right(cut_to_width(texts[name], width))
        padding = pad(text, width)[len(text) :]
        parts.append(f"{paint(name, text)}{padding}")
    return "  ".join(parts).rstrip()


def _row_paint(
    heads: Sequence[str], cells: Sequence[str], accent: RowAccent, style: Style
) -> Callable[[str, str], str]:
    """Return how to colour the columns of a row: the status by its meaning, the ball by
    its holder, and everything bold if the viewer has the next move."""
    status = dict(zip(heads, cells, strict=True)).get("status", "")
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
    if accent.holder_color is not None:
        column_codes["ball"] = agent_codes(accent.holder_color)

    def paint(name: str, text: str) -> str:
        codes = (*row_codes, *column_codes.get(name, ()))
        return style(text, *codes) if codes else text

    return paint


def fitted_widths(widths: Mapping[str, int], limit: int) -> dict[str, int]:
    """Return the width of each column so that all fit into ``limit`` terminal columns,
    given the full widths. The last column gets the rest."""
    fitted = dict(widths)
    last_column = next(reversed(fitted))
    wish = min(fitted[last_column], _ENOUGH_TITLE)
    least = min(fitted[last_column], _LEAST_TITLE)
    for minimums, goal in ((_CUT, wish), (_CUT_MORE, least)):
        for name, minimum in minimums.items():
            if name in fitted and name != last_column:
                excess = max(0, _taken(fitted, last_column) + goal - limit)
                fitted[name] = max(min(fitted[name], minimum), fitted[name] - excess)
    for name in _DROPPED:
        if _taken(fitted, last_column) + least <= limit or len(fitted) <= _GAP:
            break
        if name != last_column:
            fitted.pop(name, None)
    fitted[last_column] = max(
        1, min(fitted[last_column], limit - _taken(fitted, last_column))
    )
    return fitted


def _taken(widths: Mapping[str, int], last: str) -> int:
    """Return the width of all columns but the last, with the gaps."""
    return sum(width + _GAP for name, width in widths.items() if name != last)
