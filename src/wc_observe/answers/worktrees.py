"""What happens in the worktrees of a repository, as text and as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wc_core.base.errors import NotFoundError
from wc_core.base.phrases import counted, shown_path
from wc_core.base.times import ago
from wc_core.ledger.git import discovery
from wc_core.people import activity
from wc_core.reading.views import worktrees
from wc_core.reading.views.worktrees import Wording, WorktreeView
from wc_observe.answers.quoting import NOTICE, clean_json, holder, title, word
from wc_observe.callers.open_store import open_store

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from wc_core.reading.views.conflicts import Conflict
    from wc_core.reading.views.rows import ThreadRow
    from wc_core.reading.views.worktrees import Neighbour
    from wc_observe.callers.calls import Call

# If there are more worktrees, those changed last are shown.
_MANY = 50
_WIDE = 200
_MAX_FILES = 3
# The statuses of loops that do not continue by themselves.
_STANDING = frozenset({activity.WAITING_FOR_HUMAN, "stalled", "stuck"})
_PLACE = ("project", "change_id")

# The last readable content of each file, kept while the server runs.
_FILES = activity.StateFiles()


def _view(call: Call) -> WorktreeView:
    """What happens now. If the store is unusable, loops are still shown."""

    def threads() -> tuple[list[ThreadRow], str]:
        store = open_store(call)
        return store.overview.rows(), store.label

    return worktrees.worktree_view(
        (call.folder, call.env, call.now_ms()),
        _FILES,
        lambda: discovery.find(call.folder, call.env),
        threads,
    )


def check_is_local(call: Call, command: str = "wc worktrees") -> None:
    """Refuse a call over a network, where callers must not learn about folders; the
    hint is the ``command`` that shows them. Raises NotFoundError."""
    if call.store_name:
        raise NotFoundError(
            "What is in worktrees is only shown on their own machine.",
            f"There: {command}",
        )


def change_ids(call: Call) -> list[str]:
    """Returns the names that select a loop, without repetition. Reads no threads."""
    if call.store_name:
        return []
    view = worktrees.worktree_view(
        (call.folder, call.env, call.now_ms()),
        _FILES,
        lambda: discovery.find(call.folder, call.env),
    )
    return list(dict.fromkeys(map(_loop_name, _with_loops(view))))


def _with_loops(view: WorktreeView) -> list[Neighbour]:
    return [tree for tree in view.neighbours if tree.loop]


def _loop_name(tree: Neighbour) -> str:
    return tree.change_id or tree.name


def as_json(call: Call, show: str = "worktrees", change_id: str = "") -> dict[str, Any]:
    """Returns the worktrees, loops or team shape; of the loops only that of a change.

    Raises NotFoundError if there is no such loop, and over a network, where callers
    must not learn about folders.
    """
    check_is_local(call)
    if show == "team":
        file = shown_path(activity.team_path(call.env), call.env) or None
        team = activity.team(_FILES, call.env, call.now_ms())
        return dict(clean_json({"file": file, **team}))
    view = _view(call)
    if show == "worktrees":
        return dict(clean_json(view.to_json(_MANY)))
    loops = [
        {**tree.head(view.query), **tree.loop, "change_id": _loop_name(tree)}
        for tree in _chosen_loops(view, change_id)
    ]
    return dict(clean_json({"store": view.store, "loops": loops}))


def as_markdown(call: Call, show: str = "worktrees", change_id: str = "") -> str:
    """Returns the same as text. Raises as `as_json`."""
    check_is_local(call)
    if show == "team":
        return _team_text(call)
    view = _view(call)
    return _loops_text(view, change_id) if show == "loops" else _trees_text(view)


def _trees_text(view: WorktreeView) -> str:
    """The loops that wait for someone, then each worktree with what is known
    about it."""
    visible = view.neighbours[:_MANY]
    count = counted(len(view.neighbours), "worktree")
    if len(visible) < len(view.neighbours):
        count = f"{len(visible)} of {count}"
    store = f", store {view.store}" if view.store is not None else ""
    parts = [f"{count}, your own first{store}\n"]
    if view.problem:
        parts.append(f"threads are not known: {word(view.problem, 500)}\n")
    parts += [f"{NOTICE}\n" if visible else "", *_alarm_lines(view)]
    for tree in visible:
        parts.append(f"- {worktrees.heading(tree, view.query, _WORDS)}\n")
        details = worktrees.details(tree, view.query, _WORDS)
        parts += [f"  {text}\n" for text, _ in details]
    return "".join(parts)


def _alarm_lines(view: WorktreeView) -> Iterator[str]:
    """Yields a line for each loop that does not continue by itself."""
    for tree in _with_loops(view):
        loop = tree.loop
        if loop.get("status") in _STANDING or "orphaned" in loop:
            turn = f" at {turn}" if (turn := activity.turn(loop)) else ""
            state, age = word(loop["says"], _WIDE), ago(loop["age_seconds"])
            yield f"**loop {state}**: {word(_loop_name(tree))}{turn}, {age}\n"


def _thread(row: ThreadRow) -> str:
    return f"{row.name}: {word(row.status)}, ball: {holder(row.ball, row.ownership)}"


def _conflict(conflict: Conflict) -> str:
    files = ", ".join(word(file.path, _WIDE) for file in conflict.files[:_MAX_FILES])
    dots = ", …" if len(conflict.files) > _MAX_FILES else ""
    call = 'list_edits(show="conflicts")'
    return f"will conflict with {word(conflict.label)}: {files}{dots} ({call})"


_WORDS = Wording(word, title, _thread, _conflict, "list_threads")


def _chosen_loops(view: WorktreeView, change_id: str) -> list[Neighbour]:
    """The worktrees with the requested loops. Raises NotFoundError if the named loop
    does not exist."""
    running = _with_loops(view)
    name = change_id.strip()
    if not name:
        return running[:_MANY]
    chosen = [tree for tree in running if name in tree.names]
    if not chosen:
        names = ", ".join(map(_loop_name, running[:_MANY]))
        raise NotFoundError(
            f"No worktree here has a loop for {name[:_WIDE]!r}.",
            f"There are: {names}" if names else "No loop runs in any worktree here.",
        )
    return chosen


def _loops_text(view: WorktreeView, change_id: str) -> str:
    chosen = _chosen_loops(view, change_id)
    if not chosen:
        return f"no loop runs in any of {counted(len(view.neighbours), 'worktree')}\n"
    parts = [f"{counted(len(chosen), 'loop')}\n{NOTICE}\n"]
    for tree in chosen:
        loop = tree.loop
        iterations = loop.get("iterations", [])
        parts += [
            f"- {word(_loop_name(tree))}: **loop {word(loop['says'], _WIDE)}**\n",
            f"  worktree: {worktrees.heading(tree, view.query, _WORDS)}\n",
            f"  state: {worktrees.loop_text(loop, _WORDS)}\n",
            *_loop_facts(loop),
            *(f"  iteration {_iteration_text(turn)}\n" for turn in iterations),
        ]
        count = loop.get("iteration_count", 0)
        if len(iterations) < count:
            parts.append(f"  truncated: of {count} iterations the last\n")
    return "".join(parts)


def _loop_facts(loop: Mapping[str, Any]) -> Iterator[str]:
    if criteria := loop.get("done_criteria"):
        yield f"  done when: {title(criteria, _WIDE)}\n"
    if started := loop.get("started_at"):
        yield f"  started: {word(started)}\n"
    if "total_tokens" in loop:
        yield f"  tokens: {loop['total_tokens']}\n"


def _iteration_text(turn: Mapping[str, Any]) -> str:
    """Returns an iteration's number, then what is known about it."""
    check = turn["done_check"]
    fields = {
        **turn,
        "done_check": None if check is None else str(check).lower(),
        "commits": len(turn["commits"]) or None,
    }
    facts = [
        f"{key}: {word(str(value))}"
        for key, value in fields.items()
        if key != "n" and value is not None
    ]
    return f"{turn.get('n', '?')}: {', '.join(facts) or 'nothing is known'}"


