"""The folder of what one user's processes have recorded about a store on this machine.

It lies in git's common folder, outside of every work tree: no push and no checkout
writes there. What decides what may run or land is kept in it: which entries were
written here, approvals, runs, landings, who the user is. Nothing of it is in
``.local``, which a branch can contain. It has the layout of a store, so that the same
files have the same names in both.

A store outside of git, which nobody can push to, keeps it in its ``.local``.
"""

from __future__ import annotations

import os

from wc_core.base.layout import Layout
from wc_core.base.lean import hashlib
from wc_core.base.lean.functools import lru_cache
from wc_core.ledger.git import repository as repositories

_FOLDER = "watercooler"
_NAME_LENGTH = 16


def private_layout(layout: Layout) -> Layout:
    """The layout of that folder for a store and the user of this process. The folder
    may not exist."""
    user = os.geteuid()
    if os.path.isdir(layout.root):
        private = _private_layout(layout.root, user)
    else:  # once there is a store, it may be in a repository
        private = _private_layout.__wrapped__(layout.root, user)
    try:
        is_own = os.lstat(private.root).st_uid == os.geteuid()
    except OSError:
        is_own = True  # there is none yet
    # Somebody who may write to git's folder could have made it first.
    return private if is_own else Layout(f"{private.root}-of-another-user")


@lru_cache(maxsize=64)
def _private_layout(root: str, user: int) -> Layout:
    repository = repositories.find(root)
    if repository is None:
        return Layout(f"{root}/.local/private")
    # Two homes can have a checkout each, and two users can share a repository.
    data = os.fsencode(f"{user}:{root}")
    digest = hashlib.new("sha256", data, usedforsecurity=False).hexdigest()
    return Layout(f"{repository.common}/{_FOLDER}/{digest[:_NAME_LENGTH]}")
