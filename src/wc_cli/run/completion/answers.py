"""Answers a shell that asks for the possible next words of a command line."""

from __future__ import annotations

import os
import shlex
import sys

from wc_cli.run import table
from wc_cli.run.completion.scripts import SCRIPTS, VARIABLE
from wc_cli.run.context import Context
from wc_cli.run.help.command import OPTIONS
from wc_cli.run.help.overview import groups, summaries
from wc_cli.run.options import (
    CHANGES,
    FLAG,
    TEXTS,
    WORDS,
    split_leading,
    takes_signed_words,
)
from wc_cli.run.output import say_exact
from wc_core.base.errors import WcError
from wc_core.base.lean import re
from wc_core.base.values import NamedTuple
from wc_core.ledger.threads.model import ENTRY_TYPES, KINDS, ROLES, SEVERITIES, STATUSES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from wc_cli.run.options import Options, Param

# With the longest word before it, one line of a terminal with 80 columns.
_HELP_WIDTH = 60
_SHOW_HELP = "Show the help"
# The pages of `wc skill`; a test compares them with the files.
SKILL_PAGES = ("cloud", "edits", "planning", "review", "search", "writing")
# The keys of `wc list --sort`; a test compares them with the command's own.
LIST_ORDERS = ("recent", "age", "topic", "ball", "status", "title")
# The shells' protocols quote these badly or not at all, and the completed word is
# evaluated. Names with one of them are not offered, but can be typed.
_TAKEN_BY_SHELLS = frozenset("\\\"'`$;&|<>*?[]{}!#^~")


class CompletionWord(NamedTuple):
    """A possible next word, and what the shell shows beside it."""

    word: str
    help: str = ""


def complete(env: Mapping[str, str]) -> None:
    """Print the possible next words in the protocol of the shell that asks.

    An invalid line has no continuation, which is not an error.
    """
    shell = env[VARIABLE].removeprefix("complete_")
    if shell == "bash":
        line = _bash_line(env)
        if line is not None:
            plain = [item.word for item in candidates(*line)]
            is_quoted = _ends_in_quotes(env["COMP_WORDS"])
            say_exact("\n".join(plain if is_quoted else map(_bash_word, plain)))
        return
    if shell not in {"zsh", "fish"}:
        return
    before, incomplete = _typed_line(env.get("_TYPER_COMPLETE_ARGS", ""))
    offered = candidates(before, incomplete)
    if _is_option(incomplete) and "=" in incomplete:
        # Bash completes the value alone, these shells the whole word.
        name = incomplete.partition("=")[0]
        offered = [item._replace(word=f"{name}={item.word}") for item in offered]
    if shell == "zsh":
        say_exact(_zsh_command(offered))
    elif env.get("_TYPER_COMPLETE_FISH_ACTION") == "is-args":
        sys.exit(0 if offered else 1)
    else:
        say_exact("\n".join(f"{item.word}\t{item.help}".rstrip() for item in offered))


def candidates(before: Sequence[str], incomplete: str) -> list[CompletionWord]:
    """Return the words that may follow ``before``, the words after ``wc``, and that
    begin with ``incomplete``.

    A line that does not begin with one of our commands is for the system's ``wc``, and
    has none.
    """
    leading, before = split_leading(before)
    if not before:
        return _commands(incomplete)
    declared = table.load(before[0])
    if declared is None:
        return []
    return _Line(declared.options, [*leading, *before[1:]]).candidates(incomplete)


def _commands(incomplete: str) -> list[CompletionWord]:
    if incomplete.startswith("-"):
        offered = [
            CompletionWord("--help", "Show the help"),
            CompletionWord("-h", "Show the help"),
        ]
    else:
        summary_of = summaries()
        offered = [
            CompletionWord(name, _short_help(summary_of[name]))
            for name in table.COMMANDS
        ]
    return [item for item in offered if item.word.startswith(incomplete)]


class _Line:
    """The complete words of a command line after the command, and what may follow."""

    def __init__(self, options: type[Options], before: Sequence[str]) -> None:
        params = options.params()
        self._options = [param for param in params if param.flags]
        self._by_flag = {flag: param for param in self._options for flag in param.flags}
        self._positional = [param for param in params if not param.flags]
        self._repeated = [
            param for param in self._positional if param.kind in {WORDS, CHANGES}
        ]
        self._signed = takes_signed_words(options)
        self._given: set[str] = set()
        self._arguments = 0
        self._only_arguments = False
        self._pending: Param | None = None
        for word in before:
            self._take(word)

    def _take(self, word: str) -> None:
        """Note a complete word: an option, its value, or an argument."""
        if self._pending is not None:
            # Bash makes a word of the = between an option and its value.
            self._pending = self._pending if word == "=" else None
        elif self._only_arguments or not _is_option(word):
            self._arguments += 1
        elif word == "--":
            self._only_arguments = True
        else:
            self._take_option(word)

    def _take_option(self, word: str) -> None:
        name, joined, _ = word.partition("=")
        param = self._by_flag.get(name)
        if param is None:
            self._arguments += self._signed  # such as -tag
            return
        self._given.add(param.name)
        if param.kind != FLAG and not joined:
            self._pending = param

    def candidates(self, incomplete: str) -> list[CompletionWord]:
        """Return what may follow, and begins with ``incomplete``."""
        value = "" if incomplete == "=" else incomplete
        param = self._pending
        if param is None and not self._only_arguments and _is_option(value):
            name, joined, value = incomplete.partition("=")
            if not joined:
                return [*self._flags(incomplete)]
            param = self._by_flag.get(name)
        elif param is None:
            param = self._argument()
        if param is None or not param.complete:
            return []
        return [CompletionWord(word) for word in words(param.complete, value)]

    def _flags(self, incomplete: str) -> Iterator[CompletionWord]:
        """Yield the options that may still be given."""
        for param in self._options:
            if param.name in self._given and param.kind != TEXTS:
                continue
            for flag in param.flags:
                if flag.startswith(incomplete):
                    yield CompletionWord(flag, _short_help(param.help))
        for flag in ("--help",) if self._signed else ("--help", "-h"):
            if flag.startswith(incomplete):
                yield CompletionWord(flag, _SHOW_HELP)

    def _argument(self) -> Param | None:
        """Return the declaration of the next argument; none after the last."""
        if self._arguments < len(self._positional):
            return self._positional[self._arguments]
        return next(iter(self._repeated), None)


