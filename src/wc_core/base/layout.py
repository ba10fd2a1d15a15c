"""The paths in a store, and the rules for topics.

A topic becomes part of a path only here, so this module is the guard against
``../..``.
"""

from __future__ import annotations

import os

from wc_core.base.errors import InvalidInputError
from wc_core.base.files import read_plain
from wc_core.base.lean import hashlib, re
from wc_core.base.lean.functools import lru_cache
from wc_core.base.values import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection

BRANCH = "watercooler/threads"
# Earlier versions kept claims in it, at remotes that take no other refs.
CLAIMS_BRANCH = "watercooler/claims"
IN_TREE = ".watercooler"
# The end of the name of a folder with what must be known before there is a store.
EARLY = ".idle"
# The end of the name of a folder with what must not be in the store, see
# `wc_core.ledger.git.private`.
PRIVATE = ".private"
GUIDANCE = "guidance.md"
# Relative to ``.local``: the last visit of each participant, see `status.lastvisits`.
VISITS = "visits"
GUIDANCE_FOLDER = "guidance"
HARVESTED = "harvested.jsonl"
# Relative to the store: where its pages are, of wc and of some older tools.
PAGES, OLDER_PAGES = "threads", "watercooler/threads"
# Relative to the store: the locks of the older tool's MCP server, which it commits.
OLDER_LOCKS = ".watercooler/locks"
MAX_TOPIC_BYTES = 100
# The thread with what participants say they are doing: no list contains it, and no text
# of a user names it. See `wc_core.edits.notes`.
NOTES = "_notes"

# For git: bytes stay unchanged, logs merge as unions even without wc, and local files
# are not committed.
ATTRIBUTES = "* -text merge=union"
IGNORED = ".local/"

# Names with a meaning to a shell, to git or to Windows.
RESERVED = frozenset({".", "..", ".git", ".local", ".gitkeep", "con", "nul", "aux"})

# A clone on Windows could not check these out, nor ``con.anything``. They are refused
# for new topics only: an existing thread keeps its name.
_DEVICES = frozenset(
    {"con", "nul", "aux", "prn"}
    | {f"{port}{digit}" for port in ("com", "lpt") for digit in "0123456789¹²³"}
)

_EXTRA = frozenset("-_.")
# For our files that are named after people or branches, see `safe_name`.
MAX_SAFE_BYTES = 200
_WORD_SIGNS = str.maketrans("", "", "-_.")
# In the keys of participants: claudecode@fix(pat).
_KEY_SIGNS = str.maketrans("", "", "-_.@()")
# No topic contains any of these once a slash is added at each end.
_NOT_IN_SLUGS = ("//", "/-", "/.", "./")
# Names of other tools may be as long as the file system allows.
_MAX_FILE_BYTES = 255
# The head of a thread's page in the format of the oldest tools.
_PAGE_HEAD = rb"(?m)^(?:Status|Ball):"
_HEAD_BYTES = 1000


class StorePath:
    """A path of every store, with what leads to it from the store's root."""

    def __init__(self, path: str) -> None:
        self._path = path

    def __get__(self, layout: _Root, _: type) -> str:
        """The path in a store."""
        return f"{layout.root}/{self._path}"


class _Root(NamedTuple):
    root: str
    pages_at: str = ""


