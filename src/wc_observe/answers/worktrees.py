"""What happens in the worktrees of a repository, as text and as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wc_core.base.errors import NotFoundError, WcError
from wc_core.base.phrases import counted, shown_path
from wc_core.base.times import ago
from wc_core.ledger.git import discovery
from wc_core.people.activity import livestate
from wc_core.people.activity.statefile import StateFiles
from wc_core.reading.views import worktrees
from wc_core.reading.views.worktrees import Wording, WorktreeView
from wc_observe.answers.quoting import NOTICE, clean_json, holder, title, word
from wc_observe.callers.open_store import open_store

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from wc_core.people.activity.livestate import AgentState
    from wc_core.people.activity.loops import Loop
    from wc_core.reading.views.conflicts import Conflict
    from wc_core.reading.views.overview import Overview
    from wc_core.reading.views.rows import ThreadRow
    from wc_core.reading.views.worktrees import Neighbour
    from wc_observe.callers.calls import Call

# If there are more worktrees, those changed last are shown.
_MANY = 50
_WIDE = 200
_MAX_FILES = 3

# The last readable content of each file, kept while the server runs.
_FILES = StateFiles()


def worktree_view(call: Call) -> WorktreeView:
    """Returns what happens now. If the store is unusable, loops are still shown.

    Raises NotFoundError over a network, where callers must not learn about folders.
    """
    check_is_local(call)

    def threads() -> tuple[Overview, str]:
        store = open_store(call)
        return store.overview, store.label

    return worktrees.worktree_view(
        (call.folder, call.env, call.now_ms()),
        lambda: discovery.find(call.folder, call.env),
        threads,
        _FILES,
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
    try:
        place = discovery.find(call.folder, call.env)
    except WcError:
        place = None
    query = worktrees.worktree_query(place, call.folder, call.env, call.now_ms())
    neighbours = worktrees.neighbours(query, _FILES, (), ())
    return list(
        dict.fromkeys(
            _loop_name(neighbour)
            for neighbour, _ in _worktrees_with_loops(WorktreeView(query, neighbours))
        )
    )


def _worktrees_with_loops(view: WorktreeView) -> list[tuple[Neighbour, Loop]]:
    return [
        (neighbour, neighbour.loop)
        for neighbour in view.neighbours
        if neighbour.loop is not None
    ]


def _loop_name(neighbour: Neighbour) -> str:
    return neighbour.change_id or neighbour.name


def as_json(view: WorktreeView) -> dict[str, Any]:
    """Returns the worktrees shape."""
    return dict(clean_json(view.to_json(_MANY)))


def as_markdown(view: WorktreeView) -> str:
    """Returns the loops that wait for someone, then each worktree with what is known
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
    for neighbour, loop in _worktrees_with_loops(view):
        if loop.waits_for_human or loop.orphaned or loop.status in {"stalled", "stuck"}:
            turn = f" at {loop.turn}" if loop.turn else ""
            state = word(loop.summary, _WIDE)
            name, age = word(_loop_name(neighbour)), ago(loop.state_age.age)
            yield f"**loop {state}**: {name}{turn}, {age}\n"


def _thread(row: ThreadRow) -> str:
    return f"{row.name}: {word(row.status)}, ball: {holder(row.ball, row.ownership)}"


def _conflict(conflict: Conflict) -> str:
    files = ", ".join(word(file.path, _WIDE) for file in conflict.files[:_MAX_FILES])
    dots = ", …" if len(conflict.files) > _MAX_FILES else ""
    call = 'list_edits(show="conflicts")'
    return f"will conflict with {word(conflict.label)}: {files}{dots} ({call})"


_WORDS = Wording(word, title, _thread, _conflict, "list_threads")


