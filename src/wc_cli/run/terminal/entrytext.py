"""Entries and threads as terminal text: as read, as search results, as news.

Untrusted text is cleaned before it is printed.
"""

from __future__ import annotations

from wc_cli.ledger.clock import now_ms
from wc_cli.run.terminal.labels import title_before_more
from wc_cli.run.terminal.render import shown_stamp, tag_words
from wc_cli.run.terminal.style import BOLD, DIM, YELLOW
from wc_core.base.phrases import counted
from wc_core.base.text import clean, one_line
from wc_core.base.times import utc
from wc_core.ledger.planning.checklists import progress
from wc_core.ledger.remarks import wording
from wc_core.ledger.remarks.references import code_words, references
from wc_core.ledger.threads.model import ball_text, holder_text, outcome_text
from wc_core.reading.views.updates import numbers_text, titles_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from wc_cli.run.terminal.style import Style
    from wc_core.base.errors import Damage
    from wc_core.ledger.index.parts import ThreadPart
    from wc_core.ledger.summaries.choosing import Summary
    from wc_core.ledger.threads.linerefs import LineRef
    from wc_core.ledger.threads.model import Entry
    from wc_core.ledger.threads.reader import Thread
    from wc_core.reading.views.entries import Numbered
    from wc_core.reading.views.search.answers import Hit, Hits
    from wc_core.reading.views.search.facets import Facet

_MOST_REFERENCES = 3  # on a line that has a title, too


def thread_head(thread: Thread | ThreadPart, style: Style, passed: str = "") -> str:
    """Return the lines above a thread's entries: title, ball and how far it has come,
    problems."""
    state = thread.state
    came = f" ({one_line(passed)})" if passed else ""
    ball = f"ball: {one_line(ball_text(state.status, state.ball))}{came}"
    entries = counted(state.entry_count, "entry", "entries")
    facts = [one_line(state.status), ball, entries, one_line(state.review.text)]
    lines = [
        style(f"{one_line(thread.name)}: {one_line(state.title)}", BOLD),
        " · ".join(filter(None, [*facts, *tag_words(thread.snapshot.tags)])),
    ]
    if state.items:
        lines.append(f"checklist {progress(state.items)}")
    if state.forked:
        lines.append(f"forked: {len(state.heads)} histories; the next entry joins them")
    lines.extend(f"damage: {damage_line(damage)}" for damage in thread.snapshot.damage)
    return "\n".join(lines)


def damage_line(damage: Damage) -> str:
    """Return ``file:line: problem``."""
    return one_line(f"{damage.place}: {damage.message}")


def entry_text(numbered: Numbered, style: Style, *, is_raw: bool = False) -> str:
    """Return an entry: a line of facts that ends with its id, its title, and its body,
    indented. With ``raw``, the time is as in a pipe."""
    item = numbered.entry
    at = utc(item.at) if is_raw else shown_stamp(item.at)
    about = [f"#{numbered.idx}", item.agent or "?", at, wording.role_text(item)]
    about += [wording.type_text(item), wording.kind_text(item)]
    about.append(outcome_text(item.outcome))
    if item.ball is not None:
        about.append(f"ball → {holder_text(item.ball.holder)}")
    if item.status:
        about.append(item.status)
    if numbered.is_doubtful(now_ms()):
        about.append("doubtful time")
    if numbered.forked:
        about.append("forked")
    if item.supersedes:
        about.append(f"corrects {item.supersedes}")
    about.append(wording.answer_text(item))
    about += [numbered.mark, code_words(item), numbered.way_text, item.id]
    head = " · ".join(one_line(part) for part in about if part)
    lines = [style(head, DIM), style(one_line(item.title), BOLD)]
    lines += [one_line(line) for line in labelled_lines(item)]
    for reference in item.line_refs:
        lines += _quotation(reference, style)
    if item.body:
        # Indented, so that a body cannot imitate the first line of another entry.
        lines.append("")
        lines += [f"    {line}".rstrip() for line in clean(item.body).split("\n")]
    return "\n".join(lines)


