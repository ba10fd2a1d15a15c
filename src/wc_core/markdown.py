r"""A thread as one markdown file, there and back without loss.

The file has the shape older tools gave it: a header, then for every entry a
line ``---``, a line ``Entry: …``, its ``Role``, ``Type`` and ``Title``, a
blank line, the body, a blank line and ``<!-- Entry-ID: … -->``. What people
cannot see there, or not exactly, is JSON in a comment on the next line,
``<!-- wc {…} -->``; the header ends with such a comment too, with the version.

The visible part of an entry is read back while it is written, and the comment
carries whatever came out differently: so nothing has to be foreseen here for
a strange title to survive.

In a body, a line that could be taken for one of ours gets one backslash more,
which markdown hides; reading takes one away from the lines that have one and
would be such a line without their backslashes. Control characters, which make
git take a file for binary and a terminal obey, are shown as pictures and the
comment has the real text.
"""

from __future__ import annotations

import json
import re
from itertools import pairwise
from typing import NamedTuple

from wc_core import codec, names, times, ulid
from wc_core.codec import Damage
from wc_core.model import OPEN, Base, Entry

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

    from wc_core.model import State

PROJECTION_VERSION = 1

FREE = "anyone"

_RULE = "---"
_ENTRY = "Entry: "
_COMMENT = "<!-- wc "

_HEADING = re.compile(r"# (.*?)(?: [—\u2013-] Thread)?")
_HEADER = re.compile(r"(Status|Ball|Topic|Created|Title):(?: (.*))?")
_ENTRY_HEADER = re.compile(r"(Role|Type|Title):(?: (.*))?")
_TIME = re.compile(r" (\d{4}-\d\d-\d\d(?:[T ]\d\d:\S*)?)$")
_ID = re.compile(r"<!-- Entry-ID: (.+) -->")
_DATA = re.compile(r"<!-- wc (closed )?(\{.*\}) -->")

# Wider than what is read as structure here: other tools are less strict about
# space, and a git host takes CR LF for the end of a line as well.
_MISTAKABLE = (
    r"\\*+(?:---[ \t\r]*+\n[ \t]*+Entry:|<!--[ \t]*+(?:Entry-ID|wc)(?![A-Za-z]))"
)
_TO_ESCAPE = re.compile(rf"^(?={_MISTAKABLE})", re.MULTILINE)
_ESCAPED = re.compile(rf"^\\(?={_MISTAKABLE})", re.MULTILINE)

