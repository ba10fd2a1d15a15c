"""Names and titles as one person reads them on a terminal: shorter than in a pipe."""

from __future__ import annotations

from wc_core.base.names import MINE, Name, fold, parse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from wc_core.people.identity.viewer import Viewer

YOU = "you"


def short_name(name: str, viewer: Viewer) -> str:
    """Return the viewer's own name as ``you``, and another one without the tag of the
    viewer's own agents."""
    if viewer.whose(name) == MINE:
        return YOU
    identity, parsed = viewer.identity, parse(name)
    own_tag = identity.agents_tag or identity.name.tag
    if parsed.tag and fold(parsed.tag) == fold(own_tag):
        return str(Name(parsed.agent, parsed.seat))
    return name


def says_more(title: str, topic: str) -> bool:
    """Return whether a title has a word that its topic does not have."""
    return not _words(title) <= _words(topic)


def _words(text: str) -> set[str]:
    separated = "".join(char if char.isalnum() else " " for char in text.casefold())
    return {*separated.split()}
