"""What a participant has claimed in a worktree, as the store remembers it.

Whoever has lost a claim finds nothing of it in the refs. This file, which only the
holder's own commands write, says what they had. It is JSON::

    {"version": 1, "ttl_s": 900, "claims": {"src/auth.py": "5f0c…"}}
"""

from __future__ import annotations

import json
import os
import time
from typing import TYPE_CHECKING

from wc_core.files import read_plain
from wc_core.layout import safe_name
from wc_core.values import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from wc_core.claims.record import Claim
    from wc_core.layout import Layout

VERSION = 1
# A claim is renewed when a third of its time is over.
_SHARE = 3


class Held(NamedTuple):
    """The commit of each claim that a participant has, by id; ``ttl_s`` is the
    shortest time to live of them."""

    claims: Mapping[str, str]
    ttl_s: int


def file_name(worktree: str, key: str) -> str:
    """The name of the file of a participant (by key) in a worktree (by git's name)."""
    return safe_name(f"{worktree}:{key}")


def render(claims: Sequence[Claim]) -> bytes:
    """The file for what a participant has."""
    fields = {
        "version": VERSION,
        "ttl_s": min(claim.ttl_s for claim in claims),
        "claims": {claim.id: claim.oid for claim in claims},
    }
    return f"{json.dumps(fields)}\n".encode()


def load(layout: Layout, name: str) -> Held | None:
    """Read the file of that name; ``None`` if there is no valid one."""
    try:
        data = read_plain(layout.held_claims(name), layout.root)
        fields = json.loads(data or b"null")
        claims = {str(key): str(oid) for key, oid in fields["claims"].items()}
        return Held(claims, int(fields["ttl_s"]))
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None


def is_due(layout: Layout, name: str) -> bool:
    """Whether a participant has claims that should be renewed now. It costs nothing
    for whoever has none."""
    try:
        age = abs(time.time() - os.stat(layout.held_claims(name)).st_mtime)
    except OSError:
        return False
    current = load(layout, name)
    return current is not None and age * _SHARE >= current.ttl_s
