"""What the pages say, without a browser."""

from __future__ import annotations

import os
import re
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from starlette.applications import Starlette
from starlette.routing import Route

from tests.observe.stores import NOW_MS, START_MS
from tests.observe.web.pages import SECRET, Site, ask, elements, links, words
from wc_core.ledger.threads.model import Link
from wc_core.reading.views.drawing.badges import HUES, badge_of
from wc_observe.callers.calls import ServerContext
from wc_observe.web import app as webapp
from wc_observe.web.links import Links
from wc_observe.web.stores import StoreOpener

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.observe.stores import Store
    from wc_observe.web.page import WebPage

# --- the board ---------------------------------------------------------------


def column_names(page: str) -> list[str]:
    """The headings of the board, with how many threads are there."""
    return [words(one) for one in re.findall(r"(?s)<h2 id.*?</h2>", page)]


def board_of(store: Store, count: int = 1) -> None:
    for holder in ("Codex", "Pat", None, "Claude Code"):
        for number in range(count):
            topic = f"{(holder or 'free').split()[0].lower()}-{number}"
            store.thread(topic, store.give(topic, holder, title=f"About {topic}"))


def test_the_board_has_a_column_for_each_holder_mine_first(
    site: Site, store: Store
) -> None:
    board_of(store)
    assert column_names(site.get()) == [
        *("Pat you 1", "anyone 1", "Claude Code 1", "Codex 1")
    ]


def test_what_waits_for_another_thread_has_a_column(site: Site, store: Store) -> None:
    store.thread("db", store.give("db", "Codex"))
    for number in range(15):
        topic = f"ui-{number}"
        first = store.give(topic, "Pat", title="T")
        waits = (Link("blocked_by", "db"),)
        second = store.entry(topic, action="link", links_added=waits)
        store.thread(topic, first, second)
    page = site.get()
    names = ["Pat you 0", "Waiting for another thread 15", "Codex 1"]
    assert column_names(page) == names
    assert "waits for db" in words(page)
    link = next(one for one in links(page) if "open=1" in one and "ball" not in one)
    assert site.ask(link).text.count('id="t-ui-') == 15


def test_the_tab_says_how_many_wait_for_me(site: Site, store: Store) -> None:
    assert "<title>work</title>" in site.get()
    board_of(store, 2)
    assert "<title>(2) work</title>" in site.get()
    assert "<title>Threads · work</title>" in site.get("threads")
    assert "<title>(1) About pat-0 · work</title>" in site.get("threads/pat-0")


def test_a_board_without_anything_of_mine_says_so(site: Site, store: Store) -> None:
    store.thread("x", store.give("x", "Codex"))
    assert "Nothing is waiting for you." in site.said()


def test_a_card_says_what_is_new_and_how_the_thread_stands(
    site: Site, store: Store
) -> None:
    first = store.give("x", "Codex", agent="Codex", status="BLOCKED", title="<b>Hi</b>")
    beside = [store.entry("x", parents=(first.id,)) for _ in range(2)]
    store.thread("x", first, *beside, meta=False)
    said = site.said()
    assert "<b>Hi</b> 4w x (pat)" not in said
    assert "<b>Hi</b> 4w x Codex: Entry 3 stale 4w blocked 3 new forked" in said


def test_closed_threads_are_behind_a_link(site: Site, store: Store) -> None:
    store.thread("x", store.give("x", None, status="CLOSED"))
    assert "1 thread closed" in site.said()
    (link,) = (one for one in links(site.get()) if "CLOSED" in one)
    assert "Entry 1 x closed 1 new \u2013" in words(site.ask(link).text)


def test_a_column_shows_the_first_and_leads_to_the_rest(
    site: Site, store: Store
) -> None:
    board_of(store, 15)
    page = site.get()
    assert page.count('id="t-codex-') == 12
    assert page.count('id="t-pat-') == 15
    link = next(one for one in links(page) if "ball=Codex" in one)
    assert site.ask(link).text.count('id="t-codex-') == 15


def test_many_holders_are_columns_first_and_names_then(
    site: Site, store: Store
) -> None:
    for number in range(20):
        store.thread(f"x{number}", store.give(f"x{number}", f"Agent {number}"))
    page = site.get()
    assert len(column_names(page)) == 14
    assert "7 more have a ball" in words(page)
    assert site.ask(next(one for one in links(page) if "Agent+0&" in one)).is_success


