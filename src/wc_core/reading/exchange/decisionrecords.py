"""Decisions as architecture decision records, in the form that Michael Nygard gave
them: title, status, context, decision, consequences."""

from __future__ import annotations

import re

from wc_core.base.text import clean, one_line
from wc_core.ledger.threads.model import DECISION
from wc_core.ledger.threads.revisions import revisions
from wc_core.ledger.threads.ways import via_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from wc_core.ledger.threads.model import Entry
    from wc_core.ledger.threads.reader import Thread

# A body with such a heading is already a record, except for its header.
_SECTION = re.compile(
    r"^#{1,6}[ \t]+(?:context|decision|consequences)\b", re.IGNORECASE | re.MULTILINE
)


def records(threads: Iterable[Thread]) -> list[str]:
    """The decisions of threads as records, numbered from 1 in the order in which they
    were made. A retracted decision is left out, an amended one has its new text."""
    decided = [item for thread in threads for item in _decisions(thread)]
    decided.sort(key=lambda item: item[1].id)
    return [
        _record(number, thread, entry)
        for number, (thread, entry) in enumerate(decided, 1)
    ]


def _decisions(thread: Thread) -> Iterator[tuple[Thread, Entry]]:
    for revision in revisions(thread.entries):
        if revision.entry.any_kind == DECISION and not revision.retracted:
            yield thread, revision.entry


def _record(number: int, thread: Thread, entry: Entry) -> str:
    """A record with only the contents of the entry."""
    name = one_line(thread.state.name)
    header = [
        f"# {number}. {one_line(entry.title)}",
        "",
        f"- Date: {one_line(entry.at)[:10]}",
        f"- Decided by: {one_line(' '.join((entry.agent, via_text(entry.via))))}",
        f"- Source: thread {name}, entry {one_line(entry.id)}",
        *_references(entry),
        "",
        "## Status",
        "",
        "Accepted",
        "",
    ]
    text = clean(entry.body).strip()
    if _SECTION.search(text):
        sections = [text]
    else:
        context = one_line(entry.summary) or (
            f"Decided in the thread {name}: {one_line(thread.state.title)}"
        )
        decision = text or one_line(entry.title)
        sections = ["## Context", "", context, "", "## Decision", "", decision]
    return "\n".join([*header, *sections, ""])


def _references(entry: Entry) -> Iterator[str]:
    about = [
        *map(one_line, entry.file_refs),
        *(f"#{number}" for number in entry.pr_refs),
        *map(one_line, entry.commit_refs),
    ]
    if about:
        yield f"- About: {', '.join(about)}"
