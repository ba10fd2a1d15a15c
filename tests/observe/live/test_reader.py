"""What is kept in memory says what the files say, whatever happens to them."""

from __future__ import annotations

import json
import os
import shutil
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cli.index.histories import soon
from tests.core.strategies import AGENTS, relaxed, viewer
from tests.observe.stores import Store
from wc_cli.ledger.index import entriesfile, overviewfile
from wc_core.base.errors import CorruptError, WcError
from wc_core.ledger.threads.model import Ball
from wc_core.ledger.threads.reader import StoreReader
from wc_core.reading.views.overview import Overview
from wc_core.reading.views.rows import Filter
from wc_core.reading.views.search.answers import search
from wc_core.reading.views.search.query import Question
from wc_core.reading.views.search.scan import Scan
from wc_observe.stores.live import overview as live_overview
from wc_observe.stores.live.reader import LiveReader
from wc_observe.stores.live.stores import Live

if TYPE_CHECKING:
    from collections.abc import Callable

TOPICS = ("one", "two", "a%20b")
QUESTION = Question("hello", Filter())
QUERIES = ("hello", '"hello world"', "wor", "title:entry 3", "author:codex", "é", "one")


@dataclass
class Changing:
    """A store, and what can happen to one of its threads."""

    store: Store

    def append(self, topic: str) -> None:
        """What wc does: a marker, then a line."""
        Path(self.store.layout.unsettled).mkdir(parents=True, exist_ok=True)
        Path(self.store.layout.unsettled, topic).touch()
        Path(self.store.layout.folder(topic)).mkdir(parents=True, exist_ok=True)
        Path(self.store.layout.log(topic)).touch()
        entry = self.store.entry(topic, "hello world", ball=Ball(AGENTS[1]))
        self.store.append(topic, entry)

    def amend(self, topic: str) -> None:
        """The first entry gets another text."""
        first = json.loads(self._log(topic).read_bytes().partition(b"\n")[0])
        fields = {"action": "amend", "supersedes": first["entry_id"]}
        self.store.append(topic, self.store.entry(topic, "hello there", **fields))

    def retract(self, topic: str) -> None:
        """The first entry no longer has a text."""
        first = json.loads(self._log(topic).read_bytes().partition(b"\n")[0])
        fields = {"action": "retract", "supersedes": first["entry_id"]}
        self.store.append(topic, self.store.entry(topic, **fields))

    def rename(self, topic: str) -> None:
        """To a name that is free, or that of another thread."""
        self._log(topic)
        for name in ("hello", TOPICS[0]):
            entry = self.store.entry(topic, action="rename", new_topic=name)
            self.store.append(topic, entry)

    def annotate(self, topic: str) -> None:
        """A tag of an older tool."""
        self._log(topic)
        fields = {"target_type": "thread", "kind": "tag", "value": f"t{len(topic)}"}
        with Path(self.store.layout.annotations(topic)).open("a") as file:
            file.write(f"{json.dumps(fields)}\n")

    def settle(self, topic: str) -> None:
        Path(self.store.layout.unsettled, topic).unlink(missing_ok=True)

    def tear(self, topic: str) -> None:
        with self._log(topic).open("ab") as log:
            log.write(b'{"entry_id": "')

    def spoil(self, topic: str) -> None:
        with self._log(topic).open("ab") as log:
            log.write(b"\xff not JSON\n")

    def repeat(self, topic: str) -> None:
        """The last line again: a union of two logs can have that."""
        data = self._log(topic).read_bytes()
        self._log(topic).write_bytes(data + data[data[:-1].rfind(b"\n") + 1 :])

    def shuffle(self, topic: str) -> None:
        """An entry older than what is there, as a sync brings it."""
        late = self.store.entry(topic, "é late", agent="Zed")
        self.append(topic)
        self.store.append(topic, late)

    def replace(self, topic: str) -> None:
        self._log(topic)
        self.store.thread(topic, self.store.entry(topic, "Hello again, world."))

    def rewrite(self, topic: str) -> None:
        """Other bytes of the same length in the same file."""
        data = self._log(topic).read_bytes()
        self._log(topic).write_bytes(data.replace(b"hello", b"jelly"))

    def remove(self, topic: str) -> None:
        shutil.rmtree(self.store.layout.folder(topic), ignore_errors=True)

    def page_only(self, topic: str) -> None:
        self.remove(topic)
        page = f"Status: OPEN\nBall: Codex\n\n# {topic}\n"
        Path(self.store.layout.page(topic)).write_text(page)

    def read(self, topic: str) -> None:
        """What wc read --seen does."""
        folder = Path(self.store.layout.cursors(topic))
        folder.mkdir(parents=True, exist_ok=True)
        made = folder / "new"
        made.write_text('{"key": "codex(pat)", "heads": ["x"], "count": 2}')
        made.replace(folder / "codex(pat)")

    def recreate(self, _: str) -> None:
        """Another store in the same place."""
        shutil.rmtree(self.store.root)
        Path(self.store.layout.pages).mkdir(parents=True)
        self.append("one")

    def _log(self, topic: str) -> Path:
        path = Path(self.store.layout.log(topic))
        if not path.exists():
            self.append(topic)
        return path


