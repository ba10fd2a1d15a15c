"""What happens in the worktrees of a repository, as text and as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wc_core.base.errors import NotFoundError, WcError
from wc_core.base.phrases import counted, shown_path
from wc_core.base.times import ago, seconds_between
from wc_core.ledger.git import discovery
from wc_core.people.activity import livestate
from wc_core.people.activity.statefile import StateFiles
from wc_core.reading.views import worktrees
from wc_core.reading.views.worktrees import MAX_THREADS, WorktreeView
from wc_observe.answers.quoting import NOTICE, clean_json, holder, title, word
from wc_observe.callers.open_store import open_store

if TYPE_CHECKING:
    from collections.abc import Iterator

    from wc_core.ledger.git.discovery import Place
    from wc_core.people.activity.livestate import Activity, Member, StateAge
    from wc_core.people.activity.loops import Iteration, Loop
    from wc_core.reading.views.overview import Overview
    from wc_core.reading.views.worktrees import Neighbour, WorktreeQuery
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
    return worktrees.worktree_view(_CallSource(call), _FILES, call.now_ms())


class _CallSource:
    """A call's folder as the source of a view."""

    def __init__(self, call: Call) -> None:
        self._call = call
        self.env = call.env
        self.cwd = call.folder

    @property
    def place(self) -> Place:
        return discovery.find(self.cwd, self.env)

    @property
    def overview(self) -> Overview:
        return open_store(self._call).overview

    @property
    def store(self) -> str:
        return open_store(self._call).label


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
    for neighbour in visible:
        parts += [
            f"- {_worktree_line(neighbour, view.query)}\n",
            *_detail_lines(neighbour, view.query),
        ]
    return "".join(parts)


def _alarm_lines(view: WorktreeView) -> Iterator[str]:
    """Yields a line for each loop that does not continue by itself."""
    for neighbour, loop in _worktrees_with_loops(view):
        if loop.waits_for_human or loop.orphaned or loop.status in {"stalled", "stuck"}:
            turn = f" at {loop.turn}" if loop.turn else ""
            state = word(loop.summary, _WIDE)
            name, age = word(_loop_name(neighbour)), ago(loop.state_age.age)
            yield f"**loop {state}**: {name}{turn}, {age}\n"


def _worktree_line(neighbour: Neighbour, query: WorktreeQuery) -> str:
    tree = neighbour.worktree
    facts = [word(neighbour.name) + (" = yours" if neighbour.here else "")]
    if tree.branch:
        facts.append(f"branch {word(tree.branch)}")
    elif tree.commit:
        facts.append(f"at {word(tree.commit[:12])}")
    if tree.refs:
        facts.append(f"its branch is in a {tree.refs}")
    facts += ["main worktree"] if tree.main else []
    facts.append(
        _path_text(query.display_path(tree.path)) if tree.path else "no folder"
    )
    facts += [tree.defect] if tree.defect else []
    if tree.locked is not None:
        facts.append(
            f"locked: {title(tree.locked, _WIDE)}" if tree.locked else "locked"
        )
    return " | ".join((*facts, f"changed {ago(neighbour.age)}"))


def _path_text(path: str) -> str:
    """Returns a path, in quotes if it could be mistaken for anything else."""
    bare = path.removeprefix("~")
    return path if word(bare, len(bare)) == bare else title(path)


def _detail_lines(neighbour: Neighbour, query: WorktreeQuery) -> Iterator[str]:
    if neighbour.loop is not None:
        yield f"  loop: {_loop_line(neighbour.loop)}\n"
    for conflict in neighbour.conflicts:
        visible = conflict.files[:_MAX_FILES]
        files = ", ".join(word(file.path, _WIDE) for file in visible)
        dots = ", …" if len(visible) < len(conflict.files) else ""
        name = word(conflict.label)
        call = 'list_edits(show="conflicts")'
        yield f"  will conflict with {name}: {files}{dots} ({call})\n"
    for note in neighbour.notes:
        when = ago(seconds_between(note.at_ms, query.now_ms))
        yield f"  note: {word(note.agent)}, {when}: {title(note.sentence())}\n"
    if neighbour.activity is not None:
        yield f"  activity: {_activity_line(neighbour.activity)}\n"
    for row in neighbour.threads[:MAX_THREADS]:
        ball = holder(row.ball, row.ownership)
        yield f"  thread {row.name}: {word(row.status)}, ball: {ball}\n"
    hidden = len(neighbour.threads) - MAX_THREADS
    if hidden > 0:
        yield f"  and {counted(hidden, 'thread')} more: list_threads\n"


