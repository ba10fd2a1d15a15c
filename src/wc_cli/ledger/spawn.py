"""Starts the detached process if there is something to do.

Every command checks, so the check must cost next to nothing.
"""

from __future__ import annotations

import os
import sys
import time

from wc_cli.ledger.store import applied
from wc_core.base.errors import WcError
from wc_core.base.files import INFINITE, age_of, names_in, size_of
from wc_core.base.lean import contextlib
from wc_core.base.values import NamedTuple
from wc_core.ledger.git import discovery
from wc_core.ledger.git import repository as repositories

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import NoReturn

    from wc_core.base.layout import Layout
    from wc_core.ledger.threads.settings import Settings

_RETRY_SECONDS = 30.0
# Until then, others may have written, too.
_COMPANY_SECONDS = 0.05
# Until then, this process has ended: it is not slowed down, and shared memory need not
# be copied.
_END_SECONDS = 0.01
# A user's git command may still be running for this long.
_USER_GIT_SECONDS = 5.0
_MAX_DOUBLINGS = 5
_STREAMS = (0, 1, 2)
# Processes not waited for yet, in a program that writes many entries.
_started: list[int] = []
# Where the kernel lists a process's handles, and the ones to try if it does not.
_HANDLES = "/proc/self/fd" if sys.platform == "linux" else "/dev/fd"
_LIKELY_HANDLES = range(3, 256)
# Reading this many takes milliseconds.
_FEW_THREADS = 20


class Task(NamedTuple):
    """A module to run in a process that outlives this one, with its arguments. Of this
    process's open files, it keeps only ``handle``, if there is one. A copy of this
    process waits for ``pause`` seconds first."""

    module: str
    arguments: Sequence[str]
    handle: int = -1
    pause: float = _END_SECONDS


def _do_nothing() -> None:
    """Leave it to the process that is started."""


def start_if_due(
    layout: Layout,
    rules: Settings,
    env: Mapping[str, str],
    follow: Callable[[], None] = _do_nothing,
) -> None:
    """Start what an earlier command left to do, or what is due again, unless it has
    just failed. If the branch has a commit that is not in the folder, and no git of a
    user is at work, ``follow`` is called first."""
    if _is_unsettled(layout):
        due = age_of(layout.settling) > _RETRY_SECONDS
    else:
        moved = _is_moved(layout, follow)
        due = moved or _is_exchange_due(layout, rules)
        due = due or _may_have_landed(layout)
    if due:
        with contextlib.suppress(WcError, OSError):
            start(layout, env)


def _is_unsettled(layout: Layout) -> bool:
    """Return whether something is left to settle. Never raises: if the folder of
    markers is unreadable, a reading command must continue."""
    try:
        return bool(names_in(layout.unsettled, layout.root))
    except WcError:
        return False


def _may_have_landed(layout: Layout) -> bool:
    """Return whether git has moved branches since what waits to land was looked at."""
    age = age_of(layout.unlanded)
    if not _USER_GIT_SECONDS < age < INFINITE:
        return False
    repository = repositories.find(layout.root)
    if repository is None or size_of(layout.unlanded) <= len("{}\n"):
        return False
    common, names = repository.common, ("FETCH_HEAD", "packed-refs", "logs/HEAD")
    # A branch such as fix/login changes the folder of its own.
    folders = (folder for folder, *_ in os.walk(f"{common}/refs/heads"))
    paths = (*(f"{common}/{name}" for name in names), *folders)
    return any(age_of(path) < age for path in paths)


def _is_moved(layout: Layout, follow: Callable[[], None]) -> bool:
    """Return whether a user moved the branch, or changed the folder, with git."""
    recorded = applied.load(layout)
    checkout = discovery.checkout_at(layout.root) if recorded.commit else None
    if checkout is None:
        return False
    if checkout.commit not in {"", recorded.commit}:
        if not os.path.lexists(f"{checkout.gitdir}/index.lock"):
            follow()
        return age_of(layout.settling) > _USER_GIT_SECONDS
    moved = applied.index_ns(checkout) != recorded.index_ns
    return moved and age_of(layout.settling) > _USER_GIT_SECONDS


def follow_if_moved(layout: Layout, follow: Callable[[], None]) -> None:
    """Call ``follow`` if the branch has a commit that is not in the folder."""
    _is_moved(layout, follow)