_UNSHOWN = re.compile(
    r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]|\r(?!\n)"
)
_UNSHOWN_IN_LINE = re.compile(r"[\x00-\x08\x0a-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
_UNSAFE_IN_JSON = re.compile(r"[\x80-\x9f\ud800-\udfff]|(?<=-)-")

_FENCE = re.compile(r"^( {0,3})(`{3,}|~{3,})([^\n]*)$", re.MULTILINE)

# Fields that every line of a log has, as they are when there is nothing to say.
_EMPTY = codec.to_fields(Entry(id="", topic="", agent="", at=""))


class Parsed(NamedTuple):
    """A markdown file as found.

    ``entries`` stand in the order of the file, identical copies once.
    ``base`` is what the header says. ``version`` is 0 for files of other
    tools.
    """

    entries: tuple[Entry, ...] = ()
    damage: tuple[Damage, ...] = ()
    base: Base = Base()
    version: int = 0


class _Report:
    """Collects the damage of one file."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.damage: list[Damage] = []

    def add(self, line: int, kind: str, message: str, *, lost: bool = True) -> None:
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


# Writing


def render(state: State, entries: Sequence[Entry]) -> bytes:
    """The file for ``entries``, in the order given; `parse` gives them back,
    equal in every field. Never fails, whatever text they hold."""
    lines = _header_lines(state)
    for entry in entries:
        lines += ["", _RULE, *_entry_lines(entry)]
    return ("\n".join(lines) + "\n").encode()


def _header_lines(state: State) -> list[str]:
    ball = FREE if state.ball is None else state.ball
    lines = [
        _shown_line(f"# {state.topic} — Thread"),
        _labelled("Status", state.status),
        _labelled("Ball", ball),
        _labelled("Topic", state.topic),
        _labelled("Created", state.created_at),
    ]
    shown = _read_header(state.topic, lines, _Report(""))[0]._asdict()
    base = Base(state.title, state.status, state.ball, state.summary)._asdict()
    unshown = {name: value for name, value in base.items() if value != shown[name]}
    return [*lines, _comment({"version": PROJECTION_VERSION} | unshown)]


def _entry_lines(entry: Entry) -> list[str]:
    """The lines of one entry after its rule."""
    header = [
        _shown_line(f"{_ENTRY}{entry.agent} {entry.at}"),
        *([_labelled("Role", entry.role)] if entry.role else []),
        _labelled("Type", entry.type),
        _labelled("Title", entry.title),
    ]
    # Two hyphens would end the comment; a foreign id that has them is in the
    # JSON as well.
    shown_id = _shown_line(entry.id).replace("--", "- -")
    body = _UNSHOWN.sub(_picture, entry.body)
    closing = _closing_fence(body)
    shown = _EMPTY | _read_entry_header(header)[0]
    shown |= {"entry_id": shown_id.strip(), "body": body}
    fields = codec.to_fields(entry).items()
    unshown = {k: v for k, v in fields if k not in shown or v != shown[k]}
    return [
        *header,
        *(["", _TO_ESCAPE.sub(r"\\", body)] if body else []),
        *([closing] if closing else []),
        "",
        f"<!-- Entry-ID: {shown_id} -->",
        *([_comment(unshown, closed=bool(closing))] if unshown or closing else []),
    ]


def _labelled(label: str, value: str) -> str:
    return f"{label}: {_shown_line(value)}" if value else f"{label}:"


def _comment(data: Mapping[str, Any], *, closed: bool = False) -> str:
    """JSON that holds nothing a comment, a terminal or UTF-8 would mind."""
    text = _UNSAFE_IN_JSON.sub(lambda m: f"\\u{ord(m[0]):04x}", codec.dumps(data))
    return f"{_COMMENT}{'closed ' if closed else ''}{text} -->"


def _shown_line(text: str) -> str:
    return _UNSHOWN_IN_LINE.sub(_picture, text)


def _picture(match: re.Match[str]) -> str:
    """The Unicode picture of a control character: ␛ for ESC."""
    code = ord(match[0])
    if code == 0x7F:  # noqa: PLR2004 (DEL, the one picture out of sequence)
        return "\u2421"
    return chr(0x2400 + code) if code < ord(" ") else "\ufffd"


def _closing_fence(body: str) -> str:
    """The line that closes a code block which ``body`` leaves open: without
    it a git host would show every later entry as part of the block."""
    fence, closing = "", ""
    for indent, mark, info in _FENCE.findall(body):
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


# Reading


def parse(topic: str, data: bytes, file: str = "thread.md") -> Parsed:
    """Everything good in a file of ours or of an older tool, and what is
    wrong with the rest.

    An entry starts at a line ``---`` directly followed by one that begins
    with ``Entry: ``. Entries without an id get one that follows from their
    timestamp, position and content alone.
    """
    report = _Report(file)
    lines = _lines(data, report)
    starts = [
        number
        for number, line in enumerate(lines[:-1])
        if line == _RULE and lines[number + 1].startswith(_ENTRY)
    ]
    header = lines[: starts[0]] if starts else lines
    base, version = _read_header(topic, header, report)
    if version > PROJECTION_VERSION:
        message = f"written by a newer wc (version {version})"
        report.add(0, "newer", message, lost=False)
    if not version:
        starts = _unquoted(lines, starts)
    entries = _Entries(topic, version, report)
    for start, end in pairwise([*starts, len(lines)]):
        entries.read(lines[start + 1 : end], start + 2)
    return Parsed(tuple(entries.found), tuple(report.damage), base, version)


def _lines(data: bytes, report: _Report) -> list[str]:
    """The lines of a file without their ends.

    A file of ours has CR at the end of a line only where a body does, unless
    something turned the whole file, its first line too, to CR LF.
    """
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        text = data.decode(errors="replace")
        number = data.count(b"\n", 0, error.start) + 1
        report.add(number, "garbage", "not UTF-8 here, and maybe further on")
    if not text.strip():
        report.add(0, "shape", "an empty file", lost=False)
    lines = text.removeprefix("\ufeff").split("\n")
    if lines[0].endswith("\r") or not _is_marked(lines):
        return [line.removesuffix("\r") for line in lines]
    return lines


def _is_marked(lines: Iterable[str]) -> bool:
    """Whether the header has our comment, readable or not."""
    for line in lines:
        if line.startswith(_COMMENT):
            return True
        if line.startswith(_RULE):
            break
    return False


def _read_header(topic: str, lines: list[str], report: _Report) -> tuple[Base, int]:
    """What the lines before the first entry say, and the version of the file."""
    seen: dict[str, str] = {}
    stray: list[tuple[int, str]] = []
    for number, line in enumerate(lines, 1):
        label, value = _header_line(line)
        if not label or label in seen:
            stray.append((number, line))
        else:
            seen[label] = value.strip()
    data, version = {}, 0
    if "wc" in seen:
        number = next(n for n, line in enumerate(lines, 1) if line.startswith(_COMMENT))
        data = _read_data(seen["wc"], number, report)
        version = data.get("version", 0)
        # A broken comment of ours is still ours.
        version = version if type(version) is int and version > 0 else 1
    report.stray(stray)
    status = re.sub("[- ]", "_", seen.get("Status", "").upper())
    ball = seen.get("Ball", "")
    shown = Base(
        title=seen.get("Title") or _words(seen.get("#") or topic),
        status=status or OPEN,
        ball=None if not ball or names.fold(ball) in names.FREE_WORDS else ball,
    )
    unshown = {
        name: value
        for name, value in data.items()
        if name in Base._fields and isinstance(value, str)
    }
    return Base(**(shown._asdict() | unshown)), version


def _header_line(line: str) -> tuple[str, str]:
    """The label and the value on a header line; no label on any other."""
    if line.startswith(_COMMENT):
        return "wc", line
    if heading := _HEADING.fullmatch(line.rstrip()):
        return "#", heading[1]
    if header := _HEADER.fullmatch(line):
        return header[1], header[2] or ""
    return "", ""


def _words(topic: str) -> str:
    """The title older tools give a topic without one: its words."""
    return topic if " " in topic else re.sub("[-_]", " ", topic)


def _read_data(line: str, number: int, report: _Report) -> dict[str, Any]:
    """The JSON in a comment of ours, nothing where it is broken."""
    match = _DATA.fullmatch(line)
    try:
        data = json.loads(match[2]) if match else None
    except (ValueError, RecursionError):
        data = None
    if isinstance(data, dict):
        return data
    report.add(number, "shape", "a comment of wc's that is broken")
    return {}


def _read_entry_header(lines: list[str]) -> tuple[dict[str, Any], int]:
    """The fields in the lines after the rule, and how many lines they take."""
    rest = lines[0].removeprefix(_ENTRY)
    time = _TIME.search(rest)
    seen: dict[str, str] = {}
    taken = 1
    for line in lines[1:4]:
        header = _ENTRY_HEADER.fullmatch(line)
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


class _Entries:
    """Reads the entries of one file, one after the other."""

    def __init__(self, topic: str, version: int, report: _Report) -> None:
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
        fields, start = _read_entry_header(lines)
        end = _find_id(lines, start, ours=self._ours)
        rest = end + 1
        comment = "".join(lines[rest : rest + 1])
        if self._ours and comment.startswith(_COMMENT):
            rest += 1
        else:
            comment = ""
        if match := _ID.fullmatch("".join(lines[end : end + 1])):
            self._ids_expected = True
            fields["entry_id"] = match[1].strip()
        elif self._ids_expected:
            message = "an entry without its Entry-ID; it may be cut short"
            self._report.add(number, "torn", message, lost=False)
        exact = self._ours and match is not None
        body = lines[start:end]
        fields["body"] = _body(body, comment) if exact else _trimmed(body)
        if comment:
            fields |= _read_data(comment, number + rest - 1, self._report)
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
    found = [n for n in range(start, len(lines)) if _ID.fullmatch(lines[n])]
    if not found:
        return len(lines)
    if ours:
        return found[0]
    last = found[-1]
    alone = not "".join(lines[last + 1 :]).strip()
    quoted = _closing_fence("\n".join(lines[start:last]))
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
    if comment.startswith(f"{_COMMENT}closed "):
        last -= 1
    return _ESCAPED.sub("", "\n".join(lines[first:last]))


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


def _unquoted(lines: list[str], starts: Sequence[int]) -> list[int]:
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
        if _closing_fence(before) and _closing_fence(here):
            whole = f"{before}\n{here}"
            if not _closing_fence(whole) and not _ID.search(before[-200:]):
                before = whole
                continue
        kept.append(start)
        before = here
    return kept
