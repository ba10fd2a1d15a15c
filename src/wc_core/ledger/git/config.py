"""Reads git's configuration without running git: the user's name, the remotes.

The syntax and the order of the files are those of git-config(1). A file that
cannot be read counts as empty, as git's own optional files do. Of a file with
an error, everything before the error counts.
"""

from __future__ import annotations

import os

from wc_core.base.files import read_plain
from wc_core.base.lean import re
from wc_core.base.lean.functools import lru_cache
from wc_core.base.text import whole_number

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from wc_core.ledger.git.repository import Repository

_MAX_DEPTH = 10
_MAX_COUNT = 1000
_MAX_COUNT_DIGITS = 9
_ESCAPES = {"n": "\n", "t": "\t", "b": "\b", '"': '"', "\\": "\\"}
_SPACE = " \t\r\n"
_NAME = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-")


def get(key: str, repository: Repository | None, env: Mapping[str, str]) -> str:
    """The current value of a key such as ``user.name``; empty if unset.

    Bytes that are not UTF-8 are replaced by U+FFFD.
    """
    return get_all((key,), repository, env)[key]


def get_all(
    keys: Iterable[str], repository: Repository | None, env: Mapping[str, str]
) -> dict[str, str]:
    """The current values of several keys, as `get` returns them; the files are read
    once."""
    values = dict.fromkeys(keys, "")
    by_name = {_canonical(key): key for key in values}
    for name, text in _ConfigReader(repository, env).settings():
        if name in by_name:
            values[by_name[name]] = text or ""
    return {
        key: value.encode(errors="surrogateescape").decode(errors="replace")
        for key, value in values.items()
    }


def values(
    section: str, name: str, repository: Repository | None, env: Mapping[str, str]
) -> dict[str, list[str]]:
    """The values of all keys ``section.*.name``, by subsection, in order.

    An empty value removes those before it. Bytes that are not UTF-8 are kept
    as surrogates, because paths may have them.
    """
    by_subsection: dict[str, list[str]] = {}
    prefix, suffix = f"{section}.", f".{name}"
    for key, value in _ConfigReader(repository, env).settings():
        subsection = key[len(prefix) : -len(suffix)]
        if subsection and key == f"{prefix}{subsection}{suffix}":
            texts = by_subsection.setdefault(subsection, [])
            texts[:] = [*texts, value] if value else []
    return {subsection: texts for subsection, texts in by_subsection.items() if texts}


def _canonical(key: str) -> str:
    """A key with its section and name in lower case; a subsection has case."""
    section, dot, tail = key.partition(".")
    subsection, second, name = tail.rpartition(".")
    return f"{section.lower()}{dot}{subsection}{second}{name.lower()}"


def is_true(value: str | None) -> bool:
    """Whether git treats a value as true, as it does a key without a value."""
    if value is None or value.lower() in {"true", "yes", "on"}:
        return True
    digits = value.lstrip("+-").rstrip("kmgKMG")
    return digits.isdecimal() and digits.strip("0") != ""


class _ConfigReader:
    """Reads the configuration files that apply, and those that they include."""

    def __init__(self, repository: Repository | None, env: Mapping[str, str]) -> None:
        self.repository = repository
        self.env = env
        self.home = env.get("HOME", "")
        self._urls: tuple[str, ...] | None = None

    def settings(self) -> Iterator[tuple[str, str | None]]:
        """All settings as (key, value). The last value of a key wins."""
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
        text = _text_of(shared)
        yield from self._settings_in(text, shared)
        # Only the file itself can turn this on, not a file that it includes.
        extended: str | None = "false"
        for section, subsection, key, value in _parsed(text):
            if (section, subsection, key) == ("extensions", "", "worktreeconfig"):
                extended = value
        if is_true(extended):
            yield from self._file(f"{self.repository.gitdir}/config.worktree")

    def _file(self, path: str, depth: int = 0) -> Iterator[tuple[str, str | None]]:
        """The settings of one file, with those of included files in their place."""
        yield from self._settings_in(_text_of(path), path, depth)

    def _settings_in(
        self, text: str, path: str, depth: int = 0
    ) -> Iterator[tuple[str, str | None]]:
        """The settings in the text of a file, as `_file` has them."""
        for section, subsection, name, value in _parsed(text):
            key = ".".join(part for part in (section, subsection, name) if part)
            yield key, value
            if depth < _MAX_DEPTH:
                yield from self._included(key, value, path, depth)

    def _included(
        self, key: str, value: str | None, path: str, depth: int = 0
    ) -> Iterator[tuple[str, str | None]]:
        """The settings that the setting ``key`` in the file ``path`` includes.

        ``path`` is empty for settings in the environment.
        """
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
        """A path with ``~`` replaced."""
        if not path.startswith("~"):
            return path
        if path == "~" or path.startswith("~/"):
            return self.home + path[1:]
        return os.path.expanduser(path)

    def _holds(self, condition: str, path: str) -> bool:
        """Whether the condition of an ``includeIf`` in the file ``path`` is true."""
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
            return url != pattern and self._has_remote(url)
        return False

    def _has_remote(self, pattern: str) -> bool:
        return any(_matches(pattern, url) for url in self._remote_urls())

    def _in(self, pattern: str, path: str, gitdir: str) -> tuple[str, str]:
        """Expand a pattern for git directories that is in the file ``path``.

        Returns it with the part of ``gitdir`` that it has to match.
        """
        if pattern.startswith("./"):
            # Cut off the file's folder, because its name may have wildcard characters.
            folder = os.path.dirname(os.path.realpath(path))
            inside = os.path.commonpath((folder, gitdir)) == folder
            pattern, gitdir = pattern[2:], os.path.relpath(gitdir, folder)
            gitdir = gitdir if inside else ""
        elif pattern.startswith("~/"):
            pattern = os.path.realpath(self.home) + pattern[1:]
        elif not pattern.startswith("/"):
            pattern = f"**/{pattern}"
        return pattern + ("**" if pattern.endswith("/") else ""), gitdir

    def _remote_urls(self) -> tuple[str, ...]:
        """The URLs of all remotes, except in files that ``hasconfig`` includes."""
        if self._urls is None:
            self._urls = ()  # so that no `hasconfig` is true during this search
            self._urls = tuple(
                value
                for key, value in self.settings()
                if value and key.startswith("remote.") and key.endswith(".url")
            )
        return self._urls


