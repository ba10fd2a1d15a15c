"""What travels with a branch of the code because it cannot be pushed: the record of
the last carrying, ``.local/carried.json``. If it is lost, entries are carried again.

Nothing here runs git: what it takes git to know is in the record.
"""

from __future__ import annotations

import os

from wc_core.base.files import read_plain
from wc_core.base.lean import json
from wc_core.base.phrases import counted, quoted
from wc_core.base.values import NamedTuple
from wc_core.ledger.git import repository as repositories

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from wc_core.base.layout import Layout
    from wc_core.ledger.git.repository import Repository

_UNREADABLE = (OSError, ValueError, TypeError, RecursionError)


class Carried(NamedTuple):
    """What travels: the entries with these ``ids``, all those of the threads' commit
    ``tip`` that had not arrived and could be carried; ``uncarried`` could not.

    They travel with a code ``branch``, in the commit ``carrier`` and those before it,
    or in the file ``outbox`` of the work tree ``top``. The branch has to be pushed to
    ``remote``, which had it at the commit ``tracked``; ``pushed`` if that has the
    carrier.
    """

    tip: str = ""
    ids: tuple[str, ...] = ()
    branch: str = ""
    carrier: str = ""
    outbox: str = ""
    top: str = ""
    remote: str = ""
    tracked: str = ""
    pushed: bool = False
    uncarried: int = 0

    @property
    def way(self) -> str:
        """The branch or the outbox."""
        return self.outbox or self.branch

    def sentence(self, code: Repository | None) -> str:
        """What travels, and what has to be done for it to arrive, as far as it is
        known without git; ``code`` is the repository of the branch."""
        entries = counted(len(self.ids), "entry", "entries")
        plural = len(self.ids) != 1
        if self.outbox:
            verb = "are" if plural else "is"
            return f"{entries} {verb} in {self.outbox}: commit it with your work"
        line = f"{entries} {'travel' if plural else 'travels'} with {self.branch}"
        if self.has_to_be_pushed(code):
            line += f": git push {quoted(self.remote)} {quoted(self.branch)}"
        return line

    def has_to_be_pushed(self, code: Repository | None) -> bool:
        """Whether the remote lacks the carrier. If the branch was pushed since, it
        probably has it."""
        if code is None:
            return not self.pushed
        tracked = repositories.resolve(code, self.tracking)
        return tracked == self.tracked and not self.pushed

    @property
    def tracking(self) -> str:
        """The ref that tracks the branch at the remote."""
        return f"refs/remotes/{self.remote}/{self.branch}"

    def to_json(self) -> dict[str, Any]:
        """The shape of JSON output."""
        way = "outbox" if self.outbox else "branch"
        return {"entries": len(self.ids), way: self.way}


def load(layout: Layout) -> Carried | None:
    """What the last carrying put into carriers; ``None`` if nothing travels."""
    try:
        fields = json.loads(read_plain(layout.carried, layout.root) or b"{}")
        fields["ids"] = tuple(map(str, fields.get("ids", ())))
        defaults = Carried()._asdict()
        valid: Any = {
            name: value
            for name, value in fields.items()
            if type(value) is type(defaults.get(name))
        }
        return Carried(**valid) if valid.get("ids") else None
    except _UNREADABLE:
        return None


def current(layout: Layout, checkout: Repository | None) -> Carried | None:
    """What travels, if nothing was written since and the carriers are still there, as
    far as it can be known without git. ``checkout`` is the store's repository."""
    result = load(layout) if os.path.exists(layout.carried) else None
    if result is None or checkout is None or checkout.commit != result.tip:
        return None
    if result.outbox:
        return result if os.path.isfile(f"{result.top}/{result.outbox}") else None
    branch = repositories.resolve(checkout, f"refs/heads/{result.branch}")
    return result if branch else None
