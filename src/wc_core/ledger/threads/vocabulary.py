"""Checks the words of an entry where they come in.

Each function returns the word in its canonical spelling, or raises InvalidInputError.
"""

from __future__ import annotations

from wc_core.base.errors import InvalidInputError
from wc_core.base.names import MAX_NAME_BYTES
from wc_core.base.text import clean, whole_number
from wc_core.base.times import age_ms
from wc_core.ledger.threads.linerefs import MAX_QUOTED, MAX_WIDTH
from wc_core.ledger.threads.model import (
    ACTIONS,
    ENTRY_TYPES,
    KINDS,
    OUTCOMES,
    ROLES,
    SEVERITIES,
    STATUSES,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from wc_core.ledger.threads.linerefs import LineRef

MAX_TITLE_BYTES = 500
MAX_SUMMARY_BYTES = 2000
MAX_PATH_BYTES = 4096
MAX_BRANCH_BYTES = 250
MAX_KEY_BYTES = 200
MAX_BODY_BYTES = 16 * 1024 * 1024
# More than anyone reads, and few enough for a reader to hold in memory.
MAX_ENTRIES = 1_000_000
MAX_THREADS = 100_000
# The longest time that a note lasts, in seconds.
MAX_LASTING = 7 * 24 * 3600
_NOT_IN_BRANCHES = " ~^:?*[\\\x7f\t\n\r"
_MAX_SECONDS = 3600.0
_MAX_DIGITS = 9
_HEX = frozenset("0123456789abcdef")
_LEAST_HEX, _MOST_HEX = 4, 64


def _one_of(word: str, allowed: tuple[str, ...], noun: str) -> str:
    """The word of ``allowed`` that equals ``word``, ignoring case and hyphens."""
    folded = word.strip().replace("-", "_").casefold()
    for spelling in allowed:
        if spelling.casefold() == folded:
            return spelling
    raise InvalidInputError(f"{word!r} is not {noun}.", f"Use {', '.join(allowed)}.")


def status(word: str) -> str:
    """A status; empty if ``word`` is."""
    return _one_of(word.replace(" ", "_"), STATUSES, "a status") if word else ""


def role(word: str) -> str:
    """A role; empty if ``word`` is."""
    return _one_of(word, ROLES, "a role") if word else ""


def entry_type(word: str) -> str:
    """An entry type; empty if ``word`` is."""
    return _one_of(word, ENTRY_TYPES, "an entry type") if word else ""


def kind(word: str) -> str:
    """A kind; empty if ``word`` is."""
    return _one_of(word, KINDS, "a kind") if word else ""


def severity(word: str) -> str:
    """A severity; empty if ``word`` is."""
    return _one_of(word, SEVERITIES, "a severity") if word else ""


def outcome(word: str) -> str:
    """An outcome of a review; empty if ``word`` is."""
    return _one_of(word, OUTCOMES, "an outcome of a review") if word else ""


def action(word: str) -> str:
    """An action."""
    return _one_of(word, ACTIONS, "an action")


def title(text: str) -> str:
    """A title: one line, not empty, without control characters."""
    return _line(text, "title", MAX_TITLE_BYTES, alternative="--body")


def reason(text: str) -> str:
    """A reason: one line like a title, or empty."""
    return _line(text, "reason", MAX_TITLE_BYTES) if text else ""


def note(text: str) -> str:
    """A note on current work: one line like a title, or empty."""
    return _line(text, "note", MAX_TITLE_BYTES) if text else ""


def summary(text: str) -> str:
    """A summary: one line like a title, but longer, or empty."""
    return _line(text, "summary", MAX_SUMMARY_BYTES) if text else ""


def file_refs(paths: Iterable[str]) -> tuple[str, ...]:
    """Paths that an entry is about, without repetition."""
    return tuple(dict.fromkeys(map(file_ref, paths)))


def file_ref(path: str) -> str:
    """A path: one printable line, without a leading ``./`` or trailing ``/``."""
    line = _printable(_line(path, "path", MAX_PATH_BYTES), "path")
    return line.removeprefix("./").rstrip("/") or line


def line_refs(references: Iterable[LineRef]) -> tuple[LineRef, ...]:
    """Lines of files that an entry is about, without repetition."""
    return tuple(dict.fromkeys(map(_line_ref, references)))


def _line_ref(reference: LineRef) -> LineRef:
    if not 1 <= reference.start <= reference.end:
        raise InvalidInputError(
            f"{reference.place!r} does not name lines of a file.", "Lines count from 1."
        )
    lines = reference.quote.split("\n")
    if len(lines) > MAX_QUOTED or max(map(len, lines)) > MAX_WIDTH:
        raise InvalidInputError(
            f"The quotation of {reference.place} is too long.",
            f"Quote at most {MAX_QUOTED} lines of {MAX_WIDTH} characters.",
        )
    path, quote = file_ref(reference.path), body(reference.quote)
    return reference._replace(path=path, quote=quote)


def pr_refs(numbers: Iterable[str]) -> tuple[int, ...]:
    """Pull requests that an entry is about, without repetition: ``12``, ``#12`` or
    ``!12``."""
    return tuple(dict.fromkeys(map(_pr_ref, numbers)))


def _pr_ref(text: str) -> int:
    digits = text.strip()
    number = whole_number(digits[digits.startswith(("#", "!")) :], _MAX_DIGITS)
    if not number:
        raise InvalidInputError(f"{text!r} is not a pull request.", "Give its number.")
    return number


def commit_refs(ids: Iterable[str]) -> tuple[str, ...]:
    """Commits that an entry is about, without repetition."""
    return tuple(dict.fromkeys(map(commit_ref, ids)))


def commit_ref(text: str) -> str:
    """A commit: four or more digits of its id, in lower case."""
    digits = text.strip().lower()
    if not _LEAST_HEX <= len(digits) <= _MOST_HEX or not _HEX.issuperset(digits):
        raise InvalidInputError(
            f"{text!r} is not a commit.",
            f"Give {_LEAST_HEX} or more digits of its id (0-9, a-f).",
        )
    return digits


def branch(text: str) -> str:
    """A name that git allows for a branch, existing or not; empty if ``text`` is."""
    name = text.strip()
    if not name or _is_branch_name(name):
        return name
    raise InvalidInputError(
        f"{text!r} cannot be the name of a branch.",
        "Use a name that git allows, such as fix/login: git help check-ref-format",
    )


def _is_branch_name(name: str) -> bool:
    """The rules of git-check-ref-format(1) for ``--branch``, and our limit."""
    allowed = (
        len(name.encode(errors="replace")) <= MAX_BRANCH_BYTES
        and name != "HEAD"
        and not name.startswith("-")
        and not name.endswith(".")
        and not any(word in name for word in ("..", "@{"))
        and not any(char in _NOT_IN_BRANCHES for char in name)
        and clean(name) == name
    )
    return allowed and all(
        part and not part.startswith(".") and not part.endswith(".lock")
        for part in name.split("/")
    )


def lasting_seconds(text: str) -> int:
    """How long a note lasts, in seconds; at most a week."""
    seconds = (age_ms(text) or 0) // 1000
    if not seconds or seconds > MAX_LASTING:
        raise InvalidInputError(
            f"{text!r} is not a length of time.", "Write 90m, 3h or 2d, at most 7d."
        )
    return seconds


def wait_seconds(text: str) -> float | None:
    """How long to wait, in seconds; ``None`` for as long as it takes."""
    if not text:
        return None
    plain = text.strip().replace(".", "", 1)
    if whole_number(plain, _MAX_DIGITS) is not None:
        return float(text)
    milliseconds = age_ms(text)
    if milliseconds is None:
        raise InvalidInputError(
            f"{text!r} is not how long to wait.", "Write seconds (300), or 5m, 2h, 1d."
        )
    return milliseconds / 1000


def key(text: str) -> str:
    """An idempotency key: one printable line, or empty."""
    return _printable(_line(text, "key", MAX_KEY_BYTES), "key") if text else ""


def name(text: str) -> str:
    """A participant's name: one printable line, or empty."""
    return _printable(_line(text, "name", MAX_NAME_BYTES), "name") if text else ""


def _printable(line: str, noun: str) -> str:
    """The line, if it has no invisible characters: it is typed and compared."""
    if not line.isprintable():
        raise _unprintable_error(noun)
    return line


def _unprintable_error(noun: str) -> InvalidInputError:
    return InvalidInputError(
        f"The {noun} has control characters or bytes that are not UTF-8.",
        "Use ordinary characters.",
    )


def _line(text: str, noun: str, limit: int, *, alternative: str = "") -> str:
    """One line of at most ``limit`` bytes that is safe to show.

    The hints name ``alternative`` as the option for longer text.
    """
    line = text.strip()
    if not any(c.isprintable() for c in line):
        raise InvalidInputError(f"The {noun} is empty.", "Use one line.")
    if "\n" in line or "\r" in line:
        raise InvalidInputError(
            f"A {noun} is a single line, this one has several.",
            f"Put the first line there and the rest into {alternative}."
            if alternative
            else "Use one line.",
        )
    if clean(line) != line:
        raise _unprintable_error(noun)
    if len(line.encode()) > limit:
        more = f"Put the rest into {alternative}."
        raise InvalidInputError(
            f"The {noun} is longer than {limit} bytes.",
            more if alternative else "Use fewer words.",
        )
    return line.replace("\t", " ")


def body(text: str) -> str:
    """A body: any text of at most `MAX_BODY_BYTES`.

    Lone surrogates are refused, because bytes that are not UTF-8 become these.
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
    """A number of seconds from 0 to an hour."""
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value <= _MAX_SECONDS:
        raise InvalidInputError(
            f"{text!r} is not a number of seconds.", "Write 2 or 0.5, at most 3600."
        )
    return value


def required(text: str, noun: str, choices: Sequence[str] = ()) -> str:
    """An argument that the parser allows to be missing, because another may replace
    it."""
    if not text:
        hint = f"Use {', '.join(choices)}." if choices else f"Give the {noun}."
        raise InvalidInputError(f"No {noun} was given.", hint)
    return text
