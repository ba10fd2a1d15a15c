"""``wc brief --hook``: what an agent reads when it starts, is prompted, or stops, and
around its tools.

It fails open: on any error or timeout the exit status is 0, and nothing is printed but
the reason, where standard error is a terminal.
"""

from __future__ import annotations

import os
import select
import sys
import time

from wc_cli.agents.briefing import dialects, editnews, sessions
from wc_cli.agents.briefing.dialects import PROMPT, START
from wc_cli.agents.briefing.gather import MOST_SECONDS, deadline, gather_brief
from wc_cli.agents.briefing.sessionnews import (
    SessionView,
    prompt_news,
    stop_reminder,
    unsaved_work,
)
from wc_cli.agents.briefing.sessions import Session
from wc_cli.ledger.clock import now_ms
from wc_cli.run.context import Context
from wc_cli.run.output import remark, say_exact
from wc_cli.run.terminal.style import Style
from wc_core.base.errors import ClaimedError, NotFoundError, WcError
from wc_core.base.layout import EARLY, Layout
from wc_core.base.lean import signal
from wc_core.base.lean.contextlib import contextmanager, suppress
from wc_core.base.text import defused, one_line
from wc_core.ledger.git import contact
from wc_core.ledger.git.private import private_layout
from wc_core.people.identity.resolve import Asked

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import FrameType
    from typing import Protocol

    class SpeakerOfHook(Protocol):
        """The client that runs a hook, and the agent that it runs for."""

        client: str
        as_name: str
        seat: str

    class HookOptions(SpeakerOfHook, Protocol):
        """The command's options that a hook needs."""

        hook: str


# Output is printed last, so that a timeout never cuts it in half.
_GRACE = 1.25
_INPUT_SECONDS = 0.2
# A timer of 0 would mean no limit.
_AT_ONCE = 1e-6
MAX_BYTES = 1 << 20
# Includes the contents of a file that a tool writes.
_MAX_TOOL_BYTES = 1 << 26


class _TooLateError(Exception):
    """A hook ran out of time."""


class _NoToolError(Exception):
    """The input names no tool, or could not be read."""


def answer_hook(context: Context, options: HookOptions) -> None:
    """Print the answer for the client, often nothing."""
    events = (*dialects.EVENTS, *dialects.TOOL_EVENTS)
    if options.hook not in events:
        remark(f"wc: {options.hook!r} is not an event; one of: {', '.join(events)}")
        return
    options.client = dialects.client_of_hook(options.client, context.env)
    hook_input, reply = dialects.HookInput(), ""
    is_tool = options.hook in dialects.TOOL_EVENTS
    # A client that keeps its pipe open waits for all of it.
    seconds = MOST_SECONDS if is_tool else _INPUT_SECONDS
    limit = _MAX_TOOL_BYTES if is_tool else MAX_BYTES
    try:
        with _within(MOST_SECONDS * _GRACE):
            hook_input = dialects.parse_input(read_input(seconds, limit))
            session = session_context(context, options, hook_input)
            reply = _reply(session, options, hook_input)
    except ClaimedError as error:
        _refuse(options, error)
        return
    except Exception as error:  # noqa: BLE001 - see above
        _fail_if_blocking(context, options, hook_input, error)
        _note_failure(options, error)
        return
    if reply:
        dialect = dialects.dialect_of(options.client)
        say_exact(dialect.answer(options.hook, defused(reply)))
    if not hook_input.session:
        return
    try:
        with _within(MOST_SECONDS * _GRACE):
            # Last, because it would slow this process down.
            if _may_follow_edits(options.hook, hook_input):
                editnews.start_radar(session, may_fork=context.owns_process)
    except Exception as error:  # noqa: BLE001 - see above
        _note_failure(options, error)


def _refuse(options: HookOptions, error: ClaimedError) -> None:
    """Refuse the call of a tool as the client expects it: with an answer, or with the
    error itself."""
    text = f"{error.message}\n{error.hint}"
    refusal = dialects.dialect_of(options.client).refuse(text)
    if not refusal:
        raise error
    say_exact(refusal)


def _may_follow_edits(event: str, hook_input: dialects.HookInput) -> bool:
    """Return whether files may have changed just before this event."""
    if event != dialects.AFTER:
        return event in {START, PROMPT}
    # 1 ms, which the answer has already taken
    from wc_core.edits.guard import toolcalls

    call = toolcalls.ToolCall(hook_input.tool, hook_input.arguments, "")
    return toolcalls.may_write(call)


def _note_failure(options: HookOptions, error: Exception) -> None:
    """Say the reason to a person who tries the hook: clients have no terminal here."""
    if sys.stderr.isatty():
        reason = one_line(str(error)) or type(error).__name__
        remark(f"wc: brief --hook {options.hook}: {reason}")


def session_context(
    context: Context, options: SpeakerOfHook, hook_input: dialects.HookInput
) -> Context:
    """Return the context that a command of the agent would have."""
    client = dialects.dialect_of(options.client)
    asked_identity = Asked(options.as_name, options.seat, client.agent)
    env = client.with_session(context.env, hook_input.session)
    return Context(env, hook_input.folder or context.cwd, asked_identity)


def _fail_if_blocking(
    context: Context,
    options: HookOptions,
    hook_input: dialects.HookInput,
    error: Exception,
) -> None:
    """Refuse a tool call whose guard failed, if the settings say so."""
    if options.hook != dialects.BEFORE:
        return
    context = Context(context.env, hook_input.folder or context.cwd)
    try:
        is_blocking = context.settings.guard_failure == "block"
    except WcError:
        return
    if is_blocking:
        raise ClaimedError(
            f"The guard for claims failed: {type(error).__name__}.",
            "Look for the reason: wc doctor. [claims] guard_failure is block.",
        ) from error


