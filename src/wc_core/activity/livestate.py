"""What tools beside wc say of the work in a worktree: agents' activity, the team.

The files are theirs, and so are the formats: what is missing, of another type
or unknown is left out or shown as it is, and never an error. Times stay as
they were written, with their zone. Every text is clean and on one line.
`wc_core.activity.loops` has the autonomous loops.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, NamedTuple

from wc_core.text import one_line
from wc_core.times import milliseconds, seconds_between

if TYPE_CHECKING:
    from collections.abc import Mapping

    from wc_core.activity.statefile import Found, StateFiles

_STALE = 300
# Of a clock that is off: a time from further in the future is none.
_SKEW_MS = 60_000

_TEXT = 1000
WORD = 200
MAX_ITEMS = 20
_MAX_MEMBERS = 200
_MAX_NUMBER = 1 << 53


class StateAge(NamedTuple):
    """How fresh something is that was read from a file.

    ``age`` is in seconds, ``None`` where that is unknown. ``last_good`` and
    ``problem`` are those of `statefile.Found`.
    """

    age: int | None
    stale: bool = False
    last_good: bool = False
    problem: str = ""

    def to_json(self) -> dict[str, Any]:
        """The age always, the rest where there is something to say."""
        marks = {"stale": self.stale, "last_good": self.last_good}
        fields: dict[str, Any] = {"age_seconds": self.age}
        fields |= {key: True for key, said in marks.items() if said}
        return fields | ({"problem": self.problem} if self.problem else {})


class Activity(NamedTuple):
    """What an agent was last seen at."""

    skill: str
    skill_args: str
    broadcast: str
    files: tuple[str, ...]
    file_count: int
    updated_at: str
    seen: StateAge

    def to_json(self) -> dict[str, Any]:
        """What is known of it; of the files the first twenty."""
        fields = {
            "skill": self.skill,
            "skill_args": self.skill_args,
            "broadcast": self.broadcast,
            "modified_files": list(self.files) or None,
            "modified_count": self.file_count or None,
            "updated_at": self.updated_at,
        }
        return known(fields) | self.seen.to_json()


class Member(NamedTuple):
    """Somebody of the team, on this or another machine."""

    member: str
    full: str
    agent_status: str
    change_id: str
    project: str
    broadcast: str
    activity: str
    last_seen: str
    seen: StateAge

    def to_json(self) -> dict[str, Any]:
        """What is known of them."""
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
        return known(fields) | self.seen.to_json()


class Team(NamedTuple):
    """The team as its file has it; ``found`` says whether there is one."""

    members: tuple[Member, ...]
    total: int
    updated_at: str
    found: bool
    seen: StateAge

    def to_json(self) -> dict[str, Any]:
        """The members, at most 200 of them."""
        fields: dict[str, Any] = {
            "found": self.found,
            "members": [one.to_json() for one in self.members],
        }
        if self.updated_at:
            fields["updated_at"] = self.updated_at
        if self.total > len(self.members):
            fields |= {"total": self.total, "truncated": True}
        return fields | self.seen.to_json()


def activity_path(top: str) -> str:
    """The file of a worktree's activity."""
    return f"{top}/.claude/activity.json"


def team_path(env: Mapping[str, str]) -> str:
    """The team's file of this user; empty where there is no place for it."""
    cache = env.get("XDG_CACHE_HOME", "")
    if not cache.startswith("/"):  # the specification: such a value is ignored
        home = env.get("HOME", "")
        cache = f"{home}/.cache" if home.startswith("/") else ""
    return f"{cache}/wt-tools/team_status.json" if cache else ""


