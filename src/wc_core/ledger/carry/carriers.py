"""The formats of carriers: the message of a commit, and the file of an outbox.

Both have entries as they are in the logs, one line of JSON each; a line names its
thread itself.
"""

from __future__ import annotations

from wc_core.base import names, ulid
from wc_core.base.layout import is_slug
from wc_core.base.phrases import counted
from wc_core.base.text import one_line
from wc_core.base.values import NamedTuple
from wc_core.ledger.threads import codec
from wc_core.ledger.threads.jsontext import loads

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from wc_core.base.names import Directory
    from wc_core.ledger.threads.model import Entry

# The trailer of a carrier, with the version of its format.
TRAILER = "Watercooler-Carry"
_TRAILER_LINE = f"{TRAILER}: 1"
# The folder of the outboxes in a work tree, one file for each clone.
OUTBOX = ".watercooler/outbox"
# A line that is longer than the first is never carried, and a message has more than
# the second only if it has a single line.
MAX_LINE_BYTES = 1024 * 1024
MAX_MESSAGE_BYTES = 256 * 1024
# What a clone reads of one carrier, and how many lines.
MAX_CARRIER_BYTES = 2 * 1024 * 1024
MAX_LINES = 5000
_MAX_NAMED = 5

_EXPLANATION = """\
This commit changes no file. Its message has entries of wc, from a clone
that cannot push their branch. `wc sync` takes them from here.
"""
# More heads than any thread has.
_MAX_PARENTS = 100
_WIDTH = 60


class Line(NamedTuple):
    """A line to carry: the ``topic`` and the ``id`` of its entry, and its bytes as in
    the log, without the end of the line."""

    topic: str
    id: str
    data: bytes


def messages(lines: Sequence[Line]) -> Iterator[bytes]:
    """Yield the messages of the commits that carry these lines, each of a limited
    length."""
    batch: list[Line] = []
    size = 0
    for line in lines:
        if batch and size + len(line.data) > MAX_MESSAGE_BYTES:
            yield _message(batch)
            batch, size = [], 0
        batch.append(line)
        size += len(line.data) + 1
    if batch:
        yield _message(batch)


def _message(lines: Sequence[Line]) -> bytes:
    topics = list(dict.fromkeys(line.topic for line in lines))
    named = ", ".join(topics[:_MAX_NAMED]) + ", …" * (len(topics) > _MAX_NAMED)
    entries = counted(len(lines), "entry", "entries")
    head = f"wc: carry {entries} ({named})\n\n{_EXPLANATION}\n"
    return b"%b%b\n%b\n" % (head.encode(), outbox(lines), _TRAILER_LINE.encode())


def outbox(lines: Iterable[Line]) -> bytes:
    """The content of an outbox with these lines."""
    return b"".join(line.data + b"\n" for line in lines)


def is_carrier(message: bytes) -> bool:
    """Whether the message of a commit is that of a carrier, alone or among others, as
    after a squash."""
    return _TRAILER_LINE.encode() in (line.strip() for line in message.splitlines())


def lines_of(data: bytes) -> Iterator[bytes]:
    """Yield the lines of a message or an outbox that may be entries."""
    for line in data.split(b"\n"):
        if line.lstrip().startswith(b"{"):
            yield line.strip()


class RefusedLineError(ValueError):
    """A line that is not added; the message is the reason."""


def checked(data: bytes, directory: Directory) -> Line:
    """The line with this content, if it is an entry that an agent can have written
    elsewhere. Raises RefusedLineError."""
    if len(data) > MAX_LINE_BYTES:
        raise RefusedLineError("longer than an entry that can be carried")
    try:
        fields = loads(data)
    except (ValueError, RecursionError):
        raise RefusedLineError("not JSON, or cut off") from None
    topic = fields.get("thread_topic") if isinstance(fields, dict) else None
    if not isinstance(topic, str) or not topic:
        raise RefusedLineError("names no thread")
    if not is_slug(topic):
        readable = one_line(topic)[:_WIDTH]
        raise RefusedLineError(f"{readable!r} cannot be the name of a thread")
    log = codec.read_log(topic, data + b"\n")
    if log.damage:
        raise RefusedLineError(log.damage[0].message)
    _check_entry(log.entries[0], directory)
    return Line(topic, log.entries[0].id, data)


def _check_entry(entry: Entry, directory: Directory) -> None:
    if ulid.prefix(entry.id) != entry.id:
        raise RefusedLineError("the id of its entry is not one of wc")
    if not entry.is_by_wc:
        raise RefusedLineError(f"entry {entry.id} was not written by wc")
    parents = entry.parents or ()
    forged = entry.id in parents or len(parents) > _MAX_PARENTS
    if forged or any(ulid.prefix(parent) == "" for parent in parents):
        raise RefusedLineError(f"the parents of entry {entry.id} cannot be right")
    author = names.parse(entry.agent)
    if not (author.tag or author.seat or directory.is_agent(author)):
        readable = one_line(entry.agent)[:_WIDTH]
        raise RefusedLineError(
            f"entry {entry.id} is by {readable or 'nobody'}, a person; only agents' "
            "entries are carried"
        )
