"""``wc wait``: sleeps until the ball comes to the viewer.

The kernel wakes it, through watchfiles, when something is written: that renews the
stamp of the prompt's lines. It also checks once a second, which finds what came before
the watch started, writes by another machine to a shared file system, and a replaced
folder.
"""

from __future__ import annotations

import math
import os
import time

from wc_cli.bridges.notify import local
from wc_cli.ledger import spawn
from wc_cli.run.options import Options, command, flag, text, words
from wc_cli.run.output import remark
from wc_core.attention.status.balls import Balls
from wc_core.base.errors import (
    ConflictError,
    InvalidInputError,
    WaitTimeoutError,
    WcError,
)
from wc_core.base.phrases import quoted
from wc_core.base.text import one_line
from wc_core.ledger.git import seats
from wc_core.ledger.planning import plans
from wc_core.ledger.threads import vocabulary
from wc_core.reading.views import arrivals
from wc_core.reading.views.arrivals import Awaiting

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from wc_cli.run.context import Context
    from wc_core.ledger.threads.reader import StoreReader
    from wc_core.reading.views.arrivals import Arrival

# Seconds between two checks, and between checks whether a fetch is due.
_POLL_SECONDS, _FETCH_SECONDS = 1.0, 15.0
# How long a store may be missing, in seconds.
_MISSING_SECONDS = 10.0
# Milliseconds: how often watchfiles looks for events, and how long it collects them.
_STEP_MS, _DEBOUNCE_MS = 100, 200


class WaitOptions(Options):
    """Wait until a ball or a question comes to you; then show its thread. Exits 10 if
    none comes in time, 4 if the named threads are closed."""

    topics: tuple[str, ...] = words("TOPIC...", "Only these threads.", default=())
    timeout: str = text("--timeout", "TIME", "Wait this long: seconds, or 90m, 3h.")
    ready: bool = flag(
        "--ready", help="Until there is a thread that you can start (wc ready)."
    )
    new: bool = flag("--new", help="Return on any new entry, too.")
    peek: bool = flag("--peek", help="Do not mark the thread as read.")
    notify: bool = flag("--notify", help="Send a desktop notification.")
    bell: bool = flag("--bell", help="Ring the terminal's bell.")
    hook: str = text("--hook", "EVENT", "Run as this hook: wake (wakes an idle agent).")
    client: str = text("--client", "CLIENT", "The program that runs the hook.")


@command(WaitOptions)
def wait(context: Context, options: WaitOptions) -> None:
    """Wait for the ball."""
    if options.hook or options.client:
        _wait_in_hook(context, options)
        return
    seconds = vocabulary.wait_seconds(options.timeout)
    end = math.inf if seconds is None else time.monotonic() + seconds
    context.first_contact()
    waiting = _Waiting(context, options)
    for _ in _check_times(waiting.folder, end):
        if came := waiting.arrivals():
            _report_arrival(waiting.context, options, came)
            return
        waiting.check()
    unit = " s" if options.timeout[-1:].isdigit() else ""
    raise WaitTimeoutError(
        f"No ball came to you within {one_line(options.timeout)}{unit}.",
        "Wait again, or see who has it: wc list --open",
    )


def _wait_in_hook(context: Context, options: WaitOptions) -> None:
    from wc_cli.agents.wake import waiting  # 25 ms, only for clients

    if options.hook != waiting.EVENT:
        raise InvalidInputError(
            f"{options.hook!r} is not an event of wc wait.",
            f"Use --hook {waiting.EVENT}.",
        )
    if options.client not in waiting.CLIENTS:
        names = ", ".join(waiting.CLIENTS)
        raise InvalidInputError(
            f"{options.client!r} cannot be woken.", f"--client is one of: {names}"
        )
    waiting.wait_in_hook(context, options)


