"""Threads and entries as terminal text.

Untrusted text is cleaned before it is printed. Colours are used only on a terminal
without NO_COLOR.
"""

from __future__ import annotations

import sys
import unicodedata
from operator import itemgetter

from wc_cli.clock import now_ms
from wc_core.errors import InvalidInputError
from wc_core.lean.functools import cache
from wc_core.phrases import counted, quoted
from wc_core.planning.checklists import lines as item_lines
from wc_core.planning.checklists import progress
from wc_core.remarks import wording
from wc_core.text import clean, one_line
from wc_core.threads.model import CLOSED, holder_text
from wc_core.threads.reviews import outcome_text
from wc_core.times import age, ago_and_local, milliseconds, utc
from wc_core.views.references import code_words, references

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from wc_cli.context import Context
    from wc_core.phrases import Table
    from wc_core.summaries.choosing import Summary
    from wc_core.summaries.latest import LatestWords
    from wc_core.threads.codec import Damage
    from wc_core.threads.excerpts.sealed import Excerpt
    from wc_core.threads.linerefs import LineRef
    from wc_core.threads.model import Entry
    from wc_core.threads.reader import Thread
    from wc_core.views.entries import Numbered
    from wc_core.views.news.digest import News
    from wc_core.views.rows import ThreadRow
    from wc_core.views.search.answers import Hit, Hits
    from wc_core.views.search.facets import Facet
    from wc_core.views.search.related import SimilarThread

BOLD, DIM, YELLOW = "1", "2", "33"
_MIN_TITLE = 12
_NO_BALL = "\N{EN DASH}"  # of a closed thread
# Of characters without a width of their own, those that take a column anyway: the
# selector that makes a picture of the sign before it, the soft hyphen, and Arabic and
# other signs around numbers.
_WIDENING = frozenset(
    "\ufe0f\u00ad\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u0890\u0891\u08e2"
    "\U000110bd\U000110cd"
)
# Of a list of threads, behind the mark.
COLUMNS = ("topic", "ball", "status", "entries", "age", "title")
_ITEMS = 20  # of a checklist, above the entries
_MOST_REFERENCES = 3  # on a line that has a title, too


class Style:
    """Adds colours, or none."""

    def __init__(self, *, color: bool) -> None:
        self.color = color

    def __call__(self, text: str, *codes: str) -> str:
        """Returns ``text`` in these colours."""
        if not self.color or not text:
            return text
        return f"\033[{';'.join(codes)}m{text}\033[0m"


def agent_codes(color: int) -> tuple[str, ...]:
    """Returns the codes for an agent's name: white on its colour, one of 256."""
    return ("97", f"48;5;{color}")


def output_style(env: Mapping[str, str]) -> Style:
    """Returns the style for standard output."""
    return Style(color=is_for_people(env) and not env.get("NO_COLOR"))


def is_for_people(env: Mapping[str, str]) -> bool:
    """Returns whether standard output is a terminal that can do more than print."""
    return sys.stdout.isatty() and env.get("TERM", "") != "dumb"


def width_of(text: str) -> int:
    """Returns how many columns ``text`` takes on a terminal."""
    if text.isascii():
        return len(text)
    return sum(_columns(char) for char in text)


def _columns(char: str) -> int:
    if char in _WIDENING:
        return 1
    if unicodedata.combining(char) or unicodedata.category(char) in {"Mn", "Me", "Cf"}:
        return 0
    return 2 if unicodedata.east_asian_width(char) in {"W", "F"} else 1


def cut_to_width(text: str, width: int) -> str:
    """Returns the beginning of ``text`` that fits into ``width`` columns."""
    if width_of(text) <= width:
        return text
    kept, used = [], 1
    for char in text:
        used += _columns(char)
        if used > width:
            break
        kept.append(char)
    return f"{''.join(kept)}…"


def left_to_right(text: str) -> str:
    """Returns ``text`` with a mark of no width after right-to-left letters, so that
    what follows stays to its right."""
    if text.isascii():
        return text
    runs_left = any(unicodedata.bidirectional(char) in {"R", "AL"} for char in text)
    return f"{text}\u200e" if runs_left else text


def pad(text: str, width: int) -> str:
    """Returns ``text`` with blanks up to ``width`` columns."""
    if text.isascii():
        return text.ljust(width)
    return text + " " * (width - width_of(text))


