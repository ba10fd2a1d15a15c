"""A participant's claims in a worktree, as recorded in the store.

After a claim is lost, the refs no longer show that it was ever held. This file, which
only the holder's own commands write, says what they had. It is JSON::

    {"version": 1, "ttl_s": 900, "claims": {"src/auth.py": "5f0c…"}, "told": [],
     "at": 1767225600}

What was lost stays in it, so that ``wc check`` says stop, until its holder gives it up
or claims it again. ``told`` has what they have been told of.
"""

from __future__ import annotations

import time

from wc_core.base.files import read_plain
from wc_core.base.layout import safe_name
from wc_core.base.lean import json
from wc_core.base.values import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from wc_core.base.layout import Layout
    from wc_core.edits.claims.record import Claim

VERSION = 1
# A claim is renewed when a third of its time has passed.
_SHARE = 3
_UNREADABLE = (
    *(OSError, ValueError, TypeError, LookupError, AttributeError),
    *(OverflowError, RecursionError),
)


class Held(NamedTuple):
    """The commit of each claim that a participant has or has lost, by id; ``ttl_s`` is
    their shortest time to live, ``at`` when the oldest was made or renewed, in seconds
    since 1970, and ``told`` the lost ones already reported."""

    claims: Mapping[str, str]
    ttl_s: int
    told: tuple[str, ...] = ()
    at: int = 0

    def lost(self, own: Collection[str]) -> list[str]:
        """The ids of the claims that are no longer among the participant's ``own``."""
        return [claim_id for claim_id in self.claims if claim_id not in own]


def file_name(worktree: str, key: str) -> str:
    """The name of the file of a participant (by key) in a worktree (by git's name)."""
    return safe_name(f"{worktree}:{key}")


NOTHING = Held({}, 0)


def update(before: Held, own: Sequence[Claim], given_up: Collection[str]) -> Held:
    """A participant's current and lost claims in a worktree, without released ones."""
    current = {claim.id: claim.oid for claim in own}
    kept = {
        claim_id: before.claims[claim_id]
        for claim_id in before.lost(current)
        if claim_id not in given_up
    }
    told = tuple(claim_id for claim_id in before.told if claim_id in kept)
    ttl_s = min((claim.ttl_s for claim in own), default=before.ttl_s)
    at = min((claim.at for claim in own), default=before.at)
    return Held({**kept, **current}, ttl_s, told, at)


def render(held: Held) -> bytes:
    """The file for a participant's claims."""
    fields = {"version": VERSION, **held._asdict()}
    return f"{json.dumps(fields)}\n".encode()


def load(layout: Layout, name: str) -> Held | None:
    """Read the file of that name; ``None`` if there is no valid one."""
    try:
        data = read_plain(layout.held_claims(name), layout.root)
        fields = json.loads(data or b"null")
        claims = {str(key): str(oid) for key, oid in fields["claims"].items()}
        told = tuple(map(str, fields.get("told", ())))
        at = int(fields.get("at", 0))
        return Held(claims, int(fields["ttl_s"]), told, at)
    except _UNREADABLE:
        return None


def is_due(layout: Layout, name: str) -> bool:
    """Whether a participant has claims that should be renewed now: a third of their
    time has passed. Costs nothing without claims."""
    current = load(layout, name)
    return (
        current is not None and abs(time.time() - current.at) * _SHARE >= current.ttl_s
    )
