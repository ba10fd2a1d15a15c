"""The files to change, as they will be: changes edit their texts in memory.

Only `Workspace.write` writes. A part that is refused halfway is rolled back as if it
had never been tried.
"""

from __future__ import annotations

import contextlib
import os
import time
from functools import partial

from wc_cli.agents.install import decisions, disk
from wc_cli.agents.install.formats import edits
from wc_cli.agents.install.formats.jsonc import UnreadableError
from wc_cli.agents.install.ledger import Ledger, LedgerFile, Owner, Record, digest
from wc_core.base.errors import ConflictError, CorruptError, WcError
from wc_core.base.values import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from wc_cli.agents.install.changes import Change
    from wc_cli.agents.install.decisions import Decision
    from wc_cli.agents.install.formats.edits import Spot

_UNTOUCHED = LedgerFile(None, "", ())

# Seconds in which a program that was writing a file at the same time is done, and how
# often a file is read in them.
_MOMENT, _READINGS = 0.05, 5


class WorkspaceFile(NamedTuple):
    """A file: its bytes on disk, its planned text, and its page of the ledger."""

    path: str
    data: bytes | None
    text: str | None
    page: LedgerFile

    @property
    def old(self) -> str | None:
        """Its text on disk."""
        return None if self.data is None else self.data.decode()

    @property
    def new(self) -> bytes | None:
        """Its planned bytes."""
        return None if self.text is None else self.text.encode()


class _Written(NamedTuple):
    """A file that was written, its page of the ledger and its original before that, and
    the file that it replaced, opened."""

    file: WorkspaceFile
    page: LedgerFile
    base: bytes | None
    replaced: int | None


