"""Reads the files of other tools: the loop and the agent in a worktree, and the team.

The formats are those of the tools. What is known is returned as the fields of answers.
A field that is missing or of another type is left out, an unknown word is shown
unchanged, and nothing is an error. Times stay as they were written, with their zone.
Every text is clean and on one line.

All fields have ``age_seconds``, ``None`` if unknown; ``stale`` if that is long;
``problem`` if the file cannot be read now, and ``last_good`` if the fields are from
before that.

Some tools truncate a file and write it again, so a reader may find half of it, or
nothing. An unreadable file is tried again for some milliseconds. After that the result
is its last good state.
"""

from __future__ import annotations

import os
import time

from wc_core.base import processes
from wc_core.base.files import Folder
from wc_core.base.text import one_line
from wc_core.base.times import elapsed, milliseconds
from wc_core.base.values import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

WAITING_FOR_HUMAN = "waiting:human"
# The statuses of a loop whose process is running.
WORKING = frozenset({"starting", "running"})
ENDED = frozenset({"done", "stopped"})
# The status of a loop whose file has none.
UNKNOWN = "unknown"
# The prefix of a status such as "waiting:human".
_WAITING = "waiting:"

# A hundred times the size of any such file: a larger one is something else.
MAX_BYTES = 1 << 20
# Seconds before each further attempt to read a file that is being written.
_RETRY_DELAYS = (
    *(0.0002, 0.0003, 0.0005, 0.0005, 0.0005),
    *(0.0005, 0.0005, 0.001, 0.001),
)
# Seconds after the last change until a write is no longer in progress.
_WRITE_SECONDS = 2.0
# The number of files whose last good states are kept.
_MAX_KEPT = 1000

REWRITTEN = "is being rewritten right now"
_BROKEN = "is not JSON, and is not being written"
_NO_OBJECT = "holds no JSON object"

_STALE_SECONDS = 300
# An iteration may take long. After this time without a change, a loop is stale.
_STALE_LOOP_SECONDS = 3600
# Clocks may differ by this much; a time further in the future does not count.
_SKEW_MS = 60_000
_PROCESS_SKEW = 2.0

_TEXT, _WORD = 1000, 200
_MAX_ITEMS = 20
_MAX_MEMBERS = 200
_MAX_NUMBER = 1 << 53
_MAX_PID = 1_000_000_000

# The texts in a file, each with the most characters that are shown.
_ACTIVITY = {"skill": _WORD, "skill_args": _WORD, "broadcast": _TEXT}
_MEMBER = {
    "member": _WORD,
    "member_full": _WORD,
    "agent_status": _WORD,
    "change_id": _WORD,
    "project": _WORD,
    "broadcast": _TEXT,
    "activity": _TEXT,
    "last_seen": _WORD,
}
_LOOP = {
    "task": _TEXT,
    "done_criteria": _TEXT,
    "started_at": _WORD,
    "waiting_since": _WORD,
    "stall_reason": _TEXT,
}
# The fields of a loop that a single loop shows, and a list does not.
_DETAILS = frozenset(
    {
        *("change_id", "done_criteria", "started_at", "total_tokens", "terminal_pid"),
        *("iteration_count", "iterations"),
    }
)


class FileState(NamedTuple):
    """The state in a file.

    ``fields`` is its JSON object, ``None`` if there is none. ``changed_ms`` is when the
    file with this object was written, -1 if unknown. ``problem`` is why the file cannot
    be read now; ``last_good`` if the fields are from before that. Everything is empty
    if there is no file.
    """

    fields: dict[str, Any] | None = None
    changed_ms: int = -1
    problem: str = ""
    last_good: bool = False

    def age(self, now_ms: int) -> int | None:
        """The seconds since the file was written, ``None`` if unknown."""
        return None if self.changed_ms < 0 else elapsed(self.changed_ms, now_ms)

    def marks(self) -> dict[str, Any]:
        """Why there is no newer state, as fields of an answer."""
        marks = {"last_good": self.last_good, "problem": self.problem}
        return {key: value for key, value in marks.items() if value}


ABSENT = FileState()


class StateFiles:
    """Reads such files, and keeps the last good state of each.

    Threads may share a reader: each change of the kept states is a single step.
    """

    def __init__(self) -> None:
        self._kept: dict[str, FileState] = {}

    def read(self, path: str, root: str) -> FileState:
        """Read a file. Returns its state, or the last good one.

        Raises nothing, and reads nothing outside ``root``.
        """
        try:
            with Folder(os.path.dirname(path), root) as folder:
                state = self._read(folder, path)
        except OSError as error:
            state = FileState(problem=error.strerror or "cannot be read")
        kept = self._kept.get(path)
        if state.fields is not None:
            self._kept[path] = state
            for oldest in list(self._kept)[:-_MAX_KEPT]:
                self._kept.pop(oldest, None)
        elif state == ABSENT:
            self._kept.pop(path, None)
        elif kept is not None:
            return kept._replace(problem=state.problem, last_good=True)
        return state

    def _read(self, folder: Folder, path: str) -> FileState:
        """Try to read a file until there is a state, or it stopped changing."""
        state, may_change = _attempt(folder, path)
        if state == ABSENT and path not in self._kept:
            return ABSENT
        for delay in _RETRY_DELAYS:
            if state.fields is not None or not may_change:
                break
            time.sleep(delay)
            state, may_change = _attempt(folder, path)
        return state


