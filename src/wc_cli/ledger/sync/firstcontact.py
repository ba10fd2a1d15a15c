"""Asks the remotes of a clone without a store for threads: once, with a deadline,
without prompts.

The branch is fetched to the remote's usual tracking ref; the user's configuration of
the remote is neither used nor changed. What was found is recorded, see
`wc_core.ledger.git.contact`.
"""

from __future__ import annotations

from wc_cli.ledger.branch import commits, compare, trees
from wc_cli.ledger.branch.git import Git
from wc_cli.ledger.clock import now_ms
from wc_cli.ledger.sync import report
from wc_cli.ledger.sync.exchange import Exchange, Waiting
from wc_cli.ledger.sync.exchanger import exchange_error, no_store_error
from wc_cli.ledger.sync.wire import Wire
from wc_cli.ledger.sync.wireerrors import WireError
from wc_core.base.errors import WcError
from wc_core.base.layout import BRANCH
from wc_core.ledger.git import contact
from wc_core.ledger.git.contact import Contact
from wc_core.ledger.git.repository import has_branch

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from wc_core.ledger.git.remotes import Remote
    from wc_core.ledger.git.repository import Repository

# How long `wc init` waits for the answer, in seconds.
INIT_SECONDS = 15.0


def ask(repository: Repository, env: Mapping[str, str], seconds: float) -> bool:
    """Ask the remotes of a repository. Returns whether one has threads; their branch is
    then fetched. Raises nothing: a failure is recorded."""
    remotes = contact.candidates(repository, env)
    if not remotes:
        return False
    labels = tuple(remote.label for remote in remotes)
    result = Contact(now_ms(), remotes=labels)
    waiting = Waiting.at_most(seconds)
    for remote in remotes:
        try:
            if fetch_first(repository, env, remote, waiting):
                report.record_contact(repository, Contact(now_ms(), remotes=labels))
                return True
        except WcError as error:
            if result.answered:
                problem = error.message.removeprefix(f"{remote.label}: ")
                problem = problem.removeprefix(f"{remote.label} ").rstrip(".")
                result = result._replace(silent=remote.label, problem=problem)
    report.record_contact(repository, result)
    # Another process may have fetched it in the meantime.
    return has_branch(repository, BRANCH)


def record_failure(
    repository: Repository, env: Mapping[str, str], problem: str
) -> None:
    """Record that what a partial clone lacks of the threads could not be fetched."""
    labels = tuple(remote.label for remote in contact.candidates(repository, env))
    if labels:
        result = Contact(now_ms(), labels[0], problem, labels)
        report.record_contact(repository, result)


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
