"""The references of an entry: recorded with it, or named in its title or body.

Only what authors record is stored, so references are the same for old and new entries.
The rules are stricter than those of `mentions`, which looks for something known: here a
word must look like a path or an id by itself.

It looks for rare characters, a dot or a digit, with `str.find`, and then at those
around them. Regular expressions would find the same, but to import `re` and compile
them takes 5 ms, a fifth of `wc read`, which uses it nowhere else. Texts may be long and
hostile, so the time it takes is proportional to their length.
"""

from __future__ import annotations

from wc_core.base.values import NamedTuple
from wc_core.ledger.threads.linerefs import ref_fields

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any

    from wc_core.ledger.threads.linerefs import LineRef
    from wc_core.ledger.threads.model import Entry


# The most references of a kind from one text.
_MOST = 50
_SHORT_ID = 7
_SHOWN = 12

_ENDINGS = (
    "adoc astro awk bash bat c cc cfg cjs clj cmake conf cpp cs css csv cue cxx dart "
    "diff elm erl ex exs fish go gradle graphql h hcl hh hpp hrl hs html hxx ini ipynb "
    "java jl js json json5 jsonc jsonl jsx kt kts less lock lua md mdx mjs mk ml mli "
    "mod nim nix patch php pl pm proto ps1 py pyi pyx r rb rs rst sass scala scss sh "
    "sol sql sum svelte svg swift tex tf toml ts tsx txt v vim vue xml yaml yml zig zsh"
)
_FILE_ENDINGS = frozenset(_ENDINGS.split())
_LONGEST_ENDING = max(map(len, _FILE_ENDINGS))
# The end of each of the names below.
_FILE = "file"
_WHOLE_NAMES = (
    *("Makefile", "Dockerfile", "Jenkinsfile", "Gemfile", "Rakefile", "Procfile"),
    "Justfile",
)
# Names of projects and sites that look like files.
_NO_FILES = frozenset(
    [
        *("node.js", "next.js", "vue.js", "nuxt.js", "react.js", "express.js"),
        *("three.js", "d3.js", "docs.rs", "lib.rs", "asp.net"),
    ]
)
_IN_PATHS = frozenset("_.@+-/")
# Linux opens no longer ones.
_LONGEST_PATH = 4096
_NOT_AFTER_FILE = frozenset("_/@+-")
_NOT_AFTER_NUMBER = frozenset("_-")
_DIGITS = "0123456789"
_HEXADECIMAL = frozenset("0123456789abcdef")
_MOST_PR_DIGITS = 7
_BEFORE_PR_LENGTH = len(" pull request #")
_NOT_BEFORE_SIGN = frozenset("_&/#!")
_SHORTENED, _WHOLE = range(_SHORT_ID, 17), 40  # digits
_NOT_BEFORE_COMMIT = frozenset("_#./@-")


class References(NamedTuple):
    """Files, pull requests and commits; recorded ones come first. ``lines`` are the
    line ranges of some of the files."""

    files: tuple[str, ...] = ()
    prs: tuple[int, ...] = ()
    commits: tuple[str, ...] = ()
    lines: tuple[LineRef, ...] = ()

    def words(self, most: int = _SHOWN) -> list[str]:
        """Returns them as words to show: ``src/a.py``, ``#12``, ``3f2a1b9``. If there
        are more than ``most`` (0: all), the last word has the number left out."""
        numbers = (f"#{number}" for number in self.prs)
        commits = (commit[:_SHORT_ID] for commit in self.commits)
        words = [*self._places(), *numbers, *commits]
        if not most or len(words) <= most:
            return words
        return [*words[:most], f"and {len(words) - most} more"]

    def _places(self) -> Iterator[str]:
        """Yields the files, with their lines if there are any."""
        for path in self.files:
            places = [ref.place for ref in self.lines if ref.path == path]
            yield from places or [path]

    def to_json(self) -> dict[str, list[Any]]:
        """Returns the kinds that are present, under their names in a log."""
        fields: dict[str, list[Any]] = {}
        if self.files:
            fields["file_refs"] = list(self.files)
        if self.lines:
            fields["line_refs"] = ref_fields(self.lines)
        if self.prs:
            fields["pr_refs"] = list(self.prs)
        if self.commits:
            fields["commit_refs"] = list(self.commits)
        return fields


