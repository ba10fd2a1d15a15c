"""Reads JSON files that other tools keep rewriting, some of them carelessly.

Some tools truncate a file and write it again, so a reader may find half of it, or
nothing. An unreadable file is tried again for some milliseconds. After that the result
is its last good state, marked as such.
"""

from __future__ import annotations

import json
import os
import time

from wc_core.base.files import Folder
from wc_core.base.values import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# A hundred times the size of any such file: a larger one is something else.
MAX_BYTES = 1 << 20
# Seconds before each further attempt to read a file that is being written.
_RETRY_DELAYS = (
    *(0.0002, 0.0003, 0.0005, 0.0005, 0.0005),
    *(0.0005, 0.0005, 0.001, 0.001),
)
# Seconds after the last change until a write is no longer in progress.
_WRITE_SECONDS = 2.0
# The size of all files, in bytes, whose last good states are kept.
_MAX_KEPT_BYTES = 16 << 20

REWRITTEN = "is being rewritten right now"
_BROKEN = "is not JSON, and is not being written"
_NO_OBJECT = "holds no JSON object"


class FileState(NamedTuple):
    """The state in a file.

    ``fields`` is its JSON object, ``None`` if there is none. ``changed_ms`` is when the
    file with this object was written, -1 if unknown. ``problem`` is why the file cannot
    be read now; ``last_good`` if the fields are from before that. Everything is empty
    if there is no file.
    """

    fields: dict[str, Any] | None = None
    changed_ms: int = -1
    problem: str = ""
    last_good: bool = False


ABSENT = FileState()


class StateFiles:
    """Reads such files, and keeps the last good state of each.

    Threads may share a reader: each change of the kept states is a single step.
    """

    def __init__(self) -> None:
        self._kept: dict[str, tuple[FileState, int]] = {}

    def read(self, path: str, root: str) -> FileState:
        """Read a file. Returns its state, or the last good one.

        Raises nothing, and reads nothing outside ``root``.
        """
        try:
            with Folder(os.path.dirname(path), root) as folder:
                return self._read(folder, path)
        except OSError as error:
            return self._last_good(path, -1, error.strerror or "cannot be read")

    def _read(self, folder: Folder, path: str) -> FileState:
        """Try to read a file until there is a state, or it stopped changing."""
        state, size, may_change = _attempt(folder, path)
        if state == ABSENT and path not in self._kept:
            return ABSENT
        for delay in _RETRY_DELAYS:
            if state.fields is not None or not may_change:
                break
            time.sleep(delay)
            state, size, may_change = _attempt(folder, path)
        if state.fields is not None:
            self._keep(path, state, size)
        elif state == ABSENT:
            self._kept.pop(path, None)
        else:
            return self._last_good(path, state.changed_ms, state.problem)
        return state

    def _keep(self, path: str, state: FileState, size: int) -> None:
        """Keep a state, and forget the oldest ones if there are too many bytes."""
        self._kept.pop(path, None)
        self._kept[path] = (state, size)
        kept = [*self._kept.items()]
        total = sum(size for _, (_, size) in kept)
        for oldest, (_, size_of_oldest) in kept:
            if total <= _MAX_KEPT_BYTES:
                break
            self._kept.pop(oldest, None)
            total -= size_of_oldest

    def _last_good(self, path: str, changed_ms: int, problem: str) -> FileState:
        kept = self._kept.get(path)
        if kept is None:
            return FileState(None, changed_ms, problem)
        return kept[0]._replace(problem=problem, last_good=True)


def _attempt(folder: Folder, path: str) -> tuple[FileState, int, bool]:
    """Try once to read a file. Returns its state, its size, and whether another attempt
    may have another result."""
    changed_ms = folder.changed_ns(path) // 1_000_000
    data = folder.read(path, MAX_BYTES)
    if data is None:
        # Some tools remove a file before they put the new one in its place.
        return ABSENT, 0, True
    is_recent = folder.is_recent(path, _WRITE_SECONDS)
    # Only two equal readings are from one moment. Otherwise, the end of a file that is
    # being written could follow the beginning of an older one.
    if is_recent and folder.read(path, MAX_BYTES) != data:
        return FileState(None, changed_ms, REWRITTEN), 0, True
    fields, problem = _parse_object(data)
    if is_recent and problem == _BROKEN:
        problem = REWRITTEN
    return FileState(fields, changed_ms, problem), len(data), is_recent


def _parse_object(data: bytes) -> tuple[dict[str, Any] | None, str]:
    """Decode the JSON object in a file, or return the problem.

    Any encoding that JSON allows is accepted, with U+FFFD for invalid bytes.
    """
    try:
        text = data.decode(json.detect_encoding(data), errors="replace")
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None, _BROKEN
    return (value, "") if isinstance(value, dict) else (None, _NO_OBJECT)
