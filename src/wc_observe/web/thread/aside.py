"""The column beside a thread: the ball and its history, status, participants,
references, and the commands for the next step."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from wc_core.attention.status.places import branch_text
from wc_core.attention.wake.passes import pass_state
from wc_core.base import times
from wc_core.base.errors import WcError
from wc_core.base.phrases import quoted
from wc_core.base.text import one_line
from wc_core.base.values import NamedTuple
from wc_core.ledger.planning import kinds, plans
from wc_core.ledger.planning.checklists import progress
from wc_core.ledger.remarks.references import references
from wc_core.ledger.threads.model import CLOSED, holder_text
from wc_core.reading.views.drawing.badges import badge_of
from wc_core.reading.views.holding import is_stale
from wc_observe.answers.claims import read_claims
from wc_observe.web.board.facts import branch_conflicts, worktree_person
from wc_observe.web.html import NOTHING, Html, element, joined
from wc_observe.web.page import (
    command_line,
    entry_count,
    holder_person,
    looks_again,
    more_link,
    outcome_mark,
    ownership_mark,
    person,
    progress_bar,
    status_mark,
    tag_marks,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from wc_core.ledger.threads.reader import Thread
    from wc_core.reading.views.history import BallHistory, Spell
    from wc_observe.callers.open_store import OpenStore
    from wc_observe.web.page import PageContext

_SPELLS, _PEOPLE, _REFS = 8, 12, 12
_WIDTH = 300
# A bar of who held the ball has at least this many parts.
_PARTS = 2


class AsideContext(NamedTuple):
    """The subject of the column: a thread, the history of its ball, and how many
    entries are new to the viewer."""

    store: OpenStore
    thread: Thread
    page: PageContext
    past: BallHistory
    new: int


def aside(context: AsideContext) -> Html:
    """Returns the column."""
    sections = (
        ("Ball", _ball(context)),
        ("Status", _status(context)),
        ("Continue in a terminal", _commands(context)),
        ("Checklist", _checklist(context)),
        ("Plan", _links(context)),
        ("Claims", _claims(context)),
        ("Conflicts", _conflicts(context)),
        ("Participants", _participants(context)),
        ("Refers to", _references(context)),
    )
    return element(
        "aside",
        *(
            element("section", element("h2", heading), inside)
            for heading, inside in sections
            if inside
        ),
        id="details",
        class_="aside",
        aria_label="About this thread",
    )


def _ball(context: AsideContext) -> Html:
    """Returns who has the ball, since when, and who had it before."""
    state, page, viewer = context.thread.state, context.page, context.store.viewer
    current = context.past.current
    now = [
        element("span", class_="ball now", aria_hidden="true"),
        holder_person(state.ball, page.directory),
        ownership_mark(viewer.whose(state.ball)),
    ]
    if state.status == CLOSED:
        now = [element("span", "\u2013", class_="none"), element("span", "closed")]
    since = NOTHING
    if current is not None:
        words = f"for {times.length(current.ms // 1000)}"
        if current.doubtful:
            words = "since a doubtful time"
        stale = is_stale(state, page.now_ms)
        since = element("span", words, class_="mark stale" if stale else "age")
    spells = context.past.spells
    items = (_spell(spell, page) for spell in reversed(spells[-_SPELLS - 1 : -1]))
    hidden = len(spells) - 1 - _SPELLS
    more = element("p", f"and {hidden} before", class_="none")
    return joined(
        (
            element("p", joined(filter(None, (*now, since)), " "), class_="now"),
            _passed(context),
            _strip(spells, page),
            element("ol", *items, class_="spells", aria_label="Before"),
            more if hidden > 0 else NOTHING,
        )
    )


def _passed(context: AsideContext) -> Html:
    """Returns how far the ball has come, if its holder was called or run for it."""
    state, now_ms = context.thread.state, context.page.now_ms
    passed = pass_state(
        context.store.reader, state, context.page.directory, only_called=True
    )
    if passed is None:
        return NOTHING
    words = one_line(passed.sentence(now_ms) or passed.state, _WIDTH)
    return element("p", words, title=passed.agent, data_again=looks_again(passed))


def _strip(spells: Sequence[Spell], page: PageContext) -> Html:
    """Returns who held the ball since the thread began, as a bar to scale; nothing if
    fewer than two parts of it would be visible."""
    begin = spells[0].start if spells else 0
    whole = spells[-1].end - begin if spells else 0
    if not whole or sum(spell.ms * 100 >= whole for spell in spells) < _PARTS:
        return NOTHING
    parts = [
        element(
            "rect",
            element("title", f"{_held_by(spell)}, {times.span(spell.ms // 1000)}"),
            x=f"{(spell.start - begin) / whole:.3%}",
            width=f"{spell.ms / whole:.3%}",
            y=1,
            height=18,
            class_=_colour(spell, page),
        )
        for spell in spells
        if spell.ms * 1000 >= whole  # narrower ones are invisible
    ]
    since = f"{times.rfc3339(begin)[:16].replace('T', ' ')} UTC"
    words = f"Who held the ball since {since}"
    bar = element("svg", *parts, role="img", aria_label=words, height=20)
    ends = (element("span", since), element("span", "now"))
    return element("div", bar, element("p", *ends, class_="scale"), class_="strip")


def _held_by(spell: Spell) -> str:
    return one_line(holder_text(spell.holder), _WIDTH) if spell.known else "not known"


def _colour(spell: Spell, page: PageContext) -> str:
    if spell.holder is None or not spell.known:
        return "free" if spell.known else "unknown"
    return f"h{badge_of(spell.holder, page.directory).hue}"


def _spell(spell: Spell, page: PageContext) -> Html:
    name = holder_person(spell.holder, page.directory)
    if not spell.known:
        name = element("span", "not known")
    length = element("span", times.length(spell.ms // 1000), class_="age")
    entry = NOTHING
    if spell.idx >= 0:
        entry = element("a", f"#{spell.idx}", href=f"#e{spell.idx}", class_="number")
    return element("li", joined(filter(None, (name, length, entry)), " "))


def _status(context: AsideContext) -> Html:
    state = context.thread.state
    lines = [element("p", status_mark(state.status), f" {_entries(context)}")]
    if state.review.outcome:
        by = person(state.review.by, context.page.directory)
        lines.append(element("p", outcome_mark(state.review.outcome), " by ", by))
    if tags := tag_marks(context.thread.snapshot.tags):
        lines.append(element("p", tags))
    if state.branch:
        name = one_line(branch_text(state.branch), _WIDTH)
        lines.append(element("p", "Branch ", element("code", name, data_copy=True)))
    return joined(lines)


def _entries(context: AsideContext) -> str:
    new = f", {context.new} new to you" if context.new else ""
    return f"{entry_count(context.thread.state.entry_count)}{new}"


def _commands(context: AsideContext) -> Html:
    """Returns the commands for the viewer's next step, which the page cannot run."""
    state, topic = context.thread.state, quoted(one_line(context.thread.name))
    if state.status == CLOSED:
        return command_line(f"wc set-status {topic} OPEN", "reopen it")
    if context.store.viewer.holds(state.ball):
        commands = [
            (f"wc say {topic}", "write, and pass the ball back"),
            (f"wc done {topic}", "report that you are done"),
        ]
    else:
        # Only a free ball can be taken without a reason.
        take = (f"wc take {topic}", "take the ball")
        if state.ball is not None:
            take = (f"wc take {topic} --reason '…'", "take the ball, and say why")
        commands = [(f"wc say {topic}", "add an entry; the ball stays"), take]
    commands = [*_answers(context, topic), *commands]
    lines = [command_line(words, why) for words, why in commands]
    if context.new:
        why = "mark it as read; this page is read-only"
        lines.append(command_line(f"wc read {topic} --seen", why))
    return joined(lines)


