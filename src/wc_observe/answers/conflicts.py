"""Which worktrees will conflict, and where, as text and as JSON: the stored radar."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wc_core.base.errors import NotFoundError
from wc_core.base.layout import Layout
from wc_core.base.phrases import counted
from wc_core.base.text import one_line
from wc_core.base.times import ago
from wc_core.edits.radar import kept
from wc_core.reading.views.conflicts import RadarView
from wc_observe.answers.quoting import NOTICE, clean_json, title, word
from wc_observe.answers.worktrees import check_is_local
from wc_observe.callers.open_store import open_store

if TYPE_CHECKING:
    from collections.abc import Iterator

    from wc_observe.callers.calls import Call

_PAIRS, _FILES, _NAMES = 50, 20, 10
_WIDE = 200
_NEVER = "The radar has not been computed yet. Compute it: wc radar"


def radar_view(call: Call) -> RadarView | None:
    """The stored radar; ``None`` if there is none. Raises NotFoundError over a network,
    where callers must not learn about folders."""
    check_is_local(call, "wc radar")
    place = open_store(call).place
    radar = kept.load(Layout(place.root))
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
        names = ", ".join(side.name for side in view.radar.sides[:_NAMES])
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
