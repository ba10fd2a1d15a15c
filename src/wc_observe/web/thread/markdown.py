"""Renders untrusted markdown as HTML that cannot act.

Raw HTML is shown as text. An image becomes a link, so that reading a thread never loads
anything from elsewhere. Links may be http, https or mailto; any other link is shown as
text.

Pygments colours code: classes only, no styles. Lexers are regular expressions, and
entries are untrusted. So only common languages are coloured, and only up to a length
that cannot keep the server busy.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from pygments.lexers.c_cpp import CLexer, CppLexer
from pygments.lexers.configs import DockerLexer, IniLexer, TOMLLexer
from pygments.lexers.css import CssLexer
from pygments.lexers.data import JsonLexer, YamlLexer
from pygments.lexers.diff import DiffLexer
from pygments.lexers.go import GoLexer
from pygments.lexers.html import HtmlLexer
from pygments.lexers.javascript import JavascriptLexer, TypeScriptLexer
from pygments.lexers.jvm import JavaLexer
from pygments.lexers.python import PythonConsoleLexer, PythonLexer
from pygments.lexers.ruby import RubyLexer
from pygments.lexers.rust import RustLexer
from pygments.lexers.shell import BashLexer, BashSessionLexer
from pygments.lexers.sql import SqlLexer
from pygments.token import STANDARD_TYPES

from wc_core.base.markdowntokens import DISABLED, MAX_NESTING, is_whole, uncover
from wc_core.base.text import clean, one_line
from wc_observe.web.html import Html, code_text, element, joined, text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from markdown_it.token import Token
    from markdown_it.utils import EnvType, OptionsDict
    from pygments.lexer import Lexer

# Characters. Longer bodies are shown as plain text, which costs nothing.
LONGEST = 50_000
_LINK = re.compile(r"(?:https?://|mailto:)[^\s]", re.IGNORECASE)
# The box of a task in a list.
_BOX = re.compile(r"\[([ xX])\][ \t]+")
_BARE = re.compile(r"https?://[^\s<>\"'`]+[^\s<>\"'`.,;:!?)\]}*_]")
# Headings in a body come below those of the page and of the entry.
_TOP = 3
_LEAST = 6
# The most characters in a block, and in one line of it.
_MOST, _LINE = 8_000, 400
_LEXERS: dict[str, type[Lexer]] = {
    alias: lexer
    for lexer in (
        *(BashLexer, BashSessionLexer, CLexer, CppLexer, CssLexer, DiffLexer),
        *(DockerLexer, GoLexer, HtmlLexer, IniLexer, JavaLexer, JavascriptLexer),
        *(JsonLexer, PythonConsoleLexer, PythonLexer, RubyLexer, RustLexer, SqlLexer),
        *(TOMLLexer, TypeScriptLexer, YamlLexer),
    )
    for alias in lexer.aliases
}
_PLAIN = frozenset({"", "p", "w", "err", "g"})


class _Renderer(RendererHTML):
    """markdown-it's renderer with bare links made clickable and images as links."""

    def text(
        self, tokens: Sequence[Token], idx: int, _: OptionsDict, env: EnvType
    ) -> str:
        words = tokens[idx].content
        if env.get("links"):
            return text(words)
        parts, at = [], 0
        for match in _BARE.finditer(words):
            parts += [text(words[at : match.start()]), _link(match[0], match[0])]
            at = match.end()
        return "".join((*parts, text(words[at:])))

    def link_open(
        self, tokens: Sequence[Token], idx: int, _: OptionsDict, env: EnvType
    ) -> str:
        env["links"] = env.get("links", 0) + 1
        href = text(str(tokens[idx].attrGet("href") or ""))
        label = text(one_line(str(tokens[idx].attrGet("title") or "")))
        title = f"{href} {label}" if label else href
        return f'<a href="{href}" title="{title}" rel="{_REL}" target="_blank">'

    def link_close(
        self, _tokens: Sequence[Token], _idx: int, _: OptionsDict, env: EnvType
    ) -> str:
        env["links"] -= 1
        return "</a>"

    def code_inline(
        self, tokens: Sequence[Token], idx: int, _: OptionsDict, _env: EnvType
    ) -> str:
        return element("code", code_text(tokens[idx].content))

    def fence(
        self, tokens: Sequence[Token], idx: int, _: OptionsDict, _env: EnvType
    ) -> str:
        token = tokens[idx]
        language = one_line(token.info.strip().partition(" ")[0], 40)
        code = highlighted(token.content, language)
        kind = f"language-{language}" if language else None
        # The keyboard must be able to reach a block that scrolls.
        return element("pre", element("code", code, class_=kind), tabindex=0) + "\n"

    def code_block(
        self, tokens: Sequence[Token], idx: int, _: OptionsDict, _env: EnvType
    ) -> str:
        return element("pre", element("code", tokens[idx].content), tabindex=0) + "\n"

    def task(
        self, tokens: Sequence[Token], idx: int, _: OptionsDict, _env: EnvType
    ) -> str:
        is_done = tokens[idx].meta["is_done"]
        sign = element("span", "☑" if is_done else "☐", aria_hidden="true")
        return sign + element(
            "span", "done: " if is_done else "to do: ", class_="unseen"
        )

    def table_open(
        self, _tokens: Sequence[Token], _idx: int, _: OptionsDict, _env: EnvType
    ) -> str:
        return '<div class="table" tabindex="0"><table>\n'

    def table_close(
        self, _tokens: Sequence[Token], _idx: int, _: OptionsDict, _env: EnvType
    ) -> str:
        return "</table></div>\n"

    def image(
        self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType
    ) -> str:
        token = tokens[idx]
        alt = self.renderInlineAsText(token.children or [], options, env)
        words = f"image: {alt}" if alt else "image"
        if env.get("links"):
            return text(words)
        return _link(str(token.attrGet("src") or ""), words)


