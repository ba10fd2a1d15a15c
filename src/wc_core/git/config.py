"""Reading git's configuration without running git: who the user is, and which
remotes there are.

The syntax and the order of the files are git-config(1)'s. A file that cannot
be read says nothing, as for git's own optional files; of one that cannot be
understood, what stands before the error counts.
"""

from __future__ import annotations

import os
import re
from functools import lru_cache
from typing import TYPE_CHECKING

from wc_core.files import read_plain

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from wc_core.git.repository import Repository

_MAX_DEPTH = 10
_MAX_COUNT = 1000
_ESCAPES = {"n": "\n", "t": "\t", "b": "\b", '"': '"', "\\": "\\"}
_SPACE = " \t\r\n"
_NAME = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-")


def get(key: str, repository: Repository | None, env: Mapping[str, str]) -> str:
    """The value in force of a key such as ``user.name``; empty if unset.

    Bytes that are no UTF-8 come out as U+FFFD.
    """
    wanted = _canonical(key)
    value = ""
    for found, text in _ConfigReader(repository, env).everything():
        if found == wanted:
            value = text or ""
    return value.encode(errors="surrogateescape").decode(errors="replace")


def values(
    section: str, name: str, repository: Repository | None, env: Mapping[str, str]
) -> dict[str, list[str]]:
    """The values of all keys ``section.*.name``, by what stands between, in the
    order of the files; an empty value undoes those before it.

    Bytes that are no UTF-8 are kept as surrogates: paths may have them.
    """
    found: dict[str, list[str]] = {}
    prefix, suffix = f"{section}.", f".{name}"
    for key, value in _ConfigReader(repository, env).everything():
        between = key[len(prefix) : -len(suffix)]
        if between and key == f"{prefix}{between}{suffix}":
            have = found.setdefault(between, [])
            have[:] = [*have, value] if value else []
    return {between: have for between, have in found.items() if have}


def _canonical(key: str) -> str:
    """A key with the parts in lower case that have no case."""
    section, dot, rest = key.partition(".")
    subsection, second, name = rest.rpartition(".")
    return f"{section.lower()}{dot}{subsection}{second}{name.lower()}"


def is_true(value: str | None) -> bool:
    """A boolean as git reads it; a key without a value is true."""
    if value is None or value.lower() in {"true", "yes", "on"}:
        return True
    digits = value.lstrip("+-").rstrip("kmgKMG")
    return digits.isdecimal() and digits.strip("0") != ""


