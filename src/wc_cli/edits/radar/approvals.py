"""The branches of threads that were approved and are still open."""

from __future__ import annotations

from wc_core.base import names
from wc_core.base.errors import WcError
from wc_core.base.lean import contextlib
from wc_core.edits.radar.model import ApprovedBranch
from wc_core.edits.review.points import approved_branch
from wc_core.ledger.git import repository as repositories
from wc_core.ledger.threads.model import APPROVED, CLOSED
from wc_core.ledger.threads.reader import StoreReader
from wc_core.people.identity.resolve import Identity
from wc_core.people.identity.viewer import Viewer
from wc_core.reading.views.listing import thread_rows

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from wc_core.base.layout import Layout
    from wc_core.ledger.git.repository import Repository
    from wc_core.ledger.git.trunk import BaseBranch


def approved_branches(
    layout: Layout, repository: Repository, base: BaseBranch
) -> Iterator[ApprovedBranch]:
    """The approved branches of a store that are in this repository, without their
    conflicts. Those of unreadable threads are left out."""
    reader = StoreReader(layout.root)
    nobody = Viewer(Identity(names.parse(""), ""), names.Directory())
    try:
        rows = thread_rows(reader, nobody)
    except WcError:
        return
    for row in rows:
        if row.review.outcome != APPROVED or row.status == CLOSED:
            continue
        with contextlib.suppress(WcError):
            branch = approved_branch(reader.thread(row.topic), base.name)
            commit = repositories.branch_commit(repository, branch) if branch else ""
            if commit and branch != base.name:
                yield ApprovedBranch(row.topic, row.name, branch, commit, base.commit)
