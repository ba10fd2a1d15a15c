"""The folder of what one user's processes have recorded about a store on this machine.

It lies in git's common folder, outside of every work tree: no push and no checkout
writes there. What decides what may run or land is kept in it: which entries were
written here, approvals, runs, landings, who the user is. Nothing of it is in
``.local``, which a branch can contain. It has the layout of a store, so that the same
files have the same names in both.

A store outside of git, which no one can push to, keeps it in its ``.local``. Where
git's folder belongs to another user, it lies beside the store's checkout.
"""

from __future__ import annotations

import os

from wc_core.base.files import read_plain
from wc_core.base.layout import PRIVATE, Layout
from wc_core.base.lean import hashlib, json
from wc_core.base.values import known_fields
from wc_core.ledger.git import repository as repositories

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any, TypeVar

    _Record = TypeVar("_Record")

_FOLDER = "watercooler"
_NAME_LENGTH = 16
_MAX_BYTES = 1 << 16


def private_layout(layout: Layout) -> Layout:
    """The layout of that folder for a store and the user of this process. The folder
    may not exist."""
    root, user = layout.root, os.geteuid()
    repository = repositories.find(root) if os.path.isdir(root) else None
    if repository is None:
        return Layout(f"{root}/.local/private")
    if _owner(repository.common) != user:
        # What others own is left to them; the folder of a checkout is in the home.
        return Layout(f"{root}{PRIVATE}")
    # Two homes can have a checkout each.
    digest = hashlib.new("sha256", os.fsencode(root), usedforsecurity=False).hexdigest()
    private = f"{repository.common}/{_FOLDER}/{digest[:_NAME_LENGTH]}"
    # Someone who may write to git's folder could have made it first.
    is_own = _owner(private) in {user, None}
    return Layout(private if is_own else f"{root}{PRIVATE}")


def read_record(
    path: str, root: str, version: int, kind: type[_Record]
) -> _Record | None:
    """The record of a ``kind``, a named tuple, in a file below ``root``: a JSON object
    with its fields. ``None`` if there is none, it is of another ``version``, too long,
    damaged, or a field has another type."""
    return read_fields(path, root, version, lambda fields: typed(kind, fields))


def read_fields(
    path: str,
    root: str,
    version: int,
    made: Callable[[dict[str, Any]], _Record | None],
    most: int = _MAX_BYTES,
) -> _Record | None:
    """What is ``made`` of the fields of a record; otherwise as `read_record`."""
    try:
        fields = json.loads(read_plain(path, root, most) or b"null")
        return made(fields) if fields.pop("version") == version else None
    except (OSError, ValueError, TypeError, LookupError, AttributeError):
        return None
    except RecursionError:
        return None


def typed(kind: type[_Record], fields: Mapping[str, Any]) -> _Record | None:
    """A named tuple of these fields; ``None`` if one has another type. Lists become
    tuples of texts."""
    known = {
        name: tuple(map(str, value)) if isinstance(value, list) else value
        for name, value in known_fields(kind, fields).items()
    }
    for name, value in known.items():
        types = kind.__annotations__[name].replace("[str, ...]", "").split(" | ")
        if ("None" if value is None else type(value).__name__) not in types:
            return None
    return kind(**known)


def _owner(path: str) -> int | None:
    """The user who owns a file or folder; ``None`` if it does not exist."""
    try:
        return os.lstat(path).st_uid
    except OSError:
        return None
