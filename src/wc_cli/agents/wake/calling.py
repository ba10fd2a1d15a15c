"""Calls a client, each in its own way.

State of November 2026; measurements are in docs/agents.md#which-clients-can-be-woken:

- Claude Code runs a ``Stop`` hook with ``asyncRewake`` in the background, and begins a
  turn with its standard error when it exits with 2.
- Codex takes a message for a session by ``codex queue``, and begins a turn with it.
- opencode: our plugin passes standard output to ``client.session.promptAsync``.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress

from wc_cli.agents.briefing import turns
from wc_cli.ledger.store import durable
from wc_core.attention.wake import records
from wc_core.attention.wake.records import WakeRecord
from wc_core.base.errors import WcError
from wc_core.base.programs import program_path
from wc_core.ledger.git.private import private_layout

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from wc_cli.agents.wake.choosing import Arrived
    from wc_core.attention.wake.waiters import Waiter
    from wc_core.base.layout import Layout

# The exit status with which a hook of Claude Code wakes it.
WAKES = 2
_SECONDS = 20.0
_MAX_REASON = 200
_FAILED = "codex queue failed"


def claim(
    layout: Layout, waiter: Waiter, key: str, arrived: Sequence[Arrived], now_ms: int
) -> list[Arrived]:
    """Return those for which this session is the first to be called, and record that it
    will be. Raises StorageError; nothing is claimed then."""
    private = private_layout(layout)
    durable.make_in_private_folder(private.wakes, private.root)
    record = WakeRecord(waiter.client, waiter.session, waiter.agent, key, now_ms)
    won: list[Arrived] = []
    try:
        for arrival in arrived:
            path = records.path_of(layout, arrival.held.name)
            data = record._replace(is_stranger=arrival.is_stranger).to_bytes()
            if durable.create_new(path, data, private.root):
                won.append(arrival)
    except BaseException:
        undo_claims(layout, won)
        raise
    return won


def call(layout: Layout, waiter: Waiter, called: Sequence[Arrived], text: str) -> int:
    """Hand a text to the session, which then begins a turn. Returns the exit status for
    the waiting process. The result is recorded after the call: a process killed in
    between has called nobody."""
    names = tuple(arrival.held.name for arrival in called)
    turns.save(layout, waiter._replace(token="", called=names))
    if waiter.client == "codex":
        _record(layout, names, _queue(waiter, text))
        return 0
    stream = sys.stderr if waiter.client == "claude" else sys.stdout
    stream.write(f"{text}\n")
    stream.flush()
    _record(layout, names)
    return WAKES if waiter.client == "claude" else 0


def _record(layout: Layout, names: Sequence[str], failure: str = "") -> None:
    """Record that a call was made, or why it failed. Never raises: the session was
    called anyway."""
    with suppress(WcError, OSError):
        for name in names:
            record = records.load(layout, name)
            if record is not None:
                record = record._replace(is_called=not failure, failure=failure)
                path = records.path_of(layout, name)
                durable.replace(path, record.to_bytes(), private_layout(layout).root)


def _queue(waiter: Waiter, text: str) -> str:
    """Queue a message for a Codex session. Returns the reason for a failure, or an
    empty string."""
    import subprocess  # 8 ms, only when a ball came

    try:
        words = [_program(waiter.pid), "queue", "--thread", waiter.session]
        done = subprocess.run(  # noqa: S603 - no shell; the text is one argument
            [*words, "--message", text],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_SECONDS,
            check=False,
        )
    # ValueError: a session's name with a null byte cannot be an argument.
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        return f"{_FAILED}: {type(error).__name__}"
    if not done.returncode:
        return ""
    lines = done.stderr.decode(errors="replace").split("\n")
    reasons = (line for line in lines if line.startswith("Error"))
    reason = next(reasons, f"exit status {done.returncode}")
    return f"{_FAILED}: {reason}"[:_MAX_REASON]


def _program(pid: int) -> str:
    """Return the session's own program: PATH may have another version. Raises
    OSError."""
    try:
        path = os.readlink(f"/proc/{pid}/exe")
    except OSError:
        path = ""
    is_codex = os.path.basename(path) == "codex"
    return path if is_codex else program_path(os.environ, "codex")


def undo_claims(layout: Layout, called: Sequence[Arrived]) -> None:
    """Remove the records of calls that were not made."""
    root = private_layout(layout).root
    for arrival in called:
        with suppress(WcError):
            durable.remove(records.path_of(layout, arrival.held.name), root)
