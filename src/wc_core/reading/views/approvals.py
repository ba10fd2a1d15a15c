"""Approved branches that no longer merge into the base branch, as they are shown."""

from __future__ import annotations

from wc_core.base.errors import WcError
from wc_core.base.text import one_line
from wc_core.base.values import NamedTuple
from wc_core.edits.radar import kept
from wc_core.ledger.threads.model import APPROVED, CLOSED
from wc_core.reading.views.conflicts import file_text, files_text, is_recent

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from wc_core.edits.radar.model import ApprovedBranch, Radar
    from wc_core.ledger.threads.reader import StoreReader
    from wc_core.people.identity.viewer import Viewer

_MAX_NAME = 200
_MAX_FILES = 20


class OutdatedApproval(NamedTuple):
    """A thread whose branch was approved and no longer merges into ``base``, as of
    ``at_ms``."""

    approved: ApprovedBranch
    base: str
    at_ms: int

    @property
    def key(self) -> str:
        """A text that differs for each thread and each commit of the base branch."""
        return f"approved\n{self.approved.topic}\n{self.approved.onto}"

    @property
    def name(self) -> str:
        """The name of the thread."""
        return one_line(self.approved.name, _MAX_NAME)

    @property
    def branch(self) -> str:
        """The approved branch."""
        return one_line(self.approved.branch, _MAX_NAME)

    @property
    def file_texts(self) -> tuple[str, ...]:
        """Each file in conflict, and where."""
        return tuple(map(file_text, self.approved.files))

    def files_text(self, limit: int) -> str:
        """At most ``limit`` of the files, and how many more there are."""
        return files_text(self.approved.files, limit)

    def predicate(self, limit: int) -> str:
        """What happened to the thread, with at most ``limit`` of the files."""
        base = one_line(self.base, _MAX_NAME)
        return (
            f"was approved, but {self.branch} no longer merges into {base}: "
            f"{self.files_text(limit)}"
        )

    def to_json(self) -> dict[str, Any]:
        """The thread, its branch, and the files in conflict."""
        return {
            "topic": self.name,
            "branch": self.branch,
            "base": one_line(self.base, _MAX_NAME),
            "files": list(self.file_texts[:_MAX_FILES]),
        }


def load_outdated(
    reader: StoreReader, now_ms: int, viewer: Viewer | None = None
) -> tuple[OutdatedApproval, ...]:
    """The same as `outdated_approvals`, from the stored radar."""
    radar = kept.load(reader.layout)
    if radar is None:
        return ()
    return outdated_approvals(radar, reader, now_ms, viewer)


def outdated_approvals(
    radar: Radar, reader: StoreReader, now_ms: int, viewer: Viewer | None = None
) -> tuple[OutdatedApproval, ...]:
    """The approvals that a radar found to be outdated; with a viewer, only of threads
    whose ball they have. None if the radar is more than an hour old. Threads that were
    closed or opened for review again since are left out."""
    if not is_recent(radar, now_ms):
        return ()
    return tuple(
        OutdatedApproval(approved, radar.base, radar.at_ms)
        for approved in radar.outdated
        if _is_approved(reader, approved.topic, viewer)
    )


def _is_approved(reader: StoreReader, topic: str, viewer: Viewer | None) -> bool:
    """Return whether a thread is still open and approved, and the ball is the
    viewer's."""
    try:
        state = reader.snapshot(topic).state
    except WcError:
        return False
    is_theirs = viewer is None or viewer.holds(state.ball)
    return is_theirs and state.status != CLOSED and state.review.outcome == APPROVED
