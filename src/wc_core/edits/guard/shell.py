"""The files that a shell command changes, if they are written out in it.

It knows ``>``, ``>>``, and the programs of `programs`. Other programs, and targets that
only a shell can compute, are left to the check of the files afterwards; so is the rest
of a command once it is no longer clear what is run, or in which folder.
"""

from __future__ import annotations

import os

from wc_core.base.lean import re
from wc_core.base.values import NamedTuple
from wc_core.edits.guard import patches
from wc_core.edits.guard.programs import PROGRAMS
from wc_core.edits.guard.words import ShellWord, UnreadableCommandError, words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_WRITES = frozenset({">", ">>", ">|", "&>", "&>>", "<>", ">&"})
_REDIRECTIONS = _WRITES | {"<", "<<<", "<&"}
# What follows `>&` if it is not a file: the number of an open one.
_OPEN_FILE = re.compile(r"\d*-?")
# Programs that start another, and words of the shell before a command.
_PREFIXES = frozenset(
    {"sudo", "command", "env", "nohup", "time", "exec", "builtin", "!"}
)
# Words of the shell that stand for a command.
_BEGIN = frozenset({"if", "while", "until", "for", "select", "{"})
_END = frozenset({"fi", "done", "}"})
_BETWEEN = frozenset({"then", "elif", "else", "do"})
# What runs after these depends on more than the command.
_UNCLEAR = frozenset({"case", "function", "eval"})
_ELSEWHERE = ("GIT_WORK_TREE=", "GIT_DIR=")
_PIPES = frozenset({"|", "|&"})
_ENDS_OF_LIST = frozenset({";", "\n", "&"})


def targets(command: str, cwd: str) -> tuple[str, ...]:
    """The absolute paths that a command changes, without repetition; none if its words
    cannot be known. ``cwd`` is where it is run."""
    try:
        line = words(command)
    except UnreadableCommandError:
        return ()
    return tuple(dict.fromkeys(_Reader(cwd).paths(line)))


class _Folder(NamedTuple):
    """The folder in which the next command is run, ``None`` if it is unknown.

    The rest is about the list of ``&&`` and ``||`` that the command is in. ``chained``:
    it is not the first. ``moved``: ``cd`` was run in it. ``is_sure``: whatever the
    commands of the list do, it is also the folder after it. ``later``: the folder after
    the list, where ``cd`` may have failed before ``||``.
    """

    cwd: str | None
    chained: bool = False
    moved: bool = False
    is_sure: bool = True
    later: str | None = None


_LOST = _Folder(None, moved=True)


