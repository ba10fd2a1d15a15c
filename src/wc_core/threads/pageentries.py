"""Reading the entries of a page, ours or an older tool's."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from wc_core import times, ulid
from wc_core.threads import codec
from wc_core.threads.pagelines import (
    COMMENT,
    ESCAPED,
    ID,
    PageDamage,
    closing_fence,
    read_data,
    read_entry_header,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from wc_core.threads.model import Entry


class Entries:
    """Reads the entries of one file, one after the other."""

    def __init__(self, topic: str, version: int, report: PageDamage) -> None:
        self.found: list[Entry] = []
        self._topic = topic
        self._ours = version > 0
        self._report = report
        self._by_id: dict[str, Entry] = {}
        self._ids_expected = self._ours
        self._position = 0
        self._last = ""

    def read(self, lines: list[str], number: int) -> None:
        """Add the entry in ``lines``, the first of which is the file's line
        ``number``."""
        fields, start = read_entry_header(lines)
        end = _find_id(lines, start, ours=self._ours)
        rest = end + 1
        comment = "".join(lines[rest : rest + 1])
        if self._ours and comment.startswith(COMMENT):
            rest += 1
        else:
            comment = ""
        if match := ID.fullmatch("".join(lines[end : end + 1])):
            self._ids_expected = True
            fields["entry_id"] = match[1].strip()
        elif self._ids_expected:
            message = "an entry without its Entry-ID; it may be cut short"
            self._report.add(number, "torn", message, lost=False)
        exact = self._ours and match is not None
        body = lines[start:end]
        fields["body"] = _body(body, comment) if exact else _trimmed(body)
        if comment:
            fields |= read_data(comment, number + rest - 1, self._report)
        self._report.stray(enumerate(lines[rest:], number + rest))
        self._add(fields, number)

    def _add(self, fields: dict[str, Any], number: int) -> None:
        if not fields.get("entry_id") or not isinstance(fields["entry_id"], str):
            fields["entry_id"] = _derived_id(fields, self._position, self._last)
        self._position += 1
        entry = codec.from_fields(self._topic, fields)
        if entry is None:  # pragma: no cover (there is always an id)
            raise AssertionError
        self._last = max(self._last, ulid.prefix(entry.id))
        other = self._by_id.setdefault(entry.id, entry)
        if other is not entry:
            if other == entry:
                return
            message = f"entry {entry.id} is there in two versions"
            self._report.add(number, "differs", message, lost=False)
        self.found.append(entry)


def _find_id(lines: list[str], start: int, *, ours: bool) -> int:
    """Where the Entry-ID of an entry is; the end of ``lines`` if nowhere.

    In a file of ours the first such line is the one, bodies being escaped.
    Elsewhere it is the last if nothing follows; with text behind it, it counts
    unless it looks like a quotation: without a ULID, or in a code block.
    """
    found = [n for n in range(start, len(lines)) if ID.fullmatch(lines[n])]
    if not found:
        return len(lines)
    if ours:
        return found[0]
    last = found[-1]
    alone = not "".join(lines[last + 1 :]).strip()
    quoted = closing_fence("\n".join(lines[start:last]))
    if alone or (ulid.prefix(lines[last].split()[2]) and not quoted):
        return last
    return len(lines)


def _trimmed(lines: list[str]) -> str:
    """A body without the blank lines around it: how older tools write one."""
    first, last = 0, len(lines)
    while first < last and not lines[first].strip():
        first += 1
    while first < last and not lines[last - 1].strip():
        last -= 1
    return "\n".join(lines[first:last])


def _body(lines: list[str], comment: str) -> str:
    """The body as it was before `render` wrapped it in ``lines``."""
    first = 1 if lines[:1] == [""] else 0
    last = len(lines) - (1 if lines[-1:] == [""] else 0)
    if comment.startswith(f"{COMMENT}closed "):
        last -= 1
    return ESCAPED.sub("", "\n".join(lines[first:last]))


def _derived_id(fields: Mapping[str, Any], position: int, last: str) -> str:
    """A ULID for an entry that never had an id: the same in every clone that
    has the same file, and greater than ``last``, whatever the clocks said.

    What goes into it may never change: another version of wc would import
    the same thread a second time.
    """
    import hashlib  # only old files need it

    names_of = ("agent", "timestamp", "role", "entry_type", "title", "body")
    content = json.dumps([position, *(fields[name] for name in names_of)])
    digest = hashlib.sha256(content.encode()).digest()
    random = int.from_bytes(digest[: ulid.RANDOM_BITS // 8], "big")
    time = max(0, times.milliseconds(fields["timestamp"]) or 0)
    if last:
        time = max(time, ulid.milliseconds(last))
    return ulid.after(last, time, random)


def unquoted(lines: list[str], starts: Sequence[int]) -> list[int]:
    """The ``starts`` of entries without those that only quote an entry in a
    code block.

    An entry may also leave a code block open by mistake, and must not swallow
    the next one. So it is a quotation only if both pieces leave a block open
    when read alone, and neither when read as one.
    """
    kept: list[int] = []
    before = ""
    for start, end in pairwise([*starts, len(lines)]):
        here = "\n".join(lines[start:end])
        if closing_fence(before) and closing_fence(here):
            whole = f"{before}\n{here}"
            if not closing_fence(whole) and not ID.search(before[-200:]):
                before = whole
                continue
        kept.append(start)
        before = here
    return kept
