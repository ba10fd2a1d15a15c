"""``wc timeline``: who had the ball when, drawn to scale."""

from __future__ import annotations

import shutil

from wc_cli.commands.common import SpeakerOptions, no_threads_text
from wc_cli.ledger.clock import now_ms
from wc_cli.run.options import command, flag, number, text, words
from wc_cli.run.output import remark, say_exact, say_json
from wc_cli.run.terminal import timeline as timeline_rendering
from wc_cli.run.terminal.style import output_style, terminal_width
from wc_core.base import times, ulid
from wc_core.base.errors import InvalidInputError, StorageError, WcError
from wc_core.base.phrases import quoted
from wc_core.base.text import one_line
from wc_core.reading.views import timeline
from wc_core.reading.views.drawing import timelinesvg

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from wc_cli.run.context import Context
    from wc_core.reading.views.timeline import Chart, Track

_LATELY = "7d"
# Output to a file or a pipe is as wide as a usual terminal.
_WIDTH = 80
_PAGE = """\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta http-equiv="Content-Security-Policy"
 content="default-src 'none'; style-src 'unsafe-inline'">
<title>{title}</title>
<style>
body{{margin:1rem;font:14px ui-sans-serif,system-ui,sans-serif;
background:#fff;color:#1f2328}}
h1{{font-size:1.1rem}}svg{{max-width:100%;height:auto}}
@media (prefers-color-scheme:dark){{body{{background:#0d1117;color:#e6edf3}}}}
</style>
</head>
<body>
<h1>{title}</h1>
{svg}</body>
</html>
"""


class TimelineOptions(SpeakerOptions):
    """Show who had the ball when, in these threads or in all that moved recently."""

    topics: tuple[str, ...] = words("TOPIC...", "The threads.", default=())
    since: str = text(
        "--since",
        "WHEN",
        "Start at a time, age, day or entry (default: 7d, or a thread's start).",
    )
    limit: int = number(
        "--limit", "At most this many threads (0: all).", default=20, short="-n"
    )
    svg: str = text("--svg", "FILE", "Write an SVG picture ('-': print it).")
    html: str = text(
        "--html", "FILE", "Write a self-contained HTML page ('-': print it)."
    )
    ascii: bool = flag("--ascii", help="Only ASCII characters.")


@command(TimelineOptions)
def show_timeline(context: Context, options: TimelineOptions) -> None:
    """Show the chart, or write it."""
    printed = [path for path in (options.svg, options.html) if path == "-"]
    if len(printed) + options.json > 1:
        raise InvalidInputError(
            "Only one of --json, --svg - and --html - can be printed at a time.",
            "Give the others a file.",
        )
    chart = _make_chart(context, options)
    wrote = _write_files(chart, options)
    if options.json:
        say_json(chart.to_json(context.store))
    elif not wrote:
        _draw_chart(context, chart, options)


def _make_chart(context: Context, options: TimelineOptions) -> Chart:
    directory = context.settings.directory
    now = now_ms()
    when = options.since or ("" if options.topics else _LATELY)
    last_id = times.since_id(when, now) if when else ""
    since = ulid.timestamp_ms(last_id) if last_id else None
    if options.topics:
        topics = [context.reader.find(name) for name in options.topics]
    else:
        rows = context.overview.rows()
        topics = [row.topic for row in timeline.rows_moved_since(rows, last_id)]
    limit = options.limit or len(topics)
    tracks = list(_readable_tracks(context, topics[:limit], now))
    chart = timeline.make_chart(tracks, directory, since)
    return chart._replace(total=len(topics))


def _readable_tracks(
    context: Context, topics: Iterable[str], now: int
) -> Iterator[Track]:
    """Yield the tracks of the readable threads, and remarks on the others."""
    reader, directory = context.reader, context.settings.directory
    for topic in topics:
        try:
            yield timeline.thread_track(reader.thread(topic), now, directory)
        except WcError as error:
            remark(one_line(f"not shown: {topic}: {error}"))


def _write_files(chart: Chart, options: TimelineOptions) -> bool:
    """Write the picture, the page, or both. Returns whether an option asked for one."""
    if not (options.svg or options.html):
        return False
    picture = timelinesvg.svg(chart)
    _write_file(options.svg, picture, options)
    title = timelinesvg.escaped(timelinesvg.summary(chart))
    _write_file(options.html, _PAGE.format(title=title, svg=picture), options)
    return True


def _write_file(path: str, data: str, options: TimelineOptions) -> None:
    if path == "-":
        say_exact(data)
    elif path:
        try:
            with open(path, "w", encoding="utf-8") as file:
                file.write(data)
        except OSError as error:
            raise StorageError(
                f"{path} could not be written: {error.strerror}.",
                "Name a file in a folder that you may write to.",
            ) from error
        if not options.json:
            remark(f"wrote {one_line(path)}")


def _draw_chart(context: Context, chart: Chart, options: TimelineOptions) -> None:
    if not chart.until:
        remark(one_line(_empty_text(context, options)))
        return
    ascii_only = context.env.get("WATERCOOLER_ASCII", "") not in {"", "0"}
    drawing = timeline_rendering.Drawing(
        _chart_width(), output_style(context.env), options.ascii or ascii_only
    )
    say_exact("\n".join(timeline_rendering.chart_lines(chart, drawing)))
    left_out = chart.total - len(chart.tracks)
    if left_out > 0:
        since = f" --since {quoted(options.since)}" if options.since else ""
        remark(f"{left_out} more: wc timeline --limit 0{since}")


def _empty_text(context: Context, options: TimelineOptions) -> str:
    """Return the message for a timeline without threads."""
    if not context.overview.rows():
        return no_threads_text(context)
    if options.since:
        return f"Nothing moved since {options.since}. See what there is: wc list --all"
    return "Nothing moved in the last 7 days. Earlier: wc timeline --since 30d"


def _chart_width() -> int:
    """Return the width to draw: that of the terminal, COLUMNS, or 80."""
    return terminal_width() or shutil.get_terminal_size((_WIDTH, 1)).columns
