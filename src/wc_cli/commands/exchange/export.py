"""``wc export``: threads as a file for people or other programs."""

from __future__ import annotations

from wc_cli.run.options import Options, command, flag, text, words
from wc_cli.run.output import json_line, remark, say_exact
from wc_core.base.errors import InvalidInputError, StorageError
from wc_core.base.phrases import counted
from wc_core.base.text import clean, one_line
from wc_core.ledger.threads.ways import via_text
from wc_core.reading.exchange import jsonexport

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from wc_cli.run.context import Context
    from wc_core.ledger.threads.model import Entry
    from wc_core.ledger.threads.reader import Thread

FORMATS = ("md", "json")


class ExportOptions(Options):
    """Write threads as markdown or JSON."""

    topics: tuple[str, ...] = words("TOPIC...", "The threads.", default=())
    all: bool = flag("--all", help="All threads, open and closed.")
    format: str = text("--format", "FORMAT", "md (the default) or json.")
    output: str = text("--output", "FILE", "Write this file (default: print).")


@command(ExportOptions)
def export(context: Context, options: ExportOptions) -> None:
    """Export threads."""
    form = options.format or ("json" if options.json else "md")
    if form not in FORMATS:
        raise InvalidInputError(
            f"{one_line(form)!r} is not a format.",
            f"Choose one of: {', '.join(FORMATS)}",
        )
    if options.all == bool(options.topics):
        raise InvalidInputError(
            "Name threads, or pass --all.",
            "Write: wc export TOPIC --format json, or wc export --all --format json",
        )
    reader = context.reader
    if options.all:
        topics = reader.topics()
    else:
        topics = list(dict.fromkeys(map(reader.find, options.topics)))
    threads = [reader.thread(topic) for topic in topics]
    _put_out(_exported(threads, form), options.output)
    lost = sum(map(jsonexport.unreadable_lines, threads))
    if lost:
        lines = counted(lost, "line")
        remark(f"left out: {lines} of the logs that cannot be read (see: wc doctor)")


def _exported(threads: Sequence[Thread], form: str) -> str:
    if form == "json":
        return f"{json_line(jsonexport.to_json(threads))}\n"
    from wc_core.ledger.threads.pages import page  # 3 ms, only for markdown

    pages = (page.render(item.state, _with_ways(item)).decode() for item in threads)
    return "\n".join(pages)


def _with_ways(thread: Thread) -> list[Entry]:
    """Return the entries with how they came beside their titles: a page has no other
    place for it."""
    return [
        entry._replace(title=f"{entry.title} ({via_text(entry.via)})")
        if entry.via
        else entry
        for entry in thread.entries
    ]


def _put_out(data: str, path: str) -> None:
    if not path or path == "-":
        say_exact(clean(data))  # pages keep what a terminal would obey
        return
    try:
        with open(path, "w", encoding="utf-8") as file:
            file.write(data)
    except OSError as error:
        raise StorageError(
            f"{path} could not be written: {error.strerror}.",
            "Name a file in a folder that you may write to.",
        ) from error
    remark(f"wrote {one_line(path)}")
