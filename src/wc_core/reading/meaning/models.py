"""Which model makes the vectors, and where it runs."""

from __future__ import annotations

from importlib.machinery import PathFinder

from wc_core.base.values import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from wc_core.ledger.configuration.preferences import Preferences

EXTRA = "wc-watercooler[meaning]"
LOCAL_NAME = "wordllama l2_supercat_256"
LOCAL_DIMENSIONS = 256
_NUMBERS = ("numpy",)
_LOCAL = ("numpy", "tokenizers", "wordllama")


class Model(NamedTuple):
    """A model by its ``name``, with these ``dimensions`` (0: the model's own). Without
    an ``endpoint`` it is the one on this machine."""

    name: str
    dimensions: int = 0
    endpoint: str = ""

    @property
    def is_local(self) -> bool:
        """Whether it runs in our own processes."""
        return not self.endpoint

    @property
    def label(self) -> str:
        """The model in messages, and where text is sent for it."""
        place = f"at {self.endpoint}" if self.endpoint else "on this machine"
        return f"{self.name}, {place}"


class Choice(NamedTuple):
    """The model to use; without one, the ``reason`` why searches use only words."""

    model: Model | None
    reason: str = ""


LOCAL = Model(LOCAL_NAME, LOCAL_DIMENSIONS)


def chosen(preferences: Preferences) -> Choice:
    """Returns the model that a person chose, if its requirements are installed."""
    if not preferences.by_meaning:
        return Choice(None, "they are switched off (meaning.endpoint)")
    if preferences.problem:
        # The preferences' servers are not known.
        return Choice(None, preferences.problem)
    server = preferences.meaning_endpoint
    needed = _NUMBERS if server.address else _LOCAL
    if not all(map(PathFinder.find_spec, needed)):
        return Choice(None, f"{EXTRA} is not installed")
    if not server.address:
        return Choice(LOCAL)
    if not server.model:
        return Choice(None, "meaning.endpoint names a server, but no model")
    return Choice(Model(server.model, endpoint=server.address))