def _loop_line(loop: Loop) -> str:
    facts = [word(loop.summary, _WIDE), *([loop.turn] if loop.turn else [])]
    facts.append(_age_text(loop.state_age))
    if loop.waiting_since:
        facts.append(f"since {word(loop.waiting_since)}")
    if loop.stall_reason:
        facts.append(f"reason: {title(loop.stall_reason, _WIDE)}")
    if loop.task:
        facts.append(f"task: {title(loop.task, _WIDE)}")
    return " | ".join(facts)


def _activity_line(activity: Activity) -> str:
    skill = f"{activity.skill} {activity.skill_args}".strip()
    facts = [title(text, _WIDE) for text in (skill, activity.broadcast) if text]
    if activity.file_count:
        facts.append(f"{counted(activity.file_count, 'file')} modified")
    return " | ".join((*facts, _age_text(activity.state_age)))


def _age_text(state: StateAge) -> str:
    """Returns the age of a state, and why there is no newer one."""
    stale = "old, " if state.stale else ""
    reason = (
        f" (as last read; the file {word(state.problem)})" if state.last_good else ""
    )
    return f"{stale}{ago(state.age)}{reason}"


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
            f"  worktree: {_worktree_line(neighbour, view.query)}\n",
            f"  state: {_loop_line(loop)}\n",
            *_loop_facts(loop),
            *(f"  iteration {_iteration_text(turn)}\n" for turn in loop.iterations),
        ]
        if len(loop.iterations) < loop.iteration_count:
            parts.append(
                f"  truncated: of {loop.iteration_count} iterations the last\n"
            )
    return "".join(parts)


def _loop_facts(loop: Loop) -> Iterator[str]:
    if loop.done_criteria:
        yield f"  done when: {title(loop.done_criteria, _WIDE)}\n"
    if loop.started_at:
        yield f"  started: {word(loop.started_at)}\n"
    if loop.total_tokens is not None:
        yield f"  tokens: {loop.total_tokens}\n"


def _iteration_text(turn: Iteration) -> str:
    """Returns an iteration's number, then what is known about it."""
    fields = turn.to_json() | {"commits": len(turn.commits) or None}
    if turn.done_check is not None:
        fields["done_check"] = "true" if turn.done_check else "false"
    facts = [
        f"{key}: {word(str(value))}"
        for key, value in fields.items()
        if key != "n" and value is not None
    ]
    number = "?" if turn.number is None else turn.number
    return f"{number}: {', '.join(facts) or 'nothing is known'}"


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
        return f"no team status: there is no {_path_text(file) or 'cache folder'}\n"
    count = counted(team.total, "member")
    visible = len(team.members)
    cut = f", {visible} of them here" if visible < team.total else ""
    unread = (
        ""
        if not team.state_age.problem
        else f"; the file {word(team.state_age.problem)}"
    )
    age = _age_text(team.state_age._replace(last_good=False))
    head = f"team: {count}{cut}, {age}{unread}\n{NOTICE}\n"
    return head + "".join(_member_line(member) for member in team.members)


def _member_line(member: Member) -> str:
    name = member.full or member.member
    facts = [word(name or "someone"), word(member.agent_status or "no status")]
    if member.change_id or member.project:
        facts.append(
            f"on {word('/'.join(p for p in (member.project, member.change_id) if p))}"
        )
    facts += [
        title(text, _WIDE) for text in (member.activity, member.broadcast) if text
    ]
    return f"- {' | '.join((*facts, _age_text(member.state_age)))}\n"
