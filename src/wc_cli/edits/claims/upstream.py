"""Compares the current branch with its remote, as last fetched."""

from __future__ import annotations

import os

from wc_cli.ledger.branch.git import GitError
from wc_core.base.errors import StorageError
from wc_core.base.values import NamedTuple
from wc_core.edits.claims.ids import ClaimId
from wc_core.edits.claims.upstreams import Upstream, upstream_of
from wc_core.ledger.git.repository import resolve
from wc_core.ledger.git.trunk import REMOTE_HEAD, find_base

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from wc_cli.edits.claims.registry import Registry


class Divergence(NamedTuple):
    """The comparison of HEAD with the remote's branch.

    ``behind``: the remote's branch ``name`` has commits that HEAD lacks, unless that is
    the base branch, and HEAD another one. ``unpushed`` are the targets that changed in
    commits that the remote lacks.
    """

    remote_head: str = ""
    behind: bool = False
    unpushed: tuple[str, ...] = ()
    name: str = ""


def divergence(registry: Registry, targets: Sequence[ClaimId]) -> Divergence:
    """Compare HEAD with the upstream. git runs only if they differ. Raises
    StorageError."""
    upstream = upstream_of(registry.repository, registry.env)
    head = registry.repository.commit
    remote_head = resolve(registry.repository, upstream.tracking) if upstream else ""
    if upstream is None or not remote_head or not head or remote_head == head:
        return Divergence(remote_head)
    try:
        counts = registry.git.line(
            "rev-list", "--left-right", "--count", f"{remote_head}...{head}"
        )
        behind, ahead = map(int, counts.split())
        changed = _changed(registry, remote_head, head) if ahead else []
    except GitError as error:
        raise StorageError(f"The branches cannot be compared: {error}.") from error
    unpushed = tuple(
        str(target)
        for target in targets
        if any(ClaimId(target.path).covers(ClaimId(path)) for path in changed)
    )
    is_behind = behind > 0 and not _follows_base(registry, upstream)
    name = f"{upstream.remote}/{upstream.branch}"
    return Divergence(remote_head, is_behind, unpushed, name)


def _follows_base(registry: Registry, upstream: Upstream) -> bool:
    """Whether the upstream is the base branch, from which another branch has begun:
    what others land there makes nothing obsolete."""
    repository = registry.repository
    if upstream.branch == repository.working_branch:
        return False
    return find_base(repository, "").name in {upstream.branch, REMOTE_HEAD}


def _changed(registry: Registry, base: str, head: str) -> list[str]:
    """The paths that changed in the commits of ``head`` that ``base`` lacks."""
    words = ("diff", "--name-only", "--no-renames", "-z", f"{base}...{head}")
    return os.fsdecode(registry.git.run(*words)).rstrip("\0").split("\0")
