"""A stand-in for the older tool: it reads and writes a store as that one does.

It keeps a thread in the same three files, and replaces each of them as a whole from
what it read before: ``meta.json``, where the ball and the status are, then
``entries.jsonl``, then ``edges.jsonl``. A file in the root of the store, made with
``O_EXCL``, is its lock of a thread. Who holds the ball is in ``meta.json`` alone.

Run as ``python -m tests.oldertool ROOT VERB TOPIC …``.
"""

from __future__ import annotations

import argparse
import contextlib
import getpass
import json
import os
import re
import sys
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wc_core.base import ulid

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

# Its locks count so long, in seconds, and it waits so long for one.
LOCK_TTL = 10.0
LOCK_TIMEOUT = 2.0
_POLL = 0.1
_COUNTERPARTS = {"Codex": "Claude", "Claude": "Codex"}
_CANONICAL = {"codex": "Codex", "claude": "Claude", "team": "Team"}

Node = dict[str, Any]


class OlderTool:
    """The older tool in the store at ``root``, for the user ``user``."""

    def __init__(self, root: str | Path, user: str = "pat") -> None:
        self.root = Path(root)
        self.user = user

    # --- its commands -------------------------------------------------------

    def init_thread(self, topic: str, ball: str = "codex", title: str = "") -> None:
        """Start a thread, which has no log before someone writes to it."""
        with self.locked(topic):
            if not self._page(topic).exists():
                self._write_meta(topic, _new_thread(topic, title, ball))
                self._project(topic)

    def say(
        self,
        topic: str,
        title: str,
        body: str = "text",
        agent: str = "Claude",
        *,
        ball: str | None = None,
        status: str | None = None,
    ) -> str:
        """Write an entry, and give the ball to the counterpart. Returns the id."""
        author = self._with_tag(agent)
        return self._append(
            topic, author, title, body, ball or self._other(author), status
        )

    def ack(self, topic: str, title: str = "Ack", agent: str = "Claude") -> str:
        """Write an entry; the ball stays. Returns the id."""
        ball = (self.meta(topic) or {}).get("ball", "codex")
        return self._append(topic, self._with_tag(agent), title, "ack", ball, None)

    def handoff(self, topic: str, agent: str = "Team") -> str:
        """Write an entry that gives the ball to the holder's counterpart."""
        target = self._other(str((self.meta(topic) or {}).get("ball", "codex")))
        title = f"Handoff to {target}"
        return self._append(topic, self._with_tag(agent), title, title, target, None)

    def set_ball(self, topic: str, ball: str) -> None:
        """Give the ball away, without any entry."""
        with self.locked(topic):
            self._update_meta(topic, ball=ball)
            self._project(topic)

    def set_status(self, topic: str, status: str) -> None:
        """Change the status, without any entry."""
        with self.locked(topic):
            self._update_meta(topic, status=status.upper())
            self._project(topic)

    def write_thread(self, topic: str, entries: Sequence[tuple[str, str, str]]) -> None:
        """Write a whole thread, as `say` leaves it: agent, title and body of each."""
        nodes = {}
        for index, (agent, title, body) in enumerate(entries):
            milliseconds = time.time_ns() // 10**6 + index
            entry_id = ulid.encode(milliseconds << ulid.RANDOM_BITS | _random())
            author = self._with_tag(agent)
            nodes[entry_id] = _entry(topic, entry_id, index, author, title, body)
        edges, previous = {}, ""
        for entry_id in nodes:
            pairs = [(f"thread:{topic}", entry_id, "contains")]
            if previous:
                pairs.append((previous, entry_id, "followed_by"))
            for source, target, kind in pairs:
                edge = {"source": source, "target": target, "type": kind}
                edges[source + target] = edge
            previous = entry_id
        ball = self._other(self._with_tag(entries[-1][0]))
        meta = _new_thread(topic, "", ball) | {"entry_count": len(nodes)}
        self._write_meta(topic, meta)
        _replace(self._folder(topic) / "entries.jsonl", _lines(nodes))
        _replace(self._folder(topic) / "edges.jsonl", _lines(edges))
        self._project(topic)

    # --- its lock -----------------------------------------------------------

    def lock_path(self, topic: str) -> Path:
        """Its lock of a thread."""
        safe = re.sub(r"[^A-Za-z0-9._-]+", "-", topic.strip()).strip("-._")
        return self.root / f".{safe or 'topic'}.lock"

    @contextlib.contextmanager
    def locked(self, topic: str) -> Iterator[None]:
        """Hold its lock of a thread for a block. Raises TimeoutError."""
        path = self.lock_path(topic)
        deadline = time.time() + LOCK_TIMEOUT
        while not _created(path):
            with contextlib.suppress(FileNotFoundError):
                if time.time() - path.stat().st_mtime > LOCK_TTL:
                    path.unlink()
                    continue
            if time.time() >= deadline:
                raise TimeoutError(f"{path} is held")
            time.sleep(_POLL)
        now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        text = f"pid={os.getpid()} time={now} user={self.user} cwd={self.root}\n"
        path.write_text(text, encoding="utf-8")
        try:
            yield
        finally:
            path.unlink(missing_ok=True)

    # --- its files ----------------------------------------------------------

    def meta(self, topic: str) -> Node | None:
        """What it reads about a thread."""
        path = self._folder(topic) / "meta.json"
        fields: Node | None = None
        if path.exists():
            with contextlib.suppress(ValueError):
                fields = json.loads(path.read_text(encoding="utf-8"))
        return fields

    def entries(self, topic: str) -> dict[str, Node]:
        """The entries of a thread, by their node ids; lines it cannot read are not."""
        return _nodes(self._folder(topic) / "entries.jsonl", "id")

    def _append(
        self,
        topic: str,
        author: str,
        title: str,
        body: str,
        ball: str | None,
        status: str | None,
    ) -> str:
        entry_id = ulid.successor("", time.time_ns() // 10**6, _random())
        with self.locked(topic):
            if self.meta(topic) is None:
                self._write_meta(topic, _new_thread(topic, "", "codex"))
            old = self.entries(topic)
            entry = _entry(topic, entry_id, len(old), author, title, body)
            self._upsert(topic, entry)
            if status or ball:
                self._update_meta(topic, ball=ball, status=status and status.upper())
            self._project(topic)
        return entry_id

    def _upsert(self, topic: str, entry: Node) -> None:
        meta, entries = self.meta(topic) or {}, self.entries(topic)
        edges = _nodes(self._folder(topic) / "edges.jsonl", "source", "target")
        previous = next(reversed(entries), None)
        entries[entry["id"]] = entry
        meta["entry_count"] = max(int(meta.get("entry_count", 0)), entry["index"] + 1)
        meta["last_updated"] = _now()
        pairs = [(f"thread:{topic}", entry["id"], "contains")]
        if previous is not None:
            pairs.append((previous, entry["id"], "followed_by"))
        for source, target, kind in pairs:
            edges[source + target] = {"source": source, "target": target, "type": kind}
        self._write_meta(topic, meta)
        _replace(self._folder(topic) / "entries.jsonl", _lines(entries))
        _replace(self._folder(topic) / "edges.jsonl", _lines(edges))

    def _update_meta(self, topic: str, **fields: str | None) -> None:
        meta = self.meta(topic)
        if meta is None:
            raise FileNotFoundError(topic)
        meta |= {name: value for name, value in fields.items() if value is not None}
        self._write_meta(topic, meta | {"last_updated": _now()})

    def _write_meta(self, topic: str, meta: Node) -> None:
        _replace(self._folder(topic) / "meta.json", json.dumps(meta, indent=2))

    def _project(self, topic: str) -> None:
        """Write its page, from the other files."""
        meta = self.meta(topic) or {}
        lines = [f"# {topic} — Thread", f"Status: {meta.get('status', 'OPEN')}"]
        lines += [f"Ball: {meta.get('ball', 'codex')}", f"Topic: {topic}"]
        lines += [f"Created: {meta.get('last_updated', '')}", ""]
        for entry in self.entries(topic).values():
            lines += ["---", f"Entry: {entry['agent']} {entry['timestamp']}"]
            lines += [f"Role: {entry['role']}", f"Type: {entry['entry_type']}"]
            lines += [f"Title: {entry['title']}", "", entry["body"]]
            lines += [f"<!-- Entry-ID: {entry['entry_id']} -->", ""]
        _replace(self._page(topic), "\n".join(lines))

    def _folder(self, topic: str) -> Path:
        return self.root / "graph" / "baseline" / "threads" / topic

    def _page(self, topic: str) -> Path:
        pages = self.root / "threads"
        return (pages if pages.is_dir() else self.root) / f"{topic}.md"

    def _with_tag(self, agent: str) -> str:
        name, _, tag = agent.partition(" (")
        name = _CANONICAL.get(name.casefold(), name)
        return f"{name} ({tag.removesuffix(')') or self.user})"

    def _other(self, holder: str) -> str:
        name, _, tag = self._with_tag(holder).partition(" (")
        return f"{_COUNTERPARTS.get(name, name)} ({tag}"


def _new_thread(topic: str, title: str, ball: str) -> Node:
    return {
        "id": f"thread:{topic}",
        "type": "thread",
        "topic": topic,
        "title": title or topic.replace("-", " "),
        "status": "OPEN",
        "ball": ball,
        "last_updated": _now(),
        "summary": "",
        "entry_count": 0,
    }


def _entry(
    topic: str, entry_id: str, index: int, author: str, title: str, body: str
) -> Node:
    return {
        "id": f"entry:{entry_id}",
        "type": "entry",
        "entry_id": entry_id,
        "thread_topic": topic,
        "index": index,
        "agent": author,
        "role": "implementer",
        "entry_type": "Note",
        "title": title,
        "timestamp": _now(),
        "body": body,
        "summary": "",
        "file_refs": [],
        "pr_refs": [],
        "commit_refs": [],
    }


def _nodes(path: Path, *keys: str) -> dict[str, Node]:
    nodes: dict[str, Node] = {}
    if path.exists():
        for line in path.read_text(encoding="utf-8").splitlines():
            with contextlib.suppress(ValueError):
                node = json.loads(line)
                nodes["".join(str(node.get(key, "")) for key in keys)] = node
    return nodes


def _lines(nodes: dict[str, Node]) -> str:
    texts = (json.dumps(node, separators=(",", ":")) for node in nodes.values())
    return "".join(f"{text}\n" for text in texts)


def _replace(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, half = tempfile.mkstemp(dir=path.parent, prefix=".tmp_")
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(text)
    Path(half).chmod(0o644)
    Path(half).replace(path)


def _created(path: Path) -> bool:
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o644))
    except FileExistsError:
        return False
    return True


