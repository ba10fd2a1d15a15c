"""Which threads a line is about."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tests.cli.index.histories import begun_store
from tests.core.strategies import AGENTS, chain, entry, relaxed, viewer
from wc_core.attention.status.balls import Balls
from wc_core.attention.status.linethreads import LineSource, threads_of
from wc_core.attention.status.places import Surroundings
from wc_core.base.names import Directory
from wc_core.ledger.planning.kinds import BLOCKED_BY
from wc_core.ledger.threads.model import CLOSED, OPEN, Ball, Link

NUMBERS = range(8)
HOLDERS = st.sampled_from([*AGENTS, "Codex@fix (pat)"])
FIELDS = st.fixed_dictionaries(
    {
        "ball": st.none() | st.builds(Ball, HOLDERS | st.none()),
        "thread_branch": st.sampled_from(["main", "other"]),
        "status": st.sampled_from([OPEN, OPEN, OPEN, CLOSED]),
        "asks": st.just("") | HOLDERS,
        "links_added": st.just(())
        | st.sampled_from(NUMBERS).map(lambda n: (Link(BLOCKED_BY, f"t{n}"),)),
    }
)
THREADS = st.dictionaries(st.sampled_from(NUMBERS), FIELDS, min_size=3)


@given(
    threads=THREADS,
    changed=THREADS,
    name=HOLDERS,
    pinned=st.just("") | st.just("t1"),
    seats=st.sampled_from([(), ("fix",)]),
)
@relaxed
def test_the_few_that_are_read_are_those_of_all(
    threads: dict[int, Any],
    changed: dict[int, Any],
    name: str,
    pinned: str,
    seats: tuple[str, ...],
) -> None:
    """With and without the cache, and with one that is old."""
    me = viewer(name)
    around = Surroundings(("main", "fix"), me.identity.name, pinned=pinned, seats=seats)
    with begun_store() as store:
        for states in (threads, {}, changed):
            for number, fields in states.items():
                log = chain(entry(number), entry(20 - number, **fields))
                store.write(f"t{number}", log)
            if not states:
                store.refresh()
            source = LineSource(Balls(store.reader, Directory()), me, around)
            rows = map(source.row, store.reader.topics())
            expected = threads_of(filter(None, rows), around)
            for count in (1, 2, 9):
                found = source.threads(count)
                assert found.mine[:count] == expected.mine[:count]
                assert found.around[:count] == expected.around[:count]
                assert found.away[:count] == expected.away[:count]
                # The latest of others, and how many there are of each kind.
                assert found[3:] == expected[3:]
