"""Searches of the server that go by meaning where the words find little."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from tests.cli.enrich.modelserver import ModelServer, Planned
from tests.observe.stores import Session, only_text
from wc_cli.bridges.enrich.enriching import enrichment
from wc_core.ledger.configuration import preferences
from wc_core.ledger.threads.reader import StoreReader
from wc_core.reading.meaning import models

if TYPE_CHECKING:
    from pathlib import Path

    from tests.observe.stores import Store

pytest.importorskip("wordllama", reason="wc-watercooler[meaning] is not installed")

QUERY = "how do we ship a new version to users"


@pytest.fixture
def asking(env: dict[str, str], store: Store) -> Session:
    for topic, title in (
        ("flow", "Release and distribution flow"),
        ("pane", "Cursor blocks in the lower pane"),
    ):
        store.thread(topic, store.entry(topic, title=title, body=""))
    del env["WATERCOOLER_MEANING"]
    return Session(store.root.parent, env)


def test_an_entry_without_the_words_is_found(asking: Session) -> None:
    for _ in range(2):
        fields = asking.json("search_threads", query=QUERY)
        assert fields["hits"][0]["topic"] == "flow"
        assert fields["hits"][0]["near"]
        assert fields["near"] == fields["total"] == 1
        assert "by_words" not in fields
    text = only_text(asking.call("search_threads", query=QUERY))
    assert re.search(r"flow entry 0 \|.*\| by meaning\n", text)


def test_a_server_is_asked_if_the_person_names_it(
    asking: Session, store: Store, env: dict[str, str], tmp_path: Path
) -> None:
    with ModelServer() as server:
        path = tmp_path / "home/.config/watercooler/config.toml"
        path.parent.mkdir(parents=True)
        path.write_text(f'[meaning]\nendpoint = ["{server.url}", "small"]\n')
        assert (
            "have no vectors" in asking.json("search_threads", query=QUERY)["by_words"]
        )
        assert server.asked == []
        model = models.chosen(preferences.load(env)).model
        assert model is not None
        enrichment(StoreReader(str(store.root)), model, env).run()
        server.asked.clear()
        assert asking.json("search_threads", query=QUERY)["near"] == 2
        assert [asked.fields["input"] for asked in server.asked] == [[QUERY]]
        server.planned = [Planned(503)]
        fields = asking.json("search_threads", query=QUERY)
        assert "503" in fields["by_words"]
        assert fields["hits"] == []
        server.planned = [Planned(503)]
        text = only_text(asking.call("search_threads", query=QUERY))
        assert "by words alone: The model server" in text