class Layout(_Root):
    """The paths of the store at ``root`` (absolute, symlinks resolved), which may not
    exist. With ``pages_at`` it is not on disk, and its pages are there."""

    __slots__ = ()

    # The folder with one folder per thread: the logs.
    threads = StorePath("graph/baseline/threads")
    # The folder that is never committed.
    local = StorePath(".local")
    # The lock of settling and of every git operation.
    git_lock = StorePath(".local/locks/git")
    # The folder for unfinished files, on the same file system.
    scratch = StorePath(".local/scratch")
    # The folder with one file per thread that awaits settling.
    unsettled = StorePath(".local/unsettled")
    # The user that git was last seen to be configured for, as JSON.
    git_user = StorePath(".local/git-user.json")
    # The problems of the last settling, as JSON; absent if there are none.
    settling = StorePath(".local/settling.json")
    # Exists while git writes a commit. If it is left behind, that was killed.
    committing = StorePath(".local/committing")
    # The id of the commit whose tree has been applied to the folder.
    applied = StorePath(".local/applied")
    # The lock of an exchange with a remote.
    sync_lock = StorePath(".local/locks/travel")
    # What travels with a branch of the code, see `wc_core.ledger.git.carried`.
    carried = StorePath(".local/carried.json")
    # A branch of the code is being moved, or was when git was killed.
    carrying = StorePath(".local/carrying")
    # What was examined of agents' branches, see `wc_core.ledger.carry.records`.
    harvest = StorePath(".local/harvest.json")
    # Held while entries are taken from the branches of agents.
    harvest_lock = StorePath(".local/locks/harvest")
    # The result of the last exchange with a remote, as JSON.
    sync_state = StorePath(".local/sync.json")
    # The folder with the threads chosen for worktrees, see
    # `wc_core.attention.status.pins`.
    pins = StorePath(".local/use")
    # Shows whether the lines that are kept for the prompt are still valid.
    line_stamp = StorePath(".local/line/stamp")
    # The folder with the lines that are kept for the prompt, see
    # `wc_core.attention.status.keptlines`.
    lines = StorePath(".local/line")
    # The index that ``wc reindex`` writes.
    index_page = StorePath(".local/index.md")
    # The folder with a record of what each agent's session was shown.
    sessions = StorePath(".local/sessions")
    # The sessions that can be woken, see `wc_core.attention.wake.waiters`.
    waiters = StorePath(".local/waiters")
    # The folder with the attempts to wake someone, a file for each ball, see
    # `wc_core.attention.wake.records`.
    wakes = StorePath(".local/wakes")
    # Exists while no one must be woken; see `wc_core.attention.wake.waiters`.
    wake_switch = StorePath(".local/waiters/=off")
    # The folder with what `wc run` started, see `wc_core.attention.runs.records`.
    runs = StorePath(".local/runs")
    # The lock of starting an agent.
    runs_lock = StorePath(".local/locks/runs")
    # The folder with the landings that are being published, a file for each thread,
    # see `wc_cli.edits.landing.publishing`.
    landings = StorePath(".local/landings")
    # The worktree in which a landing is checked.
    landing_worktree = StorePath(".local/landing/check")
    # The lock of landing branches.
    landing_lock = StorePath(".local/locks/landing")
    # The claims as last read, see `wc_core.edits.claims.book`.
    claims_index = StorePath(".local/claims/index.json")
    # The folder with the participants' claims in worktrees.
    held = StorePath(".local/claims/held")
    # The lock of changing claims from this clone.
    claims_lock = StorePath(".local/locks/claims")
    # The folder with a file for each client whose guard has run here.
    guards = StorePath(".local/guards")
    # Which approved threads wait to land, see `wc_core.ledger.planning.unlanded`.
    unlanded = StorePath(".local/unlanded.json")
    # The commands that may run on this machine: a SHA-256 for each.
    approved_commands = StorePath(".local/approved-commands")
    # The lock of changing links between threads.
    link_lock = StorePath(".local/locks/links")
    # The folder with the notifications sent to people:
    # `wc_cli.bridges.notify.notifying`.
    notified = StorePath(".local/notified")
    # The lock of the process that sends notifications.
    notify_lock = StorePath(".local/locks/notify")
    # Which worktrees change the same files, see `wc_core.edits.radar.kept`.
    radar = StorePath(".local/radar.json")
    # The lock of computing the radar.
    radar_lock = StorePath(".local/locks/radar")
    # The lock of the process that waits until the radar may be computed again.
    radar_waiting = StorePath(".local/locks/radar-waiting")
    # The folder with the status line's texts about conflicts, see
    # `wc_core.attention.status.conflictmarks`.
    conflict_marks = StorePath(".local/hot")
    # The folder with git's objects of uncommitted changes, for the radar.
    snapshots = StorePath(".local/snapshots")
    # The folder with the graphs, and with the facts about files.
    graphs = StorePath(".local/graph")
    # The lock of the process that computes a graph in the background.
    graph_lock = StorePath(".local/locks/graph")
    # What lists and searches read instead of all logs: `wc_core.ledger.index.cache`.
    cache = StorePath(".local/cache.db")
    # The folder of empty files that name settled threads which the cache does not have
    # as they are.
    traces = StorePath(".local/uncached")
    # The folder of the vectors.
    index_folder = StorePath(".local/index")
    # The vectors of entries, see `wc_core.reading.meaning.vectorfile`.
    vectors = StorePath(".local/index/vectors")
    # The threads whose entries all have a vector, see
    # `wc_core.reading.meaning.coverage`.
    vectors_done = StorePath(".local/index/vectors-done")
    # The lock of changing these two files.
    vectors_lock = StorePath(".local/locks/vectors")
    # The lock of the process that makes vectors after a search. Its time is when one
    # was last started.
    vectors_making = StorePath(".local/locks/vectors-making")
    # The lock of changing the cache.
    index_lock = StorePath(".local/locks/index")
    # The lock of the process that makes the cache. Its time is when one was last
    # started.
    index_making = StorePath(".local/locks/index-making")
    # The lock of requests to model servers.
    enrich_lock = StorePath(".local/locks/enrich")
    # The folder with one file for each thread that was written here and waits for a
    # model, with the reason if one did not answer.
    unenriched = StorePath(".local/unenriched")
    # The facts about files, by blob id; see `wc_core.edits.graph.facts`.
    graph_facts = StorePath(".local/graph/facts.json")
    # The folder with what git writes while a radar is computed.
    merges = StorePath(".local/merges")
    # The settings that all clones share.
    config = StorePath("config.toml")
    # How entries came that did not come with the branch of the threads.
    harvested = StorePath(HARVESTED)
    # The repository's guidance for its agents and people.
    guidance = StorePath(GUIDANCE)
    # The folder with the repository's guidance for each occasion.
    guidance_folder = StorePath(GUIDANCE_FOLDER)

    def relative(self, path: str) -> str:
        """A path of the store, from its root on, in a tenth of the time of
        `os.path.relpath`, which looks up the current folder."""
        return path.removeprefix(f"{self.root}/")

    @property
    def pages(self) -> str:
        """The folder for one markdown page per thread: where an older tool has put
        them, if one did."""
        if self.pages_at:
            return f"{self.root}/{self.pages_at}"
        usual, older = f"{self.root}/{PAGES}", f"{self.root}/{OLDER_PAGES}"
        if os.path.isdir(older):
            return older
        if os.path.isdir(usual) or not has_oldest_pages(self.root):
            return usual
        return self.root

    def folder(self, topic: str) -> str:
        """The folder of one thread."""
        return f"{self.threads}/{file_name(topic)}"

    def log(self, topic: str) -> str:
        """The log of one thread: its only source of truth."""
        return f"{self.folder(topic)}/entries.jsonl"

    def meta(self, topic: str) -> str:
        """The projection with the state of one thread."""
        return f"{self.folder(topic)}/meta.json"

    def annotations(self, topic: str) -> str:
        """The older tool's annotations of one thread; wc only reads them."""
        return f"{self.folder(topic)}/annotations.jsonl"

    def summaries(self, topic: str) -> str:
        """The models' summaries of one thread, see `wc_core.ledger.summaries.kept`."""
        return f"{self.folder(topic)}/summaries.jsonl"

    def edges(self, topic: str) -> str:
        """The projection with the order of one thread's entries."""
        return f"{self.folder(topic)}/edges.jsonl"

    def page(self, topic: str) -> str:
        """The projection of one thread for people, in markdown."""
        name, pages = f"{file_name(topic)}.md", self.pages
        usual = f"{self.root}/{PAGES}/{name}"
        if pages == self.root and self.is_other(name):
            return f"{self.local}/{name}"
        # An older tool may have begun to use another folder.
        has_moved = not self.pages_at and pages != f"{self.root}/{PAGES}"
        return usual if has_moved and os.path.lexists(usual) else f"{pages}/{name}"

    def is_other(self, name: str) -> bool:
        """Whether a markdown file directly in the store is no thread's page, such as a
        readme. Wc does not write there."""
        return name == GUIDANCE or _is_page(f"{self.root}/{name}") is False

    def lock(self, topic: str) -> str:
        """The lock of one thread; never unlinked, never committed."""
        return f"{self.local}/locks/threads/{file_name(topic)}"

    def older_lock(self, topic: str) -> str:
        """The lock of one thread as the older tool makes it: it exists while held."""
        return f"{self.root}/{_older_lock_name(topic)}"

    def authors(self, topic: str) -> str:
        """The git authors of a thread's entries that await settling."""
        return f"{self.local}/authors/{file_name(topic)}"

    def written(self, topic: str) -> str:
        """The digests of a thread's lines that were written here, see
        `wc_core.ledger.threads.written`."""
        return f"{self.local}/written/{file_name(topic)}"

    def cursors(self, topic: str) -> str:
        """The folder with the read cursors of one thread, a file per reader."""
        return f"{self.local}/cursors/{file_name(topic)}"

    def quarantine(self, topic: str) -> str:
        """The folder for damaged bytes of one thread that repair removed."""
        return f"{self.local}/quarantine/{file_name(topic)}"

    def declined_claims(self, digest: str) -> str:
        """Why a remote accepts no claims, see `wc_cli.edits.claims.remote`."""
        return f"{self.local}/claims/declined-{digest}"

    def held_claims(self, name: str) -> str:
        """A participant's claims in a worktree, see `wc_core.edits.claims.held`."""
        return f"{self.held}/{name}"

    def guard_trace(self, client: str) -> str:
        """The file of a client; its time is that of the last run. Once it is there,
        ``bin/wc-guard`` writes it."""
        return f"{self.guards}/{client}"

    def conflict_mark(self, worktree: str) -> str:
        """The mark of a worktree: git's name for it, or ``=main``."""
        return f"{self.conflict_marks}/{worktree}"

    def graph(self, worktree: str) -> str:
        """Which files of a worktree (by git's name) use which, see
        `wc_core.edits.graph.kept`."""
        return f"{self.graphs}/worktrees/{safe_name(worktree)}.json"

    def guidance_of(self, occasion: str) -> str:
        """The repository's guidance for an occasion."""
        return f"{self.guidance_folder}/{safe_name(occasion)}.md"


