"""The files that a program changes, by its arguments: ``tee``, ``sed -i``, ``mv``,
``rm``, ``git checkout`` and ``git restore`` with ``--``, and ``apply_patch``.

An argument that is not written out is passed on, but is not a target.
"""

from __future__ import annotations

import os

from wc_core.edits.guard import patches
from wc_core.edits.guard.words import ShellWord

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_SED_ARGUMENTS = ("-e", "-f", "-l", "--expression", "--file", "--line-length")
# Options of git that neither take an argument nor change where it works.
_GIT_OPTIONS = frozenset(
    {"--no-pager", "-P", "--paginate", "-p", "--no-optional-locks"}
)


def _operands(arguments: Sequence[ShellWord]) -> tuple[list[str], list[ShellWord]]:
    """The options and the other words; after ``--`` there are no options."""
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
    """The sources and the destination of a move. Unclear if an option has an
    argument."""
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
    """The paths after ``--`` of checkout and restore."""
    rest, folder = iter(arguments), ""
    for word in rest:
        if word.text == "-C":
            chosen = next(rest, word)
            if not chosen.literal:
                return []
            folder = os.path.join(folder, chosen.text)
        elif word.text == "-c":
            next(rest, None)
        elif word.text not in _GIT_OPTIONS:
            following = [word, *rest]
            break
    else:
        return []
    return _in_folder(_restored(following), folder, cwd)


def _restored(following: list[ShellWord]) -> list[ShellWord]:
    """The paths that a subcommand of git overwrites."""
    texts = [word.text for word in following]
    if texts[0] not in {"checkout", "restore"} or "--" not in texts:
        return []
    if "--staged" in texts and "--worktree" not in texts:
        return []  # only the index
    paths = following[texts.index("--") + 1 :]
    return [word for word in paths if not word.text.startswith(":")]


def _in_folder(paths: list[ShellWord], folder: str, cwd: str | None) -> list[ShellWord]:
    if not folder:
        return paths
    if cwd is None and not os.path.isabs(folder):
        return []
    return [word._replace(text=os.path.join(folder, word.text)) for word in paths]


def _apply_patch(arguments: list[ShellWord], _: str | None) -> list[ShellWord]:
    """The files in a patch that is an argument."""
    return [
        ShellWord(path)
        for word in arguments
        if word.literal
        for path in patches.paths(word.text)
    ]


# For each program, the function from its arguments, and the folder that it is run in if
# known, to the words that name files.
PROGRAMS: dict[str, Callable[[list[ShellWord], str | None], list[ShellWord]]] = {
    "tee": _all_operands,
    "rm": _all_operands,
    "mv": _mv,
    "sed": _sed,
    "gsed": _sed,
    "git": _git,
    **dict.fromkeys(patches.PROGRAMS, _apply_patch),
}