class _Reader:
    """Goes through the commands of a line, up to one that makes the rest unclear."""

    def __init__(self, cwd: str) -> None:
        self.folder = _Folder(cwd)
        self.shells: list[_Folder] = []
        self.blocks: list[_Folder] = []
        self.is_piped = False  # the current command
        self.is_unclear = False
        self.patch_folder: str | None = None

    def paths(self, line: Sequence[ShellWord]) -> Iterator[str]:
        command: list[ShellWord] = []
        redirection = ""
        for word in _without_arithmetic(line):
            if word.document:
                yield from self._patched(word.text)
            elif redirection and not word.operator:
                yield from self._redirected(redirection, word, command)
                redirection = ""
            elif word.operator and word.text in _REDIRECTIONS:
                redirection = word.text
            elif word.operator:
                yield from self._operator(word.text, command, redirection)
                command, redirection = [], ""
            elif _without_prefixes(command) or not self._is_keyword(word.text):
                command.append(word)
            if self.is_unclear:
                return
        yield from self._command(command)

    def _is_keyword(self, text: str) -> bool:
        """Whether a word in the place of a command is one of the shell's, after which
        another command may follow. Commands in a block may not run, or run more than
        once."""
        if text in _BEGIN:
            self.blocks.append(self.folder)
            self.folder = _Folder(self.folder.cwd)
            return text not in {"for", "select"}
        if text not in _END | _BETWEEN:
            return False
        start = self.blocks[-1] if self.blocks else _LOST
        if text in _END and self.blocks:
            self.blocks.pop()
        if text in _END or text in {"elif", "else"}:
            is_same = self.folder.cwd == start.cwd
            same = start if text in _END else _Folder(start.cwd)
            self.folder = same if is_same else _LOST
        return True

    def _operator(
        self, operator: str, command: list[ShellWord], redirection: str
    ) -> Iterator[str]:
        is_list = bool(command) and command[-1].text.endswith("=")
        is_function = bool(_without_prefixes(command)) and not redirection
        if operator == "(" and (is_list or is_function):
            self.is_unclear = True
            return
        folder = self.folder
        yield from self._command(command)
        self.is_piped = operator in _PIPES
        if self.is_piped and self.folder != folder:
            self.folder = _LOST
        self._enter_or_leave(operator)

    def _enter_or_leave(self, operator: str) -> None:
        """A subshell has its own folder."""
        folder = self.folder
        if operator == "(":
            self.shells.append(folder)
            self.folder = _Folder(folder.cwd)
        elif operator == ")":
            self.folder = self.shells.pop() if self.shells else _LOST
        elif operator in _ENDS_OF_LIST:
            is_sure = folder.is_sure and not (operator == "&" and folder.moved)
            self.folder = _Folder((folder.later or folder.cwd) if is_sure else None)
        elif operator == "||" and folder.moved and folder.later is None:
            later = folder.cwd if folder.is_sure else None
            self.folder = _LOST._replace(chained=True, later=later)
        elif operator in {"&&", "||"}:
            self.folder = folder._replace(chained=True)

    def _redirected(
        self, redirection: str, target: ShellWord, command: list[ShellWord]
    ) -> Iterator[str]:
        arguments = _without_prefixes(command)
        is_comparison = bool(arguments) and arguments[0].text == "[["
        is_number = redirection == ">&" and _OPEN_FILE.fullmatch(target.text)
        if redirection in _WRITES and not is_comparison and not is_number:
            yield from self._resolved([target], self.folder.cwd)

    def _command(self, command: list[ShellWord]) -> Iterator[str]:
        arguments = _without_prefixes(command)
        if not arguments or not arguments[0].literal:
            return
        name, cwd = os.path.basename(arguments[0].text), self.folder.cwd
        if name in {"cd", "pushd", "popd"}:
            self._change_folder(name, arguments[1:])
        elif name in _UNCLEAR:
            self.is_unclear = True
        elif name in PROGRAMS and not _works_elsewhere(name, command):
            yield from self._resolved(PROGRAMS[name](arguments[1:], cwd), cwd)
            if name in patches.PROGRAMS:
                self.patch_folder = cwd

    def _patched(self, document: str) -> Iterator[str]:
        """The files of a here-document for a patch on the line before it."""
        if self.patch_folder is not None:
            names = map(ShellWord, patches.paths(document))
            yield from self._resolved(list(names), self.patch_folder)

    def _change_folder(self, name: str, arguments: list[ShellWord]) -> None:
        names = [word for word in arguments if word.text != "--"]
        is_clear = name == "cd" and len(names) == 1 and names[0].text != "-"
        folder = self.folder
        if self.is_piped or folder.later is not None or not is_clear:
            self.folder = _LOST
            return
        cwd = next(iter(self._resolved(names, folder.cwd)), None)
        is_sure = folder.is_sure and not folder.chained
        self.folder = folder._replace(cwd=cwd, moved=True, is_sure=is_sure)

    def _resolved(
        self, operands: Sequence[ShellWord], cwd: str | None
    ) -> Iterator[str]:
        """The paths of words that are written out."""
        for word in operands:
            if not word.literal or not word.text or "\0" in word.text:
                continue
            if os.path.isabs(word.text):
                yield os.path.normpath(word.text)
            elif cwd is not None:
                yield os.path.normpath(os.path.join(cwd, word.text))


def _works_elsewhere(name: str, command: Sequence[ShellWord]) -> bool:
    """Whether git was told where to work."""
    return name == "git" and any(word.text.startswith(_ELSEWHERE) for word in command)


def _without_arithmetic(line: Sequence[ShellWord]) -> Iterator[ShellWord]:
    """The words without ``((…))``, in which ``>`` compares numbers."""
    brackets = [word.text if word.operator else "" for word in line]
    at = 0
    while at < len(line):
        if brackets[at : at + 2] == ["(", "("]:
            while at < len(line) and brackets[at : at + 2] != [")", ")"]:
                at += 1
            at += 2
        else:
            yield line[at]
            at += 1


def _without_prefixes(command: list[ShellWord]) -> list[ShellWord]:
    """A command without assignments and without programs that only start others."""
    at = 0
    while at < len(command):
        text = command[at].text
        is_assignment = text.partition("=")[0].isidentifier() and "=" in text
        if not is_assignment and text not in _PREFIXES:
            break
        at += 1
    return command[at:]