class _ConfigReader:
    """The files that count, and what they include."""

    def __init__(self, repository: Repository | None, env: Mapping[str, str]) -> None:
        self.repository = repository
        self.env = env
        self.home = env.get("HOME", "")
        self._urls: tuple[str, ...] | None = None

    def everything(self) -> Iterator[tuple[str, str | None]]:
        """All settings, the strongest last."""
        env, home = self.env, self.home
        if not is_true(env.get("GIT_CONFIG_NOSYSTEM", "")):
            yield from self._file(env.get("GIT_CONFIG_SYSTEM", "/etc/gitconfig"))
        if "GIT_CONFIG_GLOBAL" in env:
            yield from self._file(env["GIT_CONFIG_GLOBAL"])
        else:
            xdg = env.get("XDG_CONFIG_HOME") or (f"{home}/.config" if home else "")
            if xdg:
                yield from self._file(f"{xdg}/git/config")
            if home:
                yield from self._file(f"{home}/.gitconfig")
        yield from self._own()
        for index in range(count(env)):
            key = _canonical(env.get(f"GIT_CONFIG_KEY_{index}", ""))
            value = env.get(f"GIT_CONFIG_VALUE_{index}", "")
            yield key, value
            yield from self._included(key, value, "")

    def _own(self) -> Iterator[tuple[str, str | None]]:
        """The settings of the repository and of this worktree."""
        if self.repository is None:
            return
        shared = f"{self.repository.common}/config"
        yield from self._file(shared)
        # Only the file itself can turn this on, nothing it includes.
        extended: str | None = "false"
        for section, subsection, key, value in _parsed(_text_of(shared)):
            if (section, subsection, key) == ("extensions", "", "worktreeconfig"):
                extended = value
        if is_true(extended):
            yield from self._file(f"{self.repository.gitdir}/config.worktree")

    def _file(self, path: str, depth: int = 0) -> Iterator[tuple[str, str | None]]:
        """The settings of one file, includes in place."""
        for section, subsection, name, value in _parsed(_text_of(path)):
            key = ".".join(one for one in (section, subsection, name) if one)
            yield key, value
            if depth < _MAX_DEPTH:
                yield from self._included(key, value, path, depth)

    def _included(
        self, key: str, value: str | None, path: str, depth: int = 0
    ) -> Iterator[tuple[str, str | None]]:
        """What a setting in the file ``path`` (none: the environment) includes."""
        condition = key.removeprefix("includeif.").removesuffix(".path")
        conditional = key == f"includeif.{condition}.path"
        if not value or not (conditional or key == "include.path"):
            return
        if "\0" in value:
            return  # no path can have one
        if conditional and not self._holds(condition, path):
            return
        target = self._expand(value)
        if path or os.path.isabs(target):
            target = os.path.join(os.path.dirname(path), target)
            yield from self._file(target, depth + 1)

    def _expand(self, path: str) -> str:
        if not path.startswith("~"):
            return path
        if path == "~" or path.startswith("~/"):
            return self.home + path[1:]
        return os.path.expanduser(path)

    def _holds(self, condition: str, path: str) -> bool:
        kind, _, pattern = condition.partition(":")
        if self.repository is None:
            return False
        if kind == "onbranch":
            pattern += "**" if pattern.endswith("/") else ""
            return _matches(pattern, self.repository.branch)
        if kind in {"gitdir", "gitdir/i"}:
            gitdir = self.repository.gitdir
            if kind == "gitdir":
                return _matches(*self._in(pattern, path, gitdir))
            pattern, gitdir = self._in(pattern, path, gitdir)
            return _matches(pattern.lower(), gitdir.lower())
        if kind == "hasconfig":
            url = pattern.removeprefix("remote.*.url:")
            return url != pattern and any(_matches(url, one) for one in self._remotes())
        return False

    def _in(self, pattern: str, path: str, gitdir: str) -> tuple[str, str]:
        """A pattern for git directories in the file ``path``, and the part of
        ``gitdir`` that it has to match."""
        if pattern.startswith("./"):
            # The file's folder stands for itself, whatever is in its name.
            folder = os.path.dirname(os.path.realpath(path))
            inside = os.path.commonpath((folder, gitdir)) == folder
            pattern, gitdir = pattern[2:], os.path.relpath(gitdir, folder)
            gitdir = gitdir if inside else ""
        elif pattern.startswith("~/"):
            pattern = os.path.realpath(self.home) + pattern[1:]
        elif not pattern.startswith("/"):
            pattern = f"**/{pattern}"
        return pattern + ("**" if pattern.endswith("/") else ""), gitdir

    def _remotes(self) -> tuple[str, ...]:
        """The URLs of all remotes, without what ``hasconfig`` itself includes."""
        if self._urls is None:
            self._urls = ()  # what is included on this condition cannot add one
            self._urls = tuple(
                value
                for key, value in self.everything()
                if value and key.startswith("remote.") and key.endswith(".url")
            )
        return self._urls


def count(env: Mapping[str, str]) -> int:
    """How many settings the environment has: ``GIT_CONFIG_KEY_0`` and so on."""
    text = env.get("GIT_CONFIG_COUNT", "0")
    return min(int(text), _MAX_COUNT) if re.fullmatch("[0-9]{1,9}", text) else 0


def _text_of(path: str) -> str:
    try:
        # Dotfile managers make this file a link: resolve, then read.
        return os.fsdecode(read_plain(os.path.realpath(path)) or b"")
    except OSError:
        return ""


def _matches(pattern: str, text: str) -> bool:
    """Whether a pattern of gitignore(5), ``/`` being special, fits all of it."""
    parts = re.finditer(
        r"(?:(?<=/)|^)(?P<folders>\*\*/)|(?:(?<=/)|^)(?P<rest>\*\*)$"
        r"|(?P<some>\*+)|(?P<one>\?)|(?P<set>\[[!^]?\]?[^\]]*\])|\\?(?P<itself>.)",
        pattern,
        re.DOTALL,
    )
    try:
        return re.fullmatch("".join(map(_regex, parts)), text, re.DOTALL) is not None
    except re.error:
        return False


