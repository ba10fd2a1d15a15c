"""What ``wc run`` shows: a table at a terminal, lines in a pipe, JSON for programs."""

from __future__ import annotations

import contextlib
import os
import time

from rich.console import Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from wc_cli.agents.runs.output import RunOutput
from wc_cli.run.output import discard_output, remark, say, say_json
from wc_cli.run.terminal.markdown import console_of
from wc_cli.run.terminal.style import is_for_people, terminal_width
from wc_core.base.errors import StorageError
from wc_core.base.names import parse
from wc_core.base.phrases import counted, shown_path
from wc_core.base.text import one_line
from wc_core.base.times import span

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from types import TracebackType
    from typing import Any, Self

    from wc_cli.agents.runs.choosing import RunCandidate
    from wc_cli.agents.runs.runner import RunEvent, Runner
    from wc_cli.agents.runs.watching import Run

_MOST_WAITING = 8
# The columns of the table, with their widths; that of the worktree only in a wide
# terminal.
_WIDE = 110
_NAME: dict[str, Any] = {"max_width": 24}
_NUMBER: dict[str, Any] = {"justify": "right", "min_width": 7}
_COLUMNS = {
    "thread": _NAME,
    "agent": _NAME,
    "worktree": {"max_width": 32},
    "state": {},
    "time": _NUMBER,
    "last line": {"ratio": 1},
}
_REDRAW_SECONDS = 1.0
_MARKS = {
    "started": "▶",
    "passed": "✓",
    "asked": "?",
    "failed": "✗",
    "stopped": "■",
    "removed": "·",
    "landed": "⇓",
    "skipped": "·",
}


class Display:
    """Shows what happens, in the form that standard output is for."""

    def __init__(self, env: Mapping[str, str], *, as_json: bool) -> None:
        self._env = env
        self._as_json = as_json
        self._live: Live | None = None
        self._drawn_at = 0.0
        self._said = ""
        # Whether nobody can read it.
        self.is_lost = False
        if not as_json and is_for_people(env):
            console = console_of(env, terminal_width())
            self._live = Live(console=console, auto_refresh=False, transient=True)

    @property
    def is_live(self) -> bool:
        """Whether it shows the state only while it runs, at a terminal."""
        return self._live is not None

    def __enter__(self) -> Self:
        if self._live is not None:
            self._live.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._live is not None:
            with self._noticing():
                self._live.stop()

    def tell(self, event: RunEvent) -> None:
        """Show an event, unless nobody can read it."""
        if not self.is_lost:
            with self._noticing():
                self._tell(event)

    def show(self, runner: Runner) -> None:
        """Show the current state: at a terminal, once a second; else what waits, where
        that has changed."""
        if not self.is_lost:
            with self._noticing():
                self._show(runner)

    @contextlib.contextmanager
    def _noticing(self) -> Iterator[None]:
        """Notice that the terminal was closed, or the reader of a pipe has ended."""
        try:
            yield
        except (OSError, StorageError):
            self.is_lost = True
            discard_output()

    def _tell(self, event: RunEvent) -> None:
        if self._as_json:
            fields = {"event": event.name, "topic": event.topic, "agent": event.agent}
            say_json({**fields, "text": event.text, **event.fields})
            return
        text = event_line(event, self._env)
        if self._live is not None:
            self._live.console.print(Text(text))
            self._drawn_at = 0.0
        else:
            say(text)

    def _show(self, runner: Runner) -> None:
        now = time.monotonic()
        if self._live is not None:
            if now - self._drawn_at >= _REDRAW_SECONDS:
                self._drawn_at = now
                state = state_of(runner, self._env, terminal_width())
                self._live.update(state, refresh=True)
            return
        if not self._as_json and not runner.watcher.runs:
            text = "\n".join(waiting_lines(runner.queue.waiting))
            if text and text != self._said:
                remark(text)
            self._said = text


def event_line(event: RunEvent, env: Mapping[str, str]) -> str:
    """Return an event on one line."""
    mark = _MARKS.get(event.name, "·")
    text = event.text
    if worktree := event.fields.get("worktree"):
        text = text.replace(worktree, shown_path(worktree, env))
    agent = _short(event.agent, event.topic)
    return one_line(f"{mark} {event.topic} · {agent} · {text}")


def _short(agent: str, topic: str) -> str:
    """Return the name of an agent without the tag, which all have, and without a seat
    that is the topic beside it."""
    name = parse(agent)._replace(tag="")
    return one_line(str(name._replace(seat="") if name.seat == topic else name))


def state_of(runner: Runner, env: Mapping[str, str], width: int) -> Group:
    """Return what runs, as a table for a terminal of this width, and what waits."""
    rows = [_cells(run, runner, env) for run in runner.watcher.runs.values()]
    table = Table(box=None, pad_edge=False, show_header=bool(rows), expand=True)
    # Only the last line gives way to the others. Columns without a text are left out.
    used = [head for head in _COLUMNS if any(row[head] for row in rows)]
    if width < _WIDE:
        used = [head for head in used if head != "worktree"]
    for head in used:
        table.add_column(head, overflow="ellipsis", no_wrap=True, **_COLUMNS[head])
    for row in rows:
        table.add_row(*(Text(row[head]) for head in used))
    lines = [Text(line, style="dim") for line in waiting_lines(runner.queue.waiting)]
    return Group(table, *lines, Text(_footer(runner), style="dim"))


def _cells(run: Run, runner: Runner, env: Mapping[str, str]) -> dict[str, str]:
    """Return what the columns say about a run."""
    record = run.record
    seconds = max(0, int(time.time() - record.started_ms / 1000))
    lines = RunOutput.of(runner.layout, record.topic, env).last_lines(1)
    again = "again" if record.tries > 1 else ""
    return {
        "thread": one_line(record.topic),
        "agent": _short(record.agent, record.topic),
        "worktree": one_line(os.path.basename(record.worktree)),
        "state": "ending" if runner.is_interrupted else again,
        "time": span(seconds),
        "last line": one_line(" ".join(lines)),
    }


def waiting_lines(waiting: list[RunCandidate]) -> list[str]:
    """Return a line for each thread that no agent is started for, with the reason."""
    blocked = [candidate for candidate in waiting if candidate.obstacle]
    lines = [
        one_line(f"{item.state.name} · {item.agent or 'nobody'}: {item.obstacle}")
        for item in blocked[:_MOST_WAITING]
    ]
    hidden = len(blocked) - len(lines)
    return [*lines, f"and {hidden} more"] if hidden > 0 else lines


def _footer(runner: Runner) -> str:
    queue = runner.queue
    running = counted(len(runner.watcher.runs), "agent runs", "agents run")
    if runner.is_interrupted:
        return f"{running}; ending. Ctrl-C again ends them at once."
    if runner.is_stopping:
        return f"{running}; no more are started. Ctrl-C stops."
    ready = sum(not item.obstacle for item in queue.waiting)
    waiting = f", {counted(ready, 'thread')} ready" if ready else ""
    return f"{running}{waiting}. Ctrl-C stops."
