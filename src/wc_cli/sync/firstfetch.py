"""What a remote has, for somebody who has no store here yet."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wc_cli.branch import commits, compare, trees
from wc_cli.branch.git import Git
from wc_cli.sync.exchange import Exchange, no_store, told
from wc_cli.sync.wire import Wire
from wc_cli.sync.wireerrors import WireError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from wc_cli.sync.exchange import Waiting
    from wc_core.git.remotes import Remote
    from wc_core.git.repository import Repository


def look_first(
    where: Repository, env: Mapping[str, str], remote: Remote, waiting: Waiting
) -> Exchange:
    """What would come to where there is no store yet. Raises OfflineError,
    StorageError, ConflictError."""
    theirs = fetch_first(where, env, remote, waiting)
    git = Git(where.top or where.common, env, until=waiting.until)
    if theirs and not trees.is_store(git, theirs):
        raise no_store(remote)
    behind, _ = commits.ahead_behind(git, theirs, "") if theirs else (0, 0)
    return Exchange(remote.shown, compare.count_new(git, "", theirs), behind=behind)


def fetch_first(
    where: Repository, env: Mapping[str, str], remote: Remote, waiting: Waiting
) -> str:
    """Fetch the branch where there is no store yet; the commit it is at, empty
    where there is none. Raises OfflineError, StorageError."""
    git = Git(where.top or where.common, env, until=waiting.until)
    try:
        return Wire(git, remote).fetch()
    except WireError as error:
        raise told(remote, error) from error
