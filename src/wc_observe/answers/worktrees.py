"""What goes on in other worktrees, as text and as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wc_core.activity import livestate, presence
from wc_core.activity.statefile import StateFiles
from wc_core.errors import NotFoundError, WcError
from wc_core.git import discovery
from wc_core.layout import Layout
from wc_core.phrases import counted, shown_path
from wc_core.threads.moves import holder_text
from wc_core.times import ago, seconds_between
from wc_core.views import worktrees
from wc_core.views.worktrees import MAX_THREADS, WorktreeView
from wc_observe.answers.quoting import NOTICE, cleaned, title, word
from wc_observe.open_store import open_store

if TYPE_CHECKING:
    from collections.abc import Iterator

    from wc_core.activity.livestate import Activity, Member, StateAge
    from wc_core.activity.loops import Iteration, Loop
    from wc_core.activity.presence import Note
    from wc_core.git.discovery import Place
    from wc_core.views.rows import ThreadRow
    from wc_core.views.worktrees import Neighbour, WorktreeQuery
    from wc_observe.calls import Call

# Of more worktrees the ones where something happened last are shown.
_MANY = 50
_WIDE = 200

# What each file said when it could last be read: for as long as we run.
_FILES = StateFiles()


def view(call: Call) -> WorktreeView:
    """What goes on now. A store that cannot be used hides no loop.

    Raises NotFoundError over a network, where folders are nobody's business.
    """
    _check_is_here(call)
    now = call.now_ms()
    place: Place | None = None
    rows: list[ThreadRow] = []
    notes: list[Note] = []
    store, problem = None, ""
    try:
        place = discovery.find(call.folder, call.env)
        if place.exists:
            desk = open_store(call)
            rows = desk.overview.rows()
            notes = presence.notes(Layout(place.root), now)
            store = desk.label
    except WcError as error:
        problem = error.message
    look = worktrees.worktree_query(place, call.folder, call.env, now)
    return WorktreeView(
        look, worktrees.neighbours(look, _FILES, rows, notes), store, problem
    )


def _check_is_here(call: Call) -> None:
    if call.served_as:
        raise NotFoundError(
            "What goes on in worktrees is told on their own machine alone.",
            "There: wc worktrees",
        )


def change_ids(call: Call) -> list[str]:
    """What loops can be asked for by, each once; threads are not looked at."""
    if call.served_as:
        return []
    try:
        place = discovery.find(call.folder, call.env)
    except WcError:
        place = None
    look = worktrees.worktree_query(place, call.folder, call.env, call.now_ms())
    found = worktrees.neighbours(look, _FILES, (), ())
    return list(
        dict.fromkeys(_called(one) for one, _ in _loops(WorktreeView(look, found)))
    )


def _loops(seen: WorktreeView) -> list[tuple[Neighbour, Loop]]:
    return [(one, one.loop) for one in seen.found if one.loop is not None]


def _called(one: Neighbour) -> str:
    return one.change_id or one.name


def as_json(seen: WorktreeView) -> dict[str, Any]:
    """The worktrees shape."""
    return dict(cleaned(seen.to_json(_MANY)))


def as_markdown(seen: WorktreeView) -> str:
    """First what waits for somebody, then each worktree with what is known."""
    shown = seen.found[:_MANY]
    count = counted(len(seen.found), "worktree")
    if len(shown) < len(seen.found):
        count = f"{len(shown)} of {count}"
    store = f", store {seen.store}" if seen.store is not None else ""
    parts = [f"{count}, your own first{store}\n"]
    if seen.problem:
        parts.append(f"threads are not known: {word(seen.problem, 500)}\n")
    parts += [f"{NOTICE}\n" if shown else "", *_alarms(seen)]
    for one in shown:
        parts += [f"- {_head(one, seen.look)}\n", *_below(one, seen.look)]
    return "".join(parts)


def _alarms(seen: WorktreeView) -> Iterator[str]:
    """A line for each loop that does not go on by itself."""
    for one, loop in _loops(seen):
        if loop.waits_for_human or loop.orphaned or loop.status in {"stalled", "stuck"}:
            turn = f" at {loop.turn}" if loop.turn else ""
            what = word(loop.says, _WIDE)
            yield (
                f"**loop {what}**: {word(_called(one))}{turn}, {ago(loop.seen.age)}\n"
            )


def _head(one: Neighbour, look: WorktreeQuery) -> str:
    tree = one.worktree
    facts = [word(one.name) + (" = yours" if one.here else "")]
    if tree.branch:
        facts.append(f"branch {word(tree.branch)}")
    elif tree.commit:
        facts.append(f"at {word(tree.commit[:12])}")
    if tree.refs:
        facts.append(f"its branch is in a {tree.refs}")
    facts += ["main worktree"] if tree.main else []
    facts.append(_path(look.display_path(tree.path)) if tree.path else "no folder")
    facts += [tree.gone] if tree.gone else []
    if tree.locked is not None:
        facts.append(
            f"locked: {title(tree.locked, _WIDE)}" if tree.locked else "locked"
        )
    return " | ".join((*facts, f"changed {ago(one.age)}"))


def _path(shown: str) -> str:
    """A path, in quotes where it could be mistaken for more than one."""
    rest = shown.removeprefix("~")
    return shown if word(rest, len(rest)) == rest else title(shown)


def _below(one: Neighbour, look: WorktreeQuery) -> Iterator[str]:
    if one.loop is not None:
        yield f"  loop: {_loop_line(one.loop)}\n"
    for note in one.notes:
        said = f": {title(note.text)}" if note.text else ""
        when = ago(seconds_between(note.at_ms, look.now_ms))
        yield f"  note: {word(note.agent)}, {word(note.status)}, {when}{said}\n"
    if one.activity is not None:
        yield f"  activity: {_activity(one.activity)}\n"
    for row in one.threads[:MAX_THREADS]:
        you = " = you" if row.have_ball else ""
        ball = f"{word(holder_text(row.ball))}{you}"
        yield f"  thread {row.topic}: {word(row.status)}, ball: {ball}\n"
    more = len(one.threads) - MAX_THREADS
    if more > 0:
        yield f"  and {counted(more, 'thread')} more: list_threads\n"


def _loop_line(loop: Loop) -> str:
    facts = [word(loop.says, _WIDE), *([loop.turn] if loop.turn else [])]
    facts.append(_when(loop.seen))
    if loop.waiting_since:
        facts.append(f"since {word(loop.waiting_since)}")
    if loop.stall_reason:
        facts.append(f"reason: {title(loop.stall_reason, _WIDE)}")
    if loop.task:
        facts.append(f"task: {title(loop.task, _WIDE)}")
    return " | ".join(facts)


def _activity(activity: Activity) -> str:
    skill = f"{activity.skill} {activity.skill_args}".strip()
    facts = [title(one, _WIDE) for one in (skill, activity.broadcast) if one]
    if activity.file_count:
        facts.append(f"{counted(activity.file_count, 'file')} modified")
    return " | ".join((*facts, _when(activity.seen)))


def _when(seen: StateAge) -> str:
    """How old it is, and why that is not newer."""
    old = "old, " if seen.stale else ""
    why = f" (as last read; the file {word(seen.problem)})" if seen.last_good else ""
    return f"{old}{ago(seen.age)}{why}"


def _chosen(seen: WorktreeView, change_id: str) -> list[tuple[Neighbour, Loop]]:
    """The loops meant. Raises NotFoundError where one is named and not there."""
    found = _loops(seen)
    wanted = change_id.strip()
    if not wanted:
        return found[:_MANY]
    chosen = [pair for pair in found if wanted in pair[0].names]
    if not chosen:
        known = ", ".join(_called(one) for one, _ in found[:_MANY])
        raise NotFoundError(
            f"No worktree here has a loop for {wanted[:_WIDE]!r}.",
            f"There are: {known}" if known else "No loop runs in any worktree here.",
        )
    return chosen


def loops_json(seen: WorktreeView, change_id: str) -> dict[str, Any]:
    """The loops shape. Raises NotFoundError."""
    found = [
        worktrees.loop_json(seen.look, one, loop)
        for one, loop in _chosen(seen, change_id)
    ]
    return dict(cleaned({"store": seen.store, "loops": found}))


def loops_markdown(seen: WorktreeView, change_id: str) -> str:
    """Each loop with its worktree. Raises NotFoundError."""
    found = _chosen(seen, change_id)
    if not found:
        return f"no loop runs in any of {counted(len(seen.found), 'worktree')}\n"
    parts = [f"{counted(len(found), 'loop')}\n{NOTICE}\n"]
    for one, loop in found:
        parts += [
            f"- {word(_called(one))}: **loop {word(loop.says, _WIDE)}**\n",
            f"  worktree: {_head(one, seen.look)}\n",
            f"  state: {_loop_line(loop)}\n",
            *_loop_facts(loop),
            *(f"  iteration {_iteration(turn)}\n" for turn in loop.iterations),
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


def _iteration(turn: Iteration) -> str:
    """An iteration: its number, then what is known of it."""
    facts = [
        f"{key}: {word(str(value))}"
        for key, value in turn.to_json().items()
        if key != "n"
    ]
    number = "?" if turn.number is None else turn.number
    return f"{number}: {', '.join(facts) or 'nothing is known'}"


def team_json(call: Call) -> dict[str, Any]:
    """The team shape, with the file it is from. Raises as `view`."""
    _check_is_here(call)
    team = livestate.team(_FILES, call.env, call.now_ms())
    file = shown_path(livestate.team_path(call.env), call.env) or None
    return dict(cleaned({"file": file, **team.to_json()}))


def team_markdown(call: Call) -> str:
    """A line for each member. Raises as `view`."""
    _check_is_here(call)
    team = livestate.team(_FILES, call.env, call.now_ms())
    file = shown_path(livestate.team_path(call.env), call.env)
    if not team.found:
        return f"no team status: there is no {_path(file) or 'cache folder'}\n"
    count = counted(team.total, "member")
    shown = len(team.members)
    cut = f", {shown} of them here" if shown < team.total else ""
    unread = "" if not team.seen.problem else f"; the file {word(team.seen.problem)}"
    head = f"team: {count}{cut}, {_when(team.seen._replace(last_good=False))}{unread}\n"
    return head + f"{NOTICE}\n" + "".join(_member(one) for one in team.members)


def _member(one: Member) -> str:
    name = one.full or one.member
    facts = [word(name or "somebody"), word(one.agent_status or "no status")]
    if one.change_id or one.project:
        facts.append(
            f"on {word('/'.join(p for p in (one.project, one.change_id) if p))}"
        )
    facts += [title(text, _WIDE) for text in (one.activity, one.broadcast) if text]
    return f"- {' | '.join((*facts, _when(one.seen)))}\n"