def has_oldest_pages(root: str) -> bool:
    """Whether the pages of threads are directly in a folder, as the oldest tools kept
    them."""
    try:
        names = [name for name in os.listdir(root) if name.endswith(".md")]
    except OSError:
        return False  # reading the store reports it
    return any(_is_page(f"{root}/{name}") for name in names if name != GUIDANCE)


def _is_page(path: str) -> bool | None:
    """Whether a file is the page of a thread; ``None`` if it is empty or cannot be
    read."""
    try:
        data = read_plain(path)
    except OSError:
        return None
    return re.search(_PAGE_HEAD, data[:_HEAD_BYTES]) is not None if data else None


def _older_lock_name(topic: str) -> str:
    """The file name of the older tool's lock of a thread."""
    if topic.isascii() and topic.translate(_WORD_SIGNS).isalnum():
        name = topic
    else:
        name = re.sub(r"[^A-Za-z0-9._-]+", "-", topic)
    return f".{name.strip('-._') or 'topic'}.lock"


def is_older_lock(path: str) -> bool:
    """Whether a path of the store is a lock of the older tool: in the root, or one of
    its MCP server's."""
    is_in_root = "/" not in path and path.startswith(".") and path.endswith(".lock")
    return is_in_root or path.startswith(f"{OLDER_LOCKS}/")


