"""The status line: the small files it is made of, and what it says.

``bin/wc-statusline`` prints the line at every prompt, from files that the
writer keeps under ``<store>/.local/``. This module has their formats and a
twin of the script, `line`, which says the same from the threads themselves.

One file for each thread that is not CLOSED, at two places::

    status/holder/<holder>/<since>.<topic>
    status/branch/<branch>/.t/<holder>/<since>.<topic>

``<holder>`` is the key of who has the ball, made `safe`, or ``=free``.
``<since>`` is the ULID of the entry that gave it, so names sort by how long
the ball has been there and a folder's names tell who has waited longest.
``<branch>`` is one folder for each part of the name; ``.t`` cannot be a part
of one. Both files hold the same lines::

    wc1 IN_REVIEW               version of this format, status
    feature-auth                topic, for display
    Codex@fix (pat)             holder, for display; empty where it is free
    2 claudecode(pat)           entries that are NEW for that participant
    0 codex@fix(pat)
    7 *                         … and for everybody who is not listed

Who "me" is in a worktree says ``me/<worktree>/=default``, or
``me/<worktree>/<key>`` where WATERCOOLER_AGENT is set: a name for display,
the key, and then every key that means this participant, one a line. The
worktree is the name of its folder in ``<common git dir>/worktrees``, or
`MAIN_WORKTREE`.
"""

from __future__ import annotations

from typing import NamedTuple

from wc_core import ulid
from wc_core.model import CLOSED, OPEN, State
from wc_core.names import Directory, Name, parse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

VERSION = "wc1"
FREE_FOLDER = "=free"
DEFAULT_NAME = "=default"
MAIN_WORKTREE = "=main"

# What the script says where a store cannot be used.
STORE_MISSING = "wc: store missing, run wc doctor"
STORE_MOVED = "wc: store moved, run wc doctor"

# A shell reads such a file with a system call for each byte.
MAX_FILE_BYTES = 1024
MAX_NAME_BYTES = 200
_MAX_TOPIC_BYTES = 120
_MAX_HOLDER_BYTES = 80
_MAX_STATUS_BYTES = 40
_MAX_BRANCH_BYTES = 1000
_MAX_PART_BYTES = 255

# A thread whose log has no usable id has waited for longer than any other.
_BEFORE_ALL = "0" * ulid.LENGTH

_PLAIN = str.maketrans(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "abcdefghijklmnopqrstuvwxyz", " \t\n"
)


class View(NamedTuple):
    """A thread as the status line sees it.

    ``new`` counts the NEW entries by identity key (`Directory.key`), zeros
    included: of every participant, and of everybody with a read cursor.
    """

    state: State
    new: Mapping[str, int]
    directory: Directory = Directory()


class Row(NamedTuple):
    """A thread and how many entries are NEW for the one who looks; ``None``
    where that is unknown."""

    state: State
    new: int | None = None


class Here(NamedTuple):
    """Where one looks from, and as whom.

    ``branch`` is empty where there is none (detached, no git). ``change_id``
    is the one in the worktree's folder name, see `change_id`.
    """

    branch: str = ""
    change_id: str = ""
    me: Name | None = None
    directory: Directory = Directory()


class _Signs(NamedTuple):
    """The parts of a line that have an ASCII form, with their widths; like
    the script, everything else counts as many columns as bytes."""

    ball: str
    ball_width: int
    separator: str
    dots: str
    dots_width: int


_EMOJI = _Signs("🎾", 2, " · ", "…", 1)
_ASCII = _Signs("[*]", 3, " - ", "...", 3)
_SEPARATOR_WIDTH = 3
_LEAST_CUT = 4


class Look(NamedTuple):
    """How to print: ``columns`` 0 means as many as it takes."""

    columns: int = 0
    ascii: bool = False
    color: bool = False

    @property
    def signs(self) -> _Signs:
        """The ball and the dots."""
        return _ASCII if self.ascii else _EMOJI

    def fits(self, width: int) -> bool:
        """Whether there is room for ``width`` columns."""
        return not self.columns or width <= self.columns

    def cut(self, text: str, room: int) -> str:
        """The beginning of a text that is too long; empty where cutting bytes
        could split a character, or hardly any would be left."""
        if not text.isascii() or room < _LEAST_CUT:
            return ""
        return text[: room - self.signs.dots_width] + self.signs.dots

    def paint(self, text: str, code: str) -> str:
        """``text`` in a colour, if colours are wanted."""
        return f"\033[{code}m{text}\033[0m" if self.color and text else text


# --- names ------------------------------------------------------------------


def safe(key: str) -> str:
    """``key`` as a file name: no two keys have the same one.

    Control characters, ``/``, ``%``, ``*`` and a leading ``.`` or ``=``
    become the ``%XX`` of their bytes; the empty key is ``%``; one longer than
    `MAX_NAME_BYTES` is cut and ends in ``%~`` and its hash.
    """
    escaped = "".join(
        _percent(one) if _is_unsafe(one, position) else one
        for position, one in enumerate(key)
    )
    if len(escaped.encode()) <= MAX_NAME_BYTES:
        return escaped or "%"
    # Imported where it is needed: a name this long is rare, and the import
    # costs more than everything else here.
    from hashlib import sha256

    digest = sha256(escaped.encode()).hexdigest()[:32]
    head = escaped.encode()[: MAX_NAME_BYTES - len(digest) - 2]
    return f"{head.decode(errors='ignore')}%~{digest}"