def references(entry: Entry) -> References:
    """Returns the references of an entry. A part of another reference is not repeated:
    ``a.py`` beside ``src/a.py``, or fewer digits of a commit."""
    named = named_in(f"{entry.title}\n{entry.body}")
    return References(
        _united(entry.file_refs, named.files, _ends_with),
        tuple(dict.fromkeys((*entry.pr_refs, *named.prs))),
        _united(entry.commit_refs, named.commits, str.startswith),
        entry.line_refs,
    )


def named_in(text: str) -> References:
    """Returns the first references that a text names, without repeating any."""
    prs, commits = _numbers(text)
    return References(_files(text), tuple(prs), tuple(commits))


def _ends_with(path: str, name: str) -> bool:
    return path == name or path.endswith(f"/{name}")


def code_words(entry: Entry) -> str:
    """Returns the code's branch and commit when an entry was written, as ``on login
    (3f2a1b9)``; empty if none was recorded."""
    branch, commit = entry.code_branch, entry.code_commit[:_SHORT_ID]
    if not branch:
        return f"on {commit}" if commit else ""
    return f"on {branch} ({commit})" if commit else f"on {branch}"


def _files(text: str) -> tuple[str, ...]:
    files: dict[str, None] = {}
    run_start = run_end = 0
    for start, end in _file_ends(text):
        # The path begins where the run of its characters does. If there was an ending
        # in this run before, its beginning is known.
        first = start
        while first > run_end and _is_in_path(text[first - 1]):
            first -= 1
        run_start, run_end = (run_start if first == run_end else first), end
        path = ""
        if end - run_start <= _LONGEST_PATH:
            before = text[max(0, run_start - 1) : run_start]
            path = _path(text[run_start:end], text[start:end], before)
        if path and path.lower() not in _NO_FILES:
            files[path] = None
            if len(files) == _MOST:
                break
    return tuple(files)


def _file_ends(text: str) -> Iterator[tuple[int, int]]:
    """Yields where the endings of files, and names without one, start and end."""
    dot, name_end = text.find("."), text.find(_FILE)
    while dot >= 0 or name_end >= 0:
        if name_end < 0 or 0 <= dot < name_end:
            start, end = dot, dot + 1
            while end - start <= _LONGEST_ENDING + 1 and _is_word(text[end : end + 1]):
                end += 1
            is_found = text[start + 1 : end] in _FILE_ENDINGS
            dot = text.find(".", end)
        else:
            end = name_end + len(_FILE)
            names = (name for name in _WHOLE_NAMES if text.endswith(name, 0, end))
            name = next(names, "")
            start, is_found = end - len(name), bool(name)
            name_end = text.find(_FILE, end)
        if is_found and _is_end(text, end, _NOT_AFTER_FILE):
            yield start, end


def _is_in_path(character: str) -> bool:
    return character.isalnum() or character in _IN_PATHS


def _is_word(character: str) -> bool:
    """Returns whether a character belongs to a word; False for an empty text."""
    return character.isalnum() or character == "_"


def _is_end(
    text: str,
    end: int,
    not_after: frozenset[str],
    is_joined: Callable[[str], bool] = _is_word,
) -> bool:
    """Returns whether a name or number may end there. A dot after it ends a sentence,
    unless ``is_joined`` says that the character after the dot belongs to it."""
    following = text[end : end + 2]
    if following[:1] == ".":
        return not is_joined(following[1:])
    return not (following[:1].isalnum() or following[:1] in not_after)