def shown_stamp(text: str) -> str:
    """Returns a timestamp for the reader of standard output: for people at a terminal
    how long ago, and in their zone; for programs as RFC 3339. Other text is returned
    unchanged."""
    moment = milliseconds(text) if is_terminal() else None
    return utc(text) if moment is None else ago_and_local(moment, now_ms())


def is_terminal() -> bool:
    """Returns whether standard output is a terminal."""
    return sys.stdout.isatty()


def terminal_width() -> int:
    """Returns the width to cut lines to; 0 if output is not a terminal and nothing
    is cut."""
    if not is_terminal():
        return 0
    import shutil  # 6 ms with re, for people at a terminal

    return shutil.get_terminal_size().columns


def chosen_columns(text: str) -> tuple[str, ...]:
    """Returns the columns that a text names, all of them if it is empty. Raises
    InvalidInputError."""
    names = [name.strip().casefold() for name in text.split(",") if name.strip()]
    unknown = [name for name in names if name not in COLUMNS]
    if unknown:
        raise InvalidInputError(
            f"A list has no column {unknown[0]!r}.", f"Columns: {', '.join(COLUMNS)}"
        )
    return tuple(dict.fromkeys(names)) or COLUMNS


def thread_list(
    context: Context,
    rows: Sequence[ThreadRow],
    columns: Sequence[str] = COLUMNS,
    words: Sequence[LatestWords] = (),
) -> str:
    """Returns one line for each thread: whose move it is, then these columns; if there
    are ``words`` for each, a second line with who said what last."""
    if not rows:
        return ""
    style, moment_ms = output_style(context.env), now_ms()
    chosen = itemgetter(0, *(COLUMNS.index(name) + 1 for name in columns))
    cells = [chosen(_cells(row, moment_ms)) for row in rows]
    limit = terminal_width()
    if limit:
        from wc_cli.terminal import fitting  # 2 ms, only on a terminal

        accents = fitting.row_accents(context, rows)
        lines = fitting.fitted_lines(columns, cells, accents, style, limit)
    else:
        head = ("", *(name.upper() for name in columns))
        lines = _aligned_lines([head, *cells])
    if words:
        lines[1:] = [
            text
            for line, latest in zip(lines[1:], words, strict=True)
            for text in (line, *_words_line(latest, limit, style))
        ]
    return "\n".join(lines)


def _words_line(words: LatestWords, limit: int, style: Style) -> list[str]:
    if not words.summary.text:
        return []
    line = f"     {one_line(words.author or '?')}: {one_line(words.summary.text)}"
    return [style(cut_to_width(line, limit) if limit else line, DIM)]


def _widths(lines: Sequence[tuple[str, ...]]) -> list[int]:
    """Returns the width of each column but the last, which is not aligned."""
    *fixed, _ = zip(*lines, strict=True)
    return [
        max(map(len, texts))
        if all(map(str.isascii, texts))
        else max(map(width_of, texts))
        for texts in fixed
    ]


def _cells(row: ThreadRow, now_ms: int) -> tuple[str, ...]:
    new = f" (+{row.new_for_you} new)" if row.new_for_you else ""
    name, title = one_line(row.name), _titled(row, now_ms)
    if row.forked or row.damaged:
        name += f"{' ⑂' if row.forked else ''}{' ⚠' if row.damaged else ''}"
    status = _repeated(row.waits_text if row.waits else row.status_text)
    if row.checklist.total:
        status = f"{status} {row.checklist}"
    if row.tags:
        title = " ".join([title, *tag_words(row.tags)])
    return (
        ">" if row.is_due else "?" if row.asked_by else "",
        name,
        _NO_BALL if row.status == CLOSED else _repeated(holder_text(row.ball)),
        status,
        f"{row.entry_count}{new}",
        age(row.updated_at, now_ms) if row.updated_at else "",
        title,
    )


@cache
def _repeated(text: str) -> str:
    """Returns what `one_line` does, for texts that many threads have."""
    return one_line(text)


def _titled(row: ThreadRow, now_ms: int) -> str:
    """Returns the title of a thread, after who asks the viewer something in it, and
    how far its ball has come."""
    if not row.asked_by and row.passed is None:
        return one_line(row.title)
    facts = filter(None, (row.asked_text, row.passed_text(now_ms)))
    return "".join((*(f"({one_line(fact)}) " for fact in facts), one_line(row.title)))


def tag_words(tags: Iterable[str]) -> list[str]:
    """Returns tags as they are shown, and as `wc tag` takes them."""
    return [f"+{one_line(tag)}" for tag in tags]


