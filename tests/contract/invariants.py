"""What must hold in every clone of a world after every step, and in the end."""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections import Counter
from typing import TYPE_CHECKING

from wc_cli.commands import doctor
from wc_cli.ledger.branch import commits
from wc_cli.ledger.branch.treepaths import is_log, topic_at
from wc_core.base import ulid
from wc_core.base.errors import WcError
from wc_core.base.files import names_in
from wc_core.ledger.git import repository
from wc_core.ledger.threads.reader import StoreReader

if TYPE_CHECKING:
    from collections.abc import Collection

    from tests.contract.clones import Clone
    from tests.contract.worlds import World
    from wc_cli.ledger.doctor.findings import Finding

_LONG_AGO = 3 * 24 * 3600
_LEFTOVERS = (".lock", "index.wc", "index.wc.lock")
_REPORT = "fast_import_crash"
# Entries that an older tool wrote have no commit that names them.
_OLD = "old "


class Known:
    """What one clone has shown: its entries must stay."""

    def __init__(self, clone: Clone) -> None:
        self.clone = clone
        self.entries: dict[tuple[str, str], tuple[str, str]] = {}
        self.lines: dict[tuple[str, str], bytes] = {}
        self.logs: dict[str, bytes] = {}
        # Whether something was ever shown of a page that was all there was.
        self.has_had_pages = False
        self.code = self._code()

    def _code(self) -> list[object]:
        """What of the code's repository is nobody's business."""
        git = f"{self.clone.app}/.git"
        found: list[object] = [sorted(os.listdir(self.clone.app))]
        for name in ("HEAD", "index", "logs/HEAD", "config"):
            with open(f"{git}/{name}", "rb") as file:
                found.append(file.read())
        refs = ("refs/heads/main", "refs/remotes/origin/main", "refs/stash")
        return [*found, *(repository.resolve(self.clone.where, one) for one in refs)]

    def look(self, said: str) -> list[str]:
        """What is wrong in the clone now, after a step that said so."""
        wrong = [] if self._code() == self.code else ["the code's repository changed"]
        if not self.clone.store:
            return wrong
        layout = self.clone.layout
        reader = StoreReader(layout.root)
        logs = {}
        for topic in reader.topics():
            try:
                with open(layout.log(topic), "rb") as file:
                    logs[topic] = file.read()
            except FileNotFoundError:
                logs[topic] = b""
        for topic, data in logs.items():
            if not data or self.logs.get(topic) != data:
                wrong += self._thread(reader, topic, data)
        gone = {key[0] for key in self.entries} - set(logs)
        wrong += [f"{topic} is gone" for topic in gone]
        self.logs = logs
        self.has_had_pages |= not set(self.entries) <= set(self.lines)
        if said.startswith("saved "):
            _, topic, entry = said.split()
            if (topic, entry) not in self.lines:
                wrong.append(f"{entry} of {topic} was acknowledged and is not there")
        return wrong

    def _thread(self, reader: StoreReader, topic: str, data: bytes) -> list[str]:
        """Compare a thread with what was known of it, and know it now."""
        wrong = []
        try:
            thread = reader.thread(topic)
        except WcError as error:
            return [f"{topic} cannot be read: {error}"]
        found = {(topic, one.id): (one.title, one.body) for one in thread.entries}
        if len(found) != len(thread.entries):
            wrong.append(f"{topic} shows an entry twice")
        lines = {(topic, _id(one)): one for one in data.split(b"\n") if one}
        for known, now in ((self.entries, found), (self.lines, lines)):
            for key, value in known.items():
                if key[0] == topic and now.get(key) != value:
                    wrong.append(f"{key} was {value!r}, is {now.get(key)!r}")
        self.entries |= found
        self.lines |= lines
        return wrong


def _id(line: bytes) -> str:
    try:
        return str(json.loads(line)["entry_id"])
    except (ValueError, KeyError, TypeError):
        return f"? {line!r}"


def settled(clone: Clone) -> list[str]:
    """What is wrong in a clone where everything was settled just now."""
    if not clone.store or not os.path.isdir(clone.layout.unsettled):
        return []
    layout = clone.layout
    wrong = [f"{name} is unsettled" for name in names_in(layout.unsettled)]
    for path in (layout.committing, layout.settling):
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                wrong.append(f"{path} says {file.read()}")
    with open(layout.applied, encoding="ascii") as file:
        if file.read().split()[:1] != [clone.tip]:
            wrong.append("what was applied is not the tip")
    blobs = {}
    for record in clone.git("ls-tree", "-r", "-z", clone.tip).split("\0"):
        info, _, path = record.partition("\t")
        if path:
            blobs[path] = info.split()[2]
    for path in sorted(set(blobs) - clone.dirty):
        wrong += _file(clone, path, blobs[path])
    return wrong + _stray(clone, set(blobs))


