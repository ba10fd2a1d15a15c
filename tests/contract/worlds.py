"""A remote and its clones, and what happens to them, step by step.

Steps are data: the same steps make the same world, entry ids and commits
included.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from tests.contract import faults
from tests.contract.clones import REF, Clone
from tests.leaving import leave
from wc_core.base.errors import WcError
from wc_core.ledger.git import repository
from wc_core.ledger.git.repository import Repository

if TYPE_CHECKING:
    from collections.abc import Callable


class Step(NamedTuple):
    """What is done next, in which clone. ``number`` makes the time and the
    ids of its entries; ``hit`` is what happens to which call of the process
    that does it."""

    number: int
    op: str
    clone: int = 0
    args: dict[str, Any] = {}  # noqa: RUF012 - never changed
    hit: tuple[str, str, int] | None = None

    def __repr__(self) -> str:
        rest = f", hit={self.hit!r}" if self.hit else ""
        return f"Step({self.number}, {self.op!r}, {self.clone}, {self.args!r}{rest})"


class Start(NamedTuple):
    """How a world begins: which of its clones have their store already, and
    whether the remote has the branch of an older tool."""

    ready: tuple[bool, ...]
    old: bool = False


class _Nth(faults.Calls):
    """Something happens to the so-manieth call of one kind: ``git``, those of the
    module ``files``, which reads, or ``any``."""

    def __init__(self, action: str, kind: str, at: int) -> None:
        super().__init__(at, action)
        self.kind = kind

    def make(self, call: faults.Call, hit: faults.Hit) -> Any:
        """Make a call, or have it go wrong."""
        if self.kind not in {"any", call.name, call.module}:
            return hit()
        return super().make(call, hit)


class World:
    """All clones and their remote, in ``folder``."""

    def __init__(self, folder: str, start: Start) -> None:
        self.folder = folder
        self.remote = f"{folder}/remote.git"
        self.clones = [Clone(self, number) for number in range(len(start.ready))]
        self.rewritten = False

    # --- steps --------------------------------------------------------------

    def do(self, step: Step) -> str:
        """Take a step; what came of it: something that begins with ``ok`` or
        ``saved``, ``error CODE`` of an error that wc means to raise,
        ``dead``, or else what is wrong."""
        for one in self.clones:
            one.at(step.number)
        if step.op in _OF_REMOTE:
            getattr(self, step.op)(**step.args)
            return "ok"
        clone = self.clones[step.clone]
        if step.op in _IN_STORES and not clone.store:
            return "ok"
        if step.op == "race":
            act = partial(
                _meanwhile, clone, "Sending", self.clones[step.args["other"]].sync
            )
        elif step.op == "meanwhile":
            write = partial(clone.write, step.number, **step.args["write"])
            act = partial(_meanwhile, clone, step.args["when"], write)
        elif step.op == "write":
            act = partial(clone.write, step.number, **step.args)
        else:
            act = partial(getattr(clone, step.op), **step.args)
        return _in_child(act, step.hit) if step.hit else _outcome(act)

    # --- what happens to the remote -----------------------------------------

    def _git(self, *words: str) -> str:
        when = self.clones[0].env
        done = subprocess.run(
            ["git", "--git-dir", self.remote, *words],
            env=when,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=True,
        )
        return done.stdout.decode().strip()

    @property
    def tip(self) -> str:
        """The commit that the remote's branch is at."""
        return repository.resolve(Repository(self.remote, self.remote, ""), REF)

    def away(self) -> None:
        """The remote cannot be reached."""
        if os.path.isdir(self.remote):
            os.rename(self.remote, f"{self.remote}.away")

    def decline(self) -> None:
        """A hook of the remote declines every push."""
        if os.path.isdir(self.remote):
            os.makedirs(f"{self.remote}/hooks", exist_ok=True)
            path = f"{self.remote}/hooks/pre-receive"
            with open(path, "w", encoding="ascii") as file:
                file.write("#!/bin/sh\necho no >&2\nexit 1\n")
            os.chmod(path, 0o755)

    def back(self) -> None:
        """All is well with the remote again."""
        if os.path.isdir(f"{self.remote}.away"):
            os.rename(f"{self.remote}.away", self.remote)
        shutil.rmtree(f"{self.remote}/hooks", ignore_errors=True)

    @property
    def is_up(self) -> bool:
        """Whether the remote can be reached, and takes what is sent."""
        up = os.path.isdir(self.remote)
        return up and not os.path.isdir(f"{self.remote}/hooks")

    def rewrite(self, how: str) -> None:
        """Someone rewrites the remote's branch, or deletes it."""
        if not os.path.isdir(self.remote) or not self.tip:
            return
        self.rewritten = True
        tip = self.tip
        if how == "delete":
            self._git("update-ref", "-d", REF)
            return
        if how == "squash":
            new = self._git("commit-tree", "-m", "Squashed", f"{tip}^{{tree}}")
        elif how == "back":
            count = int(self._git("rev-list", "--first-parent", "--count", tip))
            new = self._git("rev-parse", f"{tip}~{min(2, count - 1)}")
        else:  # a commit that deletes all logs, on top or from nothing
            lines = self._git("ls-tree", tip).splitlines()
            kept = "".join(f"{one}\n" for one in lines if not one.endswith("\tgraph"))
            made = subprocess.run(
                ["git", "--git-dir", self.remote, "mktree"],
                input=kept.encode(),
                env=self.clones[0].env,
                capture_output=True,
                check=True,
            )
            tree = made.stdout.decode().strip()
            parents = ("-p", tip) if how == "remove" else ()
            new = self._git("commit-tree", "-m", "Without logs", *parents, tree)
        self._git("update-ref", REF, new)


_OF_REMOTE = frozenset({"away", "decline", "back", "rewrite"})
_IN_STORES = frozenset({"merge", "put", "keep", "old", "unproject", "drop"})


def _meanwhile(clone: Clone, when: str, act: Callable[[], str]) -> str:
    """Sync a clone; while it is at that, something else is done, once."""
    said: list[str] = []

    def tell(text: str) -> None:
        if text.startswith(when) and not said:
            said.append("")
            said[0] = _outcome(act)

    synced = clone.sync(tell)
    return (
        said[0]
        if synced == "ok" and said[0:1] and said[0].startswith("saved")
        else synced
    )


def _outcome(act: Callable[[], str]) -> str:
    try:
        return act()
    except WcError as error:
        return f"error {error.code}: {error.message}"
    except subprocess.CalledProcessError as error:
        return f"git failed: {error.cmd}: {error.stderr.decode()}"
    except Exception as error:  # noqa: BLE001 - the command would call it a bug
        return f"bug {error!r}"


def _in_child(act: Callable[[], str], hit: tuple[str, str, int]) -> str:
    """Do it in a child, to which something happens; ``dead`` if it died."""
    reading, writing = os.pipe()
    pid = os.fork()
    if not pid:
        try:
            os.close(reading)
            _Nth(*hit).install()
            with open(writing, "wb") as pipe:
                pipe.write(_outcome(act).encode(errors="replace"))
        finally:  # it never goes on as a second one of those who run tests
            leave(0)
    os.close(writing)
    with open(reading, "rb") as pipe:
        heard = pipe.read()
    os.waitpid(pid, 0)
    return f"hit {heard.decode()}" if heard else "dead"
