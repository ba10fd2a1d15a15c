"""``wc brief --hook``: what an agent is told when it starts, is prompted, or stops, and
around its tools.

It fails open: on any error, and if it takes too long, the exit status is 0, nothing is
printed, and the reason goes to the debug log.
"""

from __future__ import annotations

import os
import select
import signal
import sys
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Protocol

from wc_cli.briefing import dialects, editnews, sessions
from wc_cli.briefing.dialects import PROMPT, START
from wc_cli.briefing.gather import deadline, gather_brief, limit_ms
from wc_cli.briefing.sessions import Session
from wc_cli.context import Context
from wc_cli.output import remark, say
from wc_core.errors import ClaimedError, WcError
from wc_core.identity.resolve import Asked
from wc_core.layout import Layout
from wc_core.status import holders
from wc_core.text import defused, one_line
from wc_core.threads.model import CLOSED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from types import FrameType

    from wc_core.status.holders import HeldBall

# Output is printed last, so that a timeout never cuts it in half.
_GRACE = 1.25
# The guard may ask git which files changed; clients wait for 5 seconds.
_TOOL_SECONDS = 2.0
# A timer of 0 would mean no limit.
_AT_ONCE = 1e-6
_MAX_BYTES = 1 << 20
# With the contents of a file that a tool writes.
_MAX_TOOL_BYTES = 1 << 26
# The clock of file times is coarser than ours; what was told is remembered for longer
# than the difference.
_MARGIN_NS = 2_000_000_000
_NAMED = 5
_MOST = 50


class HookOptions(Protocol):
    """The options of the command that a hook needs."""

    hook: str
    client: str
    budget: int
    as_name: str
    seat: str


class _TooLateError(Exception):
    """The time of a hook is up."""


class _NoToolError(Exception):
    """What was sent names no tool, or could not be read."""


def answer_hook(context: Context, options: HookOptions) -> None:
    """Prints what the client should take up, often nothing."""
    events = (*dialects.EVENTS, *dialects.TOOL_EVENTS)
    if options.hook not in events:
        remark(f"wc: {options.hook!r} is no event; one of: {', '.join(events)}")
        return
    hook_input, seconds = dialects.HookInput(), limit_ms(context) / 1000
    is_tool = options.hook in dialects.TOOL_EVENTS
    if is_tool:
        seconds = max(seconds, _TOOL_SECONDS)
    limit = _MAX_TOOL_BYTES if is_tool else _MAX_BYTES
    try:
        with _within(seconds * _GRACE):
            hook_input = dialects.parse_input(_read_input(seconds, limit))
            reply = _reply(context, options, hook_input)
    except ClaimedError:
        raise  # the guard refuses the call of a tool
    except Exception as error:  # noqa: BLE001 - see above
        _fail_if_blocking(context, options, hook_input, error)
        if context.env.get("WATERCOOLER_DEBUG"):
            from wc_cli import debuglog  # 1 ms, only to record a failure

            action, folder = (
                f"wc brief --hook {options.hook}",
                hook_input.folder or context.cwd,
            )
            debuglog.note_problem(action, type(error).__name__, folder)
        return
    if reply:
        dialect = dialects.dialect_of(options.client)
        say(dialect.answer(options.hook, defused(reply)))


def _fail_if_blocking(
    context: Context,
    options: HookOptions,
    hook_input: dialects.HookInput,
    error: Exception,
) -> None:
    """Refuse the call of a tool if its guard has failed, where that is wanted."""
    if options.hook != dialects.BEFORE:
        return
    context = Context(context.env, hook_input.folder or context.cwd)
    try:
        is_blocking = context.settings.guard_failure == "block"
    except WcError:
        return
    if is_blocking:
        raise ClaimedError(
            f"The guard of claims failed: {type(error).__name__}.",
            "Look for the reason: wc doctor. [claims] guard_failure is block.",
        ) from error


@contextmanager
def _within(seconds: float) -> Iterator[None]:
    """Raises in the block once the time is up."""

    def late(_: int, __: FrameType | None) -> None:
        raise _TooLateError

    before = signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, max(seconds, _AT_ONCE))
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _reply(
    context: Context, options: HookOptions, hook_input: dialects.HookInput
) -> str:
    """Returns what the agent is told."""
    if options.hook in dialects.TOOL_EVENTS and not hook_input.tool:
        raise _NoToolError
    client = dialects.dialect_of(options.client)
    asked_identity = Asked(options.as_name, options.seat, client.agent)
    env = client.with_session(context.env, hook_input.session)
    context = Context(env, hook_input.folder or context.cwd, asked_identity)
    if options.hook == START:
        _adopt(context)
    late = deadline(context)
    if not context.place.exists:
        return ""
    text = _event_text(context, options, hook_input, late)
    if not text:
        return ""
    from wc_core.guidance import for_occasion  # 0.4 ms, hooks seldom say anything

    guidance = for_occasion(Layout(context.place.root), options.hook)
    return f"{text}\n\n{guidance.text()}" if guidance is not None else text


