"""The lines of the page format, and how to distinguish them from a body.

Writing (`page`) and reading (`page`, `pageentries`) share them.
"""

from __future__ import annotations

from wc_core.base.errors import Damage
from wc_core.base.lean import json, re
from wc_core.base.text import whole_number

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Mapping
    from typing import Any

    from wc_core.ledger.threads.model import Entry

RULE = "---"
ENTRY = "Entry: "
COMMENT = "<!-- wc "
# The labels of an entry's header, by the least version of a page that has them.
_PLAIN, _REFERENCES = "Role|Type|Title", "Summary|Files|PRs|Commits"
_KINDS = "Kind|Severity|Asks|Answers"
_OUTCOMES = f"{_KINDS}|Outcome"
_LABELS = {
    version: frozenset(labels.split("|"))
    for version, labels in {
        0: _PLAIN,
        2: f"{_PLAIN}|{_REFERENCES}",
        3: f"{_PLAIN}|{_KINDS}|{_REFERENCES}",
        4: f"{_PLAIN}|{_OUTCOMES}|{_REFERENCES}",
    }.items()
}
SEPARATOR = ", "
TIME = re.compile(r" (\d{4}-\d\d-\d\d(?:[T ]\d\d:\S*)?)$")
ID = re.compile(r"<!-- Entry-ID: (.+) -->")
DATA = re.compile(r"<!-- wc (closed )?(\{.*\}) -->")

# Wider than what is parsed here: other tools are less strict about spaces, and a git
# host accepts CR LF as the end of a line as well.
_MISTAKABLE = (
    r"\\*+(?:---[ \t\r]*+\n[ \t]*+Entry:|<!--[ \t]*+(?:Entry-ID|wc)(?![A-Za-z]))"
)
# What a line that is mistakable has, whatever its spaces.
MISTAKABLE_PARTS = ("Entry:", "<!--")
# Flags are in the patterns: `re` is imported when one is used.
TO_ESCAPE = re.compile(rf"(?m)^(?={_MISTAKABLE})")
ESCAPED = re.compile(rf"(?m)^\\(?={_MISTAKABLE})")

_MAX_DIGITS = 9

FENCE = re.compile(r"(?m)^( {0,3})(`{3,}|~{3,})([^\n]*)$")


class PageDamage:
    """Collects the damage of one page."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.damage: list[Damage] = []

    def add(self, line: int, kind: str, message: str, *, lost: bool = True) -> None:
        """Report one defect; ``line`` counts from 1."""
        self.damage.append(Damage(self.file, line, kind, message, lost))

    def stray(self, lines: Iterable[tuple[int, str]]) -> None:
        """Report numbered lines that belong to no entry, once per consecutive run."""
        previous = -1
        for number, line in lines:
            if line.strip():
                if number != previous + 1:
                    self.add(number, "shape", "text that belongs to no entry")
                previous = number


def closing_fence(body: str) -> str:
    """The line that closes a code block which ``body`` leaves open, if any.

    Without it a git host would show all later entries as part of the block.
    """
    fence, closing = "", ""
    if "```" not in body and "~~~" not in body:
        return ""
    for indent, mark, info in FENCE.findall(body):
        fence, before = _toggled(fence, mark, info), fence
        if fence and not before:
            closing = indent + mark
    return closing if fence else ""


def _toggled(fence: str, mark: str, info: str) -> str:
    """The code fence that is open after a fence-like line (CommonMark 4.5).

    ``fence`` is the one open before it; the empty string is none.
    """
    if not fence:
        return "" if mark[0] == "`" and "`" in info else mark
    closes = mark.startswith(fence) and not info.strip()
    return "" if closes else fence


def read_data(line: str, number: int, report: PageDamage) -> dict[str, Any]:
    """The JSON object in our comment; an empty one if the comment is broken."""
    match = DATA.fullmatch(line)
    try:
        data = json.loads(match[2]) if match else None
    except (ValueError, RecursionError):
        data = None
    if isinstance(data, dict):
        return data
    report.add(number, "shape", "a comment of wc's that is broken")
    return {}


def read_entry_header(lines: list[str], version: int) -> tuple[dict[str, Any], int]:
    """Read the lines after ``---`` in a page of a ``version``. Returns their fields,
    and the number of lines."""
    agent, time = _byline_parts(lines[0].removeprefix(ENTRY))
    values: dict[str, str] = {}
    labels = _LABELS[max(least for least in _LABELS if least <= version)]
    for line in lines[1:]:
        header = labelled_value(line, labels)
        if header is None or header[0] in values:
            break
        values[header[0]] = header[1].strip()
    fields = {
        "agent": agent.strip(),
        "timestamp": time,
        "role": values.get("Role", ""),
        "entry_type": values.get("Type", "Note"),
        "title": values.get("Title", ""),
        **_kind_fields(values),
        **_reference_fields(values),
    }
    return fields, 1 + len(values)


def labelled_value(line: str, labels: Container[str]) -> tuple[str, str] | None:
    """The label and the value on a line ``LABEL: VALUE``, if it is one of these."""
    label, colon, value = line.partition(":")
    if not colon or label not in labels or value[:1] not in {"", " "}:
        return None
    return label, value[1:]


def _byline_parts(byline: str) -> tuple[str, str]:
    """The author and the time in the first line of an entry."""
    match = TIME.search(byline)
    return (byline[: match.start()], match[1]) if match else (byline, "")


def _kind_fields(values: Mapping[str, str]) -> dict[str, str]:
    """The fields in the header lines that only pages with a kind have."""
    labels = (label for label in _OUTCOMES.split("|") if label in values)
    return {label.lower(): values[label] for label in labels}


def _reference_fields(values: Mapping[str, str]) -> dict[str, Any]:
    """The fields in the header lines that only newer pages have."""
    fields: dict[str, Any] = {}
    if "Summary" in values:
        fields["summary"] = values["Summary"]
    if "Files" in values:
        fields["file_refs"] = values["Files"].split(SEPARATOR)
    if "PRs" in values:
        numbers = (word.removeprefix("#") for word in values["PRs"].split(SEPARATOR))
        fields["pr_refs"] = [
            number
            for word in numbers
            if (number := whole_number(word, _MAX_DIGITS)) is not None
        ]
    if "Commits" in values:
        fields["commit_refs"] = values["Commits"].split(SEPARATOR)
    return fields


def kind_lines(entry: Entry) -> dict[str, str]:
    """The labels and values of the header lines with the entry's kind."""
    values = {label: getattr(entry, label.lower()) for label in _OUTCOMES.split("|")}
    return {label: value for label, value in values.items() if value}


def reference_lines(entry: Entry) -> dict[str, str]:
    """The labels and values of the header lines with what an entry is about. Values
    that have no such form (a path with a comma) come out differently, see `page`."""
    values = {
        "Summary": entry.summary,
        "Files": SEPARATOR.join(entry.file_refs),
        "PRs": SEPARATOR.join(f"#{number}" for number in entry.pr_refs),
        "Commits": SEPARATOR.join(entry.commit_refs),
    }
    return {label: value for label, value in values.items() if value}
