"""Names and titles as one person reads them on a terminal: shorter than in a pipe."""

from __future__ import annotations

from wc_cli.run.terminal.style import is_terminal
from wc_cli.run.widths import left_to_right
from wc_core.base.names import MINE, without_tag
from wc_core.base.text import one_line
from wc_core.base.times import with_local_times

TYPE_CHECKING = False
if TYPE_CHECKING:
    from wc_core.people.identity.viewer import Viewer

YOU = "you"


def short_name(name: str, viewer: Viewer) -> str:
    """Return the viewer's own name as ``you``, and another one without the tag of the
    viewer's own agents."""
    if viewer.whose(name) == MINE:
        return YOU
    return without_tag(name, viewer.identity.own_tag)


def name_text(name: str, own_tag: str) -> str:
    """Return a name, on a terminal without the tag of the viewer's own agents."""
    return without_tag(name, own_tag) if is_terminal() else name


def title_before_more(title: str) -> str:
    """Return a title on one line. On a terminal, what follows it stays to its right
    after right-to-left letters, too."""
    line = one_line(title)
    return left_to_right(line) if is_terminal() else line


def shown_waits(text: str) -> str:
    """Return what a thread waits for, on a terminal with times in the zone of this
    machine."""
    return with_local_times(text) if is_terminal() else text


def says_more(title: str, topic: str) -> bool:
    """Return whether a title has a word that its topic does not have."""
    return not _words(title) <= _words(topic)


def _words(text: str) -> set[str]:
    separated = "".join(char if char.isalnum() else " " for char in text.casefold())
    return {*separated.split()}
