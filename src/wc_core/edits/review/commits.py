"""What became of the commits of a branch whose history was rewritten: by a rebase, an
amended commit, another order, a squash."""

from __future__ import annotations

from wc_core.base.lean import hashlib
from wc_core.base.values import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Sequence
    from typing import Any

UNCHANGED, CHANGED, NEW, DROPPED = "unchanged", "changed", "new", "dropped"


class OwnCommit(NamedTuple):
    """A commit of a branch. ``author`` and ``authored_at`` stay what they are when it
    is rebased or amended. ``patch`` is the fingerprint of its changes; empty if there
    are none."""

    commit: str
    author: str
    authored_at: str
    subject: str
    patch: str = ""


class RewrittenCommit(NamedTuple):
    """What became of a commit: the commit before and now, either of which may be empty,
    and its subject."""

    change: str
    old: str
    new: str
    subject: str

    def to_json(self) -> dict[str, Any]:
        """The change as a JSON object."""
        return self._asdict()


def fingerprint(diff: bytes) -> str:
    """The fingerprint of a diff without context: equal if the same lines are removed
    and added in the same files, wherever in the file that is."""
    digest = hashlib.new("sha256", b"", usedforsecurity=False)
    is_binary = b"\nBinary files " in diff or b"\nGIT binary patch\n" in diff
    for line in diff.split(b"\n"):
        if line.startswith(b"@@"):
            digest.update(b"@@\n")
        elif is_binary or not line.startswith(b"index "):
            digest.update(line + b"\n")
    return digest.hexdigest()


def compare_commits(
    old: Sequence[OwnCommit], new: Sequence[OwnCommit]
) -> tuple[RewrittenCommit, ...]:
    """What became of the commits ``old``: those that are in ``new`` in another form,
    in the order of ``new``, then those that are not.

    A commit is the same if it has the same changes; otherwise if it has the same author
    and time, or the same subject. Each commit belongs to one other at most.
    """
    partners: dict[str, OwnCommit] = {}
    for key in (_commit, _patch, _authorship, _subject):
        _pair(old, new, key, partners)
    changes = [_change(partners.get(commit.commit), commit) for commit in new]
    kept = {partner.commit for partner in partners.values()}
    gone = [commit for commit in old if commit.commit not in kept]
    dropped = [RewrittenCommit(DROPPED, c.commit, "", c.subject) for c in gone]
    return (*changes, *dropped)


def _pair(
    old: Iterable[OwnCommit],
    new: Iterable[OwnCommit],
    key: Callable[[OwnCommit], Hashable],
    partners: dict[str, OwnCommit],
) -> None:
    """Add pairs of commits with the same key, in their order, to ``partners``: the old
    commit by the id of the new one."""
    kept = {partner.commit for partner in partners.values()}
    candidates: dict[Hashable, list[OwnCommit]] = {}
    for commit in old:
        if commit.commit not in kept:
            candidates.setdefault(key(commit), []).append(commit)
    for commit in new:
        alike = candidates.get(key(commit))
        if commit.commit not in partners and alike:
            partners[commit.commit] = alike.pop(0)


def _commit(commit: OwnCommit) -> Hashable:
    return commit.commit


def _patch(commit: OwnCommit) -> Hashable:
    # Commits that change nothing have only their own id in common.
    return commit.patch or commit.commit


def _authorship(commit: OwnCommit) -> Hashable:
    return commit.author, commit.authored_at, commit.subject


def _subject(commit: OwnCommit) -> Hashable:
    return commit.subject


def _change(old: OwnCommit | None, new: OwnCommit) -> RewrittenCommit:
    if old is None:
        return RewrittenCommit(NEW, "", new.commit, new.subject)
    change = UNCHANGED if old.patch == new.patch else CHANGED
    return RewrittenCommit(change, old.commit, new.commit, new.subject)


def first_own(chain: Iterable[OwnCommit], own: Iterable[OwnCommit]) -> OwnCommit | None:
    """The first commit of a trunk, the oldest first, that is one of a branch's ``own``
    commits in another form: with the same changes, or the same author, time and
    subject. ``None`` if there is none."""
    keys = {key(commit) for commit in own for key in (_patch, _authorship)}
    return next((c for c in chain if _patch(c) in keys or _authorship(c) in keys), None)