def _event_text(
    context: Context,
    options: HookOptions,
    hook_input: dialects.HookInput,
    late: Callable[[], bool],
) -> str:
    """Returns what there is to say at this event, often nothing."""
    client = dialects.dialect_of(options.client)
    path = sessions.path_of(context.reader.layout, options.client, hook_input.session)
    path = path if hook_input.session else ""
    if options.hook == START:
        # Clients hide git's configuration from commands rather than from hooks.
        context.record_user()
        return _start(context, options, path, late)
    if not path and options.hook != dialects.BEFORE:
        return ""  # without a session it would hear the same news forever
    if options.hook in dialects.TOOL_EVENTS:
        from wc_cli.briefing import toolhooks  # 12 ms that the other hooks do not need

        return toolhooks.answer_tool(context, client, options.hook, hook_input, path)
    if options.hook == PROMPT:
        news = (_prompt(context, path), editnews.prompt_news(context, path))
        return "\n".join(filter(None, news))
    return "" if hook_input.again else _stop(context, path)


def _adopt(context: Context) -> None:
    """Checks out the threads of a fresh clone. That is done once, and takes as long as
    it takes: the time of the hook counts from then on."""
    if context.place.exists or not context.place.branch_exists:
        return
    seconds, _ = signal.setitimer(signal.ITIMER_REAL, 0)
    try:
        context.adopt()
    finally:
        signal.setitimer(signal.ITIMER_REAL, seconds)


def _read_input(seconds: float, limit: int) -> bytes:
    """Returns standard input, as far as it arrives in time, and no more bytes than the
    limit; nothing at a terminal."""
    if sys.stdin.isatty():
        return b""
    try:
        handle = sys.stdin.fileno()
    except OSError:  # not a real file: everything is there already
        return sys.stdin.buffer.read(limit)
    data = bytearray()
    end = time.monotonic() + seconds
    while len(data) < limit:
        if not select.select([handle], [], [], max(0, end - time.monotonic()))[0]:
            break
        piece = os.read(handle, _MAX_BYTES)
        data += piece
        if not piece:
            break
    return bytes(data)


class _SessionView:
    """The store as one session sees it, and what the session has been told."""

    def __init__(self, context: Context, path: str) -> None:
        self.viewer = context.viewer
        self.reader = context.reader
        self.layout: Layout = self.reader.layout
        self.path = path
        self.own = holders.folders_of(self.viewer)

    def load_session(self) -> Session | None:
        """Returns what the session has been told; ``None`` for a new one."""
        return sessions.load(self.layout, self.path)

    def save_session(self, session: Session) -> None:
        """Saves what the session has been told."""
        sessions.save(self.layout, self.path, session)

    def marked_as_told(
        self, session: Session, threads: Mapping[str, tuple[str, int]] | None = None
    ) -> Session:
        """Returns the session with everything there is marked as told."""
        now = time.time_ns()
        if threads is None:
            threads = {
                k: ball[:2]
                for k, ball in self.threads_with_news(now - _MARGIN_NS).items()
            }
        held = holders.held_balls(self.layout, self.own)
        questions = holders.asked_of(self.layout, self.viewer)
        balls = frozenset(ball.name for ball in (*held, *questions))
        return session._replace(looked_ns=now, threads=threads, balls=balls)

    def threads_with_news(self, since_ns: int) -> dict[str, tuple[str, int, HeldBall]]:
        """Returns the threads that have NEW entries and changed since then: the
        entry that passed the ball, and the number of NEW entries."""
        news = {}
        changed = holders.changed_balls(self.layout, since_ns)
        for held, status in holders.viewer_statuses(self.layout, changed, self.viewer):
            if status is None or not status.new or not held.topic:
                continue
            if held.folder in self.own or status.listed:
                news[held.topic] = (held.since, status.new, held)
        return news


def _start(
    context: Context, options: HookOptions, path: str, late: Callable[[], bool]
) -> str:
    """Returns the brief; what it shows is not news later."""
    # 5 ms that the hooks of a prompt and of a stop do not need.
    from wc_cli.briefing import text
    from wc_cli.terminal import render

    if path:
        view = _SessionView(context, path)
        with suppress(WcError):  # then it hears the same news twice
            session = view.marked_as_told(view.load_session() or Session())
            news = editnews.conflict_news(context, frozenset())
            view.save_session(session._replace(conflicts=news.keys))
    with _name_of_command(context, options.client) as note:
        brief = text.fit_brief(gather_brief(context, late), options.budget)
        lines = (text.brief_text(brief, render.Style(color=False)), note())
    return "\n".join(filter(None, lines))


