"""``wc checklist`` and ``wc check-off``: the steps of a thread."""

from __future__ import annotations

from wc_cli.commands.common import WriteOptions
from wc_cli.commands.writing import write_entry
from wc_cli.ledger.plan import checklists as drafts
from wc_cli.run.options import argument, command, flag, words
from wc_cli.run.output import remark, say, say_json
from wc_core.base.errors import InvalidInputError
from wc_core.base.phrases import quoted
from wc_core.base.text import one_line
from wc_core.ledger.planning import checklists

TYPE_CHECKING = False
if TYPE_CHECKING:
    from wc_cli.run.context import Context
    from wc_core.ledger.threads.model import State
    from wc_core.ledger.threads.proposals import Draft

_ADD, _REMOVE = "add", "remove"


class ChecklistOptions(WriteOptions):
    """Show the checklist of a thread, add items to it, or remove some."""

    topic: str = argument("TOPIC", "The thread.", complete="topic")
    words: tuple[str, ...] = words(
        "add TEXT... | remove N...", "Default: show the list.", default=()
    )


class CheckOffOptions(WriteOptions):
    """Check off items of a checklist; the ball stays where it is."""

    topic: str = argument("TOPIC", "The thread.", complete="topic")
    numbers: tuple[str, ...] = words(
        "N...", "The numbers of the items in wc checklist, or words of one."
    )
    undo: bool = flag("--undo", help="Uncheck them.")


@command(ChecklistOptions)
def checklist(context: Context, options: ChecklistOptions) -> None:
    """Show or change a checklist."""
    if not options.words:
        _show(context, options)
        return
    verb, *arguments = options.words
    if verb not in {_ADD, _REMOVE} and not arguments:
        verb, arguments = _ADD, [verb]
    if verb not in {_ADD, _REMOVE} or not arguments:
        raise InvalidInputError(
            "A checklist can only be shown, extended or shortened.",
            f"Write: wc checklist {quoted(options.topic)} add "
            f"{quoted(' '.join(arguments) or 'a step')}, or: "
            f"wc checklist {quoted(options.topic)} remove 2",
        )
    if verb == _ADD:
        (draft,) = drafts.additions(context.reader, {options.topic: arguments})
    else:
        draft = drafts.removal(context.reader, options.topic, arguments)
    _write(context, options, draft)


@command(CheckOffOptions)
def check_off(context: Context, options: CheckOffOptions) -> None:
    """Check off items."""
    draft = drafts.checking_off(
        context.reader, options.topic, options.numbers, undo=options.undo
    )
    _write(context, options, draft)


def _write(context: Context, options: WriteOptions, draft: Draft) -> None:
    """Write the entry and print the checklist's progress."""
    write_entry(context, options, draft)
    if not options.json:
        items = context.reader.snapshot(draft.topic).state.items
        say(f"{checklists.progress(items)} · {one_line(draft.title)}".lstrip(" ·"))


def _show(context: Context, options: ChecklistOptions) -> None:
    context.remember()
    state: State = context.reader.snapshot(context.reader.find(options.topic)).state
    if options.json:
        fields = {"store": context.store, "topic": state.name}
        say_json(fields | checklists.to_json(state.items))
        return
    say("\n".join(map(one_line, checklists.lines(state.items))))
    if not state.items:
        name = one_line(state.name)
        remark(f"There is no checklist. Start one: wc checklist {name} add 'a step'")
