"""The references in a text by regular expressions: what
`wc_core.ledger.remarks.references` does without them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterable

_T = TypeVar("_T")

# The most references of a kind from one text.
_MOST = 50
_SHORT_ID = 7

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
_FILE_END = rf"(?:\.(?:{_ENDINGS})|{_WHOLE_NAMES})(?![\w/@+-]|\.\w)"
_DIGITS = "0123456789"
_NUMBER = r"[1-9]\d{0,6}(?![\w-]|\.\d)"
_ENDS_BEFORE_NUMBER = frozenset("#!/ RrsSt")
_BEFORE_NUMBER = r"(?i)(?:(?<![\w&/#!])[#!]|\bprs? ?#?|/pull/|\bpull request #?)$"
_BEFORE_LENGTH = len(" pull request #")
_COMMIT_END = r"[0-9][0-9a-f]{0,39}(?![\w-]|\.\w)"
_LETTERS = frozenset("abcdef")
_SHORTENED, _WHOLE = range(_SHORT_ID, 17), 40  # digits
_NOT_BEFORE_COMMIT = frozenset("_#./@-")
_IN_PATHS = frozenset("_.@+-/")


def files_in(text: str) -> list[str]:
    paths = (_path_before(text, match) for match in re.finditer(_FILE_END, text))
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
        for match in re.finditer(_NUMBER, text)
        if text[match.start() - 1] in _ENDS_BEFORE_NUMBER
        and re.search(
            _BEFORE_NUMBER,
            text[max(0, match.start() - _BEFORE_LENGTH) : match.start()],
        )
    )
    return _first(numbers)


def commits_in(text: str) -> list[str]:
    commits = (_commit_at(text, match) for match in re.finditer(_COMMIT_END, text))
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
