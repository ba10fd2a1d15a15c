"""The importance of an answer's entries and threads for the viewer."""

from __future__ import annotations

from wc_core.ledger.threads.model import DECISION
from wc_core.reading.views.budget.spending import AnswerItem

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from wc_core.ledger.threads.model import Entry
    from wc_core.people.identity.viewer import Viewer

# The most characters of a body that the server's answers quote beside an entry.
SNIPPET_WIDTH = 120
# A text with more characters is shown whole only after all shorter ones.
LARGE = 4_000


# The characters of a call or a command besides the topic. The command and the server
# count at least this many, so that they choose the same entries.
_CALL = 90


def show_padding(text: str, topic: str) -> int:
    """Returns how many characters a call or a command is shorter than counted."""
    return max(0, _CALL + len(topic) - len(text))


def matters(entry: Entry, viewer: Viewer) -> bool:
    """Returns whether an entry is a decision, passes the ball to the viewer, or asks
    them something."""
    if entry.any_kind == DECISION:
        return True
    passed = entry.ball is not None and viewer.holds(entry.ball.holder)
    return passed or bool(entry.asks and viewer.holds(entry.asks))


def entry_items(
    entries: Sequence[Entry], viewer: Viewer, *, summaries_only: bool = False
) -> list[AnswerItem]:
    """Returns the entries of a thread, newest last, as items of an answer: as a summary
    and whole, except for those without a text."""
    newest = len(entries) - 1
    return [
        AnswerItem(
            newest - index,
            matters(entry, viewer),
            1 if summaries_only or not entry.body else 2,
            len(entry.body) > LARGE,
        )
        for index, entry in enumerate(entries)
    ]