def _path(path: str, ending: str, before: str) -> str:
    """Returns a path with this ending, or name, and this character before it; empty for
    a part of an address, and for a path outside the repository."""
    path = path.removeprefix("./")
    is_outside = path.startswith(("/", "../")) or "//" in path
    is_ending = path.rpartition("/")[2] == ending and ending.startswith(".")
    return "" if is_outside or before in {":", "~"} or is_ending else path


def prs_in(text: str) -> list[int]:
    """Returns the first pull requests that a text names."""
    return _numbers(text)[0]


def _numbers(text: str) -> tuple[list[int], list[str]]:
    """Returns the first pull requests and commits that a text names."""
    prs: dict[int, None] = {}
    commits: dict[str, None] = {}
    for start, end in _digit_runs(text):
        digits = text[start:end]
        before = text[max(0, start - _BEFORE_PR_LENGTH) : start]
        is_joined = str.isdecimal if digits.isdecimal() else _is_word
        if not _is_end(text, end, _NOT_AFTER_NUMBER, is_joined):
            continue
        if digits.isdecimal():
            if len(prs) < _MOST and _is_pr(digits, before):
                prs[int(digits)] = None
        elif len(commits) < _MOST and _is_commit(digits, before[-1:]):
            commits[digits] = None
    return [*prs], [*commits]


def _digit_runs(text: str) -> Iterator[tuple[int, int]]:
    """Yields where hexadecimal digits start and end, if one of them is decimal."""
    # The next place of each digit, so that all of the text is searched once for each.
    ahead = {digit: text.find(digit) for digit in _DIGITS if digit in text}
    while ahead:
        start = end = min(ahead.values())
        while start and text[start - 1] in _HEXADECIMAL:
            start -= 1
        while text[end : end + 1] in _HEXADECIMAL:
            end += 1
        yield start, end
        passed = [digit for digit, place in ahead.items() if place < end]
        for digit in passed:
            ahead[digit] = text.find(digit, end)
            if ahead[digit] < 0:
                del ahead[digit]


def _is_pr(digits: str, before: str) -> bool:
    """Returns whether decimal digits are the number of a pull request, by the text
    before them: ``#`` or ``!``, an address, ``PR`` or ``pull request``."""
    if len(digits) > _MOST_PR_DIGITS or digits[0] == "0":
        return False
    sign, before_sign = before[-1:], before[-2:-1]
    is_in_word = before_sign.isalnum() or before_sign in _NOT_BEFORE_SIGN
    if sign in {"#", "!"} and not is_in_word:
        return True
    words = before.removesuffix("#")
    return (
        before.lower().endswith("/pull/")
        or _ends_with_word(words, "pull request ")
        or _ends_with_word(words.removesuffix(" "), "pr")
        or _ends_with_word(words.removesuffix(" "), "prs")
    )


def _ends_with_word(text: str, word: str) -> bool:
    """Returns whether the text ends with the word, in capitals or not, and nothing
    joined to its front."""
    start = len(text) - len(word)
    is_joined = start > 0 and _is_word(text[start - 1])
    return start >= 0 and text[start:].lower() == word and not is_joined


def _is_commit(digits: str, before: str) -> bool:
    """Returns whether hexadecimal digits are a commit: as many as git shows, with
    letters among them, and not a part of something else."""
    is_part = before.isalnum() or before in _NOT_BEFORE_COMMIT
    return (len(digits) in _SHORTENED or len(digits) == _WHOLE) and not is_part


def _united(
    recorded: Sequence[str], named: Sequence[str], contains: Callable[[str, str], bool]
) -> tuple[str, ...]:
    """Returns recorded references, then those named in texts that are not part of any
    other."""
    references = dict.fromkeys(recorded)
    for name in named:
        longer = (*references, *(text for text in named if text != name))
        if not any(contains(text, name) for text in longer):
            references[name] = None
    return tuple(references)
