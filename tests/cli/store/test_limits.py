"""What is too much is refused in words, before anything is written."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from wc_cli.ledger.store.writer import Author, IdSource, StoreWriter
from wc_core.base import files
from wc_core.base.errors import ConflictError, CorruptError
from wc_core.base.names import Name
from wc_core.ledger.git.discovery import PLAIN, Place
from wc_core.ledger.threads import codec, vocabulary
from wc_core.ledger.threads.model import Entry
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
    monkeypatch.setattr(files, "MAX_BYTES", 3000)
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
        log.truncate(files.MAX_BYTES + 1)
    for call in (writer.reader.snapshot, writer.reader.thread):
        with pytest.raises(CorruptError, match=f"more than {files.MAX_BYTES} bytes"):
            call("auth")
    with pytest.raises(CorruptError, match="more than"):
        say(writer, "auth")
    say(writer, "other")
    assert writer.reader.topics() == ["auth", "other"]


def test_the_longest_body_is_a_line_that_is_read() -> None:
    # Control characters are what JSON takes most bytes for.
    entry = Entry("id", "t", "Pat", "", "x", "\0" * 100)
    longest = len(codec.to_line(entry, 0)) + 6 * (vocabulary.MAX_BODY_BYTES - 100)
    rest = 20 * vocabulary.MAX_TITLE_BYTES
    assert longest + rest < codec.MAX_LINE_BYTES
