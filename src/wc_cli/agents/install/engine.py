"""Installs and removes parts, and reports the state of each."""

from __future__ import annotations

import difflib

from wc_cli.agents.install import decisions, disk
from wc_cli.agents.install.formats import edits
from wc_cli.agents.install.formats.jsonc import ABSENT, UnreadableError
from wc_cli.agents.install.workspace import Workspace, WorkspaceFile
from wc_core.base.errors import ConflictError, WcError
from wc_core.base.values import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from wc_cli.agents.install.changes import Change, Part
    from wc_cli.agents.install.ledger import Ledger, Owner

# The states of a part. OUTDATED: this version would install it differently; CHANGED: a
# user edited it; FOREIGN: it is present, but not installed by us.
INSTALLED, OUTDATED, CHANGED = "installed", "outdated", "changed"
MISSING, FOREIGN, UNREADABLE = "not installed", "there already", "unreadable"
PRESENT = frozenset({INSTALLED, OUTDATED, CHANGED, FOREIGN})
OUT_OF_ORDER = frozenset({OUTDATED, CHANGED})


class Want(NamedTuple):
    """A part to install, for an owner."""

    owner: Owner
    part: Part


class PartOutcome(NamedTuple):
    """The outcome for a part: the files that change, or why it was refused.

    ``paths`` are all of its files, ``edited`` those in which a user has edited our
    change since. ``removed`` is whether the part was taken out.
    """

    owner: Owner
    files: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    error: WcError | None = None
    edited: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    removed: bool = False


# How often a plan is carried out if another program writes at the same moment.
_ATTEMPTS = 3

# The start of a diff's line that stands for a whole file.
NEW_FILE, REMOVED_FILE = "new file", "removed file"


class Plan(NamedTuple):
    """The planned result for each part and for the files."""

    outcomes: tuple[PartOutcome, ...]
    workspace: Workspace

    def diff(self, *, whole: bool) -> str:
        """The changes to the files, in the format of `diff -u`. Without ``whole``,
        files that we write or remove as a whole have one line with their length."""
        files = self.workspace.changed()
        return "".join(_file_diff(file, whole=whole) for file in files)


def plan_install(
    ledger: Ledger, wants: Iterable[Want], obsolete: Iterable[Owner] = ()
) -> Plan:
    """Plan to remove what is obsolete, then to install each part whole or not at
    all. The rules for a server's tools go if the server is refused."""
    workspace = Workspace(ledger)
    outcomes = [_remove(workspace, ledger, owner) for owner in obsolete]
    outcomes += _with_shared_files(_install(workspace, ledger, want) for want in wants)
    refused = [outcome.owner for outcome in outcomes if outcome.error is not None]
    installed, planned = ledger.owners(), {outcome.owner for outcome in outcomes}
    for owner in refused:
        rules = owner._replace(part="tools")
        if owner.part == "server" and rules in installed - planned:
            outcomes.append(_remove(workspace, ledger, rules))
    return Plan(tuple(outcomes), workspace)


def plan_removal(ledger: Ledger, owners: Iterable[Owner]) -> Plan:
    """Plan to remove what was installed for each owner."""
    workspace = Workspace(ledger)
    outcomes = [_remove(workspace, ledger, owner) for owner in owners]
    return Plan(tuple(outcomes), workspace)


def _install(workspace: Workspace, ledger: Ledger, want: Want) -> PartOutcome:
    owner, part = want
    error = workspace.attempt(lambda: _require_inside(want))
    if error is not None:
        return PartOutcome(owner, error=error)
    missing = [change for change in part.needs if not workspace.has(change)]
    if missing:
        refusal = ConflictError(
            f"{missing[0].path} does not start our server, so none of its tools is "
            "allowed.",
            "Rules of ours were taken out. Install the server, then run it again.",
        )
        return _remove(workspace, ledger, owner)._replace(error=refusal)
    before = workspace.texts()

    def work() -> None:
        slots = {_slot_of(workspace, change) for change in part.changes}
        for path, slot in _owned_slots(ledger, owner):
            if (path, slot) not in slots:
                workspace.withdraw(path, slot, owner)
        for change in part.changes:
            workspace.apply(change, owner)

    error = workspace.attempt(work)
    files = workspace.different(before)
    paths = tuple(dict.fromkeys(str(change.path) for change in part.changes))
    return PartOutcome(owner, files, part.notes, error, paths=paths)


def _require_inside(want: Want) -> None:
    """Raise ConflictError if a part of a project would be read or written outside of
    it: anyone who can push to it can put a link there."""
    owner, part = want
    for change in (*part.changes, *part.needs):
        if owner.project and change.path.is_relative_to(owner.project):
            disk.require_inside(str(change.path), owner.project)


