"""The words of a shell command, as far as they can be known without running it.

A word is *literal* if it is written out: no variable, no substitution, no pattern.
Operators are distinguished from quoted text that looks like one.
"""

from __future__ import annotations

from wc_core.base.lean import re
from wc_core.base.values import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_LENGTH = 100_000

# Longest first. A number in front belongs to a redirection.
_OPERATORS = re.compile(
    r"\d*(?:&>>|&>|>>|>\||>&|<<<|<<-|<<|<>|<&|>|<)|;;|&&|\|\||\|&|[;&|()\n]"
)
_UNKNOWN = frozenset("$`")
_PATTERN = frozenset("*?[{~!")
_BLANK = frozenset(" \t\r")
_ENDS = frozenset(" \t\r\n;&|()<>")


class ShellWord(NamedTuple):
    """A word of a command, or an operator between words, or the text of a
    here-document, which comes after its line. ``text`` of a literal word is without its
    quotes."""

    text: str
    literal: bool = True
    operator: bool = False
    document: bool = False


class UnreadableCommandError(ValueError):
    """A command whose words cannot be known, such as one with an open quote."""


def words(command: str) -> list[ShellWord]:
    """The words and operators of a command. Raises UnreadableCommandError."""
    if len(command) > MAX_LENGTH:
        raise UnreadableCommandError("too long")
    return list(_Scanner(command.replace("\\\n", "")).words())


class _Scanner:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        # The ends of the here-documents that begin after this line.
        self.documents: list[tuple[str, bool]] = []

    def words(self) -> Iterator[ShellWord]:
        while self.at < len(self.text):
            char = self.text[self.at]
            if char in _BLANK:
                self.at += 1
            elif char == "#":
                end = self.text.find("\n", self.at)
                self.at = len(self.text) if end < 0 else end
            else:
                yield from self._next()
        if self.documents:
            raise UnreadableCommandError("a here-document without its end")

    def _next(self) -> Iterator[ShellWord]:
        match = _OPERATORS.match(self.text, self.at)
        if match is None:
            yield self._word()
            return
        self.at = match.end()
        operator = match[0].lstrip("0123456789")
        if operator in {"<<", "<<-"}:
            self._begin_document(strips_tabs=operator == "<<-")
        elif operator == "\n":
            yield ShellWord("\n", operator=True)
            yield from self._read_documents()
        else:
            yield ShellWord(operator, operator=True)

    def _begin_document(self, *, strips_tabs: bool) -> None:
        while self.at < len(self.text) and self.text[self.at] in _BLANK:
            self.at += 1
        self.documents.append((self._word().text, strips_tabs))

    def _read_documents(self) -> Iterator[ShellWord]:
        """The here-documents of the line that has ended."""
        for end, strips_tabs in self.documents:
            start = self.at
            while True:
                if self.at >= len(self.text):
                    raise UnreadableCommandError("a here-document without its end")
                line, _, _ = self.text[self.at :].partition("\n")
                if (line.lstrip("\t") if strips_tabs else line) == end:
                    break
                self.at += len(line) + 1
            yield ShellWord(self.text[start : self.at], document=True)
            self.at += len(line) + 1
        self.documents = []

    def _word(self) -> ShellWord:
        start, parts, literal = self.at, [], True
        while self.at < len(self.text) and self.text[self.at] not in _ENDS:
            char = self.text[self.at]
            if char == "'":
                parts.append(self._single_quoted())
            elif char == '"':
                text, is_plain = self._double_quoted()
                parts.append(text)
                literal = literal and is_plain
            elif char == "\\":
                parts.append(self.text[self.at + 1 : self.at + 2])
                self.at += 2
            elif char in _UNKNOWN:
                literal = False
                self._skip_expansion()
            else:
                literal = literal and char not in _PATTERN
                parts.append(char)
                self.at += 1
        if self.at == start:
            raise UnreadableCommandError("a word was expected")
        return ShellWord("".join(parts), literal)

    def _single_quoted(self) -> str:
        end = self.text.find("'", self.at + 1)
        if end < 0:
            raise UnreadableCommandError("an open quote")
        text = self.text[self.at + 1 : end]
        self.at = end + 1
        return text

    def _double_quoted(self) -> tuple[str, bool]:
        """The text in double quotes, and whether it is written out."""
        parts: list[str] = []
        is_plain = True
        self.at += 1
        while self.at < len(self.text):
            char = self.text[self.at]
            if char == '"':
                self.at += 1
                return "".join(parts), is_plain
            if char == "\\":
                following = self.text[self.at + 1 : self.at + 2]
                parts.append(following if following in '$`"\\' else f"\\{following}")
                self.at += 2
            elif char in _UNKNOWN:
                is_plain = False
                self._skip_expansion()
            else:
                parts.append(char)
                self.at += 1
        raise UnreadableCommandError("an open quote")

    def _skip_expansion(self) -> None:
        """Skip a variable or a substitution."""
        if self.text[self.at] == "`":
            end = self.text.find("`", self.at + 1)
            if end < 0:
                raise UnreadableCommandError("an open substitution")
            self.at = end + 1
            return
        self.at += 1
        opening = self.text[self.at : self.at + 1]
        if opening in {"(", "{"}:
            self._skip_brackets(opening, {"(": ")", "{": "}"}[opening])

    def _skip_brackets(self, opening: str, closing: str) -> None:
        """Skip to the bracket that closes this one; quotes count."""
        depth = 0
        while self.at < len(self.text):
            char = self.text[self.at]
            if char == "'":
                self._single_quoted()
                continue
            if char == '"':
                self._double_quoted()
                continue
            if char == "\\":
                self.at += 1
            depth += (char == opening) - (char == closing)
            self.at += 1
            if not depth:
                return
        raise UnreadableCommandError("an open bracket")
