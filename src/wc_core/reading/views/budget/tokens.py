"""The token budget of an answer, and the error for one that is too small."""

from __future__ import annotations

from wc_core.base.errors import InvalidInputError
from wc_core.base.values import NamedTuple

CHARACTERS_PER_TOKEN = 4
# Calls in the shortest answer, for what is left out before and after, and what follows.
CALLS = 3


class Budget(NamedTuple):
    """How many tokens an answer may take, four characters each. ``reserved`` are
    characters used by something else, such as guidance. The shortest answer has at most
    this many ``calls`` that repeat the number of tokens."""

    tokens: int
    reserved: int = 0
    calls: int = 0

    @property
    def characters(self) -> int:
        """The number of characters available for the answer."""
        return self.tokens * CHARACTERS_PER_TOKEN - self.reserved

    def least_tokens(self, characters: int) -> int:
        """Returns how many tokens are enough for an answer of this many characters. Its
        calls become longer with a number that has more digits."""
        characters += self.reserved
        least = -(-characters // CHARACTERS_PER_TOKEN)
        digits = len(str(least + self.calls)) - len(str(self.tokens))
        characters += max(0, digits) * self.calls
        return -(-characters // CHARACTERS_PER_TOKEN)


def too_small(budget: Budget, characters: int) -> InvalidInputError:
    """Returns the error for an answer that takes at least this many characters."""
    least = budget.least_tokens(characters)
    return InvalidInputError(
        f"This answer takes at least {least} tokens; {budget.tokens} are too few.",
        f"max_tokens (--max-tokens): {least} or more",
    )