def _aligned_lines(lines: Sequence[tuple[str, ...]], limit: int = 0) -> list[str]:
    """Returns lines of cells with aligned columns. The last column is cut to ``limit``
    (0: not cut)."""
    widths = _widths(lines)
    if limit:
        return [_aligned_line(cells, widths, limit) for cells in lines]
    pattern = "  ".join([*(f"%-{width}s" for width in widths), "%s"])
    texts = ((cells, pattern % cells) for cells in lines)
    # Each character of ASCII takes a column.
    return [
        text.rstrip() if text.isascii() else _aligned_line(cells, widths, 0)
        for cells, text in texts
    ]


def _aligned_line(cells: tuple[str, ...], widths: list[int], limit: int) -> str:
    *fixed, title = cells
    line = "  ".join(map(pad, fixed, widths))
    if limit:
        title = cut_to_width(title, max(_MIN_TITLE, limit - width_of(line) - 2))
    return f"{line}  {title}".rstrip()


def table_lines(table: Table, style: Style) -> list[str]:
    """Returns a table as aligned lines. Only the last column is cut to the
    terminal's width."""
    lines = [table.head, *(tuple(map(one_line, row)) for row in table.rows)]
    head, *rows = _aligned_lines(lines, terminal_width())
    return [style(head, DIM), *rows]


def thread_head(thread: Thread | Excerpt, style: Style, passed: str = "") -> str:
    """Returns the lines above a thread's entries: title, whose move it is and how far
    the ball has come, problems."""
    state = thread.state
    came = f" ({one_line(passed)})" if passed else ""
    ball = f"ball: {one_line(holder_text(state.ball))}{came}"
    entries = counted(state.entry_count, "entry", "entries")
    facts = [one_line(state.status), ball, entries, one_line(state.review.text)]
    lines = [
        style(f"{one_line(thread.name)}: {one_line(state.title)}", BOLD),
        " · ".join(filter(None, [*facts, *tag_words(thread.snapshot.tags)])),
    ]
    if state.items:
        lines.append(f"checklist {progress(state.items)}:")
        lines += [f"  {one_line(line)}" for line in item_lines(state.items, _ITEMS)]
    if state.forked:
        lines.append(f"forked: {len(state.heads)} histories; the next entry joins them")
    lines.extend(f"damage: {damage_line(damage)}" for damage in thread.damage)
    return "\n".join(lines)


def damage_line(damage: Damage) -> str:
    """Returns ``file:line: problem``."""
    return one_line(f"{damage.place}: {damage.message}")


def entry_text(numbered: Numbered, style: Style, *, is_raw: bool = False) -> str:
    """Returns one entry: a line of facts that ends with its id, its title, and its
    body, indented. If it is raw, its time is as in a pipe."""
    item = numbered.entry
    at = utc(item.at) if is_raw else shown_stamp(item.at)
    about = [f"#{numbered.idx}", item.agent or "?", at, item.role]
    about += [wording.type_text(item), wording.kind_text(item)]
    about.append(outcome_text(item.outcome))
    if item.ball is not None:
        about.append(f"ball → {holder_text(item.ball.holder)}")
    if item.status:
        about.append(item.status)
    if numbered.forked:
        about.append("forked")
    if item.supersedes:
        about.append(f"corrects {item.supersedes}")
    about.append(wording.answer_text(item))
    about += [numbered.mark, code_words(item), item.id]
    head = " · ".join(one_line(part) for part in about if part)
    lines = [style(head, DIM), style(one_line(item.title), BOLD)]
    lines += [one_line(line) for line in labelled_lines(item)]
    for reference in item.line_refs:
        lines += _quotation(reference, style)
    if item.body:
        # Indented, so that a body cannot imitate the next entry's head.
        lines.append("")
        lines += [f"    {line}".rstrip() for line in clean(item.body).split("\n")]
    return "\n".join(lines)


def summary_text(numbered: Numbered, summary: Summary, style: Style) -> str:
    """Returns an entry as two lines: who says what to whom, and its summary."""
    item = numbered.entry
    ball = ""
    if item.ball is not None:
        ball = style(f" → {one_line(holder_text(item.ball.holder))}", YELLOW)
    facts = (f"#{numbered.idx}", item.agent or "?", wording.kind_text(item))
    about = style(" · ".join(one_line(fact) for fact in facts if fact), DIM)
    mark = style(_mark(numbered), DIM)
    line = f"{about}: {style(one_line(item.title), BOLD)}{mark}{ball}"
    return f"{line}\n    {one_line(summary.text)}" if summary.text else line


