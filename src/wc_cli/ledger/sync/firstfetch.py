"""Fetches a remote's branch into a repository without a store."""

from __future__ import annotations

from wc_cli.ledger.branch import commits, compare, trees
from wc_cli.ledger.branch.git import Git
from wc_cli.ledger.sync.exchange import Exchange
from wc_cli.ledger.sync.exchanger import exchange_error, no_store_error
from wc_cli.ledger.sync.wire import Wire
from wc_cli.ledger.sync.wireerrors import WireError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from wc_cli.ledger.sync.exchange import Waiting
    from wc_core.ledger.git.remotes import Remote
    from wc_core.ledger.git.repository import Repository


def preview_first(
    repository: Repository, env: Mapping[str, str], remote: Remote, waiting: Waiting
) -> Exchange:
    """The result of a first exchange for a repository without a store. Raises
    OfflineError, StorageError, ConflictError."""
    remote_tip = fetch_first(repository, env, remote, waiting)
    git = _git(repository, env, waiting)
    if remote_tip and not trees.is_store(git, remote_tip):
        raise no_store_error(remote)
    behind, _ = commits.ahead_behind(git, remote_tip, "") if remote_tip else (0, 0)
    return Exchange(remote.label, compare.count_new(git, "", remote_tip), behind=behind)


def fetch_first(
    repository: Repository, env: Mapping[str, str], remote: Remote, waiting: Waiting
) -> str:
    """Fetch the branch into a repository without a store.

    Returns its commit, empty if the remote does not have the branch. Raises
    OfflineError, StorageError.
    """
    try:
        return Wire(_git(repository, env, waiting), remote, repository).fetch()
    except WireError as error:
        raise exchange_error(remote, error) from error


def _git(repository: Repository, env: Mapping[str, str], waiting: Waiting) -> Git:
    return Git(repository.top or repository.common, env, until=waiting.deadline)
