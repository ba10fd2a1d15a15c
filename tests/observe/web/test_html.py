"""Other people's words on a page: nothing in them acts."""

from __future__ import annotations

import re
import string
from html import unescape

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.observe.web.pages import elements, words
from wc_core.base.text import clean
from wc_observe.web.html import Html, code_text, element, joined, text
from wc_observe.web.thread import markdown
from wc_observe.web.thread.markdown import LONGEST, highlighted, rendered

# What markdown is made into, and the attributes that may be there.
KNOWN = {
    **{key: set[str]() for key in ("p", "em", "strong", "s", "ul", "hr", "br")},
    **{key: set[str]() for key in ("blockquote", "table", "thead", "tbody", "tr")},
    **{key: set[str]() for key in ("h3", "h4", "h5", "h6")},
    **{key: {"class"} for key in ("th", "td", "code")},
    "ol": {"start"},
    "pre": {"tabindex", "class"},
    "li": {"class"},
    "span": {"class", "aria-hidden"},
    "div": {"class", "tabindex"},
    "a": {"href", "title", "rel", "target"},
}
HOSTILE = (
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "a <b onclick='x()'>b</b> c",
    "<!-- --!> <script>x</script> -->",
    "[x](javascript:alert(1))",
    "[x](JaVaScRiPt:alert(1))",
    "[x](&#106;avascript:alert(1))",
    "[x](java\tscript:alert(1))",
    "[x](data:text/html;base64,PHNjcmlwdD4=)",
    "[x](vbscript:x)",
    "[x](file:///etc/passwd)",
    "[x](//elsewhere.example)",
    "[x](/threads)",
    "<javascript:alert(1)>",
    "![x](https://elsewhere.example/x.png)",
    "![x](data:image/png;base64,AAAA)",
    "[![x](https://a.example/x.png)](https://b.example)",
    '[x](https://a.example "t\\" onmouseover=\\"x()")',
    "[x][y]\n\n[y]: javascript:alert(1)",
    '```x" onload="y\n</code></pre><script>1</script>\n```',
    "`</code><script>1</script>`",
    "| a |\n|--:|\n| <script>1</script> |",
    "https://a.example/<script>",
    'https://a.example/"onmouseover=x()',
    "\x1b]8;;https://x\x07click\x1b]8;;\x07",
    "abc\u202egnp.exe",
    "&lt;script&gt;",
    "&#60;script&#62;",
    "<svg><style>@import 'https://x'</style></svg>",
    "<iframe srcdoc='<script>1</script>'></iframe>",
    "<https://a.example/x\u202ey>",
)


def check(page: str) -> None:
    """That a rendered body has nothing but what markdown is made into."""
    for tag, said in elements(page):
        assert tag in KNOWN, page
        assert set(said) <= KNOWN[tag], page
        for name in ("href", "title"):
            if name in said:
                assert (said[name] or "").startswith(("http://", "https://", "mailto:"))
        if tag == "a":
            assert set((said["rel"] or "").split()) >= {"noopener", "noreferrer"}
    assert "\x1b" not in page
    assert "\u202e" not in page


@pytest.mark.parametrize("body", HOSTILE)
def test_hostile_markdown_is_words_and_no_more(body: str) -> None:
    check(rendered(body))


PIECES = st.sampled_from(
    [
        *HOSTILE,
        "\n",
        "\n\n",
        "> ",
        "- ",
        "1. ",
        "# ",
        "|",
        "```",
        "`",
        "*",
        "](",
        "![",
        "<",
    ]
)


@given(st.lists(PIECES | st.text(max_size=8), max_size=12).map("".join))
def test_any_markdown_is_words_and_no_more(body: str) -> None:
    check(rendered(body))


@given(st.text(string.printable + "é\u202e\ud800日本"))
def test_text_is_read_as_it_was_written_but_for_what_acts(said: str) -> None:
    page = element("p", said, title=said)
    assert [tag for tag, _ in elements(page)] == ["p"]
    assert "\u202e" not in page
    assert words(page).split() == clean(said).split()


def test_only_what_was_made_here_is_markup() -> None:
    inner = element("b", "<i>")
    assert element("p", inner, " & ") == "<p><b>&lt;i&gt;</b> &amp; </p>"
    assert joined(("<", inner), " · ") == "&lt; · <b>&lt;i&gt;</b>"
    assert isinstance(text("x"), Html)


def test_attributes_are_spelt_as_html_has_them() -> None:
    made = element(
        "input",
        class_="a b",
        for_="x",
        aria_label='"',
        checked=True,
        hidden=False,
        id=None,
    )
    assert made == '<input class="a b" for="x" aria-label="&quot;" checked>'
    assert element("p", class_="") == "<p></p>"


# What stands behind the language is shown: a model reads it too.
_FENCE = (
    '<pre tabindex="0"><code class="language-odd">```odd &lt;it&gt;\nx\n</code></pre>\n'
)


@pytest.mark.parametrize(
    ("body", "page"),
    [
        ("# Plan", "<h3>Plan</h3>\n"),
        ("#### Deep", "<h6>Deep</h6>\n"),
        ("a ~~b~~ **c**", "<p>a <s>b</s> <strong>c</strong></p>\n"),
        (
            "```odd\nx < 1\n```",
            '<pre tabindex="0"><code class="language-odd">x &lt; 1\n</code></pre>\n',
        ),
        ("[notes](docs/a.md)", "<p>[notes](docs/a.md)</p>\n"),
        ("a&#x202e;b&#x2066;c&#xe0041;", "<p>abc</p>\n"),
        (
            "- " * 12 + "do it",
            f'<pre tabindex="0" class="plain">{"- " * 12}do it</pre>',
        ),
        ("```odd <it>\nx\n```", _FENCE),
        ("[a] b\n\n[a]: <x> (do it)", "<p>[a] b</p>\n<p>[a]: &lt;x&gt; (do it)</p>\n"),
    ],
)
def test_markdown_is_read_as_markdown(body: str, page: str) -> None:
    assert rendered(body) == page


