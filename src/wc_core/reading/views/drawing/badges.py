"""The colour, the shape and the initials of a participant, the same in every picture.

They depend only on the agent's name, so all seats and tags of an agent look alike, in
every store and at every time. Colours repeat: shape (agents are square, people round)
and initials distinguish those with the same colour.
"""

from __future__ import annotations

from types import MappingProxyType

from wc_core.base.agents import AGENTS
from wc_core.base.names import SPELLINGS, Directory, fold, parse
from wc_core.base.values import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator


class Hue(NamedTuple):
    """A colour on which white text is readable: as a hexadecimal number, and as one of
    the 256 colours of a terminal. ``ink`` is a similar one for text, which is readable
    on white and on black."""

    rgb: str
    terminal: int
    ink: int


HUES = (
    Hue("#b5471b", 130, 130),
    Hue("#1f7a4d", 29, 29),
    Hue("#2f6fbd", 25, 27),
    Hue("#8b3fb0", 91, 133),
    Hue("#8a6100", 94, 131),
    Hue("#0e7886", 30, 31),
    Hue("#b8336f", 125, 162),
    Hue("#566b12", 58, 64),
    Hue("#5b54c9", 61, 62),
    Hue("#6b6459", 240, 243),
    Hue("#3f6b7d", 24, 66),
    Hue("#7a2e52", 89, 132),
)
# The most common agents. No one else has their colours.
_COMMON = {"Claude Code": 0, "Codex": 1, "Gemini CLI": 2}
# A prime, larger than the number of hues: similar names get different hues.
_PRIME = 65_521


class Badge(NamedTuple):
    """How a participant is drawn: ``hue`` is an index in `HUES`, ``is_agent`` if the
    shape is that of a program, not of a person."""

    hue: int
    initials: str
    is_agent: bool

    @property
    def terminal(self) -> int:
        """The colour of a background on a terminal, one of 256."""
        return HUES[self.hue].terminal

    @property
    def ink(self) -> int:
        """The colour of text on a terminal, one of 256."""
        return HUES[self.hue].ink


def badge_of(holder: str, directory: Directory | None = None) -> Badge:
    """Returns the badge of a written name, such as ``Codex@review (pat)``."""
    directory = directory or Directory()
    agent = directory.canonical(parse(holder)).agent
    is_agent = fold(agent) in SPELLINGS
    return Badge(_hue(agent), _KNOWN_INITIALS.get(agent) or _initials(agent), is_agent)


def _hue(agent: str) -> int:
    if agent in _COMMON:
        return _COMMON[agent]
    number = int.from_bytes(fold(agent).encode("utf-8", "replace"), "big")
    count = len(HUES) - len(_COMMON)
    return len(_COMMON) + number % _PRIME % count


def _initials(agent: str) -> str:
    return next(_possible_initials(agent), "?")


def _possible_initials(agent: str) -> Iterator[str]:
    """Yields two letters for a name, the most natural ones first."""
    words = ["".join(filter(str.isalnum, word)) for word in agent.split()]
    words = [word for word in words if word]
    if len(words) > 1:
        yield words[0][0].upper() + words[1][0].upper()
    letters = "".join(words)
    for letter in letters[1:]:
        yield letters[0].upper() + letter.lower()
    yield letters[:1].upper() or "?"


def _known_initials() -> dict[str, str]:
    """Returns different initials for each known agent."""
    chosen: dict[str, str] = {}
    for agent in AGENTS:
        choices = [*_possible_initials(agent.name)]
        free = (word for word in choices if word not in chosen.values())
        chosen[agent.name] = next(free, choices[0])
    return chosen


_KNOWN_INITIALS = MappingProxyType(_known_initials())
