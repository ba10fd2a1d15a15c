"""What an agent would leave behind in its worktree besides balls and questions."""

from __future__ import annotations

import os

from wc_cli.edits.claims.holding import ClaimHolder, Holding
from wc_cli.edits.claims.registry import Registry
from wc_cli.ledger.branch.git import Git, GitError
from wc_core.base.layout import Layout

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from wc_cli.run.context import Context

# Folders of what programs fetch or make again.
_REMADE = frozenset(
    {"node_modules", "__pycache__", ".venv", "venv"}
    | {".pytest_cache", ".mypy_cache", ".ruff_cache"}
)


def own_claims(context: Context) -> list[str]:
    """Return the ids of the viewer's claims in this worktree."""
    repository = context.place.repository
    layout = Layout(context.place.root)
    if repository is None or not os.path.isdir(layout.held):
        return []
    registry = Registry(repository, layout, context.env)
    holder = ClaimHolder.of(context.viewer, repository, "")
    return [claim.id for claim in Holding(registry, holder, 0).own(registry.read())]


def ignored_files(top: str, env: Mapping[str, str]) -> list[str]:
    """Return the paths in a worktree that git ignores, of folders only the name, and
    without those that programs make again; none if git cannot read it."""
    words = ("--others", "--ignored", "--exclude-standard", "--directory", "-z")
    try:
        listed = Git(top, env).run("ls-files", *words)
    except GitError:
        return []
    paths = os.fsdecode(listed).split("\0")
    return [path for path in paths if path and not _REMADE & {*path.split("/")}]
