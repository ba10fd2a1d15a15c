r"""The markdown page of a thread: rendered and parsed without loss.

The visible text of an entry is its latest: an amended one is marked in its title, a
retracted one has none, and a correction only says what it corrects. The comment has the
text that was written.

The format is that of older tools: a header, then for each entry a line
``---``, a line ``Entry: …``, its ``Role``, ``Type`` and ``Title``, what kind it is
of (``Kind``, ``Severity``, ``Asks``, ``Answers``) and what a review came to
(``Outcome``) if it has that, what it is about (``Summary``, ``Files``, ``PRs``,
``Commits``) if that was recorded, a blank line, the body, a blank line and
``<!-- Entry-ID: … -->``. Fields that do not show there, or not exactly, are JSON in a
comment on the next line, ``<!-- wc {…} -->``. The header ends with such a comment
too, which has the version.

While an entry is written, its visible part is parsed again, and the comment
gets every field that came out differently. So a strange title survives
without a rule for it.

In a body, a line that looks like part of the format is escaped with one more
backslash, which markdown hides. Reading removes one backslash from each line
that has some and would look like the format without them. Control characters
(git would take the file for binary, a terminal would obey them) are replaced
by their pictures, and the comment has the real text.
"""

from __future__ import annotations

from itertools import pairwise

