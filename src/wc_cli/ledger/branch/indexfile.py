"""Writes git's index of a checkout whose files wc has written (gitformat-index(5)).

git itself would read every file again to make it, through the user's filters.
"""

from __future__ import annotations

import hashlib
import os
import struct

from wc_cli.ledger.store import durable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from wc_cli.ledger.branch.trees import TreeItem
    from wc_core.ledger.git.repository import Repository

_HEADER = struct.Struct(">4sLL")
_PLAIN, _EXTENDED = 2, 3
# The times of an entry, and where and what its file is.
_STATE = struct.Struct(">10L")
_WORD = 0xFFFFFFFF
_SECOND_NS = 1_000_000_000
# The flags: the length of the name, at most; whether more flags follow; and of these,
# that git is to leave the file out of the folder, and its entry alone.
_MAX_NAME, _MORE, _SKIPPED = 0xFFF, 0x4000, 0x4000
_ALIGNED = 8
_SHA1_LENGTH = 40


def write(
    checkout: Repository,
    commit: str,
    items: Mapping[str, TreeItem],
    states: Mapping[str, os.stat_result],
) -> None:
    """Write the index of a checkout that has none: with the ``items`` of its ``commit``
    in git's order, and the states of those that are on disk. Raises OSError."""
    version = _PLAIN if len(states) == len(items) else _EXTENDED
    parts = [_HEADER.pack(b"DIRC", version, len(items))]
    parts += _entries(items, states)
    data = b"".join(parts)
    # The hash of git's object format; nothing here relies on its security.
    algorithm = "sha1" if len(commit) == _SHA1_LENGTH else "sha256"
    digest = hashlib.new(algorithm, data, usedforsecurity=False).digest()
    path = f"{checkout.gitdir}/index"
    durable.write_new(f"{path}.wc", data + digest)
    os.replace(f"{path}.wc", path)


def _entries(
    items: Mapping[str, TreeItem], states: Mapping[str, os.stat_result]
) -> Iterator[bytes]:
    for path, item in items.items():
        name, state = os.fsencode(path), states.get(path)
        flags = struct.pack(">H", min(len(name), _MAX_NAME))
        if state is None:
            length = min(len(name), _MAX_NAME)
            flags = struct.pack(">HH", length | _MORE, _SKIPPED)
        entry = b"".join(
            (_STATE.pack(*_fields(item, state)), bytes.fromhex(item.blob), flags, name)
        )
        yield entry + bytes(_ALIGNED - len(entry) % _ALIGNED)


def _fields(item: TreeItem, state: os.stat_result | None) -> tuple[int, ...]:
    mode = _mode(item)
    if state is None:
        return (0, 0, 0, 0, 0, 0, mode, 0, 0, 0)
    return (
        *divmod(state.st_ctime_ns, _SECOND_NS),
        *divmod(state.st_mtime_ns, _SECOND_NS),
        *(state.st_dev & _WORD, state.st_ino & _WORD, mode),
        *(state.st_uid, state.st_gid, state.st_size & _WORD),
    )


def _mode(item: TreeItem) -> int:
    """The mode as the index has it: files of old commits may have others."""
    mode = int(item.mode, 8)
    if not item.is_file:
        return mode
    return 0o100755 if mode & 0o100 else 0o100644
