"""The lines of a file that an entry is about, and a few around them to keep with it.

They come from the work under review: the worktree of the participant who passed the
ball, otherwise the current worktree, otherwise the fetched branch. A version of the
file that is too short for these lines is skipped.
"""

from __future__ import annotations

import os
import time

from wc_cli.ledger.branch.git import NO_NETWORK, Git, GitError
from wc_cli.run.entries.paths import repository_path
from wc_core.base.errors import InvalidInputError, WcError
from wc_core.base.phrases import counted
from wc_core.edits.radar.secrets import looks_secret
from wc_core.edits.review.points import head_entry
from wc_core.ledger.git import repository as repositories
from wc_core.ledger.git import worktrees
from wc_core.ledger.threads import vocabulary
from wc_core.ledger.threads.linerefs import LineRef, split_place

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from wc_cli.run.context import Context
    from wc_core.ledger.git.repository import Repository

_MAX_BYTES = 8 << 20
_SECONDS = 2.0
_HINT = "Lines count from 1: --file src/a.py:12, or --file src/a.py:12-20"


def line_ref(written: str, topic: str, context: Context) -> LineRef | None:
    """The lines that ``written`` names, with a quotation; ``None`` if it is only a
    path.

    Never quotes files that look like secrets, are ignored by git, or are not text.
    Raises InvalidInputError for lines that the file does not have, and for a file that
    is nowhere in the repository.
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
    """The branch of the work; empty if unknown."""
    try:
        thread = context.reader.thread(context.reader.find(topic))
    except WcError:
        return ""
    head = head_entry(thread.entries, context.viewer)
    return head.code_branch if head is not None else ""


def _lines(
    reference: LineRef, branch: str, repository: Repository, context: Context
) -> list[str] | None:
    """The lines of a file, from the first version that has the referenced ones,
    otherwise from the first version; ``None`` if it must not be quoted."""
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
    """The lines of each possible version of a file; ``None`` for one that must not be
    quoted."""
    for top in _tops(branch, repository, context):
        # A link's target may be ignored, or a secret.
        root, place = (os.path.realpath(name) for name in (top, f"{top}/{path}"))
        if place.startswith(f"{root}/") and os.path.isfile(place):
            yield _lines_of_file(root, place.removeprefix(f"{root}/"), context)
    data = _committed(path, branch, repository, context)
    if data is not None:
        yield _decoded(data)


def _tops(branch: str, repository: Repository, context: Context) -> Iterator[str]:
    """The worktrees to search: those on the branch, then this one."""
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
    """The file on a branch, local or fetched; ``None`` if neither has it."""
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
    """The lines of a text; ``None`` if it is not text, or too long."""
    if len(data) > _MAX_BYTES or b"\0" in data:
        return None
    lines = data.decode(errors="replace").split("\n")
    return lines[:-1] if lines[-1] == "" else lines
