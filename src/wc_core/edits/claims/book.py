"""All claims of a repository, and when each was first seen here.

``.local/claims/index.json`` of the store has the records, so that a thousand claims are
read as one file, and the time at which this machine first saw each of them, by a clock
that no one sets. It can be deleted: it is created again, and every claim counts as new.
"""

from __future__ import annotations

import time
from types import MappingProxyType

from wc_core.base.files import read_plain
from wc_core.base.lean import json
from wc_core.base.times import rfc3339
from wc_core.base.values import NamedTuple
from wc_core.edits.claims import record, refs, sessions
from wc_core.edits.claims.ids import TOP, ClaimId
from wc_core.edits.claims.record import Claim

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import Any

    from wc_core.base.layout import Layout

    ReadCommits = Callable[[list[str]], Mapping[str, bytes]]

VERSION = 1
# Coarser than the clock of any known file system.
_MARGIN_NS = 100_000_000
_LAPSE = 1.5
_NOTHING: Mapping[str, int] = MappingProxyType({})
_UNREADABLE = (
    *(OSError, ValueError, TypeError, LookupError, AttributeError),
    *(OverflowError, RecursionError),
)

_SHOWN = ("id", "mode", "holder", "worktree", "branch", "head", "ttl_s", "note", "new")

HELD, ENDED, LAPSED = "held", "ended", "lapsed"


class Book(NamedTuple):
    """The claims, ordered by id.

    - ``refs``: the commit of each ref, also of those without a valid record
    - ``seen_ms``: when this machine first saw a commit, on its monotonic clock
    - ``now_ms``: the time on that clock when the claims were read
    - ``unread``: the refs whose commit is not a record, or cannot be read here
    """

    claims: tuple[Claim, ...] = ()
    refs: Mapping[str, str] = MappingProxyType({})
    seen_ms: Mapping[str, int] = _NOTHING
    now_ms: int = 0
    unread: tuple[str, ...] = ()

    def standing(self, claim: Claim) -> str:
        """Whether a claim is `HELD`, has `ENDED` with its session, or has `LAPSED`
        because it was not renewed in time."""
        if sessions.state(claim.session) == sessions.ENDED:
            return ENDED
        if self.seconds_to_lapse(claim) <= 0:
            return LAPSED
        return HELD

    def binds(self, claim: Claim) -> bool:
        """Whether others have to respect a claim."""
        return self.standing(claim) == HELD

    def seconds_left(self, claim: Claim) -> int:
        """The seconds until a claim is due for renewal, counted down from its time to
        live; 0 during the time after that in which it still holds."""
        return max(0, int(claim.ttl_s - self._age_s(claim)))

    def seconds_to_lapse(self, claim: Claim) -> float:
        """The seconds until a claim lapses unless it is renewed."""
        return claim.ttl_s * _LAPSE - self._age_s(claim)

    def _age_s(self, claim: Claim) -> float:
        """The age of a claim in seconds. Only this machine's clock counts: setting
        another clock makes no claim older or younger."""
        first_ms = self.seen_ms.get(claim.oid, self.now_ms)
        return (self.now_ms - first_ms) / 1000

    def fields(self, claim: Claim, *, own: bool) -> dict[str, Any]:
        """A claim in JSON output."""
        return {
            **{name: getattr(claim, name) for name in _SHOWN},
            "thread": claim.thread or None,
            "mine": own,
            "standing": self.standing(claim),
            "session": sessions.state(claim.session),
            "seconds_left": self.seconds_left(claim),
            "at": rfc3339(claim.at * 1000),
        }

    def overlapping(self, target: ClaimId) -> list[Claim]:
        """The claims on what a target covers, and on what covers the target."""
        near = self.claims if target.path == TOP else self._near(target.path)
        return [claim for claim in near if claim.target.overlaps(target)]

    def _near(self, path: str) -> list[Claim]:
        """The claims whose ids begin as a path does, or are a folder above it: only
        these can overlap with it. To compare thousands exactly takes milliseconds."""
        start = str(ClaimId(path))
        parts = start.split("/")
        above = {TOP, *("/".join(parts[:count]) for count in range(1, len(parts)))}
        return [
            claim
            for claim in self.claims
            if claim.id in above or claim.id.startswith(start)
        ]


