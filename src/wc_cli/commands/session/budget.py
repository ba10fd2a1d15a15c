"""``wc budget``: how many tokens may be spent on a thread."""

from __future__ import annotations

from wc_cli.commands.common import WriteOptions
from wc_cli.commands.writing import write_entry
from wc_cli.run.options import argument, command, flag
from wc_cli.run.output import say, say_json
from wc_core.base.errors import ConflictError, InvalidInputError
from wc_core.base.text import one_line
from wc_core.ledger.threads.proposals import Draft
from wc_core.people.cost import budgets, ledger

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from wc_cli.run.context import Context
    from wc_core.ledger.threads.model import State


class BudgetOptions(WriteOptions):
    """Limit how many tokens may be spent on a thread, or show how many were spent. When
    the limit is reached, a person gets the ball."""

    topic: str = argument("TOPIC", "The thread.", complete="topic")
    tokens: str = argument("TOKENS", "Such as 200k or 1.5m.", default="")
    remove: bool = flag("--remove", help="Remove the limit.")


@command(BudgetOptions)
def budget(context: Context, options: BudgetOptions) -> None:
    """Set, remove or show a budget."""
    state = context.reader.snapshot(context.reader.find(options.topic)).state
    if options.tokens and options.remove:
        raise InvalidInputError(
            "A number of tokens and --remove exclude each other.", "Use one of them."
        )
    if not (options.tokens or options.remove):
        _show(context, options, state)
        return
    tokens = budgets.parse(options.tokens) if options.tokens else 0
    if options.remove and not state.budget:
        raise ConflictError(f"{state.name} has no budget.", "Nothing was written.")
    title = f"Budget: {tokens:,} tokens" if tokens else "The limit is removed"
    write_entry(context, options, Draft(state.topic, "budget", title, budget=tokens))


def _show(context: Context, options: BudgetOptions, state: State) -> None:
    """Print a thread's budget, and what was spent on this machine."""
    rows = ledger.rows(ledger.all_costs(context.reader.layout))
    spent = budgets.spent(rows, state.topic)
    if options.json:
        fields: dict[str, Any] = {"store": context.store, "topic": state.name}
        say_json(fields | {"budget": state.budget or None, "spent": spent})
        return
    limit = f"of {state.budget:,}" if state.budget else "and has no budget"
    say(one_line(f"{state.name} has spent {spent:,} tokens here {limit}"))
