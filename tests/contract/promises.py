"""What must hold in a store whatever happened to it."""

from __future__ import annotations

import os
import subprocess
from collections import Counter
from itertools import pairwise
from typing import TYPE_CHECKING

from tests.contract import scenes
from tests.contract.scenes import TOPIC, TRIED
from wc_cli.ledger.store import rendering
from wc_core.base.errors import CorruptError
from wc_core.base.files import names_in, read_plain
from wc_core.base.layout import BRANCH
from wc_core.ledger.threads import codec, folding
from wc_core.ledger.threads.reader import StoreReader

if TYPE_CHECKING:
    from tests.contract.scenes import Scene
    from wc_core.base.layout import Layout

_LONG_AGO = 3 * 24 * 3600
# What git leaves where it was stopped, and nobody may find there.
_LEFTOVERS = (".lock", "index.wc")
_REPORT = "fast_import_crash"
_RENDERED = frozenset({"meta.json", "edges.jsonl"})
_UNREADABLE = "?"


def _titles(reader: StoreReader, topic: str) -> list[str]:
    """The titles of a thread, in order; each a whole entry."""
    if not reader.has(topic):
        return []
    return [
        one.title if one.body.strip() == scenes.BODY.strip() else f"half of {one.title}"
        for one in reader.thread(topic).entries
    ]


def everything(folder: str) -> dict[str, list[str]]:
    """The titles of every thread there is."""
    reader = StoreReader(scenes.layout_of(folder).root)
    found = {}
    for topic in reader.topics():
        try:
            found[topic] = _titles(reader, topic)
        except CorruptError:
            found[topic] = [_UNREADABLE]
    return {topic: those for topic, those in found.items() if those}


def held(layout: Layout) -> Counter[bytes]:
    """Every line of the logs and of what was taken out of them."""
    lines: Counter[bytes] = Counter()
    for place in (layout.threads, f"{layout.local}/quarantine"):
        for root, _, names in os.walk(place):
            for name in names:
                if name not in _RENDERED:
                    with open(f"{root}/{name}", "rb") as file:
                        lines |= Counter(file.read().split(b"\n"))
    del lines[b""]
    return lines


def _pages(folder: str) -> list[bytes]:
    """The page of the thread, and that which was kept when it was imported."""
    layout = scenes.layout_of(folder)
    kept = f"{layout.local}/imported/{TOPIC}.md"
    return [read_plain(path) or b"" for path in (layout.page(TOPIC), kept)]


class Before:
    """What was in a store before something happened to it."""

    def __init__(self, folder: str) -> None:
        self.titles = everything(folder)
        self.lines = held(scenes.layout_of(folder))
        old = scenes.OLD_PAGE in _pages(folder)
        self.page = scenes.OLD_PAGE if old else b""


