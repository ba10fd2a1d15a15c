"""``wc import``: threads from a file of wc or of another tracker."""

from __future__ import annotations

import sys

from wc_cli.bridges.exchange import importing
from wc_cli.run.entries import receipts
from wc_cli.run.entries.body import read_limited
from wc_cli.run.options import Options, command, flag, text, words
from wc_cli.run.output import remark, say, say_json
from wc_core.base.errors import InvalidInputError, NotFoundError, WcError
from wc_core.base.files import MAX_BYTES
from wc_core.base.phrases import counted
from wc_core.base.text import one_line
from wc_core.reading.exchange import imports

TYPE_CHECKING = False
if TYPE_CHECKING:
    from wc_cli.run.context import Context
    from wc_core.reading.exchange.imports import ImportedThread

_HOLDER = "wc import"


class ImportOptions(Options):
    """Add threads from a JSON export, or issues of another tracker. Nothing is added
    twice."""

    files: tuple[str, ...] = words("FILE...", "The files; '-' reads standard input.")
    format: str = text("--format", "FORMAT", "watercooler, beads or github.")
    dry_run: bool = flag("--dry-run", help="Only show what it would add.")


@command(ImportOptions)
def import_files(context: Context, options: ImportOptions) -> None:
    """Import threads."""
    if options.format and options.format not in imports.FORMATS:
        raise InvalidInputError(
            f"{one_line(options.format)!r} is not a format.",
            f"Choose one of: {', '.join(imports.FORMATS)}",
        )
    threads = [item for path in options.files for item in _read(path, options.format)]
    # Everything is checked before anything is written.
    planned = list(importing.additions(context.reader, threads))
    added = planned
    if planned and not options.dry_run:
        writer = context.writer()
        topics = {addition.topic for addition in planned}
        added = [
            importing.add(writer.upkeep, thread, _HOLDER)
            for thread in threads
            if thread.topic in topics
        ]
        for note in receipts.start_settling(context):
            remark(note)
    counts = {item.topic: item.added for item in added if item.added}
    if options.json:
        threads_added = [{"topic": k, "entries": v} for k, v in counts.items()]
        say_json({"dry_run": options.dry_run, "threads": threads_added})
        return
    verb = "would add" if options.dry_run else "added"
    for topic, count in counts.items():
        say(f"{topic}: {verb} {counted(count, 'entry', 'entries')}")
    if not counts:
        say("nothing to do: everything is already there")


def _read(path: str, form: str) -> list[ImportedThread]:
    try:
        if path == "-":
            data = read_limited(sys.stdin.buffer, "Standard input", MAX_BYTES)
        else:
            with open(path, "rb") as file:
                data = read_limited(file, path, MAX_BYTES)
    except FileNotFoundError as error:
        raise NotFoundError(
            f"There is no file {path!r}.", "Name a file that exists."
        ) from error
    except OSError as error:
        raise InvalidInputError(
            f"{path!r} cannot be read: {error.strerror}.", "Name a file."
        ) from error
    try:
        return imports.read(data, form)
    except WcError as error:
        raise InvalidInputError(
            f"{one_line(path)}: {error.message}", error.hint
        ) from error
