"""Files as they will be: changes are put into texts, and written at the end.

Nothing is written before `Workspace.write`; what is refused in the middle of a
part can be taken back as if it had never been tried.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from wc_cli.install import disk
from wc_cli.install.changes import Change, JsonSet, TomlSet
from wc_cli.install.formats import edits, jsonc
from wc_cli.install.formats.edits import ABSENT, Spot
from wc_cli.install.formats.jsonc import Unreadable
from wc_cli.install.ledger import Ledger, LedgerFile, Owner, Record, digest
from wc_core.errors import ConflictError, CorruptError, WcError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

_NOTHING = LedgerFile(None, "", ())


class WorkspaceFile(NamedTuple):
    """A file: its bytes on the disk, its text to be, what of it is ours."""

    path: str
    data: bytes | None
    text: str | None
    kept: LedgerFile

    @property
    def old(self) -> str | None:
        """Its text on the disk."""
        return None if self.data is None else self.data.decode()

    @property
    def new(self) -> bytes | None:
        """Its bytes to be."""
        return None if self.text is None else self.text.encode()


class Workspace:
    """The files that are looked at, by real path, on top of a ledger."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._files: dict[str, WorkspaceFile] = {}

    def file(self, path: str) -> WorkspaceFile:
        """A file as it will be. Raises StorageError, CorruptError."""
        path = disk.real(path)
        if path not in self._files:
            data = disk.read(path)
            try:
                text = None if data is None else data.decode()
            except UnicodeDecodeError as error:
                line = data[: error.start].count(b"\n") + 1 if data else 0
                raise _unreadable(path, Unreadable("not UTF-8", line)) from None
            kept = self._ledger.files.get(path, _NOTHING)
            self._files[path] = WorkspaceFile(path, data, text, kept)
        return self._files[path]

    def attempt(self, work: Callable[[], None]) -> WcError | None:
        """Do something to files whole or not at all; why it was refused."""
        before = dict(self._files)
        try:
            work()
        except WcError as error:
            self._files = before
            return error
        return None

    def changed(self) -> list[WorkspaceFile]:
        """The files that will be different, by path."""
        files = sorted(self._files.values())
        return [one for one in files if one.new != one.data]

    def texts(self) -> dict[str, str | None]:
        """The texts to be, so far."""
        return {path: one.text for path, one in self._files.items()}

    def different(self, before: dict[str, str | None]) -> tuple[str, ...]:
        """The files whose text is not what it was in ``before`` any more."""
        return tuple(
            path
            for path, one in sorted(self._files.items())
            if one.text != before.get(path, one.old)
        )

    # What is put in.

    def apply(self, change: Change, owner: Owner) -> None:
        """Put a change into its file for an owner, if it is not there.

        Raises CorruptError, ConflictError, StorageError.
        """
        file = self.file(str(change.path))
        where = edits.spot(change)
        try:
            self._apply(file, change, where, owner)
        except Unreadable as error:
            raise _unreadable(file.path, error) from error

    def _apply(
        self, file: WorkspaceFile, change: Change, where: Spot, owner: Owner
    ) -> None:
        held = _held(file.kept, where)
        found = edits.found(file.text, where)
        ours = held is not None and edits.same(found, held.spot.value)
        theirs = _composed(change, held if ours else None, found)
        if theirs is not ABSENT:
            where = where._replace(value=theirs)
        if edits.same(found, where.value):
            if held is not None and ours:
                self._note(file, held, _owned(held._replace(spot=where), owner))
            return
        if found is not ABSENT and not ours and theirs is ABSENT:
            raise _conflict(file, where)
        disk.check(file.path)
        was = held.was if held is not None and ours else None
        if was is None and found is not ABSENT and not ours:
            was = edits.raw(file.text or "", where)
        put = edits.put(file.text, where, held.piece if held and ours else "")
        made = tuple(one for one in put.made if one not in file.kept.made)
        kept = file.kept._replace(made=(*file.kept.made, *made))
        file = file._replace(text=put.text, kept=kept)
        owners = held.owners if held is not None else ()
        record = Record(where, owners, was, put.piece)
        self._note(file, held, _owned(record, owner))

    def _note(self, file: WorkspaceFile, old: Record | None, new: Record) -> None:
        """Write a record down, in the place of the old one."""
        records = list(file.kept.records)
        if old is None:
            records.append(new)
        else:
            records[records.index(old)] = new
        self._put(file._replace(kept=file.kept._replace(records=tuple(records))))

    def _put(self, file: WorkspaceFile) -> None:
        self._files[file.path] = file

    # What is taken out.

    def leave(self, path: str, slot: tuple[str, ...], owner: Owner) -> bool:
        """Take a change out of its file, if no other owner wants it; whether
        nothing was in the way: what somebody changed since is theirs, and stays.

        Raises CorruptError, StorageError.
        """
        file = self.file(path)
        (record,) = [one for one in file.kept.records if one.spot.slot == slot]
        owners = tuple(one for one in record.owners if one != owner)
        if owners:
            self._note(file, record, record._replace(owners=owners))
            return True
        try:
            text, clean = undone(file.text, [record])
            rest = tuple(one for one in file.kept.records if one is not record)
            if text is not None:
                text = _emptied(text, record.spot.kind, file.kept)
        except Unreadable as error:
            raise _unreadable(file.path, error) from error
        if not rest and digest(file.data or b"") == file.kept.after:
            base = self._ledger.base(file.kept)
            text, clean = None if base is None else base.decode(), True
        if text != file.text:
            disk.check(file.path)
        kept = file.kept._replace(records=rest)
        self._put(file._replace(text=text, kept=kept))
        return clean

    # What is written.

    def write(self) -> list[tuple[str, WcError]]:
        """Write what is different, each file whole; the files that could not be,
        and why. Raises StorageError where even the ledger cannot be."""
        failures: list[tuple[str, WcError]] = []
        for file in sorted(self._files.values()):
            if file.new == file.data and file.kept == self._before(file):
                continue
            try:
                self._write(file)
            except WcError as error:
                failures.append((file.path, error))
        return failures

    def _before(self, file: WorkspaceFile) -> LedgerFile:
        return self._ledger.files.get(file.path, _NOTHING)

    def _write(self, file: WorkspaceFile) -> None:
        """Put one file and its page of the ledger on the disk: the page first
        where something comes, for a crash in between must not leave what nobody
        knows of."""
        before = self._before(file)
        disk.remove(disk.half_of(file.path))
        if not file.kept.records:
            if file.new != file.data:
                disk.replace(file.path, file.data, file.new)
            if file.new is None:
                disk.remove_folders(before.folders)
            self._ledger.forget(file.path)
            self._ledger.save()
            return
        base = self._ledger.keep(self._base(file, before))
        folder = file.path.rpartition("/")[0]
        missing = disk.missing(folder) if file.new is not None else ()
        after = digest(file.new or b"")
        folders = before.folders + missing
        kept = file.kept._replace(base=base, after=after, folders=folders)
        self._ledger.files[file.path] = kept
        try:
            self._ledger.save()
            disk.make_folders(missing)
            if file.new != file.data:
                # What programs keep for their user may come to hold keys.
                mode = None if _is_shared(file.kept) else 0o600
                disk.replace(file.path, file.data, file.new, mode=mode)
        except WcError:
            self._ledger.files[file.path] = before
            if before is _NOTHING:
                del self._ledger.files[file.path]
                disk.remove_folders(missing)
            self._ledger.save()
            raise

    def _base(self, file: WorkspaceFile, before: LedgerFile) -> bytes | None:
        """How the file would be without us."""
        if not before.records or file.data is None:
            return file.data
        if digest(file.data) == before.after:
            return self._ledger.base(before)
        try:
            text, _ = undone(file.data.decode(), before.records)
            if text is not None:
                kinds = {one.spot.kind for one in before.records}
                for kind in sorted(kinds):
                    text = _emptied(text, kind, before) if text is not None else None
        except Unreadable as error:
            raise _unreadable(file.path, error) from error
        return None if text is None else text.encode()