def _answers(context: AsideContext, topic: str) -> Iterator[tuple[str, str]]:
    """Yields the commands that answer the open questions to the viewer."""
    viewer = context.store.viewer
    questions = context.thread.state.questions
    pending = [question for question in questions if viewer.holds(question.asked)]
    numbers = {entry.id: idx for idx, entry in enumerate(context.thread.entries)}
    for question in pending:
        number = f" {numbers.get(question.id, 'N')}" if len(pending) > 1 else ""
        title = one_line(question.title, _WIDTH)
        yield f"wc answer {topic}{number}", f"answer {question.asker}: {title}"


def _checklist(context: AsideContext) -> Html:
    items = context.thread.state.items
    if not items:
        return NOTHING
    return element("p", progress_bar(*progress(items)))


def _links(context: AsideContext) -> Html:
    """Returns what the thread waits for and belongs to; nothing if there are no links
    from it or to it."""
    reader, state = context.store.reader, context.thread.state
    links, items = context.page.links, []
    for kind, topic, _ in state.links[:_REFS]:
        name = one_line(_name_of(context, topic))
        words = kinds.sentence("", kind, "").strip()
        link = element("a", element("bdi", name), href=links.thread(topic))
        items.append(element("li", f"{words} ", link))
    for topic in plans.sources(plans.plan_of(reader), state.topic)[:_REFS]:
        name = one_line(_name_of(context, topic))
        link = element("a", element("bdi", name), href=links.thread(topic))
        items.append(element("li", link, " is linked to it"))
    if not items:
        return NOTHING
    return element("ul", *items)


