"""What somebody should know who sits down to work: whose move it is.

Made of the names of the status line's files, and of as few threads as are
shown. It has a deadline of its own: whoever asks says when it is `late`, and
gets what there is by then, marked as `partial`.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

from wc_core.errors import NotFoundError, WcError
from wc_core.files import read_from, size_of
from wc_core.layout import safe_name
from wc_core.names import parse
from wc_core.status import holders
from wc_core.status.files import FREE_FOLDER, file_name, holder_key, places_of
from wc_core.status.holders import HeldBall
from wc_core.text import clean
from wc_core.threads import codec, moves
from wc_core.threads.model import CLOSED
from wc_core.times import rfc3339
from wc_core.ulid import milliseconds, prefix
from wc_core.views import history
from wc_core.views.history import STALE_MS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from wc_core.identity.viewer import Viewer
    from wc_core.threads.model import State
    from wc_core.threads.reader import StoreReader
    from wc_core.threads.settings import Settings

# Threads in each part of a brief.
SHOWN = {"mine": 12, "offered": 6, "free": 5, "with_others": 6, "stale": 3}
# Threads of others in which somebody looks for news and for what comes back.
RECENT = 300
MAX_GUIDANCE = 2000
_MAX_GUIDANCE_BYTES = 1 << 13
_TAIL = 1 << 15


class BriefQuery(NamedTuple):
    """Who looks at which store, from where, and until when.

    ``places`` are the branches and changes one is at (`statusline.places`).
    """

    reader: StoreReader
    viewer: Viewer
    settings: Settings
    places: tuple[str, ...]
    now_ms: int
    late: Callable[[], bool]


class Last(NamedTuple):
    """The last entry of a thread; its title is empty where it was not read."""

    id: str
    author: str
    title: str = ""


class BriefItem(NamedTuple):
    """A thread in a brief.

    ``since_ms`` is since when its ball is where it is, ``None`` where nothing
    says; ``by`` who passed it there, and so waits. ``here`` says that it is of
    this branch, ``next`` that its holder would pass it to the one who looks.
    """

    topic: str
    title: str
    status: str
    ball: str | None
    since_ms: int | None
    new: int
    last: Last
    by: str = ""
    here: bool = False
    stale: bool = False
    next: bool = False

    def to_json(self) -> dict[str, Any]:
        """The thread; what is not so is left out."""
        fields: dict[str, Any] = {
            "topic": self.topic,
            "title": self.title,
            "status": self.status,
            "ball": self.ball,
            "since": None if self.since_ms is None else rfc3339(self.since_ms),
            "new_for_you": self.new,
            "last": self.last._asdict(),
        }
        said = {"by": self.by, "here": self.here, "stale": self.stale}
        told = {**said, "you_are_next": self.next}
        return fields | {key: value for key, value in told.items() if value}


class BriefSection(NamedTuple):
    """Some of the threads of one kind, and how many there are."""

    items: tuple[BriefItem, ...] = ()
    total: int = 0

    def to_json(self) -> dict[str, Any]:
        """The threads and their number."""
        return {"total": self.total, "threads": [one.to_json() for one in self.items]}


class Brief(NamedTuple):
    """What waits for ``me``.

    ``mine`` are balls at me, ``offered`` those for anybody of my kind, ``free``
    those that nobody has. ``with_others`` are threads I take part in that have
    NEW entries, or come back to me next; ``stale`` those in which somebody
    else has had the ball for more than two days. ``notes`` is what of the
    store is not as it should be, ``guidance`` the repository's own words.
    """

    me: str
    mine: BriefSection = BriefSection()
    offered: BriefSection = BriefSection()
    free: BriefSection = BriefSection()
    with_others: BriefSection = BriefSection()
    stale: BriefSection = BriefSection()
    notes: tuple[str, ...] = ()
    guidance: str = ""
    partial: bool = False

    @property
    def parts(self) -> dict[str, BriefSection]:
        """The parts by name, what matters most first."""
        return {name: getattr(self, name) for name in SHOWN}

    @property
    def is_empty(self) -> bool:
        """Whether nothing waits, and nothing is to be said."""
        waiting = any(part.total for part in self.parts.values())
        return not (waiting or self.notes or self.guidance or self.partial)

    def to_json(self, store: str) -> dict[str, Any]:
        """The brief shape."""
        return {
            "store": store,
            "you": self.me,
            **{name: part.to_json() for name, part in self.parts.items()},
            "notes": list(self.notes),
            "guidance": self.guidance,
            **({"partial": True} if self.partial else {}),
        }


def brief(look: BriefQuery, notes: Iterable[str] = ()) -> Brief:
    """The brief of a store; a bad thread spoils no other's place in it."""
    found, whole = _balls(look)
    exact, *any_of = holders.folders_of(look.viewer)
    others = [one for one in found if one.folder not in {exact, *any_of, FREE_FOLDER}]
    mine = _here_first(look, [one for one in found if one.folder == exact])
    offered = [one for one in found if one.folder in any_of]
    made = Brief(
        me=look.viewer.identity.author,
        mine=_part(look, mine, "mine"),
        offered=_part(look, offered, "offered"),
        free=_part(look, [one for one in found if one.is_free], "free"),
        notes=tuple(notes),
        guidance=_guidance(look.reader),
    )
    away, stale = _with_others(look, others), _stale(look, others)
    partial = look.late() or not whole
    return made._replace(with_others=away, stale=stale, partial=partial)