def _is_exchange_due(layout: Layout, rules: Settings) -> bool:
    """Return whether to exchange with the remote again. Reading never starts the first
    exchange of a store."""
    age = age_of(layout.sync_state)
    if age == INFINITE or age < _RETRY_SECONDS:
        return False
    if rules.fetch_every and age >= rules.fetch_every:
        return True
    # 2 ms, only 30 s or more after an exchange
    from wc_core.ledger.git import freshness

    state = freshness.load(layout)
    failures = state.failures if state is not None else 0
    pause = _RETRY_SECONDS * 2 ** min(failures, _MAX_DOUBLINGS)
    return bool(failures) and age >= pause


def start_detached(task: Task, env: Mapping[str, str]) -> None:
    """Start a task in a new process. It has no terminal. Raises OSError."""
    from wc_core.base.programs import own_words  # not where copies are started

    command = own_words(task.module, task.arguments, env)
    null = os.open(os.devnull, os.O_RDWR)
    actions = [(os.POSIX_SPAWN_DUP2, null, fd) for fd in _STREAMS]
    closings = [
        (os.POSIX_SPAWN_CLOSE, fd)
        for fd in _open_files()
        if fd != task.handle and _is_inheritable(fd)
    ]
    try:
        # In its own session, so that ^C, or closing the terminal, does not end it.
        process = os.posix_spawn(  # noqa: TID251 - what outlives its command
            command[0],
            command,
            env,
            file_actions=[*actions, *closings],
            setsid=True,
        )
    finally:
        os.close(null)
    _started[:] = [process, *filter(_is_running, _started)]


def _is_running(process: int) -> bool:
    """Return whether a process that we started still runs. If it has ended, its entry
    leaves the process table."""
    try:
        return os.waitpid(process, os.WNOHANG) == (0, 0)
    except ChildProcessError:
        return False


def fork_detached(tasks: Sequence[Task], env: Mapping[str, str]) -> None:
    """Like `start_detached` for each task, in copies of this process, which has
    imported half of what they need: 20 ms less. Only for a process that ends after its
    command. Raises OSError."""
    end, held_end = os.pipe()
    if os.fork():  # noqa: TID251 - what outlives its command
        os.close(held_end)
        # Until the copy has closed it: after this command, its whole group may get a
        # signal, or someone may take a lock that the copy would hold.
        os.read(end, 1)
        os.close(end)
        return
    try:
        os.setsid()
        _close_files(held_end, *(task.handle for task in tasks))
        os.close(held_end)
        *earlier_tasks, final_task = tasks
        for task in earlier_tasks:
            # The last one, which settles, must not depend on room for another process.
            with contextlib.suppress(OSError):
                if not os.fork():  # noqa: TID251 - as above
                    _run(task, env)
        _run(final_task, env)
    finally:
        os._exit(0)


def _run(task: Task, env: Mapping[str, str]) -> NoReturn:
    """Do a task in this copy of a process, and end it."""
    try:
        _close_files(task.handle)
        time.sleep(task.pause)
        if env != os.environ:
            os.environ.update(env)
        sys.argv = [task.module, *task.arguments]
        __import__(task.module)
        sys.modules[task.module].main()
    finally:
        os._exit(0)


def _close_files(*kept_handles: int) -> None:
    """Close all files but ``kept_handles``, and detach from the terminal."""
    null = os.open(os.devnull, os.O_RDWR)
    for stream in _STREAMS:
        os.dup2(null, stream)
    for handle in _open_files():
        if handle not in kept_handles:
            with contextlib.suppress(OSError):  # that of the listing is closed
                os.close(handle)


def _open_files() -> list[int]:
    """The handles of this process except its streams. A program that waits for the end
    of a pipe, or for a lock, must not wait for the background process."""
    try:
        handles = [int(name) for name in os.listdir(_HANDLES)]
    except OSError:
        handles = list(_LIKELY_HANDLES)
    return [handle for handle in handles if handle not in _STREAMS]


def _is_inheritable(handle: int) -> bool:
    try:
        return os.get_inheritable(handle)
    except OSError:
        return False


