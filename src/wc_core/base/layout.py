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


class Layout(NamedTuple):
    """The paths of the store at ``root`` (absolute, symlinks resolved), which may not
    exist. With ``pages_at`` it is not on disk, and its pages are there."""

    root: str
    pages_at: str = ""

    def relative(self, path: str) -> str:
        """A path of the store, from its root on, in a tenth of the time of
        `os.path.relpath`, which looks up the current folder."""
        return path.removeprefix(f"{self.root}/")

    @property
    def threads(self) -> str:
        """The folder with one folder per thread: the logs."""
        return f"{self.root}/graph/baseline/threads"

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

    @property
    def local(self) -> str:
        """The folder that is never committed."""
        return f"{self.root}/.local"

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

    @property
    def git_lock(self) -> str:
        """The lock of settling and of every git operation."""
        return f"{self.local}/locks/git"

    @property
    def scratch(self) -> str:
        """The folder for unfinished files, on the same file system."""
        return f"{self.local}/scratch"

    @property
    def unsettled(self) -> str:
        """The folder with one file per thread that awaits settling."""
        return f"{self.local}/unsettled"

    def authors(self, topic: str) -> str:
        """The git authors of a thread's entries that await settling."""
        return f"{self.local}/authors/{file_name(topic)}"

    def written(self, topic: str) -> str:
        """The digests of a thread's lines that were written here, see
        `wc_core.ledger.threads.written`."""
        return f"{self.local}/written/{file_name(topic)}"

    @property
    def git_user(self) -> str:
        """The user that git was last seen to be configured for, as JSON."""
        return f"{self.local}/git-user.json"

    @property
    def settling(self) -> str:
        """The problems of the last settling, as JSON; absent if there are none."""
        return f"{self.local}/settling.json"

    @property
    def committing(self) -> str:
        """Exists while git writes a commit. If it is left behind, that was killed."""
        return f"{self.local}/committing"

    @property
    def applied(self) -> str:
        """The id of the commit whose tree has been applied to the folder."""
        return f"{self.local}/applied"

    @property
    def sync_lock(self) -> str:
        """The lock of an exchange with a remote."""
        return f"{self.local}/locks/travel"

    @property
    def carried(self) -> str:
        """What travels with a branch of the code, see `wc_core.ledger.git.carried`."""
        return f"{self.local}/carried.json"

    @property
    def carrying(self) -> str:
        """A branch of the code is being moved, or was when git was killed."""
        return f"{self.local}/carrying"

    @property
    def harvest(self) -> str:
        """What was examined of agents' branches, see `wc_core.ledger.carry.records`."""
        return f"{self.local}/harvest.json"

    @property
    def harvest_lock(self) -> str:
        """Held while entries are taken from the branches of agents."""
        return f"{self.local}/locks/harvest"

    @property
    def sync_state(self) -> str:
        """The result of the last exchange with a remote, as JSON."""
        return f"{self.local}/sync.json"

    def cursors(self, topic: str) -> str:
        """The folder with the read cursors of one thread, a file per reader."""
        return f"{self.local}/cursors/{file_name(topic)}"

    @property
    def pins(self) -> str:
        """The folder with the threads chosen for worktrees, see
        `wc_core.attention.status.pins`."""
        return f"{self.local}/use"

    @property
    def line_stamp(self) -> str:
        """Shows whether the lines that are kept for the prompt are still valid."""
        return f"{self.lines}/stamp"

    @property
    def lines(self) -> str:
        """The folder with the lines that are kept for the prompt, see
        `wc_core.attention.status.keptlines`."""
        return f"{self.local}/line"

    @property
    def presence(self) -> str:
        """The folder with the participants' notes, as earlier versions kept them."""
        return f"{self.local}/presence"

    def quarantine(self, topic: str) -> str:
        """The folder for damaged bytes of one thread that repair removed."""
        return f"{self.local}/quarantine/{file_name(topic)}"

    @property
    def index_page(self) -> str:
        """The index that ``wc reindex`` writes."""
        return f"{self.local}/index.md"

    @property
    def sessions(self) -> str:
        """The folder with a record of what each agent's session was shown."""
        return f"{self.local}/sessions"

    @property
    def waiters(self) -> str:
        """The sessions that can be woken, see `wc_core.attention.wake.waiters`."""
        return f"{self.local}/waiters"

    @property
    def wakes(self) -> str:
        """The folder with the attempts to wake someone, a file for each ball, see
        `wc_core.attention.wake.records`."""
        return f"{self.local}/wakes"

    @property
    def wake_switch(self) -> str:
        """Exists while no one must be woken; see `wc_core.attention.wake.waiters`."""
        return f"{self.waiters}/=off"

    @property
    def runs(self) -> str:
        """The folder with what `wc run` started, see
        `wc_core.attention.runs.records`."""
        return f"{self.local}/runs"

    @property
    def runs_lock(self) -> str:
        """The lock of starting an agent."""
        return f"{self.local}/locks/runs"

    @property
    def landings(self) -> str:
        """The folder with the landings that are being published, a file for each
        thread, see `wc_cli.edits.landing.publishing`."""
        return f"{self.local}/landings"

    @property
    def landing_worktree(self) -> str:
        """The worktree in which a landing is checked."""
        return f"{self.local}/landing/check"

    @property
    def landing_lock(self) -> str:
        """The lock of landing branches."""
        return f"{self.local}/locks/landing"

    @property
    def claims_index(self) -> str:
        """The claims as last read, see `wc_core.edits.claims.book`."""
        return f"{self.local}/claims/index.json"

    def declined_claims(self, digest: str) -> str:
        """Why a remote accepts no claims, see `wc_cli.ledger.sync.declined`."""
        return f"{self.local}/claims/declined-{digest}"

    @property
    def held(self) -> str:
        """The folder with the participants' claims in worktrees."""
        return f"{self.local}/claims/held"

    def held_claims(self, name: str) -> str:
        """A participant's claims in a worktree, see `wc_core.edits.claims.held`."""
        return f"{self.held}/{name}"

    @property
    def claims_lock(self) -> str:
        """The lock of changing claims from this clone."""
        return f"{self.local}/locks/claims"

    @property
    def guards(self) -> str:
        """The folder with a file for each client whose guard has run here."""
        return f"{self.local}/guards"

    def guard_trace(self, client: str) -> str:
        """The file of a client; its time is that of the last run. Once it is there,
        ``bin/wc-guard`` writes it."""
        return f"{self.guards}/{client}"

    @property
    def activity_log(self) -> str:
        """The notes of participants in all clones, as earlier versions kept them."""
        return f"{self.local}/activity/log.jsonl"

    @property
    def activity_clone(self) -> str:
        """The id of this clone in that log."""
        return f"{self.local}/activity/clone"

    @property
    def links(self) -> str:
        """The folder with a file for each link between threads, see
        `wc_core.ledger.planning.linkfiles`."""
        return f"{self.local}/links"

    @property
    def unlanded(self) -> str:
        """Which approved threads wait to land, see
        `wc_core.ledger.planning.unlanded`."""
        return f"{self.local}/unlanded.json"

    @property
    def approved_commands(self) -> str:
        """The commands that may run on this machine: a SHA-256 for each."""
        return f"{self.local}/approved-commands"

    @property
    def link_lock(self) -> str:
        """The lock of changing links between threads."""
        return f"{self.local}/locks/links"

    @property
    def notified(self) -> str:
        """The folder with the notifications sent to people:
        `wc_cli.bridges.notify.notifying`."""
        return f"{self.local}/notified"

    @property
    def notify_lock(self) -> str:
        """The lock of the process that sends notifications."""
        return f"{self.local}/locks/notify"

    @property
    def radar(self) -> str:
        """Which worktrees change the same files, see `wc_core.edits.radar.kept`."""
        return f"{self.local}/radar.json"

    @property
    def radar_lock(self) -> str:
        """The lock of computing the radar."""
        return f"{self.local}/locks/radar"

    @property
    def radar_waiting(self) -> str:
        """The lock of the process that waits until the radar may be computed again."""
        return f"{self.local}/locks/radar-waiting"

    @property
    def conflict_marks(self) -> str:
        """The folder with the status line's texts about conflicts, see
        `wc_core.attention.status.conflictmarks`."""
        return f"{self.local}/hot"

    def conflict_mark(self, worktree: str) -> str:
        """The mark of a worktree: git's name for it, or ``=main``."""
        return f"{self.conflict_marks}/{worktree}"

    @property
    def snapshots(self) -> str:
        """The folder with git's objects of uncommitted changes, for the radar."""
        return f"{self.local}/snapshots"

    def graph(self, worktree: str) -> str:
        """Which files of a worktree (by git's name) use which, see
        `wc_core.edits.graph.kept`."""
        return f"{self.graphs}/worktrees/{safe_name(worktree)}.json"

    @property
    def graphs(self) -> str:
        """The folder with the graphs, and with the facts about files."""
        return f"{self.local}/graph"

    @property
    def graph_lock(self) -> str:
        """The lock of the process that computes a graph in the background."""
        return f"{self.local}/locks/graph"

    @property
    def index_folder(self) -> str:
        """The folder of the index, see `wc_core.lookup.index`."""
        return f"{self.local}/index"

    @property
    def overview(self) -> str:
        """The state of each thread, see `wc_core.lookup.index.overview`."""
        return f"{self.index_folder}/overview"

    @property
    def entry_index(self) -> str:
        """The words of each entry, see `wc_core.lookup.index.entries`."""
        return f"{self.index_folder}/entries.db"

    @property
    def recent_decisions(self) -> str:
        """The recent decisions, see `wc_core.lookup.index.decisions`."""
        return f"{self.index_folder}/decisions"

    @property
    def index_settled(self) -> str:
        """The folder of empty files that name settled threads whose new entries are not
        indexed yet."""
        return f"{self.index_folder}/settled"

    @property
    def index_behind(self) -> str:
        """The threads with entries that are not in it yet, one topic per line."""
        return f"{self.index_folder}/behind"

    @property
    def vectors(self) -> str:
        """The vectors of entries, see `wc_core.reading.meaning.vectorfile`."""
        return f"{self.index_folder}/vectors"

    @property
    def vectors_done(self) -> str:
        """The threads whose entries all have a vector, see
        `wc_core.reading.meaning.coverage`."""
        return f"{self.index_folder}/vectors-done"

    @property
    def vectors_lock(self) -> str:
        """The lock of changing these two files."""
        return f"{self.local}/locks/vectors"

    @property
    def vectors_making(self) -> str:
        """The lock of the process that makes vectors after a search. Its time is when
        one was last started."""
        return f"{self.local}/locks/vectors-making"

    @property
    def index_lock(self) -> str:
        """The lock of changing the index."""
        return f"{self.local}/locks/index"

    @property
    def index_making(self) -> str:
        """The lock of the process that indexes all threads. Its time is when one was
        last started."""
        return f"{self.local}/locks/index-making"

    @property
    def enrich_lock(self) -> str:
        """The lock of requests to model servers."""
        return f"{self.local}/locks/enrich"

    @property
    def unenriched(self) -> str:
        """The folder with one file for each thread that was written here and waits for
        a model, with the reason if one did not answer."""
        return f"{self.local}/unenriched"

    @property
    def graph_facts(self) -> str:
        """The facts about files, by blob id; see `wc_core.edits.graph.facts`."""
        return f"{self.graphs}/facts.json"

    @property
    def merges(self) -> str:
        """The folder with what git writes while a radar is computed."""
        return f"{self.local}/merges"

    @property
    def config(self) -> str:
        """The settings that all clones share."""
        return f"{self.root}/config.toml"

    @property
    def harvested(self) -> str:
        """How entries came that did not come with the branch of the threads."""
        return f"{self.root}/{HARVESTED}"

    @property
    def guidance(self) -> str:
        """The repository's guidance for its agents and people."""
        return f"{self.root}/{GUIDANCE}"

    @property
    def guidance_folder(self) -> str:
        """The folder with the repository's guidance for each occasion."""
        return f"{self.root}/{GUIDANCE_FOLDER}"

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