@contextmanager
def _name_of_command(context: Context, client: str) -> Iterator[Callable[[], str]]:
    """What to tell an agent whose shell does not find our command as ``wc``, which is
    looked up meanwhile."""
    from wc_cli.briefing import shellnames  # 9 ms, only when a session starts

    # Half of the time: what is late must not cost the brief.
    until = time.monotonic() + limit_ms(context) / 2000
    asks = dialects.dialect_of(client).login_shell
    shell = shellnames.start_login_shell(context.env) if asks else None
    try:
        yield lambda: shellnames.note(context.env, shell, until)
    finally:
        if shell is not None:
            shell.end()


def _prompt(context: Context, path: str) -> str:
    """Returns a line if a ball arrived or entries are NEW since the last time."""
    view = _SessionView(context, path)
    session = view.load_session()
    if session is None:
        view.save_session(view.marked_as_told(Session()))
        return ""
    moved = view.threads_with_news(session.looked_ns - _MARGIN_NS)
    threads = {topic: item[:2] for topic, item in moved.items()}
    questions = _new_questions(view, session)
    if not questions and (not moved or threads == session.threads):
        return ""
    # Saved before printing: otherwise the same news would be repeated forever.
    view.save_session(view.marked_as_told(session, threads))
    nothing = ("", 0)
    news = [
        _news(topic, item, arrived=_arrived(view, item[2], session))
        for topic, item in moved.items()
        if (before := session.threads.get(topic, nothing))[0] != item[0]
        or before[1] < item[1]
    ]
    news = [*questions, *news]
    if not news:
        return ""
    unnamed = [f"{len(news) - _NAMED} more"] if len(news) > _NAMED else []
    summary = "; ".join((*news[:_NAMED], *unnamed))
    return f"Watercooler: {summary}. Read it with: wc read TOPIC --new"


def _new_questions(view: _SessionView, session: Session) -> list[str]:
    """Returns the threads in which the agent was asked since the last time."""
    questions = holders.asked_of(view.layout, view.viewer)
    # Of very many, the oldest were not remembered.
    is_full = len(session.balls) >= sessions.MOST
    first = min(session.balls) if is_full else ""
    topics = (
        held.topic
        for held in questions
        if held.name not in session.balls and held.name > first
    )
    return [f'"{one_line(topic)}": you are asked' for topic in dict.fromkeys(topics)]


def _news(topic: str, item: tuple[str, int, HeldBall], *, arrived: bool) -> str:
    """Returns a thread with news, by its name alone."""
    arrival = "its ball came to you, " if arrived else ""
    return f'"{one_line(topic)}": {arrival}{item[1]} new'


def _arrived(view: _SessionView, held: HeldBall, session: Session) -> bool:
    """Returns whether a ball is theirs now that was not when they last looked. Of
    very many balls, the longest held ones were not remembered."""
    first = min(session.balls, default="")
    return (
        held.folder in view.own and held.name not in session.balls and held.name > first
    )


def _stop(context: Context, path: str) -> str:
    """Returns a reminder of held balls, each reminded of once."""
    view = _SessionView(context, path)
    balls = holders.held_balls(view.layout, view.own)
    if not balls:
        return ""
    session = view.load_session() or Session(time.time_ns())
    fresh = [ball for ball in balls if ball.name not in session.reminded][-_MOST:]
    held = [ball for ball in fresh if _is_held(view, ball)]
    if not held:
        return ""
    # Balls that are gone need not be remembered.
    reminded = session.reminded.intersection(ball.name for ball in balls)
    # Saved before printing: otherwise the agent could never stop.
    view.save_session(
        session._replace(reminded=reminded.union(ball.name for ball in held))
    )
    return _reminder([ball.topic for ball in held])


def _is_held(view: _SessionView, held: HeldBall) -> bool:
    """Returns whether a ball is really theirs: passed to them in particular, or in a
    thread they take part in."""
    if held.folder not in holders.own_folders_of(view.viewer):
        status = holders.viewer_status(view.layout, held, view.viewer)
        if status is None or not status.listed:
            return False
    try:
        state = view.reader.snapshot(held.topic).state
    except WcError:
        return False
    return state.status != CLOSED and view.viewer.holds(state.ball)


def _reminder(topics: list[str]) -> str:
    named = ", ".join(f'"{one_line(topic)}"' for topic in topics[:_NAMED])
    unnamed = f" and {len(topics) - _NAMED} more" if len(topics) > _NAMED else ""
    first = one_line(topics[0])
    return (
        f"Watercooler: you hold the ball of {named}{unnamed}. If you are done there, "
        f"answer (wc say {first} --title '…') or pass it on (wc handoff {first} "
        "--to NAME). If it is no part of what you were asked, just stop: this is "
        "said once."
    )
