"""The files on a command line, as paths relative to the top of the repository."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from wc_cli.run.context import Context


def repository_path(written: str, context: Context) -> str:
    """Return a path, as typed in the current folder, relative to the top of the
    worktree.

    A path that exists only relative to the top is used as typed, and so is every path
    outside the worktree: it is only a name, and nothing is read.
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
    """Return a path to search for, which may be the end of one: only a path that leads
    out of the current folder is changed."""
    leads_out = written.startswith("/") or ".." in written.split("/")
    return repository_path(written, context) if leads_out else written
