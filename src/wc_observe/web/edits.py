"""The page of edits: which worktrees will conflict, and who has claimed what."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wc_core.base.layout import Layout
from wc_core.base.phrases import counted
from wc_core.base.text import one_line
from wc_core.base.times import rfc3339, span
from wc_core.edits.claims.book import ENDED, HELD
from wc_core.edits.claims.record import READ
from wc_core.edits.radar import kept
from wc_core.edits.radar.model import HOT, KINDS, REGISTRY, SOFT
from wc_core.reading.views.conflicts import file_text
from wc_observe.answers.claims import read_claims
from wc_observe.web.board.facts import worktree_person
from wc_observe.web.html import NOTHING, Html, element, joined
from wc_observe.web.page import WebPage, moment, person

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from wc_core.base.names import Directory
    from wc_core.edits.claims.record import Claim
    from wc_core.edits.radar.model import ApprovedBranch, Pair, Radar, SharedFile, Side
    from wc_observe.answers.claims import ClaimsView
    from wc_observe.callers.open_store import OpenStore
    from wc_observe.web.page import PageContext

_TREES, _PAIRS, _FILES, _CLAIMS = 16, 40, 20, 200
_LABELS = {HOT: "conflict", REGISTRY: "registry", SOFT: "merges"}
_NEVER = "The radar has not been computed yet. Compute it: "
_NUMBERS = (("Since", "number"), ("Ends", "number"))
_RADAR = element("code", "wc radar", data_copy=True)


def edits_page(store: OpenStore, context: PageContext, _: Mapping[str, str]) -> WebPage:
    """Returns the page."""
    radar = kept.load(Layout(store.place.root))
    main = joined(
        (
            element("h1", "Edits"),
            _radar(radar, context)
            if radar
            else element("p", _NEVER, _RADAR, class_="none"),
            element("h2", "Claims"),
            _claims(read_claims(store), context),
        )
    )
    return WebPage("Edits", main, "edits")


def _radar(radar: Radar, context: PageContext) -> Html:
    trees = counted(len(radar.sides), "worktree")
    age = moment(rfc3339(radar.at_ms), context.now_ms)
    pairs = [pair for pair in radar.pairs if pair.files or pair.problem]
    # Sorting is stable: pairs with equally many conflicts keep their order.
    pairs.sort(key=lambda pair: -len(pair.of_kind(HOT)))
    quiet = element("p", radar.quiet_text, class_="none")
    hidden = len(pairs) - _PAIRS
    return joined(
        (
            element("p", f"{trees}, compared ", age, "; again: ", _RADAR),
            _matrix(radar, context.directory),
            *(_pair(radar, pair, context.directory) for pair in pairs[:_PAIRS]),
            element("p", f"{hidden} more: wc radar") if hidden > 0 else NOTHING,
            NOTHING if pairs else quiet,
            *(_approved(approved, radar.base) for approved in radar.outdated),
        )
    )


def _matrix(radar: Radar, directory: Directory) -> Html:
    """A table with one row and one column per worktree."""
    sides = radar.sides[:_TREES]
    pairs = {(pair.first, pair.second): pair for pair in radar.pairs}
    head = element(
        "tr",
        element("td"),
        *(element("th", _name(side, directory), scope="col") for side in sides),
    )
    rows = (
        element(
            "tr",
            element("th", _name(side, directory), scope="row"),
            *(
                _cell(pairs.get((min(row, column), max(row, column))), row == column)
                for column in range(len(sides))
            ),
        )
        for row, side in enumerate(sides)
    )
    table = element("table", element("thead", head), element("tbody", *rows))
    # It may be wider than the page, so the keyboard must be able to scroll it.
    return element(
        "div",
        table,
        class_="matrix",
        tabindex=0,
        role="region",
        aria_label="Pairs of worktrees",
    )


def _cell(pair: Pair | None, is_self: bool) -> Html:  # noqa: FBT001
    if is_self:
        return element("td", class_="self")
    if pair is None or not (pair.files or pair.problem):
        return element("td", "·")
    if pair.problem:
        return element("td", "?", title=one_line(pair.problem))
    counts = {kind: len(pair.of_kind(kind)) for kind in KINDS}
    marks = [_mark(kind, str(counts[kind])) for kind in KINDS if counts[kind]]
    return element("td", element("a", joined(marks, " "), href=f"#{_anchor(pair)}"))


def _mark(kind: str, text: str) -> Html:
    return element("span", text, class_=f"mark {kind}", title=_LABELS[kind])


def _anchor(pair: Pair) -> str:
    return f"pair-{pair.first}-{pair.second}"


def _approved(approved: ApprovedBranch, base: str) -> Html:
    """An approved branch that no longer merges, and its files in conflict."""
    heading = (
        element("bdi", one_line(approved.name)),
        f": approved, but no longer merges into {one_line(base)}",
    )
    files = element("ul", *_file_lines(approved.files))
    return element("section", element("h2", *heading), files, class_="pair")


def _file_lines(files: Sequence[SharedFile]) -> list[Html]:
    lines = [_file(file) for file in files[:_FILES]]
    if len(files) > _FILES:
        lines.append(element("li", f"and {len(files) - _FILES} more"))
    return lines


def _pair(radar: Radar, pair: Pair, directory: Directory) -> Html:
    """The files that both worktrees of a pair change, conflicts first."""
    left, right = radar.sides[pair.first], radar.sides[pair.second]
    ordered = [file for kind in (HOT, REGISTRY, SOFT) for file in pair.of_kind(kind)]
    lines = _file_lines(ordered)
    if pair.problem:
        lines.append(element("li", f"not compared: {one_line(pair.problem)}"))
    return element(
        "section",
        element("h2", _name(left, directory), " and ", _name(right, directory)),
        element("ul", *lines),
        class_="pair",
        id=_anchor(pair),
    )


def _file(file: SharedFile) -> Html:
    path, _, facts = file_text(file).partition(" · ")
    mark = element("span", _LABELS[file.kind], class_=f"mark {file.kind}")
    return element(
        "li", mark, " ", _code(path), " ", element("span", facts, dir="auto")
    )


def _name(side: Side, directory: Directory) -> Html:
    name = worktree_person(side, directory)
    return element("span", name, title=one_line(side.branch))


def _code(text: str) -> Html:
    return element("code", text)


def _claims(view: ClaimsView, context: PageContext) -> Html:
    claims = view.book.claims
    if not claims:
        return element("p", "Nothing is claimed.", class_="none")
    heads = (("What", ""), ("Who", ""), ("Thread", ""), *_NUMBERS)
    head = element(
        "tr",
        *(element("th", label, scope="col", class_=style) for label, style in heads),
    )
    lines = (element("tr", *_claim(view, claim, context)) for claim in claims[:_CLAIMS])
    table = element(
        "table", element("thead", head), element("tbody", *lines), class_="list"
    )
    hidden = len(claims) - _CLAIMS
    more_line = element("p", f"{hidden} more: wc claims") if hidden > 0 else NOTHING
    return joined((table, more_line))


def _claim(view: ClaimsView, claim: Claim, context: PageContext) -> Iterator[Html]:
    reading = element("span", "read", class_="mark") if claim.mode == READ else NOTHING
    note = element("span", one_line(claim.note, 160), class_="title", dir="auto")
    yield element("td", _code(one_line(claim.id, 200)), " ", reading, " ", note)
    yield element("td", person(claim.holder, context.directory))
    topic = one_line(claim.thread)
    link = element("a", element("bdi", topic), href=context.links.thread(claim.thread))
    yield element("td", link if topic else "")
    yield element(
        "td", moment(rfc3339(claim.at * 1000), context.now_ms), class_="number"
    )
    standing = view.book.standing(claim)
    seconds = view.book.seconds_left(claim)
    remaining = f"in {span(seconds)}" if seconds else "due for renewal"
    ends = {HELD: remaining, ENDED: "its session has ended"}
    yield element("td", ends.get(standing, "not renewed in time"), class_="number")
