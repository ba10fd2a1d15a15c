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

_TEXT = 1000
WORD = 200
MAX_ITEMS = 20
_MAX_MEMBERS = 200
_MAX_NUMBER = 1 << 53


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


class Activity(NamedTuple):
    """The last known activity of an agent."""

    skill: str
    skill_args: str
    broadcast: str
    files: tuple[str, ...]
    file_count: int
    updated_at: str
    state_age: StateAge

    def to_json(self) -> dict[str, Any]:
        """The known fields; of the files the first twenty."""
        fields = {
            "skill": self.skill,
            "skill_args": self.skill_args,
            "broadcast": self.broadcast,
            "modified_files": list(self.files) or None,
            "modified_count": self.file_count or None,
            "updated_at": self.updated_at,
        }
        return without_empty(fields) | self.state_age.to_json()


class Member(NamedTuple):
    """A member of the team, on this or another machine."""

    member: str
    full: str
    agent_status: str
    change_id: str
    project: str
    broadcast: str
    activity: str
    last_seen: str
    state_age: StateAge

    def to_json(self) -> dict[str, Any]:
        """The known fields."""
        fields = {
            "member": self.member,
            "member_full": self.full,
            "agent_status": self.agent_status,
            "change_id": self.change_id,
            "project": self.project,
            "broadcast": self.broadcast,
            "activity": self.activity,
            "last_seen": self.last_seen,
        }
        return without_empty(fields) | self.state_age.to_json()


class Team(NamedTuple):
    """The team in the team's file; ``exists`` if there is such a file."""

    members: tuple[Member, ...]
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


def activity_path(top: str) -> str:
    """The file of a worktree's activity."""
    return f"{top}/.claude/activity.json"


def team_path(env: Mapping[str, str]) -> str:
    """The file of this user's team; empty without a cache folder."""
    cache = env.get("XDG_CACHE_HOME", "")
    if not cache.startswith("/"):  # to be ignored, by the XDG specification
        home = env.get("HOME", "")
        cache = f"{home}/.cache" if home.startswith("/") else ""
    return f"{cache}/wt-tools/team_status.json" if cache else ""


def activity(files: StateFiles, top: str, now_ms: int) -> Activity | None:
    """Read the activity in a worktree; ``None`` if there is no file."""
    state = files.read(activity_path(top), top)
    if state.fields is None and not state.problem:
        return None
    fields = state.fields or {}
    names = fields.get("modified_files")
    names = names if isinstance(names, list) else []
    updated = as_text(fields.get("updated_at"), WORD)
    return Activity(
        skill=as_text(fields.get("skill"), WORD),
        skill_args=as_text(fields.get("skill_args"), WORD),
        broadcast=as_text(fields.get("broadcast")),
        files=tuple(as_text(name, WORD) for name in names[:MAX_ITEMS]),
        file_count=len(names),
        updated_at=updated,
        state_age=_with_time(file_age(state, now_ms), updated, now_ms),
    )


def team(files: StateFiles, env: Mapping[str, str], now_ms: int) -> Team:
    """Read the team of this user."""
    path = team_path(env)
    state = files.read(path, os.path.dirname(path))
    fields = state.fields or {}
    updated = as_text(fields.get("updated_at"), WORD)
    members = fields.get("members")
    if isinstance(members, dict):
        members = [
            {"member": name, **_member_fields(member)}
            for name, member in members.items()
        ]
    elif not isinstance(members, list):
        members = []
    state_age = _with_time(file_age(state, now_ms), updated, now_ms)
    return Team(
        members=tuple(
            _member(member, state_age, now_ms) for member in members[:_MAX_MEMBERS]
        ),
        total=len(members),
        updated_at=updated,
        exists=state.fields is not None or bool(state.problem),
        state_age=state_age,
    )


def _member_fields(value: Any) -> dict[str, Any]:
    """The fields of a member in an object by names; a plain value is the activity."""
    return value if isinstance(value, dict) else {"activity": value}


def _member(value: Any, file_age: StateAge, now_ms: int) -> Member:
    fields = value if isinstance(value, dict) else {"member": value}
    last_seen = as_text(fields.get("last_seen"), WORD)
    own = _with_time(StateAge(file_age.age), last_seen, now_ms)
    return Member(
        member=as_text(fields.get("member"), WORD),
        full=as_text(fields.get("member_full"), WORD),
        agent_status=as_text(fields.get("agent_status"), WORD),
        change_id=as_text(fields.get("change_id") or fields.get("change"), WORD),
        project=as_text(fields.get("project"), WORD),
        broadcast=as_text(fields.get("broadcast")),
        activity=as_text(fields.get("activity")),
        last_seen=last_seen,
        state_age=own,
    )


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


def as_text(value: Any, width: int = _TEXT) -> str:
    """Any JSON value as one clean line; empty for ``None``."""
    if isinstance(value, dict):
        pairs = [(key, _scalar_text(item)) for key, item in value.items()]
        text = "; ".join(f"{key}: {part}" for key, part in pairs[:MAX_ITEMS] if part)
    elif isinstance(value, list):
        parts = map(_scalar_text, value[:MAX_ITEMS])
        text = "; ".join(part for part in parts if part)
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
