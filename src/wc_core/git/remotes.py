"""Which remote the branch of a store travels to and from.

A remote is what git's configuration names so, or an address that we are given:
a URL, or a path.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, NamedTuple

from wc_core.errors import InvalidInputError
from wc_core.git import config, repository
from wc_core.layout import BRANCH
from wc_core.text import one_line

if TYPE_CHECKING:
    from collections.abc import Mapping

    from wc_core.git.repository import Repository

VARIABLE = "WATERCOOLER_GIT_REPO"
_URL = re.compile(r"[A-Za-z0-9][A-Za-z0-9+.-]*:(//|:)")
_HOST_AND_PATH = re.compile(r"[^/]+:")
# git-check-ref-format(1): the names that a folder below refs/ can have.
_UNFIT = re.compile(
    r"[\x00-\x20\x7f~^:?*\[\\]|\.\.|@\{|//|^/|/$|(?:^|/)\.|\.lock(?:/|$)"
)
# What stands before the host of a URL; a password may have a slash. A scheme is
# looked for at its beginning only: a long word takes one pass.
_USER = re.compile(
    r"(?<![A-Za-z0-9+.-])(?P<scheme>[A-Za-z0-9+.-]+)://"
    r"(?P<user>[^/?#\s]*@|[^/?#@\s]*:(?!\d*(?:[/?#\s'\"]|$))[^@\s]*@)"
)
_QUERY = re.compile(
    r"(?<![A-Za-z0-9+.-])(?P<url>[A-Za-z0-9+.-]+://[^?#\s'\"]*)[?#][^\s'\"]*"
)


class Remote(NamedTuple):
    """Where the branch is fetched from and pushed to.

    ``name`` is what git is told: the name of a remote, a URL or a path.
    ``shown`` is for people and has no credentials. ``tracking`` is the ref that
    says where the remote's branch was when we last looked.
    """

    name: str
    shown: str
    tracking: str


def names(where: Repository, env: Mapping[str, str]) -> list[str]:
    """The remotes that git's configuration knows, sorted."""
    return sorted(config.values("remote", "url", where, env))


def find(where: Repository, env: Mapping[str, str]) -> Remote | None:
    """The remote of a repository's store; ``None`` where somebody has to say.

    It is what ``WATERCOOLER_GIT_REPO`` says, else what git's configuration says
    of the branch, else the remote that the branch was fetched from, else
    ``origin`` or the only one.
    """
    said = env.get(VARIABLE, "")
    known = names(where, env)
    if said:
        return _remote(where, env, said, known=said in known)
    said = config.get(f"branch.{BRANCH}.remote", where, env)
    if said in known or is_address(said):
        return _remote(where, env, said, known=said in known)
    fetched = [one for one in known if repository.resolve(where, _tracking(one))]
    only = known if len(known) == 1 else []
    for some in (fetched, [one for one in known if one == "origin"], only):
        if some:
            chosen = "origin" if "origin" in some else some[0]
            return _remote(where, env, chosen, known=True)
    return None


def named(where: Repository, env: Mapping[str, str], name: str) -> Remote:
    """The remote that a person names. Raises InvalidInputError."""
    known = names(where, env)
    if name in known or is_address(name):
        return _remote(where, env, name, known=name in known)
    listed = ", ".join(map(one_line, known))
    hint = f"There are: {listed}." if listed else "There is none: git remote add …"
    raise InvalidInputError(f"There is no remote {one_line(name)}.", hint)


def is_address(text: str) -> bool:
    """Whether this is a URL or a path, not a name."""
    if text.startswith(("/", "./", "../", "~/")) or _URL.match(text):
        return True
    return _HOST_AND_PATH.match(text) is not None


def is_relative(address: str) -> bool:
    """Whether an address is a path that depends on the folder one is in."""
    local = not _URL.match(address) and not _HOST_AND_PATH.match(address)
    return local and not address.startswith("/")


def home_folder(where: Repository) -> str:
    """The folder that relative paths of remotes start from, whatever worktree
    one is in: the root of the main one."""
    folder, base = os.path.split(where.common)
    return folder if base == ".git" else where.common


def anonymous(text: str) -> str:
    """The text, with all URLs in it as they may be shown to anybody.

    The user of an ssh URL stays: it is a part of the address.
    """
    text = _USER.sub(_without_secret, text)
    return _QUERY.sub(r"\g<url>", text)


def _without_secret(found: re.Match[str]) -> str:
    user = found["user"].partition(":")[0].removesuffix("@")
    kept = f"{user}@" if "ssh" in found["scheme"].lower() and user else ""
    return f"{found['scheme']}://{kept}"


def _remote(
    where: Repository, env: Mapping[str, str], said: str, *, known: bool
) -> Remote:
    if known:
        return Remote(said, one_line(said), _tracking(said))
    home = env.get("HOME", "")
    if said.startswith("~/") and home:
        said = home + said[1:]
    elif "/" in said and is_relative(said):
        said = os.path.normpath(os.path.join(home_folder(where), said))
    shown = f"~{said[len(home) :]}" if home and said.startswith(f"{home}/") else said
    return Remote(said, one_line(anonymous(shown)), _hashed(said))


def _tracking(name: str) -> str:
    if _UNFIT.search(name):
        return _hashed(name)
    return f"refs/remotes/{name}/{BRANCH}"


def _hashed(address: str) -> str:
    # Without the credentials: they change, and are nobody's business.
    import hashlib  # most remotes have a name

    digest = hashlib.sha256(os.fsencode(anonymous(address))).hexdigest()
    return f"refs/watercooler/{digest[:16]}"