HAPPENINGS: tuple[Callable[[Changing, str], None], ...] = (
    Changing.append,
    Changing.append,
    Changing.append,
    Changing.amend,
    Changing.rename,
    Changing.annotate,
    Changing.retract,
    Changing.settle,
    Changing.tear,
    Changing.spoil,
    Changing.repeat,
    Changing.shuffle,
    Changing.replace,
    Changing.rewrite,
    Changing.remove,
    Changing.page_only,
    Changing.read,
    Changing.recreate,
)
steps = st.lists(
    st.tuples(
        st.lists(
            st.tuples(st.sampled_from(HAPPENINGS), st.sampled_from(TOPICS)),
            min_size=1,
            max_size=3,
        ),
        st.sampled_from(QUERIES),
    ),
    max_size=8,
)


def is_torn(name: str) -> bool:
    """Whether this is a log whose last line has no end."""
    if not name.endswith(".jsonl"):
        return False
    return not Path(name).read_bytes().endswith(b"\n")


def tick(root: Path, known: dict[str, int]) -> set[str]:
    """Every file below a folder that is not what it was; and their times made
    different, which a test may be too fast for."""
    found = {str(one): 0 for one in root.rglob("*")}
    for name in found:
        info = os.lstat(name)
        found[name] = hash((info.st_ino, info.st_size, info.st_mtime_ns))
    changed = {
        name for name in known.keys() | found if known.get(name) != found.get(name)
    }
    for name in changed & found.keys():
        info = os.lstat(name)
        # Readers wait for the rest of a line that was begun just now.
        shift = -10_000_000_000 if is_torn(name) else 5_000_000
        os.utime(name, ns=(info.st_atime_ns, info.st_mtime_ns + shift))
        info = os.lstat(name)
        found[name] = hash((info.st_ino, info.st_size, info.st_mtime_ns))
    known.clear()
    known.update(found)
    return changed


