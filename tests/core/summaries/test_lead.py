"""The first sentences of a text in markdown that say something."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wc_core.base.text import one_line
from wc_core.ledger.summaries import lead as leads
from wc_core.ledger.summaries.lead import lead
from wc_core.ledger.summaries.plaintext import plain_text


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("", ""),
        ("We back off.", "We back off."),
        # One sentence that says enough, or two short ones.
        (
            "We back off exponentially, e.g. 1 s, 2 s, and give up after five. More.",
            "We back off exponentially, e.g. 1 s, 2 s, and give up after five.",
        ),
        ("It fails on v1.2. It works.", "It fails on v1.2. It works."),
        ("# Retries\n\nHi Codex,\n\nThe lock is gone.", "The lock is gone."),
        ("Retries\n=======\nThe lock is gone.", "The lock is gone."),
        ("# What we do about it\n```\nx\n```", "What we do about it"),
        ("Thanks!\n\n> What is the limit?\n\nIt is five now.", "It is five now."),
        ("> What is the limit?", "What is the limit?"),
        ("```py\nraise Error\n```\nIt is five now.", "It is five now."),
        ("~~~~\n~~~\nIt is not text.\n~~~~\nIt is five now.", "It is five now."),
        ("```\nIt never ends.", ""),
        ("    import os\n\n    os._exit(0)\n\nIt ends at once.", "It ends at once."),
        ("\timport os\n\nIt ends at once.", "It ends at once."),
        ("- one thing is done\n  in two lines", "one thing is done in two lines"),
        (
            "I did three things:\n\n1. the first lock\n2. the other log\n",
            "I did three things: the first lock; the other log",
        ),
        (
            "- [x] the tests pass\n- [ ] and nothing else",
            "the tests pass; and nothing else",
        ),
        ("| a | b |\n|---|---|\n| 1 | 2 |\n\nIt is five now.", "It is five now."),
        ("***\n<!-- not\nthis -->It is five now.", "It is five now."),
        ("我们使用指数退避。第二句话的话。", "我们使用指数退避。第二句话的话。"),
        ("Done.", "Done."),
        ("Passwords go. Please do it.", "Passwords go. Please do it."),
        ("One.  Two\nthree four.", "Two three four."),
        (
            "See [the notes](http://a.b/(c)) of A. Turing.",
            "See the notes of A. Turing.",
        ),
        (
            "Is it *so*? (Yes, it __is__.) Now\nwe **wait**.",
            "Is it so? (Yes, it is.) Now we wait.",
        ),
        ("Press \x1b[31mred\x1b[0m to stop\u202e it.", "Press red to stop it."),
    ],
)
def test_leads(body: str, expected: str) -> None:
    assert lead(body) == expected


def test_what_repeats_the_title_says_nothing() -> None:
    body = "Retries: we back off.\n\nThe limit is five."
    assert lead(body, "Retries: we back off") == "The limit is five."
    assert lead("The same words", "The same words.") == ""


@pytest.mark.parametrize(
    ("markdown", "plain"),
    [
        ("a `b_c` d", "a b_c d"),
        ("``a ` b``", "a  b"),
        ("`open", "open"),
        ("snake_case and 2 * 3 and ~5", "snake_case and 2 * 3 and ~5"),
        ("__init__ ***both*** ~~gone~~", "init both gone"),
        (r"\*not\* C:\temp", r"*not* C:\temp"),
        ("![alt](a.png) [a [b]](c) [d][e] [f] !", "alt a [b] d [f] !"),
        (
            "<b>x</b> List<int> <https://a.b> 1 < 2<!-- -->",
            " x  List<int> https://a.b 1 < 2",
        ),
        ("[open", "[open"),
        ("[x] done", " done"),
    ],
)
def test_plain_text(markdown: str, plain: str) -> None:
    assert plain_text(markdown) == plain


WORDS = {"lock", "retry", "we", "limit", "fünf", "app.py", "snake_case"}
plain = st.lists(st.sampled_from(sorted(WORDS)), min_size=3, max_size=30).map(" ".join)
marked = st.one_of(
    plain,
    plain.map("**{}**".format),
    plain.map("_{}_".format),
    plain.map("~~{}~~".format),
    plain.map("`{}`".format),
    plain.map("[{}](https://example.org/a_b)".format),
    plain.map("![{}][1]".format),
    plain.map("<em>{}</em>".format),
)
blocks = st.one_of(
    marked,
    marked.map("- {}".format),
    marked.map("12. {}".format),
    marked.map("> {}".format),
    marked.map("### {} ###".format),
    plain.map("```sh\nrm -r {}\n```".format),
    # Below a list item, fewer blanks would be a paragraph of it.
    plain.map("          rm -r {}".format),
    plain.map("| {} | rm -r |\n|---|---|".format),
    plain.map("<!-- rm -r {} -->".format),
    st.just("---"),
)


@given(st.lists(blocks, max_size=8).map("\n\n".join))
def test_no_mark_of_markdown_is_left_and_no_code(body: str) -> None:
    text = lead(body)
    assert len(text) <= leads.WIDTH
    assert set(text.removesuffix("…").replace(";", "").split()) <= WORDS


@given(st.text(), st.text(max_size=20), st.integers(20, 300))
def test_any_text_has_a_short_lead_on_one_line(
    body: str, title: str, width: int
) -> None:
    text = lead(body, title, width)
    assert len(text) <= width
    assert text == one_line(text)
    assert lead(body, title, width) == text


@pytest.mark.parametrize(
    "piece", ["[", "]", "<", "<!--", "`", "`a``", ". ", "*_", "!["]
)
def test_hostile_texts_take_no_time(piece: str) -> None:
    started = time.process_time()
    lead(piece * 100_000)
    assert time.process_time() - started < 1.0
