"""``wc ask`` and ``wc answer``: a question to someone, and its answer."""

from __future__ import annotations

from wc_cli.commands.writing import EditorOptions, EntryOptions, write_entry
from wc_cli.run.entries import body
from wc_cli.run.options import REQUIRED, argument, command, flag, text
from wc_core.ledger.remarks.questions import ANY_QUESTION
from wc_core.ledger.threads import vocabulary
from wc_core.ledger.threads.model import QUESTION
from wc_core.ledger.threads.proposals import Draft

TYPE_CHECKING = False
if TYPE_CHECKING:
    from wc_cli.run.context import Context

_ANSWER_TITLE, _WITHDRAWAL_TITLE = "Answer", "Question withdrawn"


class AskOptions(EntryOptions, EditorOptions):
    """Ask someone a question; until it is answered, you cannot pass the ball on."""

    usual = "--to --message --body --file --force --summary --edit --key --as --json"

    topic: str = argument("TOPIC", "The thread.", complete="topic")
    to: str = text(
        "--to", "NAME", "Whom to ask (or: asker).", default=REQUIRED, complete="agent"
    )
    force: bool = flag("--force", help="Allow a new name.")


class AnswerOptions(EntryOptions, EditorOptions):
    """Answer a question that you were asked; the ball stays where it is."""

    usual = (
        "--message --body --withdraw --force --file --summary --edit --key --as --json"
    )

    topic: str = argument("TOPIC", "The thread.", complete="topic")
    question: str = argument(
        "N", "The question's number, if there are several.", default=""
    )
    withdraw: bool = flag("--withdraw", help="Withdraw your own question instead.")
    force: bool = flag("--force", help="Answer in place of the person who was asked.")


@command(AskOptions)
def ask(context: Context, options: AskOptions) -> None:
    """Ask someone."""
    draft = _entry_draft(context, options, body.message(context, options))
    to = vocabulary.required(options.to, "name")
    draft = draft._replace(kind=QUESTION, to=to, force=options.force)
    _write_text(context, options, draft, "ask")


@command(AnswerOptions)
def answer(context: Context, options: AnswerOptions) -> None:
    """Answer or withdraw a question."""
    title = _WITHDRAWAL_TITLE if options.withdraw else ""
    if options.body and not (options.withdraw or options.edit):
        title = _ANSWER_TITLE
    message = body.message(context, options, title)
    draft = _entry_draft(context, options, message)
    draft = draft._replace(
        answers=options.question or ANY_QUESTION,
        withdraws=options.withdraw,
        force=options.force,
    )
    _write_text(context, options, draft, "answer")


def _write_text(
    context: Context, options: AskOptions | AnswerOptions, draft: Draft, command: str
) -> None:
    edit = options.opens_editor
    with body.entry_text(context, draft, edit=edit, command=command) as complete:
        write_entry(context, options, complete)


def _entry_draft(
    context: Context, options: AskOptions | AnswerOptions, message: body.Message
) -> Draft:
    draft = Draft(
        options.topic,
        "ack",
        message.title,
        body=message.body,
        role=vocabulary.role(options.role),
        type=vocabulary.entry_type(options.type),
    )
    return options.added_to(draft, context)
