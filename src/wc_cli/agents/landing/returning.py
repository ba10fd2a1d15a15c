"""The entries of landings: that a branch has landed, or why it did not, and to whom its
ball goes."""

from __future__ import annotations

from wc_cli.edits.landing.building import REBASE
from wc_core.base.names import parse
from wc_core.base.phrases import counted
from wc_core.base.text import clean, command_line, one_line
from wc_core.ledger.threads import counterparts
from wc_core.ledger.threads.landings import CHECK, CONFLICT, Landing
from wc_core.ledger.threads.model import CLOSED, OPEN
from wc_core.ledger.threads.proposals import Draft

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from wc_cli.edits.landing.building import BuiltLanding
    from wc_cli.edits.landing.programs import CheckResult
    from wc_cli.edits.landing.publishing import LandingRecord
    from wc_cli.run.context import Context
    from wc_core.ledger.threads.model import Entry, State

SHORT = 9
_MAX_FILES = 8
_MAX_HUNK_LINES, _LINE = 24, 160
# How many lines of conflicts an entry has at most.
MAX_LINES = 80
_TITLE = 200


def landed_draft(state: State, record: LandingRecord) -> Draft:
    """Return the entry for a branch that has landed, which closes its thread."""
    short = record.commit[:SHORT]
    title = f"{record.onto} has all of its changes already, at {short}"
    if record.commit_count:
        commits = counted(record.commit_count, "commit")
        title = f"Landed on {record.onto} as {short} ({commits})"
    landing = Landing(record.onto, record.base, record.tip, record.commit)
    draft = Draft(
        state.topic,
        "say",
        title,
        record.checked,
        status=CLOSED,
        reason=f"its branch has landed on {record.onto}",
        commit_refs=(record.commit,),
        landing=landing,
    )
    if state.status == CLOSED:
        return draft._replace(action="ack", status="", reason="")
    return draft


def person_of(context: Context, state: State) -> str:
    """Return the person who asked for a thread, or whose agent asked."""
    directory = context.settings.directory
    return counterparts.person_for(state, context.identity.name, directory)


def author_of_branch(
    context: Context, state: State, branch: str, entries: Sequence[Entry]
) -> str:
    """Return who did the work: the author of the latest entry that was written on the
    branch, the one whose work was reviewed, or else the person who asked. It
    is not the person who lands it, or who approved it."""
    directory = context.settings.directory
    excluded = [str(context.identity.name), state.review.by]

    def may_be(name: str) -> bool:
        return bool(name) and not any(
            person and directory.same(name, person) for person in excluded
        )

    on_branch = [
        entry.agent
        for entry in reversed(entries)
        if entry.code_branch == branch and may_be(entry.agent)
    ]
    if may_be(state.review.of):
        on_branch.append(state.review.of)
    passers = [handover.by for handover in reversed(state.passes)]
    on_branch += [name for name in passers if directory.is_agent(parse(name))]
    author = next((name for name in on_branch if may_be(name)), "")
    return author or person_of(context, state)


def failed_draft(
    context: Context,
    state: State,
    branch: str,
    entries: Sequence[Entry],
    landing: Landing,
) -> Draft:
    """Return the entry for a branch that did not land, without its text: the ball goes
    to who wrote it, the second time in a row to the person who asked."""
    if state.landing.failures and not state.landing.commit:
        to = person_of(context, state)
    else:
        to = author_of_branch(context, state, branch, entries)
    return Draft(
        state.topic,
        "say",
        "",
        to=to,
        status=OPEN,
        force=True,
        reopen=True,
        reason=f"its branch does not land on {landing.onto}",
        landing=landing,
    )


def conflict_text(
    landing: Landing, branch: str, built: BuiltLanding, hunks: Iterable[str]
) -> tuple[str, str]:
    """Return the title and the body of an entry about conflicts."""
    paths = [path for path, _ in built.conflicts]
    named = ", ".join(map(one_line, paths[:2])) + ", …" * (len(paths) > 2)  # noqa: PLR2004
    title = f"Does not land on {landing.onto}: conflict in {named}"[:_TITLE]
    return title, "\n".join(_conflict_lines(landing, branch, built, hunks))


def _conflict_lines(
    landing: Landing, branch: str, built: BuiltLanding, hunks: Iterable[str]
) -> Iterator[str]:
    yield f"- {_tried(landing, branch)}"
    if built.picked:
        yield f"- the commit `{built.picked[:SHORT]}` does not apply"
    for path, kind in built.conflicts[:_MAX_FILES]:
        yield f"- `{one_line(path)}`" + (f" ({one_line(kind)})" if kind else "")
    hidden = len(built.conflicts) - _MAX_FILES
    if hidden > 0:
        yield f"- and {counted(hidden, 'file')} more"
    verb = REBASE if built.picked else "merge"
    command = f"git {verb} {landing.onto}"
    yield f"- to see it in the worktree of {one_line(branch)}: `{command}`"
    yield from hunks


def check_text(
    landing: Landing, branch: str, command: str, result: CheckResult
) -> tuple[str, str]:
    """Return the title and the body of an entry about a check that failed."""
    head, _, output = result.text.partition("\n")
    title = f"Does not land on {landing.onto}: the check failed ({head})"[:_TITLE]
    line = command_line(command)
    by_hand = f"git merge {landing.onto} && {line}"
    lines = [
        f"- {_tried(landing, branch)}",
        f"- the check: `{line}`, {head} after {round(result.seconds)} s",
        f"- to see it in the worktree of {one_line(branch)}: `{by_hand}`",
    ]
    return title, "\n".join((*lines, output))


def passed_text(command: str, result: CheckResult) -> str:
    """Return what an entry says about a check that passed."""
    _, _, output = result.text.partition("\n")
    lines = output.rstrip().splitlines()[-3:]
    head = f"The check passed in {round(result.seconds)} s: `{command_line(command)}`"
    return "\n".join((head, "", *lines)) if lines else head


def _tried(landing: Landing, branch: str) -> str:
    return (
        f"tried `{one_line(branch)}` at `{landing.tip[:SHORT]}` on "
        f"`{landing.onto}` at `{landing.base[:SHORT]}`"
    )


def failed_landing(onto: str, base: str, tip: str, *, checked: bool) -> Landing:
    """Return the landing of an entry about a failure."""
    return Landing(onto, base, tip, problem=CHECK if checked else CONFLICT)


def hunk_lines(
    path: str, content: bytes, sides: tuple[str, str], room: int
) -> Iterator[str]:
    """Yield the conflicts that are marked in a file, as a block of markdown, of at most
    ``room`` lines. The ``sides`` are the names of what was merged."""
    room = min(room, _MAX_HUNK_LINES)
    lines: list[str] = []
    is_inside = False
    for number, line in enumerate(content.splitlines(), 1):
        text = clean(line.decode(errors="replace"))[:_LINE]
        if text.startswith("<<<<<<< "):
            is_inside = True
            lines += [f"    {path}:{number}", f"    <<<<<<< {sides[0]}"]
        elif is_inside and text.startswith(">>>>>>> "):
            is_inside = False
            lines.append(f"    >>>>>>> {sides[1]}")
        elif is_inside:
            lines.append(f"    {text}")
    if not lines:
        return
    yield ""
    yield from lines[:room]
    if len(lines) > room:
        yield f"    … {counted(len(lines) - room, 'line')} more"
