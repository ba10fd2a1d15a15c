"""The address of a session in what a client prints when it has started one."""

from __future__ import annotations

import re

from wc_core.base.values import NamedTuple

# For a client that is not in the table: an address alone on a line, whose last part is
# the id.
ANY_ADDRESS = r"(?:[A-Za-z ]+: *)?(https://[^\s?#]+/([\w-]+))(?:[?#]\S*)?"
# What a terminal obeys. Programs that draw move the cursor instead of writing blanks.
_MOVES = re.compile(rb"\x1b\[\d*(?:;\d*)*[CGHf]")
_CONTROLS = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[ -/]*[0-~]"
)


class CloudSession(NamedTuple):
    """A session in the cloud: its id, and where a person finds it."""

    id: str
    address: str


def with_blanks(output: bytes) -> bytes:
    """Return what a program shows at a terminal, with blanks where it moves the cursor
    instead of writing them."""
    return _MOVES.sub(b" ", output)


def session_in(output: str, pattern: str, thread: str) -> CloudSession | None:
    """Return the session that a client says it has started: the last line of its
    ``output`` that is all ``pattern``. An address in the ``thread`` is not its own:
    clients show their prompts."""
    plain = _CONTROLS.sub("", output)
    for line in reversed(re.split(r"[\r\n]+", plain)):
        match = re.fullmatch(pattern, line.strip())
        if match is not None and match[1] not in thread:
            return CloudSession(match[2], match[1])
    return None
