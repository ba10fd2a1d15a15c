"""The output of an agent, in a file of limited size that only its user can read."""

from __future__ import annotations

import os

from wc_cli.agents.runs.redaction import without_secrets
from wc_core.attention.runs import records
from wc_core.base.files import read_from, size_of
from wc_core.base.lean import contextlib
from wc_core.base.text import clean
from wc_core.base.values import NamedTuple
from wc_core.ledger.git.private import private_layout

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from wc_core.base.layout import Layout

# An output of more than this is cut to its end.
_MAX, _KEPT = 8 << 20, 1 << 20
# How much of its end is read for its last lines; the first part of that only because a
# secret may begin there.
_TAIL, _BEFORE_TAIL = 16 << 10, 8 << 10


class RunOutput(NamedTuple):
    """The output of a thread's agent: its file, in the store at ``root``, and the
    variables that its agent has."""

    path: str
    root: str
    env: Mapping[str, str]

    @classmethod
    def of(cls, layout: Layout, topic: str, env: Mapping[str, str]) -> RunOutput:
        """Return the output of the agent of a thread."""
        root = private_layout(layout).root
        return cls(records.log_of(layout, topic), root, env)

    def open(self) -> int:
        """Open the file to append to it, emptied. Raises OSError."""
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_TRUNC | os.O_NOFOLLOW
        return os.open(self.path, flags | os.O_CLOEXEC, 0o600)

    def limit(self) -> None:
        """Cut it to its end if it has become too long. What its agent writes at this
        moment may be lost."""
        with contextlib.suppress(OSError):
            if size_of(self.path, self.root) <= _MAX:
                return
            end = self._end(_KEPT)
            handle = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_NOFOLLOW)
            try:
                os.ftruncate(handle, 0)
                os.write(handle, end[end.find(b"\n") + 1 :])
            finally:
                os.close(handle)

    def finish(self) -> None:
        """After its agent has ended: replace the file by one without secrets, which
        nothing that the agent has left running writes to."""
        half = f"{self.path}.{os.getpid()}"
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
        self.limit()
        with contextlib.suppress(OSError):
            text = self._end(_MAX).decode(errors="surrogateescape")
            data = without_secrets(text, self.env).encode(errors="surrogateescape")
            with os.fdopen(os.open(half, flags, 0o600), "wb") as file:
                file.write(data)
            os.replace(half, self.path)

    def text(self) -> str:
        """Return it without what a terminal obeys, and without secrets. Raises
        OSError."""
        return self._readable(self._end(_MAX))

    def last_lines(self, count: int) -> list[str]:
        """Return its last lines that are not blank, as those of `text`."""
        with contextlib.suppress(OSError):
            text = self._readable(self._end(_BEFORE_TAIL + _TAIL))[-_TAIL:]
            lines = (line.strip() for line in text.split("\n"))
            return [line for line in lines if line][-count:]
        return []

    def _readable(self, data: bytes) -> str:
        text = clean(data.decode(errors="replace").replace("\r", "\n"))
        return without_secrets(text, self.env)

    def _end(self, length: int) -> bytes:
        start = max(0, size_of(self.path, self.root) - length)
        return read_from(self.path, self.root, start)