def _is_unsafe(one: str, position: int) -> bool:
    return (
        one in "/%*"
        or (not position and one in ".=")
        or one < " "
        or "\x7f" <= one < "\xa0"
        or "\ud800" <= one <= "\udfff"
    )


def _percent(one: str) -> str:
    return "".join(f"%{byte:02X}" for byte in one.encode(errors="surrogatepass"))


def asked_name(agent: str) -> str:
    """The file name for a value of WATERCOOLER_AGENT: without blanks and
    ASCII capitals, `safe`. A shell can work it out."""
    return safe(agent.translate(_PLAIN)) if agent.strip(" \t\n") else DEFAULT_NAME


def change_id(folder: str) -> str:
    """The change id in the name of a worktree's folder,
    ``<project>-wt-<change-id>``, or the empty string."""
    project, found, change = folder.partition("-wt-")
    return change if project and found else ""


def place_of(state: State) -> str:
    """The branch, or what takes its place, that a thread is filed under."""
    return state.branch if _is_branch(state.branch) else safe(state.topic)


def _is_branch(text: str) -> bool:
    """Whether ``text`` can be a branch of git; then it is a safe path, too.

    The rules that matter for a path, out of git-check-ref-format(1).
    """
    try:
        raw = text.encode()
    except UnicodeEncodeError:
        return False
    return len(raw) <= _MAX_BRANCH_BYTES and all(
        0 < len(part) <= _MAX_PART_BYTES
        and not part.startswith(b".")
        and min(part) > ord(" ")
        and not any(byte in b"\x7f~^:?*[\\" for byte in part)
        for part in raw.split(b"/")
    )


def places(here: Here) -> tuple[str, ...]:
    """What threads of this place may be filed under, each once."""
    candidates = (here.branch, here.branch.replace("/", "-"), here.change_id)
    return tuple(dict.fromkeys(one for one in candidates if one))


def display(text: str, limit: int) -> str:
    """``text`` on one line, without anything a terminal obeys, in at most
    ``limit`` bytes."""
    printed = "".join(one for one in " ".join(text.split()) if one.isprintable())
    raw = printed.encode()
    if len(raw) <= limit:
        return printed
    return raw[: limit - len("…".encode())].decode(errors="ignore") + "…"


def _status(state: State) -> str:
    return display(state.status, _MAX_STATUS_BYTES) or OPEN


def _topic(state: State) -> str:
    return display(state.topic, _MAX_TOPIC_BYTES) or "a thread"


def _holder_key(state: State, directory: Directory) -> str | None:
    """The key of who has the ball; ``None`` where it is free."""
    if not (state.ball and state.ball.strip()):
        return None
    return directory.key(parse(state.ball))


def _holder(state: State) -> str:
    """The holder for display; empty where the ball is free."""
    if not (state.ball and state.ball.strip()):
        return ""
    return display(state.ball, _MAX_HOLDER_BYTES) or "somebody"


def _file_name(state: State) -> str:
    since = ulid.prefix(state.since) or ulid.prefix(state.last_id) or _BEFORE_ALL
    return f"{since}.{safe(state.topic)}"


# --- the files --------------------------------------------------------------


def files(view: View) -> dict[str, bytes]:
    """The status files of one thread, by their paths relative to ``.local/``.

    None for a CLOSED thread: the writer removes what was there before and is
    not among the paths.
    """
    state = view.state
    if state.status == CLOSED:
        return {}
    key = _holder_key(state, view.directory)
    content = _content(view)
    name = f"{FREE_FOLDER if key is None else safe(key)}/{_file_name(state)}"
    return {
        f"status/holder/{name}": content,
        f"status/branch/{place_of(state)}/.t/{name}": content,
    }


def _content(view: View) -> bytes:
    state = view.state
    lines = [f"{VERSION} {_status(state)}", _topic(state), _holder(state)]
    size = sum(len(line.encode()) + 1 for line in lines)
    rest = f"{state.entry_count} *"
    room = MAX_FILE_BYTES - len(rest) - 1
    for key, count in _most_recent_first(view):
        line = f"{count} {safe(key)}"
        size += len(line.encode()) + 1
        if size > room:
            # Somebody is left out: without the last line their number is
            # unknown; with it, it would be wrong.
            break
        lines.append(line)
    else:
        lines.append(rest)
    return "".join(f"{line}\n" for line in lines).encode()


def _most_recent_first(view: View) -> Iterator[tuple[str, int]]:
    """The counts of those who wrote last, then everybody else's."""
    keys = [
        view.directory.key(parse(participant.name))
        for participant in reversed(view.state.participants)
    ]
    for key in dict.fromkeys((*keys, *view.new)):
        if key in view.new:
            yield key, view.new[key]


