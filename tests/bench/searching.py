"""What a search costs beyond every word: by some of the words, and by meaning, with the
model on this machine."""

from __future__ import annotations

import importlib.util
from functools import cached_property
from typing import TYPE_CHECKING

from tests.bench.table import Row, at_most

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.bench.scratch import Scratch

# No entry has all of these words; a few have the first, nearly all have the cookie.
RARE = ("needle", "haystack")
COMMON = ("needle", "cookie", "haystack")
# The time of a key press.
GOAL = at_most(100)
# NumPy and the tokenizer's vocabulary take 110 ms of it.
BY_MEANING = at_most(200)


class SearchRows:
    """The rows. Nothing is made before a row is sampled for the first time."""

    def __init__(self, scratch: Scratch, store: tuple[int, int]) -> None:
        self.scratch = scratch
        self.store = store

    def rows(self) -> list[Row]:
        """Every row, in the order of the table."""
        many = "{:,} threads of {}".format(*self.store)
        words = f"wc search, {many}"
        rare, common = (self._by_words("search", *query) for query in (RARE, COMMON))
        name = f"wc search by meaning, {many}"
        has_model = importlib.util.find_spec("wordllama")
        lacks = "" if has_model else "the extra meaning is not installed"
        return [
            Row(f"wc search, some of the words, {many}", rare, words, GOAL),
            Row(f"wc search, a common word of several, {many}", common, words, GOAL),
            Row(name, self._by_meaning, words, BY_MEANING, lacks=lacks),
        ]

    def _by_words(self, *words: str) -> Callable[[], float]:
        def seconds() -> float:
            folder = self.scratch.repository(*self.store)
            process = self.scratch.process("wc", *words, folder=folder)
            # A search has the vectors made that it lacks: later ones would use them.
            env = process.env | {"WATERCOOLER_MEANING": "off"}
            return process._replace(env=env).seconds()

        return seconds

    def _by_meaning(self) -> float:
        return self.scratch.process("wc", "search", *RARE, folder=self._meant).seconds()

    @cached_property
    def _meant(self) -> str:
        """A store whose entries have vectors."""
        folder = self.scratch.repository(*self.store, name="meaning")
        self.scratch.process("wc", "enrich", "--meaning", folder=folder).seconds()
        return folder
