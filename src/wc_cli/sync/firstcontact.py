"""Asks the remotes of a clone without a store for threads: once, with a deadline,
without prompts.

The branch is fetched to the remote's usual tracking ref; the user's configuration of
the remote is neither used nor changed. What was found is recorded, see
`wc_core.git.contact`.
"""

from __future__ import annotations

from wc_cli.clock import now_ms
from wc_cli.sync import report
from wc_cli.sync.exchange import Waiting
from wc_cli.sync.firstfetch import fetch_first
from wc_core.errors import WcError
from wc_core.git import contact
from wc_core.git.discovery import BRANCH_STORE
from wc_core.git.repository import has_branch
from wc_core.layout import BRANCH

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from wc_core.git.contact import Contact
    from wc_core.git.discovery import Place
    from wc_core.threads.settings import Settings

# How long commands wait for the answer, in seconds.
INIT_SECONDS, SECONDS = 15.0, 3.0
# An answer counts for a day; after a failure, ten minutes pass before another attempt.
_ANSWER_MS, _FAILURE_MS = 24 * 3_600_000, 600_000


def ask(
    place: Place,
    env: Mapping[str, str],
    settings: Settings,
    *,
    seconds: float = SECONDS,
    again: bool = False,
) -> bool:
    """Ask for threads where there is neither a store nor its branch. With ``again``
    also if it was done lately. Returns whether a remote has them; the branch is then
    fetched. Raises nothing: a failure is recorded."""
    repository = place.repository
    if place.kind != BRANCH_STORE or place.exists or place.branch_exists:
        return False
    if repository is None or settings.sync == "off":
        return False
    latest_contact = contact.load(repository)
    if latest_contact is not None and not again and _is_recent(latest_contact):
        return False
    remotes = contact.candidates(repository, env)
    if not remotes:
        return False
    waiting, failed = Waiting.at_most(seconds), contact.Contact(now_ms())
    for remote in remotes:
        try:
            if fetch_first(repository, env, remote, waiting):
                report.record_contact(repository, contact.Contact(now_ms()))
                return True
        except WcError as error:
            if failed.answered:
                problem = error.message.removeprefix(f"{remote.label}: ")
                problem = problem.removeprefix(f"{remote.label} ").rstrip(".")
                failed = failed._replace(remote=remote.label, problem=problem)
    report.record_contact(repository, failed)
    # Another process may have fetched it in the meantime.
    return has_branch(repository, BRANCH)


def failure(place: Place, env: Mapping[str, str]) -> str:
    """One line if the last attempt has failed; otherwise empty."""
    repository = place.repository
    latest_contact = contact.load(repository) if repository is not None else None
    if latest_contact is None or latest_contact.answered:
        return ""
    return contact.unasked(place, env)


def _is_recent(latest_contact: Contact) -> bool:
    age = now_ms() - latest_contact.at
    return 0 <= age < (_ANSWER_MS if latest_contact.answered else _FAILURE_MS)