def _quotation(reference: LineRef, style: Style) -> list[str]:
    """Returns the lines of a file that an entry is about, those around them dimmed."""
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
    """Returns the lines between an entry's title and its body."""
    about = ", ".join(references(entry).words())
    texts = {"reason": entry.reason, "summary": entry.summary, "about": about}
    return [f"{label}: {text}" for label, text in texts.items() if text]


def hit_text(hit: Hit, style: Style) -> str:
    """Returns a search result: its place, its title, the words around the match."""
    item = hit.numbered.entry
    place = f"{one_line(hit.name)} #{hit.numbered.idx}"
    kind = wording.kind_text(item)
    facts = (item.agent, shown_stamp(item.at), *([kind] if kind else []))
    about = " · ".join(map(one_line, facts))
    return (
        f"{style(place, BOLD)} {one_line(item.title)} "
        f"{style(about + _mark(hit.numbered), DIM)}\n"
        f"    {one_line(hit.snippet)}"
    )


def hits_text(hits: Hits, style: Style) -> str:
    """Returns a page of search results, a heading before those with only some of the
    words."""
    whole = [hit_text(hit, style) for hit in hits.hits if not hit.is_partial]
    partial = [hit_text(hit, style) for hit in hits.hits if hit.is_partial]
    if partial:
        heading = "With some of the words, or by meaning:" if hits.near else ""
        partial.insert(0, style(heading or "With some of the words:", DIM))
    return "\n".join((*whole, *partial))


def facets_text(facets: Iterable[Facet], style: Style) -> str:
    """Returns how many hits each value of a filter has, a line for each filter."""
    lines = (
        f"{style(f'{facet.name}:', DIM)} "
        f"{', '.join(f'{one_line(value)} {count}' for value, count in facet.values)}"
        for facet in facets
    )
    return "\n".join(lines)


def related_text(thread: SimilarThread, style: Style) -> str:
    """Returns a related thread: its title and status, and the words that it shares."""
    row = thread.row
    name, title = one_line(row.name), one_line(row.title)
    shared = ", ".join(map(one_line, thread.words))
    status = style(f"({one_line(row.status_text)})", DIM)
    return f"{style(name, BOLD)} {title} {status}\n    {shared}"


def news_text(news: News, style: Style) -> str:
    """Returns what happened in a thread: its title; what became of it and who wrote;
    what was decided; and what the last of the new entries say."""
    row = news.row
    name = one_line(row.name)
    authors = ", ".join(one_line(author or "?") for author in news.authors)
    count = counted(news.new, "entry", "entries")
    facts = " · ".join([*map(one_line, news.changes()), f"{count} by {authors}"])
    lines = [f"{style(name, BOLD)} {one_line(row.title)}", style(facts, DIM)]
    for item in news.decisions:
        decision = one_line(item.entry.title)
        lines.append(f"{style('decided:', YELLOW)} {decision}")
    for entry, summary in news.summaries:
        author = style(f"#{entry.idx} {one_line(entry.entry.agent or '?')}:", DIM)
        texts = filter(None, (one_line(entry.entry.title), one_line(summary.text)))
        lines.append(f"{author} {': '.join(texts)}")
    if earlier := news.texts - len(news.summaries):
        lines.append(style(f"and {earlier} before: {_summaries_command(news)}", DIM))
    return "\n    ".join(lines)


def _summaries_command(news: News) -> str:
    first = news.first.idx
    return f"wc read {quoted(one_line(news.row.name))} --from {first} --summary-only"


def update_line(topic: str, numbered: Numbered, style: Style) -> str:
    """Returns an entry of the updates as one line."""
    item = numbered.entry
    place = style(f"{one_line(topic)} #{numbered.idx}", BOLD)
    ball = ""
    if item.ball is not None:
        ball = style(f" → {one_line(holder_text(item.ball.holder))}", YELLOW)
    about = ", ".join(references(item).words(_MOST_REFERENCES))
    about = style(f" ({one_line(about)})", DIM) if about else ""
    at = one_line(shown_stamp(item.at))
    mark = style(_mark(numbered), DIM)
    kind = one_line(wording.kind_text(item))
    title = f"{kind}: {one_line(item.title)}" if kind else one_line(item.title)
    return f"{at} {place} {one_line(item.agent)}: {title}{about}{mark}{ball}"


def _mark(numbered: Numbered) -> str:
    """Returns what marks an amended entry; a retracted one has it as its title."""
    return " · amended" if numbered.mark == "amended" else ""
