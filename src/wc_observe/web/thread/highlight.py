"""Colours code in entries with Pygments: classes only, no styles.

Lexers are regular expressions, and entries are untrusted. So only common languages are
coloured, and only up to a length that cannot keep the server busy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

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

from wc_observe.web.html import Html, element, joined, text

if TYPE_CHECKING:
    from pygments.lexer import Lexer

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