@pytest.mark.parametrize("path", ["", "threads"])
def test_words_narrow_down_what_is_shown(site: Site, store: Store, path: str) -> None:
    board_of(store)
    page = site.get(f"{path}?filter=ABOUT+cod")
    found = re.findall(r'id="t-([^"]+)"', page)
    assert {*found} == {"codex-0", "claude-0"}


def test_topics_are_looked_for_by_all_of_the_words(site: Site, store: Store) -> None:
    board_of(store)
    page = site.get("?filter=claude+code")
    assert re.findall(r'id="t-([^"]+)"', page) == ["claude-0"]


# --- the list ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("asked", "topics"),
    [
        ("", ["b", "a"]),
        ("?open=1", ["a"]),
        ("?status=closed", ["b"]),
        ("?ball=me", ["a"]),
        ("?ball=anyone", ["b"]),
        ("?ball=nobody+here+at+all", []),
        ("?branch=fix%2Flogin", ["a"]),
        ("?branch=b", ["b"]),
        ("?branch=other", []),
        ("?file=auth.py", ["a"]),
        ("?file=src%2Fauth.py&open=1", ["a"]),
        ("?file=auth.py&ball=anyone", []),
        ("?file=auth.py&filter=entry", ["a"]),
        ("?file=other.py", []),
    ],
)
def test_the_list_has_filters(
    site: Site, store: Store, asked: str, topics: list[str]
) -> None:
    written = {"code_branch": "fix/login", "body": "See src/auth.py.", "action": "new"}
    store.thread("a", store.give("a", "Pat", **written))
    store.thread("b", store.give("b", None, status="CLOSED"))
    page = site.get(f"threads{asked}")
    assert re.findall(r'id="t-([^"]+)"', page) == topics
    assert ("No thread matches." in page) == (not topics)


def test_the_filters_of_the_list_keep_what_was_asked(site: Site, store: Store) -> None:
    for number in range(101):
        body = store.entry(f"x{number}", "See a.py.", code_branch="b", action="new")
        store.thread(f"x{number}", body)
    page = site.get("threads?file=a.py&branch=b&open=1")
    (older,) = (link for link in links(page) if "cursor=" in link)
    assert site.ask(older).text.count('id="t-') == 1
    values = {
        fields["name"]: fields.get("value")
        for tag, fields in elements(page)
        if tag == "input" and "name" in fields
    }
    assert (values["file"], values["branch"]) == ("a.py", "b")


def test_a_list_about_a_file_says_which_threads_could_not_be_searched(
    site: Site, store: Store
) -> None:
    store.thread("a", store.entry("a", "See a.py."))
    Path(store.layout.log("bad")).mkdir(parents=True)
    assert "Could not be read, see wc doctor: bad" in site.said("threads?file=a.py")


def test_a_long_list_is_walked_by_pages(site: Site, store: Store) -> None:
    for number in range(230):
        store.thread(f"x{number:03}")
    found, path = [], f"/{SECRET}/threads"
    for size in (100, 100, 30):
        page = site.ask(path).text
        topics = re.findall(r'id="t-([^"]+)"', page)
        assert len(topics) == size
        found += topics
        path = next((one for one in links(page) if "cursor=" in one), "")
    assert sorted(found) == [f"x{number:03}" for number in range(230)]
    assert not path
    assert "The first 100 of 230 are shown." in site.said("threads?filter=x")


# --- a thread ----------------------------------------------------------------


def test_a_thread_is_its_entries_in_order(site: Site, store: Store) -> None:
    store.thread(
        "x",
        store.give("x", "Pat", title="One", body="**Bold**", role="planner"),
        store.entry("x", title="Two", agent="Pat", type="Decision"),
    )
    page = site.get("threads/x")
    said = words(page)
    assert said.index("#0 Codex (pat) planner") < said.index("#1 Pat")
    assert "decision" in said
    assert "<strong>Bold</strong>" in page
    assert "ball to Pat" in said
    assert "Ball Pat you" in said
    assert 'data-topic="x"' in page