def count(env: Mapping[str, str]) -> int:
    """The number of settings in the environment: ``GIT_CONFIG_KEY_0`` and so on."""
    number = whole_number(env.get("GIT_CONFIG_COUNT", ""), _MAX_COUNT_DIGITS)
    return min(number or 0, _MAX_COUNT)


def _text_of(path: str) -> str:
    try:
        # Dotfile managers make this file a link, and read_plain refuses links.
        target = os.path.realpath(path) if os.path.islink(path) else path
        return os.fsdecode(read_plain(target) or b"")
    except OSError:
        return ""


def _matches(pattern: str, text: str) -> bool:
    """Whether a wildcard pattern like those of gitignore(5) matches all of a text."""
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
    """The settings in a file's text, cached: a command looks up several settings."""
    return tuple(parse(text))


def parse(text: str) -> Iterator[tuple[str, str, str, str | None]]:
    """Parse a file into (section, subsection, key, value) for each setting.

    The value is ``None`` for a key without ``=``. Stops at the first error.
    """
    text = text.removeprefix("\ufeff").replace("\r\n", "\n")
    section = subsection = ""
    at = 0
    while 0 <= at < len(text):
        character = text[at]
        if character in _SPACE:
            at += 1
        elif character in "#;":
            at = _line_end(text, at)
        elif character == "[":
            section, subsection, at = _header(text, at + 1)
        else:
            key, value, at = _setting(text, at)
            if at >= 0:
                yield section, subsection, key, value


# Each of these functions reads the text from position `at`, and returns the position
# after what it read, or -1 for an error.


def _line_end(text: str, at: int) -> int:
    end = text.find("\n", at)
    return len(text) if end < 0 else end


def _skip(text: str, at: int, characters: frozenset[str]) -> int:
    while text[at : at + 1] in characters:
        at += 1
    return at


def _header(text: str, at: int) -> tuple[str, str, int]:
    """Read ``section]``, ``section.subsection]`` or ``section "subsection"]``."""
    end = _skip(text, at, _NAME | {"."})
    name = text[at:end].lower()
    if text[end : end + 1] == "]":
        section, _, subsection = name.partition(".")
        return section, subsection, end + 1
    start = _skip(text, end, frozenset(" \t\r"))
    if start == end or text[start : start + 1] != '"':
        return "", "", -1
    at = start + 1
    subsection = ""
    while text[at : at + 1] not in {'"', "\n", ""}:
        at += text[at] == "\\"
        subsection += text[at : at + 1]
        at += 1
    is_broken = text[at : at + 2] != '"]' or "\n" in subsection
    return name, subsection, -1 if is_broken else at + 2


def _setting(text: str, at: int) -> tuple[str, str | None, int]:
    """Read ``key``, or ``key = value``."""
    end = _skip(text, at, _NAME)
    key = text[at:end].lower()
    if not key[:1].isalpha():
        return "", None, -1
    end = _skip(text, end, frozenset(" \t"))
    if text[end : end + 1] == "=":
        value, end = _value(text, end + 1)
        return key, value, end
    return key, None, end if text[end : end + 1] in {"", "\n"} else -1


def _value(text: str, at: int) -> tuple[str, int]:
    """Read a value up to the end of its line.

    Quotes, escapes, comments and continued lines are resolved.
    """
    result: list[str] = []
    length = 0  # of the result without blanks at its end
    quoted = False
    while at < len(text) and text[at] != "\n":
        character = text[at]
        at += 1
        if not quoted and character in _SPACE:
            if result:
                result.append(character)
            continue
        if not quoted and character in "#;":
            at = _line_end(text, at)
            break
        if character == '"':
            quoted = not quoted
        elif character == "\\":
            escaped, at = _escaped(text, at)
            if at < 0:
                return "", -1
            if escaped:
                result.append(escaped)
        else:
            result.append(character)
        length = len(result)
    return ("", -1) if quoted else ("".join(result[:length]), at)


def _escaped(text: str, at: int) -> tuple[str, int]:
    """Read the character after a backslash; nothing at the end of a line."""
    character = text[at : at + 1]
    if character in {"\n", ""}:
        return "", at + 1
    return _ESCAPES.get(character, ""), at + 1 if character in _ESCAPES else -1
