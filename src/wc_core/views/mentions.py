"""Entries by what they are about: a file, a pull request, a commit, a branch."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from wc_core.errors import InvalidInputError
from wc_core.views.words import Term, plain

if TYPE_CHECKING:
    from wc_core.threads.model import Entry

_LEAST_HEX = 4


class Mentions(NamedTuple):
    """What entries must be about; empty and 0 for anything.

    A file is one that the entry records, or that its title or body names: the
    whole path, the end of one, or a folder on the way. A pull request is
    recorded, or named as ``#12``, ``PR 12``, ``!12`` or ``…/pull/12``. A commit
    is recorded, or named, by four or more digits of its id. The branch is the
    one the entry was written on.
    """

    file: str = ""
    pr: int = 0
    commit: str = ""
    branch: str = ""

    def checked(self) -> Mentions:
        """The same, cleaned. Raises InvalidInputError for what names nothing."""
        file = self.file.strip().removeprefix("./").rstrip("/")
        if self.file.strip() and not plain(file).strip():
            raise InvalidInputError(
                f"{self.file!r} names no file.", "Give a path, as src/auth.py."
            )
        commit = self.commit.strip().lower()
        if commit and not re.fullmatch(r"[0-9a-f]{4,64}", commit):
            raise InvalidInputError(
                f"{self.commit!r} is no commit.",
                f"Give {_LEAST_HEX} or more digits of its id (0-9, a-f).",
            )
        if self.pr < 0:
            raise InvalidInputError(
                f"{self.pr} is no pull request.", "Give its number."
            )
        return Mentions(file, self.pr, commit, self.branch.strip())

    @property
    def terms(self) -> tuple[Term, ...]:
        """Words that an entry must have, in title, body or `recorded`, for
        `fit` to be true. The branch has none."""
        found = []
        if self.file:
            found.append(Term(tuple(plain(self.file).split()), prefix=False))
        if self.pr:
            found.append(Term((str(self.pr),), prefix=False))
        if self.commit:
            found.append(Term((self.commit,)))
        return tuple(found)

    def fit(self, entry: Entry) -> bool:
        """Whether an entry is about all of it."""
        if self.branch and entry.code_branch != self.branch:
            return False
        return (
            (not self.file or self._names_file(entry))
            and (not self.pr or self._names_pr(entry))
            and (not self.commit or self._names_commit(entry))
        )

    def _names_file(self, entry: Entry) -> bool:
        path = rf"(?<![\w.-]){re.escape(self.file)}(?![\w-]|\.\w)"
        return bool(re.search(path, f"{recorded(entry)}\n{_said(entry)}"))

    def _names_pr(self, entry: Entry) -> bool:
        if self.pr in entry.pr_refs:
            return True
        named = rf"(?i)(?:[#!]|\bprs? ?#?|/pull/|\bpull request #?){self.pr}(?!\w)"
        return bool(re.search(named, _said(entry)))

    def _names_commit(self, entry: Entry) -> bool:
        named = rf"(?i)(?<!\w){self.commit}[0-9a-f]*(?!\w)"
        recorded = "\n".join(entry.commit_refs)
        return bool(re.search(named, f"{recorded}\n{_said(entry)}"))


def recorded(entry: Entry) -> str:
    """What an entry's own fields refer to, one thing a line."""
    numbers = map(str, entry.pr_refs)
    return "\n".join((*entry.file_refs, *numbers, *entry.commit_refs))


def _said(entry: Entry) -> str:
    return f"{entry.title}\n{entry.body}"
