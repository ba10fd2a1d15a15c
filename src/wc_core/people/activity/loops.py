"""Reads the state of the autonomous loop in a worktree.

``<worktree>/.claude/loop-state.json`` is written by the tool that runs the
loop; see `wc_core.people.activity.livestate` for how such files are read.
"""

from __future__ import annotations

from wc_core.base import processes
from wc_core.base.text import one_line
from wc_core.base.values import NamedTuple
from wc_core.people.activity.livestate import (
    MAX_ITEMS,
    TEXT,
    WORD,
    StateAge,
    as_list,
    as_number,
    as_text,
    file_age,
    texts,
    without_empty,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from wc_core.people.activity.statefile import StateFiles

WAITING_FOR_HUMAN = "waiting:human"
# The statuses of a loop whose process is running.
WORKING = frozenset({"starting", "running"})
ENDED = frozenset({"done", "stopped"})
# The status of a loop whose file has none.
UNKNOWN = "unknown"
# The prefix of a status such as "waiting:human".
_WAITING = "waiting:"

# An iteration may take long. After this time without a change, the state is stale.
_STALE_SECONDS = 3600
_PROCESS_SKEW = 2.0
_MAX_PID = 1_000_000_000
_TEXTS = {
    "task": TEXT,
    "done_criteria": TEXT,
    "started_at": WORD,
    "waiting_since": WORD,
    "stall_reason": TEXT,
}


class Loop(NamedTuple):
    """An autonomous loop; ``status`` is empty if its file cannot be read.

    ``orphaned`` if its status is that of a running loop, but its process has ended.
    ``texts`` are the known ones of `_TEXTS`. An iteration has ``done_check``, whether
    the loop's goal was reached (``None``: not checked), ``commits``, and what else is
    known.
    """

    status: str
    change_id: str
    number: int | None
    limit: int | None
    orphaned: bool
    state_age: StateAge
    texts: Mapping[str, str]
    total_tokens: int | None = None
    terminal_pid: int | None = None
    iterations: tuple[Mapping[str, Any], ...] = ()
    iteration_count: int = 0

    @property
    def waits_for_human(self) -> bool:
        """Whether the loop is blocked until a person answers."""
        return self.status == WAITING_FOR_HUMAN

    @property
    def summary(self) -> str:
        """The state in words, such as ``waits for a human``."""
        if not self.status:
            return f"its state {self.state_age.problem or 'is unknown'}"
        if self.orphaned:
            return f"orphaned: its status is {self.status} but its process has ended"
        if self.waits_for_human:
            return "waits for a human"
        if self.status.startswith(_WAITING):
            return f"waits for {self.status.removeprefix(_WAITING)}"
        return f"ended: {self.status}" if self.status in ENDED else self.status

    @property
    def turn(self) -> str:
        """The current iteration: ``3/10``, ``3``, or empty."""
        if self.number is None:
            return ""
        return f"{self.number}" if self.limit is None else f"{self.number}/{self.limit}"

    def to_json(self) -> dict[str, Any]:
        """The fields that a list shows."""
        fields = {
            "status": self.status,
            "says": self.summary,
            "waits_for_human": self.waits_for_human or None,
            "orphaned": self.orphaned or None,
            "iteration": self.number,
            "max_iterations": self.limit,
            "task": one_line(self.texts.get("task", ""), WORD),
            "waiting_since": self.texts.get("waiting_since"),
            "stall_reason": one_line(self.texts.get("stall_reason", ""), WORD),
        }
        return without_empty(fields) | self.state_age.to_json()

    def details(self) -> dict[str, Any]:
        """All fields; of the iterations the last twenty."""
        fields = {
            "change_id": self.change_id,
            **self.to_json(),
            **self.texts,
            "total_tokens": self.total_tokens,
            "terminal_pid": self.terminal_pid,
            "iteration_count": self.iteration_count or None,
            "iterations": list(self.iterations) or None,
        }
        # The age is present even if it is unknown.
        return {"age_seconds": None, **without_empty(fields)}


def loop_path(top: str) -> str:
    """The file of a worktree's loop."""
    return f"{top}/.claude/loop-state.json"


def loop(files: StateFiles, top: str, now_ms: int) -> Loop | None:
    """Read the loop of a worktree; ``None`` if there is none."""
    state = files.read(loop_path(top), top)
    if state.fields is None and not state.problem:
        return None
    fields, age = state.fields or {}, file_age(state, now_ms)
    status = as_text(fields.get("status"), WORD) or (
        UNKNOWN if state.fields is not None else ""
    )
    pid = as_number(fields.get("terminal_pid"), _MAX_PID)
    iterations = as_list(fields.get("iterations"))
    is_working = status in WORKING
    return Loop(
        status=status,
        change_id=as_text(fields.get("change") or fields.get("change_id"), WORD),
        number=as_number(fields.get("current_iteration")),
        limit=as_number(fields.get("max_iterations")),
        orphaned=is_working and pid is not None and _is_gone(pid, age.age),
        state_age=age._replace(stale=is_working and (age.age or 0) > _STALE_SECONDS),
        texts=texts(fields, _TEXTS),
        total_tokens=as_number(fields.get("total_tokens")),
        terminal_pid=pid,
        iterations=tuple(_iteration(item) for item in iterations[-MAX_ITEMS:]),
        iteration_count=len(iterations),
    )


def _is_gone(pid: int, age: int | None) -> bool:
    """Whether the process has ended whose id was written ``age`` seconds ago.

    A process that started after the file was written is another one with the same id.
    The loop's own start time does not matter: it may have been resumed from another
    terminal.
    """
    if not processes.is_running(pid):
        return True
    running = processes.running_for(pid)
    return running is not None and age is not None and running + _PROCESS_SKEW < age


def _iteration(value: Any) -> dict[str, Any]:
    fields = value if isinstance(value, dict) else {}
    done_check = fields.get("done_check")
    commits = (
        as_text(item, WORD) for item in as_list(fields.get("commits"))[:MAX_ITEMS]
    )
    return {
        **without_empty({"n": as_number(fields.get("n"))}),
        **texts(fields, {"started": WORD, "ended": WORD}),
        "done_check": done_check if isinstance(done_check, bool) else None,
        "commits": [commit for commit in commits if commit],
        **without_empty({"tokens_used": as_number(fields.get("tokens_used"))}),
    }
