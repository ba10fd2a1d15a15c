"""Asking which entries mean the same as a query, without what only that needs: it is
imported when a search asks, which is when the words found little."""

from __future__ import annotations

from wc_core.meaning import models
from wc_core.search.nearness import Nearness

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from wc_core.configuration.preferences import Preferences
    from wc_core.threads.reader import StoreReader


class Meaning:
    """What searches of one store know beyond words. ``note_missing`` is told how many
    threads lack vectors that a process on this machine could make."""

    def __init__(
        self,
        reader: StoreReader,
        preferences: Preferences,
        env: Mapping[str, str],
        note_missing: Callable[[int], None] = lambda _: None,
    ) -> None:
        self._reader = reader
        self._preferences = preferences
        self._env = env
        self._note_missing = note_missing

    def nearest(
        self, query: str, current: Mapping[str, str], newest: str = ""
    ) -> Nearness:
        """Returns how near the entries of some threads are to a query; of those up to
        the id ``newest``, if there is one. ``current`` has the key of each thread's
        files. Raises nothing: the answer has the problem."""
        model, reason = models.chosen(self._preferences)
        if model is None:
            return Nearness({}, problem=reason)
        # 0.1 to 0.2 s (numpy, tokenizers), for searches whose words find little.
        from wc_core.meaning import nearest

        search = nearest.meaning_search(self._reader, model, self._env)
        nearness = search.nearest(query, current, newest)
        if model.is_local:
            self._note_missing(nearness.missing)
        return nearness