from wc_core.base import names
from wc_core.base.lean import re
from wc_core.base.values import NamedTuple
from wc_core.ledger.threads import entryfields, revisions
from wc_core.ledger.threads.jsontext import dumps
from wc_core.ledger.threads.model import OPEN, Base, Entry
from wc_core.ledger.threads.pages.pageentries import EntryReader, without_quotations
from wc_core.ledger.threads.pages.pagelines import (
    COMMENT,
    ENTRY,
    MISTAKABLE_PARTS,
    RULE,
    TO_ESCAPE,
    PageDamage,
    closing_fence,
    kind_lines,
    labelled_value,
    read_data,
    read_entry_header,
    reference_lines,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

    from wc_core.base.errors import Damage
    from wc_core.ledger.threads.model import State

# A page has the least version that can show its content: 2 if an entry records what it
# is about, 3 if one has a kind, 4 if one has the outcome of a review.
PROJECTION_VERSION = 4
_KINDS_VERSION, _REFERENCES_VERSION, _PLAIN_VERSION = 3, 2, 1

FREE = "anyone"


_HEADING = "# "
# What comes after the topic; older tools have other dashes.
_HEADING_ENDS = (" — Thread", " \u2013 Thread", " - Thread")
_HEADER = frozenset({"Status", "Ball", "Topic", "Created", "Title"})
# Labels for the two header lines that have none.
_HEADING_LABEL, _COMMENT_LABEL = "#", "wc"

_CONTROL = re.compile(
    r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]|\r(?!\n)"
)
_CONTROL_IN_LINE = re.compile(r"[\x00-\x08\x0a-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
_UNSAFE_IN_JSON = re.compile(r"[\x80-\x9f\ud800-\udfff]|(?<=-)-")


# The fields that every line of a log has, without values.
_EMPTY_FIELDS = entryfields.to_fields(Entry(id="", topic="", agent="", at=""))


class ParsedPage(NamedTuple):
    """The contents of a page.

    ``entries`` are in the order of the file, identical copies once. ``base``
    has the fields of the header. ``version`` is 0 for pages of other tools.
    """

    entries: tuple[Entry, ...] = ()
    damage: tuple[Damage, ...] = ()
    base: Base = Base()
    version: int = 0


def render(state: State, entries: Sequence[Entry]) -> bytes:
    """Encode ``entries`` as a page, in this order.

    Never fails, whatever their text. `parse` returns them again, equal in every field.
    """
    latest_texts = _latest_texts(entries)
    version = _PLAIN_VERSION
    if any(entry.outcome for entry in entries):
        version = PROJECTION_VERSION
    elif any(map(kind_lines, entries)):
        version = _KINDS_VERSION
    elif any(map(reference_lines, latest_texts)):
        version = _REFERENCES_VERSION
    lines = _header_lines(state, version)
    for entry, latest in zip(entries, latest_texts, strict=True):
        lines += ["", RULE, *_entry_lines(entry, latest, version)]
    return ("\n".join(lines) + "\n").encode()


def _header_lines(state: State, version: int) -> list[str]:
    """The lines before the first entry."""
    ball = FREE if state.ball is None else state.ball
    lines = [
        _visible_line(f"# {state.topic} — Thread"),
        _label_line("Status", state.status),
        _label_line("Ball", ball),
        _label_line("Topic", state.topic),
        _label_line("Created", state.created_at),
    ]
    visible = _read_header(state.topic, lines, PageDamage(""))[0]._asdict()
    base = Base(state.title, state.status, state.ball, state.summary)._asdict()
    hidden = {name: value for name, value in base.items() if value != visible[name]}
    return [*lines, _comment({"version": version} | hidden)]


def _latest_texts(entries: Sequence[Entry]) -> list[Entry]:
    """Each entry with the text that the page shows."""
    if not any(entry.supersedes for entry in entries):
        return [*entries]
    texts = [*entries]
    numbers = {entry.id: number for number, entry in enumerate(entries)}
    for item in revisions.revisions(entries):
        title = item.entry.title + ("" if item.retracted else " (amended)")
        if item.corrections:
            texts[item.idx] = item.entry._replace(title=title)
        for entry_id in item.corrections:
            number = numbers[entry_id]
            title = f"({entries[number].action} of #{item.idx})"
            texts[number] = entries[number]._replace(
                title=title,
                body="",
                summary="",
                file_refs=(),
                pr_refs=(),
                commit_refs=(),
            )
    return texts


def _entry_lines(entry: Entry, latest: Entry, version: int) -> list[str]:
    """The lines of one entry after its ``---``, with the text of ``latest``."""
    header = [
        _visible_line(f"{ENTRY}{entry.agent} {entry.at}"),
        *([_label_line("Role", entry.role)] if entry.role else []),
        _label_line("Type", entry.type),
        _label_line("Title", latest.title),
        *(_label_line(*line) for line in kind_lines(entry).items()),
        *(_label_line(*line) for line in reference_lines(latest).items()),
    ]
    # Two hyphens would end the comment. An id of another tool with two hyphens is also
    # in the JSON.
    visible_id = _visible_line(entry.id).replace("--", "- -")
    body = _visible_text(latest.body)
    closing = closing_fence(body)
    visible = _EMPTY_FIELDS | read_entry_header(header, version)[0]
    visible |= {"entry_id": visible_id.strip(), "body": body}
    hidden = {
        name: value
        for name, value in entryfields.to_fields(entry).items()
        if name not in visible or value != visible[name]
    }
    return [
        *header,
        *(["", _escaped(body)] if body else []),
        *([closing] if closing else []),
        "",
        f"<!-- Entry-ID: {visible_id} -->",
        *([_comment(hidden, closed=bool(closing))] if hidden or closing else []),
    ]


def _label_line(label: str, value: str) -> str:
    return f"{label}: {_visible_line(value)}" if value else f"{label}:"


def _comment(data: Mapping[str, Any], *, closed: bool = False) -> str:
    """Our comment: JSON without anything that would end the comment, act on a terminal
    or not encode as UTF-8. ``closed`` says that the body's code block was closed for
    it."""
    text = dumps(data)
    if "--" in text or not text.isprintable():
        text = _UNSAFE_IN_JSON.sub(lambda m: f"\\u{ord(m[0]):04x}", text)
    return f"{COMMENT}{'closed ' if closed else ''}{text} -->"


# The patterns are only used where these see a need: importing `re` takes 4 ms, and most
# entries do without.


def _escaped(body: str) -> str:
    """A body whose lines cannot be taken for the first or last of an entry."""
    if any(part in body for part in MISTAKABLE_PARTS):
        return TO_ESCAPE.sub(r"\\", body)
    return body


def _visible_text(text: str) -> str:
    if text.replace("\n", "").isprintable():
        return text
    return _CONTROL.sub(_control_picture, text)


def _visible_line(text: str) -> str:
    if text.isprintable():
        return text
    return _CONTROL_IN_LINE.sub(_control_picture, text)


def _control_picture(match: re.Match[str]) -> str:
    """The Unicode picture of a control character: ␛ for ESC."""
    code = ord(match[0])
    if code == 0x7F:  # noqa: PLR2004 (DEL, the one picture out of sequence)
        return "\u2421"
    return chr(0x2400 + code) if code < ord(" ") else "\ufffd"


def parse(topic: str, data: bytes, file: str = "thread.md") -> ParsedPage:
    """Decode our page or an older tool's: everything good, and the damage.

    An entry starts at a line ``---`` directly followed by one that begins with ``Entry:
    ``. An entry without an id gets one that depends only on its timestamp, position and
    content.
    """
    report = PageDamage(file)
    lines = _split_lines(data, report)
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
        starts = without_quotations(lines, starts)
    reader = EntryReader(topic, version, report)
    for start, end in pairwise([*starts, len(lines)]):
        reader.read(lines[start + 1 : end], start + 2)
    return ParsedPage(tuple(reader.entries), tuple(report.damage), base, version)


def _split_lines(data: bytes, report: PageDamage) -> list[str]:
    """The lines of a page without their ends.

    In our pages, a CR at the end of a line belongs to a body, unless a program
    converted the whole file, its first line too, to CR LF.
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
    """Whether the header has a comment of wc's, valid or not."""
    for line in lines:
        if line.startswith(COMMENT):
            return True
        if line.startswith(RULE):
            break
    return False


def _read_header(topic: str, lines: list[str], report: PageDamage) -> tuple[Base, int]:
    """Read the lines before the first entry. Returns their fields and the version."""
    values: dict[str, str] = {}
    numbers: dict[str, int] = {}
    stray: list[tuple[int, str]] = []
    for number, line in enumerate(lines, 1):
        label, value = _split_header_line(line)
        if not label or label in values:
            stray.append((number, line))
        else:
            values[label] = value.strip()
            numbers[label] = number
    hidden: dict[str, str] = {}
    version = 0
    if _COMMENT_LABEL in values:
        comment, number = values[_COMMENT_LABEL], numbers[_COMMENT_LABEL]
        hidden, version = _read_header_comment(comment, number, report)
    report.stray(stray)
    return Base(**(_visible_base(topic, values)._asdict() | hidden)), version


def _read_header_comment(
    comment: str, number: int, report: PageDamage
) -> tuple[dict[str, str], int]:
    """The fields of a thread in our comment, and the version of the page.

    A broken comment still makes the page ours, of version 1.
    """
    data = read_data(comment, number, report)
    hidden = {
        name: value
        for name, value in data.items()
        if name in Base._fields and isinstance(value, str)
    }
    version = data.get("version", 0)
    return hidden, version if type(version) is int and version > 0 else 1


def _visible_base(topic: str, values: Mapping[str, str]) -> Base:
    """The fields of a thread in the visible lines of its header, by their labels."""
    status = values.get("Status", "").upper().replace("-", "_").replace(" ", "_")
    ball = values.get("Ball", "")
    return Base(
        title=values.get("Title") or _title_of(values.get(_HEADING_LABEL) or topic),
        status=status or OPEN,
        ball=None if not ball or names.fold(ball) in names.FREE_WORDS else ball,
    )


def _split_header_line(line: str) -> tuple[str, str]:
    """The label and the value on a header line; no label on any other."""
    if line.startswith(COMMENT):
        return _COMMENT_LABEL, line
    heading = line.rstrip()
    if heading.startswith(_HEADING):
        end = next((end for end in _HEADING_ENDS if heading.endswith(end)), "")
        return _HEADING_LABEL, heading.removeprefix(_HEADING).removesuffix(end)
    return labelled_value(line, _HEADER) or ("", "")


def _title_of(topic: str) -> str:
    """The title that older tools give a topic without one: its words."""
    return topic if " " in topic else topic.replace("-", " ").replace("_", " ")