def test_the_title_of_a_thread_is_there_once(site: Site, store: Store) -> None:
    first = store.entry("x", "A text.", title="Log in")
    store.thread("x", first, store.entry("x", title="Done"))
    page = site.get("threads/x")
    assert page.count(">Log in</h") == 1
    assert 'aria-label="Entry 0"' in page
    assert ">Done</h2>" in page
    assert ">Log in</h1>" in site.get("threads/x/0")


def test_a_time_has_its_date_for_paper(site: Site, store: Store) -> None:
    store.thread("x")
    page = site.get("threads/x")
    date = 'title="2026-01-01 00:01 UTC" class="age"'
    assert f'<time datetime="2026-01-01T00:01:00Z" {date}>4w</time>' in page
    style = webapp.load_assets()["style.css"].data.decode()
    paper = style[style.index("@media print") :]
    assert "time.age::after { content: attr(title)" in paper


def test_what_an_entry_refers_to_stands_below_it(site: Site, store: Store) -> None:
    entry = store.entry(
        "x",
        file_refs=tuple(f"src/{one}.py" for one in "abcdefghijklmn"),
        pr_refs=(12,),
        commit_refs=("0123456789abcdef",),
        reason="stuck",
        summary="It is stuck.",
        code_branch="main",
        code_commit="0123456789abcdef",
    )
    store.thread("x", entry)
    said = site.said("threads/x")
    assert "because: stuck src/a.py src/b.py" in said
    assert "and 4 more on main (0123456)" in said
    assert "Branch main" in said
    assert "It is stuck." in said


def test_what_the_text_of_an_entry_names_stands_below_it(
    site: Site, store: Store
) -> None:
    store.thread("x", store.entry("x", "See src/a.py, #12 and `3f2a1b9`."))
    assert "See src/a.py, #12 and 3f2a1b9. src/a.py #12 3f2a1b9" in site.said(
        "threads/x"
    )


def test_a_long_thread_begins_with_its_latest_entries(site: Site, store: Store) -> None:
    store.thread("x", *(store.entry("x", f"Body {n}.") for n in range(95)))
    seen: list[str] = []
    path = f"/{SECRET}/threads/x"
    for first, count in ((55, 40), (15, 40), (0, 40)):
        page = site.ask(path).text
        numbers = re.findall(r'<article id="e(\d+)"|id="e(\d+)" tabindex', page)
        assert int("".join(numbers[0])) == first
        assert len(numbers) == count
        seen += ["".join(one) for one in numbers]
        path = next(
            (one for one in links(page) if "from=" in one and "#" not in one), ""
        )
    assert {*seen} == {str(one) for one in range(95)}
    assert "55 later entries" in site.said("threads/x?from=0")
    beyond = words(site.get("threads/x?from=900"))
    assert "55 earlier entries" in beyond
    assert "Body 94." in beyond


def test_a_thread_of_long_bodies_ends_with_its_last_entry(
    site: Site, store: Store
) -> None:
    store.thread(
        "x", *(store.entry("x", f"Body {n}. " + "x" * 19_000) for n in range(60))
    )
    said = site.said("threads/x")
    assert "Body 59." in said
    assert "40 earlier entries" in said


def test_a_body_that_is_cut_leads_to_all_of_it(site: Site, store: Store) -> None:
    body = "".join(f"Line {number}.\n\n" for number in range(12_000))
    store.thread("x", store.entry("x", body))
    link = next(one for one in links(site.get("threads/x")) if one.endswith("/x/0"))
    page = site.ask(link).text
    assert "Line 5000." in words(page)
    more = next(one for one in links(page) if "offset=" in one)
    rest = site.ask(more).text
    assert "Line 11999." in words(rest)
    assert "offset=" not in rest


def test_an_entry_leads_to_its_neighbours(site: Site, store: Store) -> None:
    store.thread("x", *(store.entry("x") for _ in range(3)))
    found = links(site.get("threads/x/1"))
    for wanted in ("/threads/x#e1", "/threads/x/0", "/threads/x/2"):
        assert f"/{SECRET}{wanted}" in found


