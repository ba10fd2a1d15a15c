"""Threads as markdown: nothing lost on the way there and back, old files as
they are, damage named."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from tests import amounts
from wc_core.base import ulid
from wc_core.ledger.threads import (
    entryfields,
    folding,
    jsontext,
    revisions,
)
from wc_core.ledger.threads.model import Ball, Base, Entry, State
from wc_core.ledger.threads.pages import page as pages
from wc_core.ledger.threads.pages import pagelines
from wc_core.ledger.threads.pages.page import PROJECTION_VERSION, parse, render

if TYPE_CHECKING:
    from wc_core.ledger.threads.pages import page as markdown

SHARED = Path(__file__).parents[3].parent / "shared" / "data"
# Large values on a busy machine are not failures.
relaxed = settings(
    max_examples=amounts.examples(60),
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
ID = "01K6Y12JRGB165MR2QJP0HNEXC"
LATER = "01K6Y12JRGB165MR2QJP0HNEXD"
AT = "2025-10-07T00:27:54Z"


def entry(body: str = "text", **fields: Any) -> Entry:
    fields = {"id": ID, "agent": "Codex (pat)", "at": AT, "title": "T"} | fields
    return Entry(topic="fix-login", body=body, **fields)


def page(*entries: Entry) -> bytes:
    return render(folding.fold("fix-login", entries), entries)


def there_and_back(*entries: Entry) -> markdown.ParsedPage:
    found = parse("fix-login", page(*entries))
    assert found.entries == entries
    assert found.damage == ()
    assert found.version in range(1, PROJECTION_VERSION + 1)
    return found


# What entries there may be: everything a log can hold, and bodies made of
# the very things this format is made of.

FRAGMENTS = (
    "---", "---\n", "\n", "\n\n", "\r", "\r\n", " ", "\t", "\\", "\\\\", "\x00",
    "\x1b[31m", "\u2028", "\u2029", "\x85", "\x0b", "\ufeff", "\ud800", "é", "🎾",
    "Entry: ", "Entry: Codex 2025-10-07T00:27:54Z", "---\nEntry: a b\n",
    "\n---\nEntry: Boss 2025-10-07T00:27:54Z\nRole: pm\nType: Note\nTitle: x\n\n",
    "\n---\r\nEntry: a", "\n--- \n Entry:", "\\---\nEntry: ",
    "<!-- Entry-ID: ", f"\n<!-- Entry-ID: {ID} -->\n", f"\\<!-- Entry-ID: {ID} -->",
    "<!--", "-->", "--", "--!>", "\n<!-- wc {} -->", "\n<!-- wc closed {} -->\n",
    '\n<!-- wc {"body":"forged","entry_id":"x"} -->', "\\<!-- wc ", "<!--wc",
    "Role: ", "Type: Note", "Title: x", "Summary: y\n", "\nFiles: a, b\n", "PRs: #1\n",
    "Commits: abc1234", "Kind: note\n", "Asks: x", ", ",
    "Status: CLOSED\n", "Ball: anyone\n",
    "```", "\n```\n", "\n```py\n", "\n~~~\n", "\n````\n", "\n  ```\n", "# h — Thread\n",
)  # fmt: skip
# JSON cannot tell two lone surrogates that form a pair from the character.
anything = st.text(st.characters(exclude_categories=()), max_size=30)
hostile = st.lists(st.sampled_from(FRAGMENTS) | anything, max_size=12).map(
    lambda parts: str(json.loads(json.dumps("".join(parts))))
)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | hostile,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(hostile, inner),
    max_leaves=4,
)
REFERENCE = entryfields.to_fields(
    entry(
        action="say", ball=Ball("x"), status="OPEN", parents=("p",), base=Base(),
        code_commit="c", key="k", reason="r", kind="note", severity="low", asks="x",
        answers="y",
    )
)  # fmt: skip
DERIVED = {"id", "type", "index", "thread_topic"}
well_shaped: dict[str, st.SearchStrategy[Any]] = dict.fromkeys(REFERENCE, hostile) | {
    "timestamp": hostile | st.datetimes().map(lambda t: t.isoformat() + "Z"),
    "ball": st.none() | hostile,
    # An empty status is no status to the codec.
    "status": hostile.filter(bool),
    "parents": st.lists(hostile, max_size=3),
    "base": st.fixed_dictionaries(
        {"title": hostile, "status": hostile, "summary": hostile}
        | {"ball": st.none() | hostile}
    ),
    "file_refs": st.lists(hostile, max_size=2),
    "commit_refs": st.lists(hostile, max_size=2),
    "pr_refs": st.lists(st.integers(), max_size=2),
}
del well_shaped["entry_id"]
unknown = st.dictionaries(
    hostile.filter(lambda k: k not in DERIVED | {"entry_id"}), values, max_size=3
)
misshapen = st.dictionaries(
    st.sampled_from(sorted(well_shaped)), values.filter(lambda v: v != ""), max_size=2
)


@st.composite
def entries(draw: st.DrawFn) -> tuple[Entry, ...]:
    ids = st.integers(0, 2**128 - 1).map(ulid.encode) | hostile.filter(bool)
    found = []
    for one in draw(st.lists(ids, max_size=4, unique=True)):
        fields = draw(st.fixed_dictionaries({}, optional=well_shaped))
        fields |= draw(unknown) | draw(misshapen) | {"entry_id": one}
        made = entryfields.from_fields("fix-login", fields)
        assert made is not None
        found.append(made)
    return tuple(found)


# Drawing so much takes longer than reading it; `tests/contract/fuzzer` does many.
few = settings(relaxed, max_examples=30)


@few
@given(entries(), st.data())
def test_corrected_entries_come_back_as_written(
    wanted: tuple[Entry, ...], data: st.DataObject
) -> None:
    originals = [one for one in wanted if revisions.has_text(one) and one.agent]
    corrections = [
        data.draw(st.sampled_from(originals))._replace(
            id=f"7ZZZZZZZZZZZZZZZZZZZZZZZZ{number}",
            title=data.draw(hostile),
            body=data.draw(hostile),
            action=data.draw(st.sampled_from(("amend", "retract"))),
            supersedes=data.draw(st.sampled_from(originals)).id,
            extra={},
        )
        for number in range(3 if originals else 0)
    ]
    assert there_and_back(*wanted, *corrections).entries[: len(wanted)] == wanted


class TestThereAndBack:
    @few
    @given(entries())
    def test_any_entries(self, wanted: tuple[Entry, ...]) -> None:
        data = page(*wanted)
        found = parse("fix-login", data)
        assert found.entries == wanted
        assert found.damage == ()
        # As git checks them out on Windows.
        assert parse("fix-login", data.replace(b"\n", b"\r\n")) == found

    @relaxed
    @given(st.lists(hostile, min_size=1, max_size=3))
    @example(["\\" * 9 + "---\nEntry: x"])
    @example(["```", "```\nb\n```"])
    @example(["- a\n  ```\n  b"])
    def test_any_bodies(self, bodies: list[str]) -> None:
        there_and_back(
            *(entry(body, id=ulid.encode(at)) for at, body in enumerate(bodies))
        )

    @relaxed
    @given(hostile)
    def test_any_body_reads_the_same_to_a_tool_that_does_not_unescape(
        self, body: str
    ) -> None:
        # As many entries, with their own ids: none forged.
        data = page(entry(body), entry(body, id=LATER))
        text = data.decode()
        assert len(re.findall(r"^---\s*\n\s*Entry: ", text, re.MULTILINE)) == 2
        found = re.findall(r"^\s*<!-- Entry-ID: (.*) -->\s*$", text, re.MULTILINE)
        assert found == [ID, LATER]
        assert len(text.splitlines()) == len(re.split(r"\r?\n", text)) - 1

    @relaxed
    @given(hostile, hostile, hostile | st.none(), hostile, hostile)
    def test_any_header(
        self, title: str, status: str, ball: str | None, summary: str, at: str
    ) -> None:
        state = State("fix-login", title, status, ball, summary=summary, created_at=at)
        found = parse("fix-login", render(state, ()))
        assert found == (
            (), (), Base(title, status, ball, summary), 1,
        )  # fmt: skip

    @pytest.mark.parametrize(
        "body",
        [
            "", "\n", "\n\ntext\n\n", " ", "---", "---\n", "\r\n", "a\r\nb", "a\rb",
            "nul \x00", "\x1b[2J", "a\u2028b", "\ud800", "```", "~~~\n```\n~~~",
            "---\nEntry: Boss 2025-10-07T00:27:54Z\n\nx\n\n<!-- Entry-ID: x -->",
            f"\\<!-- Entry-ID: {ID} -->", "x\n<!-- wc {} -->\n", "-->", "x" * 2**20,
            "\\" * 2**16 + "---\nEntry: x", "```\n" * 9999, "---\nEntry: x\n" * 9999,
        ],
        ids=lambda body: repr(body[:20]),
    )  # fmt: skip
    def test_body(self, body: str) -> None:
        there_and_back(entry(body), entry(body, id=LATER))


def test_the_visible_file() -> None:
    first = entry("First.\n\n---\n\nMore.", action="new", ball=Ball(None), parents=())
    second = entry(
        "---\nEntry: forged\n```\nopen",
        id=LATER, role="critic", title="bell \x07", parents=(ID,),
    )  # fmt: skip
    assert (
        page(first, second).decode()
        == f"""\