class Workspace:
    """The files read so far, by real path, on top of a ledger."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._files: dict[str, WorkspaceFile] = {}
        self._written: list[_Written] = []

    def file(self, path: str) -> WorkspaceFile:
        """A file as it will be. Raises StorageError, CorruptError."""
        path = disk.real_path(path)
        if path not in self._files:
            data = disk.read(path)
            if data == b"":
                data = _settled(partial(disk.read, path), None)
            try:
                text = None if data is None else data.decode()
            except UnicodeDecodeError as error:
                line = data[: error.start].count(b"\n") + 1 if data else 0
                raise _corrupt_error(path, UnreadableError("not UTF-8", line)) from None
            page = self._ledger.files.get(path, _UNTOUCHED)
            self._files[path] = WorkspaceFile(path, data, text, page)
        return self._files[path]

    def attempt(self, work: Callable[[], None]) -> WcError | None:
        """Change files whole or not at all. Returns the error if refused."""
        before = dict(self._files)
        try:
            work()
        except WcError as error:
            self._files = before
            return error
        return None

    def has(self, change: Change) -> bool:
        """Whether a change is in its file already: ours in this form, or a value of the
        user's that is as good."""
        before = dict(self._files)
        try:
            text = self.file(str(change.path)).text
            self.apply(change, Owner("", ""))
            return self.file(str(change.path)).text == text
        except WcError:
            return False
        finally:
            self._files = before

    def changed(self) -> list[WorkspaceFile]:
        """The files that will change, by path."""
        return [file for file in sorted(self._files.values()) if file.new != file.data]

    def texts(self) -> dict[str, str | None]:
        """The planned text of each file, by path."""
        return {path: file.text for path, file in self._files.items()}

    def different(self, before: dict[str, str | None]) -> tuple[str, ...]:
        """The files whose planned text differs from that in ``before``."""
        return tuple(
            path
            for path, file in sorted(self._files.items())
            if file.text != before.get(path, file.old)
        )

    # Adding changes.

    def apply(self, change: Change, owner: Owner) -> None:
        """Put a change into its file for an owner, unless it is there.

        Raises CorruptError, ConflictError, StorageError.
        """
        file = self.file(str(change.path))
        try:
            decision = decisions.decide(change, file.text, file.page)
            if decision.action == decisions.REFUSE:
                raise _conflict_error(file.path, decision.spot)
            if decision.action == decisions.RECORD and decision.record is not None:
                owned = decisions.with_owner(decision.record, owner)
                self._record(file, decision.record, owned._replace(spot=decision.spot))
            elif decision.action == decisions.WRITE:
                self._insert(file, decision, owner)
        except UnreadableError as error:
            raise _corrupt_error(file.path, error) from error

    def _insert(self, file: WorkspaceFile, decision: Decision, owner: Owner) -> None:
        """Edit a file's text as decided, and record the change for its owner."""
        disk.check(file.path)
        edited = edits.insert(file.text, decision.spot, decision.piece)
        created = tuple(keys for keys in edited.made if keys not in file.page.made)
        page = file.page._replace(made=(*file.page.made, *created))
        owners = () if decision.record is None else decision.record.owners
        record = Record(decision.spot, owners, decision.was, edited.piece)
        file = file._replace(text=edited.text, page=page)
        self._record(file, decision.record, decisions.with_owner(record, owner))

    def _record(self, file: WorkspaceFile, old: Record | None, new: Record) -> None:
        """Add a record to the file's page, or replace the previous one."""
        records = list(file.page.records)
        if old is None:
            records.append(new)
        else:
            records[records.index(old)] = new
        page = file.page._replace(records=tuple(records))
        self._files[file.path] = file._replace(page=page)

    # Removing changes.

    def withdraw(self, path: str, slot: tuple[str, ...], owner: Owner) -> bool:
        """Remove a change from its file, unless another owner needs it.

        Returns False if a user has edited the change since: the edit stays. Raises
        CorruptError, StorageError.
        """
        if owner.project:
            disk.require_inside(path, owner.project)
        file = self.file(path)
        (record,) = [item for item in file.page.records if item.spot.slot == slot]
        owners = tuple(item for item in record.owners if item != owner)
        if owners:
            self._record(file, record, record._replace(owners=owners))
            return True
        remaining = tuple(item for item in file.page.records if item is not record)
        try:
            text, clean = self._text_without(file, record, remaining)
        except UnreadableError as error:
            raise _corrupt_error(file.path, error) from error
        if text != file.text:
            disk.check(file.path)
        page = file.page._replace(records=remaining)
        self._files[file.path] = file._replace(text=text, page=page)
        return clean

    def _text_without(
        self, file: WorkspaceFile, record: Record, remaining: tuple[Record, ...]
    ) -> tuple[str | None, bool]:
        """The text without a change, and whether the change was still as we made it.

        When the last change of a file that nobody else edited is removed, the original
        comes back byte for byte. Raises UnreadableError.
        """
        text, clean = decisions.without_changes(file.text, [record])
        if text is not None:
            text = decisions.without_empty(text, record.spot.kind, file.page)
        if not remaining and digest(file.data or b"") == file.page.after:
            base = self._ledger.base(file.page)
            return None if base is None else base.decode(), True
        return text, clean

    # Writing.

    def write(self) -> list[tuple[str, WcError]]:
        """Write every changed file whole.

        Returns the files that could not be written, with the error. Raises StorageError
        if the ledger cannot be written.
        """
        failures: list[tuple[str, WcError]] = []
        for file in sorted(self._files.values()):
            if file.new == file.data and file.page == self._before(file):
                continue
            try:
                self._write(file)
            except WcError as error:
                failures.append((file.path, error))
        return failures

    def _before(self, file: WorkspaceFile) -> LedgerFile:
        return self._ledger.files.get(file.path, _UNTOUCHED)

    def _write(self, file: WorkspaceFile) -> None:
        """Write one file and its page of the ledger."""
        if disk.real_path(file.path) != file.path:
            raise disk.changed_error(file.path)  # a folder has become a link
        disk.remove(disk.half_of(file.path))
        if file.page.records:
            self._write_changes(file)
        else:
            self._write_original(file)

    def _write_original(self, file: WorkspaceFile) -> None:
        """Write a file that has none of our changes left, then drop its page."""
        if file.new != file.data:
            self._replace(file, None)
        if file.new is None:
            disk.remove_folders(self._before(file).folders)
        self._ledger.forget(file.path)
        self._ledger.save()

    def _write_changes(self, file: WorkspaceFile) -> None:
        """Write the page of the ledger, then the file: after a crash in between, the
        ledger must know everything that is in the file."""
        before = self._before(file)
        base = self._ledger.keep(self._base(file, before))
        folder = file.path.rpartition("/")[0]
        missing = disk.missing_folders(folder) if file.new is not None else ()
        after = digest(file.new or b"")
        folders = before.folders + missing
        page = file.page._replace(base=base, after=after, folders=folders)
        self._ledger.files[file.path] = page
        try:
            self._ledger.save()
            disk.make_folders(missing)
            if file.new != file.data:
                # A user's program settings may contain keys later.
                mode = None if _is_shared(file.page) else 0o600
                self._replace(file, mode, before)
        except WcError:
            self._ledger.files[file.path] = before
            if before is _UNTOUCHED:
                del self._ledger.files[file.path]
                disk.remove_folders(missing)
            self._ledger.save()
            raise

    def _replace(
        self, file: WorkspaceFile, mode: int | None, page: LedgerFile | None = None
    ) -> None:
        page = self._before(file) if page is None else page
        base = None
        with contextlib.suppress(CorruptError):  # it is only needed for `lost`
            base = self._ledger.base(page)
        replaced = disk.take_place(file.path, file.data, file.new, mode=mode)
        self._written.append(_Written(file, page, base, replaced))

    # Other programs that write at the same moment.

    def lost(self) -> tuple[str, ...]:
        """The written files in which another program undid our changes since, or which
        replaced what it was writing; its version is in place then.

        Waits a moment first. The ledger is such that the same plan, made again, does
        what is missing. Raises StorageError.
        """
        if self._written:
            time.sleep(_MOMENT)
        written, self._written = self._written, []
        try:
            return tuple(item.file.path for item in written if self._is_lost(item))
        finally:
            for item in written:
                if item.replaced is not None:
                    os.close(item.replaced)

    def _is_lost(self, item: _Written) -> bool:
        file, handle = item.file, item.replaced
        client_data = file.data
        if handle is not None:
            client_data = _settled(partial(disk.content, handle), file.data)
        is_hidden = client_data not in {file.data, b""}
        if is_hidden and disk.read(file.path) == file.new:
            with contextlib.suppress(ConflictError):  # a still newer version stays
                disk.replace(file.path, file.new, client_data)
        data = _settled(partial(disk.read, file.path), file.new)
        missing, returned = _differences(item, data)
        if returned:
            page = file.page if file.page.records else item.page
            records = (*file.page.records, *returned)
            self._ledger.keep(item.base)
            self._ledger.files[file.path] = page._replace(records=records)
            self._ledger.save()
        return is_hidden or missing or bool(returned)

    def _base(self, file: WorkspaceFile, before: LedgerFile) -> bytes | None:
        """The bytes that the file on disk would have without us."""
        if not before.records or file.data is None:
            return file.data
        if digest(file.data) == before.after:
            return self._ledger.base(before)
        try:
            text, _ = decisions.without_changes(file.data.decode(), before.records)
            for kind in sorted({record.spot.kind for record in before.records}):
                if text is not None:
                    text = decisions.without_empty(text, kind, before)
        except UnreadableError as error:
            raise _corrupt_error(file.path, error) from error
        return None if text is None else text.encode()


