"""The requirements for titles, and for closing a thread."""

from __future__ import annotations

from wc_core.base.values import NamedTuple
from wc_core.ledger.configuration.keys import BRANCH_LINK, NO_LINK, PR_LINK, Rules
from wc_core.ledger.remarks.references import prs_in
from wc_core.ledger.threads import revisions

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from wc_core.ledger.threads.model import Entry, State
    from wc_core.ledger.threads.proposals import Draft

# Branches where work begins, which do not count as a link to the work.
_TRUNKS = frozenset({"", "main", "master", "trunk"})


class Lack(NamedTuple):
    """A requirement of a rule that a thread does not meet. ``hint`` says what to do,
    with a placeholder for the ``topic``."""

    rule: str
    what: str
    hint: str


class ClosingEvidence(NamedTuple):
    """The kinds of a thread's entries, and its links."""

    kinds: frozenset[str] = frozenset()
    has_branch: bool = False
    has_pr: bool = False

    def with_draft(self, draft: Draft) -> ClosingEvidence:
        """The same, with the entry that closes the thread."""
        return self._replace(
            has_pr=self.has_pr
            or bool(draft.pr_refs or prs_in(f"{draft.title}\n{draft.body}")),
        )


def is_asked(rules: Rules) -> bool:
    """Whether any rule requires something before a thread is closed."""
    return bool(rules.close_kinds) or rules.close_link != NO_LINK


def evidence_of(entries: Sequence[Entry], state: State) -> ClosingEvidence:
    """The properties of a thread. Retracted entries do not count."""
    valid = [item.entry for item in revisions.revisions(entries) if not item.retracted]
    branches = {state.branch, *(entry.code_branch for entry in valid)}
    return ClosingEvidence(
        frozenset(entry.kind for entry in valid),
        bool(branches - _TRUNKS),
        any(entry.pr_refs or prs_in(f"{entry.title}\n{entry.body}") for entry in valid),
    )


def lacks(evidence: ClosingEvidence, rules: Rules) -> Iterator[Lack]:
    """The requirements that a thread does not meet, rule by rule."""
    for kind in rules.close_kinds:
        if kind not in evidence.kinds:
            hint = f"Write one first: wc say {{topic}} --kind {kind} -m '…'"
            yield Lack("rules.close_kinds", f"an entry of kind {kind}", hint)
    if rules.close_link == NO_LINK:
        return
    branch, pr = evidence.has_branch, evidence.has_pr
    if rules.close_link == BRANCH_LINK and not branch:
        hint = "Name it: wc move {topic} --branch BRANCH"
        yield Lack("rules.close_link", "a branch", hint)
    elif rules.close_link == PR_LINK and not pr:
        hint = "Name it: wc ack {topic} --pr NUMBER -m '…'"
        yield Lack("rules.close_link", "a pull request", hint)
    elif not branch and not pr:
        hint = "Name one: wc ack {topic} --pr NUMBER -m '…'"
        yield Lack("rules.close_link", "a branch or a pull request", hint)


def title_fits(title: str, patterns: Sequence[str]) -> bool:
    """Whether a title fits one of the patterns, or there is none.

    The patterns are those of file names: ``*`` is any text, ``?`` one character,
    ``[ab]`` one of these. Not regular expressions: some of those take forever on a
    title that someone else wrote, and no check can detect them.
    """
    if not patterns:
        return True
    from fnmatch import fnmatchcase  # 1 ms, only where there is such a rule

    return any(fnmatchcase(title, pattern) for pattern in patterns)
