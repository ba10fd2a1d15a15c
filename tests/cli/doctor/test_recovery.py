"""What the branch is known to have, while others go on committing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wc_cli.ledger.doctor.recovery import Recovery
from wc_core.ledger.threads.reader import StoreReader

if TYPE_CHECKING:
    from tests.conftest import Repo


def test_entries_committed_after_the_first_look_are_not_uncommitted(
    repo: Repo,
) -> None:
    repo.settled("new", "auth", "--title", "x")
    reader = StoreReader(str(repo.store))
    recovery = Recovery(reader, repo.machine.env)
    assert recovery.topics() == {"auth"}
    repo.settled("ack", "auth")
    assert recovery.uncommitted(reader.thread("auth")) == 0


def test_entries_that_no_commit_has_are_counted(repo: Repo) -> None:
    repo.settled("new", "auth", "--title", "x")
    reader = StoreReader(str(repo.store))
    recovery = Recovery(reader, repo.machine.env)
    repo.ok("ack", "auth")
    assert recovery.uncommitted(reader.thread("auth")) == 1
