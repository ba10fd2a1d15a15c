"""The files that a command line names, as paths from the top of the repository."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from wc_cli.context import Context


def repository_path(written: str, context: Context) -> str:
    """Returns a path that was written in the current folder, from the top of the
    worktree.

    A path that only exists from the top is taken as written, and so is everything
    outside of the worktree: it is a name, and nothing is read.
    """
    repository = context.place.repository
    top = os.path.realpath(repository.top) if repository is not None else ""
    if not top or not written.strip():
        return written
    path = os.path.normpath(os.path.join(os.path.realpath(context.cwd), written))
    if not path.startswith(f"{top}/"):
        return written
    is_from_top = not os.path.lexists(path) and os.path.lexists(f"{top}/{written}")
    return written if is_from_top else path.removeprefix(f"{top}/")


def searched_path(written: str, context: Context) -> str:
    """Returns a path to search for, which may be the end of one: only what leads out
    of the current folder is changed."""
    leads_out = written.startswith("/") or ".." in written.split("/")
    return repository_path(written, context) if leads_out else written
