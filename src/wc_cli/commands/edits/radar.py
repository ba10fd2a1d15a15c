"""The commands that foretell conflicts: the radar, and one pair of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wc_cli.branch.git import GitError
from wc_cli.options import Options, argument, command, flag
from wc_cli.output import remark, say, say_json
from wc_cli.radar.scan import Radar
from wc_cli.terminal import radar as rendering
from wc_cli.terminal import render
from wc_core.errors import InvalidInputError, NotFoundError, StorageError
from wc_core.layout import Layout
from wc_core.phrases import quoted
from wc_core.text import one_line
from wc_core.times import rfc3339

if TYPE_CHECKING:
    from typing import Any

    from wc_cli.context import Context
    from wc_core.git.repository import Repository
    from wc_core.radar.report import Report


class RadarOptions(Options):
    """Show which worktrees change the same files, and where they will conflict.
    Uncommitted changes count."""

    remote: bool = flag("--remote", help="Fetched branches of others, too.")
    json: bool = flag("--json", help="Answer in JSON.")


class ConflictsOptions(Options):
    """Show what will conflict between this worktree and the others, or one."""

    branch: str = argument("BRANCH", "A branch or worktree; else all.", default="")
    json: bool = flag("--json", help="Answer in JSON.")


@command(RadarOptions)
def radar(context: Context, options: RadarOptions) -> None:
    """Show all trees and pairs."""
    repository = _repository(context)
    report = _scan(context, repository, remote=options.remote)
    if options.json:
        say_json(_report_json(report, repository))
        return
    style = render.output_style(context.env)
    say(rendering.radar_text(report, repository.top, style))
    for problem in report.problems:
        remark(f"left out: {one_line(problem)}")


@command(ConflictsOptions)
def conflicts(context: Context, options: ConflictsOptions) -> None:
    """Show the pairs of this worktree."""
    repository = _repository(context)
    report = _scan(context, repository, remote=bool(options.branch))
    own = report.tree_at(repository.top)
    if own is None:
        raise InvalidInputError(
            "There is no worktree with a commit current.", "Run it in a worktree."
        )
    pairs = report.pairs_of(own.name)
    if options.branch:
        other = _tree_name(report, options.branch)
        pairs = tuple(pair for pair in pairs if pair.other(own.name) == other)
    if options.json:
        say_json({"tree": own.name, "pairs": [pair.to_json() for pair in pairs]})
        return
    style = render.output_style(context.env)
    blocks = ("\n".join(rendering.pair_lines(pair, style)) for pair in pairs)
    say("\n\n".join(blocks) or "Nothing that others change, too.")


def _repository(context: Context) -> Repository:
    repository = context.place.repository
    if repository is None:
        raise InvalidInputError(
            "This is no git repository.", "The radar compares the worktrees of one."
        )
    return repository


def _scan(context: Context, repository: Repository, *, remote: bool) -> Report:
    scanner = Radar(repository, Layout(context.place.root), context.env)
    try:
        return scanner.scan(remote=remote)
    except GitError as error:
        raise StorageError(
            f"The worktrees could not be compared: {error}.",
            "See whether git works current: git status",
        ) from error


def _report_json(report: Report, repository: Repository) -> dict[str, Any]:
    current = report.tree_at(repository.top)
    return {
        "at": rfc3339(report.at_ms),
        "here": current.name if current is not None else None,
        "trees": [tree.to_json() for tree in report.trees],
        "pairs": [pair.to_json() for pair in report.pairs],
        "problems": list(report.problems),
    }


def _tree_name(report: Report, branch: str) -> str:
    """The name of the tree that a user means by its name or its branch."""
    for tree in report.trees:
        if branch in (tree.name, tree.branch):
            return tree.name
    names = ", ".join(one_line(tree.name) for tree in report.trees)
    raise NotFoundError(
        f"There is no worktree or fetched branch {quoted(branch)}.",
        f"There are: {names}" if names else "There are none.",
    )
