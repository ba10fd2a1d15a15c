"""``wc brief --hook``: what an agent is told when it starts, is asked, stops.

It fails open: whatever goes wrong, the exit status is 0, nothing is printed,
and the reason goes to the debug log. So it does if it takes too long.
"""

from __future__ import annotations

import os
import select
import signal
import sys
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Protocol

from wc_cli.briefing import dialects, sessions
from wc_cli.briefing.dialects import PROMPT, START
from wc_cli.briefing.gather import deadline, gathered, limit_ms
from wc_cli.briefing.sessions import Session
from wc_cli.context import Context, remark, say
from wc_core.errors import WcError
from wc_core.identity.resolve import Asked
from wc_core.status import holders
from wc_core.text import one_line
from wc_core.threads.model import CLOSED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from types import FrameType

    from wc_core.layout import Layout
    from wc_core.status.holders import HeldBall

# What is cut off when the time is up is not written by half: it is said last.
_GRACE = 1.25
# No time at all would mean as much as it takes.
_AT_ONCE = 1e-6
_MAX_BYTES = 1 << 20
# Files are dated by a clock that is coarser than ours; what was told stays
# known for longer than that.
_MARGIN_NS = 2_000_000_000
_NAMED = 5
_MOST = 50


class Words(Protocol):
    """What of the command's words a hook is answered by."""

    hook: str
    client: str
    budget: int
    as_name: str
    seat: str


class _TooLateError(Exception):
    """The time of a hook is up."""


def answer(context: Context, said: Words) -> None:
    """Print what the client shall take up, often nothing."""
    if said.hook not in dialects.EVENTS:
        remark(f"wc: {said.hook!r} is no event; one of: {', '.join(dialects.EVENTS)}")
        return
    asked, seconds = dialects.HookInput(), limit_ms(context) / 1000
    try:
        with _within(seconds * _GRACE):
            asked = dialects.asked(_heard(seconds))
            told = _told(context, said, asked)
    except Exception as error:  # noqa: BLE001 - see above
        if context.env.get("WATERCOOLER_DEBUG"):
            from wc_cli import debuglog

            action, folder = f"wc brief --hook {said.hook}", asked.folder or context.cwd
            debuglog.noted(action, type(error).__name__, folder)
        return
    if told:
        say(dialects.of(said.client).answer(said.hook, told))


@contextmanager
def _within(seconds: float) -> Iterator[None]:
    """Raise in the block once the time is up."""

    def late(_: int, __: FrameType | None) -> None:
        raise _TooLateError

    before = signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, max(seconds, _AT_ONCE))
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _told(context: Context, said: Words, asked: dialects.HookInput) -> str:
    """What the agent is told."""
    late = deadline(context)
    client = dialects.of(said.client)
    who = Asked(said.as_name, said.seat, client.agent)
    env = client.seated(context.env, asked.session)
    context = Context(env, asked.folder or context.cwd, who)
    if not context.place.exists:
        return ""
    path = sessions.path_of(context.reader.layout, said.client, asked.session)
    path = path if asked.session else ""
    if said.hook == START:
        return _start(context, said, path, late)
    if not path:
        return ""  # who cannot be told apart would be told the same for ever
    if said.hook == PROMPT:
        return _prompt(context, path)
    return "" if asked.again else _stop(context, path)


def _heard(seconds: float) -> bytes:
    """Standard input, as far as it comes in time; a person types nothing."""
    if sys.stdin.isatty():
        return b""
    try:
        handle = sys.stdin.fileno()
    except OSError:  # not one of the system's: all of it is there
        return sys.stdin.buffer.read(_MAX_BYTES)
    data = b""
    end = time.monotonic() + seconds
    while len(data) < _MAX_BYTES:
        if not select.select([handle], [], [], max(0, end - time.monotonic()))[0]:
            break
        piece = os.read(handle, _MAX_BYTES)
        data += piece
        if not piece:
            break
    return data


