"""Finds entries with a meaning similar to a query. It imports its libraries only when a
search needs them, which is when the words found little."""

from __future__ import annotations

import os

from wc_core.ledger.configuration import preferences
from wc_core.lookup.nearness import Nearness
from wc_core.reading.meaning import coverage

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from wc_core.ledger.threads.reader import StoreReader
    from wc_core.reading.meaning.embedding import QueryAnswers


class Meaning:
    """The knowledge of searches in one store beyond words. ``keys`` returns the current
    key of each thread's files. ``note_missing`` gets the number of threads that lack
    vectors that a process on this machine could make. ``queries`` are shared by stores
    that are searched together, so that the model is called once."""

    def __init__(
        self,
        reader: StoreReader,
        keys: Callable[[Sequence[str]], Mapping[str, str]],
        env: Mapping[str, str],
        note_missing: Callable[[int], None] = lambda _: None,
        *,
        queries: QueryAnswers | None = None,
    ) -> None:
        self._reader = reader
        self._keys = keys
        self._env = env
        self._note_missing = note_missing
        self._queries = queries

    def nearest(
        self, query: str, topics: Callable[[], Sequence[str]], newest: str = ""
    ) -> Nearness:
        """Returns how near the entries of some threads are to a query; of those up
        to the id ``newest``, if there is one. Raises nothing: the result has the
        problem."""
        from wc_core.reading.meaning import models  # 1 ms, as below

        personal = preferences.load(self._env)
        model, reason = models.chosen(personal)
        if model is None:
            # No message for someone who switched it off.
            return Nearness({}, problem=reason if personal.by_meaning else "")
        # It may have the keys of other threads as well.
        listed = topics()
        keys = self._keys(listed)
        current = {topic: keys[topic] for topic in listed if topic in keys}
        if coverage.has_file(self._reader.layout) or (
            model.is_local and coverage.are_few(current.values())
        ):
            # NumPy's threads, one for each core, would take 20 ms of CPU time to start.
            os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
            # 0.1 to 0.2 s (numpy, tokenizers), for searches whose words find little.
            from wc_core.reading.meaning import nearest

            ask = nearest.meaning_search(self._reader, model, self._env, self._queries)
            nearness = ask.nearest(query, current, newest)
        else:
            nearness = Nearness({}, missing=len(current), problem=coverage.NO_VECTORS)
        if model.is_local:
            self._note_missing(nearness.missing)
        return nearness
