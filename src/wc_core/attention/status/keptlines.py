"""The lines that ``bin/wc-statusline`` prints: ``.local/line/<name>`` of a store.

The script computes no line. It builds a key from what decides about a line besides the
store: the worktree, who looks, the options. The name of the file is made from the key.
A kept line is printed while all of this is so:

- its first line has the store's stamp, which changes with everything that wc writes
  (`wc_cli.ledger.store.localfiles`), and the `facts` about the worktree
- its second line is the key, or only the template where the name has the key as it is,
  and its third line is the root of the worktree
- no file of `sources`, which others than wc change, is newer than it; nor one that it
  names itself, the logs of git after which its conflict may be another

Example, of the stamp ``3f2a1b00``::

    3f2a1b00  main

    /home/pat/app
    1;33 🎾 you · main          for each row its colour, and its text
    +2  · fix                   more of the row, in another colour
    .
    {"at": 1780000000, …}       how to make it again; only for wc

Everything up to the line with a dot is read by a shell, byte by byte.
"""

from __future__ import annotations

import os

from wc_core.attention.status import conflictmarks
from wc_core.attention.status.look import is_printed_as_is
from wc_core.attention.status.pins import worktree_key
from wc_core.base.files import read_plain
from wc_core.base.layout import IN_TREE
from wc_core.base.lean import contextlib, json
from wc_core.base.text import whole_number
from wc_core.base.values import NamedTuple, known_fields
from wc_core.ledger.git import seats
from wc_core.ledger.git.repository import pointed_dir

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    from wc_core.base.layout import Layout
    from wc_core.ledger.git.repository import Repository

STAMP = "stamp"
MAX_BYTES = 1 << 14
_MAX_NAME_BYTES = 220
_MAX_KEY_BYTES = 1000
_MAX_FIRST_LINE = 4096
_END = "\n.\n"
_BRANCH = "ref: refs/heads/"
_REBASES = ("rebase-merge", "rebase-apply")
_COLORS = ("1;33", "2", "31")
_MAX_DIGITS = 4
_RESET = "\033[0m"


class LineRequest(NamedTuple):
    """How a line was asked for: the ``name`` and the ``key`` that the script made, the
    ``root`` of the worktree, the ``folder``, the options, and the variables of the
    environment that decide who looks. ``at`` is when, in seconds since 1970.

    The file may have come with code, so nothing in it is trusted: see
    `wc_cli.run.entries.promptlines.remake`."""

    name: str
    key: str
    root: str
    at: int = 0
    folder: str = ""
    ascii: bool = False
    rows: int = 0
    links: str = ""
    template: str = ""
    columns: int = 0
    env: Mapping[str, str] = {}

    @property
    def is_usable(self) -> bool:
        """Whether a line can be kept under this name and key."""
        raw = os.fsencode(self.name)
        is_name = 0 < len(raw) <= _MAX_NAME_BYTES and raw[:1] != b"."
        is_name = is_name and self.name != STAMP and "/" not in self.name
        texts = (self.name, self.key, self.root)
        plain = all("\n" not in text and "\0" not in text for text in texts)
        return is_name and plain and len(os.fsencode(self.key)) <= _MAX_KEY_BYTES


class KeptLine(NamedTuple):
    """A line in its file: ``first`` is the first line there."""

    first: str
    request: LineRequest


def encode(
    first: str, request: LineRequest, painted: str, logs: Sequence[str] = ()
) -> bytes | None:
    """Returns the file of a line, which is ``painted`` with colours and true until one
    of the ``logs`` is written to; ``None`` if the script could not be sure that a
    terminal only prints it."""
    rows = painted.split("\n") if painted else []
    row_lines = []
    for row in rows:
        sign = ""
        for part in row.removesuffix(_RESET).split(_RESET):
            code, _, text = part.removeprefix("\033[").partition("m")
            if code not in _COLORS or not is_printed_as_is(text):
                return None
            row_lines.append(f"{sign}{code} {text}")
            sign = "+"
    head = (first, request.key, request.root, *logs, *row_lines, ".")
    fields = {**request._asdict(), "env": dict(request.env)}
    text = "\n".join((*head, json.dumps(fields), ""))
    data = os.fsencode(text)
    if any("\n" in path for path in logs):
        return None
    too_long = len(data) > MAX_BYTES or len(os.fsencode(first)) > _MAX_FIRST_LINE
    return None if too_long else data