class _Ask:
    """A hook that may speak: who asks, about which store, and what its session
    knows."""

    def __init__(self, context: Context, path: str) -> None:
        self.viewer = context.viewer
        self.reader = context.reader
        self.layout: Layout = self.reader.layout
        self.path = path
        self.own = holders.folders_of(self.viewer)

    def known(self) -> Session | None:
        """What the session knows; ``None`` for a new one."""
        return sessions.load(self.layout, self.path)

    def keep(self, session: Session) -> None:
        """Let it know that from now on."""
        sessions.save(self.layout, self.path, session)

    def looked(
        self, known: Session, told: Mapping[str, tuple[str, int]] | None = None
    ) -> Session:
        """The same session, which now knows what there is."""
        now = time.time_ns()
        if told is None:
            told = {k: one[:2] for k, one in self.moved(now - _MARGIN_NS).items()}
        balls = frozenset(one.name for one in holders.balls(self.layout, self.own))
        return known._replace(looked_ns=now, told=told, balls=balls)

    def moved(self, since_ns: int) -> dict[str, tuple[str, int, HeldBall]]:
        """The threads in which something is NEW, and has come since then: the
        entry that gave the ball away, and how many are NEW."""
        found = {}
        changed = holders.changed(self.layout, since_ns)
        for held, shown in holders.shows(self.layout, changed, self.viewer):
            if shown is None or not shown.new or not held.topic:
                continue
            if held.folder in self.own or shown.listed:
                found[held.topic] = (held.since, shown.new, held)
        return found


def _start(context: Context, said: Words, path: str, late: Callable[[], bool]) -> str:
    """The brief; what it shows is no news later."""
    from wc_cli.briefing import text
    from wc_cli.terminal import render

    if path:
        ask = _Ask(context, path)
        with suppress(WcError):  # then it hears of news twice
            ask.keep(ask.looked(ask.known() or Session()))
    found = text.fitted(gathered(context, late), said.budget)
    return text.text(found, render.Style(color=False))


def _prompt(context: Context, path: str) -> str:
    """A line, if a ball arrived or entries are NEW since the last time."""
    ask = _Ask(context, path)
    known = ask.known()
    if known is None:
        ask.keep(ask.looked(Session()))
        return ""
    moved = ask.moved(known.looked_ns - _MARGIN_NS)
    told = {topic: one[:2] for topic, one in moved.items()}
    if not moved or told == known.told:
        return ""
    # Before it is said: who cannot remember would say it again and again.
    ask.keep(ask.looked(known, told))
    nothing = ("", 0)
    news = [
        _news(topic, one, arrived=_arrived(ask, one[2], known))
        for topic, one in moved.items()
        if (before := known.told.get(topic, nothing))[0] != one[0] or before[1] < one[1]
    ]
    if not news:
        return ""
    more = [f"{len(news) - _NAMED} more"] if len(news) > _NAMED else []
    told_of = "; ".join((*news[:_NAMED], *more))
    return f"Watercooler: {told_of}. Read it with: wc read TOPIC --new"


def _news(topic: str, one: tuple[str, int, HeldBall], *, arrived: bool) -> str:
    """A thread with news, by its name alone."""
    what = "its ball came to you, " if arrived else ""
    return f'"{one_line(topic)}": {what}{one[1]} new'


def _arrived(ask: _Ask, held: HeldBall, known: Session) -> bool:
    """Whether a ball is theirs now that was not when they last looked; of very
    many, those that had been there longest were not kept in mind."""
    first = min(known.balls, default="")
    return held.folder in ask.own and held.name not in known.balls and held.name > first


def _stop(context: Context, path: str) -> str:
    """A reminder of the balls still held that it was not reminded of yet."""
    ask = _Ask(context, path)
    found = holders.balls(ask.layout, ask.own)
    if not found:
        return ""
    known = ask.known() or Session(time.time_ns())
    fresh = [one for one in found if one.name not in known.reminded][-_MOST:]
    held = [one for one in fresh if _is_held(ask, one)]
    if not held:
        return ""
    # Balls that are gone need no remembering.
    kept = known.reminded.intersection(one.name for one in found)
    # Before it is said: who cannot remember would never let the agent stop.
    ask.keep(known._replace(reminded=kept.union(one.name for one in held)))
    return _reminder([one.topic for one in held])


def _is_held(ask: _Ask, held: HeldBall) -> bool:
    """Whether a ball is theirs indeed: for them in particular, or in a thread
    they take part in."""
    if held.folder != ask.own[0]:
        shown = holders.show(ask.layout, held, ask.viewer)
        if shown is None or not shown.listed:
            return False
    try:
        state = ask.reader.snapshot(held.topic).state
    except WcError:
        return False
    return state.status != CLOSED and ask.viewer.holds(state.ball)


def _reminder(topics: list[str]) -> str:
    named = ", ".join(f'"{one_line(one)}"' for one in topics[:_NAMED])
    more = f" and {len(topics) - _NAMED} more" if len(topics) > _NAMED else ""
    first = one_line(topics[0])
    return (
        f"Watercooler: you hold the ball of {named}{more}. If you are done there, "
        f"answer (wc say {first} --title '…') or pass it on (wc handoff {first} "
        "--to NAME). If it is no part of what you were asked, just stop: this is "
        "said once."
    )
