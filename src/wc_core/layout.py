"""Every path in a store, and the only way from a topic to one.

A topic becomes part of a path here and nowhere else, so this module is the
guard against ``../..``.
"""

from __future__ import annotations

import os
import unicodedata
from functools import lru_cache
from typing import NamedTuple

from wc_core.errors import InvalidInputError

BRANCH = "watercooler/threads"
IN_TREE = ".watercooler"
GUIDANCE = "guidance.md"
MAX_TOPIC_BYTES = 100

# What git must know of a store: bytes stay as they are, logs merge as unions
# even without wc, and what is local stays so.
ATTRIBUTES = "* -text merge=union"
IGNORED = ".local/"

# Names that mean something else to a shell, to git or to Windows.
RESERVED = frozenset({".", "..", ".git", ".local", ".gitkeep", "con", "nul", "aux"})

# A clone on Windows could not check these out, nor ``con.anything``. Only new
# topics are refused: one that is there keeps its name.
_DEVICES = frozenset(
    {"con", "nul", "aux", "prn"}
    | {f"{port}{digit}" for port in ("com", "lpt") for digit in "0123456789¹²³"}
)

_EXTRA = frozenset("-_.")
# Our own files named after people or branches, see `safe_name`.
MAX_SAFE_BYTES = 200
# Escaped foreign names may be as long as a file name may be.
_MAX_FILE_BYTES = 255


class Layout(NamedTuple):
    """The paths of the store at ``root`` (absolute, symlinks resolved)."""

    root: str

    @property
    def threads(self) -> str:
        """The folder with one folder per thread: the logs."""
        return f"{self.root}/graph/baseline/threads"

    @property
    def pages(self) -> str:
        """The folder with one markdown page per thread."""
        return f"{self.root}/threads"

    @property
    def local(self) -> str:
        """What is never committed."""
        return f"{self.root}/.local"

    def folder(self, topic: str) -> str:
        """The folder of one thread."""
        return f"{self.threads}/{file_name(topic)}"

    def log(self, topic: str) -> str:
        """The log of one thread: the truth."""
        return f"{self.folder(topic)}/entries.jsonl"

    def meta(self, topic: str) -> str:
        """The projection with the state of one thread."""
        return f"{self.folder(topic)}/meta.json"

    def edges(self, topic: str) -> str:
        """The projection with the order of one thread."""
        return f"{self.folder(topic)}/edges.jsonl"

    def page(self, topic: str) -> str:
        """The projection for people."""
        return f"{self.pages}/{file_name(topic)}.md"

    def lock(self, topic: str) -> str:
        """The lock of one thread; never unlinked, never committed."""
        return f"{self.local}/locks/threads/{file_name(topic)}"

    @property
    def git_lock(self) -> str:
        """The lock of the settling helper and of every git operation."""
        return f"{self.local}/locks/git"

    @property
    def scratch(self) -> str:
        """Where files are half-made, on the same file system."""
        return f"{self.local}/scratch"

    @property
    def unsettled(self) -> str:
        """The folder with one empty file per thread that awaits settling."""
        return f"{self.local}/unsettled"

    @property
    def settling(self) -> str:
        """What settling last could not do, as JSON; absent when all is well."""
        return f"{self.local}/settling.json"

    @property
    def committing(self) -> str:
        """There while git writes a commit: left over, it was killed at that."""
        return f"{self.local}/committing"

    @property
    def applied(self) -> str:
        """The commit whose tree the folder has taken in: its id."""
        return f"{self.local}/applied"

    @property
    def travel_lock(self) -> str:
        """The lock of whoever exchanges with a remote."""
        return f"{self.local}/locks/travel"

    @property
    def travel(self) -> str:
        """What the last exchange with a remote came to, as JSON."""
        return f"{self.local}/sync.json"

    def cursors(self, topic: str) -> str:
        """The folder with the read cursors of one thread, a file per reader."""
        return f"{self.local}/cursors/{file_name(topic)}"

    @property
    def presence(self) -> str:
        """The folder with what participants say they are doing."""
        return f"{self.local}/presence"

    def quarantine(self, topic: str) -> str:
        """The folder for bytes of one thread that repair took out of its way."""
        return f"{self.local}/quarantine/{file_name(topic)}"

    @property
    def debug_log(self) -> str:
        """What commands did, where somebody wants to know."""
        return f"{self.local}/debug.log"

    @property
    def index_page(self) -> str:
        """What ``wc reindex`` writes."""
        return f"{self.local}/index.md"

    @property
    def sessions(self) -> str:
        """The folder with what agents' sessions have been told."""
        return f"{self.local}/sessions"

    @property
    def config(self) -> str:
        """The settings everybody shares."""
        return f"{self.root}/config.toml"

    @property
    def guidance(self) -> str:
        """What whoever works here should know, in the repository's words."""
        return f"{self.root}/{GUIDANCE}"


# More than any store has threads: a walk through all of them in turn would else
# find each one forgotten.
@lru_cache(maxsize=1 << 17)
def is_slug(text: str) -> bool:
    """Whether ``text`` may name a topic as it is (any case)."""
    return (
        0 < len(text.encode(errors="replace")) <= MAX_TOPIC_BYTES
        and text.casefold() not in RESERVED
        and not text.startswith(("-", "."))
        and unicodedata.category(text[0])[0] != "M"
        and not text.endswith(".")
        and all(_is_slug_character(one) for one in text)
        and unicodedata.normalize("NFC", text) == text
    )


