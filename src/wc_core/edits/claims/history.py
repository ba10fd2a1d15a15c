"""Whether a commit is an ancestor of another, read from git's files without git."""

from __future__ import annotations

import re

from wc_core.edits.claims.refs import loose_commit

_PARENT = re.compile(rb"^parent ([0-9a-f]+)$", re.MULTILINE)
_MOST = 500


def is_ancestor(common: str, ancestor: str, commit: str) -> bool | None:
    """Whether ``commit`` has ``ancestor`` in its history. ``None`` if unknown: a commit
    in between is packed, or the path is too long."""
    pending, visited, is_complete = [commit], set[str](), True
    while pending and len(visited) < _MOST:
        oid = pending.pop(0)
        if oid == ancestor:
            return True
        if oid in visited:
            continue
        visited.add(oid)
        content = loose_commit(common, oid)
        if content is None:
            is_complete = False
            continue
        head = content.partition(b"\n\n")[0]
        pending += [parent.decode() for parent in _PARENT.findall(head)]
    return False if is_complete and not pending else None
