"""Commits that people name: by the digits of an id, as ``HEAD``, or by a branch."""

from __future__ import annotations

from wc_core.errors import InvalidInputError
from wc_core.git import repository as repositories
from wc_core.threads import vocabulary

TYPE_CHECKING = False
if TYPE_CHECKING:
    from wc_core.git.repository import Repository

_HEAD = ("HEAD", "@")


def commit_id(text: str, repository: Repository | None) -> str:
    """Return the full id of ``HEAD`` or a branch of the current repository, also one of
    a remote such as ``origin/main``; digits of an id as they are, in lower case.

    Reads git's files and starts no git. Raises InvalidInputError for anything else.
    """
    name = text.strip()
    try:
        return vocabulary.commit_ref(name)
    except InvalidInputError as error:
        commit = _named(name, repository) if repository is not None else ""
        if not commit:
            raise InvalidInputError(
                error.message, "Give HEAD, a branch, or 4 or more digits of its id."
            ) from error
        return commit


def _named(name: str, repository: Repository) -> str:
    if name in _HEAD:
        return repository.commit
    try:
        branch = vocabulary.branch(name)
    except InvalidInputError:
        return ""
    refs = (f"refs/heads/{branch}", f"refs/remotes/{branch}")
    commits = (repositories.resolve(repository, ref) for ref in refs if branch)
    return next(filter(None, commits), "")