def _with_shared_files(outcomes: Iterable[PartOutcome]) -> Iterator[PartOutcome]:
    """Yield the outcomes, each with the files that it shares with an earlier one: that
    part is installed now, too, although nothing more has to be written for it."""
    written: dict[tuple[str, tuple[str, ...]], tuple[str, ...]] = {}
    for outcome in outcomes:
        key = (outcome.owner.part, outcome.paths)
        if outcome.files:
            written.setdefault(key, outcome.files)
        shared = written.get(key, ()) if outcome.error is None else ()
        yield outcome._replace(files=outcome.files or shared)


def _remove(workspace: Workspace, ledger: Ledger, owner: Owner) -> PartOutcome:
    before = workspace.texts()
    edited: dict[str, None] = {}

    def work() -> None:
        for path, slot in reversed(_owned_slots(ledger, owner)):
            if not workspace.withdraw(path, slot, owner):
                edited[path] = None

    error = workspace.attempt(work)
    files = workspace.different(before)
    return PartOutcome(owner, files, error=error, edited=tuple(edited), removed=True)


def carry_out(
    plan: Plan, plan_again: Callable[[], Plan] | None = None
) -> tuple[PartOutcome, ...]:
    """Write the files of a plan. Returns its outcomes, including write errors.

    A client may rewrite its settings at the same moment. With ``plan_again``, what is
    then missing, of ours or of theirs, is written again, a few times at most.
    """
    outcomes: dict[Owner, PartOutcome] = {}
    for attempt in range(_ATTEMPTS):
        failures = dict(plan.workspace.write())
        if plan_again is not None:
            lost = plan.workspace.lost()
            failures = {path: disk.changed_error(path) for path in lost} | failures
        for outcome in plan.outcomes:
            earlier = outcomes.get(outcome.owner)
            if earlier is None or earlier.error or outcome.files or outcome.error:
                outcomes[outcome.owner] = _with_failure(outcome, failures)
        is_disturbed = any(
            isinstance(error, ConflictError) for error in failures.values()
        )
        if plan_again is None or not is_disturbed or attempt == _ATTEMPTS - 1:
            break
        plan = plan_again()
    return tuple(outcomes.values())


def _with_failure(outcome: PartOutcome, failures: dict[str, WcError]) -> PartOutcome:
    """The outcome, refused if one of its files could not be written."""
    errors = (failures[path] for path in outcome.files if path in failures)
    return outcome._replace(error=next(errors, outcome.error))


def part_state(ledger: Ledger, want: Want) -> str:
    """The state of a part."""
    workspace = Workspace(ledger)
    owned = set(_owned_slots(ledger, want.owner))
    try:
        _require_inside(want)
        states = {_change_state(workspace, change) for change in want.part.changes}
        slots = {_slot_of(workspace, change) for change in want.part.changes}
    except (WcError, UnreadableError):
        return UNREADABLE
    if not all(map(workspace.has, want.part.needs)):
        return OUTDATED if owned else MISSING
    if CHANGED in states:
        return CHANGED
    if not owned:
        return FOREIGN if states <= {FOREIGN, INSTALLED} else MISSING
    if states - {INSTALLED, FOREIGN} or owned - slots:
        return OUTDATED
    return INSTALLED


def _change_state(workspace: Workspace, change: Change) -> str:
    """The state of a single change. Raises WcError, UnreadableError."""
    file = workspace.file(str(change.path))
    spot = edits.spot_of(change)
    value = edits.value_at(file.text, spot)
    record = decisions.record_of(file.page, spot)
    if record is None:
        is_there = value is not ABSENT and workspace.has(change)
        return FOREIGN if is_there else MISSING
    if not edits.are_same(value, record.spot.value):
        return CHANGED
    return INSTALLED if workspace.has(change) else OUTDATED


def _owned_slots(ledger: Ledger, owner: Owner) -> list[tuple[str, tuple[str, ...]]]:
    """The path and slot of each change that was made for an owner."""
    return [
        (path, record.spot.slot)
        for path, page in ledger.files.items()
        for record in page.records
        if owner in record.owners
    ]


def _slot_of(workspace: Workspace, change: Change) -> tuple[str, tuple[str, ...]]:
    return workspace.file(str(change.path)).path, edits.spot_of(change).slot


def _file_diff(file: WorkspaceFile, *, whole: bool) -> str:
    before = "/dev/null" if file.data is None else file.path
    after = "/dev/null" if file.text is None else file.path
    old = _diff_lines((file.data or b"").decode(errors="replace"))
    new = _diff_lines(file.text or "")
    is_own = any(record.spot.kind == edits.FILE for record in file.page.records)
    summary = ""
    if not whole and file.data is None and is_own:
        summary = f"{NEW_FILE}, {len(new):,} lines"
    elif not whole and file.text is None:
        summary = f"{REMOVED_FILE}, {len(old):,} lines"
    if summary:
        return f"--- {before}\n+++ {after}\n{summary}\n"
    return "".join(difflib.unified_diff(old, new, before, after))


def _diff_lines(text: str) -> list[str]:
    lines = text.splitlines(keepends=True)
    if lines and not lines[-1].endswith("\n"):
        lines[-1] += "\n\\ No newline at end of file\n"
    return lines
