"""The files that a shell command changes, where they are written out in it.

Known are ``>``, ``>>``, ``tee``, ``sed -i``, ``mv``, ``rm``, and ``git checkout`` and
``git restore`` with ``--``. Other programs, and targets that only a shell can work out,
are left to the look at the files afterwards.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from wc_core.guard.words import ShellWord, UnreadableCommandError, words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

_WRITES = frozenset({">", ">>", ">|", "&>", "&>>", "<>"})
_REDIRECTIONS = _WRITES | {"<", "<<<", ">&", "<&"}
# Programs that start another, and words of the shell before a command.
_PREFIXES = frozenset(
    {
        *("sudo", "command", "env", "nohup", "time", "exec", "builtin"),
        *("then", "do", "else", "{", "!"),
    }
)
_SED_ARGUMENTS = ("-e", "-f", "-l", "--expression", "--file", "--line-length")


def targets(command: str, cwd: str) -> tuple[str, ...]:
    """The absolute paths that a command changes, each once; none if its words cannot
    be known. ``cwd`` is where it is run."""
    try:
        line = words(command)
    except UnreadableCommandError:
        return ()
    return tuple(dict.fromkeys(_Reader(cwd).paths(line)))


class _Reader:
    """Goes through the commands of a line. ``cwd`` is ``None`` where it is unknown."""

    def __init__(self, cwd: str) -> None:
        self.cwd: str | None = cwd
        self.outer: list[str | None] = []

    def paths(self, line: Sequence[ShellWord]) -> Iterator[str]:
        command: list[ShellWord] = []
        pending = ""
        for word in _without_arithmetic(line):
            if pending and not word.operator:
                is_comparison = bool(command) and command[0].text == "[["
                if pending in _WRITES and not is_comparison:
                    yield from self._resolved([word])
                pending = ""
            elif word.operator and word.text in _REDIRECTIONS:
                pending = word.text
            elif word.operator:
                pending = ""
                yield from self._command(command)
                command = []
                self._enter_or_leave(word.text)
            else:
                command.append(word)
        yield from self._command(command)

    def _enter_or_leave(self, operator: str) -> None:
        """A subshell has a folder of its own."""
        if operator == "(":
            self.outer.append(self.cwd)
        elif operator == ")":
            self.cwd = self.outer.pop() if self.outer else None

    def _command(self, command: list[ShellWord]) -> Iterator[str]:
        arguments = _without_prefixes(command)
        if not arguments or not arguments[0].literal:
            return
        name = os.path.basename(arguments[0].text)
        if name in {"cd", "pushd", "popd"}:
            self._change_folder(name, arguments[1:])
        elif name in _PROGRAMS:
            yield from self._resolved(_PROGRAMS[name](arguments[1:], self.cwd))

    def _change_folder(self, name: str, arguments: list[ShellWord]) -> None:
        names = [word for word in arguments if word.text != "--"]
        if name != "cd" or len(names) != 1 or names[0].text == "-":
            self.cwd = None
            return
        self.cwd = next(iter(self._resolved(names)), None)

    def _resolved(self, operands: Sequence[ShellWord]) -> Iterator[str]:
        """The paths of words that are written out."""
        for word in operands:
            if not word.literal or not word.text or "\0" in word.text:
                continue
            if os.path.isabs(word.text):
                yield os.path.normpath(word.text)
            elif self.cwd is not None:
                yield os.path.normpath(os.path.join(self.cwd, word.text))


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


def _operands(arguments: Sequence[ShellWord]) -> tuple[list[str], list[ShellWord]]:
    """The options and the other words; behind ``--`` there are no options."""
    options: list[str] = []
    operands: list[ShellWord] = []
    for at, word in enumerate(arguments):
        if word.text == "--" and word.literal:
            operands += arguments[at + 1 :]
            break
        if word.text.startswith("-") and word.text != "-":
            options.append(word.text)
        else:
            operands.append(word)
    return options, operands


def _all_operands(arguments: list[ShellWord], _: str | None) -> list[ShellWord]:
    return _operands(arguments)[1]


def _mv(arguments: list[ShellWord], cwd: str | None) -> list[ShellWord]:
    """What is moved away, and where it gets to. An option with an argument makes it
    unclear which is which."""
    options, operands = _operands(arguments)
    if len(operands) <= 1 or any(_names_folder(option) for option in options):
        return []
    *sources, destination = operands
    folder = os.path.join(cwd or "", destination.text)
    if not destination.literal or (cwd is None and not os.path.isabs(destination.text)):
        return sources
    if len(sources) == 1 and not os.path.isdir(folder):
        return operands
    inside = [
        source._replace(text=f"{destination.text}/{os.path.basename(source.text)}")
        for source in sources
        if source.literal
    ]
    return [*sources, *inside]


def _names_folder(option: str) -> bool:
    """Whether an option of mv takes the folder, or a suffix, as an argument."""
    if option.startswith("--"):
        return option.startswith(("--target", "--suffix"))
    return "t" in option or "S" in option


def _sed(arguments: list[ShellWord], _: str | None) -> list[ShellWord]:
    """The files that sed edits in place."""
    in_place = has_script = False
    files: list[ShellWord] = []
    at = 0
    while at < len(arguments):
        word = arguments[at]
        at += 1
        text = word.text
        if not word.literal and text.startswith("-"):
            return []
        if not text.startswith("-") or text == "-":
            files.append(word)
        elif text == "--":
            files += arguments[at:]
            break
        else:
            in_place = in_place or _edits_in_place(text)
            has_script = has_script or _has_script(text)
            at += text in _SED_ARGUMENTS or _ends_in_argument(text)
    if not in_place:
        return []
    if files and not files[0].text:
        del files[0]  # BSD's sed -i ''
    return files if has_script else files[1:]


def _edits_in_place(option: str) -> bool:
    if option.startswith("--"):
        return option.startswith("--in-place")
    letters = option[1:].partition("i")
    return bool(letters[1]) and not set(letters[0]) & set("efl")


def _has_script(option: str) -> bool:
    if option.startswith("--"):
        return option.startswith(("--expression", "--file"))
    before = option[1:].partition("i")[0]
    return bool(set(before) & set("ef"))


def _ends_in_argument(option: str) -> bool:
    """Whether short options end in one whose argument is the next word, as in
    ``-ne SCRIPT``."""
    if option.startswith("--") or option in _SED_ARGUMENTS:
        return False
    return option[-1] in "ef" and "i" not in option


def _git(arguments: list[ShellWord], cwd: str | None) -> list[ShellWord]:
    """The paths behind ``--`` of checkout and restore."""
    at, folder = 0, ""
    while at < len(arguments) and arguments[at].text.startswith("-"):
        if arguments[at].text == "-C" and at + 1 < len(arguments):
            if not arguments[at + 1].literal:
                return []
            folder = os.path.join(folder, arguments[at + 1].text)
            at += 1
        elif arguments[at].text == "-c":
            at += 1
        at += 1
    following = arguments[at:]
    texts = [word.text for word in following]
    if not texts or texts[0] not in {"checkout", "restore"} or "--" not in texts:
        return []
    if "--staged" in texts and "--worktree" not in texts:
        return []  # the index alone
    paths = following[texts.index("--") + 1 :]
    plain = [word for word in paths if not word.text.startswith(":")]
    if not folder:
        return plain
    if cwd is None and not os.path.isabs(folder):
        return []
    return [word._replace(text=os.path.join(folder, word.text)) for word in plain]


_PROGRAMS: dict[str, Callable[[list[ShellWord], str | None], list[ShellWord]]] = {
    "tee": _all_operands,
    "rm": _all_operands,
    "mv": _mv,
    "sed": _sed,
    "gsed": _sed,
    "git": _git,
}