def _mark_tasks(tokens: Sequence[Token]) -> None:
    """Turns the box at the start of a list item into a sign, and says in words for
    screen readers whether it is done. Nobody can check it: the page is read-only."""
    for before, paragraph, inline in zip(tokens, tokens[1:], tokens[2:], strict=False):
        if (before.type, paragraph.type) != ("list_item_open", "paragraph_open"):
            continue
        first = inline.children[0] if inline.children else None
        box = _BOX.match(first.content) if first and first.type == "text" else None
        if first is None or box is None:
            continue
        rest = first.content[box.end() :]
        if not rest and len(inline.children or ()) == 1:
            continue
        first.content = rest
        is_done = box[1] != " "
        before.attrJoin("class", "task done" if is_done else "task")
        sign = type(first)("task", "", 0, meta={"is_done": is_done})
        inline.children = [sign, *(inline.children or ())]


_REL = "noopener noreferrer nofollow"


def _link(href: str, words: str) -> Html:
    return element("a", words, href=href, title=href, rel=_REL, target="_blank")


def _may_link(url: str) -> bool:
    return bool(_LINK.match(url))


def _parser() -> MarkdownIt:
    parser = MarkdownIt(
        "js-default",
        {"html": False, "linkify": False, "maxNesting": MAX_NESTING},
        renderer_cls=_Renderer,
    )
    parser.disable(DISABLED)
    parser.validateLink = _may_link  # type: ignore[method-assign]
    parser.core.ruler.push("fit", _fit)
    return parser


def _fit(state: Any) -> None:
    """Lowers headings below ours and turns alignment styles into classes.

    The page's content security policy refuses inline styles."""
    uncover(state.tokens)
    _mark_tasks(state.tokens)
    for token in state.tokens:
        if token.type in {"heading_open", "heading_close"}:
            level = min(_LEAST, int(token.tag[1]) + _TOP - 1)
            token.tag = f"h{level}"
        align = token.attrs.pop("style", None)
        if align:
            token.attrSet("class", str(align).rpartition(":")[2])


_PARSER = _parser()


@lru_cache(maxsize=512)
def rendered(body: str) -> Html:
    """Returns a body as HTML; a very long or deeply nested one as plain text."""
    words = clean(body)
    if len(words) <= LONGEST:
        env: dict[str, Any] = {}
        tokens = _PARSER.parse(words, env)
        if is_whole(tokens, words):
            return Html(_PARSER.renderer.render(tokens, _PARSER.options, env))
    return element("pre", words, tabindex=0, class_="plain")


def highlighted(code: str, language: str) -> Html:
    """Returns code with its tokens in classes; as plain text if the language is unknown
    or there is too much code."""
    lexer = _LEXERS.get(language.strip().casefold())
    if lexer is None or len(code) > _MOST or max(map(len, code.split("\n"))) > _LINE:
        return text(code)
    tokens = lexer(stripnl=False, ensurenl=False).get_tokens(code)
    return joined(
        _coloured(STANDARD_TYPES.get(kind, ""), word) for kind, word in tokens
    )


def language_at(path: str) -> str:
    """Returns a file's language, by the file's name; empty if it is unknown."""
    ending = path.rpartition(".")[2].casefold()
    return {"yml": "yaml", "h": "c"}.get(ending, ending if ending in _LEXERS else "")


def _coloured(kind: str, word: str) -> Html:
    return text(word) if kind in _PLAIN else element("span", word, class_=f"c-{kind}")