def summary_text(numbered: Numbered, summary: Summary, style: Style) -> str:
    """Return an entry as two lines: author, title and ball, then its summary."""
    item = numbered.entry
    ball = ""
    if item.ball is not None:
        ball = style(f" → {one_line(holder_text(item.ball.holder))}", YELLOW)
    facts = (f"#{numbered.idx}", item.agent or "?", wording.kind_text(item))
    about = style(" · ".join(one_line(fact) for fact in facts if fact), DIM)
    mark = style(_mark(numbered), DIM)
    line = f"{about}: {style(title_before_more(item.title), BOLD)}{mark}{ball}"
    return f"{line}\n    {one_line(summary.text)}" if summary.text else line


def _quotation(reference: LineRef, style: Style) -> list[str]:
    """Return the lines of a file that an entry is about, with dimmed context."""
    quoted = reference.numbered_quote()
    if not quoted:
        return []
    width = len(str(quoted[-1][0]))
    lines = [style(f"    {one_line(reference.place)}", DIM)]
    for number, text, is_meant in quoted:
        mark = ">" if is_meant else " "
        text_shown = clean(text).expandtabs(4)
        line = f"    {mark} {number:{width}}  {text_shown}".rstrip()
        lines.append(line if is_meant else style(line, DIM))
    return lines


def labelled_lines(entry: Entry) -> list[str]:
    """Return the lines between an entry's title and its body."""
    about = ", ".join(references(entry).words())
    texts = {"reason": entry.reason, "summary": entry.summary, "about": about}
    return [f"{label}: {text}" for label, text in texts.items() if text]


def hit_text(hit: Hit, style: Style) -> str:
    """Return a search result: its place, its title, the words around the match."""
    item = hit.numbered.entry
    place = f"{one_line(hit.name)} #{hit.numbered.idx}"
    kind = wording.kind_text(item)
    facts = (item.agent, shown_stamp(item.at), *([kind] if kind else []))
    about = " · ".join(map(one_line, facts))
    snippet = one_line(hit.snippet)
    head = (
        f"{style(place, BOLD)} {title_before_more(item.title)} "
        f"{style(about + _time_mark(hit.numbered) + _mark(hit.numbered), DIM)}"
    )
    return head if snippet == one_line(item.title) else f"{head}\n    {snippet}"


def hits_text(hits: Hits, style: Style) -> str:
    """Return a page of search results, with a heading before those that contain only
    some of the words."""
    whole = [hit_text(hit, style) for hit in hits.hits if not hit.is_partial]
    partial = [hit_text(hit, style) for hit in hits.hits if hit.is_partial]
    if partial:
        heading = "With some of the words, or by meaning:" if hits.near else ""
        partial.insert(0, style(heading or "With some of the words:", DIM))
    return "\n".join((*whole, *partial))


def facets_text(facets: Iterable[Facet], style: Style) -> str:
    """Return the number of hits for each value of a filter, one line per filter."""
    lines = (
        f"{style(f'{facet.name}:', DIM)} "
        f"{', '.join(f'{one_line(value)} {count}' for value, count in facet.values)}"
        for facet in facets
    )
    return "\n".join(lines)


def update_line(topic: str, items: Sequence[Numbered], style: Style) -> str:
    """Return an entry of the updates on one line, or some that are shown together
    (`updates.joined`)."""
    numbered, entries = items[0], [update.entry for update in items]
    item = numbered.entry
    place = style(f"{one_line(topic)} {numbers_text(items)}", BOLD)
    balls = [entry.ball for entry in entries if entry.ball is not None]
    ball = ""
    if balls:
        ball = style(f" → {one_line(holder_text(balls[-1].holder))}", YELLOW)
    about = ", ".join(references(item).words(_MOST_REFERENCES))
    about = style(f" ({one_line(about)})", DIM) if about else ""
    at = one_line(shown_stamp(item.at))
    mark = style(_time_mark(numbered) + _mark(numbered), DIM)
    kind = one_line(wording.kind_text(item))
    titles = title_before_more(titles_text(items))
    title = f"{kind}: {titles}" if kind else titles
    return f"{at} {place} {one_line(item.agent)}: {title}{about}{mark}{ball}"


def _mark(numbered: Numbered) -> str:
    """Return how an entry came, and the mark of an amended one. A retracted one has it
    as its title."""
    marks = (numbered.way_text, "amended" if numbered.mark == "amended" else "")
    return "".join(f" · {one_line(mark)}" for mark in marks if mark)


def _time_mark(numbered: Numbered) -> str:
    """Return the mark of an entry that a wrong clock dated, beside its time."""
    return " · doubtful time" if numbered.is_doubtful(now_ms()) else ""