def _attempt(folder: Folder, path: str) -> tuple[FileState, bool]:
    """Try once to read a file. Returns its state, and whether another attempt may have
    another result."""
    changed_ms = folder.changed_ns(path) // 1_000_000
    data = folder.read(path, MAX_BYTES)
    if data is None:
        # Some tools remove a file before they put the new one in its place.
        return ABSENT, True
    is_recent = folder.is_recent(path, _WRITE_SECONDS)
    # Only two equal readings are from one moment. Otherwise, the end of a file that is
    # being written could follow the beginning of an older one.
    if is_recent and folder.read(path, MAX_BYTES) != data:
        return FileState(None, changed_ms, REWRITTEN), True
    fields, problem = _parse_object(data)
    if is_recent and problem == _BROKEN:
        problem = REWRITTEN
    return FileState(fields, changed_ms, problem), is_recent


def _parse_object(data: bytes) -> tuple[dict[str, Any] | None, str]:
    """Decode the JSON object in a file, or return the problem.

    Any encoding that JSON allows is accepted, with U+FFFD for invalid bytes.
    """
    import json  # 2 ms, only where there is such a file

    try:
        text = data.decode(json.detect_encoding(data), errors="replace")
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None, _BROKEN
    return (value, "") if isinstance(value, dict) else (None, _NO_OBJECT)


def loop_path(top: str) -> str:
    """The file of a worktree's loop."""
    return f"{top}/.claude/loop-state.json"


def loop(files: StateFiles, top: str, now_ms: int) -> dict[str, Any]:
    """Read the loop of a worktree; empty if there is none. Without a ``status``, its
    file cannot be read.

    ``says`` is the state in words, ``orphaned`` if its status is that of a running
    loop, but its process has ended. Of the iterations there are the last twenty; each
    has ``done_check``, whether the loop's goal was reached (``None``: not checked),
    and ``commits``.
    """
    state = files.read(loop_path(top), top)
    if state == ABSENT:
        return {}
    fields, age = state.fields or {}, state.age(now_ms)
    status = _as_text(fields.get("status"), _WORD)
    status = status or ("" if state.fields is None else UNKNOWN)
    pid = _as_number(fields.get("terminal_pid"), _MAX_PID)
    iterations = _as_list(fields.get("iterations"))
    is_working = status in WORKING
    orphaned = is_working and pid is not None and _is_gone(pid, age)
    answer = {
        "change_id": _as_text(fields.get("change") or fields.get("change_id"), _WORD),
        "status": status,
        "says": _summary(status, state.problem, orphaned=orphaned),
        "waits_for_human": status == WAITING_FOR_HUMAN or None,
        "orphaned": orphaned or None,
        "iteration": _as_number(fields.get("current_iteration")),
        "max_iterations": _as_number(fields.get("max_iterations")),
        **_texts(fields, _LOOP),
        "total_tokens": _as_number(fields.get("total_tokens")),
        "terminal_pid": pid,
        "iteration_count": len(iterations) or None,
        "iterations": [_iteration(item) for item in iterations[-_MAX_ITEMS:]] or None,
        "stale": (is_working and (age or 0) > _STALE_LOOP_SECONDS) or None,
    }
    return {"age_seconds": age, **_without_empty(answer), **state.marks()}