# More than any store has threads. A smaller cache would miss on each topic when all are
# listed in turn.
@lru_cache(maxsize=1 << 17)
def is_slug(text: str) -> bool:
    """Whether ``text`` is a valid topic as written (in any case)."""
    if text.isascii():
        # Takes a tenth of the time of the code below, for nearly every name.
        bare = text.translate(_WORD_SIGNS)
        return (
            0 < len(text) <= MAX_TOPIC_BYTES
            and (bare.isalnum() or not bare)
            and text[0] not in "-."
            and text[-1] != "."
            and text.lower() not in RESERVED
        )
    return (
        len(text.encode(errors="replace")) <= MAX_TOPIC_BYTES
        and text.casefold() not in RESERVED
        and not text.startswith(("-", "."))
        and _kind(text[0]) != "M"
        and not text.endswith(".")
        and all(_is_slug_character(character) for character in text)
        and _composed(text) == text
    )


def _is_slug_character(character: str) -> bool:
    if character.isascii():
        return character.isalnum() or character in _EXTRA
    # L: letters, M: the marks that many scripts write vowels with, N: digits.
    return _kind(character) in "LMN"


def _kind(character: str) -> str:
    """Return the first letter of a character's category in Unicode."""
    import unicodedata  # 0.2 ms, only for topics that are not ASCII

    return unicodedata.category(character)[0]


