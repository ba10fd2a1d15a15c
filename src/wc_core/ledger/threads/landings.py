"""Landings: what became of putting a thread's branch on another branch."""

from __future__ import annotations

from wc_core.base.values import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# Why a landing failed, or that it was decided not to land the branch.
CONFLICT, CHECK, DROPPED = "conflict", "check", "dropped"


class Landing(NamedTuple):
    """An attempt to land a branch.

    ``onto`` is the branch that it was to land on, ``base`` the commit of that branch
    then, ``tip`` the commit of the thread's branch. ``commit`` is what ``onto`` points
    to since; empty if the attempt failed, because of the ``problem``: ``conflict`` or
    ``check``; or if there is to be none: ``dropped``. In a state, ``failures`` counts
    the latest attempts in a row that failed; an entry does not have it.
    """

    onto: str = ""
    base: str = ""
    tip: str = ""
    commit: str = ""
    problem: str = ""
    failures: int = 0

    @property
    def is_over(self) -> bool:
        """Whether the branch waits for no one: it has landed, or is not to."""
        return bool(self.commit) or self.problem == DROPPED


NO_LANDING = Landing()
_LOGGED = Landing._fields[:-1]


def landed(earlier: Landing, latest: Landing) -> Landing:
    """The landing of a thread after an entry with its latest one."""
    if latest.is_over:
        return latest
    return latest._replace(failures=earlier.failures + 1)


def landing_fields(landing: Landing) -> dict[str, str]:
    """A landing in its form in a log, without empty fields."""
    values = landing._asdict()
    return {name: values[name] for name in _LOGGED if values[name]}


def read_landing(value: Any) -> Landing | None:
    """A landing from a log; ``None`` for another shape."""
    if not isinstance(value, dict) or not value.keys() <= {*_LOGGED}:
        return None
    if not all(isinstance(text, str) and text for text in value.values()):
        return None
    is_complete = {"onto", "tip"} <= value.keys()
    has_one_end = ("commit" in value) != ("problem" in value)
    return Landing(**value) if is_complete and has_one_end else None
