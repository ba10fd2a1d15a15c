"""Reads the entries of our pages or of an older tool's."""

from __future__ import annotations

from itertools import pairwise

from wc_core.base import times, ulid
from wc_core.base.lean import json
from wc_core.ledger.threads import entryfields
from wc_core.ledger.threads.pages.pagelines import (
    COMMENT,
    ESCAPED,
    ID,
    PageDamage,
    closing_fence,
    read_data,
    read_entry_header,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from wc_core.ledger.threads.model import Entry


class EntryReader:
    """Reads the entries of one page, one by one, into ``entries``."""

    def __init__(self, topic: str, version: int, report: PageDamage) -> None:
        self.entries: list[Entry] = []
        self._topic = topic
        self._version = version
        self._is_by_wc = version > 0
        self._report = report
        self._by_id: dict[str, Entry] = {}
        self._ids_expected = self._is_by_wc
        self._position = 0
        self._greatest_ulid = ""

    def read(self, lines: list[str], number: int) -> None:
        """Add the entry in ``lines``, which begin at line ``number`` of the page."""
        fields, start = read_entry_header(lines, self._version)
        end = _find_id(lines, start, is_by_wc=self._is_by_wc)
        after = end + 1
        comment = "".join(lines[after : after + 1])
        if self._is_by_wc and comment.startswith(COMMENT):
            after += 1
        else:
            comment = ""
        if match := ID.fullmatch("".join(lines[end : end + 1])):
            self._ids_expected = True
            fields["entry_id"] = match[1].strip()
        elif self._ids_expected:
            message = "an entry without its Entry-ID; it may be cut short"
            self._report.add(number, "torn", message, lost=False)
        is_exact = self._is_by_wc and match is not None
        body = lines[start:end]
        fields["body"] = _unwrapped_body(body, comment) if is_exact else _trimmed(body)
        if comment:
            fields |= read_data(comment, number + after - 1, self._report)
        self._report.stray(enumerate(lines[after:], number + after))
        self._add(fields, number)

    def _add(self, fields: dict[str, Any], number: int) -> None:
        """Add an entry with these fields, unless an identical one was read before."""
        if not fields.get("entry_id") or not isinstance(fields["entry_id"], str):
            fields["entry_id"] = _derived_id(
                fields, self._position, self._greatest_ulid
            )
        self._position += 1
        entry = entryfields.from_fields(self._topic, fields)
        if entry is None:  # pragma: no cover (there is always an id)
            raise AssertionError
        self._greatest_ulid = max(self._greatest_ulid, ulid.prefix(entry.id))
        earlier = self._by_id.setdefault(entry.id, entry)
        if earlier is not entry:
            if earlier == entry:
                return
            message = f"entry {entry.id} exists in two versions"
            self._report.add(number, "differs", message, lost=False)
        self.entries.append(entry)


def _find_id(lines: list[str], start: int, *, is_by_wc: bool) -> int:
    """The index of an entry's Entry-ID line; the end of ``lines`` if it has none.

    In our pages it is the first such line, because bodies are escaped. In others it is
    the last one. If text follows, it does not count if it looks like a quotation:
    without a ULID, or in a code block.
    """
    candidates = [n for n in range(start, len(lines)) if ID.fullmatch(lines[n])]
    if not candidates:
        return len(lines)
    if is_by_wc:
        return candidates[0]
    number = candidates[-1]
    is_at_end = not "".join(lines[number + 1 :]).strip()
    is_in_code = closing_fence("\n".join(lines[start:number]))
    if is_at_end or (ulid.prefix(lines[number].split()[2]) and not is_in_code):
        return number
    return len(lines)


def _trimmed(lines: list[str]) -> str:
    """A body without the blank lines that older tools write around it."""
    start, end = 0, len(lines)
    while start < end and not lines[start].strip():
        start += 1
    while start < end and not lines[end - 1].strip():
        end -= 1
    return "\n".join(lines[start:end])


def _unwrapped_body(lines: list[str], comment: str) -> str:
    """The body as it was before `page.render` wrapped it in ``lines``."""
    start = 1 if lines[:1] == [""] else 0
    end = len(lines) - (1 if lines[-1:] == [""] else 0)
    if comment.startswith(f"{COMMENT}closed "):
        end -= 1
    return ESCAPED.sub("", "\n".join(lines[start:end]))


def _derived_id(fields: Mapping[str, Any], position: int, previous: str) -> str:
    """A ULID for an entry that never had an id.

    It is the same in every clone with the same page, and greater than ``previous``,
    whatever the clocks were. The hashed content must never change: another version of
    wc would import the thread a second time.
    """
    import hashlib  # 2.7 ms, only for pages of older tools

    hashed = ("agent", "timestamp", "role", "entry_type", "title", "body")
    content = json.dumps([position, *(fields[name] for name in hashed)])
    digest = hashlib.sha256(content.encode()).digest()
    random = int.from_bytes(digest[: ulid.RANDOM_BITS // 8], "big")
    time = max(0, times.milliseconds(fields["timestamp"]) or 0)
    if previous:
        time = max(time, ulid.timestamp_ms(previous))
    return ulid.successor(previous, time, random)


def without_quotations(lines: list[str], starts: Sequence[int]) -> list[int]:
    """The ``starts`` of entries, without entries that are quoted in a code block.

    But an entry that leaves a code block open by mistake must not swallow the next one.
    So an entry counts as quoted only if it and the text before both leave a block open
    when read alone, and leave none open together.
    """
    unquoted: list[int] = []
    before = ""
    for start, end in pairwise([*starts, len(lines)]):
        text = "\n".join(lines[start:end])
        if closing_fence(before) and closing_fence(text):
            whole = f"{before}\n{text}"
            if not closing_fence(whole) and not ID.search(before[-200:]):
                before = whole
                continue
        unquoted.append(start)
        before = text
    return unquoted
