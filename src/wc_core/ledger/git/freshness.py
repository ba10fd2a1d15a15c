"""How fresh a store is: the result of the last exchange with its remote.

Each exchange writes it to ``.local/sync.json``; nothing here runs git or uses
the network. If the branch has moved since, the counts are unknown.
"""

from __future__ import annotations

from wc_core.base import times
from wc_core.base.errors import WcError
from wc_core.base.files import names_in, read_plain
from wc_core.base.layout import BRANCH
from wc_core.base.lean import json
from wc_core.base.phrases import counted
from wc_core.base.text import one_line
from wc_core.base.values import NamedTuple
from wc_core.ledger.git import carried as carriers
from wc_core.ledger.git import contact, remotes
from wc_core.ledger.git import repository as repositories

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from wc_core.base.layout import Layout
    from wc_core.ledger.git.carried import Carried
    from wc_core.ledger.git.repository import Repository

_UNREADABLE = (OSError, ValueError, RecursionError)


class Freshness(NamedTuple):
    """The result of the last exchange, as it is stored in ``sync.json``.

    ``ours`` and ``theirs`` are the tips of the two branches then, ``ahead``
    and ``behind`` the number of commits that only one of them had.
    ``problem`` and ``hint`` are empty if the exchange succeeded; ``failures``
    counts the failures since it last did. ``lasting`` says that trying again
    is not enough. Times are RFC 3339, empty for never.
    """

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
        """Seconds since the last fetch; infinite if there was none."""
        return now - _seconds(self.fetched_at) if self.fetched_at else float("inf")

    def outdated(self, now_ms: int) -> str:
        """That the remote did not answer, and how old the facts are, as a sentence;
        empty if it did."""
        if not self.problem or self.lasting:
            return ""
        failed, fetched = (
            times.ago(times.seconds_between(times.milliseconds(at) or 0, now_ms))
            for at in (self.failed_at, self.fetched_at)
        )
        age_text = f"was fetched {fetched}" if self.fetched_at else "is only from here"
        remote = one_line(self.remote)
        return f"{remote} did not answer {failed}; what is known {age_text}."


class Standing(NamedTuple):
    """A store compared with its remote, as of the last fetch.

    ``ahead`` and ``behind`` count commits; ``None`` if that is unknown. ``tracked`` if
    the remote is known to have the branch. A ``lasting`` problem does not go away by
    itself. ``unsettled`` counts the threads with uncommitted entries. ``carried`` are
    entries that travel otherwise; if there is no remote at all, ``remote`` is empty.
    """

    remote: str
    tracked: bool
    fetched_at: str = ""
    ahead: int | None = None
    behind: int | None = None
    problem: str = ""
    hint: str = ""
    lasting: bool = False
    unsettled: int = 0
    carried: Carried | None = None
    travels: str = ""

    def sentence(self, now_ms: int) -> str:
        """One line for people, such as ``origin: in step · fetched 5m ago``."""
        if not self.remote:
            return self.travels
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
        if self.travels:
            facts.append(self.travels)
        elif self.problem:
            facts.append(one_line(self.problem))
        return f"{self.remote}: {' · '.join(facts)}"

    def to_json(self) -> dict[str, Any]:
        """The shape of JSON output."""
        return {
            "remote": self.remote,
            "fetched_at": self.fetched_at or None,
            "ahead": self.ahead,
            "behind": self.behind,
            **({"problem": self.problem} if self.problem else {}),
            **({"carried": self.carried.to_json()} if self.carried else {}),
        }


def load(layout: Layout) -> Freshness | None:
    """Read the result of the last exchange; ``None`` if no valid one is there."""
    try:
        fields = json.loads(read_plain(layout.sync_state, layout.root) or b"null")
    except _UNREADABLE:
        return None
    if not isinstance(fields, dict):
        return None
    defaults = Freshness()._asdict()
    valid: Any = {
        name: value
        for name, value in fields.items()
        if type(value) is type(defaults.get(name))
    }
    return Freshness(**valid)


def standing(
    layout: Layout, repository: Repository | None, env: Mapping[str, str]
) -> Standing | None:
    """Compare the store with the remote of its repository; ``None`` if it has none,
    unless entries travel otherwise."""
    remote = remotes.find(repository, env) if repository is not None else None
    carried = carriers.current(layout, repository)
    travels = one_line(carried.sentence(repository)) if carried is not None else ""
    if repository is None or (remote is None and carried is None):
        return None
    if remote is None:
        return Standing("", tracked=False, carried=carried, travels=travels)
    own_tip = repositories.resolve(repository, f"refs/heads/{BRANCH}")
    remote_tip = repositories.resolve(repository, remote.tracking)
    latest = load(layout) or Freshness()
    if latest.remote != remote.label:
        latest = Freshness()
    if not latest.fetched_at and remote_tip:
        # Nothing was exchanged since the first contact, which fetched the branch.
        first = contact.load(repository)
        fetched_at = first.answered_at if first is not None else ""
        latest = latest._replace(fetched_at=fetched_at)
    ahead: int | None = None
    behind: int | None = None
    if remote_tip and own_tip == remote_tip:
        ahead = behind = 0
    elif (latest.ours, latest.theirs) == (own_tip, remote_tip):
        ahead, behind = latest.ahead, latest.behind
    return Standing(
        remote.label,
        bool(remote_tip),
        latest.fetched_at,
        ahead,
        behind,
        latest.problem,
        latest.hint,
        latest.lasting,
        _count_unsettled(layout),
        carried,
        travels,
    )


def _count_unsettled(layout: Layout) -> int:
    try:
        return len(names_in(layout.unsettled, layout.root))
    except WcError:
        return 0  # doctor reports what is wrong with the folder


def _seconds(at: str) -> float:
    return (times.milliseconds(at) or 0) / 1000
