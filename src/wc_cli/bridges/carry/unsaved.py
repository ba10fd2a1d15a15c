"""The entries that exist only on a machine that is thrown away, and the one command
that saves them."""

from __future__ import annotations

from wc_cli.bridges.carry import automatic, carrying
from wc_cli.ledger.branch.git import Git, GitError
from wc_core.base import sandboxes
from wc_core.base.errors import WcError
from wc_core.base.phrases import counted
from wc_core.base.text import one_line
from wc_core.base.values import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from wc_core.ledger.git.carried import Carried
    from wc_core.ledger.git.repository import Repository


class Unsaved(NamedTuple):
    """A ``sentence`` about entries that exist only here, which ends with what saves
    them. ``key`` changes if there are others."""

    sentence: str
    key: str


def unsaved(
    root: str, code: Repository | None, env: Mapping[str, str]
) -> Unsaved | None:
    """The entries that exist only in this sandbox; ``None`` if there are none, or on an
    ordinary machine. What can be carried is carried first."""
    if code is None or sandboxes.current(env) is None:
        return None
    try:
        carried = automatic.carry_if_wanted(root, code, env)
        if carried is not None and carried.ids:
            return _of_carried(carried, code, env)
        reason = ""
    except WcError as error:
        reason = f" ({error.message.rstrip('.')})"
    try:
        unsent = carrying.unsent(root, env)
    except (WcError, GitError) as error:
        sentence = f"It is not known which entries are only on this machine{reason}"
        return Unsaved(f"{sentence}: {one_line(str(error))}", sentence)
    count = len(unsent.lines) + unsent.uncarried
    if not count:
        return None
    entries = counted(count, "entry exists", "entries exist")
    sentence = f"{entries} only on this machine{reason}: wc sync --carry"
    return Unsaved(sentence, f"{count}{reason}")


def _of_carried(
    carried: Carried, code: Repository, env: Mapping[str, str]
) -> Unsaved | None:
    if carried.outbox:
        words = ("status", "--porcelain", "--untracked-files=all", "--")
        try:
            if not Git(carried.top, env).run(*words, carried.outbox):
                return None
        except GitError:
            pass
    elif not carried.has_to_be_pushed(code):
        return None
    key = carried.carrier or carried.tip
    return Unsaved(carried.sentence(code), key)
