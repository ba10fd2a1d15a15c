"""Stand-ins for ``os`` and ``Process`` in the modules that change a store:
every call through them is counted, and one of them goes wrong.

They are put in place in a child process of `crasher`, never in a test.
"""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import signal
import time
from typing import TYPE_CHECKING, Any, NamedTuple

from wc_cli.ledger import flushing
from wc_cli.ledger.branch import checkouts, commits, firstfiles, git, packs
from wc_cli.ledger.branch.process import Process
from wc_cli.ledger.store import durable, locks
from wc_core.base import files

if TYPE_CHECKING:
    from collections.abc import Callable

    from wc_cli.ledger.branch.process import Feed

# What changes a store, and what is asked on the way.
CHANGES = frozenset(
    {"write", "pwrite", "ftruncate", "rename", "replace", "link", "unlink", "mkdir"}
    | {"git"}
)
_COUNTED = CHANGES | {"open", "pread", "read", "fsync", "close", "fstat"}
_COUNTED |= {"lstat", "listdir"}
_OUTLIVED = 0.01
# Where Linux says what a handle is of.
_HANDLES = "/proc/self/fd"


class Call(NamedTuple):
    """A call that was made: by whom, its name, the file it concerned, and
    what else `disk` has to know of it."""

    module: str
    name: str
    path: str
    detail: Any = None

    @property
    def changes(self) -> bool:
        """Whether it may have changed what is on the disk."""
        made = self.name == "open" and bool(self.detail & os.O_CREAT)
        return made or self.name in CHANGES

    def __str__(self) -> str:
        return f"{self.name} {os.path.basename(self.path)}"


class Calls:
    """The calls of one child; the ``at``-th one goes wrong."""

    def __init__(self, at: int = 0, action: str = "", victim: str = "") -> None:
        """``victim`` is the folder that vanishes where that is the action."""
        self.at = at
        self.action = action
        self.victim = victim
        self.made: list[Call] = []

    def make(self, call: Call, hit: Hit) -> Any:
        """Make a call, or have it go wrong."""
        self.made.append(call)
        if len(self.made) != self.at:
            return hit()
        if self.action == "vanish":
            shutil.rmtree(self.victim, ignore_errors=True)
            return hit()
        return ACTIONS[self.action](hit)

    def install(self) -> None:
        """Stand between this process and the system from now on."""
        for module in (
            *(durable, flushing, locks, checkouts, firstfiles),
            *(commits, packs, git, files),
        ):
            vars(module)["os"] = _System(self, module.__name__.rpartition(".")[2])
        vars(git)["Process"] = _Processes(self)