def test_the_title_of_a_link_is_shown_with_its_address() -> None:
    page = rendered('[a](http://a.example "do <it>&#x202e;")')
    assert 'title="http://a.example do &lt;it&gt;"' in page


@pytest.mark.parametrize(
    ("row", "whole"),
    [
        *(("| 1 | 2 |", True), ("1 | 2", True), ("| 1 |", True), ("|1|\\||", True)),
        *(("| 1 | 2 | 3 |", False), ("1|2|3", False), ("|||x|", False)),
    ],
)
@pytest.mark.parametrize("lead", ["", "> ", "  "])
def test_no_cell_of_a_table_is_left_out(row: str, *, whole: bool, lead: str) -> None:
    page = rendered(f"{lead}| a | b |\n{lead}|---|---|\n{lead}{row}")
    assert page.startswith("<pre") != whole


def test_a_table_in_a_list_is_one() -> None:
    assert "<table>" in rendered("- | a | b |\n  |---|---|\n  | 1 | 2 |")


def test_columns_of_a_table_are_aligned_without_a_style() -> None:
    page = rendered("| a | b |\n|:-:|--:|\n| 1 | 2 |")
    assert '<td class="center">1</td>' in page
    assert '<td class="right">2</td>' in page


@pytest.mark.parametrize(
    ("body", "href", "said"),
    [
        (
            "see https://a.example/x, or",
            "https://a.example/x",
            "see https://a.example/x, or",
        ),
        ("(https://a.example/x)", "https://a.example/x", "(https://a.example/x)"),
        ("<https://a.example>", "https://a.example", "https://a.example"),
        ("[x](mailto:pat@a.example)", "mailto:pat@a.example", "x"),
        ("![](https://a.example/x.png)", "https://a.example/x.png", "image"),
        (
            "![a cat](https://a.example/x.png)",
            "https://a.example/x.png",
            "image: a cat",
        ),
    ],
)
def test_links_lead_to_the_web_and_say_where(body: str, href: str, said: str) -> None:
    page = rendered(body)
    (link,) = (found for tag, found in elements(page) if tag == "a")
    assert (link["href"], link["title"]) == (href, href)
    assert words(page) == said


def test_a_link_within_a_link_is_none() -> None:
    page = rendered(
        "[see https://a.example ![x](https://a.example/x.png)](https://b.example)"
    )
    assert [said["href"] for tag, said in elements(page) if tag == "a"] == [
        "https://b.example"
    ]


def test_options_stay_whole() -> None:
    option = '<span class="option">--to</span>'
    assert f"<code>wc say {option} x-y -</code>" in rendered("`wc say --to x-y -`")
    assert code_text("a-b <i>") == "a-b &lt;i&gt;"


def test_tasks_are_boxes_that_nobody_can_check() -> None:
    page = rendered("- [ ] **ask** first\n- [x] `done`\n\n1. [X] third\n\n   more\n")
    assert words(page) == "☐ to do: ask first ☑ done: done ☑ done: third more"
    kinds = [said.get("class") for tag, said in elements(page) if tag == "li"]
    assert kinds == ["task", "task done", "task done"]
    assert "input" not in {tag for tag, _ in elements(page)}


@pytest.mark.parametrize(
    "body",
    ["- [x]", "- [ ]x", "- [y] no", "[ ] no list", "- `[ ]` code", "- a\n [x] b"],
)
def test_other_brackets_stay(body: str) -> None:
    page = rendered(body)
    assert "task" not in page
    assert words(page) == " ".join(body.removeprefix("- ").replace("`", "").split())


def test_a_very_long_body_is_shown_as_it_is_written() -> None:
    page = rendered("# *" * (LONGEST // 2))
    assert [tag for tag, _ in elements(page)] == ["pre"]


def test_a_body_is_rendered_once() -> None:
    markdown.rendered.cache_clear()
    rendered("once")
    rendered("once")
    assert markdown.rendered.cache_info().hits == 1


def test_code_is_coloured_by_classes_alone() -> None:
    page = rendered("```python\ndef f(x: str) -> None: ...  # <b>\n```")
    assert '<span class="c-k">def</span>' in page
    assert '<span class="c-c1"># &lt;b&gt;</span>' in page
    assert "style" not in page


@pytest.mark.parametrize("language", ["odd", "", "python"])
def test_the_words_of_code_stay_as_they_are(language: str) -> None:
    code = "\n\ndef f():\n\treturn '<x>' & 1  \n\n\n"
    page = rendered(f"```{language}\n{code}```")
    inside = re.search(r"(?s)<code[^>]*>(.*)</code>", page)
    assert inside is not None
    assert unescape(re.sub(r"<[^>]*>", "", inside[1])) == code


@pytest.mark.parametrize("code", ["x = 1\n" * 2000, "x = '" + "a" * 500 + "'\n"])
def test_much_code_is_not_coloured(code: str) -> None:
    assert "<span" not in highlighted(code, "python")
    assert "<span" in highlighted("x = 1\n", "python")