def _balls(look: BriefQuery) -> tuple[list[HeldBall], bool]:
    """Every ball, those that have been there longest first, and whether those
    are all: where the status files were never written, from the threads."""
    layout = look.reader.layout
    if folders := holders.holders(layout):
        return holders.balls(layout, folders), True
    found, whole = [], True
    for topic in look.reader.topics():
        if look.late():
            whole = False
            break
        try:
            state = look.reader.snapshot(topic).state
        except WcError:
            continue
        if state.status != CLOSED:
            key = holder_key(state, look.viewer.directory)
            folder = FREE_FOLDER if key is None else safe_name(key)
            found.append(HeldBall(folder, file_name(state)))
    return sorted(found, key=lambda one: one.name), whole


def _here_first(look: BriefQuery, found: list[HeldBall]) -> list[HeldBall]:
    """The same balls, those of threads of this branch before all others."""
    layout, here = look.reader.layout, set[str]()
    for place in look.places:
        for folder in {one.folder for one in found}:
            path = f"{layout.local}/status/branch/{place}/.t/{folder}"
            here |= set(holders.names_at(layout, path))
    return sorted(found, key=lambda one: (one.name not in here, one.name))


def _part(look: BriefQuery, found: list[HeldBall], name: str) -> BriefSection:
    """As many of these threads as are shown, and how many there are."""
    items: list[BriefItem] = []
    gone = 0
    for held in found:
        if len(items) == SHOWN[name] or look.late():
            break
        one = _item(look, held)
        if one is None:
            gone += 1
        else:
            items.append(one)
    return BriefSection(tuple(items), len(found) - gone)


def _item(look: BriefQuery, held: HeldBall) -> BriefItem | None:
    """A thread; ``None`` where its ball is elsewhere by now."""
    topic = held.topic
    try:
        state = look.reader.snapshot(topic).state
    except NotFoundError:
        return None
    except WcError:
        told = "(cannot be read; see wc doctor)"
        return BriefItem(topic, told, "?", None, None, 0, Last("", ""))
    key = holder_key(state, look.viewer.directory)
    folder = FREE_FOLDER if key is None else safe_name(key)
    if state.status == CLOSED or folder != held.folder:
        return None
    return _told(look, state)


def _told(look: BriefQuery, state: State) -> BriefItem:
    viewer = look.viewer
    cursor = look.reader.cursor(state.topic, viewer.key)
    return BriefItem(
        topic=state.topic,
        title=state.title,
        status=state.status,
        ball=state.ball,
        since_ms=history.since_ms(state),
        new=viewer.new_count(state, cursor),
        last=_last(look.reader, state),
        by=next((one.by for one in state.passes if one.to == state.ball), ""),
        here=not set(places_of(state)).isdisjoint(look.places),
        stale=history.is_stale(state, look.now_ms),
        next=_is_next(look, state),
    )


def _is_next(look: BriefQuery, state: State) -> bool:
    """Whether the holder of a ball would pass it to the one who looks."""
    if state.ball is None or look.viewer.holds(state.ball):
        return False
    ball = moves.counterpart(state, parse(state.ball), look.settings)
    return look.viewer.holds(ball.holder)


def _last(reader: StoreReader, state: State) -> Last:
    """The last entry, by the end of the log alone: a title is not worth
    reading all of it."""
    known = Last(state.last_id, state.updated_by)
    path = reader.layout.log(state.topic)
    try:
        size = size_of(path, reader.layout.root)
        data = read_from(path, reader.layout.root, max(0, size - _TAIL))
    except OSError:
        return known
    line = data.rstrip(b"\n").rpartition(b"\n")[2]
    entries = codec.read_log(state.topic, line + b"\n", path).entries
    if not entries or entries[-1].id != state.last_id:
        return known
    return known._replace(title=entries[-1].title)


def _with_others(look: BriefQuery, others: list[HeldBall]) -> BriefSection:
    """What others have of the threads one takes part in, news first."""
    found = []
    for held in _taken_part_in(look, reversed(others)):
        one = _item(look, held)
        if one is not None and (one.new or one.next):
            found.append(one)
            if len(found) > SHOWN["with_others"] * 2:
                break
    found.sort(key=lambda one: not one.new)
    return BriefSection(tuple(found[: SHOWN["with_others"]]), len(found))


def _stale(look: BriefQuery, others: list[HeldBall]) -> BriefSection:
    """What others have had for too long of the threads one takes part in."""
    limit = look.now_ms - STALE_MS
    old = (one for one in others if _moment(one) < limit)
    found = [*_taken_part_in(look, old)]
    part = _part(look, found, "stale")
    return part._replace(items=tuple(one for one in part.items if one.stale))


def _moment(held: HeldBall) -> int:
    since = prefix(held.since)
    return milliseconds(since) if since else 0


def _taken_part_in(look: BriefQuery, found: Iterable[HeldBall]) -> Iterator[HeldBall]:
    """Of the first `RECENT`, those of threads somebody wrote in."""
    layout = look.reader.layout
    some = islice(found, RECENT)
    for held, shown in holders.shows(layout, some, look.viewer):
        if look.late():
            return
        if _wrote_in(look, held) if shown is None else shown.listed:
            yield held


def _wrote_in(look: BriefQuery, held: HeldBall) -> bool:
    """The same, where the thread itself has to tell."""
    try:
        state = look.reader.snapshot(held.topic).state
    except WcError:
        return False
    return any(look.viewer.is_me(one.name) for one in state.participants)


def _guidance(reader: StoreReader) -> str:
    """What stands in ``guidance.md``, cleaned and cut; empty where there is
    none, or nothing that can be read."""
    layout = reader.layout
    try:
        data = read_from(layout.guidance, layout.root, 0, _MAX_GUIDANCE_BYTES)
    except OSError:
        return ""
    text = clean(data.decode(errors="replace")).strip()
    return text if len(text) <= MAX_GUIDANCE else f"{text[: MAX_GUIDANCE - 1]}…"
