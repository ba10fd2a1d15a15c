"""``wc wait``: sleeps until it is one's move.

Whoever waits is woken by the kernel, by way of watchfiles, as soon as one of
the status line's files changes, and looks again each second in any case, which
costs a listing of a few small folders: what came between a look and the
listening, from another machine's file system, or with a folder that took the
place of another, is seen then.
"""

from __future__ import annotations

import math
import os
import time
from typing import TYPE_CHECKING

from wc_cli import spawn
from wc_cli.commands.common import SpeakerOptions
from wc_cli.options import command, flag, text, words
from wc_cli.output import remark
from wc_core.errors import ConflictError, WaitTimeoutError, WcError
from wc_core.status import holders
from wc_core.text import one_line
from wc_core.threads import vocabulary
from wc_core.views import arrivals

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from wc_cli.context import Context
    from wc_core.threads.reader import StoreReader
    from wc_core.views.arrivals import Arrival, Awaiting

# Seconds between two looks, and between two at whether to ask the remote.
_LOOK, _FETCH = 1.0, 15.0
# Seconds that a store may be gone.
_AWAY = 10.0
# Milliseconds: how often watchfiles asks itself whether something came, and how
# long it collects what comes in a row.
_STEP, _DEBOUNCE = 100, 200


class WaitOptions(SpeakerOptions):
    """Wait until the ball of a thread comes to you; then show the thread.
    Exits 10 if it does not come in time, 4 if the threads named are closed."""

    topics: tuple[str, ...] = words("TOPIC...", "Only these threads.", default=())
    timeout: str = text("--timeout", "TIME", "Wait this long: seconds, or 90m, 3h.")
    new: bool = flag("--new", help="Return on any new entry, too.")
    peek: bool = flag("--peek", help="Do not mark the thread as read.")
    notify: bool = flag("--notify", help="Send a desktop notification.")
    bell: bool = flag("--bell", help="Ring the terminal's bell.")
    osc: bool = flag("--osc", help="Notify through the terminal (OSC 9 and 777).")


@command(WaitOptions)
def wait(context: Context, options: WaitOptions) -> None:
    """Wait for the ball."""
    seconds = vocabulary.wait_seconds(options.timeout)
    end = math.inf if seconds is None else time.monotonic() + seconds
    waiting = _Waiting(context, options)
    for _ in _moments(waiting.folder, end):
        if came := waiting.look():
            _report(waiting.context, options, came)
            return
        waiting.check()
    unit = " s" if options.timeout[-1:].isdigit() else ""
    raise WaitTimeoutError(
        f"No ball came to you within {one_line(options.timeout)}{unit}.",
        "Wait again, or see who has it: wc list --open",
    )


