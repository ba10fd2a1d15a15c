"""Metrics for Prometheus: calls, sessions, threads, responses.

Labels have few values, whatever clients send: existing tools and resources, wc's error
codes, the served names of stores.
"""

from __future__ import annotations

import os
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from wc_core.base.values import NamedTuple

# With this variable, prometheus_client writes files. The server must not.
os.environ.pop("PROMETHEUS_MULTIPROC_DIR", None)
os.environ.pop("prometheus_multiproc_dir", None)

from fastmcp.server.middleware import Middleware
from prometheus_client import (
    CollectorRegistry,
    Counter,
    Histogram,
    ProcessCollector,
)
from prometheus_client.exposition import (
    CONTENT_TYPE_PLAIN_0_0_4,
    generate_latest,
)
from prometheus_client.metrics_core import (
    GaugeMetricFamily,
    InfoMetricFamily,
)

from wc_core.base.errors import WcError
from wc_core.base.version import __version__
from wc_core.ledger.git import discovery
from wc_core.ledger.threads.reader import StoreReader
from wc_observe.mcp.refusals import code_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from fastmcp.server.middleware import CallNext, MiddlewareContext
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from wc_observe.callers.calls import ServerContext

# Seconds: from a bare call of the framework to an unacceptable wait.
_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5)


class LiveFigures(NamedTuple):
    """Values read at each scrape: open sessions of each store, requests of each
    kind."""

    sessions: Callable[[], Mapping[str, int]]
    under_way: Callable[[], Mapping[str, int]]


class Metrics:
    """All metrics of a server. Stores and live figures are read at each scrape."""

    def __init__(self, stores: Mapping[str, ServerContext], now: LiveFigures) -> None:
        self._stores = stores
        self._now = now
        self.registry = CollectorRegistry()
        self.calls = Counter(
            "wc_calls",
            "Tool calls and resource reads",
            ["store", "what", "outcome"],
            registry=self.registry,
        )
        self.seconds = Histogram(
            "wc_call_seconds",
            "Their duration",
            ["what"],
            buckets=_SECONDS,
            registry=self.registry,
        )
        self.answers = Counter(
            "wc_http_responses",
            "HTTP responses, including refusals",
            ["status"],
            registry=self.registry,
        )
        ProcessCollector(registry=self.registry)
        self.registry.register(self)

    def collect(self) -> Iterator[GaugeMetricFamily | InfoMetricFamily]:
        """Yields the values read at each scrape; called by the registry."""
        yield InfoMetricFamily(
            "wc", "The server's version", value={"version": __version__}
        )
        yield _gauge(
            "wc_sessions",
            "Open sessions (the stateless protocol has none)",
            ("store", self._now.sessions()),
        )
        yield _gauge(
            "wc_http_under_way",
            "Requests being answered, and streams that wait for changes",
            ("kind", self._now.under_way()),
        )
        threads = {name: _threads(start) for name, start in self._stores.items()}
        counted = {name: count for name, count in threads.items() if count is not None}
        readable = {name: int(count is not None) for name, count in threads.items()}
        yield _gauge("wc_threads", "Threads", ("store", counted))
        yield _gauge(
            "wc_store_readable", "Whether the store can be read", ("store", readable)
        )

    def exposition(self) -> tuple[bytes, str]:
        """Returns the page and its content type."""
        return generate_latest(self.registry), CONTENT_TYPE_PLAIN_0_0_4


def _gauge(
    name: str, words: str, values: tuple[str, Mapping[str, int]]
) -> GaugeMetricFamily:
    """Returns a gauge with a number for each value of a label."""
    label, numbers = values
    gauge = GaugeMetricFamily(name, words, labels=[label])
    for value, number in numbers.items():
        gauge.add_metric([value], number)
    return gauge


def _threads(start: ServerContext) -> int | None:
    """Returns how many threads a store has; None if it cannot be read."""
    try:
        place = discovery.find(start.folder, start.env)
        return len(StoreReader(place.root).topics()) if place.exists else None
    except WcError:
        return None


class CallCounter(Middleware):
    """Counts the calls to one store's server by outcome."""

    def __init__(self, metrics: Metrics, store: str) -> None:
        self._metrics = metrics
        self._store = store

    async def on_call_tool(
        self, context: MiddlewareContext[Any], call_next: CallNext[Any, Any]
    ) -> Any:
        """Counts a tool call; our tools never raise."""
        own = context.fastmcp_context
        name = context.message.name
        exists = own is not None and await own.fastmcp.get_tool(name) is not None
        with self._timed(name if exists else "no such tool") as outcome:
            result = await call_next(context)
            if result.is_error:
                outcome.append(code_of(result))
            return result

    async def on_read_resource(
        self, context: MiddlewareContext[Any], call_next: CallNext[Any, Any]
    ) -> Any:
        """Counts a resource read."""
        with self._timed("resource"):
            return await call_next(context)

    @contextmanager
    def _timed(self, operation: str) -> Iterator[list[str]]:
        """Times one call. Its outcome is added to the list, or is the error raised."""
        began, outcome = time.perf_counter(), list[str]()
        try:
            yield outcome
        except BaseException as error:
            outcome[:] = [_code(getattr(error, "data", None))]
            raise
        finally:
            seconds = time.perf_counter() - began
            word = outcome[0] if outcome else "ok"
            self._metrics.calls.labels(self._store, operation, word).inc()
            self._metrics.seconds.labels(operation).observe(seconds)


def _code(fields: object) -> str:
    """Returns wc's code from an error's fields; a protocol error has none."""
    error = fields.get("error") if isinstance(fields, dict) else None
    return str(error.get("code", "?")) if isinstance(error, dict) else "refused"


class ResponseCounter:
    """Counts responses by status, including those of every layer that may refuse."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self._app = app
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes a request on and counts its response."""

        async def counted(message: Message) -> None:
            if message["type"] == "http.response.start":
                self._metrics.answers.labels(message["status"]).inc()
            await send(message)

        await self._app(scope, receive, counted)