def _now() -> str:
    return datetime.now(UTC).isoformat()


def _random() -> int:
    return int.from_bytes(os.urandom(10), "big")


def _say_patiently(tool: OlderTool, topic: str, title: str, agent: str) -> str:
    """Say it, again and again while others keep the lock: the tool tries to get it only
    every tenth of a second, and gives up after two seconds."""
    while True:
        with contextlib.suppress(TimeoutError):
            return tool.say(topic, title, agent=agent)


def main(words: Sequence[str]) -> None:
    """One command of it, or ``say`` several times in one process."""
    parser = argparse.ArgumentParser()
    parser.add_argument("root")
    parser.add_argument(
        "verb", choices=["say", "set-ball", "set-status", "init-thread"]
    )
    parser.add_argument("topic")
    parser.add_argument("value", nargs="?", default="")
    parser.add_argument("--agent", default="Claude")
    parser.add_argument("--times", type=int, default=1)
    given = parser.parse_args(words)
    tool = OlderTool(given.root, getpass.getuser())
    for number in range(given.times):
        match given.verb:
            case "say":
                title = f"{given.value}{number}"
                print(_say_patiently(tool, given.topic, title, given.agent))
            case "set-ball":
                tool.set_ball(given.topic, given.value)
            case "set-status":
                tool.set_status(given.topic, given.value)
            case _:
                tool.init_thread(given.topic)


if __name__ == "__main__":
    main(sys.argv[1:])
