"""What is too much is refused in words, before anything is written."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from wc_cli.ledger.store import lockedthread
from wc_cli.ledger.store.writer import Author, IdSource, StoreWriter
from wc_core.base.errors import ConflictError, CorruptError, InvalidInputError
from wc_core.base.names import Name
from wc_core.ledger.git.discovery import PLAIN, Place
from wc_core.ledger.threads import longlines, vocabulary
from wc_core.ledger.threads.proposals import Draft
from wc_core.ledger.threads.settings import Settings
from wc_core.people.identity.resolve import Identity

if TYPE_CHECKING:
    from pathlib import Path

SOURCE = IdSource(lambda: 1_767_225_600_000, lambda: 7)


@pytest.fixture
def writer(tmp_path: Path) -> StoreWriter:
    place = Place(PLAIN, str(tmp_path), None, exists=False)
    author = Author(Identity(Name("Pat", "", ""), "--as"))
    return StoreWriter(place, author, Settings(), {})


def say(writer: StoreWriter, topic: str, **fields: str) -> None:
    writer.write(Draft(topic, "say", "x", **fields), SOURCE)  # type: ignore[arg-type]


def test_a_thread_that_has_all_it_can_hold(
    writer: StoreWriter, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vocabulary, "MAX_ENTRIES", 2)
    say(writer, "auth")
    say(writer, "auth")
    with pytest.raises(ConflictError, match="auth is full: it has 2 entries") as caught:
        say(writer, "auth")
    assert "wc new auth-2" in caught.value.hint
    assert len(writer.reader.thread("auth").entries) == 2


def test_a_log_never_grows_beyond_what_is_read(
    writer: StoreWriter, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lockedthread, "MAX_LOG_BYTES", 3000)
    say(writer, "auth", body="b" * 1000)
    say(writer, "auth", body="b" * 200)
    with pytest.raises(ConflictError, match="is full"):
        say(writer, "auth", body="b" * 1000)
    assert writer.reader.thread("auth").log.size <= 3000


def test_a_store_that_has_all_it_can_hold(
    writer: StoreWriter, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vocabulary, "MAX_THREADS", 2)
    say(writer, "first")
    say(writer, "another")
    with pytest.raises(ConflictError, match="it has 2 threads"):
        say(writer, "third")
    say(writer, "first")
    assert writer.reader.topics() == ["another", "first"]


def test_a_log_that_is_too_long_is_damage_of_its_thread_alone(
    writer: StoreWriter,
) -> None:
    say(writer, "auth")
    say(writer, "other")
    with open(writer.layout.log("auth"), "ab") as log:
        log.truncate(longlines.MAX_LOG_BYTES + 1)
    for call in (writer.reader.snapshot, writer.reader.thread):
        with pytest.raises(
            CorruptError, match=f"more than {longlines.MAX_LOG_BYTES} bytes"
        ):
            call("auth")
    with pytest.raises(CorruptError, match="more than"):
        say(writer, "auth")
    say(writer, "other")
    assert writer.reader.topics() == ["auth", "other"]


def test_the_longest_body_is_a_line_that_is_read(writer: StoreWriter) -> None:
    say(writer, "auth", body="x\n" * (vocabulary.MAX_BODY_BYTES // 8))
    say(writer, "auth", body="x" * vocabulary.MAX_BODY_BYTES)
    assert len(writer.reader.thread("auth").entries) == 2


def test_a_line_that_nobody_would_read_is_not_written(writer: StoreWriter) -> None:
    """A body that JSON makes longer, by its quotes and control characters."""
    say(writer, "auth")
    before = os.listdir(writer.layout.unsettled)
    log = writer.reader.log_bytes("auth")
    for body in ('"' * (11 << 20), "\0" * (4 << 20)):
        for topic in ("auth", "new"):
            with pytest.raises(InvalidInputError, match="would be a line of"):
                say(writer, topic, body=body)
    assert writer.reader.log_bytes("auth") == log
    assert writer.reader.topics() == ["auth"]
    assert os.listdir(writer.layout.unsettled) == before
