"""Making the vectors of a store: what is missing is made, once, whatever happens."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.cli.enrich.modelserver import ModelServer, Planned
from tests.core.meaning.vectors import np
from tests.core.strategies import entry, write_thread
from wc_cli.bridges.enrich.enriching import Enrichment
from wc_cli.ledger.store import locks
from wc_core.base.errors import ConflictError, LockTimeoutError
from wc_core.base.modelserver.endpoint import EndpointError, Patience
from wc_core.ledger.index import keys
from wc_core.ledger.threads.reader import StoreReader
from wc_core.reading.meaning import coverage, vectorfile
from wc_core.reading.meaning.embedding import OwnModel
from wc_core.reading.meaning.models import LOCAL, Model
from wc_core.reading.meaning.servermodel import ServerModel

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from wc_core.ledger.threads.reader import Thread
    from wc_core.reading.meaning.embedding import Embedder
    from wc_core.reading.meaning.scoring import Vectors

QUICK = Patience(answer_seconds=5.0, attempts=2, pause_seconds=0.01)


class Counting(OwnModel):
    """The model on this machine, which counts what it was asked for."""

    at_once = 3

    def __init__(self, failing_at: int = 0) -> None:
        super().__init__()
        self.texts: list[str] = []
        self.failing_at = failing_at

    def vectors(self, texts: Sequence[str]) -> Vectors:
        self.texts += texts
        if self.failing_at and len(self.texts) >= self.failing_at:
            raise EndpointError("It is away.")
        return super().vectors(texts)


def a_store(root: Path, threads: int = 3, entries: int = 4) -> StoreReader:
    for number in range(threads):
        log = [entry(step, body=f"{number} {step}") for step in range(1, entries + 1)]
        write_thread(root, f"thread-{number}", log)
    age(root)
    return StoreReader(os.path.realpath(root))


def age(root: Path) -> None:
    """Make every file older than the present tick of the clock."""
    time.sleep(2 * keys.TICK_SECONDS)
    assert root.is_dir()


def rows_of(reader: StoreReader) -> dict[bytes, bytes]:
    layout = reader.layout
    rows = vectorfile.read_rows(layout, vectorfile.read_header(layout))
    parsed = [vectorfile.parse_row(row) for row in rows]
    assert None not in parsed
    return {key.entry: key.text for key in parsed if key is not None}


def made(
    reader: StoreReader, model: Model, embedder: Callable[[], Embedder], **how: Any
) -> int:
    """How many vectors a run makes."""
    enrichment = Enrichment(reader, model, embedder)
    enrichment.run(**how)
    return enrichment.done


@pytest.fixture
def reader(tmp_path: Path) -> StoreReader:
    return a_store(tmp_path / "store")


class Server(ModelServer):
    """One that may refuse what it is asked."""

    refusal: Callable[[dict[str, Any]], Planned | None] | None = None

    def next_answer(self, path: str, fields: dict[str, Any]) -> Planned:
        refused = self.refusal(fields) if self.refusal is not None else None
        return refused or super().next_answer(path, fields)


@pytest.fixture
def server() -> Iterator[Server]:
    with Server() as running:
        yield running


class Watched(StoreReader):
    """A store that notes which threads were read."""

    def __init__(self, root: str) -> None:
        super().__init__(root)
        self.read: list[str] = []

    def thread(self, topic: str) -> Thread:
        self.read.append(topic)
        return super().thread(topic)


def test_logs_that_did_not_change_are_not_read_again(reader: StoreReader) -> None:
    Enrichment(reader, LOCAL, OwnModel).run()
    os.utime(reader.layout.log("thread-1"))
    watched = Watched(reader.layout.root)
    assert made(watched, LOCAL, OwnModel) == 0
    assert watched.read == ["thread-1"]


def test_what_is_new_or_changed_is_made(reader: StoreReader) -> None:
    enrichment = Enrichment(reader, LOCAL, OwnModel)
    enrichment.run()
    before = rows_of(reader)
    first, *others = reader.thread("thread-0").entries
    changed = [first._replace(body="other"), *others, entry(9)]
    write_thread(Path(reader.layout.root), "thread-0", changed)
    model = Counting()
    assert made(reader, LOCAL, lambda: model) == 2
    assert sorted(model.texts) == ["title 1\nother", "title 9"]
    after = rows_of(reader)
    assert {key for key in after if after[key] != before.get(key)} == {
        vectorfile.entry_key("thread-0", first.id),
        vectorfile.entry_key("thread-0", entry(9).id),
    }


def test_what_was_made_before_an_error_stays(reader: StoreReader) -> None:
    broken = Counting(failing_at=8)
    with pytest.raises(EndpointError):
        Enrichment(reader, LOCAL, lambda: broken).run()
    assert len(rows_of(reader)) == 6
    model = Counting()
    assert made(reader, LOCAL, lambda: model) == 6
    assert len(model.texts) == 6


@pytest.mark.parametrize("tail", [b"", b"\1", b"\1" * 300])
def test_unfinished_and_damaged_rows_are_made_again(
    reader: StoreReader, tail: bytes
) -> None:
    Enrichment(reader, LOCAL, OwnModel).run()
    whole = rows_of(reader)
    path = Path(reader.layout.vectors)
    data = bytearray(path.read_bytes())
    header = vectorfile.read_header(reader.layout)
    data[header.offset(5) + 60] ^= 1
    path.write_bytes(bytes(data[: header.offset(11)]) + tail)
    assert made(reader, LOCAL, OwnModel) == 2
    assert rows_of(reader) == whole


def test_another_model_under_the_same_name_is_never_mixed_in(
    reader: StoreReader, server: Server
) -> None:
    model = Model("small", 0, server.url)

    def asked() -> ServerModel:
        return ServerModel(model, {}, QUICK)

    assert made(reader, model, asked) == 12
    before = Path(reader.layout.vectors).read_bytes()
    entries = [*reader.thread("thread-1").entries, entry(9)]
    write_thread(Path(reader.layout.root), "thread-1", entries)
    age(Path(reader.layout.root))
    server.refusal = lambda fields: answer(*([1.0, 2.0, 3.0] for _ in fields["input"]))
    with pytest.raises(ConflictError, match=r"vectors of 3 numbers now, .* those of 4"):
        made(reader, model, asked)
    with pytest.raises(ConflictError, match=r"vectors of 3 numbers now, .* those of 4"):
        made(reader, model, asked, topics=["thread-1"], again=True)
    assert Path(reader.layout.vectors).read_bytes() == before
    assert made(reader, model, asked, again=True) == 13
    assert vectorfile.read_header(reader.layout) == ("small", 3)
    assert len(rows_of(reader)) == 13


def test_to_make_all_again_can_be_interrupted(reader: StoreReader) -> None:
    Enrichment(reader, LOCAL, OwnModel).run()
    broken = Counting(failing_at=2)
    with pytest.raises(EndpointError):
        Enrichment(reader, LOCAL, lambda: broken).run(again=True)
    assert len(rows_of(reader)) == 12  # nothing came that could replace them
    broken = Counting(failing_at=8)
    with pytest.raises(EndpointError):
        Enrichment(reader, LOCAL, lambda: broken).run(again=True)
    assert len(rows_of(reader)) == 6
    assert made(reader, LOCAL, OwnModel) == 6
    assert made(reader, LOCAL, OwnModel) == 0


def test_an_entry_that_a_server_refuses_stops_no_other(
    reader: StoreReader, server: Server
) -> None:
    texts = {"1 2", "2 4"}

    def nan(fields: dict[str, Any]) -> Planned | None:
        if any(text.partition("\n")[2] in texts for text in fields["input"]):
            return answer(*([float("nan")] * 4 for _ in fields["input"]))
        return None

    server.refusal = nan
    model = Model("small", 0, server.url)
    enrichment = Enrichment(reader, model, lambda: ServerModel(model, {}, QUICK))
    enrichment.run()
    assert (enrichment.waiting, enrichment.done) == (12, 10)
    refused = [entry.text.partition("\n")[2] for entry, _ in enrichment.refused]
    assert refused == ["1 2", "2 4"]
    header = vectorfile.read_header(reader.layout)
    assert {*coverage.covered_threads(reader.layout, header)} == {"thread-0"}
    texts.clear()
    assert made(reader, model, lambda: ServerModel(model, {}, QUICK)) == 2


def test_a_server_that_refuses_everything_is_not_asked_for_long(
    reader: StoreReader, server: Server
) -> None:
    server.refusal = lambda _fields: answer()
    model = Model("small", 0, server.url)
    with pytest.raises(EndpointError, match="without a vector for each text"):
        made(reader, model, lambda: ServerModel(model, {}, QUICK))
    assert len(server.asked) < 20
    assert not os.path.exists(reader.layout.vectors)


def test_rows_of_entries_that_are_gone_are_dropped_if_they_are_many(
    tmp_path: Path,
) -> None:
    reader = a_store(tmp_path / "store", threads=1, entries=1200)
    Enrichment(reader, LOCAL, OwnModel).run()
    log = Path(reader.layout.log("thread-0"))
    log.write_bytes(b"".join(log.read_bytes().splitlines(keepends=True)[:50]))
    Enrichment(reader, LOCAL, OwnModel).run()
    assert len(rows_of(reader)) == 50
    assert made(reader, LOCAL, OwnModel) == 0


def test_only_one_process_writes(reader: StoreReader) -> None:
    layout = reader.layout
    with locks.locked(layout.vectors_lock, "enriching", 1, layout.root):
        with pytest.raises(LockTimeoutError):
            Enrichment(reader, LOCAL, OwnModel).run()
        Enrichment(reader, LOCAL, OwnModel).follow(reader.topics())
    assert not os.path.exists(layout.vectors)


# --- answers of servers -----------------------------------------------------


def asked_of(server: Server, texts: list[str]) -> Vectors:
    model = Model("small", endpoint=server.url)
    key = {"WATERCOOLER_MODEL_KEY": "s3cret"}
    return ServerModel(model, key, QUICK).vectors(texts)


def answer(*vectors: object, **fields: object) -> Planned:
    data = [
        {"index": place, "embedding": vector, **fields}
        for place, vector in enumerate(vectors)
    ]
    return Planned(body=json.dumps({"data": data}).encode())


@pytest.mark.parametrize(
    "planned",
    [
        Planned(body=b"{}"),
        answer(),
        answer([1, 2], [3, 4]),
        answer([]),
        answer(["a"]),
        answer([0, 0]),
        answer(None),
        answer([1, 2], index=7),
        answer([1, 2], index="0"),
    ],
)
def test_an_answer_without_vectors_is_an_error(
    server: Server, planned: Planned
) -> None:
    server.planned = [planned]
    with pytest.raises(EndpointError, match="without a vector for each text"):
        asked_of(server, ["a"])


def test_vectors_of_another_length_are_an_error(server: Server) -> None:
    model = ServerModel(Model("small", 0, server.url), {}, QUICK)
    model.vectors(["a"])
    server.planned = [answer([1, 2, 3])]
    with pytest.raises(EndpointError, match=r"vectors of 3 numbers, not of 4"):
        model.vectors(["a"])


def test_a_text_that_is_too_long_for_the_model_is_cut(server: Server) -> None:
    long = "b" * 2000

    def refusal(fields: dict[str, Any]) -> Planned | None:
        if any(len(text) > 500 for text in fields["input"]):
            return Planned(400, b'{"error": {"message": "input is too long"}}')
        return None

    server.refusal = refusal
    vectors = np.asarray(asked_of(server, ["a", long, "c", "dd", "eee"]))
    assert vectors.shape == (5, 4)
    short = np.asarray(asked_of(server, ["a", "b" * 500, "c", "dd", "eee"]))
    assert np.array_equal(vectors, short)


# --- killed at any moment -----------------------------------------------------

_PROGRAM = """
import sys
from wc_core.reading.meaning.servermodel import ServerModel
from wc_cli.bridges.enrich.enriching import Enrichment
from wc_core.reading.meaning.models import Model
from wc_core.ledger.threads.reader import StoreReader
ServerModel.at_once = 2
model = Model("small", 0, sys.argv[2])
reader = StoreReader(sys.argv[1])
Enrichment(reader, model, lambda: ServerModel(model, {})).run()
"""


def test_after_a_kill_it_goes_on(reader: StoreReader, server: Server) -> None:
    words = [sys.executable, "-c", _PROGRAM, reader.layout.root, server.url]
    server.pause = 0.05
    process = subprocess.Popen(words)
    while len(server.asked) < 3:
        time.sleep(0.005)
    process.send_signal(signal.SIGKILL)
    process.wait()
    kept = rows_of(reader)
    assert 2 <= len(kept) < 12
    server.pause = 0
    server.asked.clear()
    subprocess.run(words, check=True)
    assert len(server.asked) == (12 - len(kept)) / 2
    assert len(rows_of(reader)) == 12