def identity_files(
    worktree: str, who: Name, directory: Directory, *, asked: str = ""
) -> dict[str, bytes]:
    """The file that says who "me" is in ``worktree``, by its path relative to
    ``.local/``.

    ``asked`` is the value of WATERCOOLER_AGENT. An identity that was given
    for one command only (``--as``) must not be kept. Nothing for a
    ``worktree`` that is not one file name.
    """
    if worktree in {"", ".", ".."} or "/" in worktree or "\0" in worktree:
        return {}
    lines = (
        display(str(who), _MAX_HOLDER_BYTES),
        safe(directory.key(who)),
        *(safe(key) for key in directory.match_keys(who)),
    )
    content = "".join(f"{line}\n" for line in lines).encode()
    return {f"me/{worktree}/{asked_name(asked)}": content}


# --- the line ---------------------------------------------------------------


_MINE = "1;33"
_OTHERS = "2"
_TROUBLE = "31"


def line(rows: Iterable[Row], here: Here, look: Look | None = None) -> str:
    """What ``wc-statusline`` prints, without the newline; empty where there is
    nothing to say.

    In this order: balls of mine in threads of this branch, balls of mine
    elsewhere, threads of this branch that others hold.
    """
    look = look or Look()
    mine, around = _split(rows, here)
    ours = [row for row in mine if place_of(row.state) in places(here)]
    if ours:
        return look.paint(_tell_mine(ours, len(mine), look), _MINE)
    if mine:
        return look.paint(_tell_elsewhere(mine, look), _MINE)
    if around:
        return look.paint(_tell_others(around, look), _OTHERS)
    return ""


def trouble(text: str, look: Look) -> str:
    """`STORE_MISSING` or `STORE_MOVED` as the script prints it."""
    fitting = text if look.fits(len(text)) else look.cut(text, look.columns)
    return look.paint(fitting, _TROUBLE)


def _split(rows: Iterable[Row], here: Here) -> tuple[list[Row], list[Row]]:
    """My threads anywhere, and other people's here: those that have waited
    longest first."""
    keys = set(here.directory.match_keys(here.me)) if here.me else set()
    around = set(places(here))
    mine, others = [], []
    for row in sorted(rows, key=lambda row: _file_name(row.state).encode()):
        if row.state.status == CLOSED:
            continue
        if _holder_key(row.state, here.directory) in keys:
            mine.append(row)
        elif place_of(row.state) in around:
            others.append(row)
    return mine, others


def _tell_mine(ours: list[Row], total: int, look: Look) -> str:
    away = total - len(ours)
    extras = _extras(ours[0], len(ours), f"{away} elsewhere" if away else "")
    head = _Head(f"{look.signs.ball} you", look.signs.ball_width + len(" you"))
    return _tell(head, _topic(ours[0].state), extras, look) or _only_ball(look)


def _tell_elsewhere(mine: list[Row], look: Look) -> str:
    count = len(mine)
    texts = [f"{count} waiting for you elsewhere", f"{count} elsewhere", str(count)]
    if count == 1:
        texts.insert(0, f"{_topic(mine[0].state)} waits for you elsewhere")
    for text in texts:
        if look.fits(look.signs.ball_width + 1 + _width(text)):
            return f"{look.signs.ball} {text}"
    return _only_ball(look)


def _tell_others(around: list[Row], look: Look) -> str:
    latest = around[-1]
    holder = _holder(latest.state)
    text = f"{holder} has the ball" if holder else "anyone can take"
    extras = _extras(latest, len(around), "")
    told = _tell(_Head(text, _width(text)), _topic(latest.state), extras, look)
    return told or look.cut(text, look.columns)


class _Head(NamedTuple):
    """What a line begins with, and its columns."""

    text: str
    width: int


class _Extras(NamedTuple):
    """What follows the topic, in this order."""

    status: str
    new: str
    more: str
    away: str


# What is dropped first where there is no room.
_DROP = ("away", "more", "status", "new")


def _extras(row: Row, count: int, away: str) -> _Extras:
    status = _status(row.state)
    return _Extras(
        status="" if status == OPEN else status,
        new=f"{row.new} new" if row.new else "",
        more=f"+{count - 1}" if count > 1 else "",
        away=away,
    )


def _tell(head: _Head, topic: str, extras: _Extras, look: Look) -> str:
    """The head, the topic and as many extras as fit; the topic cut or left
    out; empty where not even the head fits."""
    for dropped in range(len(_DROP) + 1):
        kept = extras._replace(**dict.fromkeys(_DROP[:dropped], ""))
        parts = [topic, *(extra for extra in kept if extra)]
        width = head.width + sum(_SEPARATOR_WIDTH + _width(part) for part in parts)
        if look.fits(width):
            return look.signs.separator.join([head.text, *parts])
    cut = look.cut(topic, look.columns - head.width - _SEPARATOR_WIDTH)
    if cut:
        return f"{head.text}{look.signs.separator}{cut}"
    return head.text if look.fits(head.width) else ""


def _only_ball(look: Look) -> str:
    return look.signs.ball if look.fits(look.signs.ball_width) else ""


def _width(text: str) -> int:
    return len(text.encode())
