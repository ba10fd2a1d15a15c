"""Hides secrets in what agents print: the values of variables that are secrets by their
names, and texts with the form of a token, a key or a password."""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

_HIDDEN = "…"
_NO_SECRET_LENGTH = 8
# Words in the names of variables whose values are secrets.
_SECRETS = ("TOKEN", "SECRET", "PASSWORD", "PASSWD", "KEY", "CREDENTIAL", "COOKIE")
# Every repetition that may be tried again from the next character has a limit: an
# output can have any form, and millions of characters.
_KEY_NAME = r"[A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----"
_TOKENS = (
    r"gh[opusr]_\w{20,}",
    r"github_pat_\w{20,}",
    r"glpat-[\w-]{20,}",
    r"(?:AKIA|ASIA)[A-Z0-9]{16}",
    r"sk-(?=[\w-]{0,40}\d)[\w-]{20,}",
    r"[rs]k_(?:live|test)_\w{16,}",
    r"xox[a-z]-[\w-]{10,}",
    r"xapp-[\w-]{10,}",
    r"AIza[\w-]{30,}",
    r"ya29\.[\w-]{20,}",
    r"hf_\w{20,}",
    r"npm_\w{30,}",
    r"pypi-[\w-]{50,}",
    r"eyJ[\w-]{10,}\.[\w-]{10,}\.[\w-]{10,}",
)
# What stays is a group with the name of the alternative.
_SHAPES = re.compile(
    rf"-----BEGIN {_KEY_NAME}(?:[\w+/=\s\\:,.]|-(?!-))*(?:-----END {_KEY_NAME})?"
    rf"|(?<![A-Za-z0-9])(?:{'|'.join(_TOKENS)})"
    r"|(?P<header>\b(?i:authorization|cookie|x-api-key)\s{0,9}:\s{0,9}"
    r"(?:(?i:basic|bearer|token)\s{1,9})?)[^\s'\"]+"
    r"|(?P<bearer>\b(?i:bearer)\s{1,9})(?=[\w.~+/=-]{0,40}\d)[\w.~+/=-]{16,}"
    rf"|(?P<name>\b[A-Z0-9_]{{0,60}}(?:{'|'.join(_SECRETS)})[A-Z0-9_]{{0,60}}=['\"]?)"
    r"[^\s'\"]{8,}"
    r"|(?P<scheme>\b[A-Za-z][A-Za-z0-9+.-]{1,20}://[^\s/@:'\"]{0,100}:)"
    r"[^\s/@'\"]{1,500}(?=@)"
    r"|(?P<query>[?&](?i:[\w-]{0,30}(?:token|key|secret|password|signature))=)"
    r"[^\s&'\"]+"
)


def without_secrets(text: str, env: Mapping[str, str]) -> str:
    """Return a text in which each secret is replaced by ``…``. ``env`` are the
    variables of the agent."""
    for secret in sorted(_values(env), key=len, reverse=True):
        text = text.replace(secret, _HIDDEN)
    return _SHAPES.sub(_hidden, text)


def _hidden(match: re.Match[str]) -> str:
    kept = match[match.lastgroup] if match.lastgroup else ""
    return f"{kept}{_HIDDEN}"


def _values(env: Mapping[str, str]) -> set[str]:
    return {
        value
        for name, value in env.items()
        if len(value) >= _NO_SECRET_LENGTH
        and any(word in name.upper() for word in _SECRETS)
    }
