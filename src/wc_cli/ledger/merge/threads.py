"""Merges a thread: its logs, and the other tools' keys in its metas.

Works on bytes only; nothing uses git or the disk.
"""

from __future__ import annotations

from wc_cli.ledger.merge.logs import old_entries, unite
from wc_cli.ledger.merge.threeway import merge_keys
from wc_core.base.errors import Damage
from wc_core.base.values import NamedTuple
from wc_core.ledger.threads import codec, model, projections
from wc_core.ledger.threads.pages import page as page_format

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

    from wc_cli.ledger.merge.logs import LogUnion
    from wc_cli.ledger.merge.threeway import Keys
    from wc_core.ledger.threads.model import Entry
    from wc_core.ledger.threads.projections import Meta


class Versions(NamedTuple):
    """The content of a file in the three trees of a merge; ``None`` for no file."""

    base: bytes | None
    ours: bytes | None
    theirs: bytes | None


class ThreadSide(NamedTuple):
    """The log and the page of a thread on one side; ``None`` for a file it lacks."""

    log: bytes | None
    page: bytes | None

    def page_entries(self, topic: str) -> tuple[Entry, ...]:
        """The entries of the page, for a thread without a log, from before logs
        existed."""
        return () if self.log is not None else old_entries(topic, self.page)


class MergedLog(NamedTuple):
    """The log of a merged thread, and the entries that we get from it."""

    union: LogUnion
    gained: tuple[Entry, ...]


def merge_thread_logs(
    topic: str, base_page: bytes | None, ours: ThreadSide, theirs: ThreadSide
) -> MergedLog:
    """Merge the logs of a thread. For a side without a log, the entries of its page
    count. A log that is the same on both sides stays unchanged."""
    logs = (ours.log or b"", theirs.log or b"")
    pages = (ours.page_entries(topic), theirs.page_entries(topic))
    union = unite(topic, *logs)
    if any(pages):
        known_ids = _known_ids(topic, union, base_page)
        lines = _lines_without(pages, known_ids)
        union = unite(topic, *logs, b"".join(lines))
    elif ours.log == theirs.log:
        union = union._replace(data=logs[0])
    our_ids = union.ids[0] | {entry.id for entry in pages[0]}
    gained = tuple(entry for entry in union.entries if entry.id not in our_ids)
    return MergedLog(union, gained)


def _known_ids(topic: str, union: LogUnion, base_page: bytes | None) -> frozenset[str]:
    """The ids of entries that a page need not add."""
    ids = frozenset(entry.id for entry in union.entries)
    if model.written_by_wc(union.entries):
        return ids
    # Another tool's log may lack the ids that wc derives from a page.
    return ids.union(entry.id for entry in old_entries(topic, base_page))


def _lines_without(
    pages: Iterable[tuple[Entry, ...]], known_ids: frozenset[str]
) -> Iterator[bytes]:
    for page in pages:
        for position, entry in enumerate(page):
            if entry.id not in known_ids:
                yield codec.to_line(entry, position)


def read_metas(topic: str, meta: Versions) -> list[Meta | None]:
    """The metas of the three trees; ``None`` for a missing or unreadable one."""
    return [_read_meta(topic, data) for data in meta]


def _read_meta(topic: str, data: bytes | None) -> Meta | None:
    meta = projections.read_meta(topic, data) if data is not None else None
    return None if isinstance(meta, Damage) else meta


def newer_meta(metas: list[Meta | None]) -> int:
    """The side whose meta a newer wc wrote, see `_newer_side`."""
    versions = [meta.version if meta is not None else 0 for meta in metas[1:]]
    return _newer_side(versions, projections.VERSION)


def newer_page(topic: str, page: Versions) -> int:
    """The side whose page a newer wc wrote, see `_newer_side`."""
    versions = [_page_version(topic, data) for data in page[1:]]
    return _newer_side(versions, page_format.PROJECTION_VERSION)


def _newer_side(versions: list[int], current: int) -> int:
    """The side whose version is greater than ``current``: 1 for ours, 2 for theirs, 0
    for neither."""
    our_version, their_version = versions
    if max(versions) <= current:
        return 0
    return 1 if our_version > their_version else 2


def _page_version(topic: str, page: bytes | None) -> int:
    """The version of a page, which is in its head, before the first entry."""
    head, _, _ = (page or b"").partition(b"\n---\nEntry: ")
    return page_format.parse(topic, head + b"\n").version


def merge_unknown_keys(metas: list[Meta | None]) -> Keys:
    """Merge the keys of other tools. A missing or unreadable meta does not count as
    deleting them. If both have a new summary, theirs replaces ours."""
    base_keys: dict[str, Any] = {}
    if metas[0] is not None:
        base_keys = dict(metas[0].unknown)
    our_keys, their_keys = (
        base_keys if meta is None else meta.unknown for meta in metas[1:]
    )
    summary = their_keys.get(projections.SUMMARY)
    if summary not in {None, base_keys.get(projections.SUMMARY)}:
        own = {projections.SUMMARY, projections.SUMMARY_HASH}
        our_keys = {key: our_keys[key] for key in our_keys if key not in own}
    return merge_keys(base_keys, our_keys, their_keys)


def has_foreign_text(topic: str, page: bytes | None) -> bool:
    """Return whether a page that wc did not render contains more than entries."""
    if not page or _page_version(topic, page):
        return False
    parsed = page_format.parse(topic, page)
    return bool(parsed.damage) or not parsed.entries
