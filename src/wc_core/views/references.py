"""The references of an entry: recorded with it, or named in its title or body.

Only what authors record is stored, so references are the same for old and new entries.
The patterns are stricter than those of `mentions`, which looks for something known:
here a word must look like a path or an id by itself.
"""

from __future__ import annotations

from wc_core.lean import re
from wc_core.threads.linerefs import ref_fields
from wc_core.values import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import Any, TypeVar

    from wc_core.threads.linerefs import LineRef
    from wc_core.threads.model import Entry

    _T = TypeVar("_T")


# The most references of a kind from one text.
_MOST = 50
_SHORT_ID = 7
_SHOWN = 12

_ENDINGS = (
    "adoc|astro|awk|bash|bat|c|cc|cfg|cjs|clj|cmake|conf|cpp|cs|css|csv|cue|cxx|dart|"
    "diff|elm|erl|ex|exs|fish|go|gradle|graphql|h|hcl|hh|hpp|hrl|hs|html|hxx|ini|ipynb|"
    "java|jl|js|json|json5|jsonc|jsonl|jsx|kt|kts|less|lock|lua|md|mdx|mjs|mk|ml|mli|"
    "mod|nim|nix|patch|php|pl|pm|proto|ps1|py|pyi|pyx|r|rb|rs|rst|sass|scala|scss|sh|"
    "sol|sql|sum|svelte|svg|swift|tex|tf|toml|ts|tsx|txt|v|vim|vue|xml|yaml|yml|zig|zsh"
)
_WHOLE_NAMES = "Makefile|Dockerfile|Jenkinsfile|Gemfile|Rakefile|Procfile|Justfile"
# Names of projects and sites that look like files.
_NO_FILES = frozenset(
    [
        *("node.js", "next.js", "vue.js", "nuxt.js", "react.js", "express.js"),
        *("three.js", "d3.js", "docs.rs", "lib.rs", "asp.net"),
    ]
)
# Each pattern begins with something rare, so that most characters of a text are skipped
# at the speed of C. What precedes a match is checked afterwards.
_FILE_END = re.compile(rf"(?:\.(?:{_ENDINGS})|{_WHOLE_NAMES})(?![\w/@+-]|\.\w)")
_DIGITS = "0123456789"
_NUMBER = re.compile(r"[1-9]\d{0,6}(?![\w-]|\.\d)")
_ENDS_BEFORE_NUMBER = frozenset("#!/ RrsSt")
_BEFORE_NUMBER = re.compile(
    r"(?i)(?:(?<![\w&/#!])[#!]|\bprs? ?#?|/pull/|\bpull request #?)$"
)
_BEFORE_LENGTH = len(" pull request #")
_COMMIT_END = re.compile(r"[0-9][0-9a-f]{0,39}(?![\w-]|\.\w)")
_LETTERS = frozenset("abcdef")
_SHORTENED, _WHOLE = range(_SHORT_ID, 17), 40  # digits
_NOT_BEFORE_COMMIT = frozenset("_#./@-")
_IN_PATHS = frozenset("_.@+-/")


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
    text = f"{entry.title}\n{entry.body}"
    prs: list[int] = []
    commits: list[str] = []
    # Both patterns begin with a digit, and looking for each takes a tenth of theirs.
    if any(digit in text for digit in _DIGITS):
        prs, commits = prs_in(text), _commits(text)
    return References(
        _united(entry.file_refs, _files(text), _ends_with),
        tuple(dict.fromkeys((*entry.pr_refs, *prs))),
        _united(entry.commit_refs, commits, str.startswith),
        entry.line_refs,
    )


def _ends_with(path: str, name: str) -> bool:
    return path == name or path.endswith(f"/{name}")


def code_words(entry: Entry) -> str:
    """Returns the code's branch and commit when an entry was written, as ``on login
    (3f2a1b9)``; empty if none was recorded."""
    branch, commit = entry.code_branch, entry.code_commit[:_SHORT_ID]
    if not branch:
        return f"on {commit}" if commit else ""
    return f"on {branch} ({commit})" if commit else f"on {branch}"


def _files(text: str) -> list[str]:
    matches = [*_FILE_END.finditer(text)]
    if not matches:
        return []  # most texts
    paths = (_path_before(text, match) for match in matches)
    return _first(path for path in paths if path and path.lower() not in _NO_FILES)


def _path_before(text: str, match: re.Match[str]) -> str:
    """Returns the path that ends with a match; empty for a part of an address, and for
    a path outside the repository."""
    start = match.start()
    while start and (text[start - 1].isalnum() or text[start - 1] in _IN_PATHS):
        start -= 1
    path = text[start : match.end()].removeprefix("./")
    is_outside = path.startswith(("/", "../")) or "//" in path
    is_part = text[max(0, start - 1) : start] in {":", "~"}
    is_ending = path.rpartition("/")[2] == match[0] and match[0].startswith(".")
    return "" if is_outside or is_part or is_ending else path


def prs_in(text: str) -> list[int]:
    """Returns the pull requests that a text names."""
    numbers = (
        int(match[0])
        for match in _NUMBER.finditer(text)
        if text[match.start() - 1] in _ENDS_BEFORE_NUMBER
        and _BEFORE_NUMBER.search(
            text[max(0, match.start() - _BEFORE_LENGTH) : match.start()]
        )
    )
    return _first(numbers)


def _commits(text: str) -> list[str]:
    commits = (_commit_at(text, match) for match in _COMMIT_END.finditer(text))
    return _first(commit for commit in commits if commit)


def _commit_at(text: str, match: re.Match[str]) -> str:
    """Returns the commit whose hexadecimal digits end with a match; empty if they are
    no commit: it has some letters and some digits, and nothing before it that makes it
    part of something else."""
    start = match.start()
    while start and text[start - 1] in _LETTERS:
        start -= 1
    digits, before = text[start : match.end()], text[max(0, start - 1) : start]
    is_part = before.isalnum() or before in _NOT_BEFORE_COMMIT
    has_length = len(digits) in _SHORTENED or len(digits) == _WHOLE
    return digits if has_length and not (is_part or digits.isdecimal()) else ""


def _first(values: Iterable[_T]) -> list[_T]:
    """Returns the first different values."""
    different: dict[_T, None] = {}
    for value in values:
        different[value] = None
        if len(different) == _MOST:
            break
    return list(different)


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