class _Waiting:
    """Somebody who waits; the store may be made only later, and go meanwhile."""

    def __init__(self, context: Context, options: WaitOptions) -> None:
        self.context = context
        self._said = options
        self._reader: StoreReader | None = None
        self._wanted: Awaiting | None = None
        self._asked = self._seen = time.monotonic()

    def folder(self) -> str:
        """What to listen to; empty while there is nothing."""
        layout = self._reader.layout if self._reader is not None else None
        return holders.root_of(layout) if layout is not None else ""

    def look(self) -> list[Arrival]:
        """What has come."""
        reader = self._store()
        if reader is None:
            return []
        self._fetch(reader)
        if self._wanted is None:
            self._wanted = self._begun(reader)
        return arrivals.arrivals(reader, self._wanted)

    def check(self) -> None:
        """See to it that something can still come. Raises ConflictError."""
        reader, awaiting = self._reader, self._wanted
        if reader and awaiting and arrivals.are_closed(reader, awaiting):
            topic = one_line(min(awaiting.topics))
            raise ConflictError(
                "What you wait for is closed: no ball of it will move.",
                f"See how it ended: wc read {topic}; to wait for any entry: --new",
            )

    def _store(self) -> StoreReader | None:
        """The store; ``None`` while there is none. One that is gone may come
        back in a moment; if it does not, that is told."""
        now, reader = time.monotonic(), self._reader
        if reader is None or not os.path.isdir(reader.layout.root):
            try:
                reader = self._found()
            except WcError:
                if self._wanted is None or now - self._seen > _AWAY:
                    raise
                return None
        self._seen, self._reader = now, reader
        return reader

    def _found(self) -> StoreReader | None:
        """The store, once there is one. Raises what `Context.reader` raises."""
        before = self.context
        # Anew: what was looked for before is remembered as not being there.
        self.context = type(before)(before.env, before.cwd, before.asked)
        return self.context.reader if self.context.place.exists else None

    def _begun(self, reader: StoreReader) -> Awaiting:
        """What is waited for, from now on."""
        topics = [reader.find(name) for name in self._said.topics]
        viewer = self.context.viewer
        return arrivals.awaiting(reader, viewer, topics, new=self._said.new)

    def _fetch(self, reader: StoreReader) -> None:
        """See to it that somebody asks the remote, where that is due."""
        rules = self.context.settings
        if rules.sync == "background" and time.monotonic() - self._asked > _FETCH:
            self._asked = time.monotonic()
            spawn.start_if_due(reader.layout, rules, self.context.env)


def _moments(folder: Callable[[], str], end: float) -> Iterator[None]:
    """When to look: now, whenever something changes in ``folder()``, and each
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
            time.sleep(max(0.0, min(_LOOK, end - time.monotonic())))
            yield


def _folder_identity(path: str) -> tuple[int, int] | None:
    """What tells a folder from another one in its place."""
    try:
        info = os.stat(path)
    except OSError:
        return None
    return info.st_dev, info.st_ino


def _folder_changes(path: str, end: float) -> Iterator[None]:
    """Something changed below ``path``, or a second went by."""
    from watchfiles import watch  # 30 ms, for those who wait

    remaining = min(end - time.monotonic(), 1 << 20)
    pause = _LOOK * remaining / math.ceil(remaining) if remaining > 0 else 0.0
    try:
        for _ in watch(
            path,
            watch_filter=None,
            step=_STEP,
            debounce=_DEBOUNCE,
            rust_timeout=max(1, round(pause * 1000)),
            yield_on_timeout=True,
        ):
            yield
    except (OSError, RuntimeError):
        # The kernel tells no more, or the folder is gone: looks are left.
        time.sleep(max(0.0, pause))
        yield


def _report(context: Context, options: WaitOptions, came: list[Arrival]) -> None:
    """Say that it has come, and show what is new in the thread as `wc read`
    does."""
    from wc_cli.commands import reading
    from wc_cli.terminal import notify

    first, *later = came
    reader = context.reader
    state = reader.snapshot(first.topic).state
    event = "Your move" if first.ball else "New entry"
    words = (f"{event}: {state.topic}", state.title)
    for channel in notify.send_notification(
        context.env, _channels(context, options), words
    ):
        remark(f"note: nothing here could tell it by {one_line(channel)}")
    new = context.viewer.new_count(
        state, reader.cursor(state.topic, context.viewer.key)
    )
    values = {
        **{param.name: param.default for param in reading.ReadOptions.params()},
        "topic": state.topic,
        "new": bool(new),
        "raw": True,
        "start": 0 if new else state.entry_count - 1,
        "json": options.json,
        "peek": options.peek,
    }
    reading.read.run(context, reading.ReadOptions(values))
    if later:
        remark(f"also: {', '.join(one_line(arrival.topic) for arrival in later)}")


def _channels(context: Context, options: WaitOptions) -> set[str]:
    """How to say so: as the options say, and the environment always."""
    switches = {"desktop": options.notify, "bell": options.bell, "osc": options.osc}
    always = context.env.get("WATERCOOLER_NOTIFY", "").replace(",", " ").split()
    return {name for name, on in switches.items() if on} | {*always}