def activity(files: StateFiles, top: str, now_ms: int) -> Activity | None:
    """What goes on in a worktree; ``None`` where nothing says so."""
    found = files.read(activity_path(top), top)
    if found.fields is None and not found.problem:
        return None
    said = found.fields or {}
    names = said.get("modified_files")
    names = names if isinstance(names, list) else []
    updated = as_text(said.get("updated_at"), WORD)
    return Activity(
        skill=as_text(said.get("skill"), WORD),
        skill_args=as_text(said.get("skill_args"), WORD),
        broadcast=as_text(said.get("broadcast")),
        files=tuple(as_text(one, WORD) for one in names[:MAX_ITEMS]),
        file_count=len(names),
        updated_at=updated,
        seen=_aged(seen_in(found, now_ms), updated, now_ms),
    )


def team(files: StateFiles, env: Mapping[str, str], now_ms: int) -> Team:
    """The team of this user."""
    path = team_path(env)
    found = files.read(path, os.path.dirname(path))
    said = found.fields or {}
    updated = as_text(said.get("updated_at"), WORD)
    members = said.get("members")
    if isinstance(members, dict):
        members = [{"member": name, **_as_dict(one)} for name, one in members.items()]
    elif not isinstance(members, list):
        members = []
    seen = _aged(seen_in(found, now_ms), updated, now_ms)
    return Team(
        members=tuple(_member(one, seen, now_ms) for one in members[:_MAX_MEMBERS]),
        total=len(members),
        updated_at=updated,
        found=found.fields is not None or bool(found.problem),
        seen=seen,
    )


def _as_dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {"activity": value}


def _member(value: Any, file: StateAge, now_ms: int) -> Member:
    said = value if isinstance(value, dict) else {"member": value}
    last_seen = as_text(said.get("last_seen"), WORD)
    own = _aged(StateAge(file.age), last_seen, now_ms)
    return Member(
        member=as_text(said.get("member"), WORD),
        full=as_text(said.get("member_full"), WORD),
        agent_status=as_text(said.get("agent_status"), WORD),
        change_id=as_text(said.get("change_id") or said.get("change"), WORD),
        project=as_text(said.get("project"), WORD),
        broadcast=as_text(said.get("broadcast")),
        activity=as_text(said.get("activity")),
        last_seen=last_seen,
        seen=own,
    )


def seen_in(found: Found, now_ms: int) -> StateAge:
    """How old the file is."""
    age = None if found.changed_ms < 0 else seconds_between(found.changed_ms, now_ms)
    return StateAge(age, last_good=found.last_good, problem=found.problem)


def _aged(seen: StateAge, said: str, now_ms: int) -> StateAge:
    """The same by the time that is said, where it has a zone and is not from
    the future: a file may be a copy, younger than what it says."""
    moment = milliseconds(said, zoned=True) if said else None
    if moment is not None and moment <= now_ms + _SKEW_MS:
        seen = seen._replace(age=seconds_between(moment, now_ms))
    return seen._replace(stale=seen.age is not None and seen.age > _STALE)


def as_text(value: Any, width: int = _TEXT) -> str:
    """Any JSON value as one clean line; empty for none."""
    if isinstance(value, dict):
        pairs = [(key, _scalar(one)) for key, one in [*value.items()][:MAX_ITEMS]]
        text = "; ".join(f"{key}: {one}" for key, one in pairs if one)
    elif isinstance(value, list):
        text = "; ".join(part for one in value[:MAX_ITEMS] if (part := _scalar(one)))
    else:
        text = _scalar(value)
    # Cut first: of a huge text only the beginning is worth looking through.
    return one_line(text[: 4 * width], width)


def _scalar(value: Any) -> str:
    """A value as JSON writes it; what is nested deeper as dots."""
    if value is None or isinstance(value, str):
        return value or ""
    if isinstance(value, bool):
        return str(value).lower()
    return "…" if isinstance(value, (dict, list)) else str(value)


def as_number(value: Any, limit: int = _MAX_NUMBER) -> int | None:
    """A whole number from 0 on, below ``limit``; ``None`` for anything else."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        return None
    return value if 0 <= value < limit else None


def known(fields: dict[str, Any]) -> dict[str, Any]:
    """The fields that say something."""
    return {key: value for key, value in fields.items() if value not in (None, "")}