def _is_option(word: str) -> bool:
    return word.startswith("-")


def _short_help(sentence: str) -> str:
    """Return what fits beside a word in a list of completions. zsh gets it in single
    quotes, so no word has an apostrophe of ASCII."""
    text = sentence.partition(";")[0].rstrip(".").replace("'", "\u2019")
    if len(text) <= _HELP_WIDTH:
        return text
    return f"{text[: _HELP_WIDTH - 1].rpartition(' ')[0]} …"


def _bash_line(env: Mapping[str, str]) -> tuple[list[str], str] | None:
    """Return the words before the cursor and the word at it, as bash passes them; none
    if the variables are missing or wrong."""
    typed, position = env.get("COMP_WORDS"), env.get("COMP_CWORD", "")
    if typed is None or not position.isdecimal():
        return None
    line, at = split_words(typed), int(position)
    return line[1:at], line[at] if at < len(line) else ""


def _typed_line(typed: str) -> tuple[list[str], str]:
    """Return the words before the cursor and the word at it, of a line up to it."""
    line = split_words(typed)[1:]
    if line and not typed.endswith(" "):
        return line[:-1], line[-1]
    return line, ""


def split_words(typed: str) -> list[str]:
    """Return the words of a command line, which may end within quotes or with a
    backslash. Nothing is expanded."""
    lexer = _lexer(typed)
    offered: list[str] = []
    try:
        offered.extend(lexer)
    except ValueError:  # the end is missing
        offered.append(lexer.token)
    return offered


def _ends_in_quotes(typed: str) -> bool:
    """Return whether a line ends within quotes: bash inserts what is offered there as
    it is, and closes them."""
    try:
        list(_lexer(f"{typed}x"))  # not after a backslash, which ends no line then
    except ValueError:
        return True
    return False


def _lexer(typed: str) -> shlex.shlex:
    lexer = shlex.shlex(typed, posix=True)
    lexer.whitespace_split = True
    lexer.commenters = ""
    return lexer


def _bash_word(word: str) -> str:
    """Return a word with backslashes: bash inserts it unchanged, and names of agents
    have blanks and brackets."""
    return re.sub(r"([^\w@%+=:,./-])", r"\\\1", word)


def _zsh_command(offered: Sequence[CompletionWord]) -> str:
    """Return what zsh evaluates: the words with their descriptions, or files."""
    if not offered:
        return "_files"
    rows = (":".join(_zsh_text(text) for text in item if text) for item in offered)
    quoted = " ".join(f"'{row}'" for row in rows)
    return f"local -a offered=({quoted}); _describe -V word offered"


def _zsh_text(text: str) -> str:
    """Return a word or its description as `_describe` reads it."""
    return text.replace("\\", "\\\\").replace(":", "\\:")


def words(kind: str, incomplete: str) -> list[str]:
    """Return the words of this kind that begin with ``incomplete``."""
    try:
        every = _WORDS[kind]()
        if kind == "agent" and incomplete:
            every = [*dict.fromkeys((*every, *_known_agents()))]
    except (WcError, OSError):
        return []  # errors do not belong in a prompt
    return [
        word for word in every if word.startswith(incomplete) and _is_harmless(word)
    ]


def _is_harmless(word: str) -> bool:
    """Return whether terminals and shells treat it as a plain word."""
    return word.isprintable() and _TAKEN_BY_SHELLS.isdisjoint(word)


def _topics() -> list[str]:
    return _stored_topics(_context())


def _agents() -> list[str]:
    """The participants of all threads, and the words for others."""
    context = _context()
    people: set[str] = set()
    for topic in _stored_topics(context):
        try:
            people.update(context.reader.snapshot(topic).state.people)
        except WcError:
            continue  # one damaged thread must not hide the names in others
    return [*sorted(people, key=str.casefold), "anyone", "me"]


def _known_agents() -> Iterable[str]:
    """The agents that may never have been here: too many to be offered without a
    letter."""
    return _context().settings.directory.aliases.values()


def _stored_topics(context: Context) -> list[str]:
    """The topics of the store. Completing a word must not check a store out."""
    return context.reader.topics() if context.place.exists else []


def _context() -> Context:
    return Context(dict(os.environ), os.getcwd())


_WORDS: dict[str, Callable[[], Sequence[str]]] = {
    "topic": _topics,
    "topic or status": lambda: [*_topics(), *STATUSES],
    "agent": _agents,
    "status": lambda: STATUSES,
    "role": lambda: ROLES,
    "type": lambda: ENTRY_TYPES,
    "kind": lambda: KINDS,
    "severity": lambda: SEVERITIES,
    "list order": lambda: LIST_ORDERS,
    "search order": lambda: ("best", "newest"),
    "command or group": lambda: [*table.COMMANDS, *groups(), OPTIONS],
    "shell": lambda: list(SCRIPTS),
    "skill page": lambda: SKILL_PAGES,
}
