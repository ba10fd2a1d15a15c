"""What a participant has claimed in a worktree, as the store remembers it.

Whoever has lost a claim finds nothing of it in the refs. This file, which only the
holder's own commands write, says what they had. It is JSON::

    {"version": 1, "ttl_s": 900, "claims": {"src/auth.py": "5f0c…"}, "told": []}

What was lost stays in it, so that it fences what its holder publishes, until they give
it up or claim it again. ``told`` has what they have been told of.
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
    from collections.abc import Collection, Mapping, Sequence

    from wc_core.claims.record import Claim
    from wc_core.layout import Layout

VERSION = 1
# A claim is renewed when a third of its time is over.
_SHARE = 3
_UNREADABLE = (
    *(OSError, ValueError, TypeError, LookupError, AttributeError),
    *(OverflowError, RecursionError),
)


class Held(NamedTuple):
    """The commit of each claim that a participant has or has lost, by id; ``ttl_s`` is
    the shortest time to live of them, ``told`` the lost ones that they know of."""

    claims: Mapping[str, str]
    ttl_s: int
    told: tuple[str, ...] = ()

    def lost(self, own: Collection[str]) -> list[str]:
        """The ids of the claims that are not among the participant's ``own`` now."""
        return [claim_id for claim_id in self.claims if claim_id not in own]


def file_name(worktree: str, key: str) -> str:
    """The name of the file of a participant (by key) in a worktree (by git's name)."""
    return safe_name(f"{worktree}:{key}")


NOTHING = Held({}, 0)


def update(before: Held, own: Sequence[Claim], given_up: Collection[str]) -> Held:
    """What a participant has or has lost, after they gave up some claims."""
    current = {claim.id: claim.oid for claim in own}
    kept = {
        claim_id: before.claims[claim_id]
        for claim_id in before.lost(current)
        if claim_id not in given_up
    }
    told = tuple(claim_id for claim_id in before.told if claim_id in kept)
    ttl_s = min((claim.ttl_s for claim in own), default=before.ttl_s)
    return Held({**kept, **current}, ttl_s, told)


def render(held: Held) -> bytes:
    """The file for what a participant has."""
    fields = {"version": VERSION, **held._asdict()}
    return f"{json.dumps(fields)}\n".encode()


def load(layout: Layout, name: str) -> Held | None:
    """Read the file of that name; ``None`` if there is no valid one."""
    try:
        data = read_plain(layout.held_claims(name), layout.root)
        fields = json.loads(data or b"null")
        claims = {str(key): str(oid) for key, oid in fields["claims"].items()}
        told = tuple(map(str, fields.get("told", ())))
        return Held(claims, int(fields["ttl_s"]), told)
    except _UNREADABLE:
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
