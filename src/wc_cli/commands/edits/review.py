"""``wc review``: what changed in the code since you last had the ball."""

from __future__ import annotations

from wc_cli.commands.common import LocalTopicOptions, fill_topic
from wc_cli.edits.review import approving
from wc_cli.edits.review.comparing import compare
from wc_cli.run.options import command, flag, text
from wc_cli.run.output import remark, say, say_json
from wc_cli.run.terminal import pager
from wc_cli.run.terminal.style import is_for_people, output_style
from wc_core.base.errors import InvalidInputError
from wc_core.base.text import clean, one_line
from wc_core.edits.review.commits import CHANGED
from wc_core.edits.review.points import Points, points
from wc_core.reading.views import entries as entry_views

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from wc_cli.edits.review.comparing import Comparison
    from wc_cli.run.context import Context
    from wc_cli.run.terminal.style import Style
    from wc_core.edits.review.commits import RewrittenCommit
    from wc_core.ledger.threads.reader import Thread

_COLORS = {"+": "32", "-": "31", "@": "36"}
_HEADS = ("diff ", "index ", "--- ", "+++ ", "new file", "deleted file", "rename ")
_BOLD = "1"
_MAX_COMMITS, _SHORT = 30, 7


class ReviewOptions(LocalTopicOptions):
    """Show what changed in the code since you last had the ball, including uncommitted
    changes; nothing is touched."""

    since: str = text("--since", "ENTRY", "Since this entry: its number or id.")
    stat: bool = flag("--stat", help="Only the files, and how much changed.")


@command(ReviewOptions)
def review(context: Context, options: ReviewOptions) -> None:
    """Compare two points of the code."""
    repository = context.place.repository
    if repository is None:
        raise InvalidInputError(
            "Only the code of a git repository can be reviewed.",
            "Run it in a worktree.",
        )
    fill_topic(context, options)
    thread = context.reader.thread(context.reader.find(options.topic))
    pair = points(thread.entries, context.viewer)
    if options.since:
        pair = _since(thread, options.since, pair)
    result = compare(thread, pair, context.viewer, repository, context.env)
    _note_shown(context, thread, pair, result)
    if options.json:
        _print_json(context, thread, result, stat=options.stat)
        return
    _print(context, f"{thread.name}: {result.title}", result, stat=options.stat)
    for note in result.notes:
        remark(f"note: {one_line(note)}")


def _note_shown(
    context: Context, thread: Thread, pair: Points, result: Comparison
) -> None:
    """Remember which commit of the branch that an approval would be about is shown."""
    repository = context.place.repository
    if repository is None or not result.head.tip:
        return
    branch = pair.head.code_branch if pair.head else repository.working_branch
    author = context.identity.author
    if branch == approving.reviewed_branch(thread, author, repository):
        approval = approving.Approval(branch, result.head.tip)
        approving.note_shown(thread, context.viewer, repository, approval)


def _since(thread: Thread, position: str, pair: Points) -> Points:
    """The same points, but starting with an entry."""
    entry = entry_views.find_entry(thread, position, history=True).entry
    head = pair.head
    is_fork = head is not None and head.code_branch != entry.code_branch
    return pair._replace(base=entry, is_fork=is_fork)


def _print_json(
    context: Context, thread: Thread, result: Comparison, *, stat: bool
) -> None:
    fields = {
        "store": context.store,
        "topic": thread.name,
        "from": result.base.to_json(),
        "to": result.head.to_json(),
        "commits": [commit.to_json() for commit in result.commits],
        "files": [file._asdict() for file in result.files],
        "notes": list(result.notes),
    }
    say_json(fields if stat else {**fields, "diff": result.diff})


def _print(context: Context, title: str, result: Comparison, *, stat: bool) -> None:
    """Print the title: to standard error, or as the first line in a pager."""
    diff = result.stat if stat else result.diff
    commits = list(_commit_lines(result.commits))
    if not diff:
        name, _, points_text = one_line(title).partition(": ")
        topic = f"{name}: " if context.took_local_topic else ""
        for line in (f"{topic}Nothing changed {points_text}.", *commits):
            remark(line)
        return
    style = output_style(context.env)
    parts = (_line(line, style) for line in diff.rstrip("\n").split("\n"))
    if is_for_people(context.env):
        head = "\n".join((style(one_line(title), _BOLD), *commits))
        pages = (f"{head}\n\n", *(f"{p}\n" for p in parts))
        pager.page_parts(pages, pager.person_pager(context.env), context.env)
        return
    for line in (one_line(title), *commits):
        remark(line)
    say("\n".join(parts))


def _commit_lines(commits: Sequence[RewrittenCommit]) -> Iterator[str]:
    """A line for each commit of a history that was rewritten."""
    for commit in commits[:_MAX_COMMITS]:
        shown = (commit.new or commit.old)[:_SHORT]
        before = f" (was {commit.old[:_SHORT]})" if commit.change == CHANGED else ""
        yield f"  {commit.change:<9} {shown} {one_line(commit.subject)}{before}"
    if len(commits) > _MAX_COMMITS:
        yield f"  and {len(commits) - _MAX_COMMITS} more: --json"


def _line(line: str, style: Style) -> str:
    """Return a line of a diff, coloured as git does."""
    cleaned = clean(line)
    if line.startswith(_HEADS):
        return style(cleaned, _BOLD)
    color = _COLORS.get(line[:1], "")
    return style(cleaned, color) if color else cleaned
