"""Finds entries by what they mention (a file, a pull request, a commit, a branch) and
by their kind."""

from __future__ import annotations

import unicodedata

from wc_core.base.errors import InvalidInputError
from wc_core.base.lean import re
from wc_core.base.values import NamedTuple
from wc_core.ledger.threads import vocabulary
from wc_core.ledger.threads.model import DECISION, SEVERITIES
from wc_core.lookup.words import Term, plain_words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from wc_core.ledger.threads.model import Entry


def is_written_on(entry: Entry, branch: str) -> bool:
    """Returns whether an entry was written on a branch; true if the branch is empty."""
    return not branch or entry.code_branch == branch


def is_of_kind(entry: Entry, kind: str, severity: str = "") -> bool:
    """Returns whether an entry has a kind, and is at least as severe; an empty value
    allows anything."""
    if kind and entry.any_kind != kind:
        return False
    return not severity or entry.severity in at_least(severity)


def at_least(severity: str) -> tuple[str, ...]:
    """Returns a severity and those above it."""
    return SEVERITIES[SEVERITIES.index(severity) :]


class Mentions(NamedTuple):
    """What entries must mention; empty and 0 allow anything.

    A file is one that the entry records, or that its title or body names: the whole
    path, its end, or a folder in it, with accents in either form. A pull request is
    recorded, or named as ``#12``, ``PR 12``, ``!12`` or ``…/pull/12``. A commit is
    recorded, or named by four or more digits of its id. The branch is the one that the
    entry was written on; the kind is
    its own, and the severity the least that it may have. The author is someone with all
    of these words in their name. The entry was written after ``since`` and not after
    ``until``, both ids (see `wc_core.base.times.since_id`).
    """

    file: str = ""
    pr: int = 0
    commit: str = ""
    branch: str = ""
    kind: str = ""
    severity: str = ""
    author: str = ""
    since: str = ""
    until: str = ""

    def checked(self) -> Mentions:
        """Returns it normalised. Raises InvalidInputError for an impossible value."""
        file = self.file.strip().removeprefix("./").rstrip("/")
        if self.file.strip() and not plain_words(file).strip():
            raise InvalidInputError(
                f"{self.file!r} is not a file.", "Give a path, such as src/auth.py."
            )
        commit = vocabulary.commit_ref(self.commit) if self.commit.strip() else ""
        if self.pr < 0:
            raise InvalidInputError(
                f"{self.pr} is not a pull request.", "Give its number."
            )
        if self.author.strip() and not plain_words(self.author).strip():
            raise InvalidInputError(
                f"{self.author!r} is not a name.", "Give a name, such as Codex."
            )
        return self._replace(
            file=file,
            commit=commit,
            branch=self.branch.strip(),
            kind=vocabulary.kind(self.kind),
            severity=vocabulary.severity(self.severity),
            author=self.author.strip(),
        )

    @property
    def terms(self) -> tuple[Term, ...]:
        """Words that an entry must have for `fit` to be true: in the field of the term,
        or else in its title, body or `recorded` fields. Other conditions have none."""
        terms = []
        if self.file:
            terms.append(Term(tuple(plain_words(self.file).split()), prefix=False))
        if self.pr:
            terms.append(Term((str(self.pr),), prefix=False))
        if self.commit:
            terms.append(Term((self.commit,)))
        terms += self._author_terms()
        return tuple(terms)

    @property
    def needs_text(self) -> bool:
        """Whether an entry with all of the `terms` may still not `fit`."""
        return bool(self.file or self.pr or self.commit)

    def _author_terms(self) -> list[Term]:
        names = plain_words(self.author).split()
        return [Term((name,), prefix=False, field="author") for name in names]

    def may_be_in(self, log: bytes | None) -> bool:
        """Returns whether a log can have an entry for which `fit` is true. A quick
        test on the log as one text, which returns true if a path may be spelled
        differently."""
        if log is None or b"\\u" in log or b"\\/" in log:
            return True
        if not self._has_kind(log):
            return False
        if not self.file:
            return True
        if '"' in self.file or "\\" in self.file or not self.file.isascii():
            return True
        # In a log, a path may follow the letter of an escape, as in \n.
        path = re.escape(self.file.encode(errors="replace"))
        return bool(re.search(path + rb"(?![\w-]|\.\w)", log))

    def _has_kind(self, log: bytes) -> bool:
        """Returns whether a log has the words for its kind, as a kind or as a type."""
        words = (self.kind, "Decision") if self.kind == DECISION else (self.kind,)
        named = any(f'"{word}"'.encode() in log for word in words)
        return not self.kind or named

    def fit(self, entry: Entry) -> bool:
        """Returns whether an entry mentions everything required."""
        if not is_written_on(entry, self.branch):
            return False
        if not is_of_kind(entry, self.kind, self.severity):
            return False
        if not self._is_in_time(entry) or not self._is_by_author(entry):
            return False
        return (
            (not self.file or self._names_file(entry))
            and (not self.pr or self._names_pr(entry))
            and (not self.commit or self._names_commit(entry))
        )

    def _is_in_time(self, entry: Entry) -> bool:
        return entry.id > self.since and not (self.until and entry.id > self.until)

    def _is_by_author(self, entry: Entry) -> bool:
        names = plain_words(entry.agent)
        return all(term.needle in names for term in self._author_terms())

    def _names_file(self, entry: Entry) -> bool:
        path = rf"(?<![\w.-]){re.escape(_composed(self.file))}(?![\w-]|\.\w)"
        return bool(re.search(path, _composed(f"{recorded(entry)}\n{_text_of(entry)}")))

    def _names_pr(self, entry: Entry) -> bool:
        if self.pr in entry.pr_refs:
            return True
        named = rf"(?i)(?:[#!]|\bprs? ?#?|/pull/|\bpull request #?){self.pr}(?!\w)"
        return bool(re.search(named, _text_of(entry)))

    def _names_commit(self, entry: Entry) -> bool:
        named = rf"(?i)(?<!\w){self.commit}[0-9a-f]*(?!\w)"
        recorded = "\n".join(entry.commit_refs)
        return bool(re.search(named, f"{recorded}\n{_text_of(entry)}"))


def recorded(entry: Entry) -> str:
    """Returns the references recorded in an entry, one per line."""
    numbers = map(str, entry.pr_refs)
    return "\n".join((*entry.file_refs, *numbers, *entry.commit_refs))


def _composed(text: str) -> str:
    """Returns a text with each accent as a part of its letter. In the names of files,
    a Mac may have it as a character of its own."""
    return unicodedata.normalize("NFC", text)


def _text_of(entry: Entry) -> str:
    return f"{entry.title}\n{entry.body}"