def listed(loop: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a loop that a list shows."""
    fields = {key: value for key, value in loop.items() if key not in _DETAILS}
    short = {key: one_line(fields[key], _WORD) for key in _LOOP if key in fields}
    return fields | short


def turn(loop: Mapping[str, Any]) -> str:
    """The current iteration of a loop: ``3/10``, ``3``, or empty."""
    numbers = (loop.get("iteration"), loop.get("max_iterations"))
    texts = [str(number) for number in numbers if number is not None]
    return "/".join(texts) if numbers[0] is not None else ""


def _summary(status: str, problem: str, *, orphaned: bool) -> str:
    """The state of a loop in words, such as ``waits for a human``."""
    if not status:
        return f"its state {problem or 'is unknown'}"
    if orphaned:
        return f"orphaned: its status is {status} but its process has ended"
    if status == WAITING_FOR_HUMAN:
        return "waits for a human"
    if status.startswith(_WAITING):
        return f"waits for {status.removeprefix(_WAITING)}"
    return f"ended: {status}" if status in ENDED else status


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
        _as_text(item, _WORD) for item in _as_list(fields.get("commits"))[:_MAX_ITEMS]
    )
    return {
        **_without_empty({"n": _as_number(fields.get("n"))}),
        **_texts(fields, {"started": _WORD, "ended": _WORD}),
        "done_check": done_check if isinstance(done_check, bool) else None,
        "commits": [commit for commit in commits if commit],
        **_without_empty({"tokens_used": _as_number(fields.get("tokens_used"))}),
    }


def activity(files: StateFiles, top: str, now_ms: int) -> dict[str, Any]:
    """Read the activity in a worktree, with the first twenty of the changed files;
    empty if there is no file."""
    state = files.read(f"{top}/.claude/activity.json", top)
    if state == ABSENT:
        return {}
    fields = state.fields or {}
    names = _as_list(fields.get("modified_files"))
    answer = {
        **_texts(fields, _ACTIVITY),
        "modified_files": [_as_text(name, _WORD) for name in names[:_MAX_ITEMS]],
        "modified_count": len(names),
        "updated_at": (updated := _as_text(fields.get("updated_at"), _WORD)),
    }
    answer = {key: value for key, value in answer.items() if value}
    return {
        **answer,
        **_age_fields(state.age(now_ms), updated, now_ms),
        **state.marks(),
    }


def team_path(env: Mapping[str, str]) -> str:
    """The file of this user's team; empty without a cache folder."""
    cache = env.get("XDG_CACHE_HOME", "")
    if not cache.startswith("/"):  # to be ignored, by the XDG specification
        home = env.get("HOME", "")
        cache = f"{home}/.cache" if home.startswith("/") else ""
    return f"{cache}/wt-tools/team_status.json" if cache else ""


def team(files: StateFiles, env: Mapping[str, str], now_ms: int) -> dict[str, Any]:
    """Read the team of this user: members in a list, or in an object by their names,
    where a plain value is the activity. ``found`` if there is a file, ``total`` if it
    has more members than the first 200."""
    path = team_path(env)
    state = files.read(path, os.path.dirname(path))
    fields = state.fields or {}
    updated = _as_text(fields.get("updated_at"), _WORD)
    members = fields.get("members")
    if isinstance(members, dict):
        members = [
            {
                "member": name,
                **(value if isinstance(value, dict) else {"activity": value}),
            }
            for name, value in members.items()
        ]
    members, age = _as_list(members), state.age(now_ms)
    age_fields = _age_fields(age, updated, now_ms)
    age = age_fields["age_seconds"]
    visible = [_member(value, age, now_ms) for value in members[:_MAX_MEMBERS]]
    cut = len(visible) < len(members)
    return {
        "found": state != ABSENT,
        "members": visible,
        **_without_empty({"updated_at": updated}),
        **({"total": len(members), "truncated": True} if cut else {}),
        **age_fields,
        **state.marks(),
    }


def _member(value: Any, age: int | None, now_ms: int) -> dict[str, Any]:
    fields = value if isinstance(value, dict) else {"member": value}
    fields = {**fields, "change_id": fields.get("change_id") or fields.get("change")}
    member = _texts(fields, _MEMBER)
    return {**member, **_age_fields(age, member.get("last_seen", ""), now_ms)}


def _age_fields(age: int | None, written: str, now_ms: int) -> dict[str, Any]:
    """The age from a time in the file, otherwise that of the file, and whether it is
    stale.

    That time counts if it has a zone and is not in the future: the file may be a copy,
    and younger than its contents.
    """
    moment = milliseconds(written, zoned=True) if written else None
    if moment is not None and moment <= now_ms + _SKEW_MS:
        age = elapsed(moment, now_ms)
    is_stale = age is not None and age > _STALE_SECONDS
    return {"age_seconds": age, **({"stale": True} if is_stale else {})}


def _texts(fields: Mapping[str, Any], widths: Mapping[str, int]) -> dict[str, str]:
    """The texts of some fields, each with its width, without empty ones."""
    pairs = {name: _as_text(fields.get(name), widths[name]) for name in widths}
    return _without_empty(pairs)


def _as_list(value: Any) -> list[Any]:
    """A JSON list; empty for anything else."""
    return value if isinstance(value, list) else []


def _as_text(value: Any, width: int) -> str:
    """Any JSON value as one clean line; empty for ``None``."""
    if isinstance(value, dict):
        pairs = [(key, _scalar_text(item)) for key, item in value.items()]
        text = "; ".join(f"{key}: {part}" for key, part in pairs[:_MAX_ITEMS] if part)
    elif isinstance(value, list):
        text = "; ".join(filter(None, map(_scalar_text, value[:_MAX_ITEMS])))
    else:
        text = _scalar_text(value)
    # Cut before cleaning, because a text may be huge.
    return one_line(text[: 4 * width], width)


def _scalar_text(value: Any) -> str:
    """A value in the form of JSON; an object or a list is ``…``."""
    if value is None or isinstance(value, str):
        return value or ""
    if isinstance(value, bool):
        return str(value).lower()
    return "…" if isinstance(value, (dict, list)) else str(value)


def _as_number(value: Any, limit: int = _MAX_NUMBER) -> int | None:
    """A whole number, 0 or more, below ``limit``; ``None`` for anything else."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        return None
    return value if 0 <= value < limit else None


def _without_empty(fields: dict[str, Any]) -> dict[str, Any]:
    """The fields that have a value."""
    return {key: value for key, value in fields.items() if value not in (None, "")}
