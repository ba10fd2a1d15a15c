"""The lines a page is made of: what is written where, and how it is told
apart from a body. Shared by those who write pages and those who read them."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from wc_core.threads.codec import Damage

if TYPE_CHECKING:
    from collections.abc import Iterable

RULE = "---"
ENTRY = "Entry: "
COMMENT = "<!-- wc "
ENTRY_HEADER = re.compile(r"(Role|Type|Title):(?: (.*))?")
TIME = re.compile(r" (\d{4}-\d\d-\d\d(?:[T ]\d\d:\S*)?)$")
ID = re.compile(r"<!-- Entry-ID: (.+) -->")
DATA = re.compile(r"<!-- wc (closed )?(\{.*\}) -->")

# Wider than what is read as structure here: other tools are less strict about
# space, and a git host takes CR LF for the end of a line as well.
_MISTAKABLE = (
    r"\\*+(?:---[ \t\r]*+\n[ \t]*+Entry:|<!--[ \t]*+(?:Entry-ID|wc)(?![A-Za-z]))"
)
TO_ESCAPE = re.compile(rf"^(?={_MISTAKABLE})", re.MULTILINE)
ESCAPED = re.compile(rf"^\\(?={_MISTAKABLE})", re.MULTILINE)

FENCE = re.compile(r"^( {0,3})(`{3,}|~{3,})([^\n]*)$", re.MULTILINE)


class PageDamage:
    """Collects the damage of one file."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.damage: list[Damage] = []

    def add(self, line: int, kind: str, message: str, *, lost: bool = True) -> None:
        """Report one thing; ``line`` counts from 1."""
        self.damage.append(Damage(self.file, line, kind, message, lost))

    def stray(self, lines: Iterable[tuple[int, str]]) -> None:
        """Report lines (with their numbers) that belong to nothing, each run
        of them once."""
        previous = -1
        for number, line in lines:
            if line.strip():
                if number != previous + 1:
                    self.add(number, "shape", "text that belongs to no entry")
                previous = number


def closing_fence(body: str) -> str:
    """The line that closes a code block which ``body`` leaves open: without
    it a git host would show every later entry as part of the block."""
    fence, closing = "", ""
    for indent, mark, info in FENCE.findall(body):
        fence, before = _toggled(fence, mark, info), fence
        if fence and not before:
            closing = indent + mark
    return closing if fence else ""


def _toggled(fence: str, mark: str, info: str) -> str:
    """The code fence that is open after the fence-like line ``mark`` +
    ``info``; the empty string for none (CommonMark 4.5)."""
    if not fence:
        return "" if mark[0] == "`" and "`" in info else mark
    closes = mark.startswith(fence) and not info.strip()
    return "" if closes else fence


def read_data(line: str, number: int, report: PageDamage) -> dict[str, Any]:
    """The JSON in a comment of ours, nothing where it is broken."""
    match = DATA.fullmatch(line)
    try:
        data = json.loads(match[2]) if match else None
    except (ValueError, RecursionError):
        data = None
    if isinstance(data, dict):
        return data
    report.add(number, "shape", "a comment of wc's that is broken")
    return {}


def read_entry_header(lines: list[str]) -> tuple[dict[str, Any], int]:
    """The fields in the lines after the rule, and how many lines they take."""
    rest = lines[0].removeprefix(ENTRY)
    time = TIME.search(rest)
    seen: dict[str, str] = {}
    taken = 1
    for line in lines[1:4]:
        header = ENTRY_HEADER.fullmatch(line)
        if not header or header[1] in seen:
            break
        seen[header[1]] = (header[2] or "").strip()
        taken += 1
    fields = {
        "agent": (rest[: time.start()] if time else rest).strip(),
        "timestamp": time[1] if time else "",
        "role": seen.get("Role", ""),
        "entry_type": seen.get("Type", "Note"),
        "title": seen.get("Title", ""),
    }
    return fields, taken
