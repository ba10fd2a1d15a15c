"""The commands that correct an entry: amend and retract."""

from __future__ import annotations

from wc_cli.commands.common import WriteOptions
from wc_cli.commands.writing import EditorOptions, MessageOptions, write_entry
from wc_cli.run.entries import body
from wc_cli.run.options import argument, command, text
from wc_core.ledger.threads import revisions, vocabulary
from wc_core.ledger.threads.proposals import Draft

TYPE_CHECKING = False
if TYPE_CHECKING:
    from wc_cli.run.context import Context


class AmendOptions(MessageOptions, EditorOptions, WriteOptions):
    """Replace the text of your last entry; the log keeps the earlier one."""

    topic: str = argument("TOPIC", "The thread.", complete="topic")
    title: str = text(
        "--title", "TITLE", "The new title (default: unchanged).", short="-t"
    )
    body: str | None = text(  # type: ignore[assignment]
        "--body",
        "TEXT",
        "The new text ('' for none); '-' reads standard input, '@FILE' a file.",
        default=None,
        short="-b",
    )


class RetractOptions(WriteOptions):
    """Remove the text of your last entry from view; the log keeps it."""

    topic: str = argument("TOPIC", "The thread.", complete="topic")


@command(AmendOptions)
def amend(context: Context, options: AmendOptions) -> None:
    """Replace the text of an entry."""
    draft = Draft(options.topic, revisions.AMEND, options.title)
    message = body.message(context, options)
    is_given = options.title or options.message or options.from_file
    if (is_given or options.body is not None) and not options.edit:
        draft = draft._replace(
            title=vocabulary.title(message.title) if message.title else "",
            body=message.body,
            keeps_body=options.body is None and not message.body,
        )
        write_entry(context, options, draft)
        return
    before = _text_before(context, options.topic)
    if is_given:
        before = f"{message.title}\n\n{message.body}"
    edit = options.opens_editor
    with body.entry_text(context, draft, edit=edit, before=before) as complete:
        write_entry(context, options, complete)


def _text_before(context: Context, topic: str) -> str:
    """Return the text of the last entry, to start the editor with."""
    reader = context.reader
    latest = revisions.last_text(reader.thread(reader.find(topic)).entries)
    if latest is None or latest.retracted:
        return ""
    return f"{latest.entry.title}\n\n{latest.entry.body}"


@command(RetractOptions)
def retract(context: Context, options: RetractOptions) -> None:
    """Remove the text of an entry from view."""
    write_entry(context, options, Draft(options.topic, revisions.RETRACT, "Retracted"))
