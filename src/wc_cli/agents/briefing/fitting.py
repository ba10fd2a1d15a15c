"""Fits a brief into a number of characters: first shortens each thread, then leaves out
the least important parts and counts them."""

from __future__ import annotations

from wc_cli.agents.briefing.text import (
    NAME_WIDTH,
    SUMMARY_WIDTH,
    TITLE_WIDTH,
    brief_text,
)
from wc_cli.run.terminal.style import Style
from wc_core.base.text import one_line
from wc_core.reading.views.brief import LIMITS, Brief, BriefItem, BriefSection

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


# About 1,500 tokens. Agents take fewer than 10,000 characters from a hook:
# https://code.claude.com/docs/en/hooks
MAX_CHARACTERS = 6_000
# The least text of a thread besides its title, and of its last entry besides its
# summary.
_ITEM_FRAME, _WORDS_FRAME = len("-  · OPEN\n  > \n"), len("  > : \n")
# The most characters of a thread's title and of its last entry's words. Tried in this
# order until all threads fit.
_SHORTER = ((100, 100), (80, 80), (70, 60), (60, 40), (60, 0), (40, 0))
# The parts that are left out before any offered thread, the least important first.
_LESS_IMPORTANT = ("guidance", "overlaps", "decisions", "conflicts", "approvals")


def _text_length(brief: Brief) -> int:
    """Return the length of a brief as text, in characters."""
    plain = Style(color=False)  # colours are not characters
    return len(brief_text(brief, plain)) + 1


def fit_brief(brief: Brief) -> Brief:
    """Return the brief, cut to the most characters. Some parts stay even if they
    don't fit: the viewer, the store's problems, and how much was left out."""
    whole, has_words, most = brief, True, MAX_CHARACTERS
    for widths in _SHORTER:
        # Rendering takes a millisecond for each 20 threads.
        if _least_length(brief) <= most and _text_length(brief) <= most:
            return brief if has_words else _with_words(brief, whole)
        brief, has_words = _shortened(brief, *widths), widths[1] > 0
    while _text_length(brief) > most:
        smaller = _smaller(brief)
        if smaller == brief:
            return brief
        brief = smaller
    return _with_words(brief, whole)


def _with_words(brief: Brief, whole: Brief) -> Brief:
    """Returns the brief with the words of the last entries of as many threads as there
    is room for, the most important first."""
    worded = _shortened(whole, *_SHORTER[0])
    low, high = 0, sum(len(part.items) for part in brief.parts.values()) + 1
    while high - low > 1:
        middle = (low + high) // 2
        fuller = _first_with_words(brief, worded, middle)
        if _text_length(fuller) <= MAX_CHARACTERS:
            low = middle
        else:
            high = middle
    return _first_with_words(brief, worded, low)


def _first_with_words(brief: Brief, worded: Brief, count: int) -> Brief:
    """Returns the brief with the last entries that its first ``count`` threads have in
    ``worded``."""
    sections: dict[str, Any] = {}
    for name, part in brief.parts.items():
        pairs = zip(part.items[:count], worded.parts[name].items, strict=False)
        fuller = tuple(item._replace(last=source.last) for item, source in pairs)
        sections[name] = part._replace(items=(*fuller, *part.items[count:]))
        count -= len(fuller)
    return brief._replace(**sections)


def _least_length(brief: Brief) -> int:
    """Return a lower bound for the length of a brief's text, unless its threads consist
    of characters that are not shown."""
    length = 0
    for item in (item for part in brief.parts.values() for item in part.items):
        length += _ITEM_FRAME + len(item.topic) + min(len(item.title), TITLE_WIDTH)
        if summary := item.last.summary:
            length += _WORDS_FRAME + min(len(item.last.author), NAME_WIDTH)
            length += min(len(summary), SUMMARY_WIDTH)
    return length


def _shortened(brief: Brief, title_width: int, words_width: int) -> Brief:
    """Return the brief with shorter titles, and with each last entry cut to its words
    or its title."""
    sections: dict[str, Any] = {
        name: part._replace(
            items=tuple(
                _shortened_item(item, title_width, words_width) for item in part.items
            )
        )
        for name, part in brief.parts.items()
    }
    return brief._replace(**sections)


def _shortened_item(item: BriefItem, title_width: int, words_width: int) -> BriefItem:
    entry = item.last
    title = "" if entry.summary else entry.title
    if title == item.title:
        title = ""
    if words_width:
        title = one_line(title, words_width)
        summary = one_line(entry.summary, words_width)
    else:
        title = summary = ""
    return item._replace(
        title=one_line(item.title, title_width),
        last=entry._replace(title=title, summary=summary),
    )


def _smaller(brief: Brief) -> Brief:
    """Return the brief without its least important part: a thread, the guidance, a note
    of another participant, a decision, a conflict, or finally a question."""
    for name in reversed(LIMITS):
        part: BriefSection = brief.parts[name]
        if name == "offered":
            for field in _LESS_IMPORTANT:
                items = getattr(brief, field)
                if items:
                    fewer: Any = {field: items[:-1]}
                    count = brief.left_out.get(field, 0) + 1
                    left_out = {**brief.left_out, field: count}
                    return brief._replace(**fewer, left_out=left_out)
        if part.items:
            less: Any = {name: part._replace(items=part.items[:-1])}
            return brief._replace(**less)
    questions = brief.questions
    if not questions.items:
        return brief
    return brief._replace(questions=questions._replace(items=questions.items[:-1]))
