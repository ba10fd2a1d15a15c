"""What threads wait for, as text and as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wc_core.reading.views import planning
from wc_observe.answers.quoting import clean_json, word

if TYPE_CHECKING:
    from collections.abc import Iterator

    from wc_core.reading.views.planning import Chain
    from wc_observe.callers.open_store import OpenStore

_WIDE = 200


def chain(store: OpenStore, topic: str) -> Chain:
    """Why the caller cannot start a thread yet. Raises NotFoundError."""
    stored = store.reader.find(topic)
    return planning.chain_of(store.overview.plan(), stored)


def chain_json(store: OpenStore, result: Chain) -> dict[str, Any]:
    """The reasons, as JSON."""
    return dict(clean_json({"store": store.label} | result.to_json()))


def chain_markdown(result: Chain) -> str:
    """The reasons, one per line."""
    if result.is_ready:
        return f"Nothing: {word(result.name, _WIDE)} is ready.\n"
    lines = [f"{word(result.name, _WIDE)} is not ready:"]
    lines += _lines(result, 0)
    return "\n".join(lines) + "\n"


def _lines(result: Chain, depth: int) -> Iterator[str]:
    for obstacle, behind in result.reasons:
        ready = ", which is ready" if behind is not None and behind.is_ready else ""
        name = f"{word(result.name, _WIDE)}: " if depth else ""
        yield f"{'  ' * depth}- {name}{word(obstacle.text, _WIDE)}{ready}"
        if behind is not None:
            yield from _lines(behind, depth + 1)
