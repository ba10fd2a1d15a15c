"""The words for links."""

from __future__ import annotations

import pytest

from wc_core.ledger.planning import kinds


@pytest.mark.parametrize("kind", kinds.KINDS)
def test_the_sentence_of_a_link_can_be_typed(kind: str) -> None:
    _, *words, _ = kinds.sentence("ui", kind, "api").split()
    assert kinds.verb(words) == kinds.Verb(kind)
    assert kinds.verb([kind]) == kinds.Verb(kind)
