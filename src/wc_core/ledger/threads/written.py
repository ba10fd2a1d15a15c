"""Which lines of a log were written by this user's processes in this clone.

Names and ids prove nothing: whoever may push can write any. So the command records the
SHA-256 of each line that it writes and that can cause something, in a file for each
thread in the private folder (`wc_core.ledger.git.private`), which no push fills. A line
of the file is the digest, and a word if a person's process wrote it.
"""

from __future__ import annotations

from wc_core.base.files import read_plain
from wc_core.base.lean import hashlib
from wc_core.ledger.git.private import private_layout

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from wc_core.base.layout import Layout

# The word of a line that a person's process wrote, not an agent's.
PERSON = "person"
# Of white space, which may surround an entry's JSON without meaning anything.
_SPACE = b" \t\r\n"


def digest_of(line: bytes) -> str:
    """The SHA-256 of a line, in hexadecimal, without the end of the line."""
    data = line.strip(_SPACE)
    return hashlib.new("sha256", data, usedforsecurity=False).hexdigest()


def written_lines(layout: Layout, topic: str) -> Mapping[str, bool]:
    """The digests of the recorded lines of a thread, each with whether a person's
    process wrote it. None if the file cannot be read: then nothing is caused."""
    private = private_layout(layout)
    try:
        data = read_plain(private.written(topic), private.root) or b""
    except OSError:
        return {}
    rows = [row.split() for row in data.decode(errors="replace").splitlines()]
    return {row[0]: PERSON in row[1:] for row in rows if row}
