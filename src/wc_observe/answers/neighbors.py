"""Which files use a file, what everyone says they are doing, and which worktrees will
conflict."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wc_core.base.errors import NotFoundError
from wc_core.base.layout import Layout
from wc_core.base.phrases import counted, quoted
from wc_core.base.text import one_line
from wc_core.base.times import ago, rfc3339, seconds_between
from wc_core.base.values import NamedTuple
from wc_core.edits.claims.verdicts import GRAPH_STALE, GRAPH_UNAVAILABLE
from wc_core.edits.graph import kept
from wc_core.edits.graph.model import HUB, by_folder
from wc_core.edits.radar import kept as radarkept
from wc_core.reading.views.conflicts import RadarView
from wc_core.reading.views.notes import MAX_ROWS, notes_view
from wc_observe.answers.claims import claims_view, target_of
from wc_observe.answers.quoting import NOTICE, clean_json, title, word
from wc_observe.answers.worktrees import check_is_local
from wc_observe.callers.open_store import open_store

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from wc_core.edits.graph.model import FileUse, Graph, Neighbourhood
    from wc_core.reading.views.notes import NoteRow, NotesView
    from wc_observe.callers.calls import Call
    from wc_observe.callers.open_store import OpenStore

OK = "OK"
_ROWS, _NAMES, _WIDE = 50, 6, 200
_MAX_PATHS = 8
_PATH = 200
_PAIRS, _FILES, _WORKTREES = 50, 20, 10
_NEVER = "The radar has not been computed yet. Compute it: wc radar"


class NeighborsView(NamedTuple):
    """A target's neighbours: ``None`` if they are not known, which differs from having
    none. ``is_stale`` if the worktree is at another commit than the graph."""

    target: str
    graph: Graph | None
    neighbourhood: Neighbourhood | None
    is_stale: bool

    @property
    def status(self) -> str:
        """How complete the answer is."""
        if self.neighbourhood is None:
            return GRAPH_UNAVAILABLE
        return GRAPH_STALE if self.is_stale else OK


def neighbors_view(call: Call, target: str) -> NeighborsView:
    """Find the neighbours of a path from the top of the worktree, with or without a
    symbol. Raises InvalidInputError if it is not such a path."""
    view = claims_view(call)
    claim_id = target_of(view.repository, target)
    graph = None
    if view.repository is not None:
        layout = Layout(view.opened.place.root)
        graph = kept.load(layout, view.repository.worktree_id)
    if graph is None or view.repository is None:
        return NeighborsView(str(claim_id), None, None, is_stale=True)
    neighbourhood = graph.neighbourhood(claim_id.path, claim_id.symbol)
    is_stale = graph.head != view.repository.commit
    return NeighborsView(str(claim_id), graph, neighbourhood, is_stale)


def neighbors_json(view: NeighborsView) -> dict[str, Any]:
    """The neighbours, as JSON; without ``uses`` and ``used_by`` they are not known."""
    at = rfc3339(view.graph.at_ms) if view.graph is not None else None
    fields = {"target": view.target, "status": view.status, "at": at}
    if view.neighbourhood is not None:
        fields |= view.neighbourhood.to_json()
    return dict(clean_json(fields))


def neighbors_markdown(view: NeighborsView, now_ms: int) -> str:
    """The files that the target uses, and the files that use it."""
    name = word(view.target, _WIDE)
    command = f"wc neighbors {quoted(view.target)}"
    if view.graph is None:
        return f"{view.status}: no graph for this worktree yet. Compute it: {command}\n"
    if view.neighbourhood is None:
        return (
            f"{view.status}: {name} is not parsed, so its neighbours are not known.\n"
        )
    lines = [f"**{name}** · {ago(seconds_between(view.graph.at_ms, now_ms))}"]
    if view.is_stale:
        lines.append(f"{view.status}: of another commit. Compute it: {command}")
    sides = (("uses", view.neighbourhood.uses), ("used by", view.neighbourhood.used_by))
    for verb, uses in sides:
        lines.append(f"- {verb} {counted(len(uses), 'file')}")
        lines += [f"  - {line}" for line in _rows(uses)]
    return "\n".join(lines) + "\n"


def _rows(uses: Sequence[FileUse]) -> Iterator[str]:
    if len(uses) > HUB:
        folders = by_folder(uses)
        for folder, count in folders[:_ROWS]:
            yield f"{word(folder, _WIDE)}/ · {counted(count, 'file')}"
        if len(folders) > _ROWS:
            yield f"and {counted(len(folders) - _ROWS, 'more folder')}"
        return
    for use in uses:
        names = ", ".join(word(name) for name in use.names[:_NAMES])
        path = word(use.path, _WIDE)
        yield f"{path} · {names}" if names else path


def notes_answer(call: Call, path: str, whose: str) -> tuple[OpenStore, NotesView]:
    """The caller's store and everyone's notes: all of them, or those that concern a
    path from the top of the worktree. Raises InvalidInputError if that is not such a
    path."""
    opened = open_store(call)
    view = notes_view(Layout(opened.place.root), opened.viewer, call.now_ms())
    if path:
        view = view.about(target_of(opened.place.repository, path))
    return opened, view if whose == "all" else view.of_mine(mine=whose == "mine")


def notes_json(opened: OpenStore, view: NotesView) -> dict[str, Any]:
    """Every note, as JSON."""
    return dict(clean_json({"store": opened.label} | view.to_json()))


def notes_markdown(view: NotesView) -> str:
    """A line for each note."""
    lines = [_line(view, row) for row in view.rows[:MAX_ROWS]]
    if len(view.rows) > MAX_ROWS:
        lines.append(f"- {len(view.rows) - MAX_ROWS} more")
    return "\n".join(lines or ["No notes."]) + "\n"


def _line(view: NotesView, row: NoteRow) -> str:
    note = row.note
    scope = ", ".join(word(path, _PATH) for path in note.scope[:_MAX_PATHS])
    hidden = len(note.scope) - _MAX_PATHS
    facts = [
        f"{word(note.agent, 250)}{' (you)' if row.mine else ''}",
        ago(seconds_between(note.at_ms, view.now_ms)),
        f"worktree {word(note.worktree)}",
        *([f"branch {word(note.branch)}"] if note.branch else []),
        *(
            [f"scope {scope}{f' and {hidden} more' if hidden > 0 else ''}"]
            * bool(scope)
        ),
        *([f"intent {title(note.intent)}"] if note.intent else []),
        *([title(note.text)] if note.text else []),
        *(["another clone"] if row.elsewhere else []),
    ]
    return f"- {' · '.join(facts)}"


def radar_view(call: Call) -> RadarView | None:
    """The stored radar; ``None`` if there is none. Raises NotFoundError over a network,
    where callers must not learn about folders."""
    check_is_local(call, "wc radar")
    place = open_store(call).place
    radar = radarkept.load(Layout(place.root))
    if radar is None:
        return None
    top = place.repository.top if place.repository is not None else ""
    return RadarView(radar, top, call.env, call.now_ms())


def conflicts_json(view: RadarView | None, worktree: str) -> dict[str, Any]:
    """The radar shape; with a name, only that worktree's pairs. Raises NotFoundError if
    no worktree has that name."""
    if view is None:
        fields: dict[str, Any] = {"at": None, "age_seconds": None, "base": None}
        return fields | {"worktrees": [], "pairs": [], "total": 0, "problem": _NEVER}
    fields = _of_worktree(view, worktree).to_json()
    pairs = fields["pairs"]
    return dict(clean_json(fields | {"pairs": pairs[:_PAIRS], "total": len(pairs)}))


def _of_worktree(view: RadarView, worktree: str) -> RadarView:
    """The view with only one worktree's pairs and its approved branch, by its name,
    branch or agent."""
    name = worktree.strip()
    if not name:
        return view
    chosen = {
        place
        for place, side in enumerate(view.radar.sides)
        if name in {side.name, side.branch, side.agent, view.display_path(side)}
    }
    if not chosen:
        names = ", ".join(side.name for side in view.radar.sides[:_WORKTREES])
        raise NotFoundError(
            f"There is no worktree {one_line(name, 80)!r}.",
            f"There are: {one_line(names, _WIDE)}",
        )
    pairs = tuple(
        pair for pair in view.radar.pairs if chosen & {pair.first, pair.second}
    )
    branches = {view.radar.sides[place].branch for place in chosen}
    approved = tuple(item for item in view.radar.approved if item.branch in branches)
    radar = view.radar._replace(pairs=pairs, approved=approved)
    return view._replace(radar=radar)


def conflicts_markdown(view: RadarView | None, worktree: str) -> str:
    """Each pair of worktrees that change the same files, and each approved branch that
    no longer merges. Raises as `conflicts_json`."""
    if view is None:
        return f"{_NEVER}\n"
    fields = _of_worktree(view, worktree).to_json()
    pairs = fields["pairs"]
    trees = counted(len(fields["worktrees"]), "worktree")
    lines = [f"{trees}, compared {ago(view.age)} (now: wc radar)"]
    outdated = [item for item in fields.get("approved", ()) if not item["merges"]]
    if not pairs:
        lines.append(view.radar.quiet_text)
    if pairs or outdated:
        lines.append(NOTICE)
    for pair in pairs[:_PAIRS]:
        lines += _pair_lines(pair)
    if len(pairs) > _PAIRS:
        lines.append(f"and {counted(len(pairs) - _PAIRS, 'more pair')}")
    base = word(fields["base"] or "")
    for item in outdated[:_PAIRS]:
        lines.append(
            f"- {word(item['topic'])}, branch {word(item['branch'])}: approved, but no "
            f"longer merges into {base}"
        )
        lines += [f"  conflict: {_file_text(file)}" for file in item["files"][:_FILES]]
    return "\n".join(lines) + "\n"


def _pair_lines(pair: dict[str, Any]) -> Iterator[str]:
    yield f"- {word(pair['left'])} + {word(pair['right'])}"
    if "problem" in pair:
        yield f"  not compared: {word(pair['problem'], _WIDE)}"
    for kind, label in (("hot", "**will conflict**"), ("registries", "conflict")):
        for file in pair[kind][:_FILES]:
            yield f"  {label}: {_file_text(file)}"
        if len(pair[kind]) > _FILES:
            yield f"  {label}: and {counted(len(pair[kind]) - _FILES, 'more file')}"
    soft = ", ".join(word(path, _WIDE) for path in pair["soft"][:_FILES])
    if soft:
        hidden = len(pair["soft"]) - _FILES
        suffix = f", and {counted(hidden, 'more file')}" if hidden > 0 else ""
        yield f"  merges cleanly: {soft}{suffix}"


def _file_text(file: dict[str, Any]) -> str:
    facts = [word(file["path"], _WIDE)]
    if file["conflict"] not in {"", "contents"}:
        facts.append(word(file["conflict"]))
    facts += [title(symbol, _WIDE) for symbol in file.get("symbols", ())]
    facts += [file["hint"]] if "hint" in file else []
    return " | ".join(facts)