class Promises:
    """Looks for those that are broken in the store of ``folder``, where a
    scene was played."""

    def __init__(self, folder: str, scene: Scene, before: Before) -> None:
        self.folder = folder
        self.scene = scene
        self.titles = {topic: list(those) for topic, those in before.titles.items()}
        self.lines = before.lines
        self.page = before.page
        self.wrong: list[str] = []

    def after(self, said: str, *, deadly: bool) -> None:
        """Look at once, then after the next write and all that follows it."""
        if said.startswith("bug") or (deadly and said and not self.scene.goes_on):
            self.wrong.append(f"it said {said}")
        self._write_on(self._lost(said))
        # What was left half-made is no longer new.
        _age(scenes.layout_of(self.folder).scratch)
        self.scene.finish(self.folder)
        self._lost(said)
        self._agree()
        self._tidy()
        if os.path.exists(f"{self.folder}/.git"):
            self._committed()

    def _lost(self, said: str) -> dict[str, list[str]]:
        """What should be there and is not, or the other way round; returns what is."""
        found = everything(self.folder)
        for topic, those in self.titles.items():
            here = found.get(topic, [])
            known = {*those} - {TRIED}
            if _UNREADABLE in {*here, *those}:
                continue
            if any(here.count(title) != those.count(title) for title in known):
                self.wrong.append(f"{topic} had {those}, has {here}")
        had = self.titles.get(TOPIC, []).count(TRIED)
        more = found.get(TOPIC, []).count(TRIED) - had
        least = 1 if said == "ack" and self.scene.writes else 0
        most = 1 if self.scene.writes and not said.startswith("error") else 0
        if not least <= more <= most:
            self.wrong.append(f"it said {said}, and wrote {more} entries")
        if self.page and self.page not in _pages(self.folder):
            self.wrong.append("the page of the markdown age is gone")
        if any(one.startswith("half") for those in found.values() for one in those):
            self.wrong.append(f"half an entry is shown: {found}")
        gone = self.lines - held(scenes.layout_of(self.folder))
        if gone:
            self.wrong.append(f"bytes are gone: {dict(gone)}")
        return found

    def _write_on(self, found: dict[str, list[str]]) -> None:
        """The next write: at once, and in every thread that can be written."""
        for topic, those in found.items() or {TOPIC: []}.items():
            if topic not in scenes.LOST:
                after = f"after {len(those)}"
                scenes.write(self.folder, after, topic)
                self.titles.setdefault(topic, []).append(after)

    def _agree(self) -> None:
        """All projections of every thread are the fold of its log."""
        reader = StoreReader(scenes.layout_of(self.folder).root)
        for topic in reader.topics():
            thread = reader.thread(topic)
            base = thread.snapshot.meta.base
            fold = folding.fold(topic, thread.entries, base)
            if thread.state != fold._replace(lost=thread.log.lost):
                self.wrong.append(f"{topic}: the state is not the fold")
            for path, data in rendering.render_thread(reader.layout, thread).items():
                with open(path, "rb") as file:
                    if file.read() != data:
                        self.wrong.append(f"{path} is not the fold")
            ours = [one for one in thread.entries if one.action]
            if any(one.parents != (was.id,) for was, one in pairwise(ours)):
                self.wrong.append(f"{topic}: there is a fork")
            if not reader.snapshot(topic).fresh:
                self.wrong.append(f"{topic}: its meta is not fresh")
            bad = codec.partition_lines(topic, thread.data)[1]
            kinds = {one.kind for one in thread.damage}
            if bad and not kinds & {"torn", "garbage"}:
                self.wrong.append(f"{topic}: bad bytes are silent")

    def _tidy(self) -> None:
        """Nothing is left lying about."""
        layout = scenes.layout_of(self.folder)
        for place in (layout.scratch, layout.unsettled):
            self.wrong += [f"{name} is left in {place}" for name in names_in(place)]
        for path in (layout.settling, layout.committing):
            if os.path.exists(path):
                with open(path, encoding="utf-8") as file:
                    self.wrong.append(f"{path} says {file.read()}")
        for root, _, names in os.walk(f"{self.folder}/.git"):
            self.wrong += [
                f"git's {name} is left in {root}"
                for name in names
                if name.endswith(_LEFTOVERS) or name.startswith(_REPORT)
            ]

    def _committed(self) -> None:
        """The branch has every entry, once, and the checkout is clean."""
        layout = scenes.layout_of(self.folder)
        if _git(self.folder, "-C", layout.root, "status", "--porcelain"):
            self.wrong.append("git status is not clean")
        text = _git(self.folder, "log", "--format=%B", BRANCH)
        reader = StoreReader(layout.root)
        for topic in reader.topics():
            for entry in reader.thread(topic).entries:
                footers = f"Entry-ID: {entry.id}\nWatercooler-Topic: {topic}\n"
                if text.count(footers) != 1:
                    self.wrong.append(f"{topic}: {entry.title} is not in one commit")


def _age(folder: str) -> None:
    """Let the files of a folder be from days ago."""
    for name in names_in(folder):
        os.utime(f"{folder}/{name}", (_LONG_AGO, _LONG_AGO))


def _git(folder: str, *words: str) -> str:
    done = subprocess.run(
        ["git", "-C", folder, "--no-optional-locks", *words],
        env=scenes.env_of(folder),
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout
