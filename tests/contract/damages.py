"""How each damage is made, and which row of the table in docs/store.md says
what becomes of it."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from wc_core.ledger.threads.longlines import MAX_LINE_BYTES

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

THREADS = "graph/baseline/threads"
LOG, META, EDGES = (
    f"{THREADS}/auth/{name}" for name in ("entries.jsonl", "meta.json", "edges.jsonl")
)
PAGE = "threads/auth.md"
# Three entries in the thread "auth", one in "other".
ENTRIES = 3


@dataclass
class Broken:
    """A store someone damages; ``outside`` is a folder beside it."""

    root: Path
    outside: Path

    def __truediv__(self, name: str) -> Path:
        return self.root / name

    @property
    def lines(self) -> list[bytes]:
        return (self / LOG).read_bytes().splitlines(keepends=True)

    def write(self, *lines: bytes) -> None:
        (self / LOG).write_bytes(b"".join(lines))

    def insert(self, number: int, *lines: bytes) -> None:
        """Lines of a log, the first of which becomes its line ``number``."""
        old = self.lines
        self.write(*old[: number - 1], *lines, *old[number - 1 :])

    def change(self, name: str, value: object) -> None:
        """A field of the second entry."""
        first, second, *rest = self.lines
        fields = json.loads(second) | {name: value}
        self.write(first, json.dumps(fields).encode() + b"\n", *rest)

    def replace(self, name: str, kind: str) -> None:
        """Something else in the place of a file or folder, which stays as it
        is outside."""
        path = self / name
        path.parent.mkdir(parents=True, exist_ok=True)
        away = self.outside / path.name
        if path.exists():
            path.rename(away)
        elif kind == "link":
            away.touch()
        if kind == "link":
            path.symlink_to(away)
        elif kind == "folder":
            path.mkdir()
            (path / "kept").write_text("kept")
        elif kind == "file":
            path.write_text("kept")
        else:
            os.mkfifo(path)


class Damage(NamedTuple):
    """One damage: the ``row`` of the table, how it is made, how many entries
    are ``left`` to read, where doctor finds it (``file:line``), and bytes
    that must be in quarantine when it is repaired."""

    row: str
    make: Callable[[Broken], object]
    left: int = ENTRIES
    found: tuple[str, ...] = ()
    kept: tuple[bytes, ...] = ()


def _added(line: bytes, number: int, row: str = "bad line") -> Damage:
    """A bad line that was added to the log as line ``number``."""
    found = (f"{LOG}:{number}",)
    return Damage(row, lambda b: b.insert(number, line), ENTRIES, found, (line,))


def _put(row: str, name: str, data: bytes | None, *, keeps: bool = False) -> Damage:
    """A file that holds ``data``; none at all for ``None``."""

    def make(broken: Broken) -> None:
        path = broken / name
        if data is None:
            path.unlink()
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)

    kept = (data,) if keeps and data is not None else ()
    return Damage(row, make, found=(name,), kept=kept)


def _instead(row: str, name: str, kind: str) -> Damage:
    return Damage(row, lambda b: b.replace(name, kind), found=(name,))


def _edited(row: str, name: str, old: bytes, new: bytes) -> Damage:
    def make(broken: Broken) -> None:
        data = (broken / name).read_bytes()
        assert old in data
        (broken / name).write_bytes(data.replace(old, new, 1))

    return Damage(row, make, found=(name,))


def _cut(broken: Broken, name: str) -> None:
    data = (broken / name).read_bytes()
    (broken / name).write_bytes(data[: len(data) // 2])


def _newer_meta(broken: Broken) -> None:
    path = broken / META
    path.write_bytes(path.read_bytes().replace(b'"version":1', b'"version":2'))


def _duplicate(broken: Broken, **changes: object) -> None:
    """The second line again, at the end."""
    line = broken.lines[1]
    fields = json.dumps(json.loads(line) | changes).encode() + b"\n"
    broken.insert(4, fields if changes else line)


def _misshapen(name: str) -> Damage:
    found = (f"{LOG}:2",)
    return Damage("misshapen field", lambda b: b.change(name, [7]), found=found)


def _several(broken: Broken) -> None:
    first, second, third = broken.lines
    broken.write(b"\xff\n", first, b"\n", b"[1]\n", second, third, b"{\n", b'{"en')


def _gone(broken: Broken) -> None:
    for name in (LOG, META, EDGES, PAGE):
        (broken / name).unlink()
    (broken / LOG).parent.rmdir()


def _unreadable(broken: Broken, name: str) -> None:
    (broken / name).chmod(0)


GARBAGE = b"garbage\n"
ZEROS = b"\0" * 300
LONG = b'{"entry_id":"x","body":"' + b"x" * MAX_LINE_BYTES + b'"}\n'
DEEP = b'{"entry_id":"x","y":' + b"[" * 5000 + b"]" * 5000 + b"}\n"
FOREIGN = (
    *("notes.txt", "graph/notes", "graph/baseline/notes", f"{THREADS}/notes"),
    *(f"{THREADS}/auth/annotations.jsonl", f"{THREADS}/.obsidian/app.json"),
    *("threads/notes.txt", ".local/notes", ".local/locks/notes"),
    *(".local/cursors/auth/notes", ".local/quarantine/auth/notes", ".local/me/notes"),
)
INSTEAD = ("link", "folder", "fifo")

DAMAGES: dict[str, Damage] = {
    # --- the log ---------------------------------------------------------------
    "a torn tail": _added(b'{"entry_id":"01M', 4, "unfinished line"),
    "zeros at the end": _added(ZEROS, 4, "unfinished line"),
    "an entry cut in its middle": Damage(
        "unfinished line",
        lambda b: b.write(*b.lines[:2], b.lines[2][:40]),
        2,
        (f"{LOG}:3", LOG),
    ),
    "no end of the last line": Damage(
        "unended line",
        lambda b: b.write(b"".join(b.lines).removesuffix(b"\n")),
        found=(f"{LOG}:3",),
    ),
    **{f"garbage as line {number}": _added(GARBAGE, number) for number in (1, 2, 3, 4)},
    "not UTF-8": _added(b'{"entry_id":"\xff"}\n', 2),
    "zeros in the middle": _added(ZEROS + b"\n", 2),
    "a zero byte in an entry": _added(b'{"entry_id":"x","body":"\0"}\n', 2),
    "an array": _added(b'["entry_id"]\n', 2),
    "a number": _added(b"17\n", 2),
    "null": _added(b"null\n", 3),
    "no entry_id": _added(b'{"title":"x"}\n', 2),
    "an entry_id that is a number": _added(b'{"entry_id":17}\n', 2),
    "an empty entry_id": _added(b'{"entry_id":""}\n', 2),
    "nested too deep": _added(DEEP, 2),
    "NaN instead of an entry": _added(b"NaN\n", 2),
    "a line longer than any entry": _added(LONG, 2, "long line"),
    "several at once": Damage(
        "bad line",
        _several,
        found=(f"{LOG}:1", f"{LOG}:4", f"{LOG}:7", f"{LOG}:8"),
        kept=(b"\xff\n", b"[1]\n", b"{\n", b'{"en'),
    ),
    "an entry that became garbage": Damage(
        "bad line",
        lambda b: b.write(b.lines[0], b"x" + b.lines[1], b.lines[2]),
        2,
        (f"{LOG}:2", LOG),
        (b"x{",),
    ),
    **{
        f"{name} of another type": _misshapen(name)
        for name in ("title", "body", "role", "file_refs", "key")
    },
    "an id with other content": Damage(
        "id twice",
        lambda b: _duplicate(b, title="", body=""),
        found=(f"{LOG}:4",),
    ),
    "an id with the same content": Damage("odd line", _duplicate, found=(META,)),
    "a key twice": Damage(
        "odd line",
        lambda b: b.write(
            b.lines[0], b.lines[1].replace(b"{", b'{"title":"x",', 1), b.lines[2]
        ),
        found=(META,),
    ),
    "NaN in a field of others": Damage(
        "odd line", lambda b: b.change("score", float("nan")), found=(META,)
    ),
    "unknown fields and action": Damage(
        "odd line", lambda b: b.change("action", "vote"), found=(META,)
    ),
    "CR LF": Damage(
        "odd line",
        lambda b: b.write(*(one.replace(b"\n", b"\r\n") for one in b.lines)),
        found=(META,),
    ),
    "a byte order mark": Damage(
        "odd line", lambda b: b.write(b"\xef\xbb\xbf", *b.lines), found=(META,)
    ),
    "empty lines": Damage(
        "odd line", lambda b: b.insert(2, b"\n", b"  \n"), found=(META,)
    ),
    "no log": Damage("gone log", lambda b: (b / LOG).unlink(), found=(LOG,)),
    "an empty log": Damage("gone log", lambda b: b.write(), found=(LOG,)),
    "a log cut after a line": Damage(
        "gone log", lambda b: b.write(b.lines[0]), 1, (LOG,)
    ),
    "nothing but garbage": Damage(
        "gone log", lambda b: b.write(GARBAGE), 0, (LOG, f"{LOG}:1"), (GARBAGE,)
    ),
    "a log in UTF-16": Damage(
        "gone log",
        lambda b: b.write(b"".join(b.lines).decode().encode("utf-16")),
        0,
        (LOG, *(f"{LOG}:{number}" for number in range(1, 5))),
    ),
    **{f"a {kind} as log": _instead("no log to read", LOG, kind) for kind in INSTEAD},
    "a link as the folder": _instead("no log to read", f"{THREADS}/auth", "link"),
    "a file as the folder": _instead("gone log", f"{THREADS}/auth", "file")._replace(
        found=(LOG,)
    ),
    "a log that may not be read": Damage(
        "forbidden log", lambda b: _unreadable(b, LOG), found=(LOG,)
    ),
    "a thread that is gone": Damage("gone thread", _gone, 0, (f"{THREADS}/auth",)),
    # --- projections -------------------------------------------------------------
    "a meta of garbage": _put("bad meta", META, b"{garbage", keeps=True),
    "an empty meta": _put("bad meta", META, b""),
    "a meta of another shape": _put("bad meta", META, b"[]", keeps=True),
    "a meta cut short": Damage("bad meta", lambda b: _cut(b, META), found=(META,)),
    **{
        f"a {kind} as meta": _instead("no meta to read", META, kind) for kind in INSTEAD
    },
    "no meta": _put("old projection", META, None),
    "a meta of others": _put("old projection", META, b'{"title":"x"}', keeps=True),
    "an edited meta": _edited("old projection", META, b'"OPEN"', b'"CLOSED"'),
    "no edges": _put("old projection", EDGES, None),
    "edges of garbage": _put("old projection", EDGES, b"\xff{", keeps=True),
    "no page": _put("old projection", PAGE, None),
    "an empty page": _put("old projection", PAGE, b""),
    "a page of garbage": _put("old projection", PAGE, b"\xff\0", keeps=True),
    "a page cut short": Damage(
        "old projection", lambda b: _cut(b, PAGE), found=(PAGE,)
    ),
    "an edited page": _edited("old projection", PAGE, b"Entry: ", b"Entry: forged "),
    **{
        f"a {kind} as {name}": _instead("no projection", name, kind)
        for kind in INSTEAD
        for name in (EDGES, PAGE)
    },
    "a newer meta": Damage("newer meta", _newer_meta, found=(META,)),
    "a newer page": _edited("newer page", PAGE, b'"version":1', b'"version":9'),
    # --- the store ---------------------------------------------------------------
    "a link as the folder of logs": _instead("no folder", THREADS, "link"),
    "a link as the folder of pages": _instead("no pages", "threads", "link"),
    "a link as graph": _instead("no folder", "graph", "link"),
    "a file as the folder of logs": _instead("gone folder", THREADS, "file"),
    "a file as the folder of pages": _instead("other folder", "threads", "file"),
    **{
        f"foreign {name}": _put("foreign file", name, b"\xff\0?")._replace(found=())
        for name in FOREIGN
    },
    "settings of garbage": _put("bad settings", "config.toml", b"["),
    "settings of another shape": _put("bad settings", "config.toml", b"ball = 3\n"),
    **{
        f"a {kind} as settings": _instead("bad settings", "config.toml", kind)
        for kind in INSTEAD
    },
    **{
        f"{what} {name}": _put("shared file", name, data)
        for name in (".gitattributes", ".gitignore")
        for what, data in (("no", None), ("another", b"x"), ("a binary", b"\xff\0"))
    },
    **{
        f"a {kind} as {name}": _instead("shared file", name, kind)
        for name in (".gitattributes", ".gitignore")
        for kind in INSTEAD
    },
    # --- .local ------------------------------------------------------------------
    ".local is a link": _instead("no .local", ".local", "link"),
    ".local is a file": _instead("no .local", ".local", "file"),
    **{
        f"a {kind} as {name}": _instead("lock or marker", f".local/{name}", kind)
        for name in ("locks/threads/auth", "unsettled/auth")
        for kind in ("link", "folder", "fifo")
    },
    **{
        f"a {kind} as {name}": _instead("folder of .local", f".local/{name}", kind)
        for name in ("locks", "unsettled")
        for kind in ("link", "file")
    },
    "a link as scratch": _instead("no scratch", ".local/scratch", "link"),
    "a file as scratch": _instead("no scratch", ".local/scratch", "file"),
    **{
        f"a {kind} as cursors": _instead("cursors", ".local/cursors", kind)
        for kind in ("link", "file")
    },
    "a cursor of garbage": _put("cursor", ".local/cursors/auth/pat", b"\xff"),
    "a report of garbage": _put("report", ".local/settling.json", b"\xff")._replace(
        found=("settling",)
    ),
    "a note of a killed git": _put("killed git", ".local/committing", b""),
    **{
        f"a {kind} as index": _instead("index", ".local/index.md", kind)
        for kind in INSTEAD
    },
}
