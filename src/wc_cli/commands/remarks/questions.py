"""``wc ask`` and ``wc answer``: a question to someone, and its answer."""

from __future__ import annotations

from wc_cli.commands.common import (
    TEXTS,
    AddressedOptions,
    LocalTopicOptions,
    fill_topic,
    lacks_topic,
    use_local_topic,
)
from wc_cli.commands.writing import EditorOptions, EntryOptions, write_entry
from wc_cli.run.entries import body
from wc_cli.run.options import argument, command, flag, text
from wc_core.attention.status.balls import folders_of
from wc_core.base.errors import InvalidInputError
from wc_core.base.phrases import quoted
from wc_core.base.text import one_line
from wc_core.ledger.remarks.questions import ANY_QUESTION, Questions
from wc_core.ledger.threads import vocabulary
from wc_core.ledger.threads.model import QUESTION
from wc_core.ledger.threads.proposals import Draft

TYPE_CHECKING = False
if TYPE_CHECKING:
    from wc_cli.run.context import Context

_ANSWER_TITLE, _WITHDRAWAL_TITLE = "Answer", "Question withdrawn"


class AskOptions(AddressedOptions, EntryOptions, EditorOptions):
    """Ask someone a question; until it is answered, you cannot pass the ball on."""

    usual = "--to --message --body --file --force --summary --edit"
    bare = ("to", "message")

    to: str = text("--to", "NAME", "Whom to ask (or: asker).", complete="agent")
    force: bool = flag("--force", help="Allow a new name.")

    def took_text(self, context: Context) -> None:
        """If a text was given without a flag and without a name, take it as such."""
        is_alone = "to" in self.taken_bare and not self.message
        is_text = len(self.to.split()) > 1 or self.to.endswith("?")
        if is_alone and is_text and not context.writer().knows(self.to):
            self.message, self.to = (self.to,), ""


class AnswerOptions(LocalTopicOptions, EntryOptions, EditorOptions):
    """Answer a question that you were asked; the ball stays where it is."""

    usual = "--message --body --withdraw --force --file --summary --edit"

    topic: str = argument(
        "TOPIC",
        "The thread (default: the one with a question to you, or of this worktree).",
        default=None,
        complete="topic",
    )
    question: str = argument(
        "N", "The question's number, if there are several.", default="", numbered=True
    )
    withdraw: bool = flag("--withdraw", help="Withdraw your own question instead.")
    force: bool = flag("--force", help="Answer in place of the person who was asked.")


@command(AskOptions)
def ask(context: Context, options: AskOptions) -> None:
    """Ask someone."""
    fill_topic(context, options)
    options.took_text(context)
    draft = _entry_draft(context, options, body.message(context, options))
    if not options.to:
        raise InvalidInputError(
            "A question needs someone to answer it.",
            f"Name them: wc ask {quoted(options.topic)} --to NAME -m '…'",
        )
    draft = draft._replace(kind=QUESTION, to=options.to, force=options.force)
    _write_text(context, options, draft, "ask")


@command(AnswerOptions)
def answer(context: Context, options: AnswerOptions) -> None:
    """Answer or withdraw a question."""
    if lacks_topic(context, options):
        _fill_asking_topic(context, options)
    if options.question and not any(getattr(options, name) for name in TEXTS):
        _take_number_as_text(context, options)
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


def _take_number_as_text(context: Context, options: AnswerOptions) -> None:
    """If the number is alone, and that of no open question, take it as the text: the
    answer may be a number."""
    topic = context.reader.lookup(options.topic)
    if topic is None or options.withdraw:
        return
    thread, viewer = context.reader.thread(topic), context.viewer
    questions = Questions(
        thread.state, thread.entries, viewer.identity.name, viewer.directory
    )
    if not questions.has_open(options.question):
        options.message, options.question = (options.question,), ""


def _fill_asking_topic(context: Context, options: AnswerOptions) -> None:
    """Fill in the topic of the only thread with an open question to the viewer, else of
    this worktree's thread. Raises InvalidInputError if several have one."""
    questions = context.balls.asked(folders_of(context.viewer))
    topics = list(dict.fromkeys(question.topic for question in questions))
    if options.withdraw or not topics:
        use_local_topic(context, options)
    elif len(topics) == 1:
        options.topic, context.took_local_topic = topics[0], True
    else:
        listed = ", ".join(map(one_line, topics))
        raise InvalidInputError(
            f"{len(topics)} threads have questions to you: {listed}.",
            f"Say which: wc answer {quoted(topics[0])} -m '…'",
        )


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
