"""The lines of a file that an entry is about, and a few around them to keep with it.

They are those of the work that is reviewed: in the worktree of the one who passed the
ball, else in the one that the command runs in, else on the branch as it was fetched. A
version of the file that is too short for these lines is passed over.
"""

from __future__ import annotations

import os
import time

from wc_cli.branch.git import NO_NETWORK, Git, GitError
from wc_cli.entries.paths import repository_path
from wc_core.errors import InvalidInputError, WcError
from wc_core.git import repository as repositories
from wc_core.git import worktrees
from wc_core.phrases import counted
from wc_core.radar.secrets import looks_secret
from wc_core.review.points import head_entry
from wc_core.threads import vocabulary
from wc_core.threads.linerefs import LineRef, split_place

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from wc_cli.context import Context
    from wc_core.git.repository import Repository

_MAX_BYTES = 8 << 20
_SECONDS = 2.0
_HINT = "Lines count from 1: --file src/a.py:12, or --file src/a.py:12-20"


def line_ref(written: str, topic: str, context: Context) -> LineRef | None:
    """The lines that ``written`` names, with a quotation; ``None`` if it is a path
    alone.

    What looks like a secret, is ignored by git or no text is not quoted. Raises
    InvalidInputError for lines that the file does not have, and for a file that is
    nowhere in the repository.
    """
    path, start, end = split_place(written)
    is_file = os.path.lexists(os.path.join(context.cwd, written))
    if path == written or is_file:
        return None
    if not 1 <= start <= end:
        raise InvalidInputError(f"{written!r} names no lines of a file.", _HINT)
    path = vocabulary.file_ref(repository_path(path, context))
    repository = context.place.repository
    parts = path.split("/")
    if (
        repository is None
        or path.startswith("/")
        or not {"..", ".git"}.isdisjoint(parts)
    ):
        raise InvalidInputError(
            f"{path!r} is not a file of this repository.",
            "Write its path from the top of the worktree.",
        )
    reference = LineRef(path, start, end)
    if looks_secret(path):
        return reference
    lines = _lines(reference, _branch(topic, context), repository, context)
    if lines is None:
        return reference
    if end > len(lines):
        raise InvalidInputError(
            f"{path} has {counted(len(lines), 'line')}, so there is no line {end}.",
            "Check the file; it may have changed.",
        )
    return reference.quoting(lines)


def _branch(topic: str, context: Context) -> str:
    """The branch that the work is on; empty if that is unknown."""
    try:
        thread = context.reader.thread(context.reader.find(topic))
    except WcError:
        return ""
    head = head_entry(thread.entries, context.viewer)
    return head.code_branch if head is not None else ""


def _lines(
    reference: LineRef, branch: str, repository: Repository, context: Context
) -> list[str] | None:
    """The lines of a file, in the first version that has those of the reference, else
    in the first of all; ``None`` if it must not be quoted."""
    versions: list[list[str]] = []
    for lines in _versions(reference.path, branch, repository, context):
        if lines is None or len(lines) >= reference.end:
            return lines
        versions.append(lines)
    if not versions:
        raise InvalidInputError(
            f"There is no file {reference.path!r} here"
            + (f", nor on the branch {branch}." if branch else "."),
            f"Write its path from the top of the worktree. {_HINT}",
        )
    return versions[0]


def _versions(
    path: str, branch: str, repository: Repository, context: Context
) -> Iterator[list[str] | None]:
    """The lines of each version of a file that may be meant; ``None`` for one that must
    not be quoted."""
    for top in _tops(branch, repository, context):
        # The file that a link leads to may be ignored, or a secret.
        root, place = (os.path.realpath(name) for name in (top, f"{top}/{path}"))
        if place.startswith(f"{root}/") and os.path.isfile(place):
            yield _lines_of_file(root, place.removeprefix(f"{root}/"), context)
    data = _committed(path, branch, repository, context)
    if data is not None:
        yield _decoded(data)


def _tops(branch: str, repository: Repository, context: Context) -> Iterator[str]:
    """The worktrees to look at: those that have the branch, then this one."""
    if branch:
        for worktree in worktrees.worktrees(repository, context.env):
            if worktree.branch == branch and worktree.path and not worktree.defect:
                yield worktree.path
    if repository.top:
        yield repository.top


def _lines_of_file(top: str, path: str, context: Context) -> list[str] | None:
    if looks_secret(path):
        return None
    git = Git(top, context.env, until=time.monotonic() + _SECONDS)
    words = ("ls-files", "--cached", "--others", "--exclude-standard", "--")
    try:
        if not git.run(*words, f":(literal){path}"):
            return None  # git ignores it, or it is git's own
        with open(f"{top}/{path}", "rb") as file:
            data = file.read(_MAX_BYTES + 1)
    except (GitError, OSError):
        return None
    return _decoded(data)


def _committed(
    path: str, branch: str, repository: Repository, context: Context
) -> bytes | None:
    """The file on a branch, local or fetched; ``None`` if it is on none."""
    folder = repository.top or repository.common
    env = {**context.env, **NO_NETWORK}
    git = Git(folder, env, until=time.monotonic() + _SECONDS)
    remotes = repositories.remote_branches(repository, branch) if branch else []
    refs = [f"refs/heads/{branch}"] if branch else []
    for ref in (*refs, *(f"refs/remotes/{name}/{branch}" for name in remotes)):
        try:
            return git.run("cat-file", "blob", f"{ref}:{path}")
        except GitError:
            continue
    return None


def _decoded(data: bytes) -> list[str] | None:
    """The lines of a text; ``None`` for what is none, or is too long."""
    if len(data) > _MAX_BYTES or b"\0" in data:
        return None
    lines = data.decode(errors="replace").split("\n")
    return lines[:-1] if lines[-1] == "" else lines
