"""The options of a join of two histories, and its result."""

from __future__ import annotations

from wc_core.base.values import NamedTuple


class Joining(NamedTuple):
    """The commit to join with, its origin in words, and the packs in which it was
    fetched."""

    commit: str
    origin: str
    packs: tuple[str, ...] = ()


class Joined(NamedTuple):
    """Whether two histories were merged, and the files of ours that were replaced by
    the other side's version."""

    merged: bool = False
    outvoted: tuple[str, ...] = ()
