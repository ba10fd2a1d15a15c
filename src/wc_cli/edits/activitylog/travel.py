"""Exchanges the log of what participants are doing with a remote.

``refs/wc/activity`` at the remote is a commit without parents whose tree contains the
log as its only file. Each push replaces it, with a lease: if two clones push at the
same moment, the slower one fetches, merges and pushes again. The store's branch doesn't
move, and no history of the log is kept.
"""

from __future__ import annotations

import os
import sys
import time

from wc_cli.edits.activitylog import writing
from wc_cli.edits.claims.remote import digest_of, fetched_folder
from wc_cli.ledger.branch.git import Git, GitError
from wc_cli.ledger.clock import random_between
from wc_cli.ledger.store import locks
from wc_cli.ledger.sync import routes
from wc_cli.ledger.sync.declined import Declined
from wc_cli.ledger.sync.wire import Wire
from wc_cli.ledger.sync.wireerrors import DeclinedError, LeaseError, WireError
from wc_core.base.errors import WcError
from wc_core.base.layout import BRANCH, Layout
from wc_core.edits.activitylog import reading, record
from wc_core.ledger.git import repository as repositories
from wc_core.ledger.git.repository import resolve
from wc_core.ledger.threads import settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from wc_core.ledger.git.remotes import Remote
    from wc_core.ledger.git.repository import Repository

REF = "refs/wc/activity"
FILE = "activity.jsonl"

_ERRORS = (GitError, WireError, WcError)
_TRIES = 8
_PAUSE = 0.05
_PERSON = {
    f"GIT_{role}_{part}": value
    for role in ("AUTHOR", "COMMITTER")
    for part, value in (("NAME", "wc"), ("EMAIL", "activity@localhost"))
}


class ActivityRemote:
    """The log at ``remote``. No network process runs past ``until`` on the monotonic
    clock."""

    def __init__(
        self,
        layout: Layout,
        repository: Repository,
        env: Mapping[str, str],
        remote: Remote,
        until: float,
    ) -> None:
        self.layout = layout
        self.repository = repository
        self.git = Git(repository.common, env, bare=True, until=until)
        self.wire = Wire(self.git, remote, repository)
        self._folder = fetched_folder(remote)
        self._declined = Declined(layout, layout.declined_activity(digest_of(remote)))

    def exchange(self, *, is_fetched: bool = False) -> bytes:
        """Fetch the remote's log, merge it with ours, and push the result if the remote
        lacks any of it. ``is_fetched``: its refs have just been fetched. Returns the
        merged log. Raises WireError, GitError, WcError."""
        for attempt in range(_TRIES):
            if attempt or not is_fetched:
                self.wire.fetch_refs(f"+{REF}*:{self._folder}activity*")
            before = resolve(self.repository, f"{self._folder}activity")
            fetched = self._log_at(before)
            merged = writing.take_in(self.layout, fetched, _now_ms())
            if not record.lacks(fetched, merged) or self._declined.is_recent:
                return merged
            try:
                self._push(merged, before)
            except LeaseError:
                time.sleep(_PAUSE * random_between(0, attempt + 1))
            except DeclinedError as error:
                self._declined.remember(error)
                raise
            else:
                return merged
        raise LeaseError("other clones keep changing the log of activity", "")

    def _log_at(self, commit: str) -> bytes:
        """The log in a commit of the remote; empty if there is no valid one."""
        if not commit:
            return b""
        blob = f"{commit}:{FILE}"
        try:
            if int(self.git.line("cat-file", "-s", blob)) > record.MAX_BYTES:
                return b""
            return self.git.run("cat-file", "blob", blob)
        except GitError:
            return b""  # not ours: the next push replaces it

    def _push(self, log: bytes, before: str) -> None:
        """Replace the remote's log, which was at the commit ``before``."""
        blob = self.git.line("hash-object", "-w", "--stdin", feed=log)
        entry = f"100644 blob {blob}\t{FILE}\n".encode()
        tree = self.git.line("mktree", feed=entry)
        words = ("commit-tree", "--no-gpg-sign", "-m", "wc: activity", tree)
        commit = self.git.line(*words, env=_PERSON)
        self.wire.push_refs([f"{commit}:{REF}"], {REF: before})
        self.git.run("update-ref", f"{self._folder}activity", commit)


def exchange_beside_store(
    root: str,
    env: Mapping[str, str],
    remote: Remote,
    seconds: float,
    *,
    is_fetched: bool = False,
) -> list[str]:
    """Exchange the log with a remote right after the store, unless another process is
    doing so. Returns notes for the user: what went wrong."""
    layout = Layout(root)
    handle = locks.try_acquire(layout.activity_sync_lock, root)
    if handle is None:
        return []
    try:
        _exchange(layout, env, remote, seconds, is_fetched=is_fetched)
    except _ERRORS as error:
        return [f"the log of activity was not exchanged: {error}"]
    finally:
        os.close(handle)
    return []


def _exchange(
    layout: Layout,
    env: Mapping[str, str],
    remote: Remote,
    seconds: float,
    *,
    is_fetched: bool = False,
) -> bytes:
    """Exchange the log. Returns the log that both sides have now."""
    checkout = repositories.find(layout.root)
    if checkout is None:
        return b""
    until = time.monotonic() + max(1, seconds)
    exchange = ActivityRemote(layout, checkout, env, remote, until)
    return exchange.exchange(is_fetched=is_fetched)


def route(root: str, env: Mapping[str, str]) -> Remote | None:
    """The remote to which the log is sent automatically: that of the threads, if new
    entries are pushed there."""
    rules = settings.load(root, env)
    checkout = repositories.find(root)
    if rules.sync == "off" or not rules.push:
        return None
    if checkout is None or checkout.branch != BRANCH:
        return None
    return routes.shared_remote(checkout, env)


def main() -> None:
    """Run as ``python -m wc_cli.edits.activitylog.travel ROOT HANDLE``: send the log.
    HANDLE is the lock for sending it, inherited from the command that started this
    process."""
    root, handle = sys.argv[1:]
    os.set_inheritable(int(handle), False)
    env, layout = dict(os.environ), Layout(root)
    os.chdir(root)
    remote = route(root, env)
    sent = b""
    # Whoever wrote a note in the meantime found the lock held and relies on us.
    while remote is not None and record.lacks(sent, reading.log_bytes(layout)):
        limit = settings.load(root, env).limit
        try:
            sent = _exchange(layout, env, remote, limit)
        except _ERRORS:
            return  # the next exchange of the store tries again


def _now_ms() -> int:
    return int(time.time() * 1000)


if __name__ == "__main__":
    main()
