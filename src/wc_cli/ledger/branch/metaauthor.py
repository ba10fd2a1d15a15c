"""The author of the commit that changed a thread's ``meta.json``. The older tool moves
the ball in that file, and only its commit shows who moved it."""

from __future__ import annotations

from wc_cli.ledger.branch.git import Git, GitError
from wc_cli.ledger.branch.treepaths import paths_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping


def of_file(git: Git, topic: str) -> str:
    """The author of the commit of the file as it is on disk; empty if there is none."""
    path = paths_of(topic).meta
    try:
        git.run("diff", "--quiet", "--no-ext-diff", "HEAD", "--", path)
    except GitError:
        return ""
    return of_commit(git, topic, "HEAD")


def of_commit(git: Git, topic: str, commit: str) -> str:
    """The author of the last change to the file up to ``commit``; empty if there is
    none."""
    try:
        return git.line("log", "-1", "--format=%an", commit, "--", paths_of(topic).meta)
    except GitError:
        return ""


def of_file_in(root: str, env: Mapping[str, str], topic: str) -> str:
    """Like `of_file`, in the store at ``root``."""
    return of_file(Git(root, env), topic)
