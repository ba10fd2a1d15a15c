"""``wc enrich``: has model servers add to entries what they lack."""

from __future__ import annotations

from wc_cli.commands.common import SpeakerOptions
from wc_cli.enrich import summaries
from wc_cli.enrich.parts import EnrichRequest
from wc_cli.entries import receipts
from wc_cli.options import command, flag, number, words
from wc_cli.output import remark, say, say_json
from wc_cli.store import locks
from wc_core.configuration import preferences
from wc_core.errors import LockTimeoutError
from wc_core.text import one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from wc_cli.context import Context
    from wc_cli.enrich.parts import EnrichReport


class EnrichOptions(SpeakerOptions):
    """Have a model server summarise the entries that lack a summary. They are sent to
    the server that your preferences name, nowhere else."""

    topics: tuple[str, ...] = words("TOPIC...", "Only these threads.", default=())
    summaries: bool = flag("--summaries", help="Only summaries.")
    limit: int = number("--limit", "At most this many entries (0: all).")
    dry_run: bool = flag("--dry-run", help="Only say what would be sent where.")


@command(EnrichOptions)
def enrich(context: Context, options: EnrichOptions) -> None:
    """Enrich entries."""
    request = EnrichRequest(
        options.topics,
        options.limit,
        options.dry_run,
        lambda text: remark(one_line(text)),
    )
    reports = _run(context, request)
    notes = receipts.start_settling(context) if any(r.done for r in reports) else []
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


def _run(context: Context, request: EnrichRequest) -> list[EnrichReport]:
    """Run the parts, one process at a time: what two ask for is paid for twice."""
    reader, env = context.reader, context.env
    layout, chosen = reader.layout, preferences.load(env)
    if not context.place.exists:
        return [summaries.enrich(reader, chosen, env, request)]
    try:
        with locks.locked(layout.enrich_lock, "wc enrich", 0.0, layout.root):
            return [summaries.enrich(reader, chosen, env, request)]
    except LockTimeoutError as error:
        raise LockTimeoutError(
            "Another wc enrich is at work.", "Run it again when that one is done."
        ) from error
