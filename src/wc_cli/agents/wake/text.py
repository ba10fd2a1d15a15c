"""The text for a woken agent: the brief of the balls that arrived, and what was said
last, quoted and cut."""

from __future__ import annotations

from wc_cli.agents.briefing import gather, text
from wc_cli.ledger.clock import now_ms
from wc_cli.run.terminal.style import Style
from wc_core.attention.status.balls import own_folders_of
from wc_core.attention.status.pins import surroundings
from wc_core.base.errors import WcError
from wc_core.base.text import defused, one_line
from wc_core.ledger.threads.revisions import last_own_text
from wc_core.reading.views.brief import Brief, BriefQuery, BriefSection, item_of
from wc_core.reading.views.remarks import QuestionSection, asked_question

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from wc_cli.agents.wake.choosing import Arrived
    from wc_cli.run.context import Context
    from wc_core.attention.status.balls import HeldBall
    from wc_core.ledger.threads.reader import StoreReader

# How much of the latest entries is quoted, shared by the threads.
_MAX_LINES, _LINE, _MAX_CHARACTERS = 40, 300, 4000
_MOST = 10
_CAME = "This came while you were idle."


def wake_text(context: Context, arrived: Sequence[Arrived]) -> str:
    """Return the text about what has arrived: our words around quoted, bounded text, as
    in the brief."""
    reader = context.reader
    own = own_folders_of(context.viewer)
    balls = [arrival.held for arrival in arrived if not arrival.is_question]
    questions = [arrival.held for arrival in arrived if arrival.is_question]
    brief = Brief(
        context.viewer.identity.author,
        mine=_section(context, [held for held in balls if held.folder in own]),
        offered=_section(context, [held for held in balls if held.folder not in own]),
        questions=_questions(context, questions),
    )
    words = text.brief_text(text.fit_brief(brief), Style(color=False))
    topics = dict.fromkeys(arrival.held.topic for arrival in arrived)
    budget = _MAX_CHARACTERS // max(1, len(topics))
    quotes = [
        line for topic in [*topics][:_MOST] for line in _quote(reader, topic, budget)
    ]
    return defused("\n".join((f"{_CAME} {words}", *quotes)))


def _section(context: Context, balls: Sequence[HeldBall]) -> BriefSection:
    reader, viewer = context.reader, context.viewer
    query = BriefQuery(
        reader,
        viewer,
        context.settings,
        surroundings(reader.layout, context.place.repository, viewer),
        now_ms(),
        gather.deadline(),
    )
    items = (item_of(query, held) for held in balls[:_MOST])
    return BriefSection(tuple(item for item in items if item), len(balls))


def _questions(context: Context, questions: Sequence[HeldBall]) -> QuestionSection:
    reader, viewer = context.reader, context.viewer
    items = (asked_question(reader, viewer, held) for held in questions[:_MOST])
    return QuestionSection(tuple(item for item in items if item), len(questions))


def _quote(reader: StoreReader, topic: str, budget: int) -> Iterator[str]:
    """Yield what was said last in a thread, each line quoted."""
    try:
        entry = last_own_text(reader.thread(topic).entries)
    except WcError:
        return
    if entry is None:
        return
    lines = [one_line(line, _LINE) for line in entry.body.splitlines()]
    if not any(lines):
        return
    came = f", {text.way_text(entry.via)}" if entry.via else ""
    author = text.quoted(entry.agent)
    yield f"\nThe latest entry of {one_line(topic)}, by {author}{came}:"
    count = 0
    for line in lines[:_MAX_LINES]:
        if len(line) > budget:
            break
        budget -= len(line)
        count += 1
        yield f"> {line}".rstrip()
    if count < len(lines):
        yield f"(and {len(lines) - count} more lines: wc read {one_line(topic)} --new)"