def _chosen_loops(view: WorktreeView, change_id: str) -> list[tuple[Neighbour, Loop]]:
    """Returns the requested loops. Raises NotFoundError if the named loop does not
    exist."""
    running = _worktrees_with_loops(view)
    name = change_id.strip()
    if not name:
        return running[:_MANY]
    chosen = [pair for pair in running if name in pair[0].names]
    if not chosen:
        names = ", ".join(_loop_name(neighbour) for neighbour, _ in running[:_MANY])
        raise NotFoundError(
            f"No worktree here has a loop for {name[:_WIDE]!r}.",
            f"There are: {names}" if names else "No loop runs in any worktree here.",
        )
    return chosen


def loops_json(view: WorktreeView, change_id: str) -> dict[str, Any]:
    """Returns the loops shape. Raises NotFoundError."""
    loops = [
        worktrees.loop_json(view.query, neighbour, loop)
        for neighbour, loop in _chosen_loops(view, change_id)
    ]
    return dict(clean_json({"store": view.store, "loops": loops}))


def loops_markdown(view: WorktreeView, change_id: str) -> str:
    """Returns each loop with its worktree. Raises NotFoundError."""
    chosen = _chosen_loops(view, change_id)
    if not chosen:
        return f"no loop runs in any of {counted(len(view.neighbours), 'worktree')}\n"
    parts = [f"{counted(len(chosen), 'loop')}\n{NOTICE}\n"]
    for neighbour, loop in chosen:
        parts += [
            f"- {word(_loop_name(neighbour))}: **loop {word(loop.summary, _WIDE)}**\n",
            f"  worktree: {worktrees.heading(neighbour, view.query, _WORDS)}\n",
            f"  state: {worktrees.loop_text(loop, _WORDS)}\n",
            *_loop_facts(loop),
            *(f"  iteration {_iteration_text(turn)}\n" for turn in loop.iterations),
        ]
        if len(loop.iterations) < loop.iteration_count:
            parts.append(
                f"  truncated: of {loop.iteration_count} iterations the last\n"
            )
    return "".join(parts)


def _loop_facts(loop: Loop) -> Iterator[str]:
    if criteria := loop.texts.get("done_criteria"):
        yield f"  done when: {title(criteria, _WIDE)}\n"
    if started := loop.texts.get("started_at"):
        yield f"  started: {word(started)}\n"
    if loop.total_tokens is not None:
        yield f"  tokens: {loop.total_tokens}\n"


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


def team_json(call: Call) -> dict[str, Any]:
    """Returns the team shape, with the file it comes from. Raises as
    `worktree_view`."""
    check_is_local(call)
    team = livestate.team(_FILES, call.env, call.now_ms())
    file = shown_path(livestate.team_path(call.env), call.env) or None
    return dict(clean_json({"file": file, **team.to_json()}))


def team_markdown(call: Call) -> str:
    """Returns a line for each member. Raises as `worktree_view`."""
    check_is_local(call)
    team = livestate.team(_FILES, call.env, call.now_ms())
    file = shown_path(livestate.team_path(call.env), call.env)
    if not team.exists:
        return f"no team status: there is no {_file_text(file)}\n"
    count = counted(team.total, "member")
    visible, state = len(team.members), team.state_age
    cut = f", {visible} of them here" if visible < team.total else ""
    unread = f"; the file {word(state.problem)}" if state.problem else ""
    age = worktrees.age_text(state._replace(last_good=False), _WORDS)
    head = f"team: {count}{cut}, {age}{unread}\n{NOTICE}\n"
    return head + "".join(map(_member_line, team.members))


def _file_text(path: str) -> str:
    return worktrees.path_text(path, _WORDS) if path else "cache folder"


def _member_line(member: AgentState) -> str:
    text = member.text
    name = text("member_full") or text("member") or "someone"
    facts = [word(name), word(text("agent_status") or "no status")]
    if place := "/".join(filter(None, (text("project"), text("change_id")))):
        facts.append(f"on {word(place)}")
    sentences = filter(None, (text("activity"), text("broadcast")))
    facts += [title(item, _WIDE) for item in sentences]
    age = worktrees.age_text(member.state_age, _WORDS)
    return f"- {' | '.join((*facts, age))}\n"
