"""The remote branch that a branch is compared with."""

from __future__ import annotations

from wc_core.base.values import NamedTuple
from wc_core.ledger.git import config

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from wc_core.ledger.git.repository import Repository

_DEFAULT = "origin"


class Upstream(NamedTuple):
    """The remote of a branch, the name of the branch there, and its tracking ref."""

    remote: str
    branch: str
    tracking: str


def upstream_of(
    repository: Repository, env: Mapping[str, str], branch: str = ""
) -> Upstream | None:
    """The upstream of a branch, or of the current one: the configured one, otherwise
    the one of the same name at ``origin``. ``None`` for a detached HEAD."""
    branch = branch or repository.working_branch
    if not branch:
        return None
    keys = (f"branch.{branch}.remote", f"branch.{branch}.merge")
    values = config.get_all(keys, repository, env)
    remote = values[keys[0]] or _DEFAULT
    name = values[keys[1]].removeprefix("refs/heads/") or branch
    if remote == ".":  # another branch of this clone
        remote, name = _DEFAULT, branch
    return Upstream(remote, name, f"refs/remotes/{remote}/{name}")
