"""The texts of notifications, and what a person's command is told."""

from __future__ import annotations

import os

from wc_core.base.phrases import counted
from wc_core.base.text import one_line
from wc_core.base.times import rfc3339
from wc_core.base.values import NamedTuple
from wc_core.ledger.git import repository as repositories

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

HIGH, DEFAULT = "high", "default"
# Why a person is notified.
BALL, QUESTION, BLOCKED, BOUNCES = "ball", "question", "blocked", "bounces"
SEVERAL = "several"
# A person has to act before an agent can continue.
_URGENT = frozenset({QUESTION, BLOCKED, BOUNCES})

_HEADINGS = {
    BALL: "Your move",
    QUESTION: "A question to you",
    BLOCKED: "Blocked, your move",
    BOUNCES: "Needs a person",
}
_WIDTH = 120
_TEXT_WIDTH = 400


class Notice(NamedTuple):
    """A notification before it is put into words. ``text`` is text of the thread;
    ``number`` is how many notifications it stands for."""

    reason: str
    repository: str = ""
    topic: str = ""
    text: str = ""
    number: int = 1
    urgent: bool = False
    at_ms: int = 0

    @property
    def priority(self) -> str:
        """One of the two priorities."""
        return HIGH if self.urgent or self.reason in _URGENT else DEFAULT

    @property
    def heading(self) -> str:
        """The request in one line, without text of the thread."""
        if self.reason == SEVERAL:
            return f"{counted(self.number, 'notification')} from threads"
        return one_line(f"{_HEADINGS[self.reason]}: {self.topic}", _WIDTH)

    @property
    def body(self) -> str:
        """The line below the heading: the text, and the repository."""
        parts = one_line(self.text, _TEXT_WIDTH), one_line(self.repository, _WIDTH)
        return " · ".join(filter(None, parts))


def summary(notices: Sequence[Notice]) -> Notice:
    """One notice in place of many."""
    first = notices[0]
    topics = ", ".join(dict.fromkeys(notice.topic for notice in notices))
    return Notice(
        SEVERAL,
        first.repository,
        text=topics,
        number=len(notices),
        urgent=any(notice.priority == HIGH for notice in notices),
        at_ms=max(notice.at_ms for notice in notices),
    )


def event_fields(notice: Notice) -> dict[str, Any]:
    """What a person's command is told: as JSON, and each in a variable."""
    return {
        "event": notice.reason,
        "priority": notice.priority,
        "repository": one_line(notice.repository, _WIDTH),
        "topic": one_line(notice.topic, _WIDTH),
        "count": notice.number,
        "title": notice.heading,
        "text": one_line(notice.text, _TEXT_WIDTH),
        "at": rfc3339(notice.at_ms),
    }


def repository_name(root: str) -> str:
    """The name of the repository that the store at ``root`` belongs to."""
    checkout = repositories.find(root)
    return checkout.name if checkout is not None else os.path.basename(root)
