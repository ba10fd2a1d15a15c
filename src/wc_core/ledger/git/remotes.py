"""Finds the remote with which the branch of a store is exchanged.

A remote is a name in git's configuration, or an address: a URL or a path.
"""

from __future__ import annotations

import os

from wc_core.base.errors import InvalidInputError
from wc_core.base.layout import BRANCH
from wc_core.base.lean import re
from wc_core.base.text import one_line
from wc_core.base.values import NamedTuple
from wc_core.ledger.git import config
from wc_core.ledger.git import repository as repositories

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from wc_core.ledger.git.repository import Repository

VARIABLE = "WATERCOOLER_GIT_REPO"
# Patterns, compiled at their first use: few commands need them.
_URL = r"[A-Za-z0-9][A-Za-z0-9+.-]*:(//|:)"
_HOST_AND_PATH = r"[^/]+:"
# git-check-ref-format(1): the names that a folder below refs/ can have.
_NOT_IN_REF = r"[\x00-\x20\x7f~^:?*\[\\]|\.\.|@\{|//|^/|/$|(?:^|/)\.|\.lock(?:/|$)"
# The user and password of a URL; a password may have a slash. A scheme matches
# only at its beginning, so that a long word takes one pass.
_USER = (
    r"(?<![A-Za-z0-9+.-])(?P<scheme>[A-Za-z0-9+.-]+)://"
    r"(?P<user>[^/?#\s]*@|[^/?#@\s]*:(?!\d*(?:[/?#\s'\"]|$))[^@\s]*@)"
)
_QUERY = r"(?<![A-Za-z0-9+.-])(?P<url>[A-Za-z0-9+.-]+://[^?#\s'\"]*)[?#][^\s'\"]*"


class Remote(NamedTuple):
    """The remote that the branch is fetched from and pushed to.

    ``name`` is the argument for git: the name of a remote, a URL or a path.
    ``label`` is for people and has no credentials. ``tracking`` is the ref
    with the tip of the remote's branch as of the last fetch.
    """

    name: str
    label: str
    tracking: str


def names(repository: Repository, env: Mapping[str, str]) -> list[str]:
    """The names of the remotes in git's configuration, sorted."""
    return sorted(config.values("remote", "url", repository, env))


def find(repository: Repository, env: Mapping[str, str]) -> Remote | None:
    """The remote of a repository's store; ``None`` if the user must name one.

    It is the one in ``WATERCOOLER_GIT_REPO``, else the branch's in git's
    configuration, else the one that the branch was fetched from, else
    ``origin`` or the only one.
    """
    configured = names(repository, env)
    name = _chosen_name(repository, env, configured)
    if not name:
        name = _likely_name(repository, configured)
    if not name:
        return None
    return _remote(repository, env, name, is_name=name in configured)


def is_chosen(repository: Repository, env: Mapping[str, str]) -> bool:
    """Whether the user chose the remote of the store, rather than `find`."""
    return _chosen_name(repository, env, names(repository, env)) != ""


def _chosen_name(
    repository: Repository, env: Mapping[str, str], configured: list[str]
) -> str:
    if name := env.get(VARIABLE, ""):
        return name
    name = config.get(f"branch.{BRANCH}.remote", repository, env)
    return name if name in configured or is_address(name) else ""


def _likely_name(repository: Repository, configured: list[str]) -> str:
    """The remote to use if none was chosen; empty if there are several or none.

    Remotes that the branch was fetched from come first. Among several it is
    ``origin``, or the first that the branch was fetched from.
    """
    fetched = [
        name
        for name in configured
        if repositories.resolve(repository, _tracking_ref(name))
    ]
    candidates = fetched or configured
    if "origin" in candidates:
        return "origin"
    return candidates[0] if fetched or len(candidates) == 1 else ""


def by_name(repository: Repository, env: Mapping[str, str], name: str) -> Remote:
    """The remote with this name or address. Raises InvalidInputError."""
    configured = names(repository, env)
    if name in configured or is_address(name):
        return _remote(repository, env, name, is_name=name in configured)
    listed = ", ".join(map(one_line, configured))
    hint = (
        f"There are: {listed}."
        if listed
        else "There is none yet. Add one: git remote add …"
    )
    raise InvalidInputError(f"There is no remote {one_line(name)}.", hint)


def is_address(text: str) -> bool:
    """Whether this is a URL or a path rather than a name."""
    if text.startswith(("/", "./", "../", "~/")):
        return True
    if ":" not in text:  # as both patterns have
        return False
    return bool(re.match(_URL, text) or re.match(_HOST_AND_PATH, text))


def is_relative(address: str) -> bool:
    """Whether an address is a relative path."""
    local = not re.match(_URL, address) and not re.match(_HOST_AND_PATH, address)
    return local and not address.startswith("/")


def home_folder(repository: Repository) -> str:
    """The base of relative paths of remotes: the root of the main worktree."""
    folder, base = os.path.split(repository.common)
    return folder if base == ".git" else repository.common


def anonymous(text: str) -> str:
    """The text without the credentials and queries of all URLs in it.

    The user of an ssh URL stays, as a part of the address.
    """
    text = re.sub(_USER, _without_secret, text)
    return re.sub(_QUERY, r"\g<url>", text)


def _without_secret(match: re.Match[str]) -> str:
    user = match["user"].partition(":")[0].removesuffix("@")
    user_part = f"{user}@" if "ssh" in match["scheme"].lower() and user else ""
    return f"{match['scheme']}://{user_part}"


def _remote(
    repository: Repository, env: Mapping[str, str], name: str, *, is_name: bool
) -> Remote:
    if is_name:
        return Remote(name, one_line(name), _tracking_ref(name))
    home = env.get("HOME", "")
    if name.startswith("~/") and home:
        name = home + name[1:]
    elif "/" in name and is_relative(name):
        name = os.path.normpath(os.path.join(home_folder(repository), name))
    label = f"~{name[len(home) :]}" if home and name.startswith(f"{home}/") else name
    return Remote(name, one_line(anonymous(label)), _hashed_ref(name))


def _tracking_ref(name: str) -> str:
    if re.search(_NOT_IN_REF, name):
        return _hashed_ref(name)
    return f"refs/remotes/{name}/{BRANCH}"


def _hashed_ref(address: str) -> str:
    """A ref for an address. Its credentials are ignored, because they change."""
    import hashlib  # 2.7 ms, and most remotes have a name

    digest = hashlib.sha256(os.fsencode(anonymous(address))).hexdigest()
    return f"refs/watercooler/{digest[:16]}"
