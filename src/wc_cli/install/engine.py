"""Installing parts, taking them out, and telling how they stand."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING, NamedTuple

from wc_cli.install.formats import edits
from wc_cli.install.formats.edits import ABSENT
from wc_cli.install.formats.jsonc import Unreadable
from wc_cli.install.ledger import Ledger, Owner
from wc_cli.install.workspace import Workspace, WorkspaceFile
from wc_core.errors import WcError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from wc_cli.install.changes import Change, Part

INSTALLED, OUTDATED, CHANGED, MISSING, FOREIGN, UNREADABLE = (
    *("installed", "outdated", "changed", "not installed"),
    *("there already", "unreadable"),
)
OUT_OF_ORDER = frozenset({OUTDATED, CHANGED})


class Want(NamedTuple):
    """A part that is to be there, for an owner."""

    owner: Owner
    part: Part


class PartOutcome(NamedTuple):
    """What became of a part: which files it changes, or why it was refused.
    ``where`` are all of its files, ``left`` those with something of ours that
    somebody has changed since. ``removed`` says that the part was taken out."""

    owner: Owner
    files: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    error: WcError | None = None
    left: tuple[str, ...] = ()
    where: tuple[str, ...] = ()
    removed: bool = False


class Plan(NamedTuple):
    """What would become of each part, and of the files."""

    outcomes: tuple[PartOutcome, ...]
    workspace: Workspace

    @property
    def diff(self) -> str:
        """What changes in the files, as `diff -u` shows it."""
        return "".join(_diff(one) for one in self.workspace.changed())

    @property
    def changes(self) -> bool:
        """Whether any file would be different."""
        return bool(self.workspace.changed())


def plan_install(
    ledger: Ledger, wants: Iterable[Want], gone: Iterable[Owner] = ()
) -> Plan:
    """Put each part into the files as they will be, whole or not at all; what was
    done for the owners that are ``gone`` is taken out first."""
    workspace = Workspace(ledger)
    outcomes = [_removed(workspace, ledger, owner) for owner in gone]
    for owner, part in wants:
        before = workspace.texts()

        def work(owner: Owner = owner, part: Part = part) -> None:
            slots = {_slot(workspace, one) for one in part.changes}
            for path, slot in _owned(ledger, owner):
                if (path, slot) not in slots:
                    workspace.leave(path, slot, owner)
            for change in part.changes:
                workspace.apply(change, owner)

        error = workspace.attempt(work)
        files = workspace.different(before)
        where = tuple(dict.fromkeys(str(one.path) for one in part.changes))
        outcomes.append(PartOutcome(owner, files, part.notes, error, where=where))
    return Plan(tuple(outcomes), workspace)


def plan_removal(ledger: Ledger, owners: Iterable[Owner]) -> Plan:
    """Take what was done for each owner out of the files as they will be."""
    workspace = Workspace(ledger)
    outcomes = [_removed(workspace, ledger, owner) for owner in owners]
    return Plan(tuple(outcomes), workspace)


def _removed(workspace: Workspace, ledger: Ledger, owner: Owner) -> PartOutcome:
    before = workspace.texts()
    left: list[str] = []

    def work() -> None:
        for path, slot in reversed(_owned(ledger, owner)):
            if not workspace.leave(path, slot, owner):
                left.append(path)

    error = workspace.attempt(work)
    files = workspace.different(before)
    some = tuple(dict.fromkeys(left))
    return PartOutcome(owner, files, error=error, left=some, removed=True)


def carry_out(plan: Plan) -> tuple[PartOutcome, ...]:
    """Write the files of a plan; its outcomes, with what failed only then."""
    failures = dict(plan.workspace.write())
    return tuple(
        one._replace(
            error=next((failures[f] for f in one.files if f in failures), None)
        )
        if one.error is None
        else one
        for one in plan.outcomes
    )


def state(ledger: Ledger, want: Want) -> str:
    """How a part stands: INSTALLED; OUTDATED, where we would do it differently
    now; CHANGED by somebody; MISSING; FOREIGN, there but not by us; UNREADABLE."""
    workspace = Workspace(ledger)
    owned = dict.fromkeys(_owned(ledger, want.owner))
    try:
        states = {_state(workspace, change) for change in want.part.changes}
        wanted = {_slot(workspace, change) for change in want.part.changes}
    except (WcError, Unreadable):
        return UNREADABLE
    if CHANGED in states:
        return CHANGED
    if not owned:
        return FOREIGN if states <= {FOREIGN, INSTALLED} else MISSING
    if states - {INSTALLED, FOREIGN} or owned.keys() - wanted:
        return OUTDATED
    return INSTALLED


def _state(workspace: Workspace, change: Change) -> str:
    file = workspace.file(str(change.path))
    where = edits.spot(change)
    found = edits.found(file.text, where)
    held = [one for one in file.kept.records if one.spot.slot == where.slot]
    if not held:
        return (
            MISSING
            if found is ABSENT or not _is_current(workspace, change)
            else FOREIGN
        )
    (record,) = held
    if not edits.same(found, record.spot.value):
        return CHANGED
    return INSTALLED if _is_current(workspace, change) else OUTDATED


def _is_current(workspace: Workspace, change: Change) -> bool:
    before = workspace.file(str(change.path)).text
    error = workspace.attempt(lambda: workspace.apply(change, Owner("", "")))
    return error is None and workspace.file(str(change.path)).text == before


def _owned(ledger: Ledger, owner: Owner) -> list[tuple[str, tuple[str, ...]]]:
    return [
        (path, record.spot.slot)
        for path, kept in ledger.files.items()
        for record in kept.records
        if owner in record.owners
    ]


def _slot(workspace: Workspace, change: Change) -> tuple[str, tuple[str, ...]]:
    return workspace.file(str(change.path)).path, edits.spot(change).slot


def _diff(file: WorkspaceFile) -> str:
    old = (file.data or b"").decode(errors="replace")
    before, after = (
        file.path if one is not None else "/dev/null" for one in (file.data, file.text)
    )
    lines = (_lines(old), _lines(file.text or ""))
    return "".join(difflib.unified_diff(*lines, before, after))


def _lines(text: str) -> list[str]:
    lines = text.splitlines(keepends=True)
    if lines and not lines[-1].endswith("\n"):
        lines[-1] += "\n\\ No newline at end of file\n"
    return lines