def test_what_is_new_is_marked_and_can_be_gone_to(site: Site, store: Store) -> None:
    mine = store.entry("x", agent="Pat")
    new = [store.entry("x", agent="Codex") for _ in range(50)]
    store.thread("x", mine, *new)
    page = site.get("threads/x")
    assert f'href="/{SECRET}/threads/x?from=1#e1"' in page
    assert "50 entries new, from #1 on" in words(page)
    assert page.count('class="mark new"') == 40
    store.append("x", store.entry("x", agent="Pat"))
    assert "entries new" not in site.get("threads/x")


def test_a_fork_and_damage_are_reported(site: Site, store: Store) -> None:
    first = store.entry("x")
    beside = [store.entry("x", parents=(first.id,)) for _ in range(2)]
    store.thread("x", first, *beside, meta=False)
    with Path(store.layout.log("x")).open("ab") as log:
        log.write(b"\xff\n")
    said = site.said("threads/x")
    assert "Forked. Two clones wrote at the same time" in said
    assert "Damaged." in said
    assert 'class="notice damaged"' in site.get("threads/x")
    assert "wc doctor" in said
    assert said.count("forked") == 2


# --- search ------------------------------------------------------------------


def test_search_finds_what_the_engine_finds(site: Site, store: Store) -> None:
    store.thread("x", store.entry("x", "The <q>auth</q> token", title="About auth"))
    store.thread("y", store.entry("y", "Nothing", title="Else"))
    page = site.get("search?q=auth")
    assert "1 entry found" in words(page)
    assert "About <mark>auth</mark>" in page
    assert "&lt;q&gt;<mark>auth</mark>&lt;/q&gt;" in page
    assert f'href="/{SECRET}/threads/x?from=0#e0"' in page


@pytest.mark.parametrize(
    ("asked", "count"),
    [
        ("q=word", 2),
        ("q=word&ball=Pat", 1),
        ("q=word&status=blocked", 1),
        ("q=word&file=src/a.py", 1),
        ("file=src/a.py", 1),
        ("q=word&branch=fix", 1),
        ("pr=%2312", 1),
        ("commit=0123abc", 1),
        ("q=nowhere", 0),
    ],
)
def test_search_has_the_filters_of_the_server(
    site: Site, store: Store, asked: str, count: int
) -> None:
    one = {"file_refs": ("src/a.py",), "pr_refs": (12,), "commit_refs": ("0123abcd",)}
    given = store.give(
        "x", "Pat", body="word", status="BLOCKED", code_branch="fix", **one
    )
    store.thread("x", given)
    store.thread("y", store.give("y", "Codex", body="word"))
    words_ = "entry" if count == 1 else "entries"
    assert f"{count} {words_} found" in site.said(f"search?{asked}")


def test_a_search_says_how_many_hits_each_filter_would_leave(
    site: Site, store: Store
) -> None:
    given = store.give("x", "Pat", body="word", status="BLOCKED", tags_added=("hot",))
    store.thread("x", given._replace(file_refs=("src/a.py",)))
    store.thread("y", store.give("y", "Codex", body="word"))
    page = site.get("search?q=word")
    counts = words(page[page.index('<nav class="counts"') :].partition("</nav>")[0])
    assert "Status blocked 1 open 1 Ball Codex 1 Pat 1" in counts
    assert "Tag hot 1" in counts
    narrowed = next(one for one in links(page) if "status=BLOCKED" in one)
    blocked = site.ask(narrowed).text
    assert "1 entry found" in words(blocked)
    assert 'aria-current="true"' in blocked
    assert "Tag hot" not in words(blocked)  # all hits have it
    # The link of a chosen value takes it away.
    again = next(one for one in links(blocked) if "q=word" in one and "BL" not in one)
    assert "2 entries found" in words(site.ask(again).text)


def test_what_is_not_asked_for_is_not_looked_for(site: Site) -> None:
    assert "words that begin with it" in site.said("search")


def test_a_search_without_hits_says_what_to_try(site: Site, store: Store) -> None:
    store.thread("x", store.give("x", "Pat", body="word"))
    nothing = site.said("search?q=nowhere")
    assert "0 entries found for nowhere." in nothing
    assert "Try fewer or other words" in nothing
    assert "words that begin with it" in nothing
    page = site.get("search?q=word&author=Gemini")
    assert "Search without filters" in page
    assert any(link.endswith("search?q=word") for link in links(page))


