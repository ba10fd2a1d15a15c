"""The output of an agent, in a file of limited size that only its user can read."""

from __future__ import annotations

import os
import re

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
_HIDDEN = "…"
_NO_SECRET_LENGTH = 8
# Words in the names of variables whose values are secrets.
_SECRETS = ("TOKEN", "SECRET", "PASSWORD", "PASSWD", "KEY", "CREDENTIAL", "COOKIE")
# Every repetition that may be tried again from the next character has a limit: an
# output can have any form, and millions of characters.
_KEY_NAME = r"[A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----"
_TOKENS = (
    r"gh[opusr]_\w{20,}",
    r"github_pat_\w{20,}",
    r"glpat-[\w-]{20,}",
    r"(?:AKIA|ASIA)[A-Z0-9]{16}",
    r"sk-(?=[\w-]{0,40}\d)[\w-]{20,}",
    r"[rs]k_(?:live|test)_\w{16,}",
    r"xox[a-z]-[\w-]{10,}",
    r"xapp-[\w-]{10,}",
    r"AIza[\w-]{30,}",
    r"ya29\.[\w-]{20,}",
    r"hf_\w{20,}",
    r"npm_\w{30,}",
    r"pypi-[\w-]{50,}",
    r"eyJ[\w-]{10,}\.[\w-]{10,}\.[\w-]{10,}",
)
# What stays is a group with the name of the alternative.
_SHAPES = re.compile(
    rf"-----BEGIN {_KEY_NAME}(?:[\w+/=\s\\:,.]|-(?!-))*(?:-----END {_KEY_NAME})?"
    rf"|(?<![A-Za-z0-9])(?:{'|'.join(_TOKENS)})"
    r"|(?P<header>\b(?i:authorization|cookie|x-api-key)\s{0,9}:\s{0,9}"
    r"(?:(?i:basic|bearer|token)\s{1,9})?)[^\s'\"]+"
    r"|(?P<bearer>\b(?i:bearer)\s{1,9})(?=[\w.~+/=-]{0,40}\d)[\w.~+/=-]{16,}"
    rf"|(?P<name>\b[A-Z0-9_]{{0,60}}(?:{'|'.join(_SECRETS)})[A-Z0-9_]{{0,60}}=['\"]?)"
    r"[^\s'\"]{8,}"
    r"|(?P<scheme>\b[A-Za-z][A-Za-z0-9+.-]{1,20}://[^\s/@:'\"]{0,100}:)"
    r"[^\s/@'\"]{1,500}(?=@)"
    r"|(?P<query>[?&](?i:[\w-]{0,30}(?:token|key|secret|password|signature))=)"
    r"[^\s&'\"]+"
)


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


def without_secrets(text: str, env: Mapping[str, str]) -> str:
    """Return a text in which each secret is replaced by ``…``. ``env`` are the
    variables of the agent."""
    for secret in sorted(_values(env), key=len, reverse=True):
        text = text.replace(secret, _HIDDEN)
    return _SHAPES.sub(_hidden, text)


def _hidden(match: re.Match[str]) -> str:
    kept = match[match.lastgroup] if match.lastgroup else ""
    return f"{kept}{_HIDDEN}"


def _values(env: Mapping[str, str]) -> set[str]:
    return {
        value
        for name, value in env.items()
        if len(value) >= _NO_SECRET_LENGTH
        and any(word in name.upper() for word in _SECRETS)
    }
