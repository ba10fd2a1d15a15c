"""``wc close``: closes a thread, with an optional decision and last entry."""

from __future__ import annotations

from wc_cli.commands.common import LocalTopicOptions, WriteOptions, fill_topic
from wc_cli.commands.writing import (
    EditorOptions,
    MessageOptions,
    saved_entry,
    write_entry,
)
from wc_cli.run.entries import body, receipts
from wc_cli.run.options import command, flag, text
from wc_core.base.errors import InvalidInputError
from wc_core.base.phrases import quoted
from wc_core.ledger.threads import vocabulary
from wc_core.ledger.threads.model import CLOSED
from wc_core.ledger.threads.proposals import Draft

TYPE_CHECKING = False
if TYPE_CHECKING:
    from wc_cli.run.context import Context


class CloseOptions(LocalTopicOptions, MessageOptions, EditorOptions, WriteOptions):
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
    _check_is_text(options)
    message = body.message(context, options)
    draft = Draft(options.topic, "say", message.title, body=message.body)
    if not options.edit:
        _close(context, options, draft)
        return
    with body.entry_text(context, draft, edit=True, command="close") as written:
        _close(context, options, written)


def _check_is_text(options: CloseOptions) -> None:
    """Raise InvalidInputError if the text is one word without a flag: many who type two
    words mean to close two threads."""
    if "message" in options.taken_bare and len(options.message[0].split()) == 1:
        topic, word = quoted(options.topic), options.message[0]
        raise InvalidInputError(
            f"wc close closes one thread, and {word!r} is another word.",
            f"If it is the text: wc close {topic} -m {quoted(word)}; "
            f"if it is a thread: wc close {quoted(word)}",
        )


def _close(context: Context, options: CloseOptions, draft: Draft) -> None:
    """Close the thread by an entry with the draft's text, or without any."""
    closing = _closing_draft(options, draft)
    if options.decision:
        # Check first: if the thread cannot be closed, nothing is written. On a retry,
        # the keys tell what was already written.
        if not options.key:
            context.writer().check(closing)
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


def _closing_draft(options: CloseOptions, draft: Draft) -> Draft:
    return draft._replace(
        action="say" if draft.title or draft.body else "set_status",
        title=vocabulary.title(draft.title or f"Status: {CLOSED}"),
        status=CLOSED,
        reason=vocabulary.reason(options.reason or draft.title),
        force=options.force,
        must_exist=True,
    )