def _name_of(context: AsideContext, topic: str) -> str:
    reader = context.store.reader
    try:
        return reader.snapshot(topic).name
    except WcError:
        return topic


def _claims(context: AsideContext) -> Html:
    claims = [
        claim
        for claim in read_claims(context.store).book.claims
        if claim.thread == context.thread.state.topic
    ]
    items = (
        element(
            "li",
            element("code", one_line(claim.id, _WIDTH)),
            " ",
            person(claim.holder, context.page.directory),
        )
        for claim in claims[:_REFS]
    )
    return element("ul", *items) if claims else NOTHING


def _conflicts(context: AsideContext) -> Html:
    branch = context.thread.state.branch
    conflicts = branch_conflicts(context.store, context.page.now_ms)
    found = conflicts.get(branch, []) if branch else []
    items = (
        element(
            "li",
            element("code", one_line(file.path, _WIDTH)),
            " with ",
            worktree_person(side, context.page.directory),
        )
        for side, file in found[:_REFS]
    )
    if not found:
        return NOTHING
    return joined(
        (element("ul", *items), more_link(context.page.links.edits(), "Edits"))
    )


def _participants(context: AsideContext) -> Html:
    people = Counter(entry.agent or "unknown" for entry in context.thread.entries)
    items = (
        element(
            "li",
            person(name, context.page.directory),
            " ",
            element("span", str(count), class_="count", title=entry_count(count)),
        )
        for name, count in people.most_common(_PEOPLE)
    )
    hidden = len(people) - _PEOPLE
    more = element("p", f"and {hidden} more", class_="none") if hidden > 0 else NOTHING
    return joined((element("ul", *items, class_="people"), more))


def _references(context: AsideContext) -> Html:
    """Returns what the entries refer to, in one sorted line: the latest of it if it is
    too much."""
    words = dict.fromkeys(
        one_line(word, 120)
        for entry in reversed(context.thread.entries)
        for word in references(entry).words(0)
    )
    if not words:
        return NOTHING
    latest = sorted([*words][:_REFS], key=lambda word: (word.casefold(), word))
    hidden = len(words) - _REFS
    parts = [element("code", word) for word in latest]
    parts += [element("span", f"and {hidden} more")] if hidden > 0 else []
    return element("p", joined(parts, " "), class_="references")
