"""How fresh a store is: what the last exchange with its remote came to.

Whoever exchanges leaves it in ``.local/sync.json``; nothing here asks git or
the network. Where the branch moved since, the counts are not known.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from wc_core import times
from wc_core.errors import WcError
from wc_core.files import names_in, read_plain
from wc_core.git import remotes, repository
from wc_core.layout import BRANCH
from wc_core.phrases import counted
from wc_core.text import one_line

if TYPE_CHECKING:
    from collections.abc import Mapping

    from wc_core.git.repository import Repository
    from wc_core.layout import Layout

_UNREADABLE = (OSError, ValueError, RecursionError)


class Freshness(NamedTuple):
    """What the last exchange left: ``ours`` and ``theirs`` are the commits then,
    ``ahead`` and ``behind`` what each had alone. ``problem`` and ``hint`` are
    empty where all went well; ``failures`` counts how often it did not since,
    ``lasting`` says that trying again is not enough. Times are RFC 3339, empty
    for never."""

    remote: str = ""
    fetched_at: str = ""
    ours: str = ""
    theirs: str = ""
    ahead: int = 0
    behind: int = 0
    problem: str = ""
    hint: str = ""
    failed_at: str = ""
    failures: int = 0
    lasting: bool = False

    def age(self, now: float) -> float:
        """Seconds since the last fetch; infinite where there was none."""
        return now - _seconds(self.fetched_at) if self.fetched_at else float("inf")

    def failed_ago(self, now: float) -> float:
        """Seconds since it last failed; infinite where all went well."""
        return now - _seconds(self.failed_at) if self.failed_at else float("inf")


class Standing(NamedTuple):
    """A store beside its remote: ``ahead`` and ``behind`` count commits, as of
    the last fetch; ``None`` where that is not known. ``tracked`` says whether
    the remote is known to have the branch; a ``lasting`` problem does not go
    away by itself; ``unsettled`` threads have entries that no commit has."""

    remote: str
    tracked: bool
    fetched_at: str = ""
    ahead: int | None = None
    behind: int | None = None
    problem: str = ""
    hint: str = ""
    lasting: bool = False
    unsettled: int = 0

    def sentence(self, now_ms: int) -> str:
        """The same for people: ``origin: in step · fetched 5m ago``."""
        facts = []
        if not self.tracked:
            facts.append("does not have the branch")
        elif self.ahead is None or self.behind is None:
            facts.append("not in step")
        else:
            facts += [f"{counted(self.ahead, 'commit')} to push"] if self.ahead else []
            facts += [f"{counted(self.behind, 'commit')} to merge"] * bool(self.behind)
            facts = facts or ["in step"] * (not self.unsettled)
        if self.unsettled:
            facts.insert(0, f"{counted(self.unsettled, 'thread')} to commit")
        if self.fetched_at:
            ago = times.age(self.fetched_at, now_ms)
            facts.append(f"fetched {'now' if ago == 'now' else f'{ago} ago'}")
        if self.problem:
            facts.append(one_line(self.problem))
        return f"{self.remote}: {' · '.join(facts)}"

    def to_json(self) -> dict[str, Any]:
        """The shape readers give."""
        return {
            "remote": self.remote,
            "fetched_at": self.fetched_at or None,
            "ahead": self.ahead,
            "behind": self.behind,
            **({"problem": self.problem} if self.problem else {}),
        }


def load(layout: Layout) -> Freshness | None:
    """What the last exchange left; ``None`` where there was none, or where
    nobody can read what it left."""
    try:
        fields = json.loads(read_plain(layout.travel, layout.root) or b"null")
    except _UNREADABLE:
        return None
    if not isinstance(fields, dict):
        return None
    usual = Freshness()._asdict()
    known: Any = {k: v for k, v in fields.items() if type(v) is type(usual.get(k))}
    return Freshness(**known)


def standing(
    layout: Layout, where: Repository | None, env: Mapping[str, str]
) -> Standing | None:
    """How the store stands to the remote it would be exchanged with; ``None``
    where there is none."""
    remote = remotes.find(where, env) if where is not None else None
    if where is None or remote is None:
        return None
    ours = repository.resolve(where, f"refs/heads/{BRANCH}")
    theirs = repository.resolve(where, remote.tracking)
    known = load(layout) or Freshness()
    if known.remote != remote.shown:
        known = Freshness()
    ahead: int | None = None
    behind: int | None = None
    if theirs and ours == theirs:
        ahead = behind = 0
    elif (known.ours, known.theirs) == (ours, theirs):
        ahead, behind = known.ahead, known.behind
    return Standing(
        remote.shown,
        bool(theirs),
        known.fetched_at,
        ahead,
        behind,
        known.problem,
        known.hint,
        known.lasting,
        _unsettled(layout),
    )


def _unsettled(layout: Layout) -> int:
    try:
        return len(names_in(layout.unsettled, layout.root))
    except WcError:
        return 0  # what is in its place is said elsewhere


def _seconds(at: str) -> float:
    return (times.milliseconds(at) or 0) / 1000