def test_hits_are_shown_as_plain_text_with_marks(site: Site, store: Store) -> None:
    body = (
        "## Plan\n\n- [ ] **rotate** the `token`\n\nSee [notes](https://x.example/a)."
    )
    store.thread("x", store.entry("x", body, title="Else"))
    assert ">Plan · rotate the <mark>token</mark> See notes.</p>" in site.get(
        "search?q=token"
    )
    # Only the address of a link has the word.
    page = site.get("search?q=example")
    assert "[notes](https://x.<mark>example</mark>/a)" in page


def test_hits_have_the_hue_of_their_author(site: Site, store: Store) -> None:
    store.thread("x", store.entry("x", "word", agent="Codex@review (pat)"))
    hit = site.get("search?q=word").partition('<ol class="hits">')[2]
    assert f'class="badge h{badge_of("Codex").hue} agent"' in hit
    assert '<span class="chip seat">@review</span>' in hit


def test_hits_are_grouped_by_thread(site: Site, store: Store) -> None:
    first = store.entry("x", "word", title="About X")
    second = store.entry("x", "word")
    store.thread("y", store.entry("y", "word", title="word"))
    store.thread("x", first, second, store.entry("x", "and a word of x again"))
    page = site.get("search?q=word")
    assert page.count("<h2><a ") == 2
    assert "About X x 3 entries" in words(page)
    best = re.findall(r'id="x-([xy])-\d+"', page)
    assert len(list(groupby(best))) == 2
    # By time, no hit moves.
    page = site.get("search?q=word&sort=newest")
    newest = re.findall(r'id="x-([xy])-\d+"', page)
    assert newest == ["x", "y", "x", "x"]
    assert page.count("<h2><a ") == 3


def test_hits_are_walked_by_pages(site: Site, store: Store) -> None:
    for topic in ("x", "y"):
        store.thread(topic, *(store.entry(topic, "word") for _ in range(20)))
    page = site.get("search?q=word")
    assert "40 entries found in 2 threads" in words(page)
    rest = site.ask(next(one for one in links(page) if "cursor=" in one)).text
    found = re.findall(r'id="x-([xy]-\d+)"', page + rest)
    assert len(found) == len({*found}) == 40


def test_a_bar_beside_a_thread_has_its_scale_and_two_segments(
    env: dict[str, str], store: Store
) -> None:
    store.thread("x", store.give("x", "Pat"), store.give("x", "Codex"))
    store.thread("y", store.give("y", "Pat"), store.entry("y"))
    early = Site(store.root.parent, env, clock=lambda: START_MS + 4 * 60_000)
    page = early.get("threads/x")
    strip = page[page.index('class="strip"') :].partition("</div>")[0]
    assert strip.count("<rect") == 2
    hues = [badge_of(name).hue for name in ("Pat", "Codex")]
    assert re.findall(r'class="h(\d+)"', strip) == [*map(str, hues)]
    assert strip.endswith("<span>2026-01-01 00:01 UTC</span><span>now</span></p>")
    assert 'class="strip"' not in early.get("threads/y")
    # The first of the two would be a minute of a month.
    late = Site(store.root.parent, env)
    assert 'class="strip"' not in late.get("threads/x")


def test_the_colours_are_those_of_the_picture() -> None:
    style = webapp.load_assets()["style.css"].data.decode()
    for place, hue in enumerate(HUES):
        assert f".h{place} {{ --hue: {hue.rgb}; }}" in style


# --- what is in the way ------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "status", "said"),
    [
        ("threads/nope", 404, 'There is no thread "nope"'),
        ("threads/../x", 404, "There is no such page"),
        ("threads/%2e%2e", 404, "There is no"),
        ("threads/x/99", 404, "has no entry"),
        ("threads/x/-1", 400, "not the number of an entry"),
        ("threads/x?from=y", 400, "not the number of an entry"),
        ("threads/x/0?offset=9999", 400, "beyond its end"),
        ("threads?status=odd", 400, "not a status"),
        ("threads?cursor=odd", 400, "not a cursor"),
        ("threads?file=%2F%2F", 400, "is not a file"),
        ("search?q=x&status=odd", 400, "not a status"),
        ("search?q=x&pr=odd", 400, "not a pull request"),
        ("search?q=x&cursor=odd", 400, "not a cursor"),
        ("search?q=..", 400, "nothing to search for"),
        ("search?q=x&file=.", 400, "is not a file"),
        ("nowhere/at/all", 404, "There is no such page"),
    ],
)
def test_what_cannot_be_shown_is_reported(
    site: Site, store: Store, path: str, status: int, said: str
) -> None:
    store.thread("x")
    page = site.get(path, status)
    assert said in words(page)
    assert 'role="alert"' in page