def _file(clone: Clone, path: str, blob: str) -> list[str]:
    """How a file is otherwise than the branch has it."""
    try:
        with open(f"{clone.store}/{path}", "rb") as file:
            data = file.read()
    except FileNotFoundError:
        left = topic_at(path) in clone.bare and not is_log(path)
        return [] if left else [f"{path} is in the tree, not on disk"]
    wrong = _twice(path, data) if is_log(path) else []
    if commits.blob_id(data, blob) != blob:
        there = clone.git("cat-file", "blob", blob)
        wrong.append(f"{path} is {data!r}, in the tree {there!r}")
    return wrong


def _stray(clone: Clone, known: set[str]) -> list[str]:
    """The files of threads that the branch has not got."""
    found = set()
    for folder in (clone.layout.threads, clone.layout.pages):
        for above, _, names in os.walk(folder):
            found |= {os.path.relpath(f"{above}/{one}", clone.store) for one in names}
    found -= known | clone.dirty
    return [f"{path} is on disk, not in the tree" for path in sorted(found)]


def _twice(path: str, data: bytes) -> list[str]:
    count = Counter(map(_id, data.split(b"\n")[:-1]))
    return [f"{one} is {n} times in {path}" for one, n in count.items() if n > 1]


def age(clone: Clone) -> None:
    """Let what was left half-made be from days ago."""
    scratch = clone.layout.scratch
    for name in names_in(scratch):
        os.utime(f"{scratch}/{name}", (_LONG_AGO, _LONG_AGO))


def final(
    world: World, known: list[Known], *, once: bool, doubted: Collection[int] = ()
) -> list[str]:
    """What is wrong in the end, when everyone has synced; ``once`` says that
    nobody but wc made commits of entries. The repositories of ``doubted``
    clones are checked whole, as is the remote's."""
    wrong = []
    tip = world.tip
    everything: dict[tuple[str, str], bytes] = {}
    for one in known:
        everything |= one.lines
    shown = {key for one in known for key in one.entries}
    for one in known:
        clone = one.clone
        if clone.tip != tip:
            wrong.append(f"clone {clone.number} is at {clone.tip}, the remote at {tip}")
        if missing := shown - set(one.entries):
            wrong.append(f"clone {clone.number} lacks {missing}")
        if one.lines != everything:
            differ = set(one.lines.items()) ^ set(everything.items())
            wrong.append(f"clone {clone.number} has other lines: {differ}")
        wrong += [f"clone {clone.number}: {it}" for it in _tidy(clone)]
        if clone.number in doubted:
            wrong += _fsck(clone, clone.app)
    message = known[0].clone.git("log", "--format=%B", tip, cwd=world.remote)
    for topic, entry in shown:
        title = next(
            o.entries[topic, entry][0] for o in known if (topic, entry) in o.entries
        )
        if title.startswith(_OLD):
            continue
        count = message.count(f"-Entry-ID: {entry}\nWatercooler-Topic: {topic}\n")
        if not count or (once and count > 1):
            wrong.append(f"{entry} of {topic} is named by {count} commits")
    wrong += _fsck(known[0].clone, world.remote)
    return wrong


def _tidy(clone: Clone) -> list[str]:
    """Nothing is left lying about, and git and doctor find nothing."""
    wrong = settled(clone)
    if status := clone.git("--no-optional-locks", "status", "--porcelain"):
        wrong.append(f"git status says {status}")
    scratch = clone.layout.scratch
    wrong += [f"{name} is left in scratch" for name in names_in(scratch)]
    for above, folders, names in os.walk(f"{clone.app}/.git"):
        if "objects" in folders:
            folders.remove("objects")
        for name in names:
            if name.endswith(_LEFTOVERS) or name.startswith(_REPORT):
                wrong.append(f"git's {name} is left in {above}")
    for one in doctor.examine_store(clone.context()).findings:
        if not _is_ahead(one):
            wrong.append(f"doctor says {one}")
    return wrong


def _is_ahead(finding: Finding) -> bool:
    """Whether doctor rightly says that a clock was ahead: some worlds set one so."""
    _, found, _, dated, *_ = [*finding.message.split(), *4 * [""]]
    moment = ulid.timestamp_ms(found) if ulid.prefix(found) else 0
    return dated == "dated" and moment > time.time() * 1000 + ulid.FUTURE_MS


def _fsck(clone: Clone, where: str) -> list[str]:
    try:
        clone.git("fsck", "--strict", "--no-dangling", "--no-progress", cwd=where)
    except subprocess.CalledProcessError as error:
        return [f"git fsck in {where} says {error.stdout!r} {error.stderr!r}"]
    return []
