"""``wc wake``: which agents can be woken here, what woke them, and the switch."""

from __future__ import annotations

import math
import time

from wc_cli.ledger.clock import now_ms
from wc_cli.ledger.store import durable
from wc_cli.run.options import Options, argument, command, text
from wc_cli.run.output import say, say_json
from wc_cli.run.terminal.style import output_style
from wc_core.attention.wake import waiters
from wc_core.attention.wake.passes import called_balls
from wc_core.base.errors import InvalidInputError, NotFoundError
from wc_core.base.layout import Layout
from wc_core.base.phrases import shown_path
from wc_core.base.text import one_line
from wc_core.base.times import coming_day_ms, rfc3339
from wc_core.ledger.git.private import private_layout
from wc_core.ledger.threads import vocabulary

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from wc_cli.run.context import Context
    from wc_core.attention.wake.waiters import Waiter

_HOUR_MINUTES, _DAY_MINUTES = 60, 24 * 60
_DAY_MS = _DAY_MINUTES * 60_000


class WakeOptions(Options):
    """Show which agents can be woken here and which balls woke them, or pause
    waking."""

    bare = ("until",)

    action: str = argument("ACTION", "off or on.", default="")
    until: str = text(
        "--until",
        "TIME",
        "With off: for this long (90m, 3h), or until 18:00 or friday.",
    )


@command(WakeOptions)
def wake(context: Context, options: WakeOptions) -> None:
    """Show, or switch."""
    if options.action not in {"", "on", "off"}:
        raise InvalidInputError(
            f"{options.action!r} is neither on nor off.", "wc wake, wc wake off|on"
        )
    if options.until and options.action != "off":
        raise InvalidInputError(
            "--until only works with off.", "wc wake off --until 3h"
        )
    layout = Layout(context.reader.layout.root)
    if options.action and not context.place.exists:
        raise NotFoundError("There are no threads here yet.", "Start with: wc init")
    if options.action:
        until_ms = _end_ms(options.until) if options.action == "off" else 0
        _switch(layout, until_ms)
    if options.json:
        say_json({"store": context.store} | _fields(context, layout))
    elif options.action:
        say(_switch_line(layout) or "Waking is on: a ball wakes an idle agent.")
    else:
        say("\n".join(_lines(context, layout)))


def _switch(layout: Layout, until_ms: float) -> None:
    """Switch waking off until then; 0 switches it on. Raises StorageError."""
    private = private_layout(layout)
    if not until_ms:
        durable.remove(private.wake_switch, private.root)
        durable.remove(layout.wake_switch, layout.root)  # of an older wc
        return
    durable.make_in_private_folder(private.waiters, private.root)
    data = "" if until_ms == math.inf else f"{until_ms:.0f}\n"
    durable.replace(private.wake_switch, data.encode(), private.root)


def _end_ms(text: str) -> float:
    """Return the end of a time, in milliseconds since 1970; infinity without one."""
    if not text:
        return math.inf
    if ":" in text:
        return _next_ms(text)
    day_ms = coming_day_ms(text, now_ms())
    if day_ms is not None:
        return day_ms
    seconds = vocabulary.wait_seconds(text)
    return math.inf if seconds is None else now_ms() + seconds * 1000


def _next_ms(text: str) -> float:
    """Return the next occurrence of that time of day, by this machine's clock."""
    hour, _, minute = text.partition(":")
    if not (hour.isdecimal() and minute.isdecimal()):
        raise InvalidInputError(f"{text!r} is not a time.", "Such as 18:00, or 3h.")
    minutes = int(hour) * 60 + int(minute)
    if minutes >= _DAY_MINUTES or int(minute) >= _HOUR_MINUTES:
        raise InvalidInputError(f"{text!r} is not a time of day.", "Such as 18:00.")
    now = time.localtime()
    ahead = (minutes - now.tm_hour * 60 - now.tm_min - 1) % _DAY_MINUTES + 1
    return now_ms() + (ahead * 60 - now.tm_sec) * 1000


def _fields(context: Context, layout: Layout) -> dict[str, Any]:
    off_ms = waiters.off_until_ms(layout)
    fields: dict[str, Any] = {"on": off_ms <= now_ms()}
    if off_ms > now_ms():
        fields["until"] = None if off_ms == math.inf else rfc3339(int(off_ms))
    return fields | {
        "sessions": [_session_fields(waiter) for waiter in waiters.running(layout)],
        "balls": [
            {"topic": state.name} | passed.to_json()
            for state, passed in called_balls(
                context.reader, context.settings.directory
            )
        ],
    }


def _session_fields(waiter: Waiter) -> Mapping[str, Any]:
    return {
        "agent": waiter.agent,
        "client": waiter.client,
        "session": waiter.session,
        "worktree": waiter.worktree,
        "idle": bool(waiter.token),
        "waiting": waiter.is_waiting,
    }


def _lines(context: Context, layout: Layout) -> Iterator[str]:
    """Yield the same for people."""
    style = output_style(context.env)
    if line := _switch_line(layout):
        yield line
    sessions = waiters.running(layout)
    for waiter in sessions:
        doing = "idle, a ball wakes it" if waiter.is_waiting else "at work"
        if waiter.is_deaf:
            doing = "idle, but its balls do not wake it until its next turn ends"
        place = shown_path(waiter.worktree, context.env)
        yield f"{style(one_line(waiter.agent), '1')}  {doing}  {one_line(place)}"
    if not sessions:
        yield "No session can be woken here. Set it up with: wc install --with wake"
    now = now_ms()
    for state, passed in called_balls(context.reader, context.settings.directory):
        words = f"{one_line(passed.agent)}, {passed.sentence(now)}"
        yield f"- {one_line(state.name)}: {words}"


def _switch_line(layout: Layout) -> str:
    """Return the line that says that waking is off, and until when; empty if it is
    on."""
    off_ms = waiters.off_until_ms(layout)
    if off_ms <= now_ms():
        return ""
    end = "" if off_ms == math.inf else f" until {_clock(off_ms)}"
    return f"Waking is off{end}: balls wake no agent here. To switch it on: wc wake on"


def _clock(moment_ms: float) -> str:
    """Return the time of day, with the date unless it is its next occurrence."""
    form = "%H:%M" if moment_ms - now_ms() < _DAY_MS else "%Y-%m-%d %H:%M"
    return time.strftime(form, time.localtime(moment_ms / 1000))