def test_near_names_are_offered(site: Site, store: Store) -> None:
    store.thread("feature-auth")
    page = site.get("threads/feature-aut", 404)
    assert "Did you mean feature-auth?" in words(page)
    assert f"/{SECRET}/threads/feature-auth" in links(page)


def _gone(store: Store) -> None:
    os.rename(store.root, store.root.with_name("elsewhere"))


def _linked(store: Store) -> None:
    threads = Path(store.layout.threads)
    os.rename(threads, threads.with_name("elsewhere"))
    threads.symlink_to(threads.with_name("elsewhere"))


@pytest.mark.parametrize(
    ("harm", "code", "hint"),
    [(_gone, "wc new", "There are none yet"), (_linked, "CORRUPT", "")],
)
@pytest.mark.parametrize("path", ["", "threads", "threads/x", "search?q=x"])
def test_a_store_that_cannot_be_read_says_why_and_what_to_do(
    site: Site,
    store: Store,
    path: str,
    harm: Callable[[Store], None],
    code: str,
    hint: str,
) -> None:
    store.thread("x")
    site.get(path)
    harm(store)
    found = site.ask(f"/{SECRET}/{path}")
    assert found.status_code in {404, 503}
    said = words(found.text)
    assert code in said
    assert hint in said


def test_a_thread_that_cannot_be_read_hides_no_other(site: Site, store: Store) -> None:
    store.thread("good")
    Path(store.layout.folder("bad")).mkdir()
    Path(store.layout.log("bad")).mkdir()
    page = site.get()
    assert {"t-good", "t-bad"} <= {said.get("id") for _, said in elements(page)}
    assert "damaged" in words(page)
    assert site.ask(f"/{SECRET}/threads/bad").status_code == 503


def test_search_names_what_it_could_not_read(site: Site, store: Store) -> None:
    store.thread("good", store.entry("good", "word"))
    store.thread("bad", store.entry("bad", "word"))
    log = Path(store.layout.log("bad"))
    log.unlink()
    log.mkdir()
    said = site.said("search?q=word")
    assert "1 entry found" in said
    assert "Could not be read, see wc doctor: bad" in said


def test_a_bug_is_reported_in_a_word_and_logged_in_full(
    env: dict[str, str], store: Store, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*_: object) -> WebPage:
        raise RuntimeError("secret")

    start = ServerContext(str(store.root.parent), env, lambda: NOW_MS)
    opener = StoreOpener(start, Links("/x", "/files/y"))
    app = Starlette(routes=[Route("/", webapp.Pages(opener).page(broken))])
    found = ask(app, "/")
    assert found.status_code == 500
    assert "This page could not be made (RuntimeError)." in words(found.text)
    assert "Code INTERNAL" in words(found.text)
    assert "secret" not in found.text
    assert "secret" in caplog.text


def test_a_foreign_topic_has_a_page_of_its_own(site: Site, store: Store) -> None:
    Path(store.layout.pages, "a b.md").write_text("Status: OPEN\nBall: Codex\n")
    (link,) = (one for one in links(site.get("threads")) if "/threads/a" in one)
    assert site.ask(link).status_code == 200


def test_the_reader_sees_who_they_are(env: dict[str, str], store: Store) -> None:
    assert "you are Pat" in Site(store.root.parent, env).said()
    told = env | {"WATERCOOLER_AGENT": "Codex"}
    assert "you are Codex (Pat)" in Site(store.root.parent, told).said()


def test_a_name_that_cannot_be_one_is_refused(
    env: dict[str, str], store: Store
) -> None:
    site = Site(store.root.parent, env | {"WATERCOOLER_AGENT": "nobody"})
    assert "cannot be a participant's name" in site.said("", 400)
