"""Checks the lines of a carrier before they are added to threads.

Who can create a branch in the repository can also write code there, so carriers are
believed as code is. They are still checked, one line at a time: what is damaged, or
could only be forged, is refused, and harms nothing else.
"""

from __future__ import annotations

from wc_core.base import names, ulid
from wc_core.base.layout import is_slug
from wc_core.base.text import one_line
from wc_core.ledger.carry import carriers
from wc_core.ledger.carry.carriers import Line
from wc_core.ledger.threads import codec
from wc_core.ledger.threads.jsontext import loads

TYPE_CHECKING = False
if TYPE_CHECKING:
    from wc_core.base.names import Directory
    from wc_core.ledger.threads.model import Entry

# More heads than any thread has.
_MAX_PARENTS = 100
_WIDTH = 60


class RefusedLineError(ValueError):
    """A line that is not added; the message is the reason."""


def checked(data: bytes, directory: Directory) -> Line:
    """The line with this content, if it is an entry that an agent can have written
    elsewhere. Raises RefusedLineError."""
    if len(data) > carriers.MAX_LINE_BYTES:
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
