"""The effect of changing links: which thread gets which, and whether that is
allowed."""

from __future__ import annotations

from wc_cli.ledger.store import locks
from wc_core.base.errors import ConflictError, InvalidInputError, NotFoundError
from wc_core.base.lean import contextlib
from wc_core.base.values import NamedTuple
from wc_core.ledger.planning import kinds, plans
from wc_core.ledger.planning.graph import OwnedLink
from wc_core.ledger.threads.model import Link

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from wc_core.base.layout import Layout
    from wc_core.ledger.threads.reader import StoreReader

_NOTHING_WRITTEN = "Nothing was written."


class ThreadLinks(NamedTuple):
    """The links that a thread gets or loses, with their texts."""

    topic: str
    links: tuple[Link, ...]
    sentences: tuple[str, ...]


@contextlib.contextmanager
def locked(layout: Layout, holder: str, seconds: float) -> Iterator[None]:
    """Hold the lock for changing links during a block: two changes that are each
    allowed may close a cycle together."""
    with locks.locked(layout.link_lock, holder, seconds, layout.root):
        yield


def additions(
    reader: StoreReader, owners: Sequence[str], kind: str, targets: Sequence[str]
) -> list[ThreadLinks]:
    """The links that threads get. Raises NotFoundError, and ConflictError for a link
    that already exists or closes a cycle."""
    topics = list(dict.fromkeys(map(reader.find, owners)))
    links = [Link(kind, topic) for topic in dict.fromkeys(map(reader.find, targets))]
    for topic in topics:
        for link in links:
            _check_new(reader, topic, link)
    _check_order(reader, [OwnedLink(topic, link) for topic in topics for link in links])
    return [_in_words(reader, topic, links) for topic in topics]


def first_links(
    reader: StoreReader,
    topic: str,
    parent: str,
    sidequest_of: str,
    blocked_by: Sequence[str],
) -> tuple[Link, ...]:
    """The links of a thread that is about to be created. Raises NotFoundError,
    InvalidInputError, and ConflictError if they close a cycle."""
    blockers = [name for item in blocked_by for name in item.split(",") if name]
    if blocked_by and not blockers:
        raise InvalidInputError(
            "--blocked-by names no thread.", "Write, for example: --blocked-by api,db"
        )
    named = [
        *([(kinds.PARENT, parent)] if parent else []),
        *([(kinds.SIDEQUEST_OF, sidequest_of)] if sidequest_of else []),
        *((kinds.BLOCKED_BY, name) for name in blockers),
    ]
    links = tuple(dict.fromkeys(Link(kind, reader.find(name)) for kind, name in named))
    _check_order(reader, [OwnedLink(topic, link) for link in links])
    return links


def _check_new(reader: StoreReader, topic: str, link: Link) -> None:
    """Raise ConflictError for a link that already exists, or to the thread itself."""
    name = _name(reader, topic)
    if any(item[:2] == link[:2] for item in reader.snapshot(topic).state.links):
        text = kinds.sentence(name, link.kind, _name(reader, link.topic))
        raise ConflictError(f"This link already exists: {text}.", _NOTHING_WRITTEN)
    if link.topic == topic:
        raise ConflictError(f"{name} cannot be linked to itself.", _NOTHING_WRITTEN)


def _check_order(reader: StoreReader, new_links: Sequence[OwnedLink]) -> None:
    """Raise ConflictError if new links close a cycle, alone or together."""
    ordering = [item for item in new_links if item.link.kind in kinds.ORDERING]
    plan = plans.plan_of(reader)
    for item in ordering:
        path = plan.would_cycle(item)
        if path:
            names = plan.name(item.topic), plan.name(item.link.topic)
            text = kinds.sentence(names[0], item.link.kind, names[1])
            raise ConflictError(
                f"{text} would be a cycle: {' → '.join(path)}.",
                f"{_NOTHING_WRITTEN} See what waits for what: wc tree",
            )
        plan.order.add(item)


def removals(
    reader: StoreReader, owners: Sequence[str], kind: str, targets: Sequence[str]
) -> list[ThreadLinks]:
    """The links that threads lose: those of a ``kind``, or of all. Raises
    NotFoundError, and ConflictError if there are none."""
    changes = []
    for owner in owners:
        topic = reader.find(owner)
        state = reader.snapshot(topic).state
        for name in targets:
            links = [
                link
                for link in state.links
                if link.topic == _target(reader, name) and kind in {"", link.kind}
            ]
            if not links:
                text = kinds.sentence(_name(reader, topic), kind or "links to", name)
                raise ConflictError(
                    f"There is no such link: {text}.",
                    f"See its links: wc tree {_name(reader, topic)}",
                )
            changes.append(_in_words(reader, topic, links))
    return changes


def _target(reader: StoreReader, name: str) -> str:
    """The topic of a linked thread, which may be gone."""
    try:
        return reader.find(name)
    except NotFoundError:
        return name


def _in_words(reader: StoreReader, topic: str, links: Sequence[Link]) -> ThreadLinks:
    name = _name(reader, topic)
    sentences = (
        kinds.sentence(name, link.kind, _name(reader, link.topic)) for link in links
    )
    return ThreadLinks(topic, tuple(links), tuple(sentences))


def _name(reader: StoreReader, topic: str) -> str:
    return reader.snapshot(topic).name if reader.has(topic) else topic
