"""Reads files of other tools: an agent's activity in a worktree, and the team.

The formats are those of the tools. A field that is missing or of another type is left
out, an unknown word is shown unchanged, and nothing is an error. Times stay as they
were written, with their zone. Every text is clean and on one line.
`wc_core.people.activity.loops` reads autonomous loops.
"""

from __future__ import annotations

import os

from wc_core.base.text import one_line
from wc_core.base.times import elapsed, milliseconds
from wc_core.base.values import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from wc_core.people.activity.statefile import FileState, StateFiles

_STALE_SECONDS = 300
# Clocks may differ by this much; a time further in the future does not count.
_SKEW_MS = 60_000

TEXT, WORD = 1000, 200
MAX_ITEMS = 20
_MAX_MEMBERS = 200
_MAX_NUMBER = 1 << 53

# The texts in a file, each with the most characters that are shown.
_ACTIVITY = {"skill": WORD, "skill_args": WORD, "broadcast": TEXT}
_MEMBER = {
    "member": WORD,
    "member_full": WORD,
    "agent_status": WORD,
    "change_id": WORD,
    "project": WORD,
    "broadcast": TEXT,
    "activity": TEXT,
    "last_seen": WORD,
}


class StateAge(NamedTuple):
    """How fresh the state from a file is.

    ``age`` is in seconds, ``None`` if unknown. ``last_good`` and ``problem`` are those
    of `statefile.FileState`.
    """

    age: int | None
    stale: bool = False
    last_good: bool = False
    problem: str = ""

    def to_json(self) -> dict[str, Any]:
        """The JSON fields: always the age, others only if they are set."""
        marks = {"stale": self.stale, "last_good": self.last_good}
        fields: dict[str, Any] = {"age_seconds": self.age}
        fields |= {key: True for key, is_set in marks.items() if is_set}
        return fields | ({"problem": self.problem} if self.problem else {})


class AgentState(NamedTuple):
    """The last known activity of an agent, or a member of the team: the fields that are
    known, by their names in answers."""

    fields: Mapping[str, Any]
    state_age: StateAge

    def text(self, name: str) -> str:
        """The text of a field; empty if it is not known."""
        return str(self.fields.get(name, ""))

    def to_json(self) -> dict[str, Any]:
        """The known fields."""
        return {**self.fields, **self.state_age.to_json()}


class Team(NamedTuple):
    """The team in the team's file; ``exists`` if there is such a file."""

    members: tuple[AgentState, ...]
    total: int
    updated_at: str
    exists: bool
    state_age: StateAge

    def to_json(self) -> dict[str, Any]:
        """The members, at most 200 of them."""
        fields: dict[str, Any] = {
            "found": self.exists,
            "members": [member.to_json() for member in self.members],
        }
        if self.updated_at:
            fields["updated_at"] = self.updated_at
        if self.total > len(self.members):
            fields |= {"total": self.total, "truncated": True}
        return fields | self.state_age.to_json()


def team_path(env: Mapping[str, str]) -> str:
    """The file of this user's team; empty without a cache folder."""
    cache = env.get("XDG_CACHE_HOME", "")
    if not cache.startswith("/"):  # to be ignored, by the XDG specification
        home = env.get("HOME", "")
        cache = f"{home}/.cache" if home.startswith("/") else ""
    return f"{cache}/wt-tools/team_status.json" if cache else ""


def activity(files: StateFiles, top: str, now_ms: int) -> AgentState | None:
    """Read the activity in a worktree, with the first twenty of the changed files;
    ``None`` if there is no file."""
    state = files.read(f"{top}/.claude/activity.json", top)
    if state.fields is None and not state.problem:
        return None
    names = as_list((state.fields or {}).get("modified_files"))
    updated = as_text((state.fields or {}).get("updated_at"), WORD)
    fields = {
        **texts(state.fields or {}, _ACTIVITY),
        "modified_files": [as_text(name, WORD) for name in names[:MAX_ITEMS]] or None,
        "modified_count": len(names) or None,
        "updated_at": updated,
    }
    age = _with_time(file_age(state, now_ms), updated, now_ms)
    return AgentState(without_empty(fields), age)


def team(files: StateFiles, env: Mapping[str, str], now_ms: int) -> Team:
    """Read the team of this user: members in a list, or in an object by their names,
    where a plain value is the activity."""
    path = team_path(env)
    state = files.read(path, os.path.dirname(path))
    fields = state.fields or {}
    updated = as_text(fields.get("updated_at"), WORD)
    members = fields.get("members")
    if isinstance(members, dict):
        members = [
            {
                "member": name,
                **(value if isinstance(value, dict) else {"activity": value}),
            }
            for name, value in members.items()
        ]
    members = as_list(members)
    age = _with_time(file_age(state, now_ms), updated, now_ms)
    visible = tuple(_member(value, age, now_ms) for value in members[:_MAX_MEMBERS])
    exists = state.fields is not None or bool(state.problem)
    return Team(visible, len(members), updated, exists, age)


def _member(value: Any, file_age: StateAge, now_ms: int) -> AgentState:
    fields = value if isinstance(value, dict) else {"member": value}
    fields = {**fields, "change_id": fields.get("change_id") or fields.get("change")}
    member = texts(fields, _MEMBER)
    last_seen = member.get("last_seen", "")
    return AgentState(member, _with_time(StateAge(file_age.age), last_seen, now_ms))


def file_age(state: FileState, now_ms: int) -> StateAge:
    """The age of a file, from the time of its last change."""
    age = None if state.changed_ms < 0 else elapsed(state.changed_ms, now_ms)
    return StateAge(age, last_good=state.last_good, problem=state.problem)


def _with_time(state_age: StateAge, written: str, now_ms: int) -> StateAge:
    """The age from a time in the file, and whether it is stale.

    That time counts if it has a zone and is not in the future: the file may be a copy,
    and younger than its contents.
    """
    moment = milliseconds(written, zoned=True) if written else None
    if moment is not None and moment <= now_ms + _SKEW_MS:
        state_age = state_age._replace(age=elapsed(moment, now_ms))
    age = state_age.age
    return state_age._replace(stale=age is not None and age > _STALE_SECONDS)


def texts(fields: Mapping[str, Any], widths: Mapping[str, int]) -> dict[str, str]:
    """The texts of some fields, each with its width, without empty ones."""
    pairs = {name: as_text(fields.get(name), widths[name]) for name in widths}
    return without_empty(pairs)


def as_list(value: Any) -> list[Any]:
    """A JSON list; empty for anything else."""
    return value if isinstance(value, list) else []


def as_text(value: Any, width: int = TEXT) -> str:
    """Any JSON value as one clean line; empty for ``None``."""
    if isinstance(value, dict):
        pairs = [(key, _scalar_text(item)) for key, item in value.items()]
        text = "; ".join(f"{key}: {part}" for key, part in pairs[:MAX_ITEMS] if part)
    elif isinstance(value, list):
        text = "; ".join(filter(None, map(_scalar_text, value[:MAX_ITEMS])))
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


def as_number(value: Any, limit: int = _MAX_NUMBER) -> int | None:
    """A whole number, 0 or more, below ``limit``; ``None`` for anything else."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        return None
    return value if 0 <= value < limit else None


def without_empty(fields: dict[str, Any]) -> dict[str, Any]:
    """The fields that have a value."""
    return {key: value for key, value in fields.items() if value not in (None, "")}