def decode(data: bytes) -> KeptLine | None:
    """Returns what a file has for wc; ``None`` if it is damaged."""
    head, end, details = os.fsdecode(data).partition(_END)
    try:
        fields: dict[str, Any] = json.loads(details) if end else {}
        request = LineRequest(**known_fields(LineRequest, fields))
        names = (request.name, request.key, request.root, request.folder)
        texts = (*names, request.links, request.template, *request.env.values())
        numbers = (request.at, request.rows, request.columns)
    except (ValueError, TypeError, AttributeError, RecursionError):
        return None
    is_typed = all(isinstance(text, str) for text in texts) and all(
        isinstance(number, int) for number in numbers
    )
    if not is_typed or not request.is_usable:
        return None
    return KeptLine(head.partition("\n")[0], request)


def facts(layout: Layout, repository: Repository | None) -> str:
    """Returns what a line depends on in the worktree: the branch or HEAD, whether that
    is detached (``d``), whether a conflict is ahead (``h``), and whether there are
    settings (``c``). Empty during a rebase, which no line is kept for. Raises OSError
    for a HEAD that cannot be read."""
    settings = "c" if os.path.isfile(layout.config) else ""
    if repository is None:
        return f"d{settings} "
    head = _first_line(f"{repository.gitdir}/HEAD")
    flags = ""
    if not head.startswith(_BRANCH):
        if any(os.path.isdir(f"{repository.gitdir}/{name}") for name in _REBASES):
            return ""
        flags = "d"
    if os.path.isfile(layout.conflict_mark(worktree_key(repository))):
        flags += "h"
    return f"{flags}{settings} {head.removeprefix(_BRANCH)}"


def sources(
    layout: Layout, repository: Repository | None, env: Mapping[str, str]
) -> Iterator[str]:
    """Yields the files and folders that others than the writer of a thread change: the
    store's settings and its threads, as git leaves them, the worktree and the conflict
    ahead of it, and who git is configured for."""
    yield from (layout.config, layout.threads)
    if admin := pointed_dir(f"{layout.root}/.git"):
        yield f"{admin}/logs/HEAD"
    if repository is not None:
        # A store in the tree changes with the code, and a named one may be one.
        if os.path.basename(layout.root) == IN_TREE or env.get("WATERCOOLER_DIR"):
            yield f"{repository.gitdir}/logs/HEAD"
        yield layout.conflict_mark(worktree_key(repository))
        yield from conflictmarks.load(layout, repository).logs
        yield from (f"{repository.gitdir}/commondir", seats.path_of(repository))
        yield f"{repository.common}/config"
    if home := env.get("HOME", ""):
        own = env.get("GIT_CONFIG_GLOBAL") or f"{home}/.gitconfig"
        yield from (own, f"{home}/.config/git/config")


def newest_ns(paths: Iterator[str]) -> int:
    """Returns when the newest of these files changed, in nanoseconds since 1970; 0 if
    there is none."""
    return max(map(_modified_ns, paths), default=0)


def _modified_ns(path: str) -> int:
    with contextlib.suppress(OSError, ValueError):
        return os.stat(path).st_mtime_ns
    return 0


def _first_line(path: str) -> str:
    return os.fsdecode(read_plain(path) or b"").partition("\n")[0]


def columns_of(text: str) -> int:
    """Returns the width in ``COLUMNS``; 0 if it is none, or unlikely."""
    return whole_number(text, _MAX_DIGITS) or 0
