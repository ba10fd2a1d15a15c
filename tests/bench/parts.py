"""All that bin/bench can measure."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tests.bench.claims import ClaimRows
from tests.bench.crowd import Crowds
from tests.bench.graph import GraphRows
from tests.bench.inbox import InboxRows
from tests.bench.leftover import Leftover
from tests.bench.peers import Peers
from tests.bench.planning import PlanRows
from tests.bench.radar import RadarRows
from tests.bench.rows import Table
from tests.bench.searching import SearchRows
from tests.bench.serving import Serving
from tests.bench.travel import Travels
from tests.bench.waking import WakeRows

if TYPE_CHECKING:
    from tests.bench.rows import Size
    from tests.bench.scratch import Scratch
    from tests.bench.table import Row


class Parts(NamedTuple):
    """All that can be measured, in the order of the table."""

    table: Table
    searching: SearchRows
    leftover: Leftover
    serving: Serving
    crowds: Crowds
    travels: Travels
    claims: ClaimRows
    radar: RadarRows
    graph: GraphRows
    planning: PlanRows
    inbox: InboxRows
    waking: WakeRows
    peers: Peers

    def rows(self) -> list[Row]:
        """Every row; several parts may have the same reference."""
        found: dict[str, Row] = {}
        for row in (row for part in self for row in part.rows()):
            found.setdefault(row.name, row)
        return list(found.values())

    def notes(self) -> list[str]:
        """What went wrong in a crowd, and did not end it."""
        crowds = (*self.crowds.crowds, *self.peers.crowds)
        return [note for crowd in crowds for note in crowd.notes]


def parts(scratch: Scratch, size: Size, peers: str = "") -> Parts:
    """The parts, with other tools from a folder or from PATH."""
    return Parts(
        table=Table(scratch, size),
        searching=SearchRows(scratch, size.big),
        leftover=Leftover(scratch),
        serving=Serving(scratch, size.served, size.idle),
        crowds=Crowds(scratch, size.writers),
        travels=Travels(scratch, size),
        claims=ClaimRows(scratch),
        radar=RadarRows(scratch),
        graph=GraphRows(scratch),
        planning=PlanRows(scratch),
        inbox=InboxRows(scratch, size.big[0]),
        waking=WakeRows(scratch, size.asleep),
        peers=Peers(scratch, size, peers),
    )
