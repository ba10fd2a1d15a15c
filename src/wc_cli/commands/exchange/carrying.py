"""``wc carry`` and ``wc harvest``: entries that travel with a branch of the code."""

from __future__ import annotations

from wc_cli.bridges import elsewhere
from wc_cli.bridges.carry import automatic, harvesting
from wc_cli.commands.common import SpeakerOptions
from wc_cli.ledger.sync.exchange import Waiting
from wc_cli.run.entries import receipts
from wc_cli.run.options import command, flag, number, words
from wc_cli.run.output import remark, say, say_json
from wc_core.base.errors import InvalidInputError, NotFoundError
from wc_core.base.phrases import counted, quoted
from wc_core.base.text import one_line
from wc_core.ledger.carry import modes
from wc_core.ledger.configuration.keys import OFF
from wc_core.ledger.git.discovery import BRANCH_STORE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from wc_cli.run.context import Context
    from wc_core.ledger.git.carried import Carried
    from wc_core.ledger.git.repository import Repository

_NOTHING = "Nothing to carry: all entries have arrived."
_NOTHING_CAN = "Nothing can be carried."


class CarryOptions(SpeakerOptions):
    """Have entries that cannot be pushed travel with the branch of the code that is
    checked out here: in a commit that changes no file, or, without a remote, in a file.
    Pushes nothing."""

    dry_run: bool = flag("--dry-run", help="Only show what it would carry.")


class HarvestOptions(SpeakerOptions):
    """Take the entries that travel with branches of agents, and add them to their
    threads. Waits for the remote; 'wc sync' does the same."""

    branches: tuple[str, ...] = words(
        "BRANCH...", "Branches (default: those in carry.from).", default=()
    )
    dry_run: bool = flag("--dry-run", help="Only show what it would take.")
    forget: bool = flag("--forget", help="Forget what was refused until now.")
    timeout: int | None = number(
        "--timeout", "Wait at most N seconds for the remote.", default=None
    )


@command(CarryOptions)
def carry(context: Context, options: CarryOptions) -> None:
    """Carry entries."""
    code = _code(context)
    if modes.mode(context.settings, context.env) == OFF:
        raise InvalidInputError(
            "Carrying is turned off here.", "See who did: wc config get carry.mode"
        )
    context.adopt()
    root = context.place.root
    if not context.place.exists:
        raise NotFoundError(
            "There are no threads here, so nothing can be carried.",
            "Start one with: wc new TOPIC -m '…'",
        )
    result = automatic.carry(root, code, context.env, dry_run=options.dry_run)
    if options.json:
        say_json(
            {
                **result.to_json(),
                "uncarried": result.uncarried,
                "dry_run": options.dry_run,
            }
        )
    else:
        say(one_line(_carried_sentence(result, code, dry_run=options.dry_run)))
    patterns = context.settings.agents_branches
    if result.carrier and not modes.is_agents(result.branch, patterns):
        branch = one_line(result.branch)
        command = f"wc harvest {quoted(branch)}"
        remark(f"note: {branch} is not in carry.from; take them with: {command}")
    if result.uncarried:
        entries = counted(result.uncarried, "entry", "entries")
        remark(f"note: {entries} cannot travel: too long, or not by an agent")


def _carried_sentence(result: Carried, code: Repository, *, dry_run: bool) -> str:
    if not result.ids:
        return _NOTHING_CAN if result.uncarried else _NOTHING
    if dry_run:
        entries = counted(len(result.ids), "entry", "entries")
        return f"{entries} would travel with {result.way}"
    return result.sentence(code)


@command(HarvestOptions)
def harvest(context: Context, options: HarvestOptions) -> None:
    """Harvest entries."""
    _code(context)
    if options.forget:
        _forget(context, options)
        return
    limit = context.settings.limit if options.timeout is None else options.timeout
    context.writer()
    result = automatic.harvest(
        context.place.root,
        context.env,
        Waiting.at_most(limit),
        branches=options.branches,
        dry_run=options.dry_run,
    )
    if options.json:
        refused = {
            name: [row._asdict() for row in rows]
            for name, rows in result.refused.items()
        }
        branches = {name: dict(topics) for name, topics in result.branches.items()}
        say_json({"branches": branches, "refused": refused, "dry_run": options.dry_run})
    else:
        nothing = ["nothing new on the branches of agents"]
        for line in result.lines(dry_run=options.dry_run) or nothing:
            say(one_line(line))
    for note in result.notes:
        remark(f"note: {one_line(note)}")
    if options.dry_run:
        return
    for note in receipts.start_settling(context):
        remark(f"note: {one_line(note)}")
    if context.settings.sync != OFF:
        elsewhere.inform_person(context.place.root, context.env)


def _forget(context: Context, options: HarvestOptions) -> None:
    """Forget what was refused, so that `wc doctor` no longer names it."""
    count = harvesting.forget_refused(context.place.root)
    if options.json:
        say_json({"forgotten": count})
    else:
        say(f"{counted(count, 'problem')} forgotten")


def _code(context: Context) -> Repository:
    """The worktree of the code. Raises InvalidInputError if the store has no branch of
    its own, whose entries travel with the code anyway."""
    place = context.place
    if place.kind != BRANCH_STORE or place.repository is None:
        raise InvalidInputError(
            f"The store {context.store} has no branch of its own.",
            "A store in the code's tree travels with the code; one outside git "
            "has to be copied.",
        )
    return place.repository
