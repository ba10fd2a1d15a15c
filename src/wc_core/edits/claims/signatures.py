"""Which signatures make a claim count, if the setting ``verify`` requires them.

git checks the signature; this module decides whether the signer is the person that the
claim names. git's result is stored with the state of the signers' file, so that a
change of that file takes effect immediately.
"""

from __future__ import annotations

import os

from wc_core.base import names
from wc_core.base.files import read_plain
from wc_core.base.lean import hashlib
from wc_core.base.values import NamedTuple
from wc_core.ledger.git import config

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from wc_core.base.layout import Layout
    from wc_core.ledger.git.repository import Repository

_KEY = "gpg.ssh.allowedSignersFile"
_REVOKED = "gpg.ssh.revocationFile"
_STORE, _GIT = "store:", "git:"
GOOD, NONE = "G", "N"
# git's result for a signature, see "%G?" in git-log(1).
_PROBLEMS = {
    NONE: "it is not signed",
    "U": "it is signed by a key that is not among the allowed signers",
    "E": "its signature cannot be checked: the key is not known here",
    "X": "its signature has expired",
    "Y": "the key of its signature has expired",
    "R": "the key of its signature was revoked",
}
_BAD = "its signature is not valid"


class Signers(NamedTuple):
    """The allowed signers: the file of the store, or an empty ``path`` for those that
    git is configured to use, if it ``is_set``. ``state`` differs when they have
    changed."""

    path: str
    state: str
    is_set: bool


def signers_of(
    layout: Layout, repository: Repository, env: Mapping[str, str]
) -> Signers:
    """The signers that are allowed in a repository. The state of gpg's keyring, which
    git uses for other signatures, is not known."""
    revoked = _digest(_configured(_REVOKED, repository, env))
    if os.path.lexists(layout.allowed_signers):
        state = f"{_store_state(layout)}{revoked}"
        return Signers(layout.allowed_signers, state, is_set=True)
    path = _configured(_KEY, repository, env)
    return Signers("", f"{_GIT}{_digest(path)}{revoked}", is_set=bool(path))


def is_current(layout: Layout, state: str) -> bool:
    """Whether results stored with a state of the signers are still valid, as far as the
    store can tell."""
    if os.path.lexists(layout.allowed_signers):
        return state.startswith(_store_state(layout))
    return state.startswith(_GIT)


def _store_state(layout: Layout) -> str:
    return f"{_STORE}{_digest(layout.allowed_signers)}"


def _configured(key: str, repository: Repository, env: Mapping[str, str]) -> str:
    """The path in a key of git's configuration; empty if there is none."""
    path = config.get(key, repository, env)
    if path.startswith("~/"):
        path = f"{env.get('HOME', '')}{path[1:]}"
    return path


def _digest(path: str) -> str:
    """A digest of a file; of nothing if it cannot be read."""
    try:
        data = read_plain(os.path.realpath(path)) if path else None
    except OSError:
        data = None
    return hashlib.new("sha256", data or b"", usedforsecurity=False).hexdigest()[:16]


def refusal(status: str, signer: str, holder: str) -> str:
    """Why a claim of ``holder`` does not count, given git's result for its signature:
    the status, and the signer. Empty if it counts."""
    if status != GOOD:
        return _PROBLEMS.get(status, _BAD)
    if names.fold(person_of(holder)) in {names.fold(name) for name in _names(signer)}:
        return ""
    return f"it is signed by {signer}, not by {person_of(holder)}"


def person_of(holder: str) -> str:
    """The person in a full name: an agent's tag, or the name itself."""
    name = names.parse(holder)
    return name.tag or name.agent


def _names(signer: str) -> list[str]:
    """The names of a signer: a principal such as ``pat@example.org``, or a gpg user id
    such as ``Pat <pat@example.org>``; for an address also the part before the @."""
    name, _, address = signer.partition("<")
    address = address.rstrip("> ") or signer
    every = (signer, name.strip(), address, address.partition("@")[0])
    return [text for text in every if text]
