"""Other tools of this kind, measured beside wc where they are installed.

Each has a store of its own with the texts that wc's has, and is used as it comes:
no option, no setting that changes its speed.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import sqlite3
from typing import TYPE_CHECKING, NamedTuple

from tests.bench.crowd import EVERY, WITH_GOALS, Crowd, Post, rows_of
from tests.bench.processes import run, say
from tests.bench.rows import LAST, Size
from tests.bench.stores import a_thread
from tests.bench.table import Row

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.bench.processes import Process
    from tests.bench.scratch import Scratch

# What stands for a post's author and body, and for the number of threads.
AGENT, BODY, COUNT = "{agent}", "{body}", "{count}"


class Peer(NamedTuple):
    """A tool: its program, and what it is told to begin a store, to post (to the
    first thread where it can, else a new one; ``crowd`` is which of our crowds does
    the same), to read the first thread, to list all threads and to search. Threads
    come as the files that ``fill`` gives for so many threads of so many entries, or
    the first one from ``start`` and all others from ``copy``. ``long``: it has threads
    of many entries. ``every``: see Row."""

    name: str
    program: str
    init: tuple[str, ...]
    post: tuple[str, ...]
    read: tuple[str, ...]
    listing: tuple[str, ...]
    search: tuple[str, ...]
    fill: Callable[[int, int], Iterator[tuple[str, str]]] | None = None
    start: tuple[str, ...] = ()
    copy: Callable[[str, int], None] | None = None
    long: bool = False
    crowd: str = "one thread"
    every: int = EVERY


def texts(threads: int, entries: int = 1) -> Iterator[tuple[int, str, str]]:
    """Number of the thread, title and body of each entry, as in our stores."""
    for number in range(threads):
        for entry in a_thread(f"topic-{number:04}", number, entries):
            yield number + 1, entry.title, entry.body


def board(threads: int, entries: int) -> Iterator[tuple[str, str]]:
    """A board of baton-handoff: a line for each entry."""
    at = {"sprint": "S1", "ts": "2026-01-02 03:04", "at": "2026-01-02T03:04:05Z"}
    empty: dict[str, list[str]] = {"files": [], "cites": [], "blocks": []}
    lines = []
    for count, (number, title, body) in enumerate(texts(threads, entries)):
        head = {"v": 1, "type": "reply", "id": f"Q-{number:03}", "from": "codex"}
        if count % entries == 0:
            names = {"type": "entry", "kind": "Q", "n": number, "to": ["claude"]}
            head |= {**names, "title": title, **empty}
        lines.append(f"{json.dumps({**head, 'body': body, 'ev': count + 1, **at})}\n")
    yield ".baton/events/S1.jsonl", "".join(lines)


def tasks(threads: int, _: int) -> Iterator[tuple[str, str]]:
    """The tasks of Backlog.md: a file for each thread, of one entry."""
    for number, title, body in texts(threads):
        head = (
            f"---\nid: TASK-{number}\ntitle: {title}\nstatus: To Do\n"
            "assignee:\n  - codex\ncreated_date: '2026-01-02 03:04'\nlabels: []\n"
            f"dependencies: []\nordinal: {number * 1000}\n---\n"
        )
        said = (
            "\n## Description\n\n<!-- SECTION:DESCRIPTION:BEGIN -->\n"
            f"{body}\n<!-- SECTION:DESCRIPTION:END -->\n"
        )
        name = f"task-{number} - {title.replace(' ', '-')}.md"
        yield f"backlog/tasks/{name}", head + said


def messages(home: str, count: int) -> None:
    """Copy the last message of hcom so many times, with the texts of other threads;
    as many commands would take minutes."""
    with contextlib.closing(sqlite3.connect(f"{home}/.hcom/hcom.db")) as base, base:
        columns = "timestamp, type, instance, data"
        last = f"SELECT {columns} FROM events ORDER BY id DESC LIMIT 1"
        *head, data = base.execute(last).fetchone()
        fields = json.loads(data)
        rows = [
            (*head, json.dumps(fields | {"text": body}, separators=(",", ":")))
            for number, _, body in texts(count + 1)
            if number > 1
        ]
        insert = f"INSERT INTO events ({columns}) VALUES (?, ?, ?, ?)"
        base.executemany(insert, rows)


PEERS = (
    Peer(
        "baton-handoff",
        "baton",
        init=("init", "--roles", ""),
        post=("reply", "Q-001", "--as", AGENT, BODY),
        read=("show", "Q-001"),
        listing=("list",),
        search=("grep", "needle"),
        fill=board,
        long=True,
    ),
    Peer(
        "Backlog.md",
        "backlog",
        init=("init", "app", "--defaults", "--agent-instructions", "none"),
        post=("task", "create", "A title", "-d", BODY, "-a", AGENT),
        read=("task", "view", "1", "--plain"),
        listing=("task", "list", "--plain"),
        search=("search", "needle", "--plain"),
        fill=tasks,
        crowd="different threads",
        every=3 * EVERY,
    ),
    # It has no threads to read or to list, but messages.
    Peer(
        "hcom",
        "hcom",
        init=("start", "--name", "claude"),
        start=("send", "--from", "codex", "@claude", "--", BODY),
        copy=messages,
        post=("send", "--from", AGENT, "@claude", "--", BODY),
        read=("events", "--last", str(LAST), "--type", "message"),
        listing=("events", "--last", COUNT, "--type", "message"),
        search=("events", "--sql", "msg_text LIKE '%needle%'"),
    ),
)


def program(peer: Peer, folder: str) -> str:
    """Where it is: in the folder, as venv and npm lay it out, or on PATH; or empty."""
    places = [f"{folder}{part}" for part in ("", "/bin", "/node_modules/.bin")]
    path = os.pathsep.join([*(places if folder else ()), os.environ["PATH"]])
    found = shutil.which(peer.program, path=path)
    return os.path.abspath(found) if found else ""


class Stores:
    """A tool where it is installed, and the stores made for it."""

    def __init__(self, peer: Peer, path: str, scratch: Scratch) -> None:
        self.peer = peer
        self._path = path
        self._scratch = scratch
        self._made: set[str] = set()

    def folder(self, threads: int, entries: int = 1) -> str:
        """A repository with so many threads, and a home folder beside it."""
        program = self.peer.program
        place = f"{self._scratch.folder}/{program}-{entries}-{threads}"
        folder = f"{place}/app"
        if folder not in self._made:
            self._made.add(folder)
            what = f"{threads:,} threads of {entries:,} entries"
            say(f"making a store for {self.peer.name}: {what}")
            self._scratch.write_identity(place)
            run("git", "init", "--quiet", "--initial-branch=main", folder)
            self._fill(folder, threads, entries)
            env = self._scratch.process("git", folder=folder).env
            run("git", "-C", folder, "add", "--all", env=env)
            commit = ("commit", "--quiet", "--allow-empty", "--message=Threads")
            run("git", "-C", folder, *commit, env=env)
        return folder

    def _fill(self, folder: str, threads: int, entries: int) -> None:
        peer = self.peer
        self.process(peer.init, folder).seconds()
        if peer.fill:
            for name, text in peer.fill(threads, entries):
                self._scratch.file(f"{folder}/{name}", text)
        if peer.copy:
            _, _, body = next(texts(1))
            self.process(peer.start, folder, Post(0, body)).seconds()
            peer.copy(f"{os.path.dirname(folder)}/home", threads - 1)

    def process(
        self, words: tuple[str, ...], folder: str, post: Post | None = None
    ) -> Process:
        """The tool, told this in a folder."""
        writer, body = post or Post(0, "A body")
        count = os.path.basename(os.path.dirname(folder)).rpartition("-")[2]
        stands_for = {AGENT: f"agent-{writer}", BODY: body, COUNT: count}
        told = [stands_for.get(word, word) for word in words]
        return self._scratch.process(self._path, *told, folder=folder)


class Peers:
    """The rows of all of them, each beside the same thing done with wc."""

    def __init__(self, scratch: Scratch, size: Size, folder: str) -> None:
        self._scratch = scratch
        self._size = size
        self._folder = folder
        self.crowds: list[Crowd] = []

    def rows(self) -> list[Row]:
        """All, those of tools that are not there as well."""
        found: list[Row] = []
        for peer in PEERS:
            path = program(peer, self._folder)
            lacks = "" if path else f"{peer.name} is not installed"
            stores = Stores(peer, path, self._scratch)
            rows = [*self._rows(stores), *self._long(stores), self._crowd(stores)]
            found += [row._replace(lacks=lacks) for row in rows]
        return found

    def _rows(self, stores: Stores) -> list[Row]:
        peer = stores.peer
        rows = [_row(stores, "--help", ("--help",), "wc help", (1, 1))]
        for threads in self._size.peer_threads:
            many = "a thread of 1" if threads == 1 else f"{threads:,} threads of 1"
            rows += [
                _row(
                    stores, f"{what}, {many}", words, f"wc {ours}, {many}", (threads, 1)
                )
                for what, ours, words in (
                    ("post", "say", peer.post),
                    ("read", "read", peer.read),
                    ("list", "list", peer.listing),
                    ("search", "search", peer.search),
                )
            ]
        return rows

    def _long(self, stores: Stores) -> list[Row]:
        """What the length of a thread costs."""
        peer, rows = stores.peer, []
        for length in self._size.lengths if peer.long else ():
            text, store = f"a thread of {length:,}", (1, length)
            read = f"wc read, {LAST} of {length:,}"
            rows += [
                _row(stores, f"post, {text}", peer.post, f"wc say, {text}", store),
                _row(stores, f"read, {text}", peer.read, read, store),
                _row(stores, f"list, {text}", peer.listing, f"wc list, {text}", store),
                _row(
                    stores, f"search, {text}", peer.search, f"wc search, {text}", store
                ),
            ]
        return rows

    def _crowd(self, stores: Stores) -> Row:
        size = next(one for one in self._size.writers if one[0] == WITH_GOALS)
        writers, name = size[0], stores.peer.name

        def post(one: Post) -> Process:
            return stores.process(stores.peer.post, stores.folder(writers), one)

        def root() -> str:
            return os.path.dirname(stores.folder(writers))

        crowd = Crowd(size, post, root, f"{name}: {writers} writers")
        self.crowds.append(crowd)
        row, _ = rows_of(crowd, f"{writers} writers, {stores.peer.crowd}")
        return row._replace(goal=None, every=stores.peer.every)


def _row(
    stores: Stores,
    what: str,
    words: tuple[str, ...],
    other: str,
    store: tuple[int, int],
) -> Row:
    """A command of a tool in a store of so many threads and entries."""

    def seconds() -> float:
        return stores.process(words, stores.folder(*store)).seconds()

    return Row(f"{stores.peer.name}: {what}", seconds, other, every=3)
