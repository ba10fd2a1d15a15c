"""The ledger: which change was made to which file, for which parts, and the original.

The folder ``~/.watercooler/install`` contains ``ledger.json``, a copy of each file as
it would be without us under ``backups``, named by its SHA-256, a lock, and the user
that git is configured for (`wc_core.people.identity.userrecord`). It is removed with
the last change.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os

from wc_cli.agents.install import disk
from wc_cli.agents.install.formats.edits import Spot
from wc_cli.ledger.store import lockowners, locks
from wc_core.base.errors import CorruptError, LockTimeoutError
from wc_core.base.values import NamedTuple
from wc_core.people.identity import userrecord

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path
    from typing import Any

_VERSION = 1
_SECONDS = 10.0


class Owner(NamedTuple):
    """The part of a client that a change belongs to, in a project or, with ``""``, for
    the user."""

    client: str
    part: str
    project: str = ""


class Record(NamedTuple):
    """A change that was made.

    ``was`` is the user's value that it replaced, as written, and ``piece`` that of
    `wc_cli.agents.install.formats.jsonc.Edited`.
    """

    spot: Spot
    owners: tuple[Owner, ...]
    was: str | None = None
    piece: str = ""


class LedgerFile(NamedTuple):
    """A file with changes of ours.

    ``base`` is the hash of the file without them (``None``: no file), ``after`` the
    hash after our last write; ``made`` are the paths of objects, ``folders`` the
    folders that we created for them.
    """

    base: str | None
    after: str
    records: tuple[Record, ...]
    made: tuple[tuple[str, ...], ...] = ()
    folders: tuple[str, ...] = ()


def digest(data: bytes) -> str:
    """The SHA-256 of a content."""
    return hashlib.sha256(data).hexdigest()


class Ledger:
    """The ledger of a home folder; ``files`` has a page for each real path.

    Only one process has it at a time: see `open_ledger`.
    """

    def __init__(self, home: Path) -> None:
        self.folder = f"{home}/.watercooler/install"
        self._path = f"{self.folder}/ledger.json"
        self.files: dict[str, LedgerFile] = {}
        data = disk.read(self._path)
        if data is not None:
            self.files = self._parsed(data)

    def _parsed(self, data: bytes) -> dict[str, LedgerFile]:
        try:
            fields = json.loads(data)
            if fields["version"] != _VERSION:
                raise CorruptError(
                    f"{self._path} was written by another version of wc.",
                    "Use that version, or a newer one.",
                )
            pages = fields["files"].items()
            return _by_real_path({path: _page_from(page) for path, page in pages})
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise CorruptError(
                f"{self._path} cannot be read: {error}.",
                f"Backups of your files are in {self.folder}/backups. Move the ledger "
                "away to start over.",
            ) from error

    def base(self, page: LedgerFile) -> bytes | None:
        """The bytes that a file would have without us. Raises CorruptError."""
        if page.base is None:
            return None
        path = self._backup(page.base)
        data = disk.read(path)
        if data is None or digest(data) != page.base:
            raise CorruptError(
                f"The backup {path} is missing or damaged.",
                "Change the file, then run it again: only our part is removed from it.",
            )
        return data

    def keep(self, data: bytes | None) -> str | None:
        """Store a copy of a file. Returns its name."""
        if data is None:
            return None
        name = digest(data)
        path = self._backup(name)
        if disk.read(path) != data:
            disk.make_folders(disk.missing_folders(os.path.dirname(path)))
            disk.write(path, data, mode=0o600)
        return name

    def save(self) -> None:
        """Write the ledger; an empty one is removed."""
        if self.files:
            files = {
                path: _page_fields(page) for path, page in sorted(self.files.items())
            }
            data = json.dumps({"version": _VERSION, "files": files}, indent=1).encode()
            disk.make_folders(disk.missing_folders(self.folder))
            disk.write(self._path, data, mode=0o600)
        else:
            disk.remove(self._path)
            disk.remove(f"{self.folder}/{userrecord.FILE}")
        self.sweep()

    def sweep(self) -> None:
        """Remove the backups that no page refers to, and leftovers of killed
        processes."""
        disk.remove(disk.half_of(self._path))
        used = {page.base for page in self.files.values()}
        folder = f"{self.folder}/backups"
        for name in os.listdir(folder) if os.path.isdir(folder) else ():
            if name not in used:
                disk.remove(f"{folder}/{name}")
        disk.remove_folders([folder])

    def forget(self, path: str) -> None:
        """Drop the page of a file. Folders created for it that are still in use are
        handed over to another file of ours in them."""
        page = self.files.pop(path, None)
        for folder in page.folders if page else ():
            heirs = (name for name in self.files if name.startswith(f"{folder}/"))
            heir = next(heirs, "")
            if heir:
                inherited = {folder, *self.files[heir].folders}
                # Outer folders come first, because their names are shorter.
                folders = tuple(sorted(inherited))
                self.files[heir] = self.files[heir]._replace(folders=folders)

    def _backup(self, name: str) -> str:
        return f"{self.folder}/backups/{name}"

    def owners(self) -> set[Owner]:
        """All owners of changes."""
        records = (record for page in self.files.values() for record in page.records)
        return {owner for record in records for owner in record.owners}


@contextlib.contextmanager
def open_ledger(home: Path) -> Iterator[Ledger]:
    """Lock the ledger and read it, for the duration of a ``with`` block.

    Raises LockTimeoutError, CorruptError, StorageError.
    """
    top = f"{home}/.watercooler"
    folder = f"{top}/install"
    try:
        with locks.locked(f"{folder}/lock", "wc install", _SECONDS):
            try:
                ledger = Ledger(home)
                ledger.sweep()
                yield ledger
            finally:
                # Still locked: a process that waits for the lock creates another.
                disk.remove(f"{folder}/lock")
    except LockTimeoutError as error:
        holder = lockowners.current_holder(f"{folder}/lock")
        raise LockTimeoutError(
            f"Another wc install is running: {holder}.",
            "Nothing was changed. Run it again when that one is done.",
        ) from error
    disk.remove_folders([top, folder])


def tidy(home: Path) -> None:
    """Remove leftovers of a process that was killed before it changed anything.

    Raises as `open_ledger` does.
    """
    if os.path.isdir(f"{home}/.watercooler/install"):
        with open_ledger(home):
            pass


def _by_real_path(pages: dict[str, LedgerFile]) -> dict[str, LedgerFile]:
    """The pages by the real paths that their files have now: people move settings into
    a dotfiles folder and leave a link. A link in a project is not followed, because
    others can push it."""
    files: dict[str, LedgerFile] = {}
    for path, page in pages.items():
        owners = {owner for record in page.records for owner in record.owners}
        is_own = not any(owner.project for owner in owners)
        real = disk.real_path(path) if is_own else path
        existing = files.get(real)
        if existing is None:
            files[real] = page
        else:
            slots = {record.spot.slot for record in existing.records}
            other_records = (
                item for item in page.records if item.spot.slot not in slots
            )
            files[real] = existing._replace(records=(*existing.records, *other_records))
    return files


def _page_fields(page: LedgerFile) -> dict[str, Any]:
    records = [
        {**record._asdict(), "spot": record.spot._asdict()} for record in page.records
    ]
    return {**page._asdict(), "records": records}


def _page_from(fields: Mapping[str, Any]) -> LedgerFile:
    return LedgerFile(
        fields["base"],
        fields["after"],
        tuple(_record_from(record) for record in fields["records"]),
        tuple(tuple(keys) for keys in fields["made"]),
        tuple(fields["folders"]),
    )


def _record_from(fields: Mapping[str, Any]) -> Record:
    kind, keys, value = (fields["spot"][name] for name in ("kind", "keys", "value"))
    spot = Spot(kind, tuple(keys), value)
    owners = tuple(Owner(*owner) for owner in fields["owners"])
    return Record(spot, owners, fields["was"], fields["piece"])