def _team_text(call: Call) -> str:
    """A line for each member."""
    team = activity.team(_FILES, call.env, call.now_ms())
    members = team["members"]
    if not team["found"]:
        file = shown_path(activity.team_path(call.env), call.env)
        file_text = worktrees.path_text(file, _WORDS) if file else "cache folder"
        return f"no team status: there is no {file_text}\n"
    count = counted(team.get("total", len(members)), "member")
    cut = f", {len(members)} of them here" if "truncated" in team else ""
    unread = f"; the file {word(team['problem'])}" if "problem" in team else ""
    team.pop("last_good", None)
    age = worktrees.age_text(team, _WORDS)
    head = f"team: {count}{cut}, {age}{unread}\n{NOTICE}\n"
    return head + "".join(map(_member_line, members))


def _member_line(member: Mapping[str, Any]) -> str:
    name = member.get("member_full") or member.get("member", "someone")
    facts = [word(name), word(member.get("agent_status", "no status"))]
    if place := "/".join(member[key] for key in _PLACE if key in member):
        facts.append(f"on {word(place)}")
    sentences = (member[key] for key in ("activity", "broadcast") if key in member)
    facts += [title(item, _WIDE) for item in sentences]
    return f"- {' | '.join((*facts, worktrees.age_text(member, _WORDS)))}\n"
