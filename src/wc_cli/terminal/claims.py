"""Claims as terminal text."""

from __future__ import annotations

from wc_core.claims.book import ENDED, HELD, LAPSED, REFUSED
from wc_core.claims.record import READ
from wc_core.text import one_line
from wc_core.times import ago, seconds_between, span

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from wc_cli.terminal.style import Style
    from wc_core.claims.book import Book
    from wc_core.claims.record import Claim

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
        _standing_text(standing, book.seconds_left(claim), book.refusal(claim)),
        *([f"thread {claim.thread}"] if claim.thread else []),
        *([f"on {claim.branch}"] if claim.branch else []),
        *([claim.note] if claim.note else []),
    ]
    return " · ".join(facts)


def _standing_text(standing: str, seconds: float, refusal: str) -> str:
    texts = {
        HELD: f"{span(max(0, int(seconds)))} left",
        ENDED: "its session has ended",
        LAPSED: "not renewed in time",
        REFUSED: f"refused: {refusal}",
    }
    return texts.get(standing, "its signature could not be verified")
