"""The id of a claim's target: a path from the top of the worktree, or a symbol in it.

``src/auth.py`` covers ``src/auth.py::Login``, and ``src`` covers both. ``.`` is the
whole worktree. `canonical` makes an id from the user's input: ``./g`` becomes ``g``,
symbolic links are followed, and on a file system that ignores case the spelling on the
disk counts.
"""

from __future__ import annotations

import os
import unicodedata

from wc_core.base.errors import InvalidInputError
from wc_core.base.text import clean
from wc_core.base.values import NamedTuple

MARK = "::"
TOP = "."
MAX_BYTES = 1000
# In a path, so that `parse` does not take the rest for a symbol.
_ESCAPED_MARK = ":%3A"


class ClaimId(NamedTuple):
    """A path from the top of the worktree; ``symbol`` is empty for all of it."""

    path: str
    symbol: str = ""

    def __str__(self) -> str:
        path = self.path.replace(MARK, _ESCAPED_MARK)
        return f"{path}{MARK}{self.symbol}" if self.symbol else path

    def covers(self, target: ClaimId) -> bool:
        """Whether having this includes having ``target``."""
        if self.symbol:
            return self.path == target.path and _is_within(
                self.symbol, target.symbol, "."
            )
        return self.path == TOP or _is_within(self.path, target.path, "/")

    def overlaps(self, target: ClaimId) -> bool:
        """Whether one of the two covers the other."""
        return self.covers(target) or target.covers(self)


def _is_within(outer: str, inner: str, separator: str) -> bool:
    return inner == outer or inner.startswith(f"{outer}{separator}")


def parse(text: str) -> ClaimId:
    """The id that `str` wrote."""
    path, symbol = _halves(text)
    return ClaimId(path.replace(_ESCAPED_MARK, MARK), symbol)


def _halves(text: str) -> tuple[str, str]:
    """A path and a symbol, separated by the first mark. Of more colons, the path has
    the rest: no symbol begins with one."""
    path, _, symbol = text.partition(MARK)
    while symbol.startswith(":"):
        path, symbol = f"{path}:", symbol[1:]
    return path, symbol


def label(text: str) -> str:
    """An id in a sentence: a full stop after ``.`` would not be seen."""
    return "everything" if text == TOP else text


def is_canonical(text: str) -> bool:
    """Whether a text from a record can be an id: an id that `canonical` refuses cannot
    be claimed."""
    path = parse(text).path
    parts = path.split("/")
    return (
        str(parse(text)) == text
        and 0 < len(os.fsencode(_encodable(text))) <= MAX_BYTES
        and not any(ord(character) < ord(" ") for character in text)
        and (path == TOP or not {"", ".", "..", ".git"} & set(parts))
    )


def _encodable(text: str) -> str:
    """A text without surrogates that represent no byte."""
    data = text.encode("utf-8", "surrogatepass")
    return data.decode("utf-8", "replace")


def canonical(word: str, cwd: str, top: str, *, ignore_case: bool = False) -> ClaimId:
    """The id for the user's input in the folder ``cwd`` of the worktree ``top``.

    Raises InvalidInputError for a path outside the worktree or inside ``.git``, and for
    one that cannot be an id.
    """
    typed, symbol = _split(word, cwd)
    path = os.path.relpath(_resolved(os.path.join(cwd, typed), top), top)
    if ignore_case:
        path = _spelling_on_disk(path, top)
    path = unicodedata.normalize("NFC", path)
    if path == ".." or path.startswith("../"):
        raise InvalidInputError(
            f"{clean(word)} is outside of this worktree.",
            "Claim paths of this worktree; others claim theirs in their own.",
        )
    # Rust and C++ write Login::check for Login.check.
    symbol = unicodedata.normalize("NFC", symbol).replace(MARK, ".")
    target = ClaimId(path, symbol)
    if not is_canonical(str(target)):
        raise InvalidInputError(
            f"{clean(word)[:80]!r} cannot be claimed.",
            f"Claim a file, a folder or PATH::SYMBOL, of at most {MAX_BYTES} bytes, "
            "without control characters and outside of .git.",
        )
    return target


def _split(word: str, cwd: str) -> tuple[str, str]:
    """The path and the symbol of a word; a file may have the separator in its name."""
    typed, mark, symbol = word.rpartition(MARK)
    is_file = not mark or os.path.lexists(os.path.join(cwd, word))
    typed, symbol = (word, "") if is_file else _halves(word)
    invalid = not typed.strip() or "\0" in word or symbol != symbol.strip()
    if invalid or (not is_file and not symbol):
        raise InvalidInputError(
            f"{clean(word)!r} is not a path.",
            "Write PATH or PATH::SYMBOL, such as: src/auth.py::Login.check",
        )
    return typed, symbol


def _resolved(path: str, top: str) -> str:
    """A path without symbolic links; missing parts stay. If a link leads outside, or
    nowhere, the link itself is the target."""
    folder, name = os.path.split(path.rstrip("/"))
    if name in {"", ".", ".."}:
        return os.path.realpath(path)
    place = os.path.join(os.path.realpath(folder), name)
    target = os.path.realpath(place)
    inside = os.path.exists(target) and _is_within(top, target, "/")
    return target if inside else place


def _spelling_on_disk(path: str, top: str) -> str:
    """A path in the spelling of the names on the disk."""
    folder, parts = top, []
    for part in path.split("/"):
        try:
            names = os.listdir(folder)
        except OSError:
            names = []
        folded = part.casefold()
        spellings = sorted(name for name in names if name.casefold() == folded)
        parts.append(part if part in names or not spellings else spellings[0])
        folder = f"{folder}/{parts[-1]}"
    return "/".join(parts)
