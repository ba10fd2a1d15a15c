"""The cards of the board, and the column beside a thread."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

from tests.observe.stores import NOW_MS
from tests.observe.web.pages import links, words
from wc_core.attention.runs import waiting
from wc_core.attention.runs.records import FAILED, RUNNING, RunRecord, path_of
from wc_core.attention.runs.waiting import WaitingThreads
from wc_core.base import processes, ulid
from wc_core.base.times import rfc3339
from wc_core.ledger.git.private import private_layout
from wc_core.ledger.threads.model import Link
from wc_core.reading.views.drawing.badges import badge_of

if TYPE_CHECKING:
    from tests.observe.stores import Store
    from tests.observe.web.pages import Site


STATES = {"running", "waiting", "failed"}


def card(page: str, topic: str) -> str:
    found = re.search(rf'(?s)<li[^>]*id="i-{topic}".*?</li>', page)
    assert found is not None
    return found[0]


def test_an_agent_has_one_column_for_all_seats_and_tags(
    site: Site, store: Store
) -> None:
    for topic, holder in (("a", "Codex@fix (pat)"), ("b", "codex"), ("c", "Alex")):
        store.thread(topic, store.give(topic, holder))
    page = site.get()
    headings = [words(one) for one in re.findall(r"(?s)<h2 id.*?</h2>", page)]
    assert headings[1:] == ["Alex 1", "Codex 2"]
    # The tag of the viewer's own agents says nothing.
    assert "a @fix Codex" in words(card(page, "a"))
    rest = site.get("threads?ball=Codex&open=1")
    assert {*re.findall(r'id="t-([^"]+)"', rest)} == {"a", "b"}


def test_a_card_says_what_was_said_last_and_by_whom(site: Site, store: Store) -> None:
    first = store.give("x", "Pat", title="Login", body="Please.")
    last = store.entry("x", title="All <b>done</b>", agent="Claude Code@fix (sam)")
    store.thread("x", first, last)
    store.thread("y", store.give("y", "Pat", title="Only a title", agent="Codex"))
    store.thread("z", store.give("z", "Pat", title="A title", body="And a text."))
    page = site.get()
    assert "Claude Code: All <b>done</b>" in words(card(page, "x"))
    assert "Codex started it" in words(card(page, "y"))
    assert "Codex: And a text." in words(card(page, "z"))
    hue = badge_of("Claude Code").hue
    assert f'class="badge h{hue} agent" data-initials="CC"' in card(page, "x")


def test_a_card_shows_a_text_without_its_markdown(site: Site, store: Store) -> None:
    body = "```\nx = 1\n```\n\nUse **this** [one](https://example.org), please."
    store.thread("x", store.entry("x", body, title="Which?", agent="Codex"))
    store.thread("y", store.entry("y", "```\nx = 1\n```", title="Y", agent="Codex"))
    page = site.get()
    assert "Codex: Use this one, please." in words(card(page, "x"))
    assert "`" not in words(card(page, "y"))


def test_what_was_retracted_is_not_what_was_said_last(site: Site, store: Store) -> None:
    first = store.give("x", "Pat", title="Login", body="Please.")
    wrong = store.entry("x", title="Wrong")
    taken_back = store.entry("x", title="", action="retract", supersedes=wrong.id)
    store.thread("x", first, wrong, taken_back)
    assert "Wrong" not in words(card(site.get(), "x"))


def test_blocked_and_stale_threads_stand_out(site: Site, store: Store) -> None:
    store.thread("x", store.give("x", "Pat", status="BLOCKED"))
    page = card(site.get(), "x")
    assert 'class="fresh stale blocked"' in page
    assert "stale 4w" in words(page)


def test_what_wc_run_does_is_on_the_card_and_beside_the_thread(
    site: Site, store: Store
) -> None:
    me = os.getpid()
    begin = processes.started(me) or 0
    entries = {}
    for topic, holder in (("a", "Codex@a"), ("b", "Codex"), ("c", "Pat"), ("d", "Pat")):
        entries[topic] = store.give(topic, holder)
        store.thread(topic, entries[topic])
    run = RunRecord("a", "Codex@a", "/w", "a", RUNNING, NOW_MS - 60_000)
    failed = RunRecord("c", "Codex@c", "/w", "c", FAILED, 1, ended_ms=NOW_MS - 120_000)
    failed = failed._replace(reason="ended with the ball", given=entries["c"].id)
    waits = WaitingThreads(me, begin, {"b": "its worktree has uncommitted changes: x"})
    Path(private_layout(store.layout).runs).mkdir(parents=True)
    for record in (
        run._replace(pid=me, begin=begin),
        failed,
        # The ball of this one has moved since.
        failed._replace(topic="d"),
    ):
        Path(path_of(store.layout, record.topic)).write_bytes(record.to_bytes())
    Path(waiting.path_of(store.layout, me)).write_bytes(waits.to_bytes())
    page = site.get()
    marks = {
        topic: [word for word in words(card(page, topic)).split() if word in STATES]
        for topic in "abcd"
    }
    assert marks == {"a": ["running"], "b": ["waiting"], "c": ["failed"], "d": []}
    assert 'title="Codex: its worktree has uncommitted changes: x"' in page
    assert 'class="mark severe" title="Codex@c, ' in page
    assert "at work, started 1m ago" in site.said("threads/a")
    assert "not started: its worktree has unc" in site.said("threads/b")
    assert "run failed 2m ago: ended with the ball" in site.said("threads/c")
    # Their ends need not come with an entry: the page looks again.
    assert 'data-again="5000"' in site.get("threads/a")
    assert "data-again" not in site.get("threads/c")


def test_what_has_not_moved_for_weeks_is_folded(site: Site, store: Store) -> None:
    lately = NOW_MS - 13 * 24 * 3_600_000
    for number in range(14):
        topic = f"x{number}"
        store.thread(topic, store.give(topic, "Codex"))
    # Where nothing has moved, nothing is folded.
    assert "<details" not in site.get()
    id_ = ulid.encode(lately << ulid.RANDOM_BITS)
    store.thread("new", store.give("new", "Codex", id=id_, at=rfc3339(lately)))
    asked = store.give("q", "Codex", kind="question", asks="Pat")
    store.thread("q", asked)
    page = site.get()
    assert page.index('id="c-mine"') < page.index('id="t-q"')
    assert page.index('id="t-q"') < page.index('id="c-Codex"')
    column = page[page.index('id="c-Codex"') :]
    before, _, folded = column.partition('<details class="folded">')
    assert set(re.findall(r'id="t-([^"]+)"', before)) == {"new"}
    assert folded.startswith("<summary>14 not moved for weeks</summary>")
    assert len(re.findall(r'id="t-x\d+"', folded)) == 11
    assert "3 more" in words(folded)
    # What was filtered for is shown.
    assert "<details" not in site.get("?filter=n")


def test_a_card_shows_progress_and_links(site: Site, store: Store) -> None:
    store.thread("whole", store.give("whole", "Codex"))
    first = store.give("x", "Pat", items_added=("one", "two"))
    done = store.entry("x", items_checked=(f"{first.id}.1",))
    linked = store.entry("x", links_added=(Link("parent", "whole"),))
    store.thread("x", first, done, linked)
    said = words(card(site.get(), "x"))
    assert "1/2" in said
    assert "is part of whole" in said


def test_an_empty_store_teaches_the_first_steps(site: Site, store: Store) -> None:
    assert store.root.is_dir()
    said = site.said()
    assert "No threads yet" in said
    assert "wc new login" in said
    assert "This page is read-only" in said


def test_a_card_says_what_was_said_last(site: Site, store: Store) -> None:
    ball = store.give("x", "Pat", agent="Pat")
    said = store.entry("x", "Chrome is fast.", agent="Codex", title="Which browser?")
    upkeep = [
        store.entry("x", agent="Pat", title=title, action=action, **fields)
        for action, title, fields in (
            ("tag", "Tags: +later", {"tags_added": ("later",)}),
            ("set_status", "Status: BLOCKED", {"status": "BLOCKED"}),
            ("handoff", "Handoff to Codex", {}),
            ("ack", "Ack", {}),
        )
    ]
    store.thread("x", ball, said, *upkeep)
    assert "Codex: Which browser?" in site.said()
    ball = store.give("y", "Pat", agent="Pat")
    note = store.entry("y", "It is red.", action="handoff", title="Handoff to Pat")
    store.thread("y", ball, note)
    assert "Handoff to Pat" not in site.said()
    assert "It is red." in site.said()


# --- beside a thread ---------------------------------------------------------


def test_beside_a_thread_is_who_had_the_ball(site: Site, store: Store) -> None:
    store.thread(
        "x",
        store.give("x", "Codex@fix (pat)", agent="Pat"),
        store.give("x", "Pat", agent="Codex@fix (pat)"),
        store.entry("x", "See src/a.py.", agent="Alex"),
    )
    page = site.get("threads/x")
    said = words(page[page.index("<aside") :])
    assert said.startswith("Ball Pat you for 4w ")
    assert "Codex@fix (pat) 1m #0" in said
    assert "Participants Pat 1 Codex@fix (pat) 1 Alex 1" in said
    assert "Refers to src/a.py" in said


def test_what_a_thread_refers_to_is_one_sorted_line(site: Site, store: Store) -> None:
    first = store.entry("x", file_refs=("src/z.py", "docs/a.md"), pr_refs=(4,))
    store.thread("x", first, store.entry("x", file_refs=("Makefile",)))
    page = site.get("threads/x")
    line = page[page.index('class="references"') :].partition("</p>")[0]
    assert words(f"<p {line}</p>") == "#4 docs/a.md Makefile src/z.py"


def test_only_the_present_ball_is_bright(site: Site, store: Store) -> None:
    store.thread("x", *(store.give("x", name) for name in ("Pat", "Codex", "Pat")))
    page = site.get("threads/x")
    feet = re.findall(r'(?s)<p class="foot">.*?</p>', page)
    assert ['class="ball now"' in foot for foot in feet] == [False, False, True]


def test_nobody_has_the_ball_of_a_closed_thread(site: Site, store: Store) -> None:
    store.thread("x", store.give("x", "Pat"), store.give("x", None, status="CLOSED"))
    page = site.get("threads/x")
    assert 'class="ball now"' not in page
    assert "Ball \u2013 closed for" in words(page)


def test_commands_to_copy_depend_on_who_has_the_ball(site: Site, store: Store) -> None:
    store.thread("mine", store.give("mine", "Pat", agent="Pat"))
    store.thread("theirs", store.give("theirs", "Codex", agent="Codex"))
    store.thread("over", store.give("over", None, status="CLOSED"))
    store.thread("free", store.give("free", None, agent="Codex"))
    mine, theirs = site.get("threads/mine"), site.get("threads/theirs")
    copied = re.compile(r"<code data-copy>(wc [^<]*)</code>")
    assert copied.findall(mine) == ["wc say mine", "wc done mine"]
    assert copied.findall(theirs) == ["wc say theirs"]
    said = words(theirs)
    assert "wc say theirs add an entry; the ball stays" in said
    assert "wc take theirs --reason '…' take the ball, and say why" in said
    assert copied.findall(site.get("threads/free"))[:2] == [
        "wc say free",
        "wc take free",
    ]
    assert "wc read theirs --seen mark it as read; this page is read-only" in said
    assert copied.findall(site.get("threads/over")) == ["wc set-status over OPEN"]


def test_the_answer_to_a_question_is_the_first_command(
    site: Site, store: Store
) -> None:
    asked = {"agent": "Codex", "kind": "question", "asks": "Pat"}
    ball = store.give("both", "Pat", agent="Codex")
    first, second = (store.entry("both", "Which hash?", **asked) for _ in range(2))
    store.thread("both", ball, first, second)
    other = store.give("theirs", "Codex", agent="Codex")
    store.thread("theirs", other, store.entry("theirs", "Which browser?", **asked))
    copied = re.compile(r"<code data-copy>(wc [^<]*)</code>")
    assert copied.findall(site.get("threads/theirs"))[:2] == [
        "wc answer theirs",
        "wc say theirs",
    ]
    both = site.get("threads/both")
    assert copied.findall(both)[:3] == [
        "wc answer both 1",
        "wc answer both 2",
        "wc say both",
    ]
    assert f"wc answer both 2 answer Codex: {second.title}" in words(both)


def test_entries_have_anchors(site: Site, store: Store) -> None:
    store.thread("x", store.entry("x"), store.entry("x"))
    page = site.get("threads/x")
    assert {"#e0", "#e1"} <= {*links(page)}
    assert 'id="e1"' in page


def test_the_neighbours_are_the_viewers_threads(site: Site, store: Store) -> None:
    for topic in ("a", "b", "c"):
        store.thread(topic, store.give(topic, "Pat"))
    store.thread("d", store.give("d", "Codex"))
    page = site.get("threads/b")
    around = {
        rel: topic
        for topic, rel in re.findall(r'/threads/(\w+)" rel="(next|prev)"', page)
    }
    assert around == {"prev": "c", "next": "a"}


# --- the list ----------------------------------------------------------------


def test_the_list_is_sorted_by_its_heads(site: Site, store: Store) -> None:
    store.thread("a", store.give("a", "Codex", title="Zebra"), store.entry("a"))
    store.thread("b", store.give("b", "Alex", title="apple"))

    def order(sort: str) -> list[str]:
        return re.findall(r'id="t-([^"]+)"', site.get(f"threads?sort={sort}"))

    assert order("") == ["b", "a"]
    assert order("odd") == ["b", "a"]
    assert order("title") == ["b", "a"]
    assert order("-title") == ["a", "b"]
    assert order("ball") == ["b", "a"]
    assert order("-entries") == ["a", "b"]
    assert order("moved") == ["a", "b"]
    page = site.get("threads?sort=-title")
    assert 'aria-sort="descending"' in page
    assert any("sort=title" in link for link in links(page))


def test_a_list_of_nothing_says_what_to_do(site: Site, store: Store) -> None:
    store.thread("a")
    page = site.get("threads?filter=nothing")
    assert "Show all threads" in words(page)
    assert any(link.endswith("search?q=nothing") for link in links(page))