def start(
    layout: Layout, env: Mapping[str, str], *more_tasks: Task, may_fork: bool = False
) -> None:
    """Start the detached process, unless one is running: that one checks for new
    markers before it ends; and ``more_tasks``. If this process ``may_fork``, the new
    ones are copies of it. Raises WcError and OSError."""
    handle = _acquired(layout, layout.git_lock)
    tasks = [*more_tasks]
    if handle is not None:
        arguments = (layout.root, str(handle))
        tasks.append(Task("wc_cli.run.background", arguments, handle, _COMPANY_SECONDS))
    try:
        start_all(tasks, env, may_fork=may_fork)
    finally:
        if handle is not None:
            os.close(handle)


def start_all(
    tasks: Sequence[Task], env: Mapping[str, str], *, may_fork: bool = False
) -> None:
    """Start tasks, in copies of this process if it ``may_fork``. Raises OSError."""
    # A copy of a process with threads has their locks, but no threads.
    if may_fork and sys.platform == "linux" and "threading" not in sys.modules:
        if tasks:
            fork_detached(tasks, env)
        return
    for task in tasks:
        start_detached(task, env)


def start_radar(
    layout: Layout, folder: str, env: Mapping[str, str], *, may_fork: bool = False
) -> None:
    """Have the radar of the repository that contains ``folder`` computed, unless a
    process is waiting to do so: that one sees all changes until now. If this process
    ``may_fork``, the new one is a copy of it."""
    lock = layout.radar_waiting
    _start(
        "wc_cli.edits.radar.refreshing", layout, lock, env, folder, may_fork=may_fork
    )


def start_graph(layout: Layout, folder: str, env: Mapping[str, str]) -> None:
    """Have the graph of the worktree ``folder`` computed, unless a process is doing
    so."""
    _start("wc_cli.edits.graph.refreshing", layout, layout.graph_lock, env, folder)


def start_index_if_due(layout: Layout, unindexed: int, env: Mapping[str, str]) -> None:
    """Have the index made, if it lacks many threads and was not just made, unless a
    process is doing so."""
    if unindexed <= _FEW_THREADS:
        return
    if age_of(layout.index_making) > _RETRY_SECONDS:
        with contextlib.suppress(WcError, OSError):
            if not os.path.isdir(layout.local):
                # git ignores it, although the store does not say so yet.
                from wc_cli.ledger.store import sharedlines  # 2 ms, once for each store

                sharedlines.ignore_local(layout)
            _start("wc_cli.ledger.index.refreshing", layout, layout.index_making, env)
            # However it ends: some threads cannot be indexed, and the disk may be full.
            os.utime(layout.index_making, follow_symlinks=False)


def start_vectors_if_due(layout: Layout, missing: int, env: Mapping[str, str]) -> None:
    """Have vectors made on this machine, if threads lack them and none were just made,
    unless a process is doing so."""
    if missing and age_of(layout.vectors_making) > _RETRY_SECONDS:
        with contextlib.suppress(WcError, OSError):
            _start(
                "wc_cli.bridges.enrich.following", layout, layout.vectors_making, env
            )
            os.utime(layout.vectors_making, follow_symlinks=False)


def start_notify(layout: Layout, env: Mapping[str, str]) -> None:
    """Have the person of this machine notified, unless a process is doing so: that one
    checks again before it ends."""
    _start("wc_cli.bridges.notify.notifying", layout, layout.notify_lock, env)


def snapshot_task(layout: Layout, folder: str, written: tuple[str, str]) -> Task:
    """The task that keeps a snapshot of the worktree ``folder`` with an entry written
    there, given by topic and id."""
    return Task("wc_cli.edits.review.seeing", (layout.root, folder, *written))


def _start(
    module: str,
    layout: Layout,
    lock: str,
    env: Mapping[str, str],
    *arguments: str,
    may_fork: bool = False,
) -> None:
    """Start a module with the store, the lock's handle, and more arguments, unless
    another process has the lock."""
    handle = _acquired(layout, lock)
    if handle is None:
        return
    try:
        task = Task(module, (layout.root, str(handle), *arguments), handle)
        start_all([task], env, may_fork=may_fork)
    finally:
        os.close(handle)


def _acquired(layout: Layout, lock: str) -> int | None:
    """The handle of a lock, for a process that inherits it, so that no other writer
    starts a second one meanwhile; ``None`` if another process has the lock."""
    # 0.6 ms, not needed by a command that only reads
    from wc_cli.ledger.store import locks

    handle = locks.try_acquire(lock, layout.root)
    if handle is not None:
        os.set_inheritable(handle, True)
    return handle