def _composed(text: str) -> str:
    """Return ``text`` in NFC."""
    if text.isascii():
        return text
    import unicodedata  # as above

    return unicodedata.normalize("NFC", text)


def folded(text: str) -> str:
    """``text`` in the spelling of new topics: NFC, case-folded."""
    return _composed(_composed(text).casefold())


def nearest_slug(text: str) -> str:
    """The valid topic closest to ``text``; empty if there is none."""
    slug = "".join(
        character if _is_slug_character(character) else "-"
        for character in folded(text)
    )
    while "--" in slug:
        slug = slug.replace("--", "-")
    slug = slug.encode(errors="ignore")[:MAX_TOPIC_BYTES].decode(errors="ignore")
    slug = slug.strip("-.")
    while slug and _kind(slug[0]) == "M":
        slug = slug[1:].lstrip("-.")
    return slug if _may_be_new(slug) else ""


def _may_be_new(topic: str) -> bool:
    is_reserved = topic == NOTES or topic.partition(".")[0] in _DEVICES
    return is_slug(topic) and not is_reserved


def new_topic(text: str) -> str:
    """The topic of a new thread that a user calls ``text``: NFC, case-folded.

    Raises InvalidInputError with the nearest valid topic, if there is one.
    """
    topic = folded(text)
    if _may_be_new(topic):
        return topic
    if topic == NOTES:
        raise InvalidInputError(
            f"{topic!r} cannot be a topic: it is the thread of notes.",
            "Choose another name. To leave a note: wc note TEXT",
        )
    near = nearest_slug(text)
    hint = f'Try "{near}". ' if near else ""
    label = text if len(text) <= MAX_TOPIC_BYTES else f"{text[:40]}…"
    raise InvalidInputError(
        f"{label!r} cannot be a topic.",
        f"{hint}A topic is letters and digits of any script, '-', '_' and '.', "
        f"at most {MAX_TOPIC_BYTES} bytes, and begins with a letter, digit or '_'.",
    )


def file_name(topic: str) -> str:
    """The file name of a topic: the reverse of `topic_of`.

    Raises InvalidInputError for text that `topic_of` never returns.
    """
    if is_slug(topic):
        return topic
    name = _decoded_name(topic)
    if name is None or not _is_file_name(name) or topic_of(name) != topic:
        raise InvalidInputError(
            f"{topic!r} is not a topic of this store.", "List the topics with: wc list"
        )
    return name


def topic_of(name: str) -> str:
    """The topic of a file or folder name.

    In a name that is not a valid topic, every byte that a topic cannot have is escaped
    as ``%XX``.
    """
    if is_slug(name):
        return name
    escaped = "".join(
        character
        if character.isascii() and _is_slug_character(character)
        else "".join(f"%{byte:02X}" for byte in os.fsencode(character))
        for character in name
    )
    if "%" not in escaped or escaped[0] == "-":
        # The characters are valid, but the whole name is not, or it looks like an
        # option.
        return f"%{ord(escaped[0]):02X}{escaped[1:]}"
    return escaped


