"""News about edits for hooks: predicted conflicts, approved branches that no longer
merge, lost claims, edits despite a claim, and notes about work on the same files. A
session gets each of them once."""

from __future__ import annotations

from wc_cli.agents.briefing import gather, sessions
from wc_cli.ledger import spawn
from wc_core.base.errors import WcError
from wc_core.base.layout import BRANCH, Layout
from wc_core.base.lean import contextlib
from wc_core.base.text import one_line
from wc_core.ledger.git.repository import has_linked_besides

TYPE_CHECKING = False
if TYPE_CHECKING:
    from wc_cli.run.context import Context
    from wc_core.reading.views.approvals import OutdatedApproval
    from wc_core.reading.views.conflicts import Conflict
    from wc_core.reading.views.notes import Overlap

_FILES, _NAMED = 3, 5


def conflict_news(
    context: Context, known_keys: frozenset[str]
) -> tuple[str, frozenset[str]]:
    """A line for each worktree that will conflict in a way not among ``known_keys``,
    for each approved branch of the agent that no longer merges, and for each of the
    others' notes about files that are changed or claimed here; and the keys of all of
    them, which the session then knows. Uses the last radar; after its answer, a hook
    starts computing a new one."""
    repository = context.place.repository
    if repository is None or not repository.top:
        return "", frozenset()
    conflicts, approvals = gather.radar_news(context)
    lines = [_line(conflict) for conflict in conflicts if conflict.keys - known_keys]
    keys = {key for conflict in conflicts for key in conflict.keys}
    for approval in approvals:
        is_new = approval.key not in known_keys
        lines += [_approval_line(approval)] if is_new else []
        keys.add(approval.key)
    for overlap in gather.overlaps(context):
        key = f"note\n{overlap.id}"
        lines += [_overlap_line(overlap)] if key not in known_keys else []
        keys.add(key)
    return "\n".join(lines), frozenset(keys)


def prompt_news(context: Context, path: str) -> str:
    """The news about edits for an agent's prompt; ``path`` is its session's file."""
    context.renew_claims()
    lines = [_lost_claims(context)]
    layout = Layout(context.place.root)
    session = sessions.load(layout, path)
    if session is not None:
        news, keys = conflict_news(context, session.conflicts)
        lines += [news, *session.queued]
        current = session._replace(conflicts=keys, queued=())
        if current != session:
            # Saved before printing. A conflict that went away is news when it comes
            # back.
            sessions.save(layout, path, current)
    return "\n".join(filter(None, lines))


def _lost_claims(context: Context) -> str:
    """Return a line about claims that the agent has lost since its last prompt."""
    lost = [one_line(claim_id) for claim_id in context.new_losses()]
    if not lost:
        return ""
    unnamed = f" and {len(lost) - _NAMED} more" if len(lost) > _NAMED else ""
    return (
        f"Watercooler: you have lost the claim on {', '.join(lost[:_NAMED])}{unnamed}. "
        "Do not edit it until you know who is working on it: wc claims. Then give "
        "it up "
        "(wc release --all) or claim it again."
    )


def start_radar(context: Context, *, may_fork: bool) -> None:
    """Start computing the radar in the background, if there are several worktrees and
    the settings allow it. The new process is a copy of this one if it ``may_fork``."""
    place = context.place
    repository = place.repository
    if repository is None or not has_linked_besides(repository, BRANCH):
        return
    if place.exists and context.settings.sync == "background":
        layout, folder = Layout(place.root), repository.top or repository.common
        with contextlib.suppress(WcError, OSError):
            spawn.start_radar(layout, folder, context.env, may_fork=may_fork)


def _approval_line(approval: OutdatedApproval) -> str:
    return (
        f'Watercooler: "{approval.name}" was approved, but "{approval.branch}" no '
        f'longer merges into "{one_line(approval.base)}": '
        f'"{approval.files_text(_FILES)}". Merge "{one_line(approval.base)}" into it '
        "or rebase it, then have it reviewed again; details: wc radar"
    )


def _overlap_line(overlap: Overlap) -> str:
    note, paths = overlap.row.note, overlap.paths_text
    return (
        f'Watercooler: "{one_line(note.agent)}" says: "{one_line(note.sentence())}". '
        f'You are working on the same: "{paths}". Agree with them before you go on; '
        "details: wc worktrees"
    )


def _line(conflict: Conflict) -> str:
    branch = one_line(conflict.opposite.branch) or conflict.name
    files = conflict.files_text(_FILES)
    return (
        f'Watercooler: your changes will conflict with those of "{conflict.label}" '
        f'on "{branch}": "{files}". Agree with them before you continue; details: '
        f"wc radar '{conflict.name}'"
    )
