"""Autonomous loops: what the one in a worktree says of itself.

``<worktree>/.claude/loop-state.json`` is written by the tool that runs the
loop; see `wc_core.activity.livestate` for how such files are taken.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from wc_core import processes
from wc_core.activity.livestate import (
    MAX_ITEMS,
    WORD,
    StateAge,
    as_number,
    as_text,
    known,
    seen_in,
)
from wc_core.text import one_line

if TYPE_CHECKING:
    from wc_core.activity.statefile import Found, StateFiles

WAITING_FOR_HUMAN = "waiting:human"
# What an autonomous loop says of itself while its process is at work.
WORKING = frozenset({"starting", "running"})
ENDED = frozenset({"done", "stopped"})
# It says none.
UNKNOWN = "unknown"
# What can be asked of these stands behind a colon.
_WAITING = "waiting:"

# An iteration may take its time; a loop that says nothing for so long is no news.
_STALE = 3600
_PROCESS_SKEW = 2.0
# As many digits as the status line takes.
_MAX_PID = 1_000_000_000


class Iteration(NamedTuple):
    """One turn of a loop."""

    number: int | None
    started: str
    ended: str
    done_check: str
    commits: int | None
    tokens: int | None

    def to_json(self) -> dict[str, Any]:
        """What is known of it."""
        fields = {
            "n": self.number,
            "started": self.started,
            "ended": self.ended,
            "done_check": self.done_check,
            "commits": self.commits,
            "tokens_used": self.tokens,
        }
        return known(fields)


class Loop(NamedTuple):
    """An autonomous loop; ``status`` is empty where its file cannot be read.

    ``orphaned`` says that it should be at work and its process is gone.
    """

    status: str
    change_id: str
    number: int | None
    limit: int | None
    orphaned: bool
    seen: StateAge
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
        """Whether nothing goes on until a person answers."""
        return self.status == WAITING_FOR_HUMAN

    @property
    def says(self) -> str:
        """The state in words, such as ``waits for a human``."""
        if not self.status:
            return f"its state {self.seen.problem or 'is not said'}"
        if self.orphaned:
            return f"orphaned: it says {self.status} but its process is gone"
        if self.waits_for_human:
            return "waits for a human"
        if self.status.startswith(_WAITING):
            return f"waits for {self.status.removeprefix(_WAITING)}"
        return f"ended: {self.status}" if self.status in ENDED else self.status

    @property
    def turn(self) -> str:
        """``3/10``, ``3``, or nothing."""
        if self.number is None:
            return ""
        return f"{self.number}" if self.limit is None else f"{self.number}/{self.limit}"

    def to_json(self) -> dict[str, Any]:
        """What a list shows of it."""
        fields = {
            "status": self.status,
            "says": self.says,
            "waits_for_human": self.waits_for_human or None,
            "orphaned": self.orphaned or None,
            "iteration": self.number,
            "max_iterations": self.limit,
            "task": one_line(self.task, WORD),
            "waiting_since": self.waiting_since,
            "stall_reason": one_line(self.stall_reason, WORD),
        }
        return known(fields) | self.seen.to_json()

    def details(self) -> dict[str, Any]:
        """Everything; of the iterations the last twenty."""
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
            "iterations": [one.to_json() for one in self.iterations] or None,
        }
        # The age is there even where nobody knows it.
        return {"age_seconds": None, **known(fields)}


def loop_path(top: str) -> str:
    """The file of a worktree's loop."""
    return f"{top}/.claude/loop-state.json"


def loop(files: StateFiles, top: str, now_ms: int) -> Loop | None:
    """The loop of a worktree; ``None`` where there is none."""
    found = files.read(loop_path(top), top)
    if found.fields is None and not found.problem:
        return None
    said = found.fields or {}
    status = as_text(said.get("status"), WORD)
    pid = as_number(said.get("terminal_pid"), _MAX_PID)
    seen = seen_in(found, now_ms)
    orphaned = status in WORKING and pid is not None and _is_gone(pid, seen.age)
    turns = said.get("iterations")
    turns = turns if isinstance(turns, list) else []
    quiet = status in WORKING and (seen.age or 0) > _STALE
    return Loop(
        status=status or _unsaid(found),
        change_id=as_text(said.get("change") or said.get("change_id"), WORD),
        number=as_number(said.get("current_iteration")),
        limit=as_number(said.get("max_iterations")),
        orphaned=orphaned,
        seen=seen._replace(stale=quiet),
        task=as_text(said.get("task")),
        done_criteria=as_text(said.get("done_criteria")),
        started_at=as_text(said.get("started_at"), WORD),
        waiting_since=as_text(said.get("waiting_since"), WORD),
        stall_reason=as_text(said.get("stall_reason")),
        total_tokens=as_number(said.get("total_tokens")),
        terminal_pid=pid,
        iterations=tuple(_iteration(one) for one in turns[-MAX_ITEMS:]),
        iteration_count=len(turns),
    )


def _unsaid(found: Found) -> str:
    """The status of a loop that says none; empty where it cannot be read."""
    return "" if found.fields is None else UNKNOWN


def _is_gone(pid: int, age: int | None) -> bool:
    """Whether the process is gone that a file named ``age`` seconds ago.

    One that began after the file was written has its number and is another
    one. When the loop was started does not count: it may have been resumed
    from another terminal.
    """
    if not processes.is_running(pid):
        return True
    running = processes.running_for(pid)
    return running is not None and age is not None and running + _PROCESS_SKEW < age


def _iteration(value: Any) -> Iteration:
    said = value if isinstance(value, dict) else {}
    commits = said.get("commits")
    return Iteration(
        number=as_number(said.get("n")),
        started=as_text(said.get("started"), WORD),
        ended=as_text(said.get("ended"), WORD),
        done_check=as_text(said.get("done_check"), WORD),
        commits=len(commits) if isinstance(commits, list) else as_number(commits),
        tokens=as_number(said.get("tokens_used")),
    )
