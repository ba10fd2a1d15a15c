"""``wc enrich``: models add what entries lack."""

from __future__ import annotations

from wc_cli.bridges.enrich import meaning, summaries
from wc_cli.bridges.enrich.parts import EnrichRequest
from wc_cli.ledger.store import locks
from wc_cli.run.entries import receipts
from wc_cli.run.options import Options, command, flag, number, words
from wc_cli.run.output import remark, say, say_json
from wc_core.base.errors import InvalidInputError, LockTimeoutError
from wc_core.base.text import one_line
from wc_core.ledger.configuration import preferences

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import TypeAlias

    from wc_cli.bridges.enrich.parts import EnrichReport
    from wc_cli.run.context import Context
    from wc_core.ledger.configuration.preferences import Preferences
    from wc_core.ledger.threads.reader import StoreReader

    Part: TypeAlias = Callable[
        [StoreReader, Preferences, Mapping[str, str], EnrichRequest], EnrichReport
    ]


class EnrichOptions(Options):
    """Have models add summaries and vectors to entries. Texts are only sent to the
    servers in your preferences."""

    topics: tuple[str, ...] = words("TOPIC...", "Only these threads.", default=())
    summaries: bool = flag("--summaries", help="Only summaries.")
    meaning: bool = flag("--meaning", help="Only vectors.")
    again: bool = flag("--again", help="With --meaning: compute all of them again.")
    limit: int = number("--limit", "At most this many texts (0: all).", short="-n")
    dry_run: bool = flag("--dry-run", help="Only show what would be sent where.")


@command(EnrichOptions)
def enrich(context: Context, options: EnrichOptions) -> None:
    """Enrich entries."""
    request = EnrichRequest(
        options.topics,
        options.limit,
        options.dry_run,
        lambda text: remark(one_line(text)),
        options.again and options.meaning,
    )
    reports = _run(context, request, _parts(options))
    is_changed = any(report.done for report in reports)
    notes = receipts.start_settling(context) if is_changed else []
    if options.json:
        parts = [report.to_json() for report in reports]
        say_json({"store": context.store, "parts": parts})
    else:
        say("\n".join(one_line(report.sentence()) for report in reports))
    for note in notes:
        remark(f"note: {one_line(note)}")
    for report in reports:
        if report.error is not None:
            raise report.error


def _parts(options: EnrichOptions) -> list[Part]:
    """The parts to enrich: all, unless some are named."""
    if options.again and not options.meaning:
        raise InvalidInputError("--again only works with --meaning.", "Give both.")
    chosen = {summaries.enrich: options.summaries, meaning.enrich: options.meaning}
    return [part for part in chosen if chosen[part] or not any(chosen.values())]


def _run(
    context: Context, request: EnrichRequest, parts: list[Part]
) -> list[EnrichReport]:
    """Run the parts, in one process at a time: two would pay for the same twice. A run
    that sends nothing writes nothing."""
    reader, env = context.reader, context.env
    layout, chosen = reader.layout, preferences.load(env)
    if request.dry_run or not context.place.exists:
        return [part(reader, chosen, env, request) for part in parts]
    try:
        with locks.locked(layout.enrich_lock, "wc enrich", 0.0, layout.root):
            return [part(reader, chosen, env, request) for part in parts]
    except LockTimeoutError as error:
        raise LockTimeoutError(
            "Summaries or vectors are being made already.",
            "Run it again when that is done.",
        ) from error
