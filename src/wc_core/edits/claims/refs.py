"""The refs of claims and their commits, read from git's files without running git.

Formats: gitrepository-layout(5), git-pack-refs(1). A packed commit is not read here;
`wc_core.edits.claims.book` stores what was read before.
"""

from __future__ import annotations

import os
import zlib

from wc_core.base.files import read_plain
from wc_core.base.text import is_hexadecimal
from wc_core.base.values import NamedTuple
from wc_core.edits.claims.record import FOLDER, MAX_RECORD_BYTES, REF_DIGITS
from wc_core.ledger.git.repository import is_object_id

_MAX_REF_BYTES = 1024


class RefsStamp(NamedTuple):
    """Values that change whenever the ref of a claim does: times and inodes of the
    folder of loose refs and of the file of packed ones."""

    folder_ns: int
    folder: int
    packed_ns: int
    packed: int
    packed_size: int

    def is_older(self, now_ns: int, margin_ns: int) -> bool:
        """Whether both were last changed at least ``margin_ns`` ago. Another change in
        the same tick of the clock would leave the same times."""
        return max(self.folder_ns, self.packed_ns) + margin_ns <= now_ns


def stamp(common: str) -> RefsStamp:
    """The stamp of the claims in a git directory."""
    folder = _stat(f"{common}/{FOLDER}")
    packed = _stat(f"{common}/packed-refs")
    return RefsStamp(*folder[:2], *packed)


def _stat(path: str) -> tuple[int, int, int]:
    try:
        info = os.stat(path)
    except OSError:
        return -1, 0, 0
    return info.st_mtime_ns, info.st_ino, info.st_size


def is_readable(common: str) -> bool:
    """Whether the refs are in files readable here, not in a reftable."""
    return not os.path.isdir(f"{common}/reftable")


def claim_refs(common: str, folder: str = FOLDER) -> dict[str, str]:
    """The commit of each claim, by its ref, from a folder of refs: that of this clone,
    or one for a remote's refs. Names that no claim has are ignored."""
    refs = _packed(common, folder)
    try:
        names = os.listdir(f"{common}/{folder}")
    except OSError:
        names = []  # all refs are packed, or there are none
    for name in names:
        if is_hexadecimal(name, REF_DIGITS):
            oid = _loose(f"{common}/{folder}{name}")
            if oid:
                refs[f"{FOLDER}{name}"] = oid
    return refs


def _loose(path: str) -> str:
    """The commit in the file of a loose ref; empty if it was just removed."""
    try:
        text = (read_plain(path, limit=_MAX_REF_BYTES) or b"").decode("ascii").strip()
    except (OSError, ValueError):
        return ""
    return text if is_object_id(text) else ""


def _packed(common: str, folder: str) -> dict[str, str]:
    try:
        data = read_plain(f"{common}/packed-refs") or b""
    except OSError:
        return {}
    refs = {}
    for line in data.split(b"\n"):
        if folder.encode() not in line:
            continue
        oid, _, name = line.decode("ascii", "replace").partition(" ")
        digest = name.removeprefix(folder)
        if digest != name and is_hexadecimal(digest, REF_DIGITS) and is_object_id(oid):
            refs[f"{FOLDER}{digest}"] = oid
    return refs


def loose_commit(common: str, oid: str) -> bytes | None:
    """The content of a commit in a separate file; ``None`` if it is packed, or larger
    than any record."""
    if not is_object_id(oid):
        return None  # it would name another file
    try:
        data = read_plain(f"{common}/objects/{oid[:2]}/{oid[2:]}")
        if data is None:
            return None
        content = zlib.decompressobj().decompress(data, MAX_RECORD_BYTES + 64)
    except (OSError, zlib.error):
        return None
    head, _, body = content.partition(b"\0")
    return body if head.startswith(b"commit ") else None