def _is_slug_character(one: str) -> bool:
    if one in _EXTRA:
        return True
    # L: letters, M: the marks that many scripts write vowels with, N: digits.
    return unicodedata.category(one)[0] in "LMN"


def folded(text: str) -> str:
    """``text`` in the one spelling topics are created in: NFC, case-folded."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).casefold())


def nearest_slug(text: str) -> str:
    """The valid topic closest to ``text``; empty where nothing is left of it."""
    kept = "".join(one if _is_slug_character(one) else "-" for one in folded(text))
    while "--" in kept:
        kept = kept.replace("--", "-")
    cut = kept.encode(errors="ignore")[:MAX_TOPIC_BYTES].decode(errors="ignore")
    slug = cut.strip("-.")
    while slug and unicodedata.category(slug[0])[0] == "M":
        slug = slug[1:].lstrip("-.")
    return slug if _may_be_new(slug) else ""


def _may_be_new(topic: str) -> bool:
    return is_slug(topic) and topic.partition(".")[0] not in _DEVICES


def new_topic(text: str) -> str:
    """The topic ``text`` creates: NFC, case-folded.

    Raises InvalidInputError with the nearest valid slug where there is one.
    """
    topic = folded(text)
    if _may_be_new(topic):
        return topic
    near = nearest_slug(text)
    hint = f'Try "{near}". ' if near else ""
    shown = text if len(text) <= MAX_TOPIC_BYTES else f"{text[:40]}…"
    raise InvalidInputError(
        f"{shown!r} cannot be a topic.",
        f"{hint}A topic is letters and digits of any script, '-', '_' and '.', "
        f"at most {MAX_TOPIC_BYTES} bytes, and begins with a letter, digit or '_'.",
    )


def file_name(topic: str) -> str:
    """The file name of a topic; undoes what `topic_of` did to foreign names.

    Raises InvalidInputError for what no listing of a store can have given.
    """
    if is_slug(topic):
        return topic
    name = _unescape(topic)
    if name is None or not _is_plain(name) or topic_of(name) != topic:
        raise InvalidInputError(
            f"{topic!r} is not a topic of this store.", "List the topics with: wc list"
        )
    return name


def topic_of(name: str) -> str:
    """The topic a file or folder name stands for, foreign ones escaped:
    every byte outside the slug rule becomes ``%XX``."""
    if is_slug(name):
        return name
    escaped = "".join(
        one
        if one.isascii() and _is_slug_character(one)
        else "".join(f"%{byte:02X}" for byte in os.fsencode(one))
        for one in name
    )
    if "%" not in escaped or escaped[0] == "-":
        # The name as a whole breaks the rule, or would read as an option.
        return f"%{ord(escaped[0]):02X}{escaped[1:]}"
    return escaped


def _unescape(topic: str) -> str | None:
    raw = bytearray()
    try:
        rest = os.fsencode(topic)
    except UnicodeEncodeError:
        return None  # a lone surrogate that stands for no byte
    while rest:
        if rest[:1] == b"%":
            try:
                raw.append(int(rest[1:3], 16))
            except ValueError:
                return None
            rest = rest[3:]
        else:
            raw += rest[:1]
            rest = rest[1:]
    return os.fsdecode(bytes(raw))


def _is_plain(name: str) -> bool:
    """Whether ``name`` is one file name and stays where it is put."""
    return (
        name not in {"", ".", ".."}
        and "/" not in name
        and "\0" not in name
        and len(os.fsencode(name)) <= _MAX_FILE_BYTES
    )


def safe_name(key: str) -> str:
    """``key`` as a file name: no two keys have the same one.

    Control characters, ``/``, ``%``, ``*`` and a leading ``.`` or ``=``
    become the ``%XX`` of their bytes; the empty key is ``%``; one longer than
    `MAX_SAFE_BYTES` is cut and ends in ``%~`` and its hash.
    """
    escaped = "".join(
        _percent(one) if _is_unsafe(one, position) else one
        for position, one in enumerate(key)
    )
    if len(escaped.encode()) <= MAX_SAFE_BYTES:
        return escaped or "%"
    # Imported where it is needed: a name this long is rare, and the import
    # costs more than everything else here.
    from hashlib import sha256

    digest = sha256(escaped.encode()).hexdigest()[:32]
    head = escaped.encode()[: MAX_SAFE_BYTES - len(digest) - 2]
    return f"{head.decode(errors='ignore')}%~{digest}"


def key_of(name: str) -> str:
    """What `safe_name` made this file name of; empty where that cannot be
    told, as of a name that was cut."""
    return _unescape(name) or "" if "%" in name else name


def _is_unsafe(one: str, position: int) -> bool:
    return (
        one in "/%*"
        or (not position and one in ".=")
        or one < " "
        or "\x7f" <= one < "\xa0"
        or "\ud800" <= one <= "\udfff"
    )


def _percent(one: str) -> str:
    return "".join(f"%{byte:02X}" for byte in one.encode(errors="surrogatepass"))