def topics_of(names: Collection[str]) -> list[str]:
    """The topics of file or folder names, in the same order."""
    if _are_slugs(names):
        return [*names]
    return [topic_of(name) for name in names]


def file_names(topics: Collection[str]) -> list[str]:
    """The file names of topics, in the same order.

    Raises InvalidInputError for text that `topic_of` never returns.
    """
    if _are_slugs(topics):
        return [*topics]
    return [file_name(topic) for topic in topics]


def _are_slugs(names: Collection[str]) -> bool:
    """Whether every name is a valid topic, checked in one step for all of them:
    `is_slug` takes 10 ms for 10,000. It may be False for names that are."""
    joined = f"/{'/'.join(names)}/"
    return (
        joined.isascii()
        and joined.translate(_WORD_SIGNS).replace("/", "").isalnum()
        and joined.count("/") == len(names) + 1
        and not any(sign in joined for sign in _NOT_IN_SLUGS)
        and max(map(len, names)) <= MAX_TOPIC_BYTES
        and RESERVED.isdisjoint(joined.lower().split("/"))
    )


def _decoded_name(topic: str) -> str | None:
    raw = bytearray()
    try:
        remaining = os.fsencode(topic)
    except UnicodeEncodeError:
        return None  # a lone surrogate that represents no byte
    while remaining:
        if remaining[:1] == b"%":
            try:
                raw.append(int(remaining[1:3], 16))
            except ValueError:
                return None
            remaining = remaining[3:]
        else:
            raw += remaining[:1]
            remaining = remaining[1:]
    return os.fsdecode(bytes(raw))


def _is_file_name(name: str) -> bool:
    """Whether ``name`` is one file name, which cannot lead out of a folder."""
    return (
        name not in {"", ".", ".."}
        and "/" not in name
        and "\0" not in name
        and len(os.fsencode(name)) <= _MAX_FILE_BYTES
    )


def safe_name(key: str) -> str:
    """``key`` as a file name, different for each key.

    Control characters, ``/``, ``%``, ``*`` and a leading ``.`` or ``=``
    become the ``%XX`` of their bytes; the empty key is ``%``; one longer than
    `MAX_SAFE_BYTES` is cut and ends in ``%~`` and its hash.
    """
    if _is_plain(key):
        return key  # most keys, and ten times as fast
    escaped = "".join(
        _percent_encoded(character) if _is_unsafe(character, position) else character
        for position, character in enumerate(key)
    )
    if len(escaped.encode()) <= MAX_SAFE_BYTES:
        return escaped or "%"
    digest = hashlib.new("sha256", escaped.encode(), usedforsecurity=False)
    end = f"%~{digest.hexdigest()[:32]}"
    head = escaped.encode()[: MAX_SAFE_BYTES - len(end)]
    return head.decode(errors="ignore") + end


def _is_plain(key: str) -> bool:
    """Whether a key has only ASCII letters and digits, and ``-_.@()`` in it, and can be
    a file name as it is."""
    ascii_words = key.isascii() and key.translate(_KEY_SIGNS).isalnum()
    return ascii_words and key[0] != "." and len(key) <= MAX_SAFE_BYTES


def key_of(name: str) -> str:
    """The key of a file name: the reverse of `safe_name`; empty if it was cut."""
    return _decoded_name(name) or "" if "%" in name else name


def _is_unsafe(character: str, position: int) -> bool:
    return (
        character in "/%*"
        or (not position and character in ".=")
        or character < " "
        or "\x7f" <= character < "\xa0"
        or "\ud800" <= character <= "\udfff"
    )


def _percent_encoded(character: str) -> str:
    return "".join(f"%{byte:02X}" for byte in character.encode(errors="surrogatepass"))
