"""Commits that people name: by an id or its first digits, as ``HEAD``, by a branch, or
by any other name that git knows."""

from __future__ import annotations

from wc_core.base.errors import InvalidInputError
from wc_core.ledger.git import repository as repositories
from wc_core.ledger.threads import vocabulary

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from wc_core.ledger.git.repository import Repository

_HEAD = ("HEAD", "@")
_FULL = (40, 64)
# git answers in milliseconds. On a disk that hangs, the digits will do.
_SECONDS = 1.0


def commit_id(text: str, repository: Repository | None, env: Mapping[str, str]) -> str:
    """Return the full id of a commit of the current repository that is named as for
    `commit_digits`, or by the first digits of its id. Digits that git does not know are
    returned as they are: the commit may be in another clone.

    Raises InvalidInputError for what names no commit.
    """
    digits = commit_digits(text, repository, env)
    if repository is None or len(digits) in _FULL:
        return digits
    return _asked(digits, repository, env) or digits


def commit_digits(
    text: str, repository: Repository | None, env: Mapping[str, str]
) -> str:
    """Return the full id of ``HEAD`` or a branch, also one of a remote such as
    ``origin/main``, from git's files, or of what only git knows, such as a tag or
    ``HEAD~2``; digits of an id as they are, in lower case.

    Raises InvalidInputError for what names no commit.
    """
    name = text.strip()
    try:
        return vocabulary.commit_ref(name)
    except InvalidInputError as error:
        commit = ""
        if repository is not None:
            commit = _named(name, repository) or _asked(name, repository, env)
        if not commit:
            hint = "Give HEAD, a branch, a tag, or 4 or more digits of its id."
            if repository is None:
                hint = "There is no git repository here: give digits of its id."
            elif name in _HEAD:
                hint = "There is no commit here yet."
            raise InvalidInputError(error.message, hint) from error
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


def _asked(name: str, repository: Repository, env: Mapping[str, str]) -> str:
    """Return what git says that a name is; empty if it knows no such commit."""
    from wc_cli.ledger.branch.git import Git, GitError  # only for names that need git

    git = Git(repository.top or repository.common, env, bare=not repository.top)
    git.longest = _SECONDS
    words = ("rev-parse", "--verify", "--quiet", "--end-of-options")
    try:
        return git.line(*words, f"{name}^{{commit}}")
    except (GitError, ValueError):  # ValueError: a null character
        return ""
