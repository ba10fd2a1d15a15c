"""Typed words to the repository and the ids that a command is about."""

from __future__ import annotations

from wc_core.base.errors import InvalidInputError
from wc_core.edits.claims import ids
from wc_core.ledger.git import config

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from wc_cli.run.context import Context
    from wc_core.edits.claims.ids import ClaimId
    from wc_core.ledger.git.repository import Repository


def repository_of(context: Context) -> Repository:
    """The repository of the current folder. Raises InvalidInputError without one."""
    repository = context.place.repository
    if repository is None or not repository.top:
        raise InvalidInputError(
            "Claims are kept in a git repository; this is not a worktree of one.",
            "Run it in a worktree.",
        )
    return repository


def targets_of(context: Context, typed: Sequence[str]) -> list[ClaimId]:
    """The ids of the typed words. Raises InvalidInputError."""
    repository = repository_of(context)
    setting = config.get("core.ignorecase", repository, context.env)
    ignore_case = config.is_true(setting)
    return [
        ids.canonical(word, context.cwd, repository.top, ignore_case=ignore_case)
        for word in typed
    ]
