"""The errors that wc reports; no others are raised on purpose. And damage, which is
reported beside what could be read.

::

    WcError
    ├── InvalidInputError  INVALID_INPUT   2   an argument is invalid
    ├── NotFoundError      NOT_FOUND       3   no such thread, entry, agent
    ├── ConflictError      CONFLICT        4   a condition or the ball policy forbids it
    ├── LockTimeoutError   LOCK_TIMEOUT    5   another process is writing
    ├── CorruptError       CORRUPT         6   the requested thread is damaged
    ├── StorageError       STORAGE         7   disk full, read-only, permission
    ├── OfflineError       OFFLINE         8   the remote could not be reached
    ├── FindingsError      FINDINGS        9   doctor found something
    ├── WaitTimeoutError   TIMEOUT        10   wait timed out
    ├── ClaimedError       CLAIMED        20   someone else has claimed it
    └── CancelledError     CANCELLED     130   a person left the editor without writing

Exit codes and code strings are promises: scripts and agents branch on them.
Any other exception that escapes is a bug, and is reported as INTERNAL, exit 1.
"""

from __future__ import annotations

from wc_core.base.values import NamedTuple


class WcError(Exception):
    """What happened, and what to do about it.

    ``code`` is the stable string (also used by the MCP server), ``exit_code``
    the status of the process, ``hint`` one sentence or command that helps.
    """

    code = "INTERNAL"
    exit_code = 1

    def __init__(self, message: str, hint: str = "") -> None:
        """Keep the two sentences apart so that JSON and text can show both."""
        super().__init__(message)
        self.message = message
        self.hint = hint


class InvalidInputError(WcError):
    """A bad option, topic, role, type or status; the hint lists what is allowed."""

    code = "INVALID_INPUT"
    exit_code = 2


class NotFoundError(WcError):
    """A thread, entry, agent or store does not exist; similar names in the hint."""

    code = "NOT_FOUND"
    exit_code = 3
    # The names of similar threads, if a thread does not exist.
    near: tuple[str, ...] = ()


class ConflictError(WcError):
    """A condition did not hold, the ball policy refused, or the thread is closed."""

    code = "CONFLICT"
    exit_code = 4


class LockTimeoutError(WcError):
    """Another process held the lock for longer than the timeout."""

    code = "LOCK_TIMEOUT"
    exit_code = 5


class CorruptError(WcError):
    """The requested thread or file is damaged: the message names file and line."""

    code = "CORRUPT"
    exit_code = 6


class StorageError(WcError):
    """The file system refused. Nothing was half-written."""

    code = "STORAGE"
    exit_code = 7


class OfflineError(WcError):
    """The remote could not be reached; entries are safe locally."""

    code = "OFFLINE"
    exit_code = 8


class FindingsError(WcError):
    """Something listed needs a human; or the entry is saved, but `--to` is not done."""

    code = "FINDINGS"
    exit_code = 9


class WaitTimeoutError(WcError):
    """What `wc wait` waited for did not come in time: a ball or an answer."""

    code = "TIMEOUT"
    exit_code = 10


class ClaimedError(WcError):
    """Someone else has claimed it; nothing of the request was claimed."""

    code = "CLAIMED"
    exit_code = 20


class ReadOnlyError(WcError):
    """The verdict of `wc check`: others rely on it; do not change it."""

    code = "READ_ONLY"
    exit_code = 30


class NotYetError(WcError):
    """The verdict of `wc check`: it is claimed, for less than a minute."""

    code = "WAIT"
    exit_code = 31


class SwitchTaskError(WcError):
    """The verdict of `wc check`: someone else works on it."""

    code = "SWITCH_TASK"
    exit_code = 32


class PullError(WcError):
    """The verdict of `wc check`: the remote has commits that are not here."""

    code = "PULL"
    exit_code = 33


class PushError(WcError):
    """The verdict of `wc check`: your commits have to be published first."""

    code = "PUSH"
    exit_code = 34


class StopError(WcError):
    """The verdict of `wc check`: a claim was lost, or the remote is not reached."""

    code = "STOP"
    exit_code = 35


class CancelledError(WcError):
    """A person left the editor without writing; the same as after ^C."""

    code = "CANCELLED"
    exit_code = 130


class Damage(NamedTuple):
    """A defect in a file.

    ``line`` counts from 1; 0 is the file as a whole. ``kind`` is one of
    ``torn`` (a last line without its end), ``garbage`` (not JSON, or not
    UTF-8), ``long`` (longer than any entry), ``shape`` (JSON of another
    shape), ``field`` (an entry with a field of another shape), ``differs``
    (two versions of one entry), ``missing``, ``unreadable`` or ``newer``.
    ``lost`` says whether there are bytes that cannot be shown as an entry.
    """

    file: str
    line: int
    kind: str
    message: str
    lost: bool = True

    @property
    def place(self) -> str:
        """The place as ``file:line``, or the file alone."""
        return f"{self.file}:{self.line}" if self.line else self.file