class Hit:
    """A call that something may happen to."""

    def __init__(
        self, name: str, real: Callable[..., Any], args: Any, options: Any
    ) -> None:
        self.name = name
        self.real = real
        self.args = args
        self.options = options

    def __call__(self) -> Any:
        """What it does when nothing happens."""
        return self.real(*self.args, **self.options)

    def partly(self, share: int) -> Any:
        """A write of that part of its bytes; a git that gets as much of what
        it was to do, and that nobody hears of again; another call as it is."""
        if self.name == "git":
            return _Left(self(), share)
        if self.name != "write":
            return self()
        handle, data = self.args
        return self.real(handle, bytes(data)[: max(1, len(data) // share)])


class _System:
    """Stands for the ``os`` module of one of ours."""

    def __init__(self, calls: Calls, module: str) -> None:
        self.calls = calls
        self.module = module

    def __getattr__(self, name: str) -> Any:
        real = getattr(os, name)
        if name not in _COUNTED:
            return real

        def call(*args: Any, **options: Any) -> Any:
            path = _path_of(args[0], options.get("dir_fd", options.get("src_dir_fd")))
            one = Call(self.module, name, path, _detail(name, args, options))
            return self.calls.make(one, Hit(name, real, args, options))

        return call


def _path_of(what: Any, folder: int | None) -> str:
    """The path of a handle, or of a name that may be relative to one."""
    if isinstance(what, int):
        if not os.path.isdir(_HANDLES):
            return str(what)
        return os.readlink(f"{_HANDLES}/{what}")
    if folder is not None and not os.path.isabs(what):
        return f"{_path_of(folder, None)}/{what}"
    return str(os.path.abspath(what))


def _detail(name: str, args: Any, options: Any) -> Any:
    if name == "open":
        return args[1]
    if name in {"write", "ftruncate"}:
        return bytes(args[1]) if name == "write" else args[1]
    if name == "pwrite":
        return bytes(args[1]), args[2]
    if name in {"rename", "replace", "link"}:
        return _path_of(args[1], options.get("dst_dir_fd"))
    return None


class _Processes:
    """Stands for the class `Process`: every git is a call."""

    def __init__(self, calls: Calls) -> None:
        self.calls = calls

    def __call__(self, words: list[str], *options: Any) -> Any:
        """Start git, or have that go wrong."""
        one = Call("git", "git", _command(words))
        return self.calls.make(one, Hit("git", Process, (words, *options), {}))


def _command(words: list[str]) -> str:
    """Which of git's commands that is: the first word after its options."""
    at = 3  # git, and where
    while words[at] == "-c":
        at += 2
    return words[at]


class _Left:
    """A git that gets a part of what it was to do; then we are gone."""

    def __init__(self, git: Process, share: int) -> None:
        self.git = git
        self.share = share

    def end(self) -> None:
        """It goes on."""

    def communicate(self, feed: Feed, _: float) -> Any:
        whole = feed if isinstance(feed, bytes) else b"".join(feed)
        rest = memoryview(whole)[: len(whole) // self.share]
        with contextlib.suppress(BrokenPipeError):
            while rest:
                rest = rest[os.write(self.git._feed, rest) :]
        os.kill(os.getpid(), signal.SIGKILL)


class _Ended(_Left):
    """A git that did all it was to do; then we are gone."""

    def communicate(self, feed: Feed, seconds: float) -> Any:
        self.git.communicate(feed, seconds)
        os.kill(os.getpid(), signal.SIGKILL)


def _die_before(_: Hit) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def _die_after(hit: Hit) -> Any:
    if hit.name == "git":
        return _Ended(hit(), 1)
    with contextlib.suppress(OSError):
        hit()
    return os.kill(os.getpid(), signal.SIGKILL)


def _die_half(hit: Hit) -> Any:
    if hit.name == "git":
        return hit.partly(2)
    if hit.name == "write":
        hit.partly(2)
    return os.kill(os.getpid(), signal.SIGKILL)


def _leave_git(hit: Hit) -> Any:
    """We die while git goes on."""
    return hit.partly(1)


def _short(hit: Hit) -> Any:
    return hit.partly(2) if hit.name == "write" else hit()


def _kill_git(hit: Hit) -> Any:
    """The git dies, we go on."""
    git = hit()
    if hit.name == "git":
        time.sleep(_OUTLIVED)
        os.killpg(git.pid, signal.SIGKILL)
    return git


def _failing(number: int) -> Callable[[Hit], Any]:
    def fail(hit: Hit) -> Any:
        if hit.name == "close":
            # A handle that could not be closed is closed anyway.
            return hit()
        if hit.name == "write":
            # A full disk takes what fits before it says no.
            hit.partly(3)
        raise OSError(number, os.strerror(number))

    return fail


ERRORS = ("EIO", "ENOSPC", "EDQUOT", "EROFS", "EACCES")
ACTIONS: dict[str, Callable[[Hit], Any]] = {
    "die-before": _die_before,
    "die-after": _die_after,
    "die-half": _die_half,
    "short": _short,
    "kill-git": _kill_git,
    "leave-git": _leave_git,
    "unreadable": _failing(errno.EIO),
    **{name: _failing(getattr(errno, name)) for name in ERRORS},
}
