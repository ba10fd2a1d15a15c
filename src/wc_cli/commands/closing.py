"""``wc close``: closes a thread, with an optional decision and last entry."""

from __future__ import annotations

from wc_cli.clock import now_ms
from wc_cli.commands.common import LocalTopicOptions, WriteOptions, fill_topic
from wc_cli.commands.writing import MessageOptions, saved_entry, write_entry
from wc_cli.entries import body, receipts
from wc_cli.options import command, flag, text
from wc_core.threads import vocabulary
from wc_core.threads.model import CLOSED
from wc_core.threads.proposals import Draft

TYPE_CHECKING = False
if TYPE_CHECKING:
    from wc_cli.context import Context


class CloseOptions(LocalTopicOptions, MessageOptions, WriteOptions):
    """Close a thread and free its ball. A text becomes its last entry."""

    decision: str = text(
        "--decision", "TEXT", "What was decided; saved as a separate entry."
    )
    reason: str = text(
        "--reason", "TEXT", "Why, if someone else has the ball (default: the title)."
    )
    force: bool = flag("--force", help="Close it even if it has open parts.")


@command(CloseOptions)
def close(context: Context, options: CloseOptions) -> None:
    """Close a thread."""
    fill_topic(context, options)
    closing = _closing_draft(context, options)
    if options.decision:
        # Check first: if the thread cannot be closed, nothing is written. On a retry,
        # the keys tell what was already written.
        if not options.key:
            context.writer().check(closing, now_ms())
        title = vocabulary.title(options.decision)
        kind = vocabulary.kind("decision")
        decision = Draft(options.topic, "ack", title, kind=kind)
        key = options.key
        options.key = f"{key}-decision" if key else ""
        receipt = saved_entry(context, options, decision)
        if not options.json:
            receipts.print_receipt(
                receipt, as_json=False, topic_first=context.took_local_topic
            )
        # The entry that --if-last names is no longer the last one.
        options.key, options.if_last = key, ""
    write_entry(context, options, closing)


def _closing_draft(context: Context, options: CloseOptions) -> Draft:
    message = body.message(context, options)
    action = "say" if message.title or message.body else "set_status"
    title = vocabulary.title(message.title) if message.title else f"Status: {CLOSED}"
    return Draft(
        options.topic,
        action,
        title,
        body=message.body,
        status=CLOSED,
        reason=vocabulary.reason(options.reason or message.title),
        force=options.force,
    )