def _settled(read: Callable[[], bytes | None], expected: bytes | None) -> bytes | None:
    """What is expected, or read twice in a row and not empty if there is time: another
    program may be writing it."""
    data = read()
    for _ in range(_READINGS):
        if data == expected:
            break
        time.sleep(_MOMENT / _READINGS)
        previous, data = data, read()
        if data and data == previous:
            break
    return data


def _differences(item: _Written, data: bytes | None) -> tuple[bool, list[Record]]:
    """Whether a change of ours is missing in the bytes of a written file, and the
    changes in them that had been taken out."""
    file = item.file
    if data == file.new:
        return False, []
    slots = {record.spot.slot for record in file.page.records}
    removed = [item for item in item.page.records if item.spot.slot not in slots]
    try:
        text = None if data is None else data.decode()
        missing = any(not _is_there(record, text) for record in file.page.records)
        return missing, [record for record in removed if _is_there(record, text)]
    except (UnreadableError, UnicodeDecodeError):
        return True, []


def _is_there(record: Record, text: str | None) -> bool:
    value = edits.value_at(text, record.spot)
    return edits.are_same(value, record.spot.value)


def _is_shared(page: LedgerFile) -> bool:
    """Whether a file belongs to a project."""
    return any(owner.project for record in page.records for owner in record.owners)


def _conflict_error(path: str, spot: Spot) -> ConflictError:
    name = ".".join(spot.keys)
    if spot.kind == edits.FILE:
        return ConflictError(
            f"{path} exists, but wc did not write it like this.",
            "It was left as it is. Move it elsewhere, then run it again.",
        )
    if spot.kind == edits.BLOCK:
        name = "the watercooler block"
    return ConflictError(
        f"{path} already has {name}, with other content.",
        "It was left as it is. Remove it by hand, then run it again.",
    )


def _corrupt_error(path: str, error: UnreadableError) -> CorruptError:
    place = f":{error.line}:{error.column}" if error.column else f":{error.line}"
    return CorruptError(
        f"{path}{place if error.line else ''}: {error.problem}.",
        "It was left as it is. Fix the file, then run it again.",
    )
