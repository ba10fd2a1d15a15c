"""Which entries are nearest: of the file of vectors, and of logs that it lacks."""

from __future__ import annotations

import os
import re
import socket
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.cli.enrich.modelserver import ModelServer, Planned
from tests.core.meaning.vectors import np
from tests.core.strategies import entry, write_thread
from wc_cli.bridges.enrich.enriching import Enrichment
from wc_core.ledger.index.keys import TICK_SECONDS, thread_keys
from wc_core.ledger.threads.reader import StoreReader
from wc_core.reading.meaning import servermodel
from wc_core.reading.meaning.asking import Meaning
from wc_core.reading.meaning.embedding import OwnModel
from wc_core.reading.meaning.models import LOCAL, Model
from wc_core.reading.meaning.servermodel import ServerModel

if TYPE_CHECKING:
    from collections.abc import Iterator

    from wc_core.lookup.nearness import Nearness

pytest.importorskip("wordllama", reason="wc-watercooler[meaning] is not installed")
assert np

TITLES = {
    "release": "Release and distribution flow",
    "pane": "Cursor blocks in the lower pane",
    "retry": "The client backs off exponentially",
}
ID = entry(1).id
QUERY = "how do we ship a new version to users"


@pytest.fixture
def reader(tmp_path: Path) -> StoreReader:
    for topic, title in TITLES.items():
        write_thread(tmp_path, topic, [entry(1, title=title), entry(2, title="Ok")])
    time.sleep(2 * TICK_SECONDS)
    return StoreReader(os.path.realpath(tmp_path))


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer() as running:
        yield running


def a_meaning(
    reader: StoreReader, server: str = "", noted: list[int] | None = None
) -> Meaning:
    """For someone who prefers a server, if one is named."""
    home = f"{reader.layout.root}/home"
    env = {"HOME": home}
    if server:
        path = Path(home, ".config/watercooler/config.toml")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f'[meaning]\nendpoint = ["{server}", "small"]\n')
    note = ([] if noted is None else noted).append
    return Meaning(reader, lambda topics: thread_keys(reader.layout, topics), env, note)


def ask(
    reader: StoreReader,
    query: str = QUERY,
    server: str = "",
    missing: list[int] | None = None,
) -> Nearness:
    return a_meaning(reader, server, missing).nearest(query, reader.topics)


def best(nearness: Nearness) -> str:
    return max(nearness.scores, key=nearness.scores.__getitem__)[0]


def test_scores_are_those_of_the_file_and_of_logs_alike(reader: StoreReader) -> None:
    before = ask(reader)
    Enrichment(reader, LOCAL, OwnModel).run()
    after = ask(reader)
    assert after.scores == pytest.approx(before.scores, abs=0.01)
    write_thread(Path(reader.layout.root), "later", [entry(3, title="Ship a version")])
    assert best(ask(reader)) == "later"


def test_another_page_of_an_answer_has_no_newer_entries(reader: StoreReader) -> None:
    first = ask(reader)
    older = {name: score for name, score in first.scores.items() if name[1] <= ID}
    assert 0 < len(older) < len(first.scores)
    for _ in range(2):
        page = a_meaning(reader).nearest(QUERY, reader.topics, ID)
        assert page.scores == pytest.approx(older, abs=0.01)
        Enrichment(reader, LOCAL, OwnModel).run()


def test_a_score_is_for_the_text_that_it_was_made_of(reader: StoreReader) -> None:
    Enrichment(reader, LOCAL, OwnModel).run()
    nearness = ask(reader)
    (first, second) = reader.thread("release").entries
    assert nearness.is_current("release", first)
    assert not nearness.is_current("release", first._replace(body="corrected"))
    assert nearness.is_current("other", second)


def test_a_server_is_asked_once_for_a_query(
    reader: StoreReader, server: ModelServer
) -> None:
    assert ask(reader, server=server.url).problem.startswith("entries have no")
    assert server.asked == []
    model = Model("small", 0, server.url)
    Enrichment(reader, model, lambda: ServerModel(model, {})).run()
    server.asked.clear()
    nearness = ask(reader, server=server.url)
    assert [asked.fields["input"] for asked in server.asked] == [[QUERY]]
    assert len(nearness.scores) == 6
    # What is new is not sent: text is sent by `wc enrich` alone.
    write_thread(Path(reader.layout.root), "later", [entry(3, title="Later")])
    assert ask(reader, server=server.url).missing == 1
    assert all(asked.fields["input"] == [QUERY] for asked in server.asked)


def test_a_server_that_does_not_answer_soon_is_not_waited_for(
    reader: StoreReader, server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = Model("small", 0, server.url)
    Enrichment(reader, model, lambda: ServerModel(model, {})).run()
    monkeypatch.setattr(
        servermodel,
        "SHORT_PATIENCE",
        servermodel.SHORT_PATIENCE._replace(answer_seconds=0.2),
    )
    server.planned = [Planned(503), Planned(200, b"{}"), Planned(pause=1.0)]
    late = "no answer within|timed out"
    for problem in ("503", "without a vector", late):
        nearness = ask(reader, server=server.url)
        assert nearness.scores == {}
        assert re.search(problem, nearness.problem)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{free.getsockname()[1]}"
    assert ask(reader, server=address).problem
