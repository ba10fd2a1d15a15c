"""``wc wrap``: what would be left behind at the end of a session, and passing it on."""

from __future__ import annotations

from wc_cli.agents.wrap import leftovers, passing
from wc_cli.agents.wrap.passing import Handover
from wc_cli.agents.wrap.text import leftovers_text
from wc_cli.commands.edits.claims import ChangeOptions, holding_of
from wc_cli.run.entries import receipts
from wc_cli.run.entries.body import body_text
from wc_cli.run.options import command, flag, text
from wc_cli.run.output import remark, say, say_json
from wc_cli.run.terminal.style import output_style
from wc_core.base.errors import FindingsError, InvalidInputError
from wc_core.base.phrases import counted
from wc_core.base.text import one_line
from wc_core.ledger.threads import vocabulary

TYPE_CHECKING = False
if TYPE_CHECKING:
    from wc_cli.agents.wrap.leftovers import Leftovers
    from wc_cli.ledger.store.lockedthread import Receipt
    from wc_cli.run.context import Context


class WrapOptions(ChangeOptions):
    """Show what you would leave behind: balls, claims, questions to you, uncommitted or
    unpushed work. Exits 9 if there is anything."""

    handoff: str = text(
        "--handoff", "NAME", "Pass all balls to NAME, release claims.", complete="agent"
    )
    note: str = text(
        "--note", "TEXT", "What NAME should know; '-' reads standard input."
    )
    force: bool = flag("--force", help="Allow a new name.")


@command(WrapOptions)
def wrap(context: Context, options: WrapOptions) -> None:
    """Show what would be left behind, or pass it on."""
    if options.note and not options.handoff:
        raise InvalidInputError(
            "A note needs a handoff.", "Name the next holder: wc wrap --handoff NAME"
        )
    left = leftovers.gather(context)
    if options.handoff:
        _pass_on(context, options, left)
        return
    if options.json:
        say_json({"store": context.store} | left.to_json())
    else:
        say(leftovers_text(left, output_style(context.env)))
    if left.worktree.problem:
        remark(f"note: git could not be run: {one_line(left.worktree.problem)}")
    if not left.is_empty:
        raise FindingsError(
            f"Left behind: {', '.join(left.counts())}.",
            "Finish it, or pass it on: wc wrap --handoff NAME --note '…'",
        )


def _pass_on(context: Context, options: WrapOptions, left: Leftovers) -> None:
    """Hand off the balls and release the claims."""
    to = vocabulary.required(vocabulary.name(options.handoff), "name")
    if not (left.balls or left.claims):
        raise InvalidInputError(
            "You have no balls or claims to pass on.",
            "See what is left: wc wrap",
        )
    note = body_text(options.note, context)
    written = passing.pass_balls(context, left, Handover(to, note, options.force))
    notes = receipts.start_settling(context)
    released: list[str] = []
    if left.claims:
        holding = holding_of(context, options, renews=False)
        released = holding.release(None)
        notes += holding.notes
    _report(context, options, written, released)
    for line in notes:
        remark(f"note: {one_line(line)}")


def _report(
    context: Context,
    options: WrapOptions,
    written: list[Receipt],
    released: list[str],
) -> None:
    if options.json:
        receipts_json = [receipt.to_json() for receipt in written]
        fields = {"handed_off": receipts_json, "released": released}
        say_json({"store": context.store} | fields)
        return
    for receipt in written:
        receipts.print_receipt(receipt, as_json=False)
    if released:
        names = ", ".join(map(one_line, released))
        say(f"released {counted(len(released), 'claim')}: {names}")
