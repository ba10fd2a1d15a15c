"""Records the result of the last exchange in ``.local/sync.json``, for readers and for
the next attempt; and before there is a store, whether remotes were asked for one."""

from __future__ import annotations

import os
import time

from wc_cli.ledger.branch import commits
from wc_cli.ledger.branch.git import Git, GitError
from wc_cli.ledger.clock import now_ms
from wc_cli.ledger.store import durable
from wc_core.base.errors import WcError
from wc_core.base.lean import contextlib
from wc_core.base.values import NamedTuple
from wc_core.ledger.git import contact, freshness, repository
from wc_core.ledger.git.contact import Contact
from wc_core.ledger.git.freshness import Freshness
from wc_core.ledger.threads.jsontext import dumps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from wc_core.base.layout import Layout
    from wc_core.ledger.git.remotes import Remote
    from wc_core.ledger.git.repository import Repository


class Failure(NamedTuple):
    """Why an exchange failed, and what to do about it; retrying does not solve a
    ``lasting`` problem."""

    problem: str
    hint: str
    lasting: bool


def record_success(
    layout: Layout,
    env: Mapping[str, str],
    remote: Remote,
    own_tip: str,
    remote_tip: str,
) -> None:
    """Record the commits of our branch and the remote's. Raises GitError."""
    ahead, behind = commits.ahead_behind(Git(layout.root, env), own_tip, remote_tip)
    _write(layout, Freshness(remote.label, _now(), own_tip, remote_tip, ahead, behind))
    checkout = commits.checkout_at(layout.root)
    if os.path.lexists(contact.path_of(checkout, contact.UNASKED)):
        record_contact(checkout, Contact(now_ms(), remotes=(remote.label,)))


def record_failure(
    layout: Layout, env: Mapping[str, str], remote: Remote, failure: Failure
) -> None:
    """Record that an exchange failed; the known commits of both branches are kept."""
    state = freshness.load(layout) or Freshness()
    if state.remote != remote.label:
        state = Freshness(remote.label)
    with contextlib.suppress(GitError):
        checkout = commits.checkout_at(layout.root)
        own_tip = commits.tip(checkout)
        remote_tip = repository.resolve(checkout, remote.tracking)
        ahead, behind = commits.ahead_behind(Git(layout.root, env), own_tip, remote_tip)
        state = state._replace(
            ours=own_tip, theirs=remote_tip, ahead=ahead, behind=behind
        )
    _write(
        layout,
        state._replace(
            problem=failure.problem.removeprefix(f"{remote.label}: "),
            hint=failure.hint,
            failed_at=_now(),
            failures=state.failures + 1,
            lasting=failure.lasting,
        ),
    )


def _write(layout: Layout, state: Freshness) -> None:
    data = f"{dumps(state._asdict())}\n".encode(errors="replace")
    with contextlib.suppress(WcError):  # only a convenience for readers
        durable.replace(layout.sync_state, data, layout.root)


def _now() -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


def record_contact(repository: Repository, result: Contact) -> None:
    """Record that the remotes of a repository were asked for threads, as far as
    possible: where it cannot be written to, they are asked again."""
    name, obsolete_name = contact.ASKED, contact.UNASKED
    if not result.answered:
        name, obsolete_name = obsolete_name, name
    path = contact.path_of(repository, name)
    with contextlib.suppress(OSError, WcError):
        durable.remove(f"{path}.new")
        durable.write_new(f"{path}.new", result.to_text().encode())
        durable.move(f"{path}.new", path, "")
        durable.remove(contact.path_of(repository, obsolete_name))
