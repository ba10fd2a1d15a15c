"""What is tried in a store, by name: how the store comes to be, and what is
then done in it."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING, NamedTuple

from wc_cli.ledger.doctor.repair import Repair
from wc_cli.ledger.settle import settler
from wc_cli.ledger.store.writer import IdSource
from wc_cli.run.context import Context
from wc_core.base.layout import Layout
from wc_core.ledger.threads import proposals
from wc_core.people.identity.resolve import Asked

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from wc_cli.ledger.store.writer import StoreWriter

TOPIC = "crash"
TRIED = "tried"
BODY = "line\n" * 40
# Threads with something wrong, each what its name says.
LOST = ("missing", "folder")
_COMMITTED = (TOPIC, "other")
DAMAGED = ("torn", "garbage", "twice", *LOST)
OLD_PAGE = b"""\
# crash - Thread
Status: OPEN
Ball: Claude Code (pat)
Topic: crash
Created: 2025-10-07T00:27:54Z

---
Entry: Codex (pat) 2025-10-07T00:27:54Z
Role: implementer
Type: Note
Title: start

%b
---
Entry: Claude Code (pat) 2025-10-07T01:27:54Z
Role: critic
Type: Note
Title: second

%b""" % (BODY.encode(), BODY.encode())


class Clock:
    """Milliseconds that go on by one."""

    def __init__(self) -> None:
        self.now = 1_767_225_600_000

    def __call__(self) -> int:
        self.now += 1
        return self.now


SOURCE = IdSource(Clock(), lambda: 7)


def env_of(folder: str) -> Mapping[str, str]:
    """The environment of whoever works in ``folder``."""
    return {
        "HOME": f"{folder}/home",
        "USER": "pat",
        "PATH": os.environ["PATH"],
        "GIT_CONFIG_NOSYSTEM": "1",
        "WATERCOOLER_DETECT": "off",
    }


def context(folder: str, agent: str = "Codex") -> Context:
    """What a command in ``folder`` works with."""
    return Context(env_of(folder), folder, Asked(agent))


def layout_of(folder: str) -> Layout:
    """Where the store of ``folder`` has what."""
    return Layout(context(folder).place.root)


def write(
    folder: str, title: str, topic: str = TOPIC, seconds: float = 0.0
) -> StoreWriter:
    """One ordinary entry, without waiting for anyone."""
    writer = context(folder).writer()
    draft = proposals.Draft(topic, "say", title, body=BODY, new=True)
    writer.write(draft, SOURCE, seconds)
    return writer


def settle(folder: str) -> None:
    """What the helper does after a write."""
    place = context(folder).place
    if place.exists:
        settler.settle(place.root, env_of(folder), 10)


def repair(folder: str) -> None:
    """What ``wc doctor --repair`` does."""
    place = context(folder).place
    list(Repair(place.root, env_of(folder), dry_run=False).run())


def _say(folder: str) -> None:
    write(folder, TRIED)


def _check_out(folder: str) -> None:
    context(folder).ensure_store()


def _read(folder: str) -> None:
    writer = context(folder, "Claude").writer()
    writer.mark_read(writer.reader.snapshot(TOPIC).state)


def _nothing(folder: str) -> None:
    os.makedirs(f"{folder}/home")


def _repository(folder: str) -> None:
    _nothing(folder)
    with open(f"{folder}/home/.gitconfig", "w", encoding="ascii") as file:
        file.write("[user]\n\tname = Pat\n\temail = pat@example.org\n")
    words = ["git", "-C", folder, "init", "-q", "--template=", "-b", "main"]
    subprocess.run(words, env=env_of(folder), check=True)


def _one_entry(folder: str) -> None:
    _nothing(folder)
    write(folder, "start")


def _old_page(folder: str) -> None:
    _nothing(folder)
    os.makedirs(f"{folder}/.watercooler/threads")
    with open(f"{folder}/.watercooler/threads/{TOPIC}.md", "wb") as file:
        file.write(OLD_PAGE)


def _branch(folder: str) -> None:
    """Threads that are on the branch alone."""
    _repository(folder)
    for topic in _COMMITTED:
        write(folder, "start", topic)
    settle(folder)
    root = layout_of(folder).root
    words = ["git", "-C", folder, "worktree", "remove", "-f", "-f", root]
    subprocess.run(words, env=env_of(folder), check=True)


def _settle_adopted(folder: str) -> None:
    """Settle a store; everything that was on the branch must be there by then."""
    settle(folder)
    reader = context(folder).reader
    for topic in _COMMITTED:
        titles = [entry.title for entry in reader.thread(topic).entries]
        if titles[:1] != ["start"]:
            raise AssertionError((topic, titles))


def _unsettled(folder: str) -> None:
    _repository(folder)
    write(folder, "start")
    settle(folder)
    write(folder, "second")
    write(folder, "start", "other")


def _damaged(folder: str) -> None:
    _repository(folder)
    damage(folder)


def _damaged_outside(folder: str) -> None:
    _nothing(folder)
    damage(folder)


def damage(folder: str) -> None:
    """Threads of two entries each, all settled, and what happened to them."""
    for topic in DAMAGED:
        write(folder, "start", topic)
        write(folder, "second", topic)
    settle(folder)
    logs = {topic: layout_of(folder).log(topic) for topic in DAMAGED}
    lines = {}
    for topic, path in logs.items():
        with open(path, "rb") as file:
            lines[topic] = file.read().splitlines(keepends=True)
    first, second = lines["garbage"]
    _put(logs["garbage"], first + b"garbage \xff\n" + second)
    _put(logs["torn"], b"".join(lines["torn"]) + b'{"entry_id": "01')
    first, second = lines["twice"]
    poorer = first.replace(BODY.encode().replace(b"\n", b"\\n"), b"")
    assert poorer != first
    _put(logs["twice"], poorer + first + second)
    os.unlink(logs["missing"])
    os.unlink(logs["folder"])
    os.mkdir(logs["folder"])
    _put(f"{logs['folder']}/kept", b"kept\n")


def _put(path: str, data: bytes) -> None:
    """Long ago: a line that is being written now would be waited for."""
    with open(path, "wb") as file:
        file.write(data)
    os.utime(path, (1, 1))


class Scene(NamedTuple):
    """How the store is prepared; what is done there that something happens to;
    what then brings everything in order.

    ``writes``: it is one entry. ``every``: also calls that only ask are of
    interest. ``goes_on``: one crash follows another in the same store. ``step``: one
    call in so many is hit; in the long run all are.
    """

    prepare: Callable[[str], None]
    act: Callable[[str], None]
    finish: Callable[[str], None] = settle
    writes: bool = False
    every: bool = False
    goes_on: bool = False
    step: int = 1


SCENES = {
    "first": Scene(_nothing, _say, writes=True, every=True, step=8),
    "next": Scene(_one_entry, _say, writes=True, every=True, goes_on=True, step=4),
    "import": Scene(_old_page, _say, writes=True, step=8),
    "read": Scene(_one_entry, _read, step=4),
    "checkout": Scene(_repository, _check_out, step=8),
    "adopt": Scene(_branch, _check_out, _settle_adopted, step=8),
    "settle": Scene(_unsettled, settle, step=12),
    "repair": Scene(_damaged, repair, repair, step=12),
    "repair-outside": Scene(_damaged_outside, repair, repair, step=18),
}
