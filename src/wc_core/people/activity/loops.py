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
    WORD,
    StateAge,
    as_number,
    as_text,
    file_age,
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


class Iteration(NamedTuple):
    """One iteration of a loop."""

    number: int | None
    started: str
    ended: str
    done_check: bool | None
    commits: tuple[str, ...]
    tokens: int | None

    def to_json(self) -> dict[str, Any]:
        """The known fields. ``done_check`` and ``commits`` are always present: whether
        the loop's goal was reached, ``None`` if that was not checked, and the ids of
        the commits."""
        return {
            **without_empty(
                {"n": self.number, "started": self.started, "ended": self.ended}
            ),
            "done_check": self.done_check,
            "commits": list(self.commits),
            **without_empty({"tokens_used": self.tokens}),
        }


class Loop(NamedTuple):
    """An autonomous loop; ``status`` is empty if its file cannot be read.

    ``orphaned`` if its status is that of a running loop, but its process has ended.
    """

    status: str
    change_id: str
    number: int | None
    limit: int | None
    orphaned: bool
    state_age: StateAge
    task: str = ""
    done_criteria: str = ""
    started_at: str = ""
    waiting_since: str = ""
    stall_reason: str = ""
    total_tokens: int | None = None
    terminal_pid: int | None = None
    iterations: tuple[Iteration, ...] = ()
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
            "task": one_line(self.task, WORD),
            "waiting_since": self.waiting_since,
            "stall_reason": one_line(self.stall_reason, WORD),
        }
        return without_empty(fields) | self.state_age.to_json()

    def details(self) -> dict[str, Any]:
        """All fields; of the iterations the last twenty."""
        fields = {
            "change_id": self.change_id,
            **self.to_json(),
            "task": self.task,
            "done_criteria": self.done_criteria,
            "started_at": self.started_at,
            "stall_reason": self.stall_reason,
            "total_tokens": self.total_tokens,
            "terminal_pid": self.terminal_pid,
            "iteration_count": self.iteration_count or None,
            "iterations": [iteration.to_json() for iteration in self.iterations]
            or None,
        }
        # The age is present even if it is unknown.
        return {"age_seconds": None, **without_empty(fields)}


def loop_path(top: str) -> str:
    """The file of a worktree's loop."""
    return f"{top}/.claude/loop-state.json"


def loop(files: StateFiles, top: str, now_ms: int) -> Loop | None:
    """Read the loop of a worktree; ``None`` if there is none."""
    state = files.read(loop_path(top), top)
    if state.fields is None:
        if not state.problem:
            return None
        return _loop("", {}, file_age(state, now_ms))
    status = as_text(state.fields.get("status"), WORD)
    return _loop(status or UNKNOWN, state.fields, file_age(state, now_ms))


def _loop(status: str, fields: Mapping[str, Any], state_age: StateAge) -> Loop:
    """The loop with the fields of its file, which was written ``state_age`` ago."""
    pid = as_number(fields.get("terminal_pid"), _MAX_PID)
    iterations = fields.get("iterations")
    iterations = iterations if isinstance(iterations, list) else []
    is_working = status in WORKING
    orphaned = is_working and pid is not None and _is_gone(pid, state_age.age)
    stale = is_working and (state_age.age or 0) > _STALE_SECONDS
    return Loop(
        status=status,
        change_id=as_text(fields.get("change") or fields.get("change_id"), WORD),
        number=as_number(fields.get("current_iteration")),
        limit=as_number(fields.get("max_iterations")),
        orphaned=orphaned,
        state_age=state_age._replace(stale=stale),
        task=as_text(fields.get("task")),
        done_criteria=as_text(fields.get("done_criteria")),
        started_at=as_text(fields.get("started_at"), WORD),
        waiting_since=as_text(fields.get("waiting_since"), WORD),
        stall_reason=as_text(fields.get("stall_reason")),
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


def _iteration(value: Any) -> Iteration:
    fields = value if isinstance(value, dict) else {}
    done_check, commits = fields.get("done_check"), fields.get("commits")
    commits = commits if isinstance(commits, list) else []
    ids = (as_text(commit, WORD) for commit in commits[:MAX_ITEMS])
    return Iteration(
        number=as_number(fields.get("n")),
        started=as_text(fields.get("started"), WORD),
        ended=as_text(fields.get("ended"), WORD),
        done_check=done_check if isinstance(done_check, bool) else None,
        commits=tuple(commit for commit in ids if commit),
        tokens=as_number(fields.get("tokens_used")),
    )