# fix-login — Thread
Status: OPEN
Ball: anyone
Topic: fix-login
Created: {AT}
<!-- wc {{"version":1,"title":"T"}} -->

---
Entry: Codex (pat) {AT}
Type: Note
Title: T

First.

---

More.

<!-- Entry-ID: {ID} -->
<!-- wc {{"action":"new","ball":null,"parents":[]}} -->

---
Entry: Codex (pat) {AT}
Role: critic
Type: Note
Title: bell ␇

\\---
Entry: forged
```
open
```

<!-- Entry-ID: {LATER} -->
<!-- wc closed {{"title":"bell \\u0007","parents":["{ID}"]}} -->
"""
    )


def test_what_an_entry_is_about_is_visible() -> None:
    about = entry(
        "Files: not a header",
        role="tester",
        summary="It is fast.",
        file_refs=("src/a.py", "b c.py"),
        pr_refs=(12, 7),
        commit_refs=("deadbeef",),
        code_branch="main",
    )
    text = page(about, entry("", id=LATER)).decode()
    assert (
        f"""
---
Entry: Codex (pat) {AT}
Role: tester
Type: Note
Title: T
Summary: It is fast.
Files: src/a.py, b c.py
PRs: #12, #7
Commits: deadbeef

Files: not a header

<!-- Entry-ID: {ID} -->
<!-- wc {{"code_branch":"main"}} -->
"""
        in text
    )
    assert '<!-- wc {"version":2,"title":"T"} -->' in text
    there_and_back(about, entry("", id=LATER))


def test_the_kind_of_an_entry_is_visible() -> None:
    question = entry(kind="question", severity="low", asks="Alex", body="Kind: x")
    text = page(question, entry("", id=LATER, answers=ID)).decode()
    assert "\nTitle: T\nKind: question\nSeverity: low\nAsks: Alex\n\nKind: x\n" in text
    assert f"\nAnswers: {ID}\n" in text
    assert '<!-- wc {"version":3,"title":"T"} -->' in text
    there_and_back(question, entry("", id=LATER, answers=ID))


def test_a_page_of_version_1_keeps_what_it_is_about_in_a_comment() -> None:
    """As they were rendered until there were lines for it. A body may begin with such
    a line, without a blank one before it."""
    text = f"""\