@relaxed
@given(
    steps=steps,
    watched=st.booleans(),
    indexed=st.booleans(),
    # More threads than this are listed from the index.
    many=st.sampled_from([0, 100]),
)
def test_rows_threads_and_hits_are_those_of_the_files(
    tmp_path_factory: pytest.TempPathFactory,
    steps: list[tuple[list[tuple[Callable[[Changing, str], None], str]], str]],
    *,
    watched: bool,
    indexed: bool,
    many: int,
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(live_overview, "_MANY", many)
        compare(tmp_path_factory.mktemp("live") / "store", steps, watched, indexed)


def compare(
    root: Path,
    steps: list[tuple[list[tuple[Callable[[Changing, str], None], str]], str]],
    watched: bool,  # noqa: FBT001
    indexed: bool,  # noqa: FBT001
) -> None:
    """Does the steps in a store, and compares a server's answers with the files."""
    changing = Changing(Store(root))
    known: dict[str, int] = {}
    tick(root, known)
    live = Live(str(root))
    live.reader = LiveReader(str(root), few=0)
    me = viewer()
    live.refresh()
    overview = live.overview(me)
    live.reader.watched = watched
    for happenings, query in steps:
        if indexed:
            with suppress(WcError):
                overviewfile.rebuild(StoreReader(str(root)), soon)
                entriesfile.rebuild(StoreReader(str(root)), soon)
        for happen, topic in happenings:
            happen(changing, topic)
        changed = tick(root, known)
        if watched:
            live.reader.note_changed(changed)
        live.refresh()
        plain = StoreReader(str(root))
        expected = Overview(plain, me)
        assert live.overview(me) is overview
        assert overview.rows() == expected.rows()
        for topic in plain.topics():
            assert live.reader.thread(topic) == plain.thread(topic)
        question = Question(query, Filter(), limit=2)
        engine = live.engine()
        cursor = ""
        for _ in range(20):
            page = question._replace(cursor=cursor)
            hits = search(engine, overview, page)
            assert hits == search(Scan(plain), expected, page)
            cursor = hits.cursor
            if not cursor:
                break


said = st.sampled_from(["hello", "hello world", "world", "nothing"])
entries = st.tuples(st.sampled_from(TOPICS), said, said)


@relaxed
@given(
    first=st.lists(entries, min_size=1, max_size=8),
    then=st.lists(st.lists(entries, max_size=2), max_size=8),
    limit=st.integers(1, 3),
    query=st.sampled_from(["hello", "hello world", "title:world"]),
)
def test_a_walk_gives_each_hit_once_whatever_is_written_in_the_meantime(
    tmp_path_factory: pytest.TempPathFactory,
    first: list[tuple[str, str, str]],
    then: list[list[tuple[str, str, str]]],
    limit: int,
    query: str,
) -> None:
    store = Store(tmp_path_factory.mktemp("walk") / "store")

    def write(drafts: list[tuple[str, str, str]]) -> None:
        for topic, title, body in drafts:
            Path(store.layout.folder(topic)).mkdir(parents=True, exist_ok=True)
            Path(store.layout.log(topic)).touch()
            store.append(topic, store.entry(topic, body, title=title))

    live = Live(str(store.root))
    me = viewer()
    write(first)
    live.refresh()
    overview = live.overview(me)
    question = Question(query, Filter(), limit)
    there = search(Scan(live.reader), overview, question._replace(limit=0))
    seen: list[tuple[str, str]] = []
    cursor = ""
    for number in range(40):
        engine = live.engine()
        page = search(engine, overview, question._replace(cursor=cursor))
        seen += [(hit.topic, hit.numbered.entry.id) for hit in page.hits]
        cursor = page.cursor
        if not cursor:
            break
        # Between two pages: before the first, it would change which hits there are.
        write(then[number] if number < len(then) else [])
        live.refresh()
    assert len(seen) == len({*seen})
    assert {*seen} >= {(hit.topic, hit.numbered.entry.id) for hit in there.hits}


def test_what_wc_writes_shows_before_a_watcher_says_so(tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    changing = Changing(store)
    for topic in TOPICS:
        changing.append(topic)
        changing.settle(topic)
    live = Live(str(store.root))
    live.reader = LiveReader(str(store.root), few=0)
    live.refresh()
    overview = live.overview(viewer())
    live.reader.watched = True
    before = {row.topic: row.entry_count for row in overview.rows()}
    assert before == dict.fromkeys(TOPICS, 1)
    changing.append("two")
    changing.append("new")
    live.refresh()
    after = {row.topic: row.entry_count for row in overview.rows()}
    assert after == before | {"two": 2, "new": 1}


def test_a_thread_is_read_where_the_threads_cannot_be_listed(tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    store.thread("one")
    live = Live(str(store.root))
    live.refresh()
    overview = live.overview(viewer())
    assert [row.topic for row in overview.rows()] == ["one"]
    pages = Path(store.layout.pages)
    pages.rename(tmp_path / "pages")
    pages.symlink_to(tmp_path / "pages")
    live.refresh()
    for _ in range(2):
        with pytest.raises(CorruptError, match="symbolic link"):
            overview.rows()
    assert len(live.reader.thread("one").entries) == 1
    store.append("one", store.entry("one"))
    live.refresh()
    assert live.reader.snapshot("one").state.entry_count == 2
    assert Live(str(store.root)).reader.thread("one").state.entry_count == 2
    pages.unlink()
    (tmp_path / "pages").rename(pages)
    live.refresh()
    assert [row.entry_count for row in overview.rows()] == [2]


def test_a_meta_that_is_rewritten_alone_is_believed_of_another_tool(
    tmp_path: Path,
) -> None:
    store = Store(tmp_path / "store")
    foreign = store.entry("one", role="", action="")
    store.thread("one", foreign, meta=False)
    live = Live(str(store.root))
    for title in ("Old title", "New title"):
        fields = {"topic": "one", "title": title, "status": "OPEN", "ball": "Pat"}
        Path(store.layout.meta("one")).write_text(json.dumps(fields))
        live.refresh()
        assert [row.title for row in live.overview(viewer()).rows()] == [title]
        assert live.reader.thread("one").state.title == title
        assert live.reader.snapshot("one").state.title == title


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_what_could_not_be_read_is_tried_again(tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    store.thread("one", store.entry("one", "hello"), meta=False)
    log = Path(store.layout.log("one"))
    live = Live(str(store.root))
    for mode, total in ((0, 0), (0o644, 1), (0, 0), (0o644, 1)):
        log.chmod(mode)
        live.refresh()
        overview = live.overview(viewer())
        assert [row.damaged for row in overview.rows()] == [not total]
        hits = search(live.engine(), overview, QUESTION)
        assert (hits.total, hits.unreadable) == (total, () if total else ("one",))


def test_a_thread_that_cannot_be_read_any_more_spoils_no_search(tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    for topic in ("one", "two"):
        store.thread(topic, store.entry(topic, "hello"))
    log = Path(store.layout.log("one"))
    live = Live(str(store.root))
    for total in (2, 1, 2):
        live.refresh()
        overview = live.overview(viewer())
        hits = search(live.engine(), overview, QUESTION)
        assert (hits.total, len(hits.unreadable)) == (total, 2 - total)
        if total == 2:
            log.rename(tmp_path / "log")
            log.mkdir()
        else:
            log.rmdir()
            (tmp_path / "log").rename(log)


def test_an_entry_that_is_gone_since_it_was_found_is_not_a_hit(tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    for topic in ("one", "two"):
        store.thread(topic, store.entry(topic, "hello"))
    live = Live(str(store.root))
    live.refresh()
    overview = live.overview(viewer())
    engine = live.engine()
    # Another tool's doing, of which nobody has told yet.
    store.thread("one", store.entry("one", "other words"))
    hits = search(engine, overview, QUESTION)
    assert [hit.topic for hit in hits.hits] == ["two"]
    assert (hits.total, hits.topics) == (1, (("two", 1),))


def test_a_thread_behind_a_link_is_not_there(store: Store, tmp_path: Path) -> None:
    store.thread("one", store.entry("one"))
    folder = Path(store.layout.folder("one"))
    shutil.move(folder, tmp_path / "one")
    folder.symlink_to(tmp_path / "one")
    assert not LiveReader(str(store.root)).has("one")
    assert not StoreReader(str(store.root)).has("one")
