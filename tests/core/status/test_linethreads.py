"""Which threads a line is about."""

from __future__ import annotations

from hypothesis import given

from tests.cli.index.histories import Step, begun_store, histories
from tests.core.strategies import relaxed, viewer
from wc_core.attention.status.balls import Balls
from wc_core.attention.status.linethreads import LineSource, threads_of
from wc_core.attention.status.places import Surroundings, branch_places
from wc_core.base.names import Directory


@given(histories)
@relaxed
def test_the_few_that_are_read_are_those_of_all(history: list[Step]) -> None:
    me = viewer()
    around = Surroundings(branch_places("main"), me.identity.name)
    with begun_store() as store:
        for step in history:
            store.take(step)
            source = LineSource(Balls(store.reader, Directory()), me, around)
            rows = filter(None, map(source.row, store.reader.topics()))
            expected = threads_of(rows, around)
            for count in (1, 2, 9):
                threads = source.threads(count)
                assert threads.mine[:count] == expected.mine[:count]
                assert threads.around[:count] == expected.around[:count]
                assert threads.away[:count] == expected.away[:count]
                # The latest of others, and how many there are of each kind.
                assert threads[3:] == expected[3:]
