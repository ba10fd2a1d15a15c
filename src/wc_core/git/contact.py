"""Whether a clone has asked its remotes for threads.

A clone may lack the branch of the threads although its remote has it: a clone of one
branch, or one from before the first push. wc asks once, and keeps the result in two
small files beside git's own, so that every worktree and every user of the repository
has it. ``bin/wc-statusline`` looks for the second one.
"""

from __future__ import annotations

from wc_core.files import read_plain
from wc_core.git import remotes
from wc_core.git.discovery import BRANCH_STORE
from wc_core.lean import os
from wc_core.text import one_line, whole_number
from wc_core.values import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from wc_core.git.discovery import Place
    from wc_core.git.remotes import Remote
    from wc_core.git.repository import Repository

# In git's common folder. The first: all remotes have answered, and none had threads.
ASKED, UNASKED = "wc-asked", "wc-unasked"
_MAX_DIGITS = 15


class Contact(NamedTuple):
    """An attempt to ask for threads, ``at`` that time in milliseconds since 1970; with
    the first ``remote`` that did not answer and the ``problem``, both empty if all
    answered."""

    at: int = 0
    remote: str = ""
    problem: str = ""

    @property
    def answered(self) -> bool:
        """Whether all remotes answered."""
        return not self.remote


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
            at, remote, problem, *_ = [*data.decode(errors="replace").split("\n"), ""]
            return Contact(whole_number(at, _MAX_DIGITS) or 0, remote, problem)
    return None


def candidates(repository: Repository, env: Mapping[str, str]) -> list[Remote]:
    """The remotes that may have threads, the most likely one first. A remote that
    ``WATERCOOLER_GIT_REPO`` or git's configuration chooses is the only one."""
    chosen = remotes.find(repository, env)
    if chosen is not None and remotes.is_chosen(repository, env):
        return [chosen]
    configured = [
        remotes.by_name(repository, env, name)
        for name in remotes.names(repository, env)
    ]
    return sorted(configured, key=lambda remote: remote != chosen)


def unasked(place: Place, env: Mapping[str, str]) -> str:
    """One line that says which remote has not been asked for threads, and what to do.
    Empty if there is a store or a fetched branch, if all remotes have answered, or if
    there is none."""
    repository = place.repository
    if place.kind != BRANCH_STORE or repository is None or place.branch_exists:
        return ""
    if place.exists and not os.path.exists(path_of(repository, UNASKED)):
        return ""
    contact = load(repository)
    if contact is not None and contact.answered:
        return ""
    if contact is not None:
        remote, problem = one_line(contact.remote), one_line(contact.problem)
        facts = f"{remote} could not be asked for threads ({problem})"
    else:
        remotes_to_ask = candidates(repository, env)
        if not remotes_to_ask:
            return ""
        facts = f"{remotes_to_ask[0].label} has not been asked for threads"
    return f"{facts}: {'wc sync' if place.exists else 'wc init'}"