class _Waiting:
    """A wait for the ball. The store may be created, removed or replaced in the
    meantime."""

    def __init__(self, context: Context, options: WaitOptions) -> None:
        self.context = context
        self._options = options
        self._reader: StoreReader | None = None
        self._awaiting: Awaiting | None = None
        self._seat: tuple[str, ...] = ()
        self._fetched_at = self._opened_at = time.monotonic()

    def folder(self) -> str:
        """Return the folder to watch; empty while there is none."""
        return self._reader.layout.lines if self._reader is not None else ""

    def arrivals(self) -> list[Arrival]:
        """Return what has arrived."""
        reader = self._store()
        if reader is None:
            return []
        self._fetch(reader)
        self._follow_seat()
        balls = Balls(reader, self.context.viewer.directory)
        self.context.note_unindexed(balls.freshness.unindexed)
        if self._awaiting is None:
            self._awaiting = self._start(balls)
        return arrivals.arrivals(balls, self._awaiting)

    def _follow_seat(self) -> None:
        """Wait under the names that the seat has now, unless the worktree is gone."""
        tree = self.context.place.repository
        if tree is None or not os.path.isdir(tree.gitdir):
            return
        if (seat := seats.mark(tree)) == self._seat:
            return
        self._seat = seat
        if self._awaiting is not None:
            self._reader = self._open()
            self._awaiting = self._awaiting._replace(viewer=self.context.viewer)

    def check(self) -> None:
        """Raise ConflictError if nothing more can arrive."""
        reader, awaiting = self._reader, self._awaiting
        if reader and awaiting and arrivals.are_closed(reader, awaiting):
            topic = one_line(min(awaiting.topics))
            raise ConflictError(
                "The threads you wait for are closed: their balls will not move.",
                f"See how it ended: wc read {topic}; to wait for any entry: --new",
            )

    def _store(self) -> StoreReader | None:
        """Return the store; ``None`` while there is none. Raises a WcError if it is
        missing for too long."""
        now, reader = time.monotonic(), self._reader
        if reader is None or not os.path.isdir(reader.layout.root):
            try:
                reader = self._open()
            except WcError:
                if self._awaiting is None or now - self._opened_at > _MISSING_SECONDS:
                    raise
                return None
        self._opened_at, self._reader = now, reader
        return reader

    def _open(self) -> StoreReader | None:
        """Return the store as soon as it exists. Raises as `Context.reader`."""
        before = self.context
        # A new context, because the old one remembers that there was no store.
        self.context = type(before)(before.env, before.cwd, before.asked)
        self.context.adopt()
        return self.context.reader if self.context.place.exists else None

    def _start(self, balls: Balls) -> Awaiting:
        """Return what to wait for from now on."""
        topics = [balls.reader.find(name) for name in self._options.topics]
        viewer = self.context.viewer
        if self._options.ready:
            return Awaiting(viewer, frozenset(topics), ready=True)
        return arrivals.awaiting(balls, viewer, topics, new=self._options.new)

    def _fetch(self, reader: StoreReader) -> None:
        """Start a background fetch if it is due."""
        rules = self.context.settings
        if (
            rules.sync == "background"
            and time.monotonic() - self._fetched_at > _FETCH_SECONDS
        ):
            self._fetched_at = time.monotonic()
            spawn.start_if_due(reader.layout, rules, self.context.env)


def _check_times(folder: Callable[[], str], end: float) -> Iterator[None]:
    """Yield when to check: now, when something changes in ``folder()``, and once a
    second, until ``end``."""
    yield
    while time.monotonic() < end:
        path = folder()
        if path and (identity := _folder_identity(path)):
            for _ in _folder_changes(path, end):
                yield
                if time.monotonic() >= end or _folder_identity(path) != identity:
                    break
        else:
            time.sleep(max(0.0, min(_POLL_SECONDS, end - time.monotonic())))
            yield


def _folder_identity(path: str) -> tuple[int, int] | None:
    """Return what distinguishes a folder from another one at the same path."""
    try:
        info = os.stat(path)
    except OSError:
        return None
    return info.st_dev, info.st_ino


def _folder_changes(path: str, end: float) -> Iterator[None]:
    """Yield when something changed below ``path``, or a second has passed."""
    from watchfiles import watch  # 36 ms, not needed if the ball is already there

    remaining = min(end - time.monotonic(), 1 << 20)
    pause = _POLL_SECONDS * remaining / math.ceil(remaining) if remaining > 0 else 0.0
    try:
        for _ in watch(
            path,
            watch_filter=None,
            step=_STEP_MS,
            debounce=_DEBOUNCE_MS,
            rust_timeout=max(1, round(pause * 1000)),
            yield_on_timeout=True,
        ):
            yield
    except (OSError, RuntimeError):
        # The watch has ended, or the folder is gone: keep polling.
        time.sleep(max(0.0, pause))
        yield


def _report_arrival(
    context: Context, options: WaitOptions, came: list[Arrival]
) -> None:
    """Notify about the arrival, and show what is new in the thread as `wc read`
    does."""
    # 11 ms, only when the wait is over.
    from wc_cli.commands.reading import thread
    from wc_cli.commands.reading.options import ReadOptions

    first, *later = came
    reader = context.reader
    snapshot = reader.snapshot(first.topic)
    state = snapshot.state
    event = "Your move" if first.ball else "New entry"
    event = "A question to you" if first.question else event
    problems = [local.ring()] if options.bell else []
    if options.notify:
        heading = f"{event}: {snapshot.name}"
        problems.append(local.show(context.env, heading, state.title))
    for problem in filter(None, problems):
        remark(f"note: not notified: {one_line(problem)}")
    new = context.viewer.new_count(
        state, reader.cursor(state.topic, context.viewer.key)
    )
    values = {
        **{param.name: param.default for param in ReadOptions.params()},
        "topic": state.topic,
        "new": bool(new),
        "raw": True,
        "start": 0 if new else state.entry_count - 1,
        "json": options.json,
        "peek": options.peek,
    }
    thread.read.run(context, ReadOptions(values))
    if freed := plans.freed_text(reader, state):
        remark(one_line(freed))
    if first.question:
        topic = quoted(one_line(snapshot.name))
        remark(f"you are asked; to answer: wc answer {topic} -m '…'")
    if later:
        names = (reader.snapshot(arrival.topic).name for arrival in later)
        remark(f"also: {', '.join(map(one_line, names))}")