@contextmanager
def _within(seconds: float) -> Iterator[None]:
    """Raise `_TooLateError` in the block once the time is up."""

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
    """Return the text for the agent."""
    if options.hook in dialects.TOOL_EVENTS and not hook_input.tool:
        raise _NoToolError
    if options.hook == START:
        try:
            _adopt(context)
        except NotFoundError as error:
            return one_line(f"Watercooler: {error.message}. {error.hint}")
    late = deadline()
    if not context.place.exists:
        if options.hook == PROMPT and hook_input.session:
            note_turn(context, options.client, hook_input.session)
        unasked = contact.unasked(context.place, context.env)
        is_failure = options.hook == START and unasked is not None and unasked.problem
        return f"Watercooler: {unasked}" if is_failure else ""
    text = _event_text(context, options, hook_input, late)
    if not text:
        return ""
    # 0.4 ms, hooks seldom say anything
    from wc_core.ledger.guidance import for_occasion

    guidance = for_occasion(Layout(context.place.root), options.hook)
    return f"{text}\n\n{guidance.text()}" if guidance is not None else text


def _event_text(
    context: Context,
    options: HookOptions,
    hook_input: dialects.HookInput,
    late: Callable[[], bool],
) -> str:
    """Return the news for this event, often none."""
    client = dialects.dialect_of(options.client)
    path = sessions.path_of(context.reader.layout, options.client, hook_input.session)
    path = path if hook_input.session else ""
    if options.hook not in dialects.TOOL_EVENTS:
        context.balls.look(late)
    # In another worktree it is another participant, which knows nothing yet.
    is_move = options.hook == dialects.AFTER and hook_input.tool in dialects.MOVES
    if options.hook == START or is_move:
        # Clients hide git's configuration from commands rather than from hooks.
        context.record_user()
        return _start(context, options, path, late)
    if not path and options.hook != dialects.BEFORE:
        return ""  # without a session the same news would be repeated forever
    if options.hook in dialects.TOOL_EVENTS:
        # 12 ms that the other hooks do not need
        from wc_cli.agents.briefing import toolhooks

        return toolhooks.answer_tool(context, client, options.hook, hook_input, path)
    if options.hook == PROMPT:
        note_turn(context, options.client, hook_input.session)
        news = (prompt_news(context, path), editnews.prompt_news(context, path))
        return "\n".join(filter(None, news))
    # A sub-agent answers to its agent, and that one is reminded.
    if hook_input.again or hook_input.subagent:
        return ""
    with _unlimited():
        unsaved = unsaved_work(context)
    return stop_reminder(context, path, unsaved)


def note_turn(context: Context, client: str, session: str) -> None:
    """Record that the agent is working, if sessions can be woken. It knows then what it
    was woken for."""
    root = context.place.root
    for layout in (Layout(f"{root}{EARLY}"), Layout(root)):
        if not os.path.isdir(private_layout(layout).waiters):
            continue
        from wc_cli.agents.briefing import turns  # 1 ms, only where agents are woken

        names = turns.note_turn(layout, client, session, now_ms())
        if names:
            path = sessions.path_of(layout, client, session)
            SessionView(context, path).save_as_known(frozenset(names))


def _adopt(context: Context) -> None:
    """Fetch and check out the threads of a fresh clone. This happens once, and the
    hook's time limit counts from then on."""
    if context.place.exists:
        return
    with _unlimited():
        context.first_contact()
        context.adopt()


@contextmanager
def _unlimited() -> Iterator[None]:
    """Suspend the hook's time limit for the block, which has limits of its own."""
    seconds, _ = signal.setitimer(signal.ITIMER_REAL, 0)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, seconds)


def read_input(seconds: float, limit: int) -> bytes:
    """Read standard input as far as it arrives in time, up to ``limit`` bytes; nothing
    from a terminal."""
    if sys.stdin.isatty():
        return b""
    try:
        handle = sys.stdin.fileno()
    except OSError:  # not a real file: everything is already there
        return sys.stdin.buffer.read(limit)
    data = bytearray()
    end = time.monotonic() + seconds
    while len(data) < limit:
        if not select.select([handle], [], [], max(0, end - time.monotonic()))[0]:
            break
        piece = os.read(handle, MAX_BYTES)
        data += piece
        if not piece:
            break
    return bytes(data)


def _start(
    context: Context, options: HookOptions, path: str, late: Callable[[], bool]
) -> str:
    """Return the brief. Later hooks don't repeat what it shows."""
    # 5 ms that the hooks of a prompt and of a stop do not need.
    from wc_cli.agents.briefing import text

    if path:
        view = SessionView(context, path)
        with suppress(WcError):  # then the same news is repeated once
            session = view.with_all_known(view.load_session() or Session())
            _, conflicts = editnews.conflict_news(context, frozenset())
            view.save_session(session._replace(conflicts=conflicts))
    with _name_of_command(context, options.client) as note:
        brief = text.fit_brief(gather_brief(context, late))
        lines = (text.brief_text(brief, Style(color=False)), note())
    return "\n".join(filter(None, lines))


@contextmanager
def _name_of_command(context: Context, client: str) -> Iterator[Callable[[], str]]:
    """The advice for an agent whose shell does not find our command as ``wc``. The
    lookup runs during the block."""
    from wc_cli.agents.briefing import loginshell  # 1 ms, only when a session starts

    # A slow shell must not cost the brief.
    until = time.monotonic() + MOST_SECONDS / 4
    asks = dialects.dialect_of(client).login_shell
    shell = loginshell.start(context.env) if asks else None
    try:
        yield lambda: loginshell.note(context.env, shell, until)
    finally:
        if shell is not None:
            shell.end()
