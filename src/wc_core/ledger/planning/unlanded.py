"""Which approved threads wait to land, as far as git is concerned: ``unlanded.json`` in
``.local``.

Lists leave out closed threads, and whether a branch has landed only git knows. So
`wc_cli.edits.landing.waiting` keeps the move of each of these few threads in one small
file. It only decides what is shown; `wc land` decides again.
"""

from __future__ import annotations

from wc_core.base.errors import WcError
from wc_core.base.files import read_plain
from wc_core.base.lean import json
from wc_core.ledger.planning.nextmoves import LAND, NextMove, moves_for
from wc_core.ledger.threads.model import APPROVED, CLOSED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import Any

    from wc_core.base.layout import Layout
    from wc_core.ledger.threads.model import State
    from wc_core.ledger.threads.reader import StoreReader

MOST = 1000
_MAX_BYTES = 1 << 20


def encode(moves: Mapping[str, NextMove]) -> bytes:
    """The content of the file: the moves by topic."""
    return f"{json.dumps({topic: [*move] for topic, move in moves.items()})}\n".encode()


def load(layout: Layout) -> dict[str, NextMove] | None:
    """The moves by topic, as far as git is concerned; ``None`` if that is not known."""
    try:
        data = read_plain(layout.unlanded, layout.root, _MAX_BYTES)
        moves: Any = json.loads(data) if data else None
        return {str(topic): NextMove(*map(str, move)) for topic, move in moves.items()}
    except (OSError, WcError, ValueError, TypeError, AttributeError, RecursionError):
        return None


def is_due(reader: StoreReader, topics: Iterable[str] = ()) -> bool:
    """Whether to look at branches again: some may wait to land, or these threads may
    begin to."""
    moves = load(reader.layout)
    return moves is None or bool(moves) or any(is_approved(reader, t) for t in topics)


def is_approved(reader: StoreReader, topic: str) -> bool:
    """Whether a thread is closed and its work was approved."""
    try:
        state = reader.snapshot(topic).state
    except WcError:
        return False
    return state.status == CLOSED and state.review.outcome == APPROVED


def own_moves(
    reader: StoreReader, holds: Callable[[str], bool], state: State
) -> list[NextMove]:
    """The moves of a thread that wait for a participant: see `moves_for`."""
    from wc_core.ledger.planning.plans import waits_of  # 1 ms, for few threads

    landing = (load(reader.layout) or {}).get(state.topic)
    return moves_for(holds, state, waits_of(reader, state), landing)


def own_landings(
    reader: StoreReader, holds: Callable[[str], bool]
) -> dict[str, NextMove]:
    """The moves of closed threads that wait for a participant, by topic."""
    moves = {}
    for topic, landing in (load(reader.layout) or {}).items():
        try:
            own = holds(landing.participant)
            state = reader.snapshot(topic).state if own else None
        except WcError:
            continue
        if state is not None and landing in moves_for(holds, state, (), landing):
            moves[topic] = landing
    return moves


def counts_text(moves: Iterable[NextMove]) -> str:
    """How many branches there are to approve and to land: ``2 to land``."""
    kinds = [move.kind for move in moves]
    to_land = kinds.count(LAND)
    counts = ((len(kinds) - to_land, "to approve"), (to_land, "to land"))
    return " · ".join(f"{count} {words}" for count, words in counts if count)
