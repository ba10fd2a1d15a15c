"""Who edits what, as terminal text: claims, and the neighbours of a file."""

from __future__ import annotations

from wc_core.base.phrases import counted
from wc_core.base.text import one_line
from wc_core.base.times import ago, seconds_between, span
from wc_core.edits.claims.book import ENDED, HELD
from wc_core.edits.claims.record import READ
from wc_core.edits.graph.model import HUB, by_folder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from wc_cli.run.terminal.style import Style
    from wc_core.edits.claims.book import Book
    from wc_core.edits.claims.record import Claim
    from wc_core.edits.graph.model import FileUse, Neighbourhood

_BOLD, _DIM = "1", "2"


def claims_text(
    book: Book, is_mine: Callable[[str], bool], now_ms: int, style: Style
) -> str:
    """Return a line for each claim: target, holder, time left, reason."""
    lines = []
    for claim in book.claims:
        line = one_line(claim_line(claim, book, now_ms))
        held = book.standing(claim) == HELD
        code = _DIM if not held else _BOLD if is_mine(claim.holder) else ""
        lines.append(style(line, code) if code else line)
    return "\n".join(lines)


def claim_line(claim: Claim, book: Book, now_ms: int) -> str:
    """Return a claim on one line."""
    standing = book.standing(claim)
    facts = [
        claim.id,
        *(["read"] if claim.mode == READ else []),
        claim.holder,
        ago(seconds_between(claim.at * 1000, now_ms)),
        _standing_text(standing, book.seconds_left(claim)),
        *([f"thread {claim.thread}"] if claim.thread else []),
        *([f"on {claim.branch}"] if claim.branch else []),
        *([claim.note] if claim.note else []),
    ]
    return " · ".join(facts)


def _standing_text(standing: str, seconds: int) -> str:
    texts = {
        HELD: f"{span(seconds)} left" if seconds else "due for renewal",
        ENDED: "its session has ended",
    }
    return texts.get(standing, "not renewed in time")


_BOLD = "1"
_MAX_NAMES = 6
_MAX_FOLDERS = 20


def neighbors_text(target: str, neighbourhood: Neighbourhood, style: Style) -> str:
    """Return what a target uses, and what uses it; for a hub, by folder."""
    sides = (("uses", neighbourhood.uses), ("used by", neighbourhood.used_by))
    lines = [style(one_line(target), _BOLD)]
    for verb, uses in sides:
        lines.append(f"  {verb} {counted(len(uses), 'file')}")
        lines += [f"    {line}" for line in _lines(uses)]
    return "\n".join(lines)


def _lines(uses: tuple[FileUse, ...]) -> Iterator[str]:
    if len(uses) > HUB:
        folders = by_folder(uses)
        for folder, count in folders[:_MAX_FOLDERS]:
            yield one_line(f"{count:>4}  {folder}/")
        if len(folders) > _MAX_FOLDERS:
            yield f"and {counted(len(folders) - _MAX_FOLDERS, 'more folder')}"
        return
    for use in uses:
        names = ", ".join(use.names[:_MAX_NAMES])
        dots = ", …" if len(use.names) > _MAX_NAMES else ""
        yield one_line(f"{use.path} · {names}{dots}" if names else use.path)