class Index(NamedTuple):
    """The content of the index file: the state of the refs when it was written, the
    records by commit, and when each was first seen."""

    stamp: refs.RefsStamp | None = None
    refs: Mapping[str, str] = MappingProxyType({})
    claims: Mapping[str, Claim] = MappingProxyType({})
    seen_ms: Mapping[str, int] = _NOTHING


def monotonic_ms() -> int:
    """The time on a clock that runs from the start of the machine."""
    return int(time.monotonic() * 1000)


def read(common: str, index: Index, read_commits: ReadCommits) -> Book:
    """The claims in a git directory. ``read_commits`` gets the commits that are neither
    in the index of the store nor in a separate file."""
    is_current = index.stamp is not None and index.stamp == refs.stamp(common)
    names = index.refs if is_current else refs.claim_refs(common)
    return assemble(names, index, common, read_commits)


def assemble(
    names: Mapping[str, str], index: Index, common: str, read_commits: ReadCommits
) -> Book:
    """The claims of these refs."""
    # A claim in the index was compared with its ref when the index was written. It is
    # compared again only if refs have changed since, or if two point to one commit:
    # thousands of digests take milliseconds.
    is_compared = names is index.refs and len({*names.values()}) == len(names)
    kept = {ref: index.claims.get(oid) for ref, oid in names.items()}
    claims = {
        ref: claim
        for ref, claim in kept.items()
        if claim and (is_compared or claim.ref == ref)
    }
    missing = {ref: oid for ref, oid in names.items() if ref not in claims}
    contents = _contents(missing.values(), common, read_commits) if missing else {}
    for ref, oid in missing.items():
        claim = record.decode(contents[oid], ref, oid) if oid in contents else None
        if claim is not None:
            claims[ref] = claim
    now_ms = monotonic_ms()
    in_order = sorted(claims.items(), key=lambda item: (item[1].id, item[0]))
    return Book(
        claims=tuple(claim for _, claim in in_order),
        refs=names,
        seen_ms={oid: index.seen_ms.get(oid, now_ms) for oid in names.values()},
        now_ms=now_ms,
        unread=tuple(sorted(names.keys() - claims.keys())),
    )


def _contents(
    oids: Iterable[str], common: str, read_commits: ReadCommits
) -> dict[str, bytes]:
    contents: dict[str, bytes] = {}
    packed = []
    for oid in oids:
        content = refs.loose_commit(common, oid)
        if content is None:
            packed.append(oid)
        else:
            contents[oid] = content
    return {**contents, **read_commits(packed)} if packed else contents


def no_commits(_oids: list[str]) -> dict[str, bytes]:
    """Read no packed commits: for callers that may not run git."""
    return {}


# --- the index ------------------------------------------------------------------


def load_index(layout: Layout) -> Index:
    """The index of a store; an empty one if there is no valid one. After a restart of
    the machine only its records count: the clock has started over."""
    try:
        fields = json.loads(read_plain(layout.claims_index, layout.root) or b"null")
        if fields["v"] != VERSION:
            return Index()
        claims = {row[-1]: Claim(*row) for row in fields["claims"]}
        index = Index(claims=claims)
        if fields["boot"] != sessions.boot():
            return index
        stamp = refs.RefsStamp(*fields["stamp"]) if fields["stamp"] else None
        seen_ms = {oid: int(ms) for oid, ms in fields["seen"].items()}
        return index._replace(stamp=stamp, refs=dict(fields["refs"]), seen_ms=seen_ms)
    except _UNREADABLE:
        return Index()


def index_bytes(book: Book, stamp: refs.RefsStamp, now_ns: int) -> bytes:
    """The file of the index for a book that was read after ``stamp`` was taken."""
    fields = {
        "v": VERSION,
        "boot": sessions.boot(),
        "stamp": stamp if stamp.is_older(now_ns, _MARGIN_NS) else None,
        "refs": dict(book.refs),
        "claims": [list(claim) for claim in book.claims],
        "seen": dict(book.seen_ms),
    }
    return json.dumps(fields, separators=(",", ":")).encode()
