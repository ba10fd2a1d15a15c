"""What we did to which file, for whom, and how the file was before.

It lies in ``~/.watercooler/install``: ``ledger.json``, a copy of each file as it
would be without us under ``backups`` by its SHA-256, and a lock. All of it goes
with the last change.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from typing import TYPE_CHECKING, Any, NamedTuple

from wc_cli.install import disk
from wc_cli.install.formats.edits import Spot
from wc_cli.store import locks
from wc_core.errors import CorruptError, LockTimeoutError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

_VERSION = 1
_SECONDS = 10.0


class Owner(NamedTuple):
    """For whom a change is: a part of a client, of one project or of the user
    (``""``)."""

    client: str
    part: str
    project: str = ""


class Record(NamedTuple):
    """A change that was made. ``was`` is how the value in its place was written,
    if there was one; ``piece`` what `editing.put` said."""

    spot: Spot
    owners: tuple[Owner, ...]
    was: str | None = None
    piece: str = ""


class LedgerFile(NamedTuple):
    """A file with changes of ours: the hash it would have without them (``None``:
    no file), the one that we left it with, what we made for them."""

    base: str | None
    after: str
    records: tuple[Record, ...]
    made: tuple[tuple[str, ...], ...] = ()
    folders: tuple[str, ...] = ()


def digest(data: bytes) -> str:
    """The name of a content."""
    return hashlib.sha256(data).hexdigest()


class Ledger:
    """The book of one home; ``files`` is by real path. Held by one process."""

    def __init__(self, home: Path) -> None:
        self.folder = f"{home}/.watercooler/install"
        self._path = f"{self.folder}/ledger.json"
        self.files: dict[str, LedgerFile] = {}
        data = disk.read(self._path)
        if data is not None:
            self.files = self._parsed(data)

    def _parsed(self, data: bytes) -> dict[str, LedgerFile]:
        try:
            book = json.loads(data)
            if book["version"] != _VERSION:
                raise CorruptError(
                    f"{self._path} was written by another version of wc.",
                    "Use that one, or a newer one.",
                )
            return {path: _kept(fields) for path, fields in book["files"].items()}
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise CorruptError(
                f"{self._path} cannot be read: {error}.",
                f"Backups of your files are in {self.folder}/backups. Move the"
                " ledger away to begin anew.",
            ) from error

    def base(self, kept: LedgerFile) -> bytes | None:
        """How a file would be without us. Raises CorruptError."""
        if kept.base is None:
            return None
        path = self._backup(kept.base)
        data = disk.read(path)
        if data is None or digest(data) != kept.base:
            raise CorruptError(
                f"The backup {path} is missing or damaged.",
                "Change the file once, so that only our part is taken out of it.",
            )
        return data

    def keep(self, data: bytes | None) -> str | None:
        """Put a copy away; its name."""
        if data is None:
            return None
        name = digest(data)
        path = self._backup(name)
        if disk.read(path) != data:
            disk.make_folders(disk.missing(os.path.dirname(path)))
            disk.write(path, data, mode=0o600)
        return name

    def save(self) -> None:
        """Write the book."""
        if self.files:
            files = {path: _fields(kept) for path, kept in sorted(self.files.items())}
            book = {"version": _VERSION, "files": files}
            data = json.dumps(book, indent=1).encode()
            disk.make_folders(disk.missing(self.folder))
            disk.write(self._path, data, mode=0o600)
        else:
            disk.remove(self._path)
        self.sweep()

    def sweep(self) -> None:
        """Drop the backups that nothing in the book names, and what somebody who was
        killed left behind."""
        disk.remove(disk.half_of(self._path))
        named = {kept.base for kept in self.files.values()}
        folder = f"{self.folder}/backups"
        for name in _names(folder):
            if name not in named:
                disk.remove(f"{folder}/{name}")
        disk.remove_folders([folder])

    def forget(self, path: str) -> None:
        """Strike out a file. What is left of the folders made for it goes with the
        next file of ours in them."""
        kept = self.files.pop(path, None)
        for folder in kept.folders if kept else ():
            heir = next((one for one in self.files if one.startswith(f"{folder}/")), "")
            if heir:
                theirs = {folder, *self.files[heir].folders}
                # Those above come first: their names are the shorter ones.
                folders = tuple(sorted(theirs))
                self.files[heir] = self.files[heir]._replace(folders=folders)

    def _backup(self, name: str) -> str:
        return f"{self.folder}/backups/{name}"

    def owners(self) -> set[Owner]:
        """All for whom something was changed."""
        records = (one for kept in self.files.values() for one in kept.records)
        return {owner for record in records for owner in record.owners}


def _names(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except FileNotFoundError:
        return []


@contextlib.contextmanager
def opened(home: Path) -> Iterator[Ledger]:
    """The ledger for the block, for this process alone.

    Raises LockTimeoutError, CorruptError, StorageError.
    """
    top = f"{home}/.watercooler"
    folder = f"{top}/install"
    try:
        with locks.locked(f"{folder}/lock", "wc install", _SECONDS):
            try:
                book = Ledger(home)
                book.sweep()
                yield book
            finally:
                # While it is held: whoever waits for it makes another.
                disk.remove(f"{folder}/lock")
    except LockTimeoutError as error:
        raise LockTimeoutError(
            f"Another wc install is running: {locks.holder_of(f'{folder}/lock')}.",
            "Nothing was changed. Run it again when that one is done.",
        ) from error
    disk.remove_folders([top, folder])


def tidy(home: Path) -> None:
    """Remove what was left by somebody who was killed before anything was changed.

    Raises as `opened` does.
    """
    if os.path.isdir(f"{home}/.watercooler/install"):
        with opened(home):
            pass


def _fields(kept: LedgerFile) -> dict[str, Any]:
    records = [{**one._asdict(), "spot": one.spot._asdict()} for one in kept.records]
    return {**kept._asdict(), "records": records}


def _kept(fields: Mapping[str, Any]) -> LedgerFile:
    return LedgerFile(
        fields["base"],
        fields["after"],
        tuple(_record(one) for one in fields["records"]),
        _tuples(fields["made"]),
        tuple(fields["folders"]),
    )


def _record(fields: Mapping[str, Any]) -> Record:
    spot = fields["spot"]
    where = Spot(spot["kind"], tuple(spot["keys"]), spot["value"])
    owners = tuple(Owner(*one) for one in fields["owners"])
    return Record(where, owners, fields["was"], fields["piece"])


def _tuples(lists: Iterable[Iterable[str]]) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(one) for one in lists)
