"""The words an entry may be made of, checked where they come in."""

from __future__ import annotations

from wc_core.errors import InvalidInputError
from wc_core.names import MAX_NAME_BYTES
from wc_core.text import clean
from wc_core.threads.model import ACTIONS, ENTRY_TYPES, ROLES, STATUSES
from wc_core.times import age_ms

MAX_TITLE_BYTES = 500
MAX_KEY_BYTES = 200
MAX_BODY_BYTES = 16 * 1024 * 1024
# Far beyond what anybody reads; below what would be too much for a reader.
MAX_ENTRIES = 1_000_000
MAX_THREADS = 100_000
# What somebody can say they are at, and for how many seconds at most.
PRESENCES = ("running", "waiting", "blocked", "idle")
MAX_LASTING = 7 * 24 * 3600
_MAX_SECONDS = 3600.0
_MAX_DIGITS = 9


def _one_of(word: str, allowed: tuple[str, ...], what: str) -> str:
    wanted = word.strip().replace("-", "_").casefold()
    for one in allowed:
        if one.casefold() == wanted:
            return one
    raise InvalidInputError(f"{word!r} is not {what}.", f"Use {', '.join(allowed)}.")


def status(word: str) -> str:
    """A status in its one spelling; empty for none."""
    return _one_of(word.replace(" ", "_"), STATUSES, "a status") if word else ""


def role(word: str) -> str:
    """A role in its one spelling; empty for none."""
    return _one_of(word, ROLES, "a role") if word else ""


def entry_type(word: str) -> str:
    """An entry type in its one spelling; a Note if none is named."""
    return _one_of(word, ENTRY_TYPES, "an entry type") if word else "Note"


def action(word: str) -> str:
    """An action in its one spelling."""
    return _one_of(word, ACTIONS, "an action")


def title(text: str) -> str:
    """A title: one line without anything that acts, not empty.

    Raises InvalidInputError.
    """
    return _line(text, "title", MAX_TITLE_BYTES, rest="--body")


def reason(text: str) -> str:
    """A reason: one line as of a title, or nothing."""
    return _line(text, "reason", MAX_TITLE_BYTES) if text else ""


def note(text: str) -> str:
    """What somebody is doing: one line as of a title, or nothing."""
    return _line(text, "note", MAX_TITLE_BYTES) if text else ""


def presence_status(word: str) -> str:
    """What somebody is at, in its one spelling; running if it is not said."""
    if not word:
        return PRESENCES[0]
    return _one_of(word, PRESENCES, "what one can be at")


def lasting(text: str) -> int:
    """For how many seconds something counts, at most a week."""
    seconds = (age_ms(text) or 0) // 1000
    if not seconds or seconds > MAX_LASTING:
        raise InvalidInputError(
            f"{text!r} is no length of time.", "Write 90m, 3h or 2d, at most 7d."
        )
    return seconds


def waiting(text: str) -> float | None:
    """For how many seconds to wait; ``None`` for as long as it takes."""
    if not text:
        return None
    plain = text.strip().replace(".", "", 1)
    if plain.isascii() and plain.isdecimal() and len(plain) <= _MAX_DIGITS:
        return float(text)
    milliseconds = age_ms(text)
    if milliseconds is None:
        raise InvalidInputError(
            f"{text!r} is no time to wait.", "Write seconds (300), or 5m, 2h, 1d."
        )
    return milliseconds / 1000


def key(text: str) -> str:
    """An idempotency key: one printable line, or nothing."""
    return _exact(_line(text, "key", MAX_KEY_BYTES), "key") if text else ""


def name(text: str) -> str:
    """A name somebody is called by: one printable line, or nothing."""
    return _exact(_line(text, "name", MAX_NAME_BYTES), "name") if text else ""


def _exact(line: str, what: str) -> str:
    """A line without what cannot be seen, for it is typed and compared."""
    if not line.isprintable():
        raise _unfit(what)
    return line


def _unfit(what: str) -> InvalidInputError:
    return InvalidInputError(
        f"The {what} has control characters or bytes that are not UTF-8.",
        "Use ordinary characters.",
    )


def _line(text: str, what: str, limit: int, *, rest: str = "") -> str:
    """``rest``: where there is room for more."""
    line = text.strip()
    if not any(c.isprintable() for c in line):
        raise InvalidInputError(f"The {what} is empty.", "Say it in one line.")
    if "\n" in line or "\r" in line:
        raise InvalidInputError(
            f"A {what} is a single line, this one has several.",
            f"Put the first line there and the rest into {rest}."
            if rest
            else "Say it in one line.",
        )
    if clean(line) != line:
        raise _unfit(what)
    if len(line.encode()) > limit:
        raise InvalidInputError(
            f"The {what} is longer than {limit} bytes.",
            f"Put the rest into {rest}." if rest else "Say it more briefly.",
        )
    return line.replace("\t", " ")


def body(text: str) -> str:
    """A body: any text there is, up to `MAX_BODY_BYTES`.

    Raises InvalidInputError for what is not text (lone surrogates, which is
    how bytes that are not UTF-8 arrive) and for more.
    """
    try:
        size = len(text.encode())
    except UnicodeEncodeError as error:
        raise InvalidInputError(
            f"The body is not valid UTF-8 (at character {error.start}).",
            "Convert it first, or put the file beside the code and name it.",
        ) from error
    if size > MAX_BODY_BYTES:
        raise InvalidInputError(
            f"The body has {size} bytes, more than {MAX_BODY_BYTES}.",
            "Put the file into the code's repository and name it here.",
        )
    return text


def seconds(text: str) -> float:
    """A number of seconds, not negative."""
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value <= _MAX_SECONDS:
        raise InvalidInputError(
            f"{text!r} is not a number of seconds.", "Write 2 or 0.5, at most 3600."
        )
    return value


def named(text: str, what: str) -> str:
    """An argument that may be missing where something else is given."""
    if not text:
        raise InvalidInputError(f"No {what} was given.", f"Name the {what}.")
    return text
