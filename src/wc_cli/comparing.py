"""A thread's log and the version of it that the branch has."""

from __future__ import annotations

from typing import NamedTuple

from wc_cli import commits
from wc_core import codec

TYPE_CHECKING = False
if TYPE_CHECKING:
    from wc_cli.commits import Committed
    from wc_cli.git import Git
    from wc_core.model import Entry


class Compared(NamedTuple):
    """The entries that a log has and the branch has not, and how many it is
    the other way round."""

    new: tuple[Entry, ...]
    lost: int = 0


def compared(git: Git, topic: str, log: bytes, have: Committed | None) -> Compared:
    """What the complete lines of ``log`` have, and the branch has not.

    Where the branch has how the log begins, as it nearly always does, only
    the rest is read. Raises GitError.
    """
    there = log[: have.size] if have is not None else b""
    if have is None or commits.blob_id(there, have.blob) == have.blob:
        rest = codec.read_log(topic, log[len(there) :]).entries
        return Compared(tuple(e for e in rest if e.id.encode() not in there))
    there = git.run("cat-file", "blob", have.blob)
    known = {entry.id for entry in codec.read_log(topic, there).entries}
    entries = codec.read_log(topic, log).entries
    new = tuple(entry for entry in entries if entry.id not in known)
    return Compared(new, len(known - {entry.id for entry in entries}))