def undone(text: str | None, records: Iterable[Record]) -> tuple[str | None, bool]:
    """A text without changes, the last first, and whether all of them were still
    as we had made them. Raises Unreadable."""
    clean = True
    for record in reversed(tuple(records)):
        found = edits.found(text, record.spot)
        if text is None or not edits.same(found, record.spot.value):
            clean = clean and found is ABSENT
        elif record.was is not None:
            text = edits.written(text, record.spot, record.was)
        else:
            text = edits.taken(text, record.spot, record.piece)
    return text, clean


def _emptied(text: str, kind: str, kept: LedgerFile) -> str | None:
    """A text without what we made on the way and is empty now; ``None`` where
    that was all of a file of ours."""
    if kept.made:
        text = edits.pruned(text, kind, kept.made)
    return None if kept.base is None and not text.strip("\ufeff \t\r\n") else text


def _owned(record: Record, owner: Owner) -> Record:
    owners = dict.fromkeys((*record.owners, owner))
    return record._replace(owners=tuple(owners))


def _is_shared(kept: LedgerFile) -> bool:
    """Whether a file belongs to a project."""
    return any(owner.project for one in kept.records for owner in one.owners)


def _held(kept: LedgerFile, where: Spot) -> Record | None:
    slots = [one for one in kept.records if one.spot.slot == where.slot]
    return slots[0] if slots else None


def _composed(change: Change, held: Record | None, found: Any) -> Any:
    """What comes of somebody's own value where a change goes together with it;
    else ABSENT. ``held`` is our record if the value found is ours."""
    if isinstance(change, TomlSet) and change.enough is not None:
        fits = held is None and found is not ABSENT and change.enough(found)
        return found if fits else ABSENT
    if not isinstance(change, JsonSet) or change.compose is None:
        return ABSENT
    if held is None:
        return ABSENT if found is ABSENT else change.compose(found)
    was = None if held.was is None else jsonc.parse(held.was)
    return ABSENT if was is None else change.compose(was.value)


def _conflict(file: WorkspaceFile, where: Spot) -> ConflictError:
    name = ".".join(where.keys)
    if where.kind == "file":
        return ConflictError(
            f"{file.path} is there, and not as wc wrote it.",
            "It was left as it is. Move it elsewhere, then run it again.",
        )
    if where.kind == "block":
        name = "the watercooler block"
    return ConflictError(
        f"{file.path} has {name} already, with other content.",
        "It was left as it is. Take it out by hand, then run it again.",
    )


def _unreadable(path: str, error: Unreadable) -> CorruptError:
    where = f":{error.line}:{error.column}" if error.column else f":{error.line}"
    return CorruptError(
        f"{path}{where if error.line else ''}: {error.problem}.",
        "It was left as it is. Fix the file, then run it again.",
    )