_WILD = {"folders": "(?:.*/)?", "rest": ".*", "some": "[^/]*", "one": "[^/]"}


def _regex(part: re.Match[str]) -> str:
    """A part of a wildcard pattern as a regular expression."""
    kind = str(part.lastgroup)
    if kind == "itself":
        return re.escape(part["itself"])
    if kind == "set":
        inner = part["set"][1:-1].replace("\\", "\\\\").replace("[", "\\[")
        inner = f"^{inner[1:]}" if inner[0] in "!^" else inner
        return f"(?!/)[{inner}]"
    return _WILD[kind]


@lru_cache(maxsize=16)
def _parsed(text: str) -> tuple[tuple[str, str, str, str | None], ...]:
    """What is in a file's text: a command asks for several settings, each from
    the same few files."""
    return tuple(parse(text))


def parse(text: str) -> Iterator[tuple[str, str, str, str | None]]:
    """(section, subsection, key, value) of each setting in a file's text; the
    value is ``None`` where there is only a key."""
    text = text.removeprefix("\ufeff").replace("\r\n", "\n")
    section = subsection = ""
    at = 0
    while 0 <= at < len(text):
        one = text[at]
        if one in _SPACE:
            at += 1
        elif one in "#;":
            at = _line_end(text, at)
        elif one == "[":
            section, subsection, at = _header(text, at + 1)
        else:
            key, value, at = _setting(text, at)
            if at >= 0:
                yield section, subsection, key, value


# Each of these reads from a position on and returns the one behind what it
# read, -1 where that is broken.


def _line_end(text: str, at: int) -> int:
    end = text.find("\n", at)
    return len(text) if end < 0 else end


def _skipped(text: str, at: int, characters: frozenset[str]) -> int:
    while text[at : at + 1] in characters:
        at += 1
    return at


def _header(text: str, at: int) -> tuple[str, str, int]:
    """``section]``, ``section.subsection]`` or ``section "subsection"]``."""
    end = _skipped(text, at, _NAME | {"."})
    name = text[at:end].lower()
    if text[end : end + 1] == "]":
        section, _, subsection = name.partition(".")
        return section, subsection, end + 1
    start = _skipped(text, end, frozenset(" \t\r"))
    if start == end or text[start : start + 1] != '"':
        return "", "", -1
    at = start + 1
    subsection = ""
    while text[at : at + 1] not in {'"', "\n", ""}:
        at += text[at] == "\\"
        subsection += text[at : at + 1]
        at += 1
    broken = text[at : at + 2] != '"]' or "\n" in subsection
    return name, subsection, -1 if broken else at + 2


def _setting(text: str, at: int) -> tuple[str, str | None, int]:
    """``key``, or ``key = value``."""
    end = _skipped(text, at, _NAME)
    key = text[at:end].lower()
    if not key[:1].isalpha():
        return "", None, -1
    end = _skipped(text, end, frozenset(" \t"))
    if text[end : end + 1] == "=":
        value, end = _value(text, end + 1)
        return key, value, end
    return key, None, end if text[end : end + 1] in {"", "\n"} else -1


def _value(text: str, at: int) -> tuple[str, int]:
    """The value that begins at ``at``, with quotes, escapes, comments and
    continued lines undone, and where it ends; -1 where it is broken."""
    result: list[str] = []
    kept = 0  # how much of the result is more than blanks at its end
    quoted = False
    while at < len(text) and text[at] != "\n":
        one = text[at]
        at += 1
        if one in _SPACE and not quoted:
            if result:
                result.append(one)
            continue
        if one in "#;" and not quoted:
            at = _line_end(text, at)
            break
        if one == '"':
            quoted = not quoted
        elif one == "\\":
            escaped = text[at : at + 1]
            at += 1
            if escaped not in {"\n", ""}:
                if escaped not in _ESCAPES:
                    return "", -1
                result.append(_ESCAPES[escaped])
        else:
            result.append(one)
        kept = len(result)
    return ("", -1) if quoted else ("".join(result[:kept]), at)