# fix-login — Thread
Status: OPEN
Ball: anyone
Topic: fix-login
Created: {AT}
<!-- wc {{"version":1,"title":"T"}} -->

---
Entry: Codex (pat) {AT}
Type: Note
Title: T

Files: x

<!-- Entry-ID: {ID} -->
<!-- wc {{"summary":"s","file_refs":["a.py"],"pr_refs":[3]}} -->
"""
    found = parse("fix-login", text.encode())
    about = entry("Files: x", summary="s", file_refs=("a.py",), pr_refs=(3,))
    assert (found.entries, found.damage, found.version) == ((about,), (), 1)
    joined = text.replace("Title: T\n\nFiles", "Title: T\nFiles")
    assert parse("fix-login", joined.encode()).entries == (about,)


def test_nothing_is_carried_where_the_visible_part_says_it_all() -> None:
    state = State("fix-login", "fix login", ball="Codex", created_at=AT)
    text = render(state, [entry()]).decode()
    assert re.findall(r"<!-- wc .*", text) == ['<!-- wc {"version":1} -->']
    assert parse("fix-login", text.encode()).base == Base("fix login", ball="Codex")


# Files of older tools

HEADER = """\
# fix-login — Thread
Status: open
Ball: codex
Topic: fix-login
Created: 2025-10-07T00:27:54Z
"""


def old(*entries: str, header: str = HEADER) -> bytes:
    return "\n".join([header, *(f"---\nEntry: {one}\n" for one in entries)]).encode()


def bodies(data: bytes) -> list[str]:
    found = parse("fix-login", data)
    assert found.damage == ()
    assert found.version == 0
    return [one.body for one in found.entries]


def test_old_thread() -> None:
    data = old(
        f"Codex (agent) {AT}\nType: Plan\nTitle: One: two\n\nText.\n\n- list\n",
        f"Team (agent) {AT}\nType: Note\nTitle: Ack\n\nack\n",
    )
    found = parse("fix-login", data)
    assert found.base == Base("fix login", "OPEN", "codex")
    assert found.damage == ()
    assert [one._replace(id="") for one in found.entries] == [
        entry("Text.\n\n- list", id="", agent="Codex (agent)", type="Plan",
              title="One: two"),
        entry("ack", id="", agent="Team (agent)", title="Ack"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("above\n\n---\n\nbelow", "a rule is not an entry"),
        ("---", "nor is one at the end"),
        ("```yaml\n---\na: b\n---\n```", "front matter"),
        (f"```\n---\nEntry: Boss {AT}\n\nquoted\n```\nmore", "a quoted entry"),
        (f"~~~md\n---\nEntry: Boss {AT}\n```\nx\n```\n~~~", "with a block in it"),
        (f"```\n<!-- Entry-ID: {ID} -->\n```\nmore", "a quoted id"),
        ("<!-- Entry-ID: … -->\nis how they end", "an id that is none"),
        ("\\---\nEntry-ish: \\<!-- Entry-ID: x", "escapes of ours are text here"),
        ("  indented", "indentation is text"),
        ("Role: not a header", "after the blank line nothing is a header"),
    ],
)
def test_old_body(body: str, why: str) -> None:
    data = old(f"Codex {AT}\nTitle: T\n\n{body}\n", f"Team {AT}\n\nnext\n")
    assert bodies(data) == [body, "next"], why


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("```\nnever closed", "next"),
        ("```py\nnever closed", "```py\nx\n```"),
        ("```\nnever closed", "```\nx\n```"),
        (f"```\nnever closed\n\n<!-- Entry-ID: {ID} -->", "```\nnor this"),
    ],
)
def test_old_open_code_block_swallows_no_entry(first: str, second: str) -> None:
    data = old(f"A {AT}\n\n{first}\n", f"B {AT}\n\n{second}\n", f"C {AT}\n\nend\n")
    found = parse("fix-login", data).entries
    assert [one.agent for one in found] == ["A", "B", "C"]
    assert found[1].body == second


@pytest.mark.parametrize(
    ("first", "agent", "at"),
    [
        ("Codex (agent) 2025-10-07T00:27:54Z", "Codex (agent)", AT),
        ("Codex 2025-10-07T02:27:54.123456+02:00", "Codex",
         "2025-10-07T02:27:54.123456+02:00"),
        ("Codex 2025-10-07 00:27:54", "Codex", "2025-10-07 00:27:54"),
        ("Codex 2025-10-07", "Codex", "2025-10-07"),
        ("Codex (agent)", "Codex (agent)", ""),
    ],
)  # fmt: skip
def test_old_entry_line(first: str, agent: str, at: str) -> None:
    found = parse("fix-login", old(f"{first}\n\nx\n")).entries[0]
    assert (found.agent, found.at, found.body) == (agent, at, "x")


@pytest.mark.parametrize(
    ("lines", "wanted"),
    [
        ("# fix-login — Thread", Base("fix login")),
        ("# Fix the login - Thread", Base("Fix the login")),
        ("# fix_login", Base("fix login")),
        ("", Base("fix login")),
        ("Title: The login", Base("The login")),
        ("Status: in-review\nBall: Nobody", Base("fix login", "IN_REVIEW")),
        ("Status:\nBall:", Base("fix login")),
        ("Status: CLOSED\r\nBall: Codex (pat)\r", Base("fix login", "CLOSED",
                                                       "Codex (pat)")),
    ],
)  # fmt: skip
def test_old_header(lines: str, wanted: Base) -> None:
    found = parse("fix-login", old(f"A {AT}\n\nx\n", header=f"{lines}\n"))
    assert found[1:] == ((), wanted, 0)


def test_old_entry_without_blank_line_or_body() -> None:
    data = old(f"A {AT}\nno headers", f"B {AT}\nTitle: a\nTitle: b", f"C {AT}")
    assert bodies(data) == ["no headers", "Title: b", ""]


def test_crlf_and_byte_order_mark() -> None:
    data = old(f"A {AT}\nTitle: T\n\na\n\nb\n", f"B {AT}\n\nx\n")
    windows = b"\xef\xbb\xbf" + data.replace(b"\n", b"\r\n")
    assert parse("fix-login", windows) == parse("fix-login", data)


class TestDerivedIds:
    def test_never_change(self) -> None:
        # Pinned: another id would import the same thread a second time.
        data = old(f"Codex (agent) {AT}\nType: Note\nTitle: Test\n\nnote\n")
        assert [one.id for one in parse("t", data).entries] == [
            "01K6Y12JRGB165MR2QJP0HNEXC",
        ]

    @relaxed
    @given(st.lists(st.sampled_from([AT, "2025-10-06T00:00:00Z", "2029-01-01", "?"])))
    def test_grow_whatever_the_clocks_said(self, times: list[str]) -> None:
        data = old(*(f"A {time}\nTitle: T\n\nsame\n" for time in times))
        found = [one.id for one in parse("fix-login", data).entries]
        assert found == sorted(set(found))
        assert all(ulid.prefix(one) == one for one in found)
        assert found == [one.id for one in parse("fix-login", data).entries]

    def test_take_their_time_from_the_timestamp(self) -> None:
        found = parse("fix-login", old(f"A {AT}\n\nx\n")).entries[0]
        assert ulid.timestamp_ms(found.id) == 1759796874000

    def test_stay_when_the_thread_grows(self) -> None:
        short = [f"A {AT}\n\nx\n", f"B {AT}\n\ny\n"]
        longer = [*short, f"C {AT}\n\nz\n"]
        first = parse("fix-login", old(*short)).entries
        assert parse("fix-login", old(*longer)).entries[:2] == first

    def test_follow_ids_that_are_there(self) -> None:
        data = old(
            f"A {AT}\n\nx\n\n<!-- Entry-ID: 7ZZZZZZZZZ0000000000000000 -->\n",
            f"B {AT}\n\ny\n",
        )
        found = [one.id for one in parse("fix-login", data).entries]
        assert found == sorted(set(found))


# Damage


def damage(data: bytes) -> list[tuple[str, str, bool]]:
    """The damaged lines (none for the file as a whole), what is wrong with
    them and whether something is lost."""
    found = parse("fix-login", data, "threads/fix-login.md").damage
    assert {one.file for one in found} <= {"threads/fix-login.md"}
    lines = ["", *data.decode(errors="replace").split("\n")]
    return [(lines[one.line], one.kind, one.lost) for one in found]


ID_LINE = f"<!-- Entry-ID: {ID} -->"
GOOD = page(entry(), entry(id=LATER))
KEYED = page(entry(key="k"))


@pytest.mark.parametrize(
    ("data", "found", "count"),
    [
        (b"", [("", "shape", False)], 0),
        (b" \n", [("", "shape", False)], 0),
        (b"# Notes\n\nfree\ntext\n\nmore\n",
         [("free", "shape", True), ("more", "shape", True)], 0),
        (old(f"A {AT}\n\nx\n", header=f"{HEADER}Status: CLOSED\nMood: fine\n"),
         [("Status: CLOSED", "shape", True)], 1),
        (old(f"A {AT}\n\nx\n\n{ID_LINE}\njunk\n\n"), [("junk", "shape", True)], 1),
        (old(f"A {AT}\n\nx\n\n{ID_LINE}\n", f"B {AT}\n\ncut"),
         [(f"Entry: B {AT}", "torn", False)], 2),
        (GOOD.replace(b" -->\n\n---", b" -->\nafter header\n\n---", 1),
         [("after header", "shape", True)], 2),
        (GOOD + b"junk\nmore junk\n", [("junk", "shape", True)], 2),
        (GOOD[:-10], [(f"Entry: Codex (pat) {AT}", "torn", False)], 2),
        (GOOD.replace(b'{"version":1,', b"{"), [], 2),
        (GOOD.replace(b'{"version":1,', b"{{"),
         [('<!-- wc {{"title":"T"} -->', "shape", True)], 2),
        (GOOD.replace(b'{"version":1,', b'{"version":5,'), [("", "newer", False)], 2),
        (KEYED.replace(b'{"key":"k"}', b'{"key'),
         [('<!-- wc {"key -->', "shape", True)], 1),
        (KEYED.replace(b'{"key":"k"} -->\n', b'{"k'),
         [('<!-- wc {"k', "shape", True)], 1),
        (KEYED.replace(b'"k"}', b"[" * 99999 + b"}"),
         [('<!-- wc {"key":' + "[" * 99999 + "} -->", "shape", True)], 1),
        (page(entry(), entry()), [], 1),
        (page(entry(), entry("other")),
         [(f"Entry: Codex (pat) {AT}", "differs", False)], 2),
        (page(entry("caf\u00e9"), entry(id=LATER)).replace("é".encode(), b"\xe9"),
         [("caf\ufffd", "garbage", True)], 2),
    ],
)  # fmt: skip
def test_damage(data: bytes, found: list[tuple[str, str, bool]], count: int) -> None:
    assert damage(data) == found
    assert len(parse("fix-login", data).entries) == count


def test_an_id_that_is_nothing_is_derived() -> None:
    data = page(entry()).replace(ID.encode() + b" -->", b"  -->")
    assert ulid.prefix(parse("t", data).entries[0].id)
    data = page(entry(key="k")).replace(b'{"key', b'{"entry_id":5,"key')
    assert ulid.prefix(parse("t", data).entries[0].id)


@relaxed
@given(st.binary() | hostile.map(lambda text: text.encode(errors="replace")))
def test_any_bytes_are_read(data: bytes) -> None:
    parse("fix-login", data)
    parse("fix-login", old() + data)
    parse("fix-login", GOOD + data)


@relaxed
@given(st.integers(0, len(GOOD)))
def test_a_cut_anywhere_is_reported_and_leaves_the_entries_before(size: int) -> None:
    found = parse("fix-login", GOOD[:size])
    ids = re.findall(rb"Entry-ID: (\w+) -->", GOOD[:size])
    assert [one.id for one in found.entries][: len(ids)] == [i.decode() for i in ids]
    complete = GOOD[:size].endswith((b"-->", b"-->\n", b"-->\n\n"))
    assert complete or found.damage or not ids


# Real threads


def real(pattern: str) -> list[Path]:
    if not SHARED.is_dir():
        pytest.skip(f"NOT TESTED on real threads: there is no {SHARED}")
    return sorted(SHARED.glob(pattern))


@given(
    st.one_of(
        st.text(),
        st.from_regex(
            r"[A-Z a-z@()]{0,6} \d{4}-\d\d-\d\d[T ]\d\d:\S{0,6}[ \t]?\S{0,2}"
        ),
    )
)
@example("Codex 2026-01-31T12:00:00Z")
@example("2026-01-31T12:00:00Z")
@example(" 2026-01-31T12:00:00Z")
@example("Codex 2026-01-31 12:00")
@example("Codex 2026-01-31")
@example("Codex 2026-W05-1T12:00:00Z")
@example("Codex 2026-01-31 2026-01-31T12:")
@example("Codex 2026-01-31T12:00\t1")
@example("Codex 2026-01-31T1:00")
def test_the_time_of_a_line_is_what_the_pattern_finds(byline: str) -> None:
    byline = byline.replace("\n", "")
    fields, _ = pagelines.read_entry_header([byline], 0)
    match = pagelines.TIME.search(byline)
    assert fields["timestamp"] == (match[1] if match else "")
    agent = byline[: match.start()] if match else byline
    assert fields["agent"] == agent.strip()


HEADER_LINES = (
    *("Role: a", "Role:", "Role:a", "Kind: b", "Type:  c ", "Rolex: d", "Title", ""),
    *("Files: a, b", "Title: e:f", " Role: a", "Summary:\tg", "Outcome: h"),
)


@given(
    st.lists(st.sampled_from(HEADER_LINES), max_size=6),
    st.sampled_from([0, 1, 2, 3, 4, 5]),
)
def test_a_header_is_read_until_a_line_without_a_label(
    lines: list[str], version: int
) -> None:
    labels = "Role|Type|Title"
    labels += "|Summary|Files|PRs|Commits" if version >= 2 else ""
    labels += "|Kind|Severity|Asks|Answers" if version >= 3 else ""
    labels += "|Outcome" if version >= 4 else ""
    found: dict[str, str] = {}
    for line in lines:
        match = re.fullmatch(rf"({labels}):(?: (.*))?", line)
        if not match or match[1] in found:
            break
        found[match[1]] = (match[2] or "").strip()
    fields, count = pagelines.read_entry_header(["Entry: Codex", *lines], version)
    assert count == 1 + len(found)
    assert fields["role"] == found.get("Role", "")
    assert fields["title"] == found.get("Title", "")


@given(st.text(st.sampled_from("a-\\ \n\t\r\x00\x1b\x7f\x85\u2028\ud800E<`~")))
@example("---\nEntry: Codex")
@example("<!-- wc {} -->")
@example("<!--Entry-ID: x")
@example("```\n")
@example("\r")
@example("--")
def test_texts_that_need_no_pattern_are_as_the_patterns_leave_them(text: str) -> None:
    assert pages._visible_line(text) == pages._CONTROL_IN_LINE.sub(
        pages._control_picture, text
    )
    assert pages._visible_text(text) == pages._CONTROL.sub(pages._control_picture, text)
    assert pages._escaped(text) == pagelines.TO_ESCAPE.sub(r"\\", text)
    comment = pages._comment({"a": text})
    expected = pages._UNSAFE_IN_JSON.sub(
        lambda m: f"\\u{ord(m[0]):04x}", jsontext.dumps({"a": text})
    )
    assert comment == f"{pagelines.COMMENT}{expected} -->"


@given(
    st.one_of(
        st.text(),
        st.from_regex(r"#? ?.{0,3}( [—\u2013-] Thread){0,2}\s?"),
        st.from_regex(r" ?(Status|Ball|Topic|Created|Title|Type) ?: ?.{0,3}"),
    )
)
@example("# a — Thread — Thread")
@example("#  — Thread")
@example("# ")
@example("#a")
@example("Ball:")
@example("Ball:a")
@example("Title: a: b")
def test_a_line_above_the_entries_is_taken_apart_as_by_patterns(line: str) -> None:
    line = line.replace("\n", "").replace(pagelines.COMMENT, "")
    heading = re.fullmatch(r"# (.*?)(?: [—\u2013-] Thread)?", line.rstrip())
    header = re.fullmatch(r"(Status|Ball|Topic|Created|Title):(?: (.*))?", line)
    expected = ("", "")
    if heading:
        expected = ("#", heading[1])
    elif header:
        expected = (header[1], header[2] or "")
    assert pages._split_header_line(line) == expected
