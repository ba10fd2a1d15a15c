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

import re
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from wc_core import names
from wc_core.threads import codec
from wc_core.threads.model import OPEN, Base, Entry
from wc_core.threads.pageentries import Entries, unquoted
from wc_core.threads.pagelines import (
    COMMENT,
    ENTRY,
    RULE,
    TO_ESCAPE,
    PageDamage,
    closing_fence,
    read_data,
    read_entry_header,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from wc_core.threads.codec import Damage
    from wc_core.threads.model import State

PROJECTION_VERSION = 1

FREE = "anyone"


_HEADING = re.compile(r"# (.*?)(?: [—\u2013-] Thread)?")
_HEADER = re.compile(r"(Status|Ball|Topic|Created|Title):(?: (.*))?")

_UNSHOWN = re.compile(
    r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]|\r(?!\n)"
)
_UNSHOWN_IN_LINE = re.compile(r"[\x00-\x08\x0a-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
_UNSAFE_IN_JSON = re.compile(r"[\x80-\x9f\ud800-\udfff]|(?<=-)-")


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


def render(state: State, entries: Sequence[Entry]) -> bytes:
    """The file for ``entries``, in the order given; `parse` gives them back,
    equal in every field. Never fails, whatever text they hold."""
    lines = _header_lines(state)
    for entry in entries:
        lines += ["", RULE, *_entry_lines(entry)]
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
    shown = _read_header(state.topic, lines, PageDamage(""))[0]._asdict()
    base = Base(state.title, state.status, state.ball, state.summary)._asdict()
    unshown = {name: value for name, value in base.items() if value != shown[name]}
    return [*lines, _comment({"version": PROJECTION_VERSION} | unshown)]


def _entry_lines(entry: Entry) -> list[str]:
    """The lines of one entry after its rule."""
    header = [
        _shown_line(f"{ENTRY}{entry.agent} {entry.at}"),
        *([_labelled("Role", entry.role)] if entry.role else []),
        _labelled("Type", entry.type),
        _labelled("Title", entry.title),
    ]
    # Two hyphens would end the comment; a foreign id that has them is in the
    # JSON as well.
    shown_id = _shown_line(entry.id).replace("--", "- -")
    body = _UNSHOWN.sub(_picture, entry.body)
    closing = closing_fence(body)
    shown = _EMPTY | read_entry_header(header)[0]
    shown |= {"entry_id": shown_id.strip(), "body": body}
    fields = codec.to_fields(entry).items()
    unshown = {k: v for k, v in fields if k not in shown or v != shown[k]}
    return [
        *header,
        *(["", TO_ESCAPE.sub(r"\\", body)] if body else []),
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
    return f"{COMMENT}{'closed ' if closed else ''}{text} -->"


def _shown_line(text: str) -> str:
    return _UNSHOWN_IN_LINE.sub(_picture, text)


def _picture(match: re.Match[str]) -> str:
    """The Unicode picture of a control character: ␛ for ESC."""
    code = ord(match[0])
    if code == 0x7F:  # noqa: PLR2004 (DEL, the one picture out of sequence)
        return "\u2421"
    return chr(0x2400 + code) if code < ord(" ") else "\ufffd"


def parse(topic: str, data: bytes, file: str = "thread.md") -> Parsed:
    """Everything good in a file of ours or of an older tool, and what is
    wrong with the rest.

    An entry starts at a line ``---`` directly followed by one that begins
    with ``Entry: ``. Entries without an id get one that follows from their
    timestamp, position and content alone.
    """
    report = PageDamage(file)
    lines = _lines(data, report)
    starts = [
        number
        for number, line in enumerate(lines[:-1])
        if line == RULE and lines[number + 1].startswith(ENTRY)
    ]
    header = lines[: starts[0]] if starts else lines
    base, version = _read_header(topic, header, report)
    if version > PROJECTION_VERSION:
        message = f"written by a newer wc (version {version})"
        report.add(0, "newer", message, lost=False)
    if not version:
        starts = unquoted(lines, starts)
    entries = Entries(topic, version, report)
    for start, end in pairwise([*starts, len(lines)]):
        entries.read(lines[start + 1 : end], start + 2)
    return Parsed(tuple(entries.found), tuple(report.damage), base, version)


def _lines(data: bytes, report: PageDamage) -> list[str]:
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
        if line.startswith(COMMENT):
            return True
        if line.startswith(RULE):
            break
    return False


def _read_header(topic: str, lines: list[str], report: PageDamage) -> tuple[Base, int]:
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
        number = next(n for n, line in enumerate(lines, 1) if line.startswith(COMMENT))
        data = read_data(seen["wc"], number, report)
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
    if line.startswith(COMMENT):
        return "wc", line
    if heading := _HEADING.fullmatch(line.rstrip()):
        return "#", heading[1]
    if header := _HEADER.fullmatch(line):
        return header[1], header[2] or ""
    return "", ""


def _words(topic: str) -> str:
    """The title older tools give a topic without one: its words."""
    return topic if " " in topic else re.sub("[-_]", " ", topic)
