"""Whether a clone has asked its remotes for threads.

A clone may lack the branch of the threads although its remote has it: a clone of one
branch, or one from before the first push. wc asks once, and keeps the result in two
small files beside git's own, so that every worktree and every user of the repository
has it. ``bin/wc-statusline`` looks for the second one.
"""

from __future__ import annotations

import os

from wc_core.base import times
from wc_core.base.files import read_plain
from wc_core.base.text import one_line, whole_number
from wc_core.base.values import NamedTuple
from wc_core.ledger.git.discovery import BRANCH_STORE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from wc_core.ledger.git.discovery import Place
    from wc_core.ledger.git.remotes import Remote
    from wc_core.ledger.git.repository import Repository

# In git's common folder. The first: all remotes have answered, and none had threads.
ASKED, UNASKED = "wc-asked", "wc-unasked"
# An answer counts for a day; after a failure, ten minutes pass before another attempt.
_ANSWER_MS, _FAILURE_MS = 24 * 3_600_000, 600_000
_MAX_DIGITS = 15


class Contact(NamedTuple):
    """An attempt to ask the ``remotes`` for threads, by their labels, ``at`` that time
    in milliseconds since 1970; with the first one that did not answer, ``silent``, and
    the ``problem``, both empty if all answered."""

    at: int = 0
    silent: str = ""
    problem: str = ""
    remotes: tuple[str, ...] = ()

    @property
    def answered(self) -> bool:
        """Whether all remotes answered."""
        return not self.silent

    @property
    def answered_at(self) -> str:
        """When all remotes answered, as RFC 3339; empty if not all did."""
        return times.rfc3339(self.at) if self.at and self.answered else ""

    def to_text(self) -> str:
        """The content of the record."""
        lines = (str(self.at), self.silent, self.problem, *self.remotes)
        return "".join(f"{one_line(line)}\n" for line in lines)


class Unasked(NamedTuple):
    """A remote that has not said whether it has threads: because of a ``problem``, or
    because nobody has asked it, if that is empty; and the ``command`` that asks."""

    remote: str
    problem: str
    command: str

    def __str__(self) -> str:
        if self.problem:
            facts = f"could not be asked for threads ({self.problem})"
        else:
            facts = "has not been asked for threads"
        return f"{self.remote} {facts}: {self.command}"


def path_of(repository: Repository, name: str) -> str:
    """The path of a record, `ASKED` or `UNASKED`."""
    return f"{repository.common}/{name}"


def load(repository: Repository) -> Contact | None:
    """The last attempt; ``None`` if there was none, or if its record is not valid."""
    for name in (UNASKED, ASKED):
        try:
            data = read_plain(path_of(repository, name))
        except OSError:
            data = None
        if data is not None:
            lines = data.decode(errors="replace").splitlines()
            at, silent, problem, *labels = [*lines, "", "", ""][: max(3, len(lines))]
            at_ms = whole_number(at, _MAX_DIGITS) or 0
            return Contact(at_ms, silent, problem, tuple(labels))
    return None


def candidates(repository: Repository, env: Mapping[str, str]) -> list[Remote]:
    """The remotes that may have threads, the most likely one first. A remote that
    ``WATERCOOLER_GIT_REPO`` or git's configuration chooses is the only one."""
    from wc_core.ledger.git import remotes  # 0.1 ms, not where threads are

    chosen = remotes.find(repository, env)
    if chosen is not None and remotes.is_chosen(repository, env):
        return [chosen]
    configured = [
        remotes.by_name(repository, env, name)
        for name in remotes.names(repository, env)
    ]
    return sorted(configured, key=lambda remote: remote != chosen)


def is_due(
    place: Place, env: Mapping[str, str], now_ms: int, *, again: bool = False
) -> bool:
    """Whether remotes have to be asked: there is neither a store nor its branch, and
    some were not asked lately, or they are to be asked ``again``."""
    repository = place.repository
    if not _may_have_threads(place) or place.exists or repository is None:
        return False
    latest = load(repository)
    if again or _new_remotes(repository, env, latest or Contact()):
        return True
    if latest is None:
        return False  # there are no remotes
    age = now_ms - latest.at
    return not 0 <= age < (_ANSWER_MS if latest.answered else _FAILURE_MS)


def failed_lately(repository: Repository, now_ms: int) -> bool:
    """Whether the last attempt to reach the remotes failed a short time ago."""
    latest = load(repository)
    if latest is None or latest.answered:
        return False
    return 0 <= now_ms - latest.at < _FAILURE_MS


def unasked(place: Place, env: Mapping[str, str]) -> Unasked | None:
    """A remote that has not said whether it has threads. ``None`` if there is a fetched
    branch, if there is a store and no attempt has failed, or if all have answered."""
    repository = place.repository
    if not _may_have_threads(place) or repository is None:
        return None
    if place.exists and not os.path.exists(path_of(repository, UNASKED)):
        return None
    latest = load(repository) or Contact()
    command = "wc sync" if place.exists else "wc init"
    if not latest.answered:
        return Unasked(one_line(latest.silent), one_line(latest.problem), command)
    if place.exists:
        return None
    added = _new_remotes(repository, env, latest)
    return Unasked(added[0].label, "", command) if added else None


def _may_have_threads(place: Place) -> bool:
    return place.kind == BRANCH_STORE and not place.branch_exists


def _new_remotes(
    repository: Repository, env: Mapping[str, str], latest: Contact
) -> list[Remote]:
    """The remotes that were not asked the last time."""
    every = candidates(repository, env)
    return [remote for remote in every if remote.label not in latest.remotes]
