"""Snapshots of a store: the log is the truth, damage is said, nothing outside
is opened."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from hypothesis import strategies as st

from tests.core.strategies import (
    AGENTS,
    chain,
    entry,
    entry_id,
    nobody_special,
    write_thread,
)
from wc_core.base.errors import CorruptError, InvalidInputError, NotFoundError
from wc_core.base.names import near_names
from wc_core.ledger.threads import codec, folding
from wc_core.ledger.threads.model import Base, State
from wc_core.ledger.threads.projections import VERSION, render_meta
from wc_core.ledger.threads.reader import StoreReader
from wc_core.ledger.threads.snapshot import Cursor

PAT, CLAUDE, _ = AGENTS
LOG = chain(entry(1, status="IN_REVIEW"), entry(2, CLAUDE))
STATE = folding.fold("t", LOG)


class Store:
    """A store in a folder, and its reader."""

    def __init__(self, root: Path) -> None:
        self.reader = StoreReader(str(root))
        self.root = Path(self.reader.layout.root)
        self.folder = self.root / "graph/baseline/threads/t"
        self.log = self.folder / "entries.jsonl"
        self.meta = self.folder / "meta.json"
        self.page = self.root / "threads/t.md"

    def state(self) -> State:
        return self.reader.snapshot("t").state


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """A store with the thread ``t`` of two entries and a fresh ``meta.json``."""
    root = tmp_path / "store"
    write_thread(root, "t", LOG, meta=True)
    (root / "threads").mkdir()
    return Store(root)


# --- fresh or not ------------------------------------------------------------


def test_a_fresh_meta_is_believed_without_reading_the_log(store: Store) -> None:
    # Other bytes before the last line: only who reads them could notice.
    *before, last = store.log.read_bytes().splitlines(keepends=True)
    store.log.write_bytes(b"x" * len(b"".join(before)) + last)
    snapshot = store.reader.snapshot("t")
    assert snapshot.fresh
    assert snapshot.state == STATE
    assert snapshot.damage == ()


def test_a_meta_that_ends_with_another_entry_is_not_believed(store: Store) -> None:
    store.log.write_bytes(b"x" * store.log.stat().st_size)
    assert not store.reader.snapshot("t").fresh


def grown(store: Store) -> None:
    with store.log.open("ab") as log:
        log.write(codec.to_line(entry(3), 2))


def shrunk(store: Store) -> None:
    store.log.write_bytes(store.log.read_bytes().splitlines(keepends=True)[0])


def garbage_meta(store: Store) -> None:
    store.meta.write_bytes(b"{")


def empty_meta(store: Store) -> None:
    store.meta.write_bytes(b"")


def shapeless_meta(store: Store) -> None:
    store.meta.write_bytes(b'{"wc":{"version":1}}')


def no_meta(store: Store) -> None:
    store.meta.unlink()


def meta_folder(store: Store) -> None:
    store.meta.unlink()
    store.meta.mkdir()


def meta_link(store: Store) -> None:
    store.meta.rename(store.root / "elsewhere")
    store.meta.symlink_to(store.root / "elsewhere")


def meta_fifo(store: Store) -> None:
    store.meta.unlink()
    os.mkfifo(store.meta)


@pytest.mark.parametrize(
    ("change", "damage"),
    [
        (grown, []),
        (no_meta, []),
        (garbage_meta, ["garbage"]),
        (empty_meta, ["garbage"]),
        (shapeless_meta, []),
        (meta_folder, ["unreadable"]),
        (meta_link, ["unreadable"]),
        (meta_fifo, ["unreadable"]),
    ],
)
def test_the_log_is_read_where_meta_is_not_the_fold_of_it(
    store: Store, change: object, damage: list[str]
) -> None:
    assert callable(change)
    change(store)
    snapshot = store.reader.snapshot("t")
    assert not snapshot.fresh
    log = codec.read_log("t", store.log.read_bytes())
    assert snapshot.state == folding.fold("t", log.entries)
    assert [one.kind for one in snapshot.damage] == damage
    for one in snapshot.damage:
        assert one.file == "graph/baseline/threads/t/meta.json"
        assert not one.lost


def test_a_log_that_lost_its_end_is_reported(store: Store) -> None:
    shrunk(store)
    snapshot = store.reader.snapshot("t")
    assert snapshot.state == folding.fold("t", LOG[:1])
    (damage,) = snapshot.damage
    assert (damage.file, damage.kind, damage.lost) == (
        "graph/baseline/threads/t/entries.jsonl",
        "missing",
        True,
    )
    assert damage.message == "1 of 2 entries are gone from it"
    # Without a witness there is nothing to miss.
    store.meta.unlink()
    assert store.reader.snapshot("t").damage == ()


def test_what_is_known_of_damage_is_not_forgotten(store: Store) -> None:
    with store.log.open("ab") as log:
        log.write(b"garbage\n" + codec.to_line(entry(3), 2))
    state = store.state()
    assert state.lost == 1
    store.meta.write_bytes(render_meta(state, store.log.stat().st_size, {}))
    snapshot = store.reader.snapshot("t")
    assert snapshot.fresh
    assert snapshot.state == state
    assert [one.message for one in snapshot.damage] == ["1 line of it cannot be read"]
    assert all(one.lost for one in snapshot.damage)


def test_a_meta_of_a_newer_version_is_used_and_known_as_such(store: Store) -> None:
    fields = json.loads(store.meta.read_bytes())
    fields["wc"]["version"] = VERSION + 1
    store.meta.write_text(json.dumps(fields))
    snapshot = store.reader.snapshot("t")
    assert snapshot.fresh
    assert snapshot.meta.newer
    assert snapshot.state == STATE


def test_a_foreign_meta_is_where_a_foreign_log_starts(tmp_path: Path) -> None:
    write_thread(tmp_path, "t", [entry(1), entry(2)])
    store = Store(tmp_path)
    fields = {"title": "T", "status": "in review", "ball": PAT, "annotations": [1]}
    store.meta.write_text(json.dumps(fields))
    snapshot = store.reader.snapshot("t")
    assert (snapshot.state.title, snapshot.state.ball) == ("T", PAT)
    assert snapshot.state.status == "IN_REVIEW"
    assert snapshot.unknown == {"annotations": [1]}
    # The first entry of ours makes the log its own witness.
    base = Base("T", "IN_REVIEW", PAT)
    ours = entry(3, CLAUDE, action="ack", base=base, parents=(entry_id(2),))
    with store.log.open("ab") as log:
        log.write(codec.to_line(ours, 2))
    store.meta.unlink()
    assert store.state()[1:4] == ("T", "IN_REVIEW", PAT)


# --- what is not a log -------------------------------------------------------


def test_a_log_that_is_gone_is_missed_where_anything_is_left_of_it(
    store: Store,
) -> None:
    store.log.unlink()
    assert store.reader.has("t")
    snapshot = store.reader.snapshot("t")
    assert [(one.kind, one.lost) for one in snapshot.damage] == [("missing", True)]
    assert snapshot.log_size == -1
    assert (snapshot.state.title, snapshot.state.status) == ("title 1", "IN_REVIEW")
    store.meta.unlink()
    # An empty folder is what a crash before the first entry leaves.
    assert not store.reader.has("t")
    with pytest.raises(NotFoundError):
        store.reader.snapshot("t")


def log_folder(store: Store) -> None:
    store.log.unlink()
    store.log.mkdir()


def log_link(store: Store) -> None:
    store.log.rename(store.root / "elsewhere")
    store.log.symlink_to(store.root / "elsewhere")


def log_fifo(store: Store) -> None:
    store.log.unlink()
    os.mkfifo(store.log)


def log_device(store: Store) -> None:
    store.log.unlink()
    store.log.symlink_to("/dev/zero")


def thread_link(store: Store) -> None:
    outside = store.root.with_name("outside")
    store.folder.rename(outside)
    store.folder.symlink_to(outside)


def threads_link(store: Store) -> None:
    outside = store.root.with_name("outside")
    store.folder.parent.rename(outside)
    store.folder.parent.symlink_to(outside)


def page_link(store: Store) -> None:
    secret = store.root.with_name("secret")
    secret.write_text("# t\n\n---\nEntry: me 2026-01-01\nTitle: secret\n")
    store.log.unlink()
    store.meta.unlink()
    store.page.symlink_to(secret)


def pages_link(store: Store) -> None:
    outside = store.root.with_name("outside")
    store.page.parent.rename(outside)
    store.page.parent.symlink_to(outside)
    (outside / "t.md").write_text("# t\n\n---\nEntry: me 2026-01-01\nTitle: secret\n")
    store.log.unlink()


@pytest.mark.parametrize(
    "change",
    [
        log_folder, log_link, log_fifo, log_device,
        thread_link, threads_link, page_link, pages_link,
    ],
)  # fmt: skip
def test_nothing_but_a_plain_file_inside_the_store_is_read(
    store: Store, change: object
) -> None:
    assert callable(change)
    change(store)
    with pytest.raises(CorruptError) as caught:
        store.reader.thread("t")
    assert "secret" not in caught.value.message
    assert caught.value.hint
    if change is not pages_link:  # its meta is not outside
        with pytest.raises(CorruptError):
            store.reader.snapshot("t")


@pytest.mark.parametrize("change", [threads_link, pages_link])
def test_threads_outside_the_store_are_not_listed(store: Store, change: object) -> None:
    assert callable(change)
    change(store)
    with pytest.raises(CorruptError, match="symbolic link"):
        store.reader.topics()


def test_a_thread_that_is_a_link_is_not_listed(store: Store) -> None:
    thread_link(store)
    assert store.reader.topics() == []
    store.log.unlink()
    assert not store.reader.has("t")


def test_a_folder_of_threads_that_cannot_be_read_is_not_empty(store: Store) -> None:
    threads = store.folder.parent
    threads.rename(store.root / "gone")
    threads.symlink_to(threads)
    with pytest.raises(CorruptError, match="through a symbolic link"):
        store.reader.topics()
    for call in (store.reader.snapshot, store.reader.has, store.reader.thread):
        with pytest.raises(CorruptError, match="through a symbolic link"):
            call("t")


def test_what_may_not_be_read_is_an_error_of_ours() -> None:
    with nobody_special() as folder:
        write_thread(folder, "t", LOG, meta=True)
        store = Store(folder)
        store.log.chmod(0)
        for read in (store.reader.snapshot, store.reader.thread):
            with pytest.raises(CorruptError, match="Permission"):
                read("t")
        store.folder.chmod(0)
        for call in (store.reader.snapshot, store.reader.has):
            with pytest.raises(CorruptError, match="Permission"):
                call("t")
        store.folder.chmod(0o700)


def test_topics_come_from_logs_and_pages_and_nothing_else(store: Store) -> None:
    folder = store.folder.parent
    (folder / "b c").mkdir()
    (folder / "stray file").touch()
    (folder / os.fsdecode(b"\xff")).mkdir()
    for name in ("t.md", "old.md", "Ünï.md", ".md", "notes.txt", "agents.json"):
        (store.page.parent / name).touch()
    (store.root / "annotations").mkdir()
    expected = ["%FF", "%C3%9Cn%C3%AF", "b%20c", "old", "t"]
    expected[1] = "Ünï"
    assert store.reader.topics() == sorted(expected)


def test_a_foreign_name_too_long_for_a_page_is_a_thread(tmp_path: Path) -> None:
    name = "a" * 255
    topic = f"%61{name[1:]}"
    folder = tmp_path / "graph/baseline/threads" / name
    folder.mkdir(parents=True)
    (folder / "entries.jsonl").write_bytes(codec.to_line(entry(1), 0))
    reader = StoreReader(str(tmp_path))
    assert reader.topics() == [topic]
    assert reader.has(topic)
    assert reader.thread(topic).entries == (entry(1)._replace(topic=topic),)
    (folder / "entries.jsonl").unlink()
    assert not reader.has(topic)


@pytest.mark.parametrize("topic", ["../t", "..", "", "a/b", "\0", "\ud800"])
def test_what_is_not_a_topic_is_refused(store: Store, topic: str) -> None:
    for call in (store.reader.snapshot, store.reader.thread, store.reader.has):
        with pytest.raises(InvalidInputError):
            call(topic)


# --- near names, quick looks, cursors ----------------------------------------


def test_near_names_ignore_case_and_spacing() -> None:
    known = ["Claude Code", "Codex", "Cursor"]
    assert near_names("claudecode", known) == ["Claude Code"]
    assert near_names("codxe", known)[0] == "Codex"
    assert near_names("zzz", known) == []


# Letters that are ASCII when case-folded, and some that are not.
LETTERS = "abkKSs1\u017f\u00df\ufb01\u0130\u00e9\uff21\u212a"
word = st.text(st.sampled_from(LETTERS), min_size=1, max_size=4)


def cursor_file(store: Store, key: str, content: bytes) -> None:
    path = Path(store.reader.cursor_path("t", key))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def test_cursors_are_read_by_the_key_of_whose_they_are(store: Store) -> None:
    keys = ("codex@fix(pat)", "../../x", "a/b")
    for count, key in enumerate(keys):
        fields = {"key": key, "heads": ["a", "b"], "count": count}
        cursor_file(store, key, json.dumps(fields).encode())
    expected = {key: Cursor(key, ("a", "b"), n) for n, key in enumerate(keys)}
    assert store.reader.cursors("t") == expected
    for key in keys:
        assert store.reader.cursor("t", key) == expected[key]
        assert Path(store.reader.cursor_path("t", key)).parent == Path(
            store.reader.layout.cursors("t")
        )


@pytest.mark.parametrize(
    "content",
    [
        b"", b"{", b"null", b"[]", b"5", b"{}", b'{"heads":5,"key":"me","count":1}',
        b'{"heads":[],"key":"me","count":"x"}', b'{"heads":[],"count":1}',
        b'{"heads":[],"key":"me","count":Infinity}', b"[" * 100_000, b"\xff",
    ],
)  # fmt: skip
def test_a_cursor_that_cannot_be_read_means_has_not_read(
    store: Store, content: bytes
) -> None:
    cursor_file(store, "me", content)
    assert store.reader.cursor("t", "me") == Cursor("me")
    assert store.reader.cursor("t", "you") == Cursor("you")
    assert store.reader.cursors("t") == {}
