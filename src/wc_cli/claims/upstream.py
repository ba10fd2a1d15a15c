"""The branch that is checked out, compared with its remote as of the last fetch."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from wc_cli.branch.git import GitError
from wc_core.claims.ids import ClaimId
from wc_core.errors import StorageError
from wc_core.git import config
from wc_core.git.repository import resolve
from wc_core.values import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wc_cli.claims.registry import Registry

_DEFAULT = "origin"


class Upstream(NamedTuple):
    """The remote of a branch, the name of the branch there, and its tracking ref."""

    remote: str
    branch: str
    tracking: str


class Divergence(NamedTuple):
    """How HEAD compares with the remote's branch.

    ``behind`` says that the remote has commits which HEAD lacks; ``unpushed`` are the
    targets that changed in commits which the remote lacks.
    """

    remote_head: str = ""
    behind: bool = False
    unpushed: tuple[str, ...] = ()


def upstream_of(registry: Registry) -> Upstream | None:
    """The upstream of the current branch: the configured one, else that of the same
    name at ``origin``. ``None`` for a detached HEAD."""
    repository, env = registry.repository, registry.env
    branch = repository.working_branch
    if not branch:
        return None
    keys = (f"branch.{branch}.remote", f"branch.{branch}.merge")
    values = config.get_all(keys, repository, env)
    remote = values[keys[0]] or _DEFAULT
    name = values[keys[1]].removeprefix("refs/heads/") or branch
    return Upstream(remote, name, f"refs/remotes/{remote}/{name}")


def divergence(registry: Registry, targets: Sequence[ClaimId]) -> Divergence:
    """How HEAD compares with the upstream. Git runs only if they differ. Raises
    StorageError."""
    upstream = upstream_of(registry)
    head = registry.repository.commit
    remote_head = resolve(registry.repository, upstream.tracking) if upstream else ""
    if not remote_head or not head or remote_head == head:
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
    return Divergence(remote_head, behind > 0, unpushed)


def _changed(registry: Registry, base: str, head: str) -> list[str]:
    """The paths that changed in the commits of ``head`` that are not in ``base``."""
    words = ("diff", "--name-only", "--no-renames", "-z", f"{base}...{head}")
    return os.fsdecode(registry.git.run(*words)).rstrip("\0").split("\0")
