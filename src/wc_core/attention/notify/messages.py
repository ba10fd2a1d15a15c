"""The texts of notifications, and the bodies sent to webhooks.

Without ``content``, a webhook gets the request, the topic and the name of the
repository, and no text of the thread.
"""

from __future__ import annotations

import os

from wc_core.attention.notify.targets import NTFY, SLACK, Target
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
NOTE, SEVERAL, TEST = "note", "several", "test"
# A person has to act before an agent can continue.
_URGENT = frozenset({QUESTION, BLOCKED, BOUNCES})

_HEADINGS = {
    BALL: "Your move",
    QUESTION: "A question to you",
    BLOCKED: "Blocked, your move",
    BOUNCES: "Needs a person",
    NOTE: "Needs you",
}
_WIDTH = 120
_TEXT_WIDTH = 400
# ntfy's priorities run from 1 to 5; 3 is the usual one.
_NTFY_PRIORITIES = {HIGH: 4, DEFAULT: 3}
_SIGNS = {HIGH: "rotating_light", DEFAULT: "bell"}


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
        if self.reason == TEST:
            return "A test of wc notify"
        if self.reason == SEVERAL:
            return f"{counted(self.number, 'notification')} from threads"
        return one_line(f"{_HEADINGS[self.reason]}: {self.topic}", _WIDTH)

    def body(self, *, content: bool) -> str:
        """The line below the heading: the repository, and with ``content`` the text."""
        place = one_line(self.repository, _WIDTH)
        text = one_line(self.text, _TEXT_WIDTH) if content else ""
        return f"{text} · {place}" if text and place else text or place


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


def payload(target: Target, notice: Notice, *, content: bool) -> dict[str, Any]:
    """The JSON for a webhook."""
    priority = notice.priority
    body = notice.body(content=content)
    if target.kind == NTFY:
        return {
            "topic": target.url.partition("?")[0].rpartition("/")[2],
            "title": notice.heading,
            "message": body or notice.heading,
            "priority": _NTFY_PRIORITIES[priority],
            "tags": [_SIGNS[priority]],
        }
    if target.kind == SLACK:
        text = f":{_SIGNS[priority]}: *{_for_slack(notice.heading)}*"
        return {"text": f"{text}\n{_for_slack(body)}" if body else text}
    fields: dict[str, Any] = {
        "event": notice.reason,
        "priority": priority,
        "repository": notice.repository,
        "topic": notice.topic,
        "count": notice.number,
        "title": notice.heading,
        "at": rfc3339(notice.at_ms),
    }
    if content:
        fields["text"] = one_line(notice.text, _TEXT_WIDTH)
    return fields


def _for_slack(text: str) -> str:
    """Text in which Slack finds no links and no mentions. Mattermost needs no markup
    for mentions: it finds none if the name does not follow the @."""
    signs = (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ("@", "@\u200b"))
    for sign, escaped in signs:
        text = text.replace(sign, escaped)
    return text


def repository_name(root: str) -> str:
    """The name of the repository that the store at ``root`` belongs to."""
    checkout = repositories.find(root)
    return checkout.name if checkout is not None else os.path.basename(root)
