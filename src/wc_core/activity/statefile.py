"""Files of JSON that other tools keep rewriting, and not all of them with care.

Some truncate a file and write it anew, so whoever reads it meanwhile finds
half of it, or nothing. What cannot be read is looked at again for some
milliseconds; then it is what it last was, and says so.
"""

from __future__ import annotations

import json
import os
import time
from typing import Any, NamedTuple

from wc_core.files import Folder

# No such file has a hundredth of this: what is larger is something else.
MAX_BYTES = 1 << 20
# Seconds between looks at a file that somebody seems to be writing.
_NAPS = (0.0002, 0.0003, 0.0005, 0.0005, 0.0005, 0.0005, 0.0005, 0.001, 0.001)
# Seconds after which nobody is at it any more.
_WRITING = 2.0
# What is kept of all files together, in bytes of theirs.
_MAX_KEPT = 16 << 20

REWRITTEN = "is being rewritten this moment"
_BROKEN = "is no JSON, and nobody is writing it"
_NO_OBJECT = "holds no JSON object"


class Found(NamedTuple):
    """What a file says.

    ``fields`` is its JSON object, ``None`` where there is none to be had.
    ``changed_ms`` is when the file was written to that said so, -1 where it is
    not known. ``problem`` is why the file cannot be read now; ``last_good``
    says that the fields are from before that. All of it is empty where there
    is no file.
    """

    fields: dict[str, Any] | None = None
    changed_ms: int = -1
    problem: str = ""
    last_good: bool = False


ABSENT = Found()


class StateFiles:
    """Such files, each with what it last said to this process.

    Threads may share one: what each of them does to it is a single step.
    """

    def __init__(self) -> None:
        self._kept: dict[str, tuple[Found, int]] = {}

    def read(self, path: str, root: str) -> Found:
        """What the file says, or said last. Nothing outside ``root`` is read,
        nothing is raised."""
        try:
            with Folder(os.path.dirname(path), root) as folder:
                return self._read(folder, path)
        except OSError as error:
            return self._last_good(path, -1, error.strerror or "cannot be read")

    def _read(self, folder: Folder, path: str) -> Found:
        problem, changed = "", -1
        for nap in (0.0, *_NAPS):
            time.sleep(nap)
            changed = folder.changed_ns(path)
            data = folder.read(path, MAX_BYTES)
            if data is None:
                if not problem and path not in self._kept:
                    return ABSENT
                # Some writers take it away before they put the new one there.
                problem = "gone"
                continue
            at_it = folder.is_recent(path, _WRITING)
            # Two readings that agree are of one moment: the end of the one
            # that somebody writes could follow the beginning of another.
            if not at_it or folder.read(path, MAX_BYTES) == data:
                fields = _object(data)
                if isinstance(fields, dict):
                    return self._keep(path, Found(fields, changed // 1_000_000), data)
                problem = REWRITTEN if at_it and fields == _BROKEN else fields
            else:
                problem = REWRITTEN
            if not at_it:
                break
        if problem == "gone":
            self._kept.pop(path, None)
            return ABSENT
        return self._last_good(path, changed // 1_000_000, problem)

    def _keep(self, path: str, found: Found, data: bytes) -> Found:
        self._kept.pop(path, None)
        self._kept[path] = (found, len(data))
        kept = [*self._kept.items()]
        total = sum(size for _, (_, size) in kept)
        for oldest, (_, size) in kept:
            if total <= _MAX_KEPT:
                break
            self._kept.pop(oldest, None)
            total -= size
        return found

    def _last_good(self, path: str, changed_ms: int, problem: str) -> Found:
        kept = self._kept.get(path)
        if kept is None:
            return Found(None, changed_ms, problem)
        return kept[0]._replace(problem=problem, last_good=True)


def _object(data: bytes) -> dict[str, Any] | str:
    """The JSON object in a file's bytes, in whatever encoding JSON may have,
    with U+FFFD for what is none; else what is wrong."""
    try:
        text = data.decode(json.detect_encoding(data), errors="replace")
        value = json.loads(text)
    except (ValueError, RecursionError):
        return _BROKEN
    return value if isinstance(value, dict) else _NO_OBJECT
